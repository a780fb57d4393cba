import SyncModel
/// Walks of the tree that were put aside between two chunks of a scan.
import Synchronization

/// With the path at which each goes on.
final class KeptWalks: Sendable {
    private struct Kept {
        let directory: Path
        let resume: Path
        let rules: IgnoreRules
        let walk: ScanWalk
    }

    /// The core makes one scan at a time; one more for a walk that was given up.
    private static let countMax = 2

    private let kept = Mutex<[Kept]>([])

    func keep(_ walk: ScanWalk, of directory: Path, resume: Path, _ rules: IgnoreRules) {
        kept.withLock { kept in
            if kept.count == KeptWalks.countMax { kept.removeFirst() }
            kept.append(Kept(directory: directory, resume: resume, rules: rules, walk: walk))
        }
    }

    func take(_ request: ScanRequest, _ rules: IgnoreRules) -> ScanWalk? {
        kept.withLock { kept in
            let index = kept.firstIndex { $0.directory == request.directory && $0.resume == request.after }
            guard let index else { return nil }
            let found = kept.remove(at: index)
            return found.rules == rules ? found.walk : nil
        }
    }
}
