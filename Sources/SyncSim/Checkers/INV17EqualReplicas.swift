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
            compare(path, row, two[path], sight, &court)
        }
        for (path, row) in two where isAlive(row) && !sight.isStuck(path) && one[path] == nil {
            compare(path, row, nil, sight, &court)
        }
    }

    private func isAlive(_ row: Row) -> Bool {
        row.condition != .ignored && row.heads.contains { !$0.entry.isAbsent }
    }

    private func compare(_ path: Path, _ one: Row, _ two: Row?, _ sight: Sight, _ court: inout Court) {
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
                        && ($0.version == head.version || differElsewhere($0, head, at: path, sight))
                        && $0.origins == head.origins
                }
            }
        if !isEqual {
            court.find(self, "the revisions of \(path) differ: \(one.heads) and \(theirs)")
        }
    }

    /// A move says for its author what he had seen at both its places. Where rows came in place of an earlier one, they say nothing of what
    /// had been at the new place in between and has been moved on since, with all that had been seen of it where it came from. That is
    /// nothing that anybody may miss if the node it was seen of has written nothing at this path meanwhile.
    private func differElsewhere(_ one: Revision, _ two: Revision, at path: Path, _ sight: Sight) -> Bool {
        let (author, other) = (one.origin.author, one.origin.author.flipped)
        guard one.movedFrom != nil, one.movedFrom == two.movedFrom, one.version[author] == two.version[author]
        else { return false }
        let store = sight.machines[other == .own ? 0 : 1].store
        let known = min(one.version[other], two.version[other])
        let said = max(one.version[other], two.version[other])
        guard store.node.prunedThrough.position <= known, store.log[said] != nil else { return false }
        return !store.log.contains { position, record in
            known < position && position <= said && concerns(path, record.change)
        }
    }

    private func concerns(_ path: Path, _ change: LogRecord.Change) -> Bool {
        switch change {
        case .put(let other, _): other == path
        case .relocate(let move): [move.from, move.to].contains { $0 == path || path.isBelow($0) }
        }
    }
}
