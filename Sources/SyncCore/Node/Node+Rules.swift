public import SyncModel

/// `.syncignore`: reading the rules, holding the rows against them, and what becomes of a row that they cover.
///
/// Rules are read together and stay in force until the new ones are there. Which rules all rows have been held against is on
/// record, so that a start with the same rules goes through no rows.
extension Node {
    mutating func loadRules(_ answers: inout Answers, into effects: inout Effects) {
        let stored = answers.rows().compactMap { row in row.disk.map { (row.path, $0.stat.identity) } }
        watch.rulesStored = SortedMap(stored)
        var files = stored.map { path, _ in path }
        for row in answers.rows() { watchConflictCopy(row, before: nil, into: &effects) }
        // The first scan of a folder must know its rules before it has rows for them.
        if let top = Path(IgnoreRules.fileName), !files.contains(top) { files.append(top) }
        // And what was found a moment ago has none yet, what its own rules cover never.
        var known = SortedMap(files.map { ($0, true) })
        for file in watch.rulesRead.map(\.key) + record.untoldRules where !known.contains(key: file) {
            known[file] = true
            files.append(file)
        }
        readRules(files, areAll: true, into: &effects)
    }

    /// An ignore file that was read and went before it had a row, or that its own rules cover: no row will tell of it.
    mutating func forgetRules(of row: Row, into effects: inout Effects) {
        guard row.path.name?.bytes == IgnoreRules.fileName, row.disk == nil || row.condition == .ignored else { return }
        readRules([row.path], into: &effects)
    }

    /// Something else stands where an ignore file was read that has no row, and its rules leave out that as well.
    func hasMadeRoom(_ look: Look) -> Bool {
        watch.rulesRead.contains(key: look.path) && look.stat.map { $0.kind != .file } ?? false
    }

    /// Whoever writes rules, and right after that what they leave out, means them to count: they are read first, and
    /// what was found below them, the file itself as well, is looked at once more when they are known; and all of it,
    /// while others are being read. (That a scan met nothing needs no rules.) Once only: whoever writes rules all the
    /// time would keep everything waiting. So are read those that rules cover, perhaps their own: nobody else does.
    mutating func withoutNewRules(
        _ looks: [Look], _ source: LookSource, _ rows: RowMap, into effects: inout Effects
    ) -> [Look] {
        var directories = watch.rulesBeingRead > 0 ? [Path.root] : []
        var files: [Path] = []
        for look in looks {
            guard let stat = look.stat, stat.kind == .file, !apply.touches(look.path),
                noteToRead(look.path, stat, rows[look.path])
            else { continue }
            files.append(look.path)
            directories.append(look.path.parent ?? .root)
        }
        if directories.isEmpty, watch.putOff.isEmpty { return looks }
        if !files.isEmpty { readRules(files, into: &effects) }
        return looks.filter { look in
            let wasPutOff = watch.putOff.removeValue(forKey: look.path) != nil
            let isFree = wasPutOff || source == .scan && look.stat == nil
            if isFree || !directories.contains(where: { look.path.isBelow($0) }) { return true }
            if watch.putOff.count >= limits.notedPathsMax { watch.putOff.removeAll() }
            watch.putOff[look.path] = true
            self.look(at: look.path)
            return false
        }
    }

    /// True of an ignore file that nobody has read as it is now: whoever asks reads it.
    private mutating func noteToRead(_ path: Path, _ stat: Stat, _ row: Row?) -> Bool {
        guard path.name?.bytes == IgnoreRules.fileName, row?.disk?.isStill(stat) != true,
            watch.rulesRead[path] != stat
        else { return false }
        watch.rulesRead[path] = stat
        return true
    }

    /// Notices were lost, or a directory has gone, and neither a scan nor its rows tell of what has no row: one that was read and went
    /// before it had one, or that its own rules cover.
    mutating func lookAtRules(below directory: Path = .root) {
        for path in watch.rules.paths.compactMap({ Path($0) })
        where path.isBelow(directory) && !watch.rulesCovered.contains(key: path) {
            look(at: path)
        }
    }

