import SyncModel
/// Staged files that were written to and are not synced yet, kept open until they are.
///
/// A failed write-back is told to whoever has the file open, once. If nobody has, and the inode leaves the kernel's
/// memory before the fsync, the failure is forgotten and the fsync of a file opened anew succeeds over lost pages. So
/// the descriptor that wrote is the one that syncs. It also works where the mode says that nobody may open the file.
import Synchronization

/// An open file that several calls share. The descriptor is closed with the last of them.
final class OpenFile: Sendable {
    let descriptor: Descriptor
    let status: Status

    init(_ descriptor: consuming Descriptor) throws(Failure) {
        status = try descriptor.status()
        self.descriptor = descriptor
    }
}

/// Calls for different files may come from any thread; the core never works on one staged file twice at a time.
final class StagePins: Sendable {
    private struct Known {
        var files: [StageName: OpenFile] = [:]
        var poisoned: Set<StageName> = []
    }

    /// So many descriptors at most. Beyond them a file is opened for each operation.
    static let countMax = 512

    private let known = Mutex(Known())

    /// The file that is open under this name, if it is still the one that bears it.
    func file(_ name: StageName, _ status: Status) -> OpenFile? {
        known.withLock { $0.files[name] }.flatMap { $0.status.isSameFile(as: status) ? $0 : nil }
    }

    func keep(_ file: OpenFile, as name: StageName) {
        known.withLock { known in
            if known.files[name] != nil || known.files.count < StagePins.countMax { known.files[name] = file }
        }
    }

    /// It is synced, or it bears another name now.
    func release(_ name: StageName) {
        known.withLock { known in _ = known.files.removeValue(forKey: name) }
    }

    /// The fsync has failed: whatever a second one would say, nothing in the file may be believed.
    func poison(_ name: StageName) {
        known.withLock { known in
            known.files[name] = nil
            known.poisoned.insert(name)
        }
    }

    func isPoisoned(_ name: StageName) -> Bool { known.withLock { $0.poisoned.contains(name) } }

    /// Something new bears the name, or nothing.
    func forget(_ name: StageName) {
        known.withLock { known in
            known.files[name] = nil
            known.poisoned.remove(name)
        }
    }

    var count: Int { known.withLock { $0.files.count } }
}
