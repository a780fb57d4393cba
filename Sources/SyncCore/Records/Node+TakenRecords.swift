import RecordMerge
import SyncModel

/// What a power cut took from files of records of which no change set tells yet: what stood there before the model came, or a peer. What their rows
/// speak of is known by its hash alone. So the peer is asked for it, as for any file, and what comes back is told of; and what is left, if nobody
/// has the rest, is told of like a save (`Node+Apply`, content that is lost).
extension Node {
    /// A cut has taken what the row speaks of, and only the peer's file can say what that was.
    func isTakenUntold(_ row: Row) -> Bool {
        guard row.condition == .damaged, let number = book(of: row.path),
            resolution(of: row).entry.content.kind == .file
        else { return false }
        return !records.books[number].hasSaved(row.path) && !records.held.hasSave(of: row.path)
    }

    /// What comes back of it is to be told of.
    mutating func adoptTaken(_ row: Row) {
        let taken = resolution(of: row)
        adopt(row, taken.entry.content, from: taken.origins.content)
    }

    /// True if there is something left that a set is to tell of: what nothing but the row says is in no record, and goes from both nodes.
    mutating func tellsRemains(of row: Row) -> Bool {
        guard row.condition == .damaged, let disk = row.disk, disk.entry.content.kind == .file,
            book(of: row.path) != nil
        else { return false }
        noteStock(disk, at: row.path)
        return true
    }
}
