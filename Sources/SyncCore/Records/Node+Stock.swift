import RecordMerge
import SyncModel

/// What stands in files that a model claims and no change set tells of: it was written before the model came, or a peer, or before rules let
/// go of it, and is on the rows. Its author tells of it (`RecordState.adopted`), unless somebody has saved over it who had it before him. Until
/// then nothing takes its place: not here, and the other node, which knows it by the row alone, waits for it (`RecordState.owed`).
extension Node {
    // MARK: Here

    mutating func adopt(_ row: Row) {
        guard let disk = row.disk else { return }
        adopt(row, disk.entry.content, from: disk.origins.content)
    }

    mutating func adopt(_ row: Row, _ content: Content, from origin: Origin) {
        let isKnownThere = origin.author == .peer || origin.position <= record.acknowledged.position
        // (What cannot be told of is for its author, whatever the other node has.)
        let isShared = isKnownThere && !waitsForAuthor(row)
        records.adopted[row.path] = RecordState.Adopted(content: content, isShared: isShared)
    }

    /// The row shows what its file held before its model came, or a peer, and no set says so yet.
    func isUntold(_ row: Row) -> Bool {
        guard !records.adopted.isEmpty, row.condition == .normal || row.condition == .missing, let disk = row.disk
        else { return false }
        return records.adopted[row.path]?.content == disk.entry.content
    }

    /// A set says that what stands there was saved.
    func isSaved(_ row: Row) -> Bool {
        guard let number = book(of: row.path), case .file(let content, _)? = row.disk?.entry.content
        else { return false }
        return records.books[number].hasSaved(content, at: row.path)
    }

    /// A set is still to tell what stands there, and until then it stays.
    func isToBeTold(_ row: Row) -> Bool {
        book(of: row.path) != nil && (records.found.contains(key: row.path) || isUntold(row))
    }

    /// What stands there is older than all that the sets tell of the file. (What is older than all that its author tells may have come of
    /// what the other has told, by another model than that of now, unless he had none of that.)
    func isStock(_ row: Row, _ number: Int) -> Bool {
        guard let (_, origin) = foreign(row, number) else { return false }
        return records.books[number].precedesSaves(origin.time, at: row.path)
            || standsBesideSave(origin, on: row, number)
    }

    /// At the start: what was saved here without the model when the other had told of the file, and no process with it has told of since. By then
    /// this node had told of nothing, nor has it promised to have shown any of the peer's sets that tell of that file; and it is nothing that comes
    /// of the peer's sets alone.
    func lateStock(among rows: [Row], _ number: Int) -> SortedMap<Path, Bool> {
        // (It may have come of what is forgotten.)
        guard record.setMarks.peer == .none else { return [:] }
        let book = records.books[number]
        let other = ownParty.other
        var late = SortedMap<Path, ContentID>()
        for row in rows where self.book(of: row.path) == number && book.hasSaved(row.path) {
            guard let (content, origin) = foreign(row, number), origin.author == .own,
                book.precedesSets(origin.time, by: ownParty)
            else { continue }
            late[row.path] = content
        }
        if late.isEmpty { return [:] }
        book.forEachSave(by: other, through: record.setMarks.promised) { late[$0] = nil }
        for (path, _) in book.outcomes(late, of: other) { late[path] = nil }
        return SortedMap(late.map { ($0.key, true) })
    }

    /// What stands there, if it is in no set, has come of none as far as is known, and nobody has saved over it since.
    private func foreign(_ row: Row, _ number: Int) -> (content: ContentID, origin: Origin)? {
        foreignContent(of: row, number).flatMap { isSavedOver($0.origin, on: row, number) ? nil : $0 }
    }

    private func foreignContent(of row: Row, _ number: Int) -> (content: ContentID, origin: Origin)? {
        guard row.condition != .damaged, let disk = row.disk, case .file(let content, _) = disk.entry.content,
            !records.held.hasSave(of: row.path), records.books[number].isForeign(content, at: row.path)
        else { return nil }
        return (content, disk.origins.content)
    }