    /// Also when an ignore file came, changed or went.
    mutating func readRules(_ files: [Path], areAll: Bool = false, into effects: inout Effects) {
        watch.observing += 1
        watch.rulesBeingRead += 1
        let requests = files.map { path in
            ReadRequest(place: .tree(path), expected: nil, offset: 0, length: Limits.ignoreFileBytesMax)
        }
        effects.add(.read(newJob(.ignoreFiles(files, areAll: areAll)), requests))
    }

    /// Rules are bound to their directory; after a directory has moved they are read again from where they are now. What is
    /// under way is judged by the old ones until then.
    mutating func reloadAllRules() {
        if !watch.rules.isEmpty { loadRulesAnew() }
    }

    mutating func loadRulesAnew() {
        watch.rulesAreLoaded = false
        enqueue(.loadRules)
    }

    /// Without the rules nothing is looked at, imported or planned: a file that should be ignored must not be synced because a
    /// disk hiccuped.
    mutating func takeRules(
        _ files: [Path], areAll: Bool, _ outcomes: [ReadOutcome], into effects: inout Effects
    ) {
        watch.observing -= 1
        watch.rulesBeingRead -= 1
        if watch.rulesBeingRead > 0 || watch.rulesWereOvertaken {
            watch.rulesWereOvertaken = watch.rulesBeingRead > 0
            watch.rulesAreLoaded = false
            if watch.rulesBeingRead == 0 { enqueue(.loadRules) }
            return
        }
        var read: [(file: Path, bytes: [UInt8]?)] = []
        var covered = SortedMap<Path, Bool>()
        for (file, outcome) in zip(files, outcomes) {
            switch outcome {
            case .bytes(let bytes): read.append((file, bytes))
            case .failed(.crossDevice) where file.parent?.isRoot == false:
                covered[file] = true
            case .failed(.notFound), .failed(.notDirectory), .failed(.isDirectory), .failed(.unsupported):
                read.append((file, nil))
            case .failed(.permission) where isUnread(file):
                read.append((file, nil))
            case .failed(let error):
                waitForRules(of: file, error, into: &effects)
                return
            }
        }
        // (Of what still fails otherwise, the next try tells.)
        if watch.rulesFailing?.isTold == true { setAlarm(.diskError, if: false, into: &effects) }
        watch.rulesFailing = nil
        let before = watch.rules
        if areAll {
            watch.rules = IgnoreRules()
            forgetProblems(butOf: files, into: &effects)
        }
        for (path, _) in covered { keepRules(by: path, of: before) }
        for (path, bytes) in read {
            setRules(by: path, bytes, into: &effects)
            guard bytes != nil else {
                watch.rulesRead[path] = nil
                continue
            }
            // It may have gone since, and before there was a row of it.
            look(at: path)
            if let identity = identity(ofRules: path) { watch.rulesForbidden[identity] = nil }
        }
        for (path, bytes) in read { noteUntold(path, isThere: bytes != nil) }
        noteCovered(covered, of: files, areAll: areAll)
        if areAll {
            watch.rulesAreLoaded = true
            if record.distrustSince != nil, !watch.rules.isEmpty { enqueue(.lookAtIgnored(after: nil)) }
        }
        let rules = watch.rules.digest
        guard watch.rulesAreLoaded, rules != record.rulesConsidered else { return }
        record.rulesConsidered = nil
        enqueue(.reconsiderIgnored(rules, after: nil))
        rescanAll()
    }

    /// Something else is mounted over its directory: that holds up nothing but what is in there. What was read before goes on counting. Where
    /// nothing was, all that is in there counts as left out until the rules can be read, so that none of it is told, or deleted for the
    /// other node, when the mount goes; but not the file itself, for scans to find it.
    private mutating func keepRules(by file: Path, of before: IgnoreRules) {
        let directory = (file.parent ?? .root).bytes
        if !watch.rules.keepFile(directory: directory, of: before) {
            watch.rules.setFile(directory: directory, contents: Node.leavingOutAll)
        }
    }

