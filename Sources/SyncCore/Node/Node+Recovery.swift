import SyncModel

/// A start: what the last process had begun is looked at, and what is found of it is settled with the rows before anything is scanned.
extension Node {
    mutating func begin(_ start: Start, into effects: inout Effects) {
        record = start.node
        recordEmitted = start.node
        settings = start.settings
        limits = start.limits
        digest = start.digest
        checksum = start.checksum
        program = start.program
        features = start.features
        nonce = start.nonce
        clock = HybridClock(last: record.clock)
        let peer = record.peer ?? record.id
        reconciler = Reconciler(precedence: Precedence(ownKeyIsSmaller: record.id < peer))
        stores.durableOwnHead = record.ownHead
        stores.durableImportedHead = record.importedHead
        incoming.cursor = record.importedHead
        // Even after an orderly stop: the daemon was through, but the machine may have gone down with people's writes.
        if start.powerWasLost { record.distrust(limits, at: now) }
        watch.isFirstSinceCut = start.powerWasLost
        watch.toldBeforeCut = record.toldBeforeCut
        watch.recallClock(record.clockShown, at: now, limits)
        // A state that was wiped or put back must not give the numbers of versions that are still on disk. (The later of two
        // versions has the larger number.)
        recovery.isFirstStart = record.nextVersion == 1
        record.nextVersion += recovery.isFirstStart ? UInt64(nonce) << 20 : (UInt64(nonce % 4_096) + 1) << 16
        recovery.isAfterCrash = !recovery.isFirstStart && !record.stoppedCleanly
        phase = .recovering
        record.stoppedCleanly = false
        openClaims()
        if record.isForked { setAlarm(.logForked, if: true, into: &effects) }
        if let held = record.held {
            deletes.recallHold()
            setAlarm(.fuseDeletes, .held(held.files), if: true, into: &effects)
        }
        timers.begin(at: now, lastAlive: record.aliveMilliseconds, limits)
        noteTimeAway()
        checkRoot(into: &effects)
        openRecords(start.models, start.heldFiles, hasJoined: start.hasJoined)
        openFormats(start.formats)
        enqueue(.recover)
    }

    mutating func checkRoot(into effects: inout Effects) {
        guard !timers.isCheckingRoot else { return }
        timers.isCheckingRoot = true
        effects.add(.inspect(newJob(.rootCheck), []))
    }

    mutating func lookAtIntents(_ answers: inout Answers, into effects: inout Effects) {
        recovery.intents = answers.intents()
        let summary = answers.summary()
        counts = Counts(files: summary.files, directories: summary.directories, unsettled: summary.pendingRows)
        let kept = answers.versions().sorted { $0.keptMilliseconds < $1.keptMilliseconds }
        var ofPath: SortedMap<Path, [KeptVersion]> = [:]
        for version in kept { ofPath[version.path, default: []].append(version) }
        for version in kept {
            // (An earlier process has written one of two that are alike anew from the other: it is on the disk.)
            let isSecured = ofPath[version.path]?.contains { $0.isAlike(version) } ?? false
            if !isSecured { noteEarlier(version) }
            expectLateWriter(of: version)
        }
        guard record.ownHead.position.seq > 0 else { return }
        let log = answers.log()
        recallDeletes(log, areUnjudged: summary.missing > 0 && record.held == nil)
        recallTold(log)
    }

    mutating func pumpRecovery(into effects: inout Effects) {
        guard phase == .recovering, !timers.isCheckingRoot, watch.root == .healthy, let intents = recovery.intents
        else { return }
        guard let staged = recovery.staged else {
            if !recovery.isListing {
                recovery.isListing = true
                effects.add(.listStage(newJob(.stageList)))
            }
            return
        }
        guard !recovery.isLooking, recovery.lookAt <= now.monotonicMilliseconds else { return }
        recovery.isLooking = true
        recovery.looks += 1
        for file in staged { record.nextStage = max(record.nextStage, file.name.raw &+ 1) }
        let programs = intents.flatMap { intent in
            [places(of: intent), [.stage(intent.stage)], [place(ofDisplaced: intent)]].map { places in
                DiskProgram(places.map { .inspect($0) })
            }
        }
        let asked = recovery.unseen.isEmpty ? Array(programs.indices) : recovery.unseen
        effects.add(.disk(newJob(.recoveryLook), asked.map { programs[$0] }))
    }