    /// Somebody has saved over it who had it before him, or this node has said what is to be there instead. (What owes a copy nobody had.)
    private func isSavedOver(_ origin: Origin, on row: Row, _ number: Int) -> Bool {
        !row.owesCopy && isOvertaken(origin, on: row, number) || isOverruled(origin, on: row)
    }

    /// What rules leave out here had lost to a save of the peer's, and now somebody has saved there who counts as having seen it, and has not; or
    /// the peer says what is to be there instead, and had saved nothing over it before. The row keeps that, so that it is told of once they let go
    /// of it, by whatever process.
    func leavesStockUnseen(_ row: Row, before old: Row?) -> Bool {
        guard let old, old.condition == .ignored, records.isLoaded, let number = book(of: row.path),
            let (_, origin) = foreignContent(of: row, number), !reconciler.losesUnseen(row)
        else { return false }
        if reconciler.losesUnseen(old) { return true }
        guard let head = row.head(by: .peer), head.includes(origin) else { return false }
        let wasCovered = old.head(by: .peer)?.includes(origin) == true
        return !wasCovered && isOnlySaid(head, at: row.path, number)
    }

    /// It comes of sets, and none that was made since says that it was saved there.
    private func isOnlySaid(_ head: Revision, at path: Path, _ number: Int) -> Bool {
        guard case .file(let content, _) = head.entry.content else { return false }
        let book = records.books[number]
        let time = head.origins.content.time.wallMilliseconds
        return !book.isForeign(content, at: path) && !book.hasSaved(content, at: path, since: time)
    }

    /// While the nodes are apart their times say nothing of each other: the clock of one may be ahead. What was written here before this node told
    /// of anything, by somebody who had no file of the peer's there, is older than what the peer has saved beside it all the same.
    private func standsBesideSave(_ origin: Origin, on row: Row, _ number: Int) -> Bool {
        guard let mine = row.head(by: .own), let theirs = row.head(by: .peer),
            mine.origins.content.isSameEntry(as: origin), mine.seen.peer == .none,
            case .file(let content, _) = theirs.entry.content
        else { return false }
        let book = records.books[number]
        return book.hasSaved(content, at: row.path) && book.precedesSets(origin.time, by: ownParty)
    }

    /// It is to be told of before anything takes its place. True if it is still to be.
    mutating func takesStock(of row: Row, _ number: Int) -> Bool {
        guard records.isAdopted, knowsItsPast, row.condition == .normal, isStock(row, number) else { return false }
        takeStock(of: row)
        return true
    }

    private mutating func takeStock(of row: Row) {
        guard let disk = row.disk else { return }
        adopt(row)
        noteStock(disk, at: row.path)
    }

    /// What stands there is to be told of, as what was there before anybody watched.
    mutating func noteStock(_ disk: Row.DiskState, at path: Path) {
        note(path, RecordState.Finding(entry: disk.entry, stat: disk.stat, isRacy: disk.isRacy, isOld: true))
    }

    mutating func noteLetGo(_ row: Row) {
        if book(of: row.path) != nil { records.noteLetGo(row.path, at: now.monotonicMilliseconds) }
    }

    /// The rules have left it out until now.
    mutating func takeStock(ofLetGo row: Row) {
        noteLetGo(row)
        if records.isLoaded, isTakenUntold(row) { adoptTaken(row) }
        guard records.isLoaded, let number = book(of: row.path), !records.found.contains(key: row.path),
            row.condition == .normal, isUntold(row) || isStock(row, number)
        else { return }
        // (What is to be read first is told of then.)
        if staysLeftOut(row) { adopt(row) } else { takeStock(of: row) }
    }

    /// Somebody who had it before him has saved the file since, and a set tells of that. (A save is told of when it comes to the row, or later. What
    /// an older set tells of, a node has only said to be there instead. What whoever touched it since had heard of says nothing.)
    private func isOvertaken(_ origin: Origin, on row: Row, _ number: Int) -> Bool {
        row.heads.contains { head in
            guard case .file(let content, _) = head.entry.content, !head.origins.content.isSameEntry(as: origin)
            else { return false }
            let saved = head.origins.content
            return head.origin.isSameEntry(as: saved) && head.includes(origin)
                && records.books[number].hasSaved(content, at: row.path, since: saved.time.wallMilliseconds)
        }
    }

