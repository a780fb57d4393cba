import SyncModel

/// A delete in a log says that a person removed something. Nothing else may write one.
package final class DeletesHaveCauses: StoreInvariant {
    package static let id = "R-07"
    package static let sentence =
        "Every delete in a node's own log has a cause: a person's removal or move at that path, seen by that node."

    package init() {}

    package func see(_ act: StoreAct, _ court: inout Court) {
        for operation in act.batch.operations {
            guard case .appendLog(let record) = operation else { continue }
            switch record.change {
            case .put(let path, let revision):
                if revision.entry.isAbsent { judge(path, act, &court) }
            case .relocate(let relocation):
                judge(relocation.from, act, &court)
            }
        }
    }

    private func judge(_ path: Path, _ act: StoreAct, _ court: inout Court) {
        let machine = act.machine
        // Where nobody ever had anything nobody can lose it.
        guard let page = court.ledger.pages[path], !page.acts.isEmpty else { return }
        // A power cut took it and nobody has it any more: to write that down is all that is left. (What somebody at the other machine has put
        // there, and nobody has seen here, is another.)
        let isKnown = { (act: Ledger.Act) in
            act.machine == machine
                || page.acts.contains { $0.machine == machine && $0.seen.contains(act.number) }
        }
        if page.isReverted, !page.acts.contains(where: { $0.after.isContent && page.isOwed($0) && isKnown($0) }) {
            return
        }
        // It went on under another name, with the directory that a daemon had to give one.
        if page.isCarriedAway || page.wentWithDirectory { return }
        if page.wasAwayForAMoment { return }
        if page.cameRemoved || page.acts.contains(where: { $0.isRemoval && $0.machine == machine }) { return }
        // What a person removed at the other machine is told on by who had heard of it, when that machine has lost its state; also if
        // something new was to come to the path that is not there yet.
        let isHeard =
            act.store.rows[path].map { row in
                row.heads.contains(where: \.entry.isAbsent) || row.disk == nil && row.reflected != .none
            } ?? false
        if isHeard, page.acts.contains(where: \.isRemoval) { return }
        if page.isMissedAnew(on: machine) { return }
        court.find(self, on: machine, "the log says that \(path) was deleted; no person did that")
    }
}
