import RecordMerge
public import SyncModel

/// Who does not understand which file: one alert for each file, version and what is understood instead, on both nodes.
extension Node {
    // MARK: The peer's programs

    mutating func noteSupport(of hello: Hello) {
        session.peerTellsFormats = hello.features.contains(FormatState.support)
        if !session.peerTellsFormats { noteSupport([]) }
    }

    mutating func noteSupport(_ support: [FormatSupport]) {
        guard support != record.peerFormats else { return }
        record.peerFormats = support
        formats.mustReview = true
    }

    mutating func pumpFormats(into effects: inout Effects) {
        guard phase == .running else { return }
        if session.isLive, session.peerTellsFormats, !session.saidFormats {
            session.saidFormats = true
            send(.formats(formats.rules.support), into: &effects)
        }
        if !formats.copies.isEmpty, !formats.isJudging {
            formats.isJudging = true
            enqueue(.judgeCopies(Array(formats.copies.keys.prefix(limits.batchPathsMax))))
        }
        pumpPrivateCopies()
        if formats.mustReview, formats.review == nil {
            formats.mustReview = false
            // With the same rules as ever only what was guarded is.
            formats.review = FormatState.Review(isWhole: rulesConsidered != record.formatsConsidered)
        }
        if let review = formats.review, !review.isAsked, watch.toHash.count < FormatState.reviewedMax {
            formats.review?.isAsked = true
            enqueue(.reviewFormats(after: review.after, isWhole: review.isWhole))
        }
    }

    private var rulesConsidered: Digest? { formats.rules.isEmpty ? nil : formats.rules.digest }

    /// Rows that were read by other rules, or by none, are read again; the alerts of the others are held against what both nodes
    /// understand now.
    mutating func reviewFormats(_ answers: inout Answers, into effects: inout Effects) {
        let rows = answers.rows()
        var batch = Batch()
        for old in rows {
            var row = old
            let rule = headerRule(of: row.path)
            // (The rule it was read by may have a fault by now.)
            if row.format?.rule != rule?.fingerprint, !isHeldBack(row.path) { row.format = nil }
            if formats.isFirstReview, row.format?.reading == .corrupt, row.condition == .normal {
                formats.toRead[row.path] = true
                watch.toHash[row.path] = true
            }
            if rule != nil, row.format == nil, row.condition == .normal, row.disk?.entry.content.kind == .file {
                watch.toHash[row.path] = true
            }
            put(row, replacing: old, in: &batch, into: &effects)
            watchFormat(row, before: nil, into: &effects)
        }
        if rows.count == limits.batchPathsMax, let last = rows.last {
            formats.review?.after = last.path
            formats.review?.isAsked = false
        } else {
            formats.review = nil
            formats.isFirstReview = false
            record.formatsConsidered = rulesConsidered
            endStaleFindings(into: &effects)
        }
        if !batch.isEmpty || record != recordEmitted { store(&batch, into: &effects) }
    }

    /// What the peer understands by now is no alert any more, and what neither understands is one of both.
    private mutating func endStaleFindings(into effects: inout Effects) {
        for (key, _) in alarms.raised where key.code == .formatNewer && !isOpen(key) {
            setAlarm(key, if: false, into: &effects)
        }
    }

    /// (What this node understands is the same from its start to its end.)
    private func isOpen(_ key: AlertKey) -> Bool {
        guard let finding = key.format else { return true }
        let rule = Path(key.subject).flatMap { formats.rules.rule(for: $0) }
        let theirs = rule.flatMap { peerSupport(of: $0) }?.versions
        switch finding.measure {
        case .supports(let range):
            // Where both understand the same there is one alert of both.
            let areSame = theirs != nil && theirs == rule?.supports
            return !areSame && (finding.node == .own || theirs == range)
        case .supportsOnBoth(let range): return theirs == range
        case .keeps, .reads: return true
        }
    }