    /// This node has said since what is to be there instead (`decree`): it does not say so of what is still to be told of. The save that it came of
    /// is in no head any more.
    private func isOverruled(_ origin: Origin, on row: Row) -> Bool {
        guard row.condition != .damaged, let mine = row.head(by: .own), mine.includes(origin) else { return false }
        return !mine.origins.content.isSameEntry(as: origin) && mine.entry.content != row.disk?.entry.content
    }

    private func party(of author: Author) -> Party { author == .own ? ownParty : ownParty.other }

    // MARK: Findings of it

    /// What stands there is what the row speaks of. If no set does yet, it is still to be told of all the same.
    mutating func takeBackFinding(of row: inout Row, showing entry: Entry, _ stat: Stat?, isRacy: Bool) {
        guard isUntold(row) else { return takeBackFinding(at: row.path) }
        if let code = records.waiting[row.path] { wait(&row, code) }
        note(row.path, RecordState.Finding(entry: entry, stat: stat, isRacy: isRacy, isOld: true))
    }

    mutating func takeBackFinding(of row: inout Row) {
        guard let disk = row.disk else { return takeBackFinding(at: row.path) }
        takeBackFinding(of: &row, showing: disk.entry, disk.stat, isRacy: disk.isRacy)
    }

    /// It stood there before anybody watched, and a set says that it was saved: no news, but what was so before the state of this
    /// node was lost. Or one says what somebody has saved over it. Who told of it would take back what has come of it since.
    func isKnownState(_ finding: RecordState.Finding, _ row: Row?, at path: Path, _ number: Int) -> Bool {
        if finding.isUnrecorded, records.books[number].hasHad(finding.entry, at: path) { return true }
        guard finding.isOld, case .file(let content, _) = finding.entry.content else { return false }
        if records.books[number].hasSaved(content, at: path) { return !wasPutBack(finding, row, number) }
        guard let row, let disk = row.disk, disk.entry.content == finding.entry.content else { return false }
        return isSavedOver(disk.origins.content, on: row, number)
    }

    /// Nothing was there, as one of the nodes had told and this one's folder showed, and nobody has told of anything there since: what stands there
    /// all the same was put back. (Who has lost his state has met nobody yet. What a power cut brings back nobody has put there.)
    private func wasPutBack(_ finding: RecordState.Finding, _ row: Row?, _ number: Int) -> Bool {
        guard record.initialImportDone, let row, row.disk == nil, row.heads.count == 1, let gone = row.heads.first,
            gone.entry.isAbsent, row.reflected.covers(gone.origin), !isGivenBack(finding.stat, at: row)
        else { return false }
        return !records.books[number].hasSaved(row.path, since: gone.origin.time.wallMilliseconds)
    }

    mutating func settleKnown(
        _ finding: RecordState.Finding, _ row: Row?, at path: Path, in batch: inout Batch, into effects: inout Effects
    ) {
        takeBackFinding(at: path)
        records.unshown[path] = RecordState.Unshown(after: record.setMarks.promised)
        records.toMatch[path] = true
        reviseFound(finding, row, at: path, in: &batch, into: &effects)
    }

    /// What stands there from before may be the same thing as what was saved since, by a natural key: told of after that, it would have been
    /// written by somebody who had seen it, and take its place.
    func booksBehindStock(where waits: (RecordState.Finding) -> Bool) -> SortedMap<Int, Bool> {
        var books = SortedMap<Int, Bool>()
        for (path, finding) in records.found where waits(finding) && !records.waiting.contains(key: path) {
            guard let number = book(of: path), books[number] == nil else { continue }
            if records.books[number].model.entities.contains(where: { !$0.identity.isEmpty }) { books[number] = true }
        }
        return books
    }

    // MARK: What both had

    /// Of what both had the other may have told, or what somebody has saved over it. So stock with such files in it waits for what the other had
    /// to say. (Who is alone does not wait for long: as long as stock is taken the folder does not show what comes of the saves in it.)
    var waitsForMeeting: Bool {
        let patience = records.stockSince + RecordState.meetingPatienceMilliseconds
        let isAlone = !session.isLive && now.monotonicMilliseconds >= patience
        if records.hasMetPeer || isAlone { return false }
        return records.adopted.contains { path, adopted in adopted.isShared && records.found[path]?.isOld == true }
    }

