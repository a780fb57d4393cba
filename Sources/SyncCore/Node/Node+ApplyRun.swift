import SyncModel

/// A batch is run, what came out of its places is judged, and what was not expected goes back; then names are made durable.
extension Node {
    mutating func runBatch(into effects: inout Effects) {
        guard let batch = apply.batch else { return }
        effects.add(.disk(newJob(.applying), batch.items.map(\.program)))
    }

    mutating func finishBatch(_ results: [DiskResult], into effects: inout Effects) {
        guard var batch = apply.batch else { return }
        for (index, result) in zip(batch.items.indices, results) {
            let item = batch.items[index]
            guard let failure = result.failure else {
                batch.items[index].outcome = .done(result.inspected)
                continue
            }
            if failure.index >= item.lastLook, item.step != .makeDirectory {
                // All is done; only what it looks like now could not be seen. (A directory is undone: nobody could tell
                // it from a person's.)
                let unseen = [Stat?](repeating: nil, count: item.program.operations.count - failure.index)
                batch.items[index].outcome = .done(result.inspected + unseen)
                continue
            }
            batch.items[index].performed = failure.index
            batch.items[index].leftAgain = isUnharmed(item, failure) ? item.task.stage?.stat : nil
            let isRace = failure.error == .mismatch || failure.error == .exists
            batch.items[index].outcome = isRace ? .raced : .failed(failure.error)
            if failure.error == .exists, failure.index == item.turningPoint + 1,
                case .conflictCopy(let copy)? = item.displaced
            {
                if apply.occupied.count < 1_024 { apply.occupied[copy] = true }
            }
            if failure.index >= item.turningPoint, item.undo != nil {
                batch.undoing.append(index)
                if item.step == .makeDirectory { watch.noteUnmade(item.task.path) }
            }
            if failure.error == .inputOutput, case .syncFile(.tree) = item.program.operations[failure.index] {
                batch.items[index].isUnwritten = true
            }
            batch.items[index].isAsExpected = item.program.operations.prefix(failure.index).contains { operation in
                if case .expectContent(.stage, _) = operation { true } else { false }
            }
        }
        apply.batch = batch
        if batch.undoing.isEmpty {
            finishDirectories(into: &effects)
        } else {
            let programs = batch.undoing.compactMap { batch.items[$0].takingBack }
            effects.add(.disk(newJob(.undoing), programs))
        }
    }

    /// What could not be finished is put back. If another hand was faster still, its file is in our stage now.
    mutating func finishUndo(_ results: [DiskResult], into effects: inout Effects) {
        guard var batch = apply.batch else { return }
        let undone = Array(zip(batch.undoing, results))
        // A look that failed must not keep a file from going back.
        batch.undoingBlindly = undone.filter { looksFirst(batch.items[$0]) && $1.failure?.index == 0 }.map(\.0)
        judge(undone.filter { !batch.undoingBlindly.contains($0.0) }, &batch)
        apply.batch = batch
        if batch.undoingBlindly.isEmpty {
            giveWay(into: &effects)
        } else {
            let programs = batch.undoingBlindly.compactMap { batch.items[$0].takingBack?.operations.dropFirst() }
            effects.add(.disk(newJob(.undoingBlindly), programs.map { DiskProgram(Array($0)) }))
        }
    }

    private func looksFirst(_ item: AppliedItem) -> Bool {
        if case .inspect? = item.undo?.operations.first { true } else { false }
    }

    mutating func finishBlindUndo(_ results: [DiskResult], into effects: inout Effects) {
        guard var batch = apply.batch else { return }
        let unseen = results.map { result in
            DiskResult(
                inspected: [nil] + result.inspected,
                failure: result.failure.map { DiskResult.Failure(index: $0.index + 1, error: $0.error) })
        }
        judge(Array(zip(batch.undoingBlindly, unseen)), &batch)
        apply.batch = batch
        giveWay(into: &effects)
    }

    /// A file that was seen under its new name is not there any more: somebody has given it another, perhaps its old one again, or taken it away.
    private func hasMovedOn(_ item: AppliedItem, _ result: DiskResult) -> Bool {
        guard item.performed > item.turningPoint, let failure = result.failure, failure.index == 1 else { return false }
        return failure.error == .mismatch || failure.error.isOfMissingDirectory
    }