    func peerSupport(of rule: FormatRule) -> FormatSupport? {
        record.peerFormats.first { $0.model == rule.model && $0.name == rule.name && $0.rule == rule.fingerprint }
    }

    // MARK: Alerts

    mutating func watchFormat(_ row: Row, before: Row?, into effects: inout Effects) {
        watchUnread(row, before: before, into: &effects)
        if hasUnreadHeader(row) { watch.toHash[row.path] = true }
        if formats.copied.contains(key: row.path), row.disk?.entry.content != before?.disk?.entry.content {
            noteCopies(of: row.path)
        }
        guard row.format != nil || before?.format != nil else { return }
        if row.disk == nil { setAlarm(.itemPoisoned, subject: row.path.bytes, if: false, into: &effects) }
        if ConflictName.isConflictCopy(row.path) {
            formats.copies[row.path] = true
            formats.faults[row.path] = nil
            return
        }
        let open = findings(of: row)
        for key in before.map({ findings(of: $0) }) ?? [] where !open.contains(key) {
            setAlarm(key, if: false, into: &effects)
        }
        // (Also where it has come back: whoever wrote over it the first time may have done so before there was a copy.)
        if let format = row.format, open.contains(where: { $0.format?.node == .own }),
            before?.format?.content != format.content || row.showsItsFormat && before?.showsItsFormat != true
        {
            formats.toKeep[row.path] = format.content
        }
        let fault = formats.faults[row.path].flatMap { $0.content == row.format?.content ? $0.facts : nil }
        if fault != nil || row.disk == nil { formats.faults[row.path] = nil }
        var facts = fault ?? AlertFacts()
        facts.writer = row.disk?.origins.content.author
        let isAnother = before?.format.map { $0.content != row.format?.content } ?? false
        for key in open { setAlarm(key, facts, isAnother: isAnother, if: true, into: &effects) }
        // Of what has gone no copy is a downgrade.
        if row.format?.reading != before?.format?.reading || (row.disk == nil) != (before?.disk == nil) {
            noteCopies(of: row.path)
        }
    }

    /// What stands there is to stay, and is not what the header was read of: a save that was held back, or what a power cut has left, and
    /// what was to come back is lost.
    private func hasUnreadHeader(_ row: Row) -> Bool {
        guard !row.owesCopy, row.condition == .normal, row.waiting == nil, !row.needsApply,
            case .file(let shown, _)? = row.disk?.entry.content
        else { return false }
        return formats.rules.rule(for: row.path) != nil && row.format?.content != shown
    }

    /// What is to come back in the place of a save that is held back is told of all the while: whoever has seen the alert is not told
    /// again because of each such save.
    private func findings(of row: Row) -> [AlertKey] {
        guard let format = row.format, let rule = formats.rules.rule(for: row.path), rule.fingerprint == format.rule,
            case .file(let content, _)? = row.disk?.entry.content, !format.isGivenUp,
            row.owesCopy ? isToComeBack(format, row) : content == format.content
        else { return [] }
        let own = FormatFinding(found: format.reading.number, supported: rule.supports, node: .own)
        switch format.reading {
        case .zeroLength: return [AlertKey(code: .formatZeroLength, subject: row.path.bytes)]
        case .corrupt: return [AlertKey(code: .formatCorrupt, subject: row.path.bytes)]
        case .unknown: return [AlertKey(code: .formatUnknown, subject: row.path.bytes, format: own)]
        case .version(let number):
            let theirs = peerSupport(of: rule)?.versions
            let findings =
                theirs == rule.supports
                ? [FormatFinding(found: number, supportedOnBoth: rule.supports)]
                : [own] + (theirs.map { [FormatFinding(found: number, supported: $0, node: .peer)] } ?? [])
            return findings.filter { number > $0.supported?.upperBound ?? .max }
                .map { AlertKey(code: .formatNewer, subject: row.path.bytes, format: $0) }
        }
    }

    // MARK: Conflict copies

    /// The conflict copy is in an earlier version than what it is a copy of, or broken.
    public func hasLostByFormat(_ copy: Path) -> Bool { formats.downgrades.contains(key: copy) }

