import SyncModel

/// What is found halfway is finished or taken back, so that no crash looks like something that people have done.
extension Node {
    mutating func repair(
        _ intent: Intent, _ atPath: Stat?, _ inStage: Stat?, _ aside: Stat?, _ findings: inout RecoveryState.Findings
    ) -> [DiskProgram] {
        var programs: [DiskProgram] = []
        if let back = takingBack(moveOf: intent, atPath) { programs.append(back) }
        if let inStage {
            // (A cut may have left a file both its names: the one that was to make room, or the one that was put in its place.)
            let isElsewhere = [aside?.identity, atPath?.identity].contains(inStage.identity)
            if isOurs(inStage, intent), wasPutInto(inStage, intent), let refuge = refuge(for: intent.path) {
                // It stood in the tree for a moment.
                let (staged, place) = (Place.stage(intent.stage), Place.tree(refuge))
                findings.rescued.append(refuge)
                programs.append(DiskProgram([.move(staged, to: place), .syncParent(place)]))
                programs.append(DiskProgram([.removeDirectory(place)]))
            } else if findings.isToBePlaced(intent.stage) {
                var synced = SortedMap<Path, Bool>()
                let names = syncsOfNames(leadingTo: intent.path, besides: &synced)
                programs.append(DiskProgram([.move(.stage(intent.stage), to: .tree(intent.path))] + names))
            } else if let left = left(by: intent, inStage) {
                findings.done[intent.stage] = nil
                findings.left.append(left)
            } else if isOurs(inStage, intent) || isElsewhere || isWrittenAnew(inStage, intent) {
                programs.append(DiskProgram([.discard(.stage(intent.stage))]))
            } else {
                programs.append(moveOut(inStage, of: intent, atPath, isFree: aside == nil, &findings))
            }
        }
        if case .rename(let from) = intent.action {
            if from == intent.path {
                settleVersion(of: intent, aside, &findings)
                return programs
            }
            // (It was synced under the new name, wherever it is now.)
            if let expected = intent.expected { for path in [from, intent.path] { noteUnwritten(path, expected) } }
        }
        if intent.action == .remove, let atPath, intent.expected?.isSameFile(as: atPath) == true {
            noteUnwritten(intent.path, atPath)
        }
        guard let aside, let expected = intent.expected else { return programs }
        switch intent.displaced {
        case .version(let version)?, .quarantine(let version)?:
            if aside.isSameContent(as: expected) {
                findings.versions.append(version.with(stat: aside))
            } else if isRemains(aside, of: expected) {
                noteRemains(aside, of: version, &findings)
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
    mutating func noteUnwritten(_ path: Path, _ stat: Stat) {
        if stat.kind == .file, watch.unwritten.count < limits.notedPathsMax { watch.unwritten[path] = stat.identity }
    }

    /// It was to take the place of a version that might not be on the disk (`Node.Replacing`), and that has not come out of its place.
    private func isWrittenAnew(_ inStage: Stat, _ intent: Intent) -> Bool {
        guard case .rename(from: intent.path) = intent.action else { return false }
        return inStage.kind == .file && inStage.identity != intent.expected?.identity
    }

    /// A version was on its way back into the tree, or to be written anew. (What took its place, or went on beside it, and has been written to since
    /// then, goes on record as it was before: from that the late look tells. In no history, nothing would ever look at it.)
    private func settleVersion(of intent: Intent, _ aside: Stat?, _ findings: inout RecoveryState.Findings) {
        switch intent.displaced {
        case .version(let version)?, .quarantine(let version)?:
            guard let aside else {
                // (Or to be put there in the first place, and the repair does that.)
                let isOnItsWay = findings.versions.contains { $0.id == version.id }
                if !isOnItsWay { findings.givenBack.append(version.id) }
                return
            }
            guard let expected = intent.expected else { return }
            if aside.isSameContent(as: expected) {
                findings.versions.append(version.with(stat: aside))
            } else if isRemains(aside, of: expected) {
                noteRemains(aside, of: version, &findings)
            } else if aside.identity == expected.identity {
                findings.versions.append(version.with(stat: expected))
            }
        case .conflictCopy?, nil: break
        }
    }

    /// A directory that was to move for the peer, and has, while no row says so: a look would take it for a person's move. It
    /// goes back, and the peer's entry is read once more.
    func takingBack(moveOf intent: Intent, _ atPath: Stat?) -> DiskProgram? {
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

    /// It cannot go back: somebody has moved or removed the directory that it came from, or put something in its place. Then it has moved, as the
    /// peer wants it. To a look it would be gone there and new here, which nobody has done: what the peer has written in it since would meet
    /// it as another's. (The peer's entry comes again, and says nothing new then.)
    private func leftThere(
        by intent: Intent, _ repair: DiskProgram, _ failure: DiskResult.Failure
    ) -> RecoveryState.LeftThere? {
        guard case .rename(let from) = intent.action, case .expectIdentity? = repair.operations.first,
            failure.index < repair.firstSync, let origin = intent.shown?.origins.content,
            let identity = intent.expected?.identity
        else { return nil }
        let move = Relocation(
            from: from, to: intent.path, origin: origin, seenPeer: .none, summary: SubtreeSummary.Contents())
        return RecoveryState.LeftThere(move: move, identity: identity)
    }

    /// The file we staged, and nobody has written to it since: only then may it be thrown away.
    func isOurs(_ stat: Stat, _ intent: Intent) -> Bool {
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
    func isMade(_ stat: Stat, _ entry: Entry) -> Bool {
        entry.content.isDirectory && stat.kind == .directory
    }

    func shows(_ stat: Stat, _ entry: Entry) -> Bool {
        stat.modified.mayStand(for: entry.modified) && (stat.kind == .symlink || stat.mode == entry.mode)
    }

    /// The file was there before and still has its old time: a time that may stand for the new one, where file systems keep
    /// less, may as well be one that nobody has set yet.
    func isAsBefore(_ stat: Stat, _ intent: Intent) -> Bool {
        guard let expected = intent.expected, case .place(_, let entry) = intent.action else { return false }
        return stat.identity == expected.identity && stat.modified == expected.modified
            && stat.modified != entry.modified
    }

    /// In the stage as well: what was finished for an earlier version was to get the time of this one on its way out.
    func isFinished(_ inStage: Stat, _ entry: Entry, _ intent: Intent) -> Bool {
        let lacksItsTime = inStage.modified == intent.stagedTime && inStage.modified != entry.modified
        return shows(inStage, entry) && !lacksItsTime
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
                return moving(staged, to: version.place, inStage)
            case .conflictCopy(let path)?:
                findings.looks.append(path)
                noteUnwritten(path, inStage)
                return moving(staged, to: .tree(path), inStage)
            case nil:
                break
            }
        }
        if let expected = intent.expected, intent.displaced != nil, isRemains(inStage, of: expected) {
            guard let version = intent.version, isFree else { return DiskProgram([.discard(staged)]) }
            noteRemains(inStage, of: version, &findings)
            return DiskProgram([.move(staged, to: version.place), .syncParent(version.place)])
        }
        guard inStage.kind != .directory else {
            return bringBack(directoryOf: intent, atPath, &findings)
        }
        if case .conflictCopy(let path)? = intent.displaced, isFree, inStage.identity == intent.expected?.identity {
            // Written to on its way there, or when it was there: a power cut takes a rename back, and not what was synced since.
            findings.looks.append(path)
            noteUnwritten(path, inStage)
            return moving(staged, to: .tree(path), inStage)
        }
        guard let refuge = refuge(for: intent.path) else { return DiskProgram() }
        findings.rescued.append(refuge)
        return DiskProgram([.move(staged, to: .tree(refuge)), .syncParent(.tree(refuge))])
    }

    /// Whoever wrote it may not have synced it.
    private func moving(_ staged: Place, to place: Place, _ stat: Stat) -> DiskProgram {
        let sync: [DiskOperation] = stat.kind == .file ? [.syncFile(place)] : []
        return DiskProgram([.move(staged, to: place)] + sync + [.syncParent(place)])
    }

    /// Nothing is what a power cut has left of the file that had to make room, because nobody had synced it.
    private func isRemains(_ found: Stat, of expected: Stat) -> Bool {
        record.distrustSince != nil && found.identity == expected.identity && found.kind == .file && found.size == 0
            && expected.size > 0
    }

    /// It stays where the version was to be, whatever that says: moved elsewhere, it would be in no history if the process ended before
    /// that is stored, for the next start looks for it here. (Of the loser of a conflict nothing is left to choose from.)
    private func noteRemains(
        _ remains: Stat, of version: KeptVersion, _ findings: inout RecoveryState.Findings
    ) {
        let content = Content.file(ContentID(ChunkList().contentID(by: digest)), size: 0)
        let entry = Entry(content: content, mode: remains.mode, modified: remains.modified)
        findings.versions.append(
            KeptVersion(
                id: version.id, path: version.path, entry: entry, stat: remains, author: version.author,
                keptMilliseconds: version.keptMilliseconds, reason: version.reason,
                isQuarantined: version.isQuarantined))
    }

    /// An empty directory that was to be replaced, or one that still has children and must come back. What somebody has
    /// put in its place since makes room: whatever ended up in the stage would be swept.
    private mutating func bringBack(
        directoryOf intent: Intent, _ atPath: Stat?, _ findings: inout RecoveryState.Findings
    ) -> DiskProgram {
        let (staged, place) = (Place.stage(intent.stage), Place.tree(intent.path))
        findings.returned.append(intent.path)
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
            // (What is read first is swept at some time to come. All of it is noted: the list is in memory, and no longer than what is staged at
            // a time.)
            let spares = SortedMap(recovery.findings.spares.map { ($0.name, true) })
            for file in recovery.staged ?? [] {
                let identity = file.stat.identity
                watch.swept[identity] = WatchState.Swept(
                    stat: watch.swept[identity]?.stat ?? file.stat,
                    untilMilliseconds: spares.contains(key: file.name) ? .max : now.wallMilliseconds)
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
        // A directory that could not be taken back stays where it is. At the next start it would be taken back from there, whatever has
        // become of it by then.
        let moves = SortedMap((recovery.intents ?? []).filter(\.isMovingDirectory).map { ($0.stage, $0) })
        for ((owner, repair), result) in zip(zip(recovery.findings.owners, recovery.findings.repairs), results) {
            guard let owner, let failure = result.failure, let intent = moves[owner],
                let left = leftThere(by: intent, repair, failure)
            else { continue }
            recovery.findings.leftThere.append(left)
        }
        for (owner, result) in zip(recovery.findings.owners, results) {
            guard let owner, let failure = result.failure, !moves.contains(key: owner) else { continue }
            let unplaced = recovery.findings.placed.first { $0.stage == owner }
            recovery.findings.placed.removeAll { $0.stage == owner }
            if let unplaced, let left = left(unplaced), failure.index == 0 {
                recovery.findings.done[owner] = nil
                recovery.findings.left.append(left)
            } else if unplaced != nil, failure.error.isOfMissingDirectory {
                // It will be sent once more.
                plan.abandoned.append(owner)
            } else {
                recovery.findings.done[owner] = nil
            }
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

    /// Where the directory of what had come out of its place is gone, or has become something else, it goes to the top of the folder, as a late
    /// writer's file does: in the stage nobody would find it, nor what is in it. True if there is any.
    private mutating func repairAtTheTop(_ results: [DiskResult], into effects: inout Effects) -> Bool {
        let failed = zip(zip(recovery.findings.owners, recovery.findings.repairs), results)
        var owners: [StageName?] = []
        var repairs: [DiskProgram] = []
        for ((owner, repair), result) in failed {
            guard let owner, !recovery.findings.left.contains(where: { $0.staged.name == owner }),
                let failure = result.failure, failure.index == 0, failure.error.isOfMissingDirectory,
                case .move(let staged, to: .tree(let path))? = repair.operations.first,
                ConflictName.isConflictCopy(path) || isBringingBack(owner, to: path), path.depth > 1,
                let name = path.name,
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

    /// A directory that was to make room, and still holds something.
    private func isBringingBack(_ owner: StageName, to path: Path) -> Bool {
        recovery.intents?.contains { $0.stage == owner && $0.path == path && $0.isReplacingDirectory } == true
    }
}

extension DiskProgram {
    /// Nothing is owed if it fails: a directory that may not be empty, or what the next start sweeps just as well.
    var isAttempt: Bool {
        guard let only = operations.first, operations.count == 1 else { return false }
        if case .removeDirectory = only { return true }
        if case .discard = only { return true }
        return false
    }

    fileprivate var firstSync: Int {
        operations.firstIndex(where: \.isSync) ?? operations.count
    }
}

extension DiskError {
    /// So fails what gives a file its name where there is no directory for it.
    var isOfMissingDirectory: Bool { self == .notFound || self == .notDirectory }
}

extension Intent {
    /// What makes room is a directory.
    var isReplacingDirectory: Bool {
        if case .place = action { displaced == nil && expected?.kind == .directory } else { false }
    }

    var isMakingDirectory: Bool {
        if case .place(_, let entry) = action { entry.content.isDirectory } else { false }
    }

    var isMovingDirectory: Bool {
        guard case .rename(let from) = action, from != path else { return false }
        return expected?.kind == .directory
    }

    func repeats(_ earlier: Intent) -> Bool {
        path == earlier.path && action == earlier.action && version?.id == earlier.version?.id
    }
}
