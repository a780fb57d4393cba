import RecordMerge
import SyncModel

/// Saves of files that a model claims: what was found becomes change sets.
extension Node {
    /// Without a peer nobody could say which of two nodes this is; what is in the folder by then is told of later.
    var keepsRecords: Bool { !records.books.isEmpty && record.peer != nil }

    var ownParty: Party { reconciler.precedence.ownKeyIsSmaller ? .first : .second }

    func book(of path: Path) -> Int? {
        guard keepsRecords else { return nil }
        return records.books.firstIndex { $0.claims(path) }
    }

    /// A directory that is moved with files in it that a model claims is told path by path.
    func concernsRecords(_ directory: Path) -> Bool {
        keepsRecords && records.books.contains { $0.concerns(directory) } || records.heldFiles.concerns(directory)
    }

    // MARK: Findings

    /// True if the change of the row is left to a change set. Nothing is put in the place of the file until then.
    mutating func leaveToRecords(_ row: inout Row, _ entry: Entry, _ stat: Stat?, isRacy: Bool = false) -> Bool {
        guard book(of: row.path) != nil else { return false }
        // (What somebody saves just as a cut had left it is a save all the same: no set tells of what the row speaks of.)
        let isDamaged = row.condition == .damaged && row.disk != nil
        guard row.disk?.entry.content != entry.content || isDamaged else {
            records.forgetTouch(row.path)
            takeBackFinding(of: &row, showing: entry, stat, isRacy: isRacy)
            return false
        }
        guard entry.content.kind == .file || row.disk?.entry.content.kind == .file else { return false }
        // (What a cut has taken is still owed by the row: if nobody is told of this save, it is put back. And what is saved as the cut had left it
        // would be no news to the next process.)
        let isOwed = row.condition == .damaged && (row.disk == nil || row.disk?.entry.content == entry.content)
        if !entry.isAbsent, !isOwed { row.condition = .normal }
        // Until that is told the row speaks of what was there before: a power cut may leave those times over what has not reached the disk.
        if let stat, row.disk?.stat.isSameFile(as: stat) == true { row.disk?.isRacy = true }
        if let code = records.waiting[row.path] { wait(&row, code) }
        let isOld = !incoming.initialScanDone && row.disk == nil && !wasWatched(row)
        note(
            row.path,
            RecordState.Finding(
                entry: entry, stat: stat, isRacy: isRacy, isOld: isOld, isNew: row.disk == nil,
                isUnrecorded: row.disk == nil && row.reflected == .none))
        return true
    }

    /// A save that a process before this one had told to wait, or that waited for its model, was watched. It is no old state either that
    /// a set tells of.
    private func wasWatched(_ row: Row) -> Bool {
        guard let reason = row.waiting?.reason, let number = book(of: row.path) else { return false }
        return reason == .validationRequiredMissing
            || reason == .schemaInvalid && !records.books[number].hasSaved(row.path)
    }

    /// What it waits for is what tells that it was watched: until all has been looked at once, or its model has no fault any more.
    func waitsSinceBefore(_ row: Row) -> Bool {
        let isFirst = !incoming.initialScanDone && book(of: row.path) != nil
        return row.waiting?.reason == .schemaInvalid || row.waiting?.reason == .validationRequiredMissing && isFirst
    }

