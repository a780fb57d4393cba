import SyncModel

/// INV-10. A row is a statement of fact. What is only intended must not be in it, or the next comparison takes a failure
/// for a person's change.
package final class BaseIsTrue: StoreInvariant {
    package static let id = "INV-10"
    package static let sentence = """
        The base holds only what was seen: a row's disk state is what stands there, and a row that says it shows a revision shows it.
        """

    package init() {}

    package func see(_ act: StoreAct, _ court: inout Court) {
        for operation in act.batch.operations {
            guard case .putRow(let row) = operation else { continue }
            judgeClaim(row, on: act.machine, &court)
            judgeDisk(row, act, &court)
        }
    }

    package func see(_ sight: Sight, _ court: inout Court) {
        for (index, machine) in sight.machines.enumerated() {
            for (path, row) in machine.store.rows where !sight.isStuck(path) {
                guard let disk = row.disk, row.condition != .ignored else { continue }
                guard let seen = machine.tree[path] else {
                    if machine.unsynced[path] == nil {
                        court.find(self, on: index, "the base says that \(path) stands, but nothing does")
                    }
                    continue
                }
                if seen.identity != disk.stat.identity {
                    court.find(self, on: index, "the base knows another file at \(path)")
                }
            }
        }
    }

    /// With one head there is nothing to resolve: a row that reflects it must show it.
    private func judgeClaim(_ row: Row, on machine: Int, _ court: inout Court) {
        guard row.condition == .normal, row.waiting == nil, row.heads.count == 1, let head = row.heads.first,
            row.reflected.covers(head.version)
        else { return }
        let shown = row.disk?.entry ?? .absent
        if !shown.agrees(with: head.entry) {
            court.find(self, on: machine, "the row of \(row.path) says it reflects \(head.entry), but shows \(shown)")
        }
    }

    /// If nobody touched the file since the stat in the row was taken, its content is the row's.
    private func judgeDisk(_ row: Row, _ act: StoreAct, _ court: inout Court) {
        // A racy row says itself that times cannot tell and that it will be read again.
        guard row.condition == .normal, let disk = row.disk, !disk.isRacy, let stat = act.look(row.path),
            stat.isUntouched(since: disk.stat), let found = act.read(row.path)
        else { return }
        // Some power cuts leave other bytes and no sign of it: only reading again can tell.
        if court.ledger.pages[row.path]?.isReverted == true { return }
        if found.entry.content != disk.entry.content || found.entry.mode != disk.entry.mode {
            court.find(
                self, on: act.machine, "the row of \(row.path) says \(disk.entry), on the disk is \(found.entry)")
        }
    }
}