    /// False if it has been tried often enough.
    mutating func lookOnceMore() -> Bool {
        guard recovery.looks < RecoveryState.looksMax else { return false }
        recovery.isLooking = false
        recovery.lookAt = now.monotonicMilliseconds + limits.retryFirstMilliseconds
        return true
    }

    /// Its path; for a move, also where it came from, and the directory of that.
    private func places(of intent: Intent) -> [Place] {
        guard case .rename(let from) = intent.action, from.parent != intent.path.parent, let directory = from.parent
        else { return [.tree(intent.path)] }
        return [.tree(intent.path), .tree(from), .tree(directory)]
    }

    private func place(ofDisplaced intent: Intent) -> Place {
        switch intent.displaced {
        case .version(let version)?, .quarantine(let version)?: version.place
        case .conflictCopy(let path)?: .tree(path)
        case nil: .stage(intent.stage)
        }
    }

    mutating func finishStageList(_ files: [StagedFile]) {
        recovery.isListing = false
        recovery.staged = files
    }

    /// Decides for each intent what a crash left undone.
    mutating func finishRecoveryLook(_ results: [DiskResult], into effects: inout Effects) {
        guard let intents = recovery.intents, let staged = recovery.staged else { return }
        if recovery.seen.isEmpty { recovery.seen = results }
        for (index, result) in zip(recovery.unseen, results) { recovery.seen[index] = result }
        recovery.unseen = recovery.seen.indices.filter { recovery.seen[$0].failure != nil }
        if !recovery.unseen.isEmpty, lookOnceMore() { return }
        let results = recovery.seen
        guard !results.contains(where: { $0.failure?.error == .inputOutput }) else {
            // What was left in the middle would be told of as if people had done it.
            finish(.diskFailed, into: &effects)
            return
        }
        var findings = RecoveryState.Findings()
        var sweeps: [DiskProgram] = []
        var claimed = SortedMap<StageName, Bool>()
        // Directories that were to be made, and were not: nothing can be put into them yet.
        let unmade = zip(intents.indices, intents).compactMap { number, intent in
            let isThere = number * 3 < results.count && results[number * 3].inspected.first ?? nil != nil
            return intent.isMakingDirectory && !isThere ? intent.path : nil
        }
        let returning = zip(intents.indices, intents).compactMap { number, intent in
            number * 3 + 1 < results.count
                && isTakenBack(results[number * 3 + 1].inspected.first ?? nil, intent) ? intent.path : nil
        }
        for (number, intent) in intents.enumerated() {
            let base = number * 3
            guard base + 2 < results.count else { break }
            let atPath = results[base].inspected.first ?? nil
            let inStage = results[base + 1].inspected.first ?? nil
            let aside = results[base + 2].inspected.first ?? nil
            claimed[intent.stage] = true
            findings.done[intent.stage] = true
            findings.looks.append(intent.path)
            if case .rename(let from) = intent.action { findings.looks.append(from) }
            guard results[base...(base + 2)].allSatisfy({ $0.failure == nil }) else {
                // Not to be seen now: the intent stays, and with it what is in the stage, for another try.
                findings.done[intent.stage] = nil
                continue
            }
            // A move that was begun again: what is to be done about it, the later intent tells.
            if case .rename = intent.action, intents[(number + 1)...].contains(where: { $0.repeats(intent) }) {
                continue
            }
            let isTakenBack = isTakenBack(inStage, intent)
            if let atPath, !isTakenBack, let shown = intent.shown,
                case .place(let identity, let entry) = intent.action,
                identity == nil
                    ? isMade(atPath, entry)
                    : isOurs(atPath, intent) && shows(atPath, entry)
                        && !isAsBefore(atPath, intent)
            {
                findings.placed.append(
                    RecoveryState.Placed(
                        path: intent.path, entry: entry, stat: atPath, shown: shown,
                        copy: copy(of: intent, aside ?? inStage),
                        mayBeUnwritten: atPath.kind == .file && atPath.identity == intent.expected?.identity))
            } else if let atPath, !isTakenBack, let placed = placed(by: intent, changedSince: atPath) {
                findings.placed.append(placed)
            } else if let atPath, inStage == nil, let aside,
                let placed = placed(by: intent, replacedBy: atPath, aside)
            {
                findings.placed.append(placed)
            } else if atPath == nil, let inStage, let placed = toBePlaced(by: intent, inStage),
                !unmade.contains(where: intent.path.isBelow)
            {
                findings.placed.append(placed)
            }
            // (What is in a directory that goes back to its place, is there again only then.)
            if !returning.contains(where: intent.path.isBelow),
                let taken = taken(by: intent, atPath, inStage ?? aside)
            {
                findings.taken.append(taken)
            }
            var own = repair(intent, atPath, inStage, intent.displaced == nil ? nil : aside, &findings)
            if let taken = broughtBack(from: intent, results[base].inspected) {
                findings.taken.append(taken)
                var synced = SortedMap<Path, Bool>()
                own.append(DiskProgram(syncsOfNames(leadingTo: taken.path, besides: &synced)))
            }
            let kept = findings.versions.last.flatMap { $0.id == intent.version?.id ? $0 : nil }
            if atPath != nil {
                own.append(syncs(of: intent, intent.displaced == nil ? nil : aside, isKept: kept != nil))
            } else if aside != nil, let kept {
                // What was removed is among the versions, and nowhere else.
                own.append(DiskProgram([.syncFile(kept.place), .syncParent(kept.place)]))
            } else if intent.isMovingDirectory, case .rename(let from) = intent.action {
                // A process that ended before its syncs may have taken it back.
                own.append(DiskProgram([.syncParent(.tree(from)), .syncParent(.tree(intent.path))]))
            }
            findings.repairs += own
            findings.owners += own.map { $0.isAttempt ? nil : intent.stage }
        }
        for file in staged where !claimed.contains(key: file.name) {
            if !recovery.isFirstStart { recovery.hasSwept = true }
            if !recovery.isFirstStart, Node.mayBeSpare(file) {
                findings.spares.append(file)
                continue
            }
            sweeps.append(DiskProgram(sweeping(file)))
            findings.owners.append(nil)
        }
        recovery.findings = findings
        effects.add(.disk(newJob(.recoveryRepair), findings.repairs + sweeps))
    }