    mutating func note(_ path: Path, _ finding: RecordState.Finding) {
        if let old = records.found[path], old.entry == finding.entry, old.stat == finding.stat { return }
        var finding = finding
        // What comes while it waits to be found and told of nobody has seen who saved it.
        // (When something went nothing says but a notice.)
        let isGone = finding.entry.isAbsent && finding.stat == nil
        let isFromBefore = finding.isNew ? records.isFromBefore(finding.stat) : isGone || records.isUntold(finding.stat)
        // (By a clock that has been put back since: that may have been before this process, too.)
        let isAhead = finding.stat.map { $0.changed.milliseconds > now.wallMilliseconds } ?? false
        let isUnwatched = (isFromBefore || isAhead) && !records.touched.contains(key: path)
        if !isUnwatched { finding.isUnrecorded = false }
        finding.wasLeftOut = isGone && records.isLetGoUntouched(path)
        let touch = records.takeTouch(path, at: now.monotonicMilliseconds)
        // (Of what was there before anybody watched, nobody knows what it was made on.)
        let known = isGone ? touch.seenIfGone : records.known(at: finding.stat)
        finding.seen = finding.isOld || isUnwatched ? .none : min(touch.seen, known)
        finding.touchedAt = touch.milliseconds
        finding.told = finding.isOld || isUnwatched ? min(records.before, touch.told) : touch.told
        finding.unshown = touch.unshown
        if records.dueAt == nil {
            records.firstFoundAt = now.monotonicMilliseconds
            // (What has waited for more was taken back since.)
            records.invalidSince.removeAll()
        }
        records.found[path] = finding
        // Who saves again may have mended what waits with it.
        records.waiting.removeAll()
        cancel(path)
        let isMuch = records.found.count >= RecordState.groupPathsMax
        let quiet = now.monotonicMilliseconds + limits.saveQuietMilliseconds
        let patience = records.firstFoundAt + limits.savePatienceMilliseconds
        records.dueAt = isMuch ? now.monotonicMilliseconds : min(quiet, patience)
    }

    /// What stands there is what was told of last. What waited with it may keep the rules without it.
    mutating func takeBackFinding(at path: Path) {
        records.waiting[path] = nil
        if records.found.removeValue(forKey: path) != nil { reconsiderSaves() }
    }

    /// What was saved there cannot be told of.
    func waitsForAuthor(_ row: Row) -> Bool {
        let reasons: [MessageCode] = [
            .formatCorrupt, .formatZeroLength, .validationRequiredMissing, .waitingFirstImport,
        ]
        return row.waiting.map { reasons.contains($0.reason) } == true && book(of: row.path) != nil
    }

    /// Nothing stands at the path now, and nothing that was told of did. What it was in the way of may have its place.
    mutating func forgetFinding(at path: Path) {
        guard records.found[path]?.entry.isAbsent == false else { return }
        takeBackFinding(at: path)
        plan.want(path)
    }

    /// A scan says nothing of a file that no row has ever shown and that is gone again.
    mutating func lookAtFindings(below directory: Path) {
        for (path, finding) in records.found where !finding.entry.isAbsent && path.isBelow(directory) { look(at: path) }
    }

    mutating func pumpRecords(into effects: inout Effects) {
        guard phase == .running, keepsRecords, records.isLoaded else { return }
        matchNext()
        endAlarms(into: &effects)
        guard knowsItsPast, records.isAdopted else { return }
        readFindings(into: &effects)
        endStocktaking(into: &effects)
        noteMeeting()
        noteHearing()
        guard let due = records.dueAt, due <= now.monotonicMilliseconds, !records.isTelling else { return }
        if waitsForSavesUnderLock() { return }
        let paths = toTell
        guard !paths.isEmpty else {
            // (The end of the lock makes it due, or that the peer has been heard, and nothing the end of the stock.)
            let isLocked = !lockedSaves.isEmpty
            let pause = putsOffStock ? limits.saveQuietMilliseconds : isLocked ? limits.savePatienceMilliseconds : nil
            records.dueAt = pause.map { now.monotonicMilliseconds + $0 }
            return
        }
        guard paths.allSatisfy({ records.found[$0]?.mustBeRead == false }) else { return }
        records.isTelling = true
        enqueue(.tellRecords(paths))
    }

    /// Once all that was in the folder has been told of, in as many sets as that takes, what is still lacking lacks.
    private mutating func endStocktaking(into effects: inout Effects) {
        guard records.isTakingStock, isStockRead,
            !records.found.contains(where: { $0.value.isOld && !records.waiting.contains(key: $0.key) })
        else { return }
        records.endStocktaking()
        watchContests(into: &effects)
    }

    /// What is saved under one lock is one save, and what else its model has found meanwhile may be a part of it. Other models do not wait.
    private var toTell: [Path] {
        let locked = lockedSaves
        let (stockWaits, pastWaits) = (putsOffStock, waitsForPast)
        if locked.isEmpty && !stockWaits && !pastWaits { return records.toTell() }
        func waits(_ finding: RecordState.Finding) -> Bool {
            stockWaits && finding.isOld || pastWaits && finding.isUnrecorded
        }
        let behind = stockWaits || pastWaits ? booksBehindStock(where: waits) : [:]
        return records.toTell { path in
            if locked.contains(key: path) || records.found[path].map(waits) == true { return false }
            return behind.isEmpty || book(of: path).map { behind.contains(key: $0) } != true
        }
    }

