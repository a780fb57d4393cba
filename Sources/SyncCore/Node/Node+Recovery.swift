import SyncModel

/// The start of a process: finish or undo what the last one left in the middle, then look at everything once.
///
/// Nothing in the stage is thrown away before its intent has been read, and nothing is done before the root is known to be ours.
struct RecoveryState: Sendable {
    var intents: [Intent]?
    var staged: [StagedFile]?
    var isListing = false
    var isLooking = false
    /// Nothing is known of what lies in the stage: the state is new, or was wiped.
    var isFirstStart = false
    /// The process before this one did not stop in order.
    var isAfterCrash = false
    /// Temporary files of ours were in the stage that nothing tells of.
    var hasSwept = false
    /// Looks that failed are taken again, and when: an intent that cannot be dealt with now keeps a file out of the history
    /// until the next start.
    var looks = 0
    var lookAt: UInt64 = 0
    static let looksMax = 5
    /// What the looks have shown, and which of them are to be taken again.
    var seen: [DiskResult] = []
    var unseen: [Int] = []
    var isRenumbering = false
    /// Store operations of a renumbering that is not complete yet.
    var renumbered: [StoreOperation] = []
    var findings = Findings()

    /// What recovery found and did.
    struct Findings: Sendable {
        /// Intents that are dealt with, unless a program of theirs fails.
        var done = SortedMap<StageName, Bool>()
        /// The intent each repair belongs to; nil for what is only swept.
        var owners: [StageName?] = []
        /// The repairs that belong to an intent come first.
        var repairs: [DiskProgram] = []
        var versions: [KeptVersion] = []
        var looks: [Path] = []
        var rescued: [Path] = []
        /// What the last process put in its place without getting to say so.
        var placed: [Placed] = []
        /// What it took away.
        var taken: [Taken] = []
        /// Versions that are back in the tree.
        var givenBack: [VersionID] = []
    }

    struct Taken: Sendable {
        let path: Path
        /// Nil for a directory.
        let identity: FileIdentity?
        /// Where the peer's move has taken it.
        var moved: Moved?
    }

    struct Moved: Sendable {
        let path: Path
        let stat: Stat
        let shown: Intent.Shown
    }

    struct Placed: Sendable {
        let path: Path
        let entry: Entry
        let stat: Stat
        let shown: Intent.Shown
        /// What had to make room stands there, under the name of a conflict copy.
        var copy: Copy?
    }