    /// A directory in the stage goes back to where it was.
    private func isTakenBack(_ inStage: Stat?, _ intent: Intent) -> Bool {
        inStage.map { $0.kind == .directory && !isOurs($0, intent) } ?? false
    }

    /// What no intent tells of is ours. Where there are no intents because the state was wiped it may be the only copy of a
    /// person's file, taken from its place in that moment. Or a directory with all that is in it: removing it tells.
    private mutating func sweeping(_ file: StagedFile) -> [DiskOperation] {
        let staged = Place.stage(file.name)
        guard recovery.isFirstStart else { return [.discard(staged)] }
        let place = Place.quarantine(nextVersion())
        guard file.stat.kind == .directory else {
            return [.move(staged, to: place), .syncFile(place), .syncParent(place)]
        }
        return [.move(staged, to: place), .syncParent(place), .removeDirectory(place)]
    }

    /// The file we staged stands in its place, but somebody has written to it since, or set its time: he did that to what we
    /// put there. What differs is for the next look to see. (After a power cut as well: a cut gives no file another time than we gave
    /// it. If the bytes are not ours, they are his or what the cut has left of his: known as of before that, they are no damage
    /// of what we put there.)
    private func placed(by intent: Intent, changedSince stat: Stat) -> RecoveryState.Placed? {
        guard let shown = intent.shown, case .place(let identity, let entry) = intent.action, identity == stat.identity,
            identity != intent.expected?.identity
        else { return nil }
        var stat = stat
        // (What a link says, nobody can change.)
        if case .symlink = entry.content, stat.kind == .symlink {
            stat.modified = entry.modified
            return RecoveryState.Placed(path: intent.path, entry: entry, stat: stat, shown: shown)
        }
        guard case .file(_, let size) = entry.content else { return nil }
        let times = [entry.modified, intent.stagedTime ?? entry.modified]
        let isUnwritten = stat.size == size && times.contains { stat.modified.mayStand(for: $0) }
        if record.distrustSince != nil, !isUnwritten {
            stat.changed = Timestamp(milliseconds: stat.changed.milliseconds - 1)
        }
        stat.size = size
        stat.mode = entry.mode
        stat.modified = entry.modified
        return RecoveryState.Placed(path: intent.path, entry: entry, stat: stat, shown: shown)
    }

