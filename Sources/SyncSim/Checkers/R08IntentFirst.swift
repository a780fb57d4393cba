import SyncModel

/// What a crash can interrupt is written down before it begins.
package final class IntentFirst: DiskInvariant {
    package static let id = "R-08"
    package static let sentence =
        "No exchange, placement or removal in the folder begins before an intent for its path is durable."

    package init() {}

    package func see(_ act: DiskAct, _ court: inout Court) {
        guard act.error == nil, let path = target(of: act.operation) else { return }
        if act.store.intents.contains(where: { covers($0.value, path) || rescues($0.value, path, act.operation) }) {
            return
        }
        court.find(self, on: act.machine, "\(act.operation) without a durable intent for \(path)")
    }

    /// Operations that may be repeated at will need none: making or removing an empty directory, mode and time.
    private func target(of operation: DiskOperation) -> Path? {
        switch operation {
        case .exchange(.tree(let path), _), .exchange(_, .tree(let path)): path
        case .move(.tree(let path), to: _), .move(_, to: .tree(let path)): path
        case .exchange, .move, .removeDirectory, .createFile, .write, .copy, .truncate, .createDirectory,
            .createSymlink, .setMode, .setModified, .syncFile, .syncParent, .expectAbsent, .expect, .expectContent,
            .expectIdentity, .expectUnheld, .inspect, .discard:
            nil
        }
    }

    /// What an intent displaced goes back beside its path: until then it is where the intent says, afterwards it is in the tree.
    private func rescues(_ intent: Intent, _ path: Path, _ operation: DiskOperation) -> Bool {
        guard case .move(let place, to: .tree) = operation,
            ConflictFamily.isCopy(path, of: intent.path) || isAtTheTop(path, intent)
        else { return false }
        if place == .stage(intent.stage) { return true }
        switch intent.displaced {
        case .version(let version)?, .quarantine(let version)?: return place == version.place
        case .conflictCopy?, nil: return false
        }
    }

    /// Where its directory has become something else, it goes to the top of the folder.
    private func isAtTheTop(_ path: Path, _ intent: Intent) -> Bool {
        intent.path.name.map { path.depth == 1 && ConflictFamily.isCopy(path, of: Path.root.appending($0)) } ?? false
    }

    private func covers(_ intent: Intent, _ path: Path) -> Bool {
        if intent.path == path { return true }
        if case .rename(let from) = intent.action, from == path { return true }
        if case .conflictCopy(let copy)? = intent.displaced { return copy == path }
        return false
    }
}
