import RecordMerge
import SyncModel

/// What comes of the change sets: files that are to be in the folder. Where the rows would resolve to something else this node
/// says so in its own log, as the other does with the same words.
extension Node {
    /// What has changed by the sets that were noted is to be found in the folder soon. The peer's up to `seen` it shows already;
    /// nil if that is to be found out.
    mutating func refreshRecords(showing seen: LogPosition?, into effects: inout Effects) {
        var isChanged = false
        let time = now.monotonicMilliseconds
        for number in records.books.indices {
            let change = records.books[number].refresh()
            for (path, isNew) in change.files {
                isChanged = true
                records.toMatch[path] = true
                guard let seen else { continue }
                records.noteUnshown(path, after: seen, at: time, isWhole: isNew, names: change.names)
                if isNew { records.noteCome(path, at: time) }
            }
            // (It may stand there all the same, though all that came of these sets is that nothing is to.)
            for path in change.gone where mayStandUntold(path) && book(of: path) == number {
                records.toMatch[path] = true
                if let seen { records.noteUnshown(path, after: seen, at: time, names: change.names) }
            }
        }
        for path in records.held.takeUnreadNews() {
            records.toMatch[path] = true
            if let seen { records.noteUnshown(path, after: seen, at: time) }
        }
        for number in records.books.indices { records.shelf.note(records.books[number].takeReshelved()) }
        if isChanged { reconsiderSaves() }
        watchContests(into: &effects)
    }

    /// Rules leave it out, or it was there before its model came.
    private func mayStandUntold(_ path: Path) -> Bool {
        records.adopted.contains(key: path) || watch.rules.isIgnored(path.bytes, isDirectory: false)
    }

    /// What broke the rules may keep them now: somebody has mended it, taken back what it hung on, or taken away as well what was
    /// missed.
    mutating func reconsiderSaves() {
        let faulty = records.waiting.filter { $0.value == .validationRequiredMissing }
        guard !faulty.isEmpty else { return }
        for (path, _) in faulty { records.waiting[path] = nil }
        records.dueAt = records.dueAt ?? now.monotonicMilliseconds + limits.saveQuietMilliseconds
    }

    /// What is to stand at the path: what comes of the change sets, unless somebody has saved there what no model here reads.
    func recordEntry(of row: Row, _ number: Int) -> Entry {
        if let save = unreadSave(of: row), let content = save.file.content {
            return unreadFile(content, at: row.path)?.entry ?? .absent
        }
        return recordEntry(at: row.path, number)
    }

    func recordEntry(at path: Path, _ number: Int) -> Entry {
        records.books[number].files[path]?.entry ?? .absent
    }

    func recordFile(_ content: ContentID, at path: Path) -> RecordBook.File? {
        guard let number = book(of: path) else { return nil }
        if let file = records.books[number].files[path], file.content == content { return file }
        return unreadFile(content, at: path)
    }

    /// A row of a file that a model claims may be brought to what it resolves to if that is what came of the change sets.
    mutating func isMatched(_ row: Row) -> Bool {
        guard let number = book(of: row.path) else { return true }
        guard !records.found.contains(key: row.path), !isUntold(row), !takesStock(of: row, number) else {
            return false
        }
        if isTakenUntold(row) { return true }
        let wanted = recordEntry(of: row, number)
        if agrees(row, wanted), !isOwed(row, number, wanted) { return true }
        records.toMatch[row.path] = true
        return false
    }

    /// The peer's row has come: what it says was saved is said by a set that is here.
    mutating func noteRow(at path: Path) {
        guard book(of: path) != nil else { return }
        records.awaited[path] = nil
        records.toMatch[path] = true
    }

    /// Rules have let go of it. What came of the sets meanwhile passed it by, and where they left it out on both nodes no log tells of that.
    mutating func matchLetGo(_ row: Row) {
        guard row.condition == .normal, book(of: row.path) != nil else { return }
        records.toMatch[row.path] = true
    }

    /// Whoever has found the file as it was, or changed, knows nothing of what would explain it: whether that has come is asked once more.
    mutating func endWait(of row: inout Row) {
        if awaitsExplanation(row), book(of: row.path) != nil { records.toMatch[row.path] = true }
        row.waiting = nil
    }

    private mutating func awaitRows(of set: ChangeSet) {
        guard set.author != ownParty, session.isLive else { return }
        for file in set.files {
            records.awaited[file.path] = now.monotonicMilliseconds + RecordState.awaitedMilliseconds
            records.owed[file.path] = nil
        }
    }

    private mutating func endWaits() {
        for (path, due) in records.awaited where due <= now.monotonicMilliseconds {
            records.awaited[path] = nil
            records.toMatch[path] = true
        }
    }