    /// Or he has put another file in its place: it had stood there, for what had made room for it is where that was to go. Told as made on what
    /// stood there before, his work would meet ours as if nobody had seen that. (After a power cut nobody can tell.)
    private func placed(by intent: Intent, replacedBy stat: Stat, _ aside: Stat) -> RecoveryState.Placed? {
        guard record.distrustSince == nil, let shown = intent.shown,
            case .place(let identity?, let entry) = intent.action, case .file(_, let size) = entry.content,
            let expected = intent.expected, intent.displaced != nil,
            aside.identity == expected.identity, stat.kind == .file, stat.identity != identity,
            stat.identity != expected.identity
        else { return nil }
        let stood = Stat(
            identity: identity, kind: .file, mode: entry.mode, size: size, modified: entry.modified,
            changed: aside.changed)
        return RecoveryState.Placed(
            path: intent.path, entry: entry, stat: stood, shown: shown, copy: copy(of: intent, aside))
    }

    /// What was to come to a free name, and is whole: the peer may have lost it in the same power cut, which knows no machine from another.
    private func toBePlaced(by intent: Intent, _ inStage: Stat) -> RecoveryState.Placed? {
        guard let shown = intent.shown, case .place(_, let entry) = intent.action, intent.expected == nil,
            intent.displaced == nil, entry.content.kind == .file, isOurs(inStage, intent),
            isFinished(inStage, entry, intent)
        else { return nil }
        return RecoveryState.Placed(
            path: intent.path, entry: entry, stat: inStage, shown: shown, stage: intent.stage)
    }

    /// The loser of a conflict, where it was to go on, or on its way there.
    private func copy(of intent: Intent, _ loser: Stat?) -> RecoveryState.Copy? {
        guard case .conflictCopy(let path)? = intent.displaced, let loser, let expected = intent.expected,
            loser.isSameContent(as: expected)
        else { return nil }
        return RecoveryState.Copy(path: path, stat: loser)
    }

    /// What was to be taken from its place and is not there any more.
    private func taken(by intent: Intent, _ atPath: Stat?, _ aside: Stat?) -> RecoveryState.Taken? {
        let identity = intent.expected?.identity
        switch intent.action {
        case .remove:
            guard atPath == nil || identity != nil, atPath?.identity != identity || identity == nil,
                aside?.identity == identity
            else { return nil }
            return RecoveryState.Taken(path: intent.path, identity: identity)
        case .rename(let from):
            guard let identity, from != intent.path, atPath?.identity == identity, atPath?.kind != .directory
            else { return nil }
            let moved = intent.shown.flatMap { shown in
                atPath.map { RecoveryState.Moved(path: intent.path, stat: $0, shown: shown) }
            }
            return RecoveryState.Taken(path: from, identity: identity, moved: moved)
        case .place:
            return nil
        }
    }

    /// It had come where the peer's move was to take it, no row says so yet, and a person has brought the directory there, with what is in it, to the
    /// place of the one that it came from (whether it is that directory, the rows will tell). By its path it would never have moved, and be moved
    /// once more, or taken away, against what he has done since. (A move shows in the change time.)
    private func broughtBack(from intent: Intent, _ inspected: [Stat?]) -> RecoveryState.Taken? {
        guard case .rename(let from) = intent.action, inspected.count == 3, inspected[0] == nil,
            let stat = inspected[1], let directory = inspected[2], stat.kind != .directory,
            let expected = intent.expected, stat.identity == expected.identity, stat.changed != expected.changed,
            let shown = intent.shown
        else { return nil }
        return RecoveryState.Taken(
            path: from, identity: stat.identity,
            moved: RecoveryState.Moved(path: intent.path, stat: stat, shown: shown), directory: directory.identity)
    }