    private mutating func judge(_ undone: [(Int, DiskResult)], _ batch: inout RunningBatch) {
        for (index, result) in undone {
            let item = batch.items[index]
            guard case .place(let identity?, _) = item.intent.action else {
                guard result.failure != nil else { continue }
                if item.step == .makeDirectory {
                    batch.items[index].standing = result.inspected.first ?? nil
                    if batch.items[index].standing == nil, result.failure?.error != .notFound {
                        // It stands there, nobody has seen it, and a look would take it for a person's. The next start knows it by the intent.
                        batch.items[index].keepsIntent = true
                        timers.mustStop = true
                    }
                }
                // It has its old name again, and somebody is at it there: what it shows is his.
                if case .rename = item.intent.action, let undo = item.undo, let failure = result.failure,
                    failure.index >= undo.operations.count
                {
                    continue
                }
                if case .rename = item.intent.action, let stat = result.inspected.first ?? nil,
                    stat.identity == item.intent.expected?.identity
                {
                    batch.items[index].stranded = stat
                } else if case .rename = item.intent.action, hasMovedOn(item, result) {
                    batch.items[index].stranded = item.intent.expected
                }
                guard case .remove = item.intent.action else { continue }
                // Its name was taken again in that moment, or the disk failed once more. It is history, but in none until a start has put it there,
                // and who writes to it meanwhile writes to what nobody looks at.
                if !item.makesCopy, item.isAsExpected || isExpected(result, item) {
                    batch.items[index].keepsIntent = true
                    timers.mustStop = true
                } else if let name = result.failure?.error == .exists ? refuge(for: item.task.path) : item.task.path {
                    batch.items[index].rescuedTo = name
                    batch.items[index].inStage = result.inspected.first ?? nil
                    batch.rescuing.append(index)
                }
                continue
            }
            let inStage = result.inspected.dropFirst().first ?? nil
            let isOurs = inStage?.identity == identity && isAsStaged(inStage, item)
            guard result.failure != nil || !isOurs else {
                // The exchange was undone.
                batch.items[index].leftAgain = mayBeLeft(by: item.intent) == nil ? nil : inStage
                continue
            }
            let isHistory = !item.makesCopy && (item.isAsExpected || isExpected(result, item))
            if let failure = result.failure, failure.index > 2 {
                // Undone; only what is to be done with the directory that came out is open.
                guard failure.error == .notEmpty || failure.error == .mismatch else {
                    batch.items[index].keepsIntent = true
                    timers.mustStop = true
                    continue
                }
            } else if let failure = result.failure, failure.index > 1 || isHistory {
                // The exchange cannot be undone, or not be seen to be; nothing is owed to the tree. What is in the stage is for the next start, as
                // above.
                batch.items[index].keepsIntent = true
                batch.items[index].isInPlace = failure.index <= 1 && failure.error != .notFound
                timers.mustStop = true
                continue
            }
            if let failure = result.failure, failure.index <= 1, !item.makesCopy, isUnseen(result, item) {
                // Nobody knows what came out: history, or somebody's. The next start looks at it once more.
                batch.items[index].keepsIntent = true
                timers.mustStop = true
                continue
            }
            if item.step == .replaceDirectory, let error = result.failure?.error, error != .notFound {
                // A directory with all that is in it must not turn up under another name. The next start tries again.
                batch.items[index].keepsIntent = true
                timers.mustStop = true
                continue
            }
            if result.failure == nil, !isHistory, let inStage, inStage.kind != .directory,
                let back = result.inspected.first ?? nil, back.kind != .directory
            {
                batch.items[index].inStage = inStage
                batch.givingWay.append((index, back))
                continue
            }
            // Where ours was taken away in that moment the name is free, and what was there goes back to it.
            let isFree = result.failure?.error == .notFound
            // Where the exchange could not be undone, ours stands there, and a look would take it for a person's.
            batch.items[index].isInPlace = result.failure.map { $0.index <= 1 } == true && !isFree
            guard let refuge = isFree ? item.task.path : refuge(for: item.task.path) else { continue }
            batch.items[index].rescuedTo = refuge
            batch.items[index].inStage = result.failure == nil ? inStage : result.inspected.first ?? nil
            batch.rescuing.append(index)
        }
    }