    /// The rows say what came of the change sets, and whoever wrote it had seen what it takes the place of: no copy is to be made
    /// of that.
    func agrees(_ row: Row, _ wanted: Entry) -> Bool {
        let resolved = resolution(of: row).entry
        switch resolved.content {
        case .directory, .symlink: return true
        case .absent, .file:
            // (What is to make room is in an earlier version, and goes beside.)
            return resolved.content == wanted.content && (row.owesCopy || !reconciler.losesUnseen(row))
        }
    }

    /// A save over a state of ours that was still to be put there leaves both, and the row counts as shown.
    private func isShown(_ row: Row) -> Bool {
        let resolved = resolution(of: row).entry
        switch resolved.content {
        case .directory, .symlink: return true
        case .absent, .file: return row.disk?.entry.content ?? .absent == resolved.content
        }
    }

    /// Two saves of one file at once are no conflict of the file: what comes of them is told in the records.
    func losesUnseen(_ row: Row) -> Bool {
        book(of: row.path) == nil && !isHeldBack(row.path) && reconciler.losesUnseen(row)
    }

    /// Something else than what stands there is on its way, whether it is still to be there or not.
    func isToChange(_ row: Row) -> Bool {
        plan.tasks[row.path].map { $0.wanted.entry.content != row.disk?.entry.content ?? .absent } ?? false
    }

    mutating func noteShown(_ row: Row) {
        guard records.unshown.contains(key: row.path), let number = book(of: row.path) else { return }
        let shown = row.disk?.entry.content ?? .absent
        guard shown == recordEntry(of: row, number).content else { return }
        records.noteShown(row.path, at: now.monotonicMilliseconds)
        records.books[number].forgetOlder(at: row.path)
    }

    mutating func matchNext() {
        endWaits()
        guard !records.isMatching, !records.toMatch.isEmpty, isWorking else { return }
        var paths: [Path] = []
        while paths.count < limits.batchPathsMax, let next = records.toMatch.popFirst() { paths.append(next.key) }
        records.isMatching = true
        enqueue(.matchRecords(paths))
    }

    /// Directories come before what is in them: one that is gone comes back for a file that is to be in it.
    mutating func matchRecords(_ paths: [Path], _ answers: inout Answers, into effects: inout Effects) {
        records.isMatching = false
        var rows = answers.rowsByPath()
        var batch = Batch()
        var matched: [Path] = []
        for path in paths {
            // (What is awaited is matched once it has come, or is waited for no more.)
            guard let number = book(of: path), !records.found.contains(key: path),
                !records.awaited.contains(key: path)
            else { continue }
            if apply.touches(path) {
                // What comes of that is not known yet.
                records.awaited[path] = now.monotonicMilliseconds + limits.saveQuietMilliseconds
                continue
            }
            if match(path, number, &rows, in: &batch, into: &effects) {
                matched.append(path)
            }
        }
        planMade(matched, &rows, in: &batch, into: &effects)
        if !batch.isEmpty { store(&batch, into: &effects) }
    }

    /// True if the row says now what is wanted, and it is to be put there. (Who plans any other is told to match it once more.)
    private mutating func match(
        _ path: Path, _ number: Int, _ rows: inout RowMap, in batch: inout Batch, into effects: inout Effects
    ) -> Bool {
        let old = rows[path]
        var row = old ?? Row(path: path)
        if isTakenUntold(row) { return false }
        if isUntold(row) {
            // (What a cut had taken is back.)
            takeBackFinding(of: &row)
            return false
        }
        if takesStock(of: row, number) { return false }
        let wanted = recordEntry(of: row, number)
        watchUnread(row, before: nil, into: &effects)
        guard row.condition == .normal || row.condition == .damaged else { return false }
        let isOwed = isOwed(row, number, wanted)
        let isPutBack = isOwed && isPutBack(row, wanted)
        records.owed[path] = isOwed && !isPutBack ? true : nil
        if !isOwed, agrees(row, wanted), row.needsApply || isShown(row) {
            if row.needsApply {
                plan.want(path)
                return true
            }
            records.noteShown(path, at: now.monotonicMilliseconds)
            // (What explains it has come, and nothing is left to be done by which the wait for that would end.)
            if awaitsExplanation(row) {
                row.waiting = nil
                put(row, replacing: old, in: &batch, into: &effects)
            }
            return false
        }
        guard isPutBack || !isOwed && isExplained(row) else {
            if isOwed, row.waiting?.reason == .waitingPeer { return false }
            let isOurs = records.held.hasSave(of: path, by: ownParty)
            wait(&row, !isOwed && (session.isLive || isOurs) ? .schemaNewer : .waitingPeer)
            put(row, replacing: old, in: &batch, into: &effects)
            return false
        }
        if records.isTakingStock, row.disk != nil {
            records.heldForStock[path] = true
            return false
        }
        if !wanted.isAbsent { reviveParents(of: path, &rows, in: &batch, into: &effects) }
        let owesCopy = row.owesCopy && row.disk?.entry.content != wanted.content
        // (What the peer is still to tell of stands beside what is put back.)
        decree(wanted, &row, seeing: isPutBack ? row.reflected : nil, in: &batch)
        // What is in an earlier version goes beside all the same.
        row.owesCopy = owesCopy
        put(row, replacing: old, in: &batch, into: &effects)
        rows[path] = row
        return true
    }

