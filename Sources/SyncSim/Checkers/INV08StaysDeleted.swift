import SyncModel

/// INV-08. No resurrection, however long the other node was away.
package final class StaysDeleted: Invariant {
    package static let id = "INV-08"
    package static let sentence = "A path deleted on one side and untouched on the other stays deleted."

    package init() {}

    package func see(_ sight: Sight, _ court: inout Court) {
        guard !court.ledger.hasForgotten else { return }
        for (path, page) in court.ledger.pages {
            guard page.isDeleted, !page.isReverted, page.carried.isEmpty, !sight.isStuck(path) else { continue }
            guard page.acts.allSatisfy({ !$0.isRacing && !$0.isAside }) else { continue }
            for (index, machine) in sight.machines.enumerated() where !machine.ignores(path) {
                let found = machine.value(at: path)
                if found == .absent { continue }
                if found == .directory, sight.machines.contains(where: { isNeeded(path, $0) }) || wasNeeded(path, court)
                {
                    continue
                }
                court.find(self, on: index, "\(path) was deleted and is back as \(found)")
            }
        }
    }

    /// Something that the deleter had not seen lives in it.
    private func isNeeded(_ path: Path, _ machine: MachineSight) -> Bool {
        let isHome = machine.tree.first(after: path).map { $0.key.isBelow(path) } ?? false
        return isHome || machine.unsynced.contains { $0.key.isBelow(path) }
    }

    /// A special file was in it for a while: nobody syncs that, so its deleter cannot have seen it, and it kept its directory.
    /// It may have come with a directory that a daemon moved here. Or something lived in it when it was deleted on the other
    /// machine, and went only later.
    private func wasNeeded(_ path: Path, _ court: Court) -> Bool {
        let deletions = court.ledger.pages[path]?.acts.filter { $0.after == .absent } ?? []
        return court.ledger.pages.range(from: path).prefix { $0.key == path || $0.key.isBelow(path) }.contains {
            below, page in
            page.acts.contains { $0.after == .special } || page.carried.contains(.special)
                || below != path && deletions.contains { lived(page, during: $0) }
        }
    }

    private func lived(_ page: Ledger.Page, during deletion: Ledger.Act) -> Bool {
        page.acts.contains { made in
            made.machine != deletion.machine && made.after != .absent && made.time <= deletion.time
                && !page.acts.contains {
                    $0.number > made.number && $0.before == made.after && $0.time <= deletion.time
                }
        }
    }
}