    /// What came out of its place could not be put back, but was seen to be what was to make room.
    private func isExpected(_ result: DiskResult, _ item: AppliedItem) -> Bool {
        guard item.displaced != nil, let expected = item.intent.expected, let found = result.inspected.first
        else { return false }
        return found?.isSameContent(as: expected) == true
    }

    /// Neither the program nor what was to undo it could look at what came out of its place.
    private func isUnseen(_ result: DiskResult, _ item: AppliedItem) -> Bool {
        guard item.intent.expected != nil, case .failed(.inputOutput) = item.outcome else { return false }
        return (result.inspected.first ?? nil) == nil
    }

    /// Somebody has saved over ours before that was taken back: what he saved is in the stage, and newer than what has gone back to its name. It
    /// takes that name once more, unless somebody is at that by now; the other goes on beside it.
    private mutating func giveWay(into effects: inout Effects) {
        guard let batch = apply.batch, !batch.givingWay.isEmpty else { return runRescues(into: &effects) }
        let programs = batch.givingWay.map { index, back in
            let (staged, place) = (Place.stage(batch.items[index].intent.stage), batch.items[index].task.path)
            return DiskProgram([
                .expectContent(.tree(place), back), .exchange(staged, .tree(place)), .inspect(staged),
            ])
        }
        effects.add(.disk(newJob(.givingWay), programs))
    }

    mutating func finishGivingWay(_ results: [DiskResult], into effects: inout Effects) {
        guard var batch = apply.batch else { return }
        for ((index, back), result) in zip(batch.givingWay, results) {
            let isExchanged = result.failure.map { $0.index > 1 } ?? true
            if isExchanged { batch.items[index].inStage = (result.inspected.first ?? nil) ?? back }
            guard let refuge = refuge(for: batch.items[index].task.path) else { continue }
            batch.items[index].rescuedTo = refuge
            batch.rescuing.append(index)
        }
        batch.givingWay = []
        apply.batch = batch
        runRescues(into: &effects)
    }

    private mutating func runRescues(into effects: inout Effects) {
        guard let batch = apply.batch, !batch.rescuing.isEmpty else {
            finishDirectories(into: &effects)
            return
        }
        let moves = batch.rescuing.map { index in
            let item = batch.items[index]
            return DiskProgram([.move(.stage(item.intent.stage), to: .tree(item.rescuedTo ?? item.task.path))])
        }
        let parents = batch.rescuing.flatMap { parentsMadeAnew(for: batch.items[$0]) }
        effects.add(.disk(newJob(.rescuing), parents + moves))
    }

    /// Its directory went in that very moment with all that was in it, but not with this. (It may be another file than the one that was to
    /// make room: a person was faster.)
    private func parentsMadeAnew(for item: AppliedItem) -> [DiskProgram] {
        guard item.needsParents, let found = item.inStage ?? item.intent.expected else { return [] }
        let staged = Place.stage(item.intent.stage)
        return sequence(first: item.task.path, next: \.parent).dropFirst().filter { !$0.isRoot }.reversed().map {
            parent in
            DiskProgram([
                .expectIdentity(staged, found.identity, found.kind), .createDirectory(.tree(parent), mode: 0o755),
            ])
        }
    }

    /// Nobody has written to the file we staged since it was finished.
    private func isAsStaged(_ stat: Stat?, _ item: AppliedItem) -> Bool {
        guard let stat, let staged = item.task.stage else { return false }
        return stat.size == staged.stat.size || stat.kind == .directory
            ? stat.kind != .file || stat.modified == expectedTime(of: item) : false
    }

    func expectedTime(of item: AppliedItem) -> Timestamp {
        guard let staged = item.task.stage, staged.entry.modified == item.wanted.entry.modified else {
            return item.wanted.entry.modified
        }
        return staged.stat.modified
    }