    private mutating func reviveParents(
        of path: Path, _ rows: inout RowMap, in batch: inout Batch, into effects: inout Effects
    ) {
        for parent in path.parents {
            let old = rows[parent]
            var row = old ?? Row(path: parent)
            let resolved = resolution(of: row).entry
            guard resolved.isAbsent, row.disk == nil || row.needsApply else { continue }
            decree(Entry(content: .directory, mode: 0o755, modified: resolved.modified), &row, in: &batch)
            put(row, replacing: old, in: &batch, into: &effects)
            rows[parent] = row
        }
    }

    /// Says in the log what is to be at the path, by somebody who has seen everything that was written there, or of the peer's only so much.
    mutating func decree(
        _ entry: Entry, _ row: inout Row, seeing shown: VersionVector? = nil, in batch: inout Batch
    ) {
        cancel(row.path)
        let position = nextPosition()
        let time = clock.tick(wallMilliseconds: now.wallMilliseconds)
        let origin = Origin(author: .own, position: position, time: time)
        let known = resolution(of: row).entry
        let entry = entry.isAbsent ? Entry(content: .absent, mode: known.mode, modified: known.modified) : entry
        let seen = VersionVector(own: row.version.own, peer: (shown ?? row.version).peer)
        let revision = Revision(origin: origin, seen: seen, entry: entry, origins: Origins(all: origin))
        row.join(revision)
        row.waiting = nil
        row.owesCopy = false
        append(.put(row.path, revision), at: position, time, in: &batch)
        plan.want(row.path)
    }

    /// The peer tells of a save in a change set before it does in its log, unless it does not know the model. Who cannot read every
    /// set does not overrule what it does not know: two nodes of different views would do so in turn, without end.
    private func isExplained(_ row: Row) -> Bool {
        if unreadSave(of: row) != nil { return true }
        if records.held.hasSave(of: row.path, by: ownParty), let number = book(of: row.path),
            case .file(let content, _)? = row.head(by: .own)?.entry.content,
            !records.books[number].hasSaved(content, at: row.path)
        {
            // By a program here that knew more than this one.
            return false
        }
        let knowsAll = session.sharesRecords && records.held.isEmpty
        guard !knowsAll, let number = book(of: row.path), let head = row.head(by: .peer) else { return true }
        if isAnswer(head, row), hasLesserModel(records.books[number].model) { return false }
        // (Who deletes a file that cannot be read here says so in a set that is held as well.)
        guard case .file(let content, _) = head.entry.content else {
            return !records.held.hasSave(of: row.path, by: ownParty.other)
        }
        return records.books[number].hasSaved(content, at: row.path)
    }

    /// Nothing but what is not explained waits so.
    private func awaitsExplanation(_ row: Row) -> Bool {
        guard let reason = row.waiting?.reason else { return false }
        return reason == .waitingPeer || reason == .schemaNewer
    }

    /// Who wrote it had seen what this node had said last.
    private func isAnswer(_ head: Revision, _ row: Row) -> Bool { row.heads.count == 1 && head.seen.own != .none }

    /// The other node makes something else of the same change sets by a model of its own. Two that overrule each other's answers do so
    /// for ever: whose model is of the higher version has the last word, and of equals whose key is smaller.
    private func hasLesserModel(_ own: Model) -> Bool {
        guard !session.peerModels.isEmpty else { return false }
        let version = UInt32(clamping: own.version)
        let theirs = session.peerModels.first { $0.name == own.name }
        return reconciler.precedence.yields(version, to: theirs?.version ?? version)
    }

