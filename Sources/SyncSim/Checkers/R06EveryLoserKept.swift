import SyncModel

/// However many lose, all of them are there; also those who lose against a conflict copy.
package final class EveryLoserKept: DiskInvariant {
    package static let id = "R-06"
    package static let sentence = """
        The path and its conflict copies together hold every value that lost, of every generation; the daemon removes no conflict \
        copy of its own accord.
        """

    package init() {}

    package func see(_ act: DiskAct, _ court: inout Court) {
        guard act.error == nil else { return }
        for change in act.treeChanges where change.before.isContent {
            let originals = court.ledger.originals(of: change.path)
            if originals.isEmpty { continue }
            let page = court.ledger.pages[change.path]
            // Somebody did something with this copy, or took back what lost.
            if page != nil || court.ledger.demand(of: change.before, at: change.path) < .atPath { continue }
            if originals.contains(where: { act.holds(change.before, $0) }) || isTakenBack(act) { continue }
            court.find(self, on: act.machine, "the conflict copy \(change.path) went away, and no person removed it")
        }
    }

    package func see(_ sight: Sight, _ court: inout Court) {
        for (path, page) in court.ledger.pages where !sight.isStuck(path) {
            let owed = owedValues(page)
            guard owed.count > 1 else { continue }
            for (index, machine) in sight.machines.enumerated() where !machine.ignores(path) {
                let held = [machine.value(at: path)] + machine.copies(of: path).map(\.value)
                let lost = owed.filter { value in
                    // The rules keep a copy from the other node, as they would any file of that name.
                    !held.contains(value) && !machine.hasRescued(value, of: path, court.ledger)
                        && sight.machines[1 - index].untold[path] != value
                        && !sight.machines.contains { $0.leavesOutCopy(of: path, holding: value) }
                }
                if !lost.isEmpty {
                    let text = lost.map { "\($0)" }.joined(separator: ", ")
                    court.find(
                        self, on: index,
                        "of \(owed.count) values in conflict at \(path) \(lost.count) are lost: \(text)")
                }
            }
        }
    }

    /// A file that has just been given the name of a copy goes back to where it was: that could not be finished, and is tried again.
    private func isTakenBack(_ act: DiskAct) -> Bool {
        guard case .move(.tree(let copy), to: .tree(let source)) = act.operation else { return false }
        return act.store.intents.values.contains { intent in
            if case .rename(from: source) = intent.action { intent.path == copy } else { false }
        }
    }

    private func owedValues(_ page: Ledger.Page) -> [Value] {
        let values = page.acts.filter { $0.after.isContent && page.isOwed($0) }.map(\.after).sorted()
        return values.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }
}