    struct Copy: Sendable {
        let path: Path
        let stat: Stat
    }
}

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
        if start.powerWasLost { record.distrust(limits) }
        if start.powerWasLost { watch.toldBeforeCut = Int64(clamping: record.clock.wallMilliseconds) }
        // A state that was wiped or put back must not give the numbers of versions that are still on disk. (The later of two
        // versions has the larger number.)
        recovery.isFirstStart = record.nextVersion == 1
        record.nextVersion += recovery.isFirstStart ? UInt64(nonce) << 20 : (UInt64(nonce % 4_096) + 1) << 16
        recovery.isAfterCrash = !recovery.isFirstStart && !record.stoppedCleanly
        phase = .recovering
        record.stoppedCleanly = false
        openClaims()
        if record.isForked { setAlarm(.logForked, if: true, into: &effects) }
        if let held = record.held { setAlarm(.fuseDeletes, .held(held.files), if: true, into: &effects) }
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
        for version in kept { expectLateWriter(of: version) }
        if record.ownHead.position.seq > 0 { recallDeletes(answers.log()) }
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
            [.tree(intent.path), .stage(intent.stage), place(ofDisplaced: intent)].map { DiskProgram([.inspect($0)]) }
        }
        let asked = recovery.unseen.isEmpty ? Array(programs.indices) : recovery.unseen
        effects.add(.disk(newJob(.recoveryLook), asked.map { programs[$0] }))
    }

    /// False if it has been tried often enough.
    private mutating func lookOnceMore() -> Bool {
        guard recovery.looks < RecoveryState.looksMax else { return false }
        recovery.isLooking = false
        recovery.lookAt = now.monotonicMilliseconds + limits.retryFirstMilliseconds
        return true
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
            // A directory in the stage goes back to where it was.
            let isTakenBack = inStage.map { $0.kind == .directory && !isOurs($0, intent) } ?? false
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
                        copy: copy(of: intent, aside ?? inStage)))
            } else if let atPath, !isTakenBack, let placed = placed(by: intent, changedSince: atPath) {
                findings.placed.append(placed)
            }
            if let taken = taken(by: intent, atPath, inStage ?? aside) { findings.taken.append(taken) }
            var own = repair(intent, atPath, inStage, intent.displaced == nil ? nil : aside, &findings)
            if atPath != nil {
                own.append(syncs(of: intent, isAside: intent.displaced != nil && aside != nil))
            }
            findings.repairs += own
            findings.owners += own.map { $0.isAttempt ? nil : intent.stage }
        }
        for file in staged where !claimed.contains(key: file.name) {
            sweeps.append(DiskProgram(sweeping(file)))
            if !recovery.isFirstStart { recovery.hasSwept = true }
            findings.owners.append(nil)
        }
        recovery.findings = findings
        effects.add(.disk(newJob(.recoveryRepair), findings.repairs + sweeps))
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
            identity != intent.expected?.identity, case .file(_, let size) = entry.content
        else { return nil }
        var stat = stat
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

    /// The loser of a conflict, where it was to go on, or on its way there. (After a power cut only reading it tells whether it is whole.)
    private func copy(of intent: Intent, _ loser: Stat?) -> RecoveryState.Copy? {
        guard record.distrustSince == nil, case .conflictCopy(let path)? = intent.displaced, let loser,
            let expected = intent.expected, loser.isSameContent(as: expected)
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

    /// The last process may have ended between the change and its syncs. What is found done counts as done from here on, and
    /// nothing but the intent says that it may not last: the names must have reached the disk before that goes.
    private func syncs(of intent: Intent, isAside: Bool) -> DiskProgram {
        var synced = SortedMap<Path, Bool>()
        var operations = syncsOfNames(leadingTo: intent.path, besides: &synced)
        switch intent.displaced {
        case .version(let version)?, .quarantine(let version)?:
            if isAside { operations.append(.syncParent(version.place)) }
        case .conflictCopy?, nil: break
        }
        if intent.isReplacingDirectory { operations.append(.syncParent(.stage(intent.stage))) }
        return DiskProgram(operations)
    }

    private mutating func repair(
        _ intent: Intent, _ atPath: Stat?, _ inStage: Stat?, _ aside: Stat?, _ findings: inout RecoveryState.Findings
    ) -> [DiskProgram] {
        var programs: [DiskProgram] = []
        if let back = takingBack(moveOf: intent, atPath) { programs.append(back) }
        if let inStage {
            // (A cut may have left the file that was to make room both its names.)
            if isOurs(inStage, intent), wasPutInto(inStage, intent), let refuge = refuge(for: intent.path) {
                // It stood in the tree for a moment.
                let (staged, place) = (Place.stage(intent.stage), Place.tree(refuge))
                findings.rescued.append(refuge)
                programs.append(DiskProgram([.move(staged, to: place), .syncParent(place)]))
                programs.append(DiskProgram([.removeDirectory(place)]))
            } else if isOurs(inStage, intent) || inStage.identity == aside?.identity {
                programs.append(DiskProgram([.discard(.stage(intent.stage))]))
            } else {
                programs.append(moveOut(inStage, of: intent, atPath, isFree: aside == nil, &findings))
            }
        }
        if case .rename(let from) = intent.action, from == intent.path {
            settleVersion(of: intent, aside, &findings)
            return programs
        }
        guard let aside, let expected = intent.expected else { return programs }
        switch intent.displaced {
        case .version(let version)?, .quarantine(let version)?:
            if aside.isSameContent(as: expected) {
                findings.versions.append(version.with(stat: aside))
            } else if isRemains(aside, of: expected) {
                programs.append(quarantine(aside, of: version, in: version.place, &findings))
            } else if let refuge = refuge(for: intent.path) {
                // Not the file that was to be replaced: a save in the very moment of the crash.
                findings.rescued.append(refuge)
                programs.append(DiskProgram([.move(version.place, to: .tree(refuge)), .syncParent(.tree(refuge))]))
            }
        case .conflictCopy(let path)?:
            findings.looks.append(path)
            noteUnwritten(path, aside)
        case nil: break
        }
        return programs
    }

    /// The last process may have been told that it cannot be synced, and have ended with that: then no sync tells of it again, and
    /// a power cut takes what may be the only copy.
    private mutating func noteUnwritten(_ path: Path, _ stat: Stat) {
        if stat.kind == .file, watch.unwritten.count < limits.notedPathsMax { watch.unwritten[path] = stat.identity }
    }

    /// A version was on its way back into the tree. (What is neither it nor what was to take its place is a save in the very
    /// moment of the crash: the late look finds it.)
    private func settleVersion(of intent: Intent, _ aside: Stat?, _ findings: inout RecoveryState.Findings) {
        switch intent.displaced {
        case .version(let version)?, .quarantine(let version)?:
            guard let aside else {
                // (Or to be put there in the first place, and the repair does that.)
                let isOnItsWay = findings.versions.contains { $0.id == version.id }
                if !isOnItsWay { findings.givenBack.append(version.id) }
                return
            }
            if let expected = intent.expected, aside.isSameContent(as: expected) {
                findings.versions.append(version.with(stat: aside))
            }
        case .conflictCopy?, nil: break
        }
    }

    /// A directory that was to move for the peer, and has, while no row says so: a look would take it for a person's move. It
    /// goes back, and the peer's entry is read once more.
    private func takingBack(moveOf intent: Intent, _ atPath: Stat?) -> DiskProgram? {
        guard case .rename(let from) = intent.action, let identity = intent.expected?.identity,
            let atPath, atPath.kind == .directory, atPath.identity == identity
        else { return nil }
        let (here, there) = (Place.tree(intent.path), Place.tree(from))
        return DiskProgram([
            .expectIdentity(here, identity, .directory), .expectAbsent(there), .move(here, to: there),
            .syncParent(there),
            .syncParent(here),
        ])
    }

    /// The file we staged, and nobody has written to it since: only then may it be thrown away.
    private func isOurs(_ stat: Stat, _ intent: Intent) -> Bool {
        guard case .place(let identity, let entry) = intent.action, identity == stat.identity else { return false }
        switch entry.content {
        case .file(_, let size):
            let times = [entry.modified, intent.stagedTime ?? entry.modified]
            return stat.size == size && times.contains { $0.seconds == stat.modified.seconds }
        case .directory, .symlink, .absent: return true
        }
    }

    /// A directory that we staged, and what was in it since may still be.
    private func wasPutInto(_ stat: Stat, _ intent: Intent) -> Bool {
        guard stat.kind == .directory, case .place(_, let entry) = intent.action else { return false }
        return ![entry.modified, intent.stagedTime ?? entry.modified].contains { stat.modified.mayStand(for: $0) }
    }

    /// A directory that was to be made. Its time may be another by now: something may have been put into it.
    private func isMade(_ stat: Stat, _ entry: Entry) -> Bool {
        entry.content.isDirectory && stat.kind == .directory
    }

    private func shows(_ stat: Stat, _ entry: Entry) -> Bool {
        stat.modified.mayStand(for: entry.modified) && (stat.kind == .symlink || stat.mode == entry.mode)
    }

    /// The file was there before and still has its old time: a time that may stand for the new one, where file systems keep
    /// less, may as well be one that nobody has set yet.
    private func isAsBefore(_ stat: Stat, _ intent: Intent) -> Bool {
        guard let expected = intent.expected, case .place(_, let entry) = intent.action else { return false }
        return stat.identity == expected.identity && stat.modified == expected.modified
            && stat.modified != entry.modified
    }

    /// A displaced file is still in the stage: it goes where it was meant to go, or, if it is not what was expected, into the tree.
    private mutating func moveOut(
        _ inStage: Stat, of intent: Intent, _ atPath: Stat?, isFree: Bool, _ findings: inout RecoveryState.Findings
    ) -> DiskProgram {
        let staged = Place.stage(intent.stage)
        if let expected = intent.expected, inStage.isSameContent(as: expected), isFree {
            switch intent.displaced {
            case .version(let version)?, .quarantine(let version)?:
                findings.versions.append(version.with(stat: inStage))
                return DiskProgram([.move(staged, to: version.place), .syncParent(version.place)])
            case .conflictCopy(let path)?:
                findings.looks.append(path)
                noteUnwritten(path, inStage)
                return DiskProgram([.move(staged, to: .tree(path)), .syncParent(.tree(path))])
            case nil:
                break
            }
        }
        if let expected = intent.expected, let version = intent.version, isRemains(inStage, of: expected) {
            return quarantine(inStage, of: version, in: staged, &findings)
        }
        guard inStage.kind != .directory else {
            return bringBack(directoryOf: intent, atPath, &findings)
        }
        guard let refuge = refuge(for: intent.path) else { return DiskProgram() }
        findings.rescued.append(refuge)
        return DiskProgram([.move(staged, to: .tree(refuge)), .syncParent(.tree(refuge))])
    }

    /// Nothing is what a power cut has left of the file that had to make room, because nobody had synced it.
    private func isRemains(_ found: Stat, of expected: Stat) -> Bool {
        record.distrustSince != nil && found.identity == expected.identity && found.kind == .file && found.size == 0
            && expected.size > 0
    }

    private func quarantine(
        _ remains: Stat, of version: KeptVersion, in place: Place, _ findings: inout RecoveryState.Findings
    ) -> DiskProgram {
        let content = Content.file(ContentID(ChunkList().contentID(by: digest)), size: 0)
        let entry = Entry(content: content, mode: remains.mode, modified: remains.modified)
        let kept = KeptVersion(
            id: version.id, path: version.path, entry: entry, stat: remains, author: version.author,
            keptMilliseconds: version.keptMilliseconds, reason: .itemQuarantined, isQuarantined: true)
        findings.versions.append(kept)
        return place == kept.place
            ? DiskProgram() : DiskProgram([.move(place, to: kept.place), .syncParent(kept.place)])
    }

    /// An empty directory that was to be replaced, or one that still has children and must come back. What somebody has
    /// put in its place since makes room: whatever ended up in the stage would be swept.
    private mutating func bringBack(
        directoryOf intent: Intent, _ atPath: Stat?, _ findings: inout RecoveryState.Findings
    ) -> DiskProgram {
        let (staged, place) = (Place.stage(intent.stage), Place.tree(intent.path))
        guard let atPath else { return DiskProgram([.move(staged, to: place), .syncParent(place)]) }
        if isOurs(atPath, intent) { return DiskProgram([.exchange(staged, place), .syncParent(place)]) }
        guard let refuge = refuge(for: intent.path) else { return DiskProgram() }
        findings.rescued.append(refuge)
        if atPath.kind == .directory { return DiskProgram([.move(staged, to: .tree(refuge)), .syncParent(place)]) }
        return DiskProgram([.move(place, to: .tree(refuge)), .move(staged, to: place), .syncParent(place)])
    }

    mutating func finishRepair(_ results: [DiskResult], into effects: inout Effects) {
        let isUnsynced = zip(recovery.findings.repairs, results).contains { repair, result in
            result.failure.map { $0.error == .inputOutput && $0.index >= repair.firstSync } ?? false
        }
        if isUnsynced {
            // What is found done would be promised, and no later sync may tell that it is not on the disk. Nor may the intent
            // stay while this process goes on: the next would take back what has been done there since.
            finish(.diskFailed, into: &effects)
            return
        }
        if record.distrustSince != nil {
            for file in (recovery.staged ?? []).prefix(limits.notedPathsMax) {
                let identity = file.stat.identity
                watch.swept[identity] = WatchState.Swept(
                    changed: watch.swept[identity]?.changed ?? file.stat.changed,
                    untilMilliseconds: now.wallMilliseconds)
            }
        }
        let isFailing = zip(recovery.findings.owners, results).contains { owner, result in
            owner != nil && result.failure?.error == .inputOutput
        }
        if isFailing {
            // What is neither done nor undone would be told of as if people had done it, and the next start would undo it all the same.
            guard lookOnceMore() else { return finish(.diskFailed, into: &effects) }
            recovery.staged = nil
            recovery.seen = []
            recovery.unseen = []
            return
        }
        // A directory that could not be taken back stays where it is, and a look will tell of it. At the next start it would be
        // taken back from there, whatever has become of it by then.
        let moves = SortedMap((recovery.intents ?? []).filter(\.isMovingDirectory).map { ($0.stage, true) })
        for (owner, result) in zip(recovery.findings.owners, results) {
            guard let owner, result.failure != nil, !moves.contains(key: owner) else { continue }
            recovery.findings.done[owner] = nil
        }
        if repairAtTheTop(results, into: &effects) { return }
        for path in recovery.findings.rescued {
            effects.add(.report(.note(Note(code: .recoveryRescued, subject: path.bytes))))
        }
        if recovery.intents?.isEmpty == false {
            effects.add(.inspect(newJob(.batchRootCheck), []))
        } else {
            enqueue(.settleRecovery(recovery.findings))
        }
    }

    /// Where the directory of a file that had come out of its place is gone, or has become something else, the file goes to the top of
    /// the folder, as a late writer's does: in the stage nobody would find it. True if there is any.
    private mutating func repairAtTheTop(_ results: [DiskResult], into effects: inout Effects) -> Bool {
        let failed = zip(zip(recovery.findings.owners, recovery.findings.repairs), results)
        var owners: [StageName?] = []
        var repairs: [DiskProgram] = []
        for ((owner, repair), result) in failed {
            guard let owner, let failure = result.failure, failure.index == 0, failure.error.isOfMissingDirectory,
                case .move(let staged, to: .tree(let path))? = repair.operations.first, staged == .stage(owner),
                ConflictName.isConflictCopy(path), path.depth > 1, let name = path.name,
                let top = refuge(for: Path.root.appending(name))
            else { continue }
            recovery.findings.done[owner] = true
            recovery.findings.rescued.append(top)
            for index in recovery.findings.placed.indices where recovery.findings.placed[index].copy?.path == path {
                recovery.findings.placed[index].copy = nil
            }
            watch.unwritten[top] = watch.unwritten.removeValue(forKey: path)
            owners.append(owner)
            repairs.append(DiskProgram([.move(staged, to: .tree(top)), .syncParent(.tree(top))]))
        }
        if repairs.isEmpty { return false }
        (recovery.findings.owners, recovery.findings.repairs) = (owners, repairs)
        effects.add(.disk(newJob(.recoveryRepair), repairs))
        return true
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
            guard let old = rows[taken.path], let row = settled(old, taken) else { continue }
            put(row, replacing: old, in: &batch, into: &effects)
            rows[row.path] = row
            guard let moved = taken.moved, let disk = old.disk, let target = rows[moved.path],
                let row = settled(target, moved, from: disk)
            else { continue }
            put(row, replacing: target, in: &batch, into: &effects)
            rows[row.path] = row
        }
        for (name, _) in findings.done { batch.add(.dropIntent(name)) }
        for version in findings.givenBack { batch.add(.dropVersion(version)) }
        for version in findings.versions {
            batch.add(.putVersion(version))
            expectLateWriter(of: version)
        }
        store(&batch, into: &effects)
        if recovery.hasSwept { effects.add(.report(.note(Note(code: .stageSwept)))) }
        if recovery.isAfterCrash { effects.add(.report(.note(Note(code: .recoveryFinished)))) }
        recovery = RecoveryState()
        if phase == .recovering { phase = .running }
        for path in findings.looks + findings.rescued { look(at: path) }
        if let beyond = record.adoptBeyond { enqueue(.adopt(after: nil, beyond: beyond)) }
        enqueue(.loadRules)
        rescanAll()
        plan.startRound()
    }

    /// As at the end of a batch: left to a look, the copy would be a new file, and the loser would win the path once more when the
    /// winner leaves it.
    private mutating func settleCopy(
        _ placed: RecoveryState.Placed, of old: Row, _ row: inout Row, _ rows: inout RowMap, in batch: inout Batch,
        into effects: inout Effects
    ) {
        guard let copy = placed.copy, let disk = old.disk, disk.stat.identity == copy.stat.identity,
            rows[copy.path]?.disk == nil
        else { return }
        let before = rows[copy.path]
        keep(.conflictCopy(copy.path), old: disk, stat: copy.stat, rows: &rows, in: &batch, into: &effects)
        guard var made = rows[copy.path] else { return }
        if watch.unwritten.removeValue(forKey: copy.path) == copy.stat.identity { made.disk?.isUnwritten = true }
        rows[copy.path] = made
        put(made, replacing: before, in: &batch, into: &effects)
        settleConflict(&row, in: &batch)
    }

    /// Noted at once, also where the peer has told of something newer since: left to a look, it would be taken for a
    /// person's. Whether somebody has written to it meanwhile, reading it will tell.
    private func settled(_ old: Row, _ placed: RecoveryState.Placed) -> Row? {
        let shown = placed.shown
        // (A save that was held back had made room for what the row had shown before.)
        guard old.condition == .normal, old.version.covers(shown.version),
            !old.reflected.covers(shown.version) || isHeldSave(old)
        else { return nil }
        var row = old
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
        row.disk = Row.DiskState(entry: entry, stat: stat, origins: origins, isRacy: true)
        row.waiting = nil
        row.owesCopy = false
        return row
    }

    /// Noted at once as well: a peer who has put the same there again would else make the row say that all is as it should
    /// be, and a look that it was removed here.
    func settled(_ old: Row, _ taken: RecoveryState.Taken) -> Row? {
        guard old.condition == .normal, old.needsApply, let disk = old.disk,
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

    // MARK: Disk jobs come back

    mutating func finishDisk(_ job: JobID, _ results: [DiskResult], into effects: inout Effects) {
        guard let purpose = jobs.removeValue(forKey: job) else { return }
        switch purpose {
        case .recoveryLook: finishRecoveryLook(results, into: &effects)
        case .recoveryRepair: finishRepair(results, into: &effects)
        case .staging(let content, let stage): finishStaging(content, stage, results, into: &effects)
        case .stagingPlain(let path, let name): finishStagingPlain(path, name, results, into: &effects)
        case .applying: finishBatch(results, into: &effects)
        case .undoing: finishUndo(results, into: &effects)
        case .undoingBlindly: finishBlindUndo(results, into: &effects)
        case .rescuing: finishRescue(results, into: &effects)
        case .syncing: finishSync(results, into: &effects)
        case .relocating: finishRelocation(results)
        case .lateCheck(let looks): finishLateCheck(looks, results)
        case .lateVerify(let version, let stage): finishLateVerify(version, stage, results, into: &effects)
        case .lateRescue(let path, let version, let intent):
            finishLateRescue(path, version, intent, results, into: &effects)
        case .pruning(let versions): finishPruning(versions, results, into: &effects)
        case .pruned(let versions): finishPruned(versions, results, into: &effects)
        case .placingNewer(let version, let past, let stage):
            finishPlacingNewer(version, past: past, stage, results, into: &effects)
        case .keepingNewer(let version, let past, let stage):
            finishKeepingNewer(version, past: past, stage, results, into: &effects)
        case .stagingRecords(let shelvings): finishStagingRecords(shelvings, results, into: &effects)
        case .placingRecords(let shelvings): finishPlacingRecords(shelvings, results, into: &effects)
        case .copyingKept(let command, let kept, let path, let stage):
            finishCopyingKept(command, kept, path, stage, results, into: &effects)
        case .placingKept(let command, let kept, let copy, let path, let stage):
            finishPlacingKept(command, kept, copy, path, stage, results, into: &effects)
        case .droppingCopy(let version): finishDroppingCopy(version, results)
        case .restoring(let command, let kept, let path, let old, let intent):
            finishRestore(command, kept, path, old, intent, results, into: &effects)
        case .takingBack(let command, let kept, let path, let intent):
            finishTakingBack(command, kept, path, intent, results, into: &effects)
        case .settingAside(let command, let version, let intent):
            finishSettingAside(command, version, intent, results, into: &effects)
        case .bringingBack(let command, let version, let intent):
            finishBringingBack(command, version, intent, results, into: &effects)
        case .transaction, .scan, .inspection, .moveCheck, .rootCheck, .batchRootCheck, .hashing, .ignoreFiles,
            .readingSave, .readingHeader, .readingStagedHeader, .readingKept, .stageList, .serving, .nothing:
            break
        }
    }
}