    /// The last process may have ended between the change and its syncs. What is found done counts as done from here on, and
    /// nothing but the intent says that it may not last: the names must have reached the disk before that goes, and so must the bytes of
    /// what was displaced, which whoever wrote it may not have synced.
    private func syncs(of intent: Intent, _ aside: Stat?, isKept: Bool) -> DiskProgram {
        var synced = SortedMap<Path, Bool>()
        var operations = syncsOfNames(leadingTo: intent.path, besides: &synced)
        if let aside, let displaced = intent.displaced {
            switch displaced {
            case .version(let version), .quarantine(let version):
                if isKept, aside.kind == .file { operations.append(.syncFile(version.place)) }
                operations.append(.syncParent(version.place))
            case .conflictCopy(let copy):
                if aside.kind == .file { operations.append(.syncFile(.tree(copy))) }
            }
        }
        if intent.isReplacingDirectory { operations.append(.syncParent(.stage(intent.stage))) }
        return DiskProgram(operations)
    }

    mutating func settleRecovery(
        _ findings: RecoveryState.Findings, _ answers: inout Answers, into effects: inout Effects
    ) {
        var batch = Batch()
        var rows = answers.rowsByPath()
        for placed in findings.placed {
            guard let old = rows[placed.path], var row = settled(old, placed) else { continue }
            settleCopy(placed, of: old, &row, &rows, in: &batch, into: &effects)
            put(row, replacing: old, in: &batch, into: &effects)
            rows[row.path] = row
        }
        for taken in findings.taken {
            if let directory = taken.directory {
                guard let target = taken.moved?.path.parent, rows[target]?.disk?.stat.identity == directory else {
                    continue
                }
            }
            if let parent = taken.path.parent { enqueue(.letGo(parent, after: nil)) }
            guard let old = rows[taken.path], let row = settled(old, taken) else { continue }
            put(row, replacing: old, in: &batch, into: &effects)
            rows[row.path] = row
            guard let moved = taken.moved, let disk = old.disk, let target = rows[moved.path],
                let row = settled(target, moved, from: disk)
            else { continue }
            put(row, replacing: target, in: &batch, into: &effects)
            rows[row.path] = row
        }
        for left in findings.left { settle(left, rows[left.path], in: &batch) }
        for left in findings.leftThere {
            guard let row = rows[left.move.from], row.disk?.stat.identity == left.identity, !row.isUnsettled,
                row.heads.count == 1, rows[left.move.to]?.disk == nil
            else { continue }
            relocateRows(left.move, in: &batch, into: &effects)
            // (Whether anything in it was left out is not known.)
            counts.mustRecount = true
        }
        for (name, _) in findings.done { batch.add(.dropIntent(name)) }
        for version in findings.givenBack { batch.add(.dropVersion(version)) }
        for version in findings.versions {
            batch.add(.putVersion(version))
            noteEarlier(version)
        }
        // (Until that is stored, the intent tells of them as they were found: written anew by then, the next start would take them for
        // what somebody has saved in the moment of the crash.)
        store(&batch, then: .expectLateWriters(findings.versions), into: &effects)
        if recovery.hasSwept { effects.add(.report(.note(Note(code: .stageSwept)))) }
        if recovery.isAfterCrash { effects.add(.report(.note(Note(code: .recoveryFinished)))) }
        recovery = RecoveryState()
        plan.spares.add(findings.spares)
        if phase == .recovering { phase = .running }
        for path in findings.looks + findings.rescued { look(at: path) }
        for path in findings.returned { noteYoung(path) }
        if let beyond = record.adoptBeyond { enqueue(.adopt(after: nil, beyond: beyond)) }
        enqueue(.loadRules)
        rescanAll()
        plan.startRound()
    }