    private static let leavingOutAll = Array("*\n!/.syncignore\n".utf8)

    /// They are asked for again as long as something is mounted there. That it is, a scan tells, which finds the place itself: it may lie
    /// further up.
    private mutating func noteCovered(_ covered: SortedMap<Path, Bool>, of files: [Path], areAll: Bool) {
        let before = watch.rulesCovered
        if areAll {
            watch.rulesCovered = covered
        } else {
            for file in files { watch.rulesCovered[file] = covered[file] }
        }
        for (file, _) in covered where !before.contains(key: file) {
            if let top = file.parents.first { rescan(top) }
        }
        if !watch.rulesCovered.isEmpty { timers.retrySoon(at: now, limits) }
    }

    private mutating func noteUntold(_ file: Path, isThere: Bool) {
        let isUntold = isThere && watch.rules.isIgnored(file.bytes, isDirectory: false)
        let place = record.untoldRules.firstIndex(of: file)
        if isUntold, place == nil, record.untoldRules.count < Limits.untoldRulesMax {
            record.untoldRules.append(file)
        } else if !isUntold, let place {
            record.untoldRules.remove(at: place)
        }
    }

    /// New, and never read by this process: what it says is not waited for, least of all by the rules of others. Its own row says
    /// that it may not be read, and when that ends its times show it.
    private func isUnread(_ file: Path) -> Bool {
        guard let stat = watch.rulesRead[file], !isKnownAsRules(stat.identity) else { return false }
        return !isInForce(file)
    }

    private func isInForce(_ file: Path) -> Bool { watch.rules.paths.contains(file.bytes) }

    private func identity(ofRules file: Path) -> FileIdentity? {
        watch.rulesRead[file]?.identity ?? watch.rulesStored[file]
    }

    /// It counts by another name, or is waited for.
    private func isKnownAsRules(_ identity: FileIdentity) -> Bool {
        watch.rulesForbidden.contains(key: identity)
            || watch.rules.paths.contains { Path($0).flatMap { self.identity(ofRules: $0) } == identity }
    }

    /// A file whose rules count may not be read any more. Where its directory is moved they do not count, and everything waits
    /// until it may be: what they left out is not to be told. (Where everything waits for it already, that ends when it has gone from its
    /// name, before it is found by the new one.)
    private mutating func noteForbidden(_ file: Path) {
        guard let identity = identity(ofRules: file) else { return }
        if !isInForce(file), isKnownAsRules(identity) { watch.rulesAreLoaded = false }
        if isInForce(file) || !watch.rulesAreLoaded { watch.rulesForbidden[identity] = true }
    }

    /// What may not be read waits for a person. Until then those that were read before count, if there are any; if not,
    /// everything waits with it, and that is said. So it is of a disk that goes on failing: a hiccup is over by then.
    private mutating func waitForRules(of file: Path, _ error: DiskError, into effects: inout Effects) {
        watch.mustLoadRules = true
        timers.retrySoon(at: now, limits)
        let text = "But these are rules: until this node can read them, nothing in the folder is looked at or changed."
        if error == .permission { noteForbidden(file) } else { watch.rulesAreLoaded = false }
        // Nothing goes on without them, whatever did before: the pauses grow.
        if !watch.rulesAreLoaded { plan.madeProgress = false }
        guard error == .permission else {
            let time = now.monotonicMilliseconds
            let since = watch.rulesFailing?.since ?? time
            let isTold = watch.rulesFailing?.isTold == true || time >= since + limits.retryLastMilliseconds
            watch.rulesFailing = (since: since, isTold: isTold)
            guard isTold else { return }
            var facts = error.facts(at: file)
            facts.detail += " " + text
            setAlarm(.diskError, facts, if: true, into: &effects)
            return
        }
        guard !watch.rulesAreLoaded else { return }
        setAlarm(.pathPermission, subject: file.bytes, AlertFacts(detail: text), if: true, into: &effects)
    }