extension DiskProgram {
    /// Nothing is owed if it fails: a directory that may not be empty, or what the next start sweeps just as well.
    fileprivate var isAttempt: Bool {
        guard let only = operations.first, operations.count == 1 else { return false }
        if case .removeDirectory = only { return true }
        if case .discard = only { return true }
        return false
    }

    fileprivate var firstSync: Int {
        let first = operations.firstIndex { operation in
            if case .syncFile = operation { return true }
            if case .syncParent = operation { return true }
            return false
        }
        return first ?? operations.count
    }
}

extension DiskError {
    /// So fails what gives a file its name where there is no directory for it.
    var isOfMissingDirectory: Bool { self == .notFound || self == .notDirectory }
}

extension Intent {
    /// What makes room is a directory.
    fileprivate var isReplacingDirectory: Bool {
        if case .place = action { displaced == nil && expected?.kind == .directory } else { false }
    }

    fileprivate var isMovingDirectory: Bool {
        guard case .rename(let from) = action, from != path else { return false }
        return expected?.kind == .directory
    }

    fileprivate func repeats(_ earlier: Intent) -> Bool {
        path == earlier.path && action == earlier.action && version?.id == earlier.version?.id
    }

    fileprivate var version: KeptVersion? {
        switch displaced {
        case .version(let version)?, .quarantine(let version)?: version
        case .conflictCopy?, nil: nil
        }
    }
}