    private var putsOffStock: Bool { waitsForStock || waitsForMeeting }

    /// What was in the folder before anybody watched is told of together, once all of it has been read: told of as it is found, a record would
    /// come before what it needs, and lack that on both nodes.
    private var waitsForStock: Bool { records.isTakingStock && !records.found.isEmpty && !isStockRead }

    /// Or it has been waited for long enough.
    private var isStockRead: Bool {
        if now.monotonicMilliseconds >= records.stockSince + RecordState.stockPatienceMilliseconds { return true }
        return incoming.initialScanDone && watch.toHash.isEmpty && watch.hashing.isEmpty && watch.observing == 0
    }

    /// What waits for the end of a lock that something of its model was saved under.
    var lockedSaves: SortedMap<Path, Bool> {
        guard !claims.entries.isEmpty, !records.found.isEmpty else { return [:] }
        var books = SortedMap<Int, Bool>()
        for (path, finding) in records.found where !records.waiting.contains(key: path) {
            guard let number = book(of: path), books[number] == nil else { continue }
            if claims.isSavedUnderClaim(path, finding.stat?.changed.milliseconds) { books[number] = true }
        }
        guard !books.isEmpty else { return [:] }
        return SortedMap(
            records.found.filter { path, _ in
                !records.waiting.contains(key: path) && book(of: path).map { books.contains(key: $0) } == true
            }.map { ($0.key, true) })
    }

    /// Of what was saved under a lock that has just ended some may have been noticed and not looked at yet: it is of the same save.
    private mutating func waitsForSavesUnderLock() -> Bool {
        guard let ended = records.lockEndedAt else { return false }
        let patience = ended + limits.savePatienceMilliseconds
        guard !watch.isIdle, now.monotonicMilliseconds < patience else {
            records.lockEndedAt = nil
            return false
        }
        records.dueAt = min(now.monotonicMilliseconds + limits.saveQuietMilliseconds, patience)
        return true
    }

    /// A state that knows of no set may have been lost whole: its peer knows where its log ended. What is written to it before
    /// that would stand before what the peer has, and so would what is written before that has come back (`renumber`).
    var knowsItsPast: Bool {
        if session.isLive, records.lacks(session.peerKnows) || wantsBase { return false }
        return records.known.own != .none || session.peerSets != nil || session.isLive && !session.peerKeepsRecords
    }

    private mutating func readFindings(into effects: inout Effects) {
        for (path, finding) in records.found where finding.mustBeRead && !records.reading.contains(key: path) {
            guard records.reading.count < limits.batchPathsMax else { return }
            guard let number = book(of: path) else { continue }
            records.reading[path] = true
            let request = ParseRequest(
                place: .tree(path), expected: finding.stat, length: Int(clamping: finding.entry.content.size),
                parser: .document(path, records.books[number].model, limits.chunking))
            effects.add(.parse(newJob(.readingSave(path)), request))
        }
    }

    mutating func finishReadingSave(_ path: Path, _ outcome: ParseOutcome<Parsed>, into effects: inout Effects) {
        records.reading[path] = nil
        guard let finding = records.found[path], finding.mustBeRead, let number = book(of: path) else { return }
        notePoison(outcome, at: path, into: &effects)
        switch outcome {
        case .poisoned:
            // Like any file that is no JSON.
            let unreadable = SavedDocument([0], at: path, records.books[number].model, limits.chunking)
            records.found.update(path) { $0.saved = unreadable }
        case .parsed(.document(let saved))
        where finding.entry.content == .file(saved.content, size: UInt64(saved.bytes.count)):
            records.found.update(path) { $0.saved = saved }
        case .parsed, .failed:
            // It is not what was found any more, or cannot be read now.
            records.found[path] = nil
            watch.changing[path] = now.monotonicMilliseconds + limits.changingRetryMilliseconds
        }
    }

    // MARK: Telling

