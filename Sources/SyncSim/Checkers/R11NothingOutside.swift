import SyncModel

/// The daemon's hands reach into the shared folder and its own corner of it, and nowhere else.
package final class NothingOutside: DiskInvariant {
    package static let id = "R-11"
    package static let sentence = """
        Operations of the daemon name only paths of the synced tree and its own stage, versions and quarantine; never `.syncd` as a \
        path, and never the root itself.
        """

    package init() {}

    package func see(_ act: DiskAct, _ court: inout Court) {
        for place in act.operation.places {
            guard case .tree(let path) = place else { continue }
            if path.isReserved {
                court.find(self, on: act.machine, "\(act.operation) reaches into the daemon's own folder by path")
            } else if path.isRoot, act.operation.isMutation {
                court.find(self, on: act.machine, "\(act.operation) changes the root itself")
            }
        }
    }
}

extension DiskOperation {
    /// True if names or kinds may be other than before: what checkers have to look at.
    package var changesNames: Bool {
        switch self {
        case .createFile, .createDirectory, .createSymlink, .exchange, .move, .removeDirectory, .discard: true
        case .write, .copy, .truncate, .setMode, .setModified, .syncFile, .syncParent, .expectAbsent, .expect,
            .expectContent, .expectIdentity, .expectUnheld, .inspect:
            false
        }
    }
}
