import SyncModel

/// INV-14. A conflict copy is work for a person; it must be the only honest way out.
package final class NoFalseConflict: DiskInvariant {
    package static let id = "INV-14"
    package static let sentence = """
        A conflict copy appears only where two people put different things at one path without having seen each other's, or where a \
        directory stays there for what is in it and is not synced.
        """

    package init() {}

    package func see(_ act: DiskAct, _ court: inout Court) {
        guard act.error == nil, !court.ledger.hasForgotten else { return }
        for change in act.treeChanges where change.after.isContent {
            guard ConflictFamily.base(of: change.path) != nil else { continue }
            if court.ledger.everStood(change.after, at: change.path) { continue }
            if !isContested(change.after, copiedTo: change.path, court.ledger), !isOfKeptDirectory(change.path, act) {
                court.find(
                    self, on: act.machine,
                    "\(change.path) was made of \(change.after), with which nothing was in conflict")
            }
        }
    }

    /// Somebody has put a file in the place of a directory, and on one machine there is something in it that nobody syncs: what the
    /// rules leave out is not deleted with its directory, and a directory keeps the name.
    private func isOfKeptDirectory(_ copy: Path, _ act: DiskAct) -> Bool {
        ConflictFamily.base(of: copy).map(act.isKept) ?? false
    }

    private func isContested(_ value: Value, copiedTo path: Path, _ ledger: Ledger) -> Bool {
        // (A copy of a copy that a person changed is contested at the copy's own page.)
        for original in ledger.originals(of: path) {
            if ledger.isContested(value, at: original) || ledger.pages[original]?.wasInTheWay == true { return true }
            // Taken away and put back in one breath, in which the daemon looked: for it the same bytes are a person's new work.
            if ledger.pages[original]?.wasAwayForAMoment == true { return true }
        }
        // (What a power cut has left of a version that somebody had written to late is a late write for all that can be seen.)
        return !ledger.rescued(value, to: path).isEmpty || ledger.remainsOfDisplaced.contains(value)
    }
}