    /// What was saved together becomes one change set of each model, if it keeps the model's rules; else it waits for more.
    mutating func tellRecords(_ paths: [Path], _ answers: inout Answers, into effects: inout Effects) {
        records.isTelling = false
        let rows = answers.rowsByPath()
        let isReady = paths.allSatisfy { records.found[$0]?.mustBeRead != true }
        guard isReady, !paths.contains(where: apply.touches) else {
            records.dueAt = now.monotonicMilliseconds + limits.saveQuietMilliseconds
            return
        }
        let told = SortedMap(paths.map { ($0, true) })
        if waitsForWhatMayGo(with: told) { return }
        records.dueAt = nil
        let isOvertaken = toTell.contains { !told.contains(key: $0) }
        var batch = Batch()
        for number in records.books.indices {
            let saved = paths.filter { book(of: $0) == number }
            let old = saved.filter { isSharedStock($0, rows) }
            let rest = saved.filter { !isSharedStock($0, rows) }
            if !old.isEmpty { tell(old, of: number, rows, asOld: true, in: &batch, into: &effects) }
            if !rest.isEmpty || old.isEmpty { tell(rest, of: number, rows, in: &batch, into: &effects) }
        }
        // What was found while the rows were asked for may be what the others lack.
        if isOvertaken { records.waiting.removeAll() }
        // There may be more than one set may hold.
        if records.dueAt == nil, !records.toTell().isEmpty { records.dueAt = now.monotonicMilliseconds }
        if !batch.isEmpty { store(&batch, into: &effects) }
    }

    /// A delete takes along what hangs on it as the sets have it. Who has just moved something away from there has saved that first, and it may
    /// be what is being read.
    private mutating func waitsForWhatMayGo(with told: SortedMap<Path, Bool>) -> Bool {
        let since = records.goingSince ?? now.monotonicMilliseconds
        let patience = since + limits.invalidPatienceMilliseconds
        guard !watch.isIdle, now.monotonicMilliseconds < patience, takesMoreAlong(told) else {
            records.goingSince = nil
            return false
        }
        records.goingSince = since
        records.dueAt = now.monotonicMilliseconds + limits.saveQuietMilliseconds
        return true
    }

    private func takesMoreAlong(_ told: SortedMap<Path, Bool>) -> Bool {
        records.books.indices.contains { number in
            let book = records.books[number]
            let gone = Array(told.keys).filter { path in
                records.found[path]?.entry.isAbsent == true && self.book(of: path) == number
            }
            if gone.isEmpty { return false }
            let going = book.going(with: gone.flatMap(book.space.renderer.records(at:))).compactMap(book.path(of:))
            return going.contains { !told.contains(key: $0) }
        }
    }

