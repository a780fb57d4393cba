import SyncModel

/// INV-03. Nothing appears that nobody made: no torn file, no zeros, no content at a path where nobody put it.
package final class OnlyWhatPeopleMade: DiskInvariant {
    package static let id = "INV-03"
    package static let sentence =
        "The daemon puts nothing at a path that no person ever put at that path, conflict copies under their own names."

    package init() {}

    package func see(_ act: DiskAct, _ court: inout Court) {
        guard act.error == nil else { return }
        // An empty directory may come for a moment: a rename seen a little too late takes what it finds for what was moved.
        for change in act.treeChanges
        where change.after.isContent && !isKnown(change.after, at: change.path, court.ledger) {
            court.find(self, on: act.machine, "\(change.after) was put at \(change.path), where nobody ever put it")
        }
    }

    package func see(_ sight: Sight, _ court: inout Court) {
        for (index, machine) in sight.machines.enumerated() {
            for (path, seen) in machine.tree where !isKnown(seen.value, at: path, court.ledger) {
                court.find(self, on: index, "\(seen.value) stands at \(path), where nobody ever put it")
            }
        }
    }

    private func isKnown(_ value: Value, at path: Path, _ ledger: Ledger) -> Bool {
        if value == .absent || ledger.everStood(value, at: path) { return true }
        guard value.isContent else { return false }
        for original in ledger.originals(of: path) {
            if ledger.everStood(value, at: original) || ledger.pages[original]?.isEntangled == true { return true }
        }
        return !ledger.rescued(value, to: path).isEmpty || isRemainOfDisplaced(value, path, ledger)
    }

    /// What is left of a version whose sync had failed comes back like a late write: it may be one.
    private func isRemainOfDisplaced(_ value: Value, _ path: Path, _ ledger: Ledger) -> Bool {
        ConflictFamily.base(of: path) != nil && ledger.remainsOfDisplaced.contains(value)
    }
}