    private mutating func setRules(by file: Path, _ contents: [UInt8]?, into effects: inout Effects) {
        let directory = file.parent ?? .root
        var problems: [IgnoreProblem] = []
        if let contents {
            problems = watch.rules.setFile(directory: directory.bytes, contents: contents)
        } else {
            watch.rules.removeFile(directory: directory.bytes)
        }
        let facts = AlertFacts(detail: problems.prefix(Node.problemsToldMax).map(\.sentence).joined(separator: " "))
        setAlarm(.ignoreInvalid, subject: file.bytes, facts, if: !problems.isEmpty, into: &effects)
    }

    /// A file that went while another was being read has not been read since: all that there are were, and none could not be.
    private mutating func forgetProblems(butOf files: [Path], into effects: inout Effects) {
        for (key, _) in alarms.raised where key.code == .pathPermission {
            if let path = Path(key.subject) { tellForbidden(path, .pathPermission, into: &effects) }
        }
        let told = alarms.raised.map(\.key).filter { $0.code == .ignoreInvalid }
        if told.isEmpty { return }
        let there = SortedMap(files.map { ($0, true) })
        for key in told where Path(key.subject).map({ there.contains(key: $0) }) != true {
            setAlarm(key, if: false, into: &effects)
        }
    }

    private static let problemsToldMax = 10

    /// Rows that the rules cover now are let go, rows they no longer cover are taken up again. If the rules have changed once
    /// more, another pass has begun from the start.
    mutating func reconsiderIgnored(_ rules: Digest, _ answers: inout Answers, into effects: inout Effects) {
        guard watch.rules.digest == rules else { return }
        let rows = answers.rows()
        var batch = Batch()
        for old in rows {
            if apply.touches(old.path) {
                look(afterBatch: old.path)
                continue
            }
            var row = old
            if isIgnored(row) {
                noteLeftOut(row)
                ignore(&row)
                cancel(row.path)
            } else if row.condition == .ignored {
                heed(&row)
                // (A scan that meets the row as it is from here on finds no difference.)
                if isHeeded(row) { look(at: row.path) }
                takeStock(ofLetGo: row)
                if staysLeftOut(row) { row.condition = .ignored }
                plan.want(row.path)
            }
            put(row, replacing: old, in: &batch, into: &effects)
        }
        if rows.count == limits.batchPathsMax, let last = rows.last {
            enqueue(.reconsiderIgnored(rules, after: last.path))
        } else {
            record.rulesConsidered = rules
        }
        store(&batch, into: &effects)
    }

    /// After a power cut: what is young and was left out before it is in no scan, and what the cut took of it shows only before anybody does
    /// something there (`noteLost`).
    mutating func lookAtIgnored(_ answers: inout Answers) {
        let rows = answers.rows()
        for row in rows where row.condition == .ignored && isSuspect(row) { look(at: row.path) }
        if rows.count == limits.batchPathsMax, let last = rows.last { enqueue(.lookAtIgnored(after: last.path)) }
    }

    /// Which rule leaves a path out, as far as they are read by now.
    public func ruleLeavingOut(_ path: Path, isDirectory: Bool) -> IgnoreReason? {
        watch.rules.reason(toIgnore: path.bytes, isDirectory: isDirectory)
    }

    // MARK: Rows that the rules cover

    private mutating func noteLeftOut(_ row: Row) {
        guard row.condition == .normal, isSuspect(row), watch.leftOut.count < limits.notedPathsMax else { return }
        watch.leftOut[row.path] = true
    }

    /// The rules leave out what is known of the path; a rule may speak of directories only.
    func isIgnored(_ row: Row) -> Bool {
        let known = row.disk?.entry.content ?? resolution(of: row).entry.content
        return watch.rules.isIgnored(row.path.bytes, isDirectory: known.isDirectory)
    }