    /// What the other node had as well (`asOld`) bears the time at which it was written.
    private mutating func tell(
        _ paths: [Path], of number: Int, _ rows: RowMap, asOld: Bool = false, in batch: inout Batch,
        into effects: inout Effects
    ) {
        let before = shownBytes(at: paths, of: number, rows)
        var group = SaveGroup(
            records.books[number], awaitsFirstImport: records.awaitsFirstImport, come: records.come)
        var unread = SortedMap<Int, SaveGroup>()
        for path in paths {
            guard let finding = records.found[path] else { continue }
            if isKnownState(finding, rows[path], at: path, number) {
                settleKnown(finding, rows[path], at: path, in: &batch, into: &effects)
                continue
            }
            let isInsisting = formats.insisted.removeValue(forKey: path) != nil
            let shown = before[path]
            let isUnread = rows[path].flatMap { unreadSave(of: $0) } != nil
            let isUnshown = records.isLongUnshown(path, at: now.monotonicMilliseconds)
            switch group.add(
                path, finding, over: shown, isUnread: isUnread, isUnshown: isUnshown, insisting: isInsisting)
            {
            case .taken: break
            case .newer(let version):
                let more = SaveGroup(
                    records.books[number], awaitsFirstImport: false, come: records.come, unreadVersion: version)
                _ = unread[version, default: more].add(
                    path, finding, over: shown, isUnread: isUnread, isUnshown: isUnshown, insisting: isInsisting)
            case .downgrade: putBeside(finding, rows[path], at: path, in: &batch, into: &effects)
            case .refused(let refusal):
                let key = AlertKey(code: refusal.code, subject: path.bytes, format: refusal.format)
                hold(path, key, rows, refusal.facts, in: &batch, into: &effects)
            }
        }
        for (_, saves) in unread { tellUnread(saves, of: number, rows, in: &batch, into: &effects) }
        guard !group.isEmpty else {
            records.invalidSince[number] = nil
            return
        }
        var ahead = clock
        let time = asOld ? stockTime(of: group.findings.map(\.path), rows, number) : nil
        let made = changeSet(of: group, number, at: time ?? ahead.tick(wallMilliseconds: now.wallMilliseconds))
        let (set, faults) = group.upheld(made) { set in
            group.faults(of: set, seeingAllOf: records.known.peer).filter { isShown($0, group, number) }
        }
        guard faults.isEmpty else {
            let faulty = group.paths(of: faults)
            if settleAgreed(faulty, of: number, rows, in: &batch, into: &effects) { return }
            // (Who has been told is not waited for once more.)
            if faulty.contains(where: { records.alarmed[$0] == nil }), mustWait(for: number) { return }
            for path in faulty {
                let facts = group.facts(at: path, among: faults, by: set.position)
                let key = AlertKey(code: .validationRequiredMissing, subject: path.bytes)
                hold(path, key, rows, facts, in: &batch, into: &effects)
            }
            // The others need not wait with them.
            records.dueAt = now.monotonicMilliseconds
            return
        }
        // (It may be half of a save all the same, and the rest is waited for no longer than that of any other.)
        let hidden = group.faultsHidden(in: set, byAllOf: records.known.peer)
        if hidden.contains(where: { isShown($0, group, number) }), mustWait(for: number) { return }
        records.invalidSince[number] = nil
        clock = ahead
        log(set, of: group, number, rows, in: &batch, into: &effects)
    }

    /// Its author cannot mend what his folder does not show.
    private func isShown(_ fault: SaveFault, _ group: SaveGroup, _ number: Int) -> Bool {
        let path = records.books[number].content(of: fault.record)?.path
        return path.map { group.has($0) || !records.unshown.contains(key: $0) } ?? true
    }

    /// What the saves were made on. Without it all that their authors left as it was would count as written by them, over what came meanwhile.
    /// (And what they were before the state was lost, or that would be news.)
    private mutating func shownBytes(at paths: [Path], of number: Int, _ rows: RowMap) -> SortedMap<Path, [UInt8]> {
        var shown = SortedMap<Path, [UInt8]>()
        var lost = SortedMap<Path, ContentID>()
        for path in paths {
            guard let row = rows[path], case .file(let content, _)? = shownContent(row, number) else {
                lost[path] = mergedBeforeLoss(at: path, number)
                continue
            }
            shown[path] = shownBytes(row, number)
            if shown[path] == nil, records.books[number].hasSaved(path) { lost[path] = content }
        }
        if lost.isEmpty { return shown }
        records.books[number].recall(lost, from: ownParty.other, after: record.setMarks.promised)
        for path in lost.keys { shown[path] = shownBytes(rows[path], number) }
        return shown
    }

    mutating func log(
        _ set: ChangeSet, of group: SaveGroup, _ number: Int, _ rows: RowMap, in batch: inout Batch,
        into effects: inout Effects
    ) {
        guard let bytes = encoded(set, of: number) else {
            let facts = AlertFacts(detail: "It is one save with too much in it for a change set.")
            for path in group.findings.map(\.path) {
                let key = AlertKey(code: .formatCorrupt, subject: path.bytes)
                hold(path, key, rows, facts, in: &batch, into: &effects)
            }
            return
        }
        logSet(set, bytes, of: number, in: &batch)
        settle(group, seeing: set.seen[ownParty.other], rows, in: &batch, into: &effects)
    }

    /// What is to be there already needs no telling, whatever it would break: the other node has done the same. True if there
    /// was any, and the rest is to be looked at without it.
    private mutating func settleAgreed(
        _ paths: [Path], of number: Int, _ rows: RowMap, in batch: inout Batch, into effects: inout Effects
    ) -> Bool {
        var isAny = false
        for path in paths {
            guard let finding = records.found[path],
                finding.entry.content == recordEntry(at: path, number).content
            else { continue }
            isAny = true
            takeBackFinding(at: path)
            reviseFound(finding, rows[path], at: path, in: &batch, into: &effects)
        }
        if isAny { records.dueAt = now.monotonicMilliseconds }
        return isAny
    }