    mutating func finishRescue(_ results: [DiskResult], into effects: inout Effects) {
        guard var batch = apply.batch else { return }
        var again: [Int] = []
        let moves = results.suffix(batch.rescuing.count)
        // A directory that a failing disk did not make may be made by the next try: only what has become something else cannot.
        let isUnmade = results.dropLast(batch.rescuing.count).contains { $0.failure?.error == .inputOutput }
        if results.contains(where: { $0.failure?.error == .inputOutput }) { batch.rescues += 1 }
        for (index, result) in zip(batch.rescuing, moves) where result.failure != nil {
            let path = batch.items[index].task.path
            if result.failure?.error == .notFound, !batch.items[index].needsParents {
                batch.items[index].needsParents = true
                batch.items[index].rescuedTo = path
                again.append(index)
            } else if isUnmade, batch.rescues < RunningBatch.rescuesMax, result.failure?.error == .notFound {
                again.append(index)
            } else if result.failure?.error.isOfMissingDirectory == true,
                let refuge = refugeAtTheTop(for: batch.items[index])
            {
                // Its directory has become something else.
                batch.items[index].rescuedTo = refuge
                again.append(index)
            } else if result.failure?.error == .inputOutput, batch.rescues < RunningBatch.rescuesMax {
                again.append(index)
            } else if batch.items[index].rescuedTo == path, result.failure?.error != .inputOutput,
                let refuge = refuge(for: path)
            {
                // Its own name was taken while it was on its way back.
                batch.items[index].rescuedTo = refuge
                again.append(index)
            } else {
                // No history: its place is in the tree, and only the next start can put it there.
                batch.items[index].keepsIntent = true
                timers.mustStop = true
            }
        }
        batch.rescuing = again
        noteMadeAnew(&batch)
        apply.batch = batch
        runRescues(into: &effects)
    }

    /// For a file whose own directory cannot have it; nil if it was to go there already.
    private mutating func refugeAtTheTop(for item: AppliedItem) -> Path? {
        guard let name = item.task.path.name, let path = item.rescuedTo, path.depth > 1,
            item.intent.expected?.kind != .directory
        else { return nil }
        return refuge(for: Path.root.appending(name))
    }

    /// A directory that was made anew for what had to go back to it is not gone, and nobody's: left to a look, it would be a
    /// person's.
    private func noteMadeAnew(_ batch: inout RunningBatch) {
        let back = batch.items.filter(\.needsParents).compactMap(\.rescuedTo)
        for index in batch.items.indices where batch.items[index].step == .removeDirectory {
            let (path, isDone) = (batch.items[index].task.path, batch.items[index].outcome.isDone)
            if isDone, back.contains(where: { $0.isBelow(path) }) { batch.items[index].outcome = .failed(.notEmpty) }
        }
    }

    /// A free name for a file that turned up where nobody expected one: like a conflict copy of this node, made now.
    mutating func refuge(for path: Path) -> Path? {
        let time = clock.tick(wallMilliseconds: now.wallMilliseconds)
        let mark = Content.symlink(path.bytes + ByteWriter.bytes(of: time.raw))
        return ConflictName.path(for: path, losing: mark, node: record.name, time: time)
    }