    /// By rules that leave out their own file. The other node never learns of them, and waits for what it was told of before
    /// they were there: that it gets, as long as it is what it was.
    func isLeftOutUntold(_ row: Row) -> Bool {
        guard row.condition == .ignored,
            let reason = watch.rules.reason(toIgnore: row.path.bytes, isDirectory: false)
        else { return false }
        return watch.rules.isIgnored(reason.file, isDirectory: false)
    }

    mutating func ignore(_ row: inout Row) {
        guard row.disk != nil || !row.heads.isEmpty else {
            // Something that could not be read yet is not waited for any more.
            row.waiting = nil
            return
        }
        if standsInTheWay(row) {
            makeStranger(&row)
            return
        }
        row.condition = .ignored
        row.waiting = nil
    }

    /// The rules leave out what is on disk, but not what is to be there.
    func standsInTheWay(_ row: Row) -> Bool {
        let wanted = resolution(of: row).entry
        return row.disk != nil && !wanted.isAbsent && isIgnored(row)
            && !watch.rules.isIgnored(row.path.bytes, isDirectory: wanted.content.isDirectory)
    }

    /// What is on disk is nothing of ours any more and is not touched: what is to be there waits until it has gone.
    mutating func makeStranger(_ row: inout Row) {
        if let disk = row.disk, watch.strangers.count < limits.notedPathsMax {
            watch.strangers[row.path] = WatchState.Stranger(disk: disk, reflected: row.reflected)
        }
        row.disk = nil
        row.condition = .normal
        // (A power cut may have given it back in the place of what the row says is there.)
        heed(&row)
        plan.want(row.path)
    }

    /// The rules let go of the directory that stood in the way: it is the one that was known, and nobody has made it since.
    mutating func recognise(_ stat: Stat, at row: inout Row) {
        guard let known = watch.strangers.removeValue(forKey: row.path), row.disk == nil, row.condition == .normal,
            stat.isSameFile(as: known.disk.stat)
        else { return }
        row.disk = known.disk
        row.reflected = known.reflected
    }

    /// No longer ignored. What was damaged before is so still: a row that says it shows what it does not is nobody's change.
    mutating func heed(_ row: inout Row) {
        // (A directory is not read.)
        if let since = record.distrustOfIgnored, let disk = row.disk, disk.isYounger(than: since),
            !disk.entry.content.isDirectory, !isHeeded(row)
        {
            if watch.heeded.count < limits.notedPathsMax {
                watch.heeded[row.path] = true
            } else {
                watch.heedsMore = true
            }
        }
        row.condition = wasDamaged(row) ? .damaged : .normal
    }

    /// Before the rules left it out: it says that all has been applied, or that what is wanted was here and only more of what the peer
    /// says is to be applied, and shows something else.
    func wasDamaged(_ row: Row) -> Bool {
        let wanted = resolution(of: row)
        if (row.disk?.entry ?? .absent).agrees(with: wanted.entry) { return false }
        return !row.needsApply || row.disk == nil && row.reflected.covers(wanted.origins.content)
    }
}

extension Node {
    /// The rules left it out when the distrust ended, and what it holds has not been read since they let go of it. (Where that is more than is
    /// noted, all that is as young is in doubt.)
    func isHeeded(_ row: Row) -> Bool {
        if watch.heeded.contains(key: row.path) { return true }
        guard watch.heedsMore, let since = record.distrustOfIgnored, let disk = row.disk else { return false }
        return disk.isYounger(than: since)
    }

    /// A file that is heeded stays left out on record until it has been read: if this process ends before that, the next
    /// would not know that it is in doubt, and take what the cut has left for somebody's write.
    func staysLeftOut(_ row: Row) -> Bool {
        row.condition == .normal && row.disk?.entry.content.kind == .file && isHeeded(row)
    }
}

extension IgnoreProblem {
    fileprivate var sentence: String {
        switch reason {
        case .neverMatches: "Line \(line) can never match."
        case .lineTooLong: "Line \(line) is too long."
        case .fileTooLarge: "From line \(line) on there is too much."
        }
    }
}