    /// A copy may be a downgrade of its original now, or no more.
    mutating func noteCopies(of path: Path) {
        let contested = alarms.raised.compactMap { $0.key.code == .conflictFile ? Path($0.key.subject) : nil }
        for copy in contested + formats.downgrades.keys where ConflictName.parts(of: copy)?.original == path {
            formats.copies[copy] = true
        }
    }

    func copyQueries(_ copies: [Path]) -> [StoreQuery] {
        [.rows(copies), .rows(copies.compactMap { ConflictName.parts(of: $0)?.original })]
    }

    /// What is older than its original, or broken where that is not, lost to it by its format.
    mutating func judgeCopies(_ copies: [Path], _ answers: inout Answers, into effects: inout Effects) {
        formats.isJudging = false
        let rows = answers.rowsByPath()
        let originals = answers.rowsByPath()
        var touched = SortedMap<AlertKey, Bool>()
        for copy in copies {
            formats.copies[copy] = nil
            let row = rows[copy]
            // (A copy of a copy lost to what nobody guards.)
            var original = ConflictName.parts(of: copy).flatMap { parts in
                ConflictName.isConflictCopy(parts.original) ? nil : originals[parts.original]
            }
            if let row = original, book(of: row.path) != nil {
                formats.copied[row.path] = true
                original?.format = recordMark(row)
            }
            let isThere = row?.disk != nil
            if let row, row.format == nil, row.condition == .normal, row.disk?.entry.content.kind == .file {
                // Its header tells which of the two alerts it is.
                watch.toHash[copy] = true
                continue
            }
            let downgrade = isThere ? downgrade(row, of: original, by: copy) : nil
            setAlarm(.conflictFile, subject: copy.bytes, if: isThere && downgrade == nil, into: &effects)
            for key in [formats.downgrades[copy], downgrade].compactMap(\.self) { touched[key] = true }
            formats.downgrades[copy] = downgrade
        }
        tellDowngrades(touched.keys, into: &effects)
    }

    /// The alert about what was written over the newer one, by the author that the copy is named after.
    private func downgrade(_ row: Row?, of original: Row?, by copy: Path) -> AlertKey? {
        guard let row, row.isDowngrade(of: original), let original, let lost = row.format, let kept = original.format
        else { return nil }
        let author: Author = ConflictName.parts(of: copy)?.node == ConflictName.safeName(of: record.name) ? .own : .peer
        let finding = FormatFinding(found: lost.reading.number, kept: kept.reading.number, node: author)
        return AlertKey(code: .formatDowngradeHeld, subject: original.path.bytes, format: finding)
    }

    /// One for each file, pair of versions and author, however many copies there are.
    private mutating func tellDowngrades(_ keys: some Sequence<AlertKey>, into effects: inout Effects) {
        var copies = SortedMap<AlertKey, (count: Int, last: Path)>()
        for key in keys { copies[key] = (0, .root) }
        for (copy, key) in formats.downgrades {
            guard let known = copies[key] else { continue }
            // By their names in the order of their times.
            copies[key] = (known.count + 1, copy)
        }
        for (key, known) in copies {
            let facts = AlertFacts(writer: key.format?.node, size: known.count, copy: known.last)
            setAlarm(key, facts, if: known.count > 0, into: &effects)
        }
    }
}

extension Row {
    /// It stands there in the format that its header was read of.
    fileprivate var showsItsFormat: Bool {
        guard let format, let disk else { return false }
        return format.isOf(disk.entry)
    }

    /// A conflict copy that lost to what stands at the path by its format.
    public func isDowngrade(of original: Row?) -> Bool {
        guard let lost = format, let kept = original?.format, original?.disk != nil else { return false }
        return lost.rule == kept.rule && lost.reading.isDowngrade(of: kept.reading)
    }
}

extension FormatReading {
    var number: UInt32? { if case .version(let number) = self { number } else { nil } }
}