    /// Directories keep the times they had, and all names of this batch reach stable storage.
    private mutating func finishDirectories(into effects: inout Effects) {
        guard let batch = apply.batch else { return }
        var made = SortedMap<Path, FileIdentity>()
        var gone = SortedMap<Path, Bool>()
        for item in batch.items {
            guard case .done(let stats) = item.outcome else { continue }
            if !item.wanted.entry.content.isDirectory {
                gone[item.task.path] = true
            } else if let stat = stats.first ?? nil {
                made[item.task.path] = stat.identity
            }
        }
        let timed = batch.parents.filter { parent, _ in !gone.contains(key: parent) }.compactMap { parent, time in
            (made[parent] ?? batch.parentStats[parent]?.identity).map { (path: parent, identity: $0, time: time) }
        }
        apply.batch?.timed = timed
        let programs = timed.map { parent, identity, time in
            let place = Place.tree(parent)
            return DiskProgram([
                .expectIdentity(place, identity, .directory), .setModified(place, time), .syncFile(place),
                .inspect(place),
            ])
        }
        var syncs: [DiskOperation] = []
        var synced = SortedMap<Path, Bool>()
        var asides: [Place] = []
        // A directory that was taken away again holds no names: that it is gone is all that has to last.
        let unmade = batch.undoing.map { batch.items[$0] }.filter(\.isUnmade).map(\.task.path)
        // What was put back must last as well, or a restart finds it in the stage and no intent to say whose it is.
        for (index, item) in batch.items.enumerated() where item.outcome.isDone || batch.undoing.contains(index) {
            for path in item.paths {
                let last = unmade.first { path.isBelow($0) } ?? path
                syncs += syncsOfNames(leadingTo: last, besides: &synced)
            }
            guard item.outcome.isDone else { continue }
            switch item.displaced {
            case .version(let version)?, .quarantine(let version)?:
                asides.append(version.place)
                // Whoever wrote it may not have synced it, and nobody else need have it: history is promised like a name.
                if version.entry.content.kind == .file { syncs.append(.syncFile(version.place)) }
            case .conflictCopy(let copy)?:
                if item.task.stat?.kind == .file { syncs.append(.syncFile(.tree(copy))) }
            case nil: break
            }
            // That the directory is gone for good: a power cut would give it back, in the stage, with what had been in it.
            if item.step == .replaceDirectory { syncs.append(.syncParent(.stage(item.intent.stage))) }
        }
        for isQuarantine in [false, true] {
            if let place = asides.first(where: { $0.isQuarantine == isQuarantine }) { syncs.append(.syncParent(place)) }
        }
        apply.batch?.syncs = syncs
        // Each for itself: a directory that is gone by now must not keep the others from their syncs.
        effects.add(.disk(newJob(.syncing), programs + syncs.map { DiskProgram([$0]) }))
    }

    /// A name is as durable as the names that lead to it, and users make and move directories too. Each directory once.
    func syncsOfNames(leadingTo path: Path, besides synced: inout SortedMap<Path, Bool>) -> [DiskOperation] {
        var syncs: [DiskOperation] = []
        var next = path
        while let parent = next.parent, synced.updateValue(true, forKey: parent) == nil {
            syncs.append(.syncParent(.tree(next)))
            next = parent
        }
        return syncs
    }

    mutating func finishSync(_ results: [DiskResult], into effects: inout Effects) {
        guard var batch = apply.batch else { return }
        let failed = zip(batch.syncs, results.dropFirst(batch.timed.count)).filter { sync, result in
            result.failure.map { $0.error != .notFound && $0.error != .notDirectory } ?? false
        }
        if failed.contains(where: { sync, result in !noteUnwritten(sync, result, in: &batch) }) {
            // Names that may not be on the disk must not be promised, and a second try could lie. Restart from what is durable.
            finish(.diskFailed, into: &effects)
            return
        }
        batch.parentStats.removeAll()
        for ((parent, identity, time), result) in zip(batch.timed, results) {
            if let found = result.inspected.first, let stat = found, result.failure == nil,
                stat.identity == identity, stat.modified.mayStand(for: time)
            {
                batch.parentStats[parent] = stat
            } else {
                // Somebody else was at it: that is for a look to see, and must differ from what the row says.
                look(afterBatch: parent)
            }
        }
        apply.batch = batch
        effects.add(.inspect(newJob(.batchRootCheck), []))
    }

    /// A copy that stands in the tree is written anew from there. False for any other failure of a sync.
    func noteUnwritten(_ sync: DiskOperation, _ result: DiskResult, in batch: inout RunningBatch) -> Bool {
        guard case .syncFile(.tree(let copy)) = sync, result.failure?.error == .inputOutput,
            let index = batch.items.firstIndex(where: { $0.displaced == .conflictCopy(copy) })
        else { return false }
        batch.items[index].isUnwritten = true
        return true
    }

    /// If another folder has taken the place of ours, nobody can tell what of this was done where: what is written down as
    /// done and is not found when ours is back would count as deleted. Restart from what is durable. So it is with the repairs of a
    /// recovery, which have no batch.
    mutating func finishRootCheck(of root: RootState) {
        guard root == .healthy else {
            timers.mustStop = true
            return
        }
        if phase == .recovering { enqueue(.settleRecovery(recovery.findings)) }
        guard let batch = apply.batch else { return }
        apply.isTransacting = true
        enqueue(.commit(batch.items, parents: batch.parentStats))
    }
}