    /// What cannot be read here is held, and all the rest goes on.
    /// The set and the number of its book, if it is one that can be shown.
    @discardableResult mutating func noteStored(_ stored: StoredChangeSet) -> (number: Int, set: ChangeSet)? {
        // It has got another number.
        if stored.bytes.isEmpty { return nil }
        guard let (number, set, chunks) = decoded(stored) else {
            records.held.hold(stored, unread: unread(stored)) { [books = records.books] needs in
                books.contains { $0.reads(needs) }
            }
            return nil
        }
        guard let admitted = records.held.admit(stored, set, records.books[number].model, by: ownParty) else {
            return nil
        }
        clock.witness(set.time)
        records.books[number].note(hashed: chunks)
        records.books[number].note(admitted)
        awaitRows(of: set)
        return (number, set)
    }

    // MARK: At the start

    mutating func openRecords(_ models: [InstalledModel], _ heldFiles: HeldFiles, hasJoined: Bool) {
        records = RecordState()
        records.heldFiles = heldFiles
        records.awaitsFirstImport = hasJoined && !record.initialImportDone
        records.stockSince = now.monotonicMilliseconds
        records.openedAt = now.wallMilliseconds
        // (An orderly stop writes last of all. The sign of life is by the slowest clock: what was saved before may bear a later time.)
        let stopped = recovery.isAfterCrash ? nil : record.writtenMilliseconds
        records.untoldUntil = stopped ?? now.wallMilliseconds
        records.books = models.map { RecordBook($0, chunking: limits.chunking) }
        if keepsRecords { enqueue(.loadRecords) }
    }

    mutating func loadRecords(_ answers: inout Answers, into effects: inout Effects) {
        for stored in answers.changeSets() {
            records.known[stored.author] = max(records.known[stored.author], stored.position)
            if stored.author == .own { records.noteOwn(stored.position) }
            noteStored(stored)
        }
        noteForgotten()
        records.durable = records.known
        records.promised = record.setMarks.promised
        records.before = records.known.own
        records.beginHearing()
        refreshRecords(showing: nil, into: &effects)
        for path in records.held.unreadPaths { records.toMatch[path] = true }
        records.isLoaded = true
        for number in records.books.indices { enqueue(.adoptRecords(number, after: nil)) }
    }

    /// The sets in their order, and all of them: what a node had lost has come back.
    mutating func reloadRecords(_ answers: inout Answers, into effects: inout Effects) {
        let (old, held) = (records.books, records.held)
        let lastLost = session.lastLost
        session.lastLost = nil
        let unknown =
            lastLost == nil
            ? []
            : ownSets(in: old, held).filter {
                $0.set.position > knownToBoth && session.givenBack[$0.set.position] != true
            }
        let isUnknown = SortedMap(unknown.map { ($0.set.position, true) })
        emptyBooks()
        for stored in answers.changeSets() + [lastLost].compactMap(\.self)
        where stored.author == .peer || !isUnknown.contains(key: stored.position) {
            noteStored(stored)
        }
        if let lastLost { settleLost(lastLost, unknown, into: &effects) }
        succeed(old, showing: records.known.peer, into: &effects)
    }

    mutating func emptyBooks() {
        records.books = records.books.map {
            RecordBook(InstalledModel($0.model, digest: $0.digest), chunking: limits.chunking)
        }
        records.held = HeldSets()
    }

    /// The folder shows what other books said before, up to `shown` of the peer's sets.
    mutating func succeed(_ old: [RecordBook], showing shown: LogPosition, into effects: inout Effects) {
        for number in records.books.indices {
            for path in records.books[number].succeed(old[number]) {
                records.toMatch[path] = true
                records.noteUnshown(path, after: shown)
            }
            records.importRepairs += records.books[number].repairs - old[number].repairs
        }
        noteForgotten()
        for book in records.books { records.shelf.note(Array(book.view.quarantine.keys)) }
        records.shelf.noteAll()
        watchContests(into: &effects)
    }

    func ownSets(in books: [RecordBook], _ held: HeldSets) -> [(number: Int, set: ChangeSet)] {
        books.indices.flatMap { number -> [(number: Int, set: ChangeSet)] in
            let unread = held.unread.filter { $0.needs.model == books[number].model.name }
            return (books[number].space.history + unread).filter { $0.author == ownParty }.map { (number, $0) }
        }.sorted { $0.set.position < $1.set.position }
    }

    /// All that was lost is here again, and what was written meanwhile gets its numbers after it: in one batch, or nobody would
    /// know after a crash in between which sets those are.
    private mutating func settleLost(
        _ last: StoredChangeSet, _ unknown: [(number: Int, set: ChangeSet)], into effects: inout Effects
    ) {
        var batch = Batch()
        batch.add(.putChangeSet(last))
        records.noteOwn(last.position)
        records.known.own = max(records.known.own, last.position)
        renumber(unknown, in: &batch)
        store(&batch, into: &effects)
    }
}
