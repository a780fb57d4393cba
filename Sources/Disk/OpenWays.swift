/// Directories that stay open while programs work in them: finding the way to each name anew is most of what a small
/// file costs.
///
/// Our own directories stay open for one run of programs, those of the tree for one program, and each only for the
/// thread that opened it: whoever looks from elsewhere is told what is true of the path at that moment.
import Glibc
import SyncModel
import Synchronization

/// An open directory that several calls share.
final class OpenDirectory: Sendable {
    let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }
}

final class OpenWays: Sendable {
    private struct Known {
        var own: [Way] = []
        var tree: [Way] = []
    }

    private struct Way {
        let path: Path
        let directory: OpenDirectory
    }

    private let known = Mutex<[pthread_t: Known]>([:])

    /// A run is what one thread does from here to `endRun`. Without one nothing is kept.
    func beginRun() {
        known.withLock { $0[pthread_self()] = Known() }
    }

    func endRun() {
        known.withLock { $0[pthread_self()] = nil }
    }

    func beginProgram() { withRun { $0.tree = [] } }

    /// What was renamed or removed is where it was no more, nor is anything in it.
    func forget(_ path: Path) {
        withRun { run in run.tree.removeAll { $0.path == path || $0.path.isBelow(path) } }
    }

    func directory(_ path: Path) -> OpenDirectory? {
        known.withLock { known in
            guard let run = known[pthread_self()] else { return nil }
            return (path.isReserved ? run.own : run.tree).first { $0.path == path }?.directory
        }
    }

    func keep(_ directory: OpenDirectory, as path: Path) {
        let way = Way(path: path, directory: directory)
        withRun { run in if path.isReserved { run.own.append(way) } else { run.tree.append(way) } }
    }

    private func withRun(_ body: (inout Known) -> Void) {
        known.withLock { known in
            guard var run = known.removeValue(forKey: pthread_self()) else { return }
            body(&run)
            known[pthread_self()] = run
        }
    }
}