    /// True if more may come that makes the group whole.
    private mutating func mustWait(for number: Int) -> Bool {
        let since = records.invalidSince[number] ?? now.monotonicMilliseconds
        let patience = since + limits.invalidPatienceMilliseconds
        let isPatient = patience > now.monotonicMilliseconds
        records.invalidSince[number] = isPatient ? since : nil
        if isPatient { records.dueAt = min(records.dueAt ?? patience, patience) }
        return isPatient
    }

    /// The file stays as it is, and so does what is known of its records.
    private mutating func hold(
        _ path: Path, _ key: AlertKey, _ rows: RowMap, _ facts: AlertFacts, in batch: inout Batch,
        into effects: inout Effects
    ) {
        let old = rows[path]
        var row = old ?? Row(path: path)
        records.waiting[path] = key.code
        wait(&row, key.code)
        if let known = records.alarmed[path], known != key { setAlarm(known, if: false, into: &effects) }
        records.alarmed[path] = key
        setAlarm(key, facts, if: true, into: &effects)
        if key.format != nil, case .file(let content, _)? = records.found[path]?.entry.content {
            formats.toKeep[path] = content
        }
        put(row, replacing: old, in: &batch, into: &effects)
    }

    /// The rows say what the set says, in one batch with it.
    private mutating func settle(
        _ group: SaveGroup, seeing seen: LogPosition, _ rows: RowMap, in batch: inout Batch,
        into effects: inout Effects
    ) {
        for (path, finding) in group.findings {
            records.found[path] = nil
            if finding.entry.isAbsent || finding.seen >= records.known.peer { records.noteMet(path) }
            let isShort = seen < records.readable
            records.unshown[path] = isShort ? RecordState.Unshown(after: seen, names: [:]) : nil
            if isShort || rows[path]?.needsApply == true { records.toMatch[path] = true }
            reviseFound(finding, rows[path], at: path, in: &batch, into: &effects)
        }
        let shown = records.known.peer
        if seen < shown {
            refreshMerged(showing: shown, into: &effects)
        } else {
            refreshRecords(showing: shown, into: &effects)
        }
        for (path, finding) in group.findings {
            records.forgetCome(path)
            guard let number = book(of: path) else { continue }
            let names = records.books[number].secondNames(in: finding)
            if records.unshown.update(path, { $0.noteSaved(names) }) != nil { continue }
            // (That of a second name is to go at once, and has never been anything that the view has.)
            guard recordEntry(at: path, number).content != finding.entry.content else { continue }
            records.noteUnshown(path, after: shown, at: now.monotonicMilliseconds, names: names)
            records.toMatch[path] = true
        }
    }

    /// It has been told of, saved otherwise or taken away.
    private mutating func endAlarms(into effects: inout Effects) {
        for (path, key) in records.alarmed where !records.found.contains(key: path) {
            records.alarmed[path] = nil
            setAlarm(key, if: false, into: &effects)
        }
    }

    /// What the row is to say once the set says it.
    mutating func reviseFound(
        _ finding: RecordState.Finding, _ old: Row?, at path: Path, in batch: inout Batch, into effects: inout Effects
    ) {
        plan.want(path)
        let isToldBySet = old.map { isUntold($0) && isSaved($0) } ?? false
        records.adopted[path] = nil
        // A scan may have passed there while no row told of it: that it has gone meanwhile would be in no difference.
        if old?.disk == nil, watch.isScanning { look(at: path) }
        var row = old ?? Row(path: path)
        row.waiting = nil
        // (What comes of it is told in the records.)
        if isToldBySet { row.owesCopy = false }
        // (Of what was saved as a cut had left it the row speaks as of damage.)
        let isDamage = row.condition == .damaged && row.disk != nil
        if row.disk?.entry.content != finding.entry.content || isDamage {
            revise(&row, to: finding.entry, stat: finding.stat, isReasserted: isDamage, in: &batch)
            row.disk?.isRacy = finding.isRacy
        }
        put(row, replacing: old, in: &batch, into: &effects)
    }
}
