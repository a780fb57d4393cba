import RecordMerge
import SyncModel

/// Files that a model with a fault is about. Nobody knows what is to become of them, so they stay as they are: what is saved here is
/// not told, and what the other node saves is not put in its place. The next process that can read the model, or has none that is
/// about them, finds by its first scan what they have become, and goes on from there.
extension Node {
    func isHeldBack(_ path: Path) -> Bool {
        let files = records.heldFiles
        if files.isEmpty || records.books.contains(where: { $0.claims(path) }) { return false }
        return files.claims(path, as: [.records, .subtree]) || files.claims(path, as: [.format]) && !isGuarded(path)
    }

    /// What goes with a directory that the other node has moved is judged file by file.
    func concernsHeldFiles(_ move: Relocation) -> Bool {
        records.heldFiles.concerns(move.from) || records.heldFiles.concerns(move.to)
    }

    /// True if a change that was found here is not to be told. (Directories are nobody's.)
    mutating func holdsBack(_ row: inout Row, _ found: Content) -> Bool {
        let isAboutDirectories = Node.isNoFile(found) && Node.isNoFile(row.disk?.entry.content ?? .absent)
        guard !isAboutDirectories, isHeldBack(row.path) else { return false }
        // (What a cut has taken is still owed by the row.)
        let isOwed = row.condition == .damaged && row.disk == nil
        if found != .absent, !isOwed { row.condition = .normal }
        holdBack(&row)
        cancel(row.path)
        return true
    }

    /// True if the row has to stay as it is, whatever it is to be brought to.
    mutating func staysHeldBack(_ row: inout Row) -> Bool {
        let isAboutDirectories =
            Node.isNoFile(resolution(of: row).entry.content) && Node.isNoFile(row.disk?.entry.content ?? .absent)
        guard !isAboutDirectories, isHeldBack(row.path) else {
            // The model is whole by now, and what is to be there may wait for something else.
            if row.needsApply, row.waiting?.reason == .schemaInvalid { row.waiting = nil }
            return false
        }
        if row.needsApply || row.condition != .normal { holdBack(&row) }
        return row.waiting?.reason == .schemaInvalid
    }

    private mutating func holdBack(_ row: inout Row) {
        if row.waiting?.reason != .schemaInvalid { wait(&row, .schemaInvalid) }
    }

    private static func isNoFile(_ content: Content) -> Bool {
        switch content {
        case .absent, .directory: true
        case .file, .symlink: false
        }
    }

    /// What stands here is what was told of last.
    mutating func endHoldingBack(_ row: inout Row) {
        if row.waiting?.reason == .schemaInvalid, !row.needsApply { row.waiting = nil }
    }
}
