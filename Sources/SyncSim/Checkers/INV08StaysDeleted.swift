import SyncModel

/// INV-08. No resurrection, however long the other node was away.
package final class StaysDeleted: Invariant {
    package static let id = "INV-08"
    package static let sentence = "A path deleted on one side and untouched on the other stays deleted."

    package init() {}

    package func see(_ sight: Sight, _ court: inout Court) {
        guard !court.ledger.hasForgotten else { return }
        for (path, page) in court.ledger.pages {
            guard page.isDeleted, !page.isReverted, !page.isFoundAnew, page.carried.isEmpty, !sight.isStuck(path)
            else { continue }
            guard page.acts.allSatisfy({ !$0.isRacing && !$0.isAside }), !isMadeAnew(page) else { continue }
            for (index, machine) in sight.machines.enumerated() where !machine.ignores(path) {
                if sight.isKept(path, from: index) { continue }
                let found = machine.value(at: path)
                if found == .absent { continue }
                let isKept =
                    sight.machines.contains { isNeeded(path, $0) || wasHome(path, ofIgnoredOn: $0, court.ledger) }
                    || court.ledger.wasHome(path)
                if found == .directory, isKept { continue }
                if isCopyOfLater(found, at: path, page, court.ledger) { continue }
                court.find(self, on: index, "\(path) was deleted and is back as \(found)")
            }
        }
    }

    /// What the rules leave out had stayed in it, until a person took that away.
    private func wasHome(_ path: Path, ofIgnoredOn machine: MachineSight, _ ledger: Ledger) -> Bool {
        ledger.wentLater(than: path).contains { machine.ignores($0) }
    }

    /// Taken away and put there again in one breath, on the machine that had not heard of the deletion, or of which the deleter had not: where
    /// its daemon looked between the two, or finds another file there, that is a person's new work. So is another file that he has put
    /// over it there.
    private func isMadeAnew(_ page: Ledger.Page) -> Bool {
        page.wasRemovedUnaware
            || page.leaves.contains { leaf in
                page.wasAwayForAMoment && leaf.time <= page.rewritten[1 - leaf.machine]
                    || page.wasPutOver(on: 1 - leaf.machine)
            }
    }

    /// Somebody has saved it at the path itself since, and has lost there: while the clock of the pair stands, that copy has the name of the
    /// one that was taken away.
    private func isCopyOfLater(_ found: Value, at path: Path, _ page: Ledger.Page, _ ledger: Ledger) -> Bool {
        guard let original = ConflictName.parts(of: path)?.original, let acts = ledger.pages[original]?.acts else {
            return false
        }
        return acts.contains { act in act.after == found && page.leaves.allSatisfy { $0.time <= act.time } }
    }

    /// Something that the deleter had not seen lives in it.
    private func isNeeded(_ path: Path, _ machine: MachineSight) -> Bool {
        let isHome = machine.tree.first(after: path).map { $0.key.isBelow(path) } ?? false
        return isHome || machine.unsynced.contains { $0.key.isBelow(path) }
    }
}
