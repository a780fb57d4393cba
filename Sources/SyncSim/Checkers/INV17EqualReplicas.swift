import SyncModel

/// INV-17. Two nodes that know the same have the same: revision for revision, not only what can be seen in the folders.
package final class EqualReplicas: Invariant {
    package static let id = "INV-17"
    package static let sentence =
        "At rest both bases hold the same revisions of every path that exists, each as the other names them."

    package init() {}

    package func see(_ sight: Sight, _ court: inout Court) {
        let (one, two) = (sight.machines[0].store.rows, sight.machines[1].store.rows)
        for (path, row) in one where isAlive(row) && !sight.isStuck(path) {
            compare(path, row, two[path], &court)
        }
        for (path, row) in two where isAlive(row) && !sight.isStuck(path) && one[path] == nil {
            compare(path, row, nil, &court)
        }
    }

    private func isAlive(_ row: Row) -> Bool {
        row.condition != .ignored && row.heads.contains { !$0.entry.isAbsent }
    }

    private func compare(_ path: Path, _ one: Row, _ two: Row?, _ court: inout Court) {
        guard let two else {
            court.find(self, "only one node knows \(path)")
            return
        }
        if two.condition == .ignored { return }
        let theirs = two.heads.map(\.flipped)
        // (Which of its author's own it names says no more than its position: they may differ where rows came in place of a move, which say
        // nothing of what has been moved on since.)
        let isEqual =
            one.heads.count == theirs.count
            && one.heads.allSatisfy { head in
                theirs.contains {
                    $0.origin.isSameEntry(as: head.origin) && $0.entry.agrees(with: head.entry)
                        && $0.version == head.version && $0.origins == head.origins
                }
            }
        if !isEqual {
            court.find(self, "the revisions of \(path) differ: \(one.heads) and \(theirs)")
        }
    }
}
