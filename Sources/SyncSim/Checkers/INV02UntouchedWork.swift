import SyncModel

/// INV-02. Where only one side ever did something, sync has nothing to decide: the path ends as its writer left it.
package final class UntouchedWork: Invariant {
    package static let id = "INV-02"
    package static let sentence = """
        A path that only people at one machine changed is in the end exactly as they left it: content, permission bits and time.
        """

    package init() {}

    package func see(_ sight: Sight, _ court: inout Court) {
        for (path, page) in court.ledger.pages {
            guard let writer = page.soleWriter, let last = page.acts.last, !sight.isStuck(path) else { continue }
            guard last.demand == .atPath, page.discarded.isEmpty, page.carried.isEmpty else { continue }
            // Somebody else did something below it: there it was a directory for him, and a directory keeps the name.
            if court.ledger.isContested(last.after, at: path) || isOfKeptDirectory(path, page, last.after, sight) {
                continue
            }
            for (index, machine) in sight.machines.enumerated() where !machine.ignores(path) {
                if index != writer, sight.isKept(path, from: index) { continue }
                judge(path, page, last.after, writer, on: index, machine, &court)
            }
        }
    }

    /// So it does where there is something in it that nobody syncs, or was until the rules let go of it: what they leave out is not deleted
    /// with its directory.
    private func isOfKeptDirectory(_ path: Path, _ page: Ledger.Page, _ value: Value, _ sight: Sight) -> Bool {
        (page.wasInTheWay || sight.machines.contains { $0.unsynced.contains { $0.key.isBelow(path) } })
            && sight.machines.allSatisfy { machine in
                machine.value(at: path) == .directory && machine.copies(of: path).contains { $0.value == value }
            }
    }

    private func judge(
        _ path: Path, _ page: Ledger.Page, _ value: Value, _ writer: Int, on index: Int, _ machine: MachineSight,
        _ court: inout Court
    ) {
        guard value.isContent else { return }
        guard let seen = machine.tree[path], seen.value == value else {
            // A daemon that has lost its memory cannot know which of two states came later.
            if court.ledger.hasForgotten, machine.copies(of: path).contains(where: { $0.value == value }) { return }
            court.find(
                self, on: index,
                "only machine \(writer) wrote \(path): it left \(value), there is \(machine.value(at: path))")
            return
        }
        guard let left = page.left else { return }
        if seen.entry.mode != left.mode {
            court.find(self, on: index, "\(path) was left with mode \(left.mode), it has \(seen.entry.mode)")
        }
        if seen.entry.modified != left.modified {
            court.find(self, on: index, "\(path) was left with time \(left.modified), it has \(seen.entry.modified)")
        }
    }
}