    /// As at the end of a batch: left to a look, the copy would be a new file, and the loser would win the path once more when the
    /// winner leaves it. (After a power cut only reading a young file tells whether it is whole. What a link says is.)
    private mutating func settleCopy(
        _ placed: RecoveryState.Placed, of old: Row, _ row: inout Row, _ rows: inout RowMap, in batch: inout Batch,
        into effects: inout Effects
    ) {
        guard let copy = placed.copy, let disk = old.disk, disk.stat.identity == copy.stat.identity,
            rows[copy.path]?.disk == nil, copy.stat.kind == .symlink || !isSuspect(old)
        else { return }
        let before = rows[copy.path]
        keep(.conflictCopy(copy.path), old: disk, stat: copy.stat, rows: &rows, in: &batch, into: &effects)
        guard var made = rows[copy.path] else { return }
        if watch.unwritten.removeValue(forKey: copy.path) == copy.stat.identity { made.disk?.isUnwritten = true }
        rows[copy.path] = made
        put(made, replacing: before, in: &batch, into: &effects)
        settleConflict(&row, copied: disk.entry.content, in: &batch)
    }

    /// Noted at once, also where the peer has told of something newer since: left to a look, it would be taken for a
    /// person's. Whether somebody has written to it meanwhile, reading it will tell.
    private func settled(_ old: Row, _ placed: RecoveryState.Placed) -> Row? {
        let shown = placed.shown
        // (A save that was held back had made room for what the row had shown before. What was damaged had been shown before.)
        let isOpen = old.condition == .damaged || !old.reflected.covers(shown.version) || isHeldSave(old)
        guard old.condition == .normal || old.condition == .damaged, old.version.covers(shown.version), isOpen else {
            return nil
        }
        var row = old
        row.condition = .normal
        var (entry, stat) = (placed.entry, placed.stat)
        if stat.kind == .directory {
            // As it was to be: what differs is for the next look to see.
            stat.mode = entry.mode
            if !stat.modified.mayStand(for: entry.modified) { stat.modified = entry.modified }
        }
        let isTimed = stat.kind != .directory || stat.modified == entry.modified
        if isTimed {
            row.reflected = row.reflected.joined(with: shown.version)
        } else {
            // Where file systems keep less of a time this may be all of it, or nobody has set it yet.
            entry.modified = stat.modified
        }
        // (What is not all applied is nobody's yet.)
        let origins = isTimed ? shown.origins : Resolution.nothing.origins
        row.disk = Row.DiskState(
            entry: entry, stat: stat, origins: origins, isRacy: true, isUnwritten: placed.mayBeUnwritten)
        row.waiting = nil
        row.owesCopy = false
        return row
    }

    /// Noted at once as well: a peer who has put the same there again would else make the row say that all is as it should
    /// be, and a look that it was removed here. (Where the row has come to show all that is known, because a peer was set back or lost his
    /// state meanwhile, there is nothing to apply any more: it is for a look to see that the file is gone.)
    func settled(_ old: Row, _ taken: RecoveryState.Taken) -> Row? {
        guard old.condition == .normal, !old.reflected.covers(old.version), let disk = old.disk,
            taken.identity.map({ $0 == disk.stat.identity }) ?? disk.entry.content.isDirectory
        else { return nil }
        var row = old
        row.disk = nil
        row.waiting = nil
        row.owesCopy = false
        if resolution(of: row).entry.isAbsent { row.reflected = row.version }
        return row
    }

    /// And where it has gone. What it still lacks, mode or time, is applied like any other difference.
    func settled(_ old: Row, _ moved: RecoveryState.Moved, from known: Row.DiskState) -> Row? {
        let (stat, shown, wanted) = (moved.stat, moved.shown, resolution(of: old).entry)
        guard old.condition == .normal, old.disk == nil, old.version.covers(shown.version),
            !old.reflected.covers(shown.version), stat.size == known.stat.size
        else { return nil }
        if old.version == shown.version, wanted.content == known.entry.content, shows(stat, wanted) {
            return settled(old, RecoveryState.Placed(path: old.path, entry: wanted, stat: stat, shown: shown))
        }
        var row = old
        var entry = known.entry
        if stat.kind != .symlink { entry.mode = stat.mode }
        entry.modified = stat.modified
        var origins = Resolution.nothing.origins
        origins.content = shown.origins.content
        row.disk = Row.DiskState(entry: entry, stat: stat, origins: origins, isRacy: true)
        row.waiting = nil
        return row
    }
}