    mutating func noteMeeting() {
        guard !records.hasMetPeer, session.isLive, !isCatchingUp, session.setsComing.isEmpty, records.imported == nil,
            hasSetsOfGreeting
        else { return }
        records.hasMetPeer = true
        tellWhatWaited()
    }

    /// Every set is here of which the peer spoke when it greeted us.
    var hasSetsOfGreeting: Bool {
        session.peerSets.map { $0 <= records.known.peer } ?? !session.peerKeepsRecords
    }

    /// What waited for the peer is due.
    mutating func tellWhatWaited() {
        if !records.found.isEmpty { records.dueAt = records.dueAt ?? now.monotonicMilliseconds }
    }

    func isSharedStock(_ path: Path, _ rows: RowMap) -> Bool {
        guard records.found[path]?.isOld == true, let adopted = records.adopted[path] else { return false }
        return adopted.isShared && rows[path]?.disk?.entry.content == adopted.content
    }

    /// When the last of it was written: whoever has saved over any of it did so later, and told of it with a later time.
    func stockTime(of paths: [Path], _ rows: RowMap, _ number: Int) -> HybridTime? {
        let written = paths.compactMap { rows[$0]?.disk?.origins.content.time }.max()
        let seen = records.books[number].lastTime(of: ownParty, seeing: record.setMarks.promised)
        return written.map { max($0, seen.next) }
    }

    // MARK: On the other node

    /// The peer's row speaks of what no set tells of: the peer is to tell of it, as long as it has not said that it is through. (What a peer with
    /// other models means by its rows is another matter, see `isExplained`.)
    private func isOwed(_ row: Row, _ number: Int) -> Bool {
        let hasModels = session.peerSets != nil || !session.peerKeepsRecords
        let isThrough = session.peerIsSettled || hasModels && !session.sharesRecords
        guard !(session.isLive && isThrough), records.isLoaded, let head = row.head(by: .peer),
            case .file(let content, _) = head.entry.content,
            head.entry.content != row.disk?.entry.content, !records.held.hasSave(of: row.path)
        else { return false }
        let book = records.books[number]
        let origin = head.origins.content
        guard book.isForeign(content, at: row.path), !isOvertaken(origin, on: row, number) else { return false }
        return book.precedesSaves(origin.time, at: row.path)
            || book.precedesSets(origin.time, by: party(of: origin.author))
    }

    /// What a cut has taken and the sets tell of comes back at once, if the row says so too: nothing of the peer's gives way to it.
    func isOwed(_ row: Row, _ number: Int, _ wanted: Entry) -> Bool {
        !(row.condition == .damaged && agrees(row, wanted)) && isOwed(row, number)
    }

    /// Nor is that waited for where the row speaks of what the peer is still to tell of, and this node has never shown.
    func isPutBack(_ row: Row, _ wanted: Entry) -> Bool {
        guard row.condition == .damaged, !wanted.isAbsent, let head = row.head(by: .peer) else { return false }
        return !row.reflected.covers(head.origin)
    }

    /// What is put back shows nothing of what the peer is still to tell of: who saves over it has not seen that.
    func withoutOwed(_ wanted: Resolution, _ row: Row) -> VersionVector {
        let version = wanted.version
        guard row.condition == .damaged, row.head(by: .peer)?.entry.content != wanted.entry.content,
            let number = book(of: row.path), isOwed(row, number)
        else { return version }
        return VersionVector(own: version.own, peer: min(version.peer, row.reflected.peer))
    }

    /// It is owed as long as that is what its row waits for, whether or not a cut has taken what stands here.
    mutating func noteOwed(_ row: Row) {
        let isMatched = row.condition == .normal || row.condition == .damaged
        if records.owed.isEmpty || isMatched && row.waiting?.reason == .waitingPeer { return }
        records.owed[row.path] = nil
    }

    /// The peer is through: what it has not told of it does not have any more.
    mutating func matchOwed() {
        for (path, _) in records.owed { records.toMatch[path] = true }
    }
}
