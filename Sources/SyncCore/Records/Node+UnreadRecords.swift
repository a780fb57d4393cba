import RecordMerge
import SyncModel

/// Documents of records in a later version than the model here reads: what a program that knows more has saved. They go to the other node
/// whole, as a change set of that version (`ChangeSet.isUnread`), which is held wherever nobody reads it, and stand in both folders as they were
/// saved: nothing is merged into them, and no program of an earlier version takes their place. What else was saved there is told by its sets, and
/// comes of them once somebody reads all.
extension Node {
    /// Of what the logs say of the file, what a held set has saved and nobody here reads; of two such states the one that stays.
    func unreadSave(of row: Row) -> HeldSets.UnreadSave? {
        guard !records.held.unread.isEmpty, book(of: row.path) != nil else { return nil }
        let saves = row.heads.compactMap { records.held.unreadSave(of: $0.entry.content, at: row.path) }
        return saves.max { $0.precedes($1) }
    }

    func unreadFile(_ content: ContentID, at path: Path) -> RecordBook.File? {
        guard let save = records.held.unreadSave(of: .file(content, size: 0), at: path), let bytes = save.file.bytes
        else { return nil }
        let chunks = ContentHasher.chunks(of: bytes, limits.chunking)
        let entry = Entry(
            content: .file(content, size: chunks.size), mode: save.file.mode, modified: save.file.modified)
        return RecordBook.File(entry: entry, chunks: chunks, bytes: bytes)
    }

    /// What the folder showed at the path, or is to show again once what took its place has made room. (What is still to be told of did not.)
    func shownContent(_ row: Row, _ number: Int) -> Content? {
        let hasTakenPlace = row.owesCopy && !isUntold(row)
        return row.disk.map { hasTakenPlace ? recordEntry(of: row, number).content : $0.entry.content }
    }

    func shownBytes(_ row: Row?, _ number: Int) -> [UInt8]? {
        guard let row, let shown = shownContent(row, number), case .file(let content, _) = shown else { return nil }
        return records.books[number].bytes(of: content, at: row.path)
            ?? records.held.unreadSave(of: shown, at: row.path)?.file.bytes
    }

    /// The version of a document of records, of which the row keeps none: that of what nobody here reads, if there is such a state.
    func recordMark(_ row: Row) -> FormatMark? {
        guard let number = book(of: row.path), case .file(let content, _)? = row.disk?.entry.content,
            let bytes = unreadSave(of: row)?.file.bytes ?? shownBytes(row, number)
        else { return nil }
        let rule = records.books[number].formatRule
        let reading = rule.header(of: bytes, size: UInt64(bytes.count)).reading
        return FormatMark(content: content, rule: rule.fingerprint, reading: reading)
    }

    /// Nobody here knows whether they keep the rules: who can read them finds out.
    mutating func tellUnread(
        _ group: SaveGroup, of number: Int, _ rows: RowMap, in batch: inout Batch, into effects: inout Effects
    ) {
        let time = clock.tick(wallMilliseconds: now.wallMilliseconds)
        log(changeSet(of: group, number, at: time), of: group, number, rows, in: &batch, into: &effects)
    }

    /// A save in an earlier version than what it took the place of: it makes room, as a conflict copy, and that comes back.
    mutating func putBeside(
        _ finding: RecordState.Finding, _ old: Row?, at path: Path, in batch: inout Batch, into effects: inout Effects
    ) {
        takeBackFinding(at: path)
        guard var row = old, let stat = finding.stat else { return }
        let origin = Origin(
            author: .own, position: record.ownHead.position, time: clock.tick(wallMilliseconds: now.wallMilliseconds))
        row.disk = Row.DiskState(
            entry: finding.entry, stat: stat, origins: Origins(all: origin), isRacy: finding.isRacy)
        row.condition = .normal
        row.owesCopy = true
        wait(&row, .formatDowngradeHeld)
        cancel(path)
        plan.want(path)
        put(row, replacing: old, in: &batch, into: &effects)
    }

    /// One alert for each file and version, on each node that does not read it. What it tells of counts as held.
    mutating func watchUnread(_ row: Row, before: Row?, into effects: inout Effects) {
        guard !records.held.unread.isEmpty else {
            if before != nil, formats.copied.contains(key: row.path) { noteCopies(of: row.path) }
            return
        }
        let open = unreadAlert(of: row)
        records.standingUnread[row.path] = open?.content
        if let past = before.flatMap({ unreadAlert(of: $0) }), past.key != open?.key {
            setAlarm(past.key, if: false, into: &effects)
        }
        if formats.copied.contains(key: row.path) { noteCopies(of: row.path) }
        if let open { setAlarm(open.key, open.facts, if: true, into: &effects) }
    }

    private func unreadAlert(of row: Row) -> (key: AlertKey, facts: AlertFacts, content: ContentID?)? {
        guard let save = unreadSave(of: row), let number = book(of: row.path) else { return nil }
        let finding = records.books[number].formatRule.finding(save.version)
        return (
            AlertKey(code: .formatNewer, subject: row.path.bytes, format: finding),
            AlertFacts(writer: save.set.author == ownParty ? .own : .peer), save.file.content
        )
    }
}
