import RecordMerge
import SyncModel

/// What is saved in this folder over a guarded file: an older or a broken state does not take the place of a newer one. It leaves
/// its name as a conflict copy, and what was there comes back.
extension Node {
    mutating func openFormats(_ rules: FormatRules) {
        formats = FormatState()
        formats.rules = rules
        formats.mustReview = !rules.isEmpty || record.formatsConsidered != nil
    }

    var guardsFormats: Bool { !formats.rules.isEmpty }

    func isGuarded(_ path: Path) -> Bool { formats.rules.rule(for: path) != nil }

    /// A rule tells how the version of the file, or of the original of a conflict copy, is found.
    func hasHeader(_ path: Path) -> Bool { headerRule(of: path) != nil }

    /// Of a document of records its model reads the version with all the rest, but for what lies beside it as a conflict copy.
    func headerRule(of path: Path) -> FormatRule? {
        guard guardsFormats || keepsRecords else { return nil }
        if let original = ConflictName.parts(of: path)?.original, let number = book(of: original) {
            return records.books[number].formatRule
        }
        return formats.rules.reader(of: path)
    }

    // MARK: Headers

    /// True if what was read of a file is put off until its header has been read as well.
    mutating func waitsForHeader(_ result: HashedPath, _ row: Row?, into effects: inout Effects) -> Bool {
        guard case .content(.file(let content, let size), _, let stat) = result.outcome,
            let rule = headerRule(of: result.path),
            formats.toRead.contains(key: result.path) || !isRead(content, at: result.path, row, by: rule)
        else { return false }
        if size == 0 {
            formats.headers[result.path] = FormatMark(
                content: content, rule: rule.fingerprint, reading: rule.header(of: [], size: 0).reading)
            return false
        }
        formats.unread[result.path] = result
        let request = ParseRequest(
            place: .tree(result.path), expected: stat, length: rule.bytesNeeded(of: size),
            parser: .header(rule, size: size))
        effects.add(.parse(newJob(.readingHeader(result.path)), request))
        return true
    }

    private func isRead(_ content: ContentID, at path: Path, _ row: Row?, by rule: FormatRule) -> Bool {
        [row?.format, formats.headers[path]].contains {
            $0?.content == content && $0?.rule == rule.fingerprint && $0?.isGivenUp == false
        }
    }

    mutating func finishParsing(_ job: JobID, _ outcome: ParseOutcome<Parsed>, into effects: inout Effects) {
        switch jobs.removeValue(forKey: job) {
        case .readingSave(let path)?: finishReadingSave(path, outcome, into: &effects)
        case .readingHeader(let path)?: finishReadingHeader(of: path, outcome, into: &effects)
        case .readingStagedHeader(let path, let stage)?:
            finishReadingStagedHeader(of: path, stage, outcome, into: &effects)
        case .some, .none: break
        }
    }

    private mutating func finishReadingHeader(
        of path: Path, _ outcome: ParseOutcome<Parsed>, into effects: inout Effects
    ) {
        formats.toRead[path] = nil
        guard let result = formats.unread.removeValue(forKey: path) else { return }
        notePoison(outcome, at: path, into: &effects)
        guard case .content(.file(let content, _), _, _) = result.outcome,
            let (mark, fault) = headerRule(of: path)?.mark(of: content, header: outcome)
        else {
            // It is not what was read any more, or cannot be read now.
            watch.hashing[path] = nil
            watch.seenWhileHashing[path] = nil
            watch.changing[path] = now.monotonicMilliseconds + limits.changingRetryMilliseconds
            return
        }
        formats.headers[path] = mark
        formats.faults[path] = fault.map { FormatState.Fault(content: mark.content, facts: $0) }
        watch.observing += 1
        enqueue(.hashed([result]))
    }

    /// The header belongs to what the row says stands there. What stands there only until it has made room does not count.
    mutating func noteFormat(_ row: inout Row) {
        formats.missingSince[row.path] = nil
        if isHeldBack(row.path) { return }
        let header = formats.headers.removeValue(forKey: row.path)
        guard let rule = headerRule(of: row.path) else {
            row.format = nil
            return
        }
        guard case .file(let content, _)? = row.disk?.entry.content, let header, header.content == content,
            header.rule == rule.fingerprint, !isToComeBack(row.format, row),
            !isHeldSave(row) || row.head(by: .own)?.entry.content == row.disk?.entry.content
        else { return }
        row.format = header
    }

