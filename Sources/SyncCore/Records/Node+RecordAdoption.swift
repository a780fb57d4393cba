import RecordMerge
import SyncModel

/// When a process starts with its models: what the folder holds is held against what the change sets tell, page by page of the rows. What no set
/// tells of is to be told; what the folder does not show yet is noted, and asked about.
extension Node {
    /// What was in the folder before the model came, or before there was a peer, becomes change sets of this node.
    mutating func adoptRecords(
        _ number: Int, after: Path?, _ answers: inout Answers, into effects: inout Effects
    ) {
        let rows = answers.rows()
        noteRowless(number, among: rows, after: after)
        let late = lateStock(among: rows, number)
        // (What was deleted while the model had a fault is still to be told of.)
        func isHeldDelete(_ row: Row) -> Bool { row.condition == .missing && row.waiting?.reason == .schemaInvalid }
        for row in rows {
            if row.condition == .ignored {
                noteLeftOutUnshown(row, number)
                adoptLeftOut(row, number, late)
                continue
            }
            // (What is missing or damaged is not told of yet. It shows no more than it did all the same.)
            let isSettled = row.condition == .normal || isHeldDelete(row)
            // It waited for its author, and may have gone while nobody watched.
            if isSettled, row.disk == nil, row.heads.isEmpty, row.waiting != nil { look(at: row.path) }
            guard book(of: row.path) == number else { continue }
            if isTakenUntold(row) { adoptTaken(row) }
            guard let disk = row.disk, case .file = disk.entry.content else {
                // What was to be there when the last process ended, and is not.
                let isShown = recordEntry(at: row.path, number).isAbsent
                if row.disk == nil, !isShown {
                    records.noteUnshown(row.path, after: record.setMarks.promised, isWhole: true)
                    matchUnsaid(row)
                }
                continue
            }
            let isKnown = isToldOf(row, number, late)
            // (What is missing and comes back is to be told of as well.)
            if !isKnown, row.condition != .damaged { adopt(row) }
            if isKnown || isHeldDelete(row) {
                // How much of the peer's it shows beyond what was promised, nobody knows any more.
                let isShown = recordEntry(of: row, number).content == disk.entry.content
                if isShown { continue }
                records.noteUnshown(row.path, after: record.setMarks.promised)
                matchUnsaid(row)
                continue
            }
            // (Nor has what owes a copy shown what took its place: who saves over it has not seen that.)
            if row.owesCopy { records.noteUnshown(row.path, after: record.setMarks.promised) }
            guard isSettled else { continue }
            noteStock(disk, at: row.path)
        }
        if rows.count == limits.batchPathsMax, let last = rows.last {
            enqueue(.adoptRecords(number, after: last.path))
        } else if number == records.books.count - 1 {
            records.isAdopted = true
            // What was found before was saved before that was shown.
            for path in Array(records.found.keys) {
                records.found.update(path) { $0.unshown = records.unshown }
            }
        }
    }

    /// Some set tells of what stands there.
    private func isToldOf(_ row: Row, _ number: Int, _ late: SortedMap<Path, Bool>) -> Bool {
        if records.held.hasSave(of: row.path) { return true }
        return records.books[number].hasSaved(row.path) && !late.contains(key: row.path) && !isStock(row, number)
    }

    /// What was saved here and rules leave out is told of once they let go of it, whatever the peer has told of the file by then.
    private mutating func adoptLeftOut(_ row: Row, _ number: Int, _ late: SortedMap<Path, Bool>) {
        guard book(of: row.path) == number, let disk = row.disk, disk.entry.content.kind == .file,
            disk.origins.content.author == .own, !wasDamaged(row), !isToldOf(row, number, late)
        else { return }
        adopt(row)
    }

    /// The last process may have ended before it could say what is to be there. (Where more is to be done, the plan comes by.)
    private mutating func matchUnsaid(_ row: Row) {
        if !row.isUnsettled, !records.held.hasSave(of: row.path) { records.toMatch[row.path] = true }
    }

    /// What rules leave out shows no more of what came of the sets than it did when they began to.
    private mutating func noteLeftOutUnshown(_ row: Row, _ number: Int) {
        let book = records.books[number]
        guard self.book(of: row.path) == number,
            book.hasSaved(row.path) || book.files.contains(key: row.path) || records.held.hasSave(of: row.path)
        else { return }
        let shown = row.disk?.entry.content ?? .absent
        if shown == recordEntry(of: row, number).content { return }
        records.noteUnshown(row.path, after: record.setMarks.promised, isWhole: row.disk == nil)
    }

    /// Of a file that a set of the peer has made there is no row yet if the process ended before the peer's log told of it. The folder
    /// does not show it.
    private mutating func noteRowless(_ number: Int, among rows: [Row], after: Path?) {
        let hasRow = SortedMap(rows.map { ($0.path, true) })
        let end = rows.count < limits.batchPathsMax ? nil : rows.last?.path
        let files = records.books[number].files.range(from: after ?? .root).lazy.map(\.key)
        for path in files.prefix(while: { path in end.map { path <= $0 } ?? true }) where path != after {
            guard !hasRow.contains(key: path), book(of: path) == number else { continue }
            records.noteUnshown(path, after: record.setMarks.promised, isWhole: true)
        }
    }
}
