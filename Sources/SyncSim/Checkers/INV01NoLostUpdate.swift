import SyncModel

/// INV-01. The first promise: whatever somebody wrote and nobody who had seen it took away is still there, on both nodes.
package final class NoLostUpdate: Invariant {
    package static let id = "INV-01"
    package static let sentence = """
        Every value ever written and not knowingly replaced is, once both nodes are quiet, at its path or in a conflict copy of it, \
        on both nodes.
        """

    package init() {}

    package func see(_ sight: Sight, _ court: inout Court) {
        for duty in court.ledger.duties where !sight.isStuck(duty.path) && !isLeftOut(duty, sight) {
            switch duty.demand {
            case .excused: continue
            case .kept:
                if !sight.machines.contains(where: { keeps(duty, $0) }) {
                    court.find(self, on: duty.machine, "\(duty.value) of \(duty.path) is nowhere, not even set aside")
                }
            case .inTree:
                for (index, machine) in sight.machines.enumerated() where !hasInTree(duty, machine) {
                    if judgeIgnored(duty, index, sight, &court) { continue }
                    if isUntold(duty, sight) { continue }
                    if isLeftOutWhereCarried(duty, sight, court.ledger) { continue }
                    court.find(self, on: index, "\(duty.value) of \(duty.path) is nowhere in the folder")
                }
            case .atPath: judge(duty, sight, &court)
            }
        }
    }

    /// The rules keep a conflict copy from the other node, as they would any file of that name.
    private func isLeftOut(_ duty: Ledger.Duty, _ sight: Sight) -> Bool {
        sight.machines.contains { $0.leavesOutCopy(of: duty.path, holding: duty.value) }
    }

    /// Its directory was moved by the other node, and it is where that has taken it, where the rules leave it out as they did before.
    private func isLeftOutWhereCarried(_ duty: Ledger.Duty, _ sight: Sight, _ ledger: Ledger) -> Bool {
        sight.machines[duty.machine].unsynced.contains { place, value in
            value == duty.value
                && ledger.pages[place]?.carriedFrom.contains { $0.value == value && $0.path == duty.path } == true
        }
    }

    private func judge(_ duty: Ledger.Duty, _ sight: Sight, _ court: inout Court) {
        for (index, machine) in sight.machines.enumerated() where !isAtPath(duty, machine) {
            if judgeIgnored(duty, index, sight, &court) { continue }
            if isUntold(duty, sight) { continue }
            if machine.hasRescued(duty.value, of: duty.path, court.ledger) { continue }
            if isKeptByAnotherName(duty, sight, court.ledger) { continue }
            if isLeftOutWhereCarried(duty, sight, court.ledger) { continue }
            court.find(
                self, on: index,
                "\(duty.value) written at \(duty.path) is neither there nor in a conflict copy; there is \(machine.value(at: duty.path))"
            )
        }
    }

    /// The rules keep it from the other node; its own keeps it where it was or sets it aside. False if they do not leave it out.
    private func judgeIgnored(_ duty: Ledger.Duty, _ index: Int, _ sight: Sight, _ court: inout Court) -> Bool {
        let machine = sight.machines[index]
        guard machine.ignores(duty.path) else { return false }
        if index == duty.machine, machine.unsynced[duty.path] != duty.value, !keeps(duty, machine),
            !isTakenByDisaster(duty, sight, court.ledger)
        {
            court.find(self, on: index, "ignored \(duty.value) of \(duty.path) is gone")
        }
        return true
    }

    /// It stands where it was written, and its node keeps it to itself by rules that leave out their own file: the other has neither.
    private func isUntold(_ duty: Ledger.Duty, _ sight: Sight) -> Bool {
        sight.machines[duty.machine].untold[duty.path] == duty.value
    }

    /// What a power cut took of a path is not brought back where the rules forbid to write it: it is whole on the other
    /// node.
    private func isTakenByDisaster(_ duty: Ledger.Duty, _ sight: Sight, _ ledger: Ledger) -> Bool {
        ledger.pages[duty.path]?.isReverted == true && sight.machines.contains { keeps(duty, $0) }
    }

    /// A power cut has taken it from its author, and the other node, which has not come to rename it, has it in the history of its old name.
    private func isKeptByAnotherName(_ duty: Ledger.Duty, _ sight: Sight, _ ledger: Ledger) -> Bool {
        guard ledger.pages[duty.path]?.isReverted == true else { return false }
        let histories = sight.machines[1 - duty.machine].histories.filter { $0.value.contains(duty.value) }
        return !histories.isEmpty && histories.allSatisfy { $0.key != duty.path }
    }

    private func isAtPath(_ duty: Ledger.Duty, _ machine: MachineSight) -> Bool {
        machine.value(at: duty.path) == duty.value
            || machine.copies(of: duty.path).contains { $0.value == duty.value }
    }

    private func hasInTree(_ duty: Ledger.Duty, _ machine: MachineSight) -> Bool {
        machine.tree.contains { $0.value.value == duty.value }
    }

    private func keeps(_ duty: Ledger.Duty, _ machine: MachineSight) -> Bool {
        hasInTree(duty, machine) || machine.aside.contains(duty.value) || machine.asideNext.contains(duty.value)
            || machine.unsynced.contains { $0.value == duty.value }
    }
}