    // MARK: What is saved here

    /// A guarded file that has just gone may be back in a moment, in another version. (Not if it was moved, nor if the directory
    /// above went with it. A broken one may, too: what is there then is held, on the other node, against what that was written over.)
    mutating func withoutUnfinishedSaves(_ missing: [Row]) -> [Row] {
        guard guardsFormats else { return missing }
        let gone = SortedMap(missing.map { ($0.path, true) })
        let time = now.monotonicMilliseconds
        return missing.filter { row in
            guard row.format != nil, deletes.movedTo[row.path] == nil,
                row.path.parent.map({ gone.contains(key: $0) }) != true
            else { return true }
            let since = formats.missingSince[row.path] ?? time
            let isOver = time >= since + limits.guardedDeleteMilliseconds
            formats.missingSince[row.path] = isOver ? nil : since
            if !isOver { watch.changing[row.path] = since + limits.guardedDeleteMilliseconds }
            return isOver
        }
    }

    /// True if the save is not to become a state of the path.
    mutating func holdsDowngrade(
        _ row: inout Row, _ entry: Entry, _ stat: Stat, isRacy: Bool, _ kept: [ContentID], in batch: inout Batch
    ) -> Bool {
        // Without a peer nobody else has what was there.
        guard record.peer != nil, let rule = formats.rules.rule(for: row.path), book(of: row.path) == nil,
            row.condition == .normal || row.condition == .missing, row.disk != nil,
            case .file(let content, _) = entry.content, let header = formats.headers[row.path],
            header.content == content, let known = row.format, known.rule == rule.fingerprint,
            known.content != content, !known.isGivenUp,
            isShownOrWanted(known.content, row) || isToComeBack(known, row) || isHeldSave(row),
            header.reading.isDowngrade(of: known.reading)
        else {
            formats.brokenSince[row.path] = nil
            formats.insisted[row.path] = nil
            return false
        }
        if formats.insisted.removeValue(forKey: row.path) != nil {
            // Deleted and made anew: who deletes a file may put anything in its place, on the other node as well.
            var gone = row.disk?.entry ?? .absent
            gone.content = .absent
            revise(&row, to: gone, stat: nil, in: &batch)
            return false
        }
        if header.reading.isBroken, let due = mayStillBeSaved(row.path) {
            wait(&row, header.reading == .zeroLength ? .formatZeroLength : .formatCorrupt)
            // Whoever goes on saving is noticed before that.
            watch.changing[row.path] = due
            return true
        }
        if formats.keeping == row.path, isUnshared(known, row) {
            // Whether there is a copy of it will be known in a moment.
            watch.changing[row.path] = now.monotonicMilliseconds + limits.changingRetryMilliseconds
            return true
        }
        // The next save has its own time.
        formats.brokenSince[row.path] = nil
        if !kept.contains(known.content), isUnshared(known, row) { return false }
        let origin = Origin(
            author: .own, position: record.ownHead.position, time: clock.tick(wallMilliseconds: now.wallMilliseconds))
        row.disk = Row.DiskState(entry: entry, stat: stat, origins: Origins(all: origin), isRacy: isRacy)
        row.condition = .normal
        row.owesCopy = true
        wait(&row, .formatDowngradeHeld)
        cancel(row.path)
        plan.want(row.path)
        return true
    }

    /// It was saved here, and the other node has not shown it. If there is no copy of it either, nobody can bring it back, and who
    /// waited for it would hold saves of the other node against something that is nowhere. (If the other node has it after all, it
    /// keeps it there.)
    private func isUnshared(_ known: FormatMark, _ row: Row) -> Bool {
        if let theirs = row.head(by: .peer), known.isOf(theirs.entry) { return false }
        if formats.served.contains(key: known.content) { return false }
        let saves = row.heads.filter { known.isOf($0.entry) }.map(\.origins.content)
        let origins = saves.isEmpty ? row.disk.map { known.isOf($0.entry) ? [$0.origins.content] : [] } ?? [] : saves
        // Whose own save has won by the clock has read nothing of this one, whatever he says that he has applied.
        let isOutdone = !known.isOf(resolution(of: row).entry)
        return !origins.isEmpty
            && origins.allSatisfy { origin in
                let isUnseen = row.head(by: .peer).map { !$0.includes(origin) } ?? false
                return origin.author == .own && (origin.position > record.applied || isOutdone && isUnseen)
            }
    }

