import SyncModel

/// INV-04. What concurrent changes come to is written in `docs/architecture.md`; nothing in between is allowed.
package final class DocumentedOutcome: Invariant {
    package static let id = "INV-04"
    package static let sentence = """
        At a path that both sides changed at once: a directory beats a file, an edit beats a delete, one of several edits keeps \
        the name; nothing else stands there.
        """

    package init() {}

    package func see(_ sight: Sight, _ court: inout Court) {
        guard !court.ledger.hasForgotten else { return }
        for (path, page) in court.ledger.pages where isClear(page) && !sight.isStuck(path) {
            let leaves = page.leaves
            guard leaves.count > 1 else { continue }
            for (index, machine) in sight.machines.enumerated() where !machine.ignores(path) {
                if sight.isKept(path, from: index) { continue }
                // A directory stays for what is not synced in it, on the node that has it and so on the other.
                if machine.value(at: path) == .directory, sight.machines.contains(where: { keeps(path, $0) }) {
                    continue
                }
                let isCovered = { value in
                    sight.machines.contains { $0.leavesOutCopy(of: path, holding: value) }
                }
                judge(path, page, leaves, on: index, machine, isCovered, &court)
            }
        }
    }

    /// Races, late writes and disasters blur who had seen what.
    private func isClear(_ page: Ledger.Page) -> Bool {
        !page.isReverted && page.discarded.isEmpty && page.carried.isEmpty
            && page.acts.allSatisfy { !$0.isRacing && !$0.isAside && !$0.isUndone && $0.demand == .atPath }
    }

    private func judge(
        _ path: Path, _ page: Ledger.Page, _ leaves: [Ledger.Act], on index: Int, _ machine: MachineSight,
        _ isCovered: (Value) -> Bool, _ court: inout Court
    ) {
        let found = machine.value(at: path)
        let owed = leaves.filter { page.isOwed($0) && $0.after != .absent && $0.after != .special }
        if owed.contains(where: { $0.after == .directory }) {
            if found != .directory {
                court.find(self, on: index, "\(path): a directory was made, but there is \(found)")
            }
            return
        }
        if owed.isEmpty {
            // (Another file with the same bytes that somebody has just put there by a rename is his new work.)
            let wasKept =
                found == .directory && court.ledger.wasHome(path) || page.backAtOnce.contains(found)
            if found != .absent, !wasKept, !leaves.contains(where: { $0.after == found }),
                !hasLife(below: path, machine)
            {
                court.find(self, on: index, "\(path): nobody left \(found) there")
            }
            return
        }
        if owed.contains(where: { $0.after == found }) || hasLife(below: path, machine) { return }
        // They lost against each other first, and then somebody removed or replaced the winner: the losers live on as copies (which the
        // rules may keep from the other node).
        let copies = machine.copies(of: path).map(\.value)
        // (Or to a directory that had to stay for what its deleter had not seen, which has gone from it since.)
        // (Or put something there that nobody syncs, or by a rename another file with the same bytes as stood there: that is his new work,
        // and no act.)
        let isLeft =
            leaves.contains { $0.after == found || $0.after == .special && found == .absent }
            || found == .directory && court.ledger.wasHome(path) || page.backAtOnce.contains(found)
            || leaves.contains { removed(found, $0, page) }
            || found == .directory && haveMadeRoomForEachOther(owed, page)
        if isLeft, owed.allSatisfy({ copies.contains($0.after) || isCovered($0.after) }) { return }
        // An equal value that somebody else removed may lose to what he put in its place.
        if leaves.contains(where: { $0.after == found && found.isContent }) { return }
        court.find(
            self, on: index,
            "\(path): there is \(found), none of what was left: \(owed.map { "\($0.after)" }.joined(separator: ", "))")
    }

    /// He removed his side of a conflict and changed mode or time of the other, which had come in its place, while the other node settled
    /// it for his side: each holds on to what the other has let go of.
    private func removed(_ value: Value, _ act: Ledger.Act, _ page: Ledger.Page) -> Bool {
        act.after == .absent && act.before == value && value.isContent && page.left?.machine == act.machine
            && page.actsWhenLeft > act.number
    }

    /// Each had made a directory there and then put this in its place, and knew of no more than the other's directory
    /// when he made room for it: each stands by what the other had let go of, and no file has the name any more by the
    /// time they hear of that.
    private func haveMadeRoomForEachOther(_ owed: [Ledger.Act], _ page: Ledger.Page) -> Bool {
        owed.contains { $0.machine != owed[0].machine }
            && owed.allSatisfy { act in
                page.acts.contains {
                    $0.after == .directory && $0.machine != act.machine && !act.seen.contains($0.number)
                }
            }
    }

    private func keeps(_ path: Path, _ machine: MachineSight) -> Bool {
        machine.unsynced.contains { $0.key.isBelow(path) }
    }

    private func hasLife(below path: Path, _ machine: MachineSight) -> Bool {
        machine.tree.first(after: path).map { $0.key.isBelow(path) } ?? false
    }
}