    /// The other node has all of it, or is about to.
    mutating func noteServed(_ content: ContentID, at path: Path, isWhole: Bool) {
        guard guardsFormats, hasHeader(path) else { return }
        if !isWhole {
            formats.served[content] = nil
            return
        }
        if formats.served.count >= FormatState.servedMax { formats.served.removeAll() }
        formats.served[content] = true
    }

    /// Which copies there are of files whose header counts.
    func keptQueries(_ results: [HashedPath]) -> [StoreQuery] {
        guard guardsFormats || keepsRecords else { return [] }
        return results.filter { hasHeader($0.path) }.map { .versions($0.path, limit: limits.versionsSearchedMax) }
    }

    func keptContents(of results: [HashedPath], _ answers: inout Answers) -> SortedMap<Path, [ContentID]> {
        var kept = SortedMap<Path, [ContentID]>()
        for result in results where hasHeader(result.path) {
            kept[result.path] = answers.versions().compactMap(\.contentID)
        }
        return kept
    }

    /// What stands at the path was to make room for what it is older than.
    func isHeldSave(_ row: Row) -> Bool {
        guard row.owesCopy, let format = row.format, let disk = row.disk, !format.isOf(disk.entry) else { return false }
        return formats.rules.rule(for: row.path) != nil && book(of: row.path) == nil
    }

    /// What stands at the path is a downgrade that has not made room yet.
    func isToComeBack(_ format: FormatMark?, _ row: Row) -> Bool {
        guard row.owesCopy, let format else { return false }
        // What the peer saved meanwhile may be later, and is still to be held against it.
        return format.isOf(resolution(of: row).entry) || row.heads.contains { format.isOf($0.entry) }
    }

    private func isShownOrWanted(_ content: ContentID, _ row: Row) -> Bool {
        [row.disk?.entry.content, resolution(of: row).entry.content].contains { shown in
            if case .file(let id, _)? = shown { id == content } else { false }
        }
    }

    /// Until when; nil once that is over.
    private mutating func mayStillBeSaved(_ path: Path) -> UInt64? {
        let since = formats.brokenSince[path] ?? now.monotonicMilliseconds
        formats.brokenSince[path] = since
        let due = since + limits.brokenPatienceMilliseconds
        return now.monotonicMilliseconds < due ? due : nil
    }
}

extension Node {
    /// What ends the process when it is parsed is left out, and told of until the file is another.
    mutating func notePoison(_ outcome: ParseOutcome<Parsed>, at path: Path, into effects: inout Effects) {
        switch outcome {
        case .parsed: setAlarm(.itemPoisoned, subject: path.bytes, if: false, into: &effects)
        case .poisoned: setAlarm(.itemPoisoned, subject: path.bytes, if: true, into: &effects)
        case .failed: break
        }
    }
}

extension FormatRule {
    /// With what is wrong with it. Nil if it could not be read. What ends the process takes the place of nothing that can be read.
    func mark(of content: ContentID, header outcome: ParseOutcome<Parsed>) -> (FormatMark, fault: AlertFacts?)? {
        switch outcome {
        case .parsed(.header(let header)):
            (FormatMark(content: content, rule: fingerprint, reading: header.reading), header.fault)
        case .poisoned: (FormatMark(content: content, rule: fingerprint, reading: .corrupt), nil)
        case .failed, .parsed: nil
        }
    }
}

extension FormatHeader {
    /// For the alert.
    fileprivate var fault: AlertFacts? {
        switch self {
        case .corrupt(let reason, let offset): AlertFacts(detail: "At byte \(offset): \(reason).", offset: offset)
        case .unknown(let found): AlertFacts(insteadOfVersion: found)
        case .zeroLength, .version: nil
        }
    }
}

extension AlertFacts {
    /// Of a file in no version that makes sense.
    init(insteadOfVersion bytes: [UInt8]) {
        let found = bytes.isEmpty ? nil : Path.escape(bytes)
        self.init(detail: "Instead of a version there is: \(found ?? "nothing").", found: found)
    }
}
