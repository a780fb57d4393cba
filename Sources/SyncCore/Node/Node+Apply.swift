import SyncModel

/// The apply protocol: from ready tasks to a folder that shows what is wanted, without a moment in which a crash or a user's
/// save could lose anything.
///
/// Per batch: intents are stored → one disk job exchanges or moves each file into place and looks at what came out → what was
/// not expected goes back → directories are synced → one store batch: rows, versions, log, minus intents. Only then is
/// anything acknowledged. Displaced content is in `versions/` or under the name of a conflict copy before the rows say so.
struct ApplyState: Sendable {
    var batch: RunningBatch?
    /// Paths of tasks that are being prepared or run, and the directories above them whose time they change.
    var writing = SortedMap<Path, Bool>()
    /// Places a restored version is on its way to, and files on their way out because a person said so.
    var restoring = SortedMap<Path, Bool>()
    /// The versions that are on their way there.
    var givingBack = SortedMap<VersionID, Bool>()
    /// Both ends of a directory move that is being carried out: everything below is on the move.
    var moving: [Path] = []
    /// Files that will be renamed by a task of another path.
    var adopted = SortedMap<Path, Bool>()
    /// Rows that have to be told why they wait.
    var blocked = SortedMap<Path, MessageCode>()
    /// Names for conflict copies that turned out to be taken.
    var occupied = SortedMap<Path, Bool>()
    /// Displaced files to look at once more, in order of time.
    var late = Deque<LateLook>()
    /// The batch is being prepared or committed by a transaction.
    var isTransacting = false

    /// A content refused more often than this is taken for lost.
    static let triesForLost = 4

    var isIdle: Bool { batch == nil && !isTransacting && blocked.isEmpty }

    func touches(_ path: Path) -> Bool {
        writing.contains(key: path) || adopted.contains(key: path) || restoring.contains(key: path)
            || moving.contains { path == $0 || path.isBelow($0) }
    }

    func touchesBelow(_ directory: Path) -> Bool {
        writing.contains { $0.key == directory || $0.key.isBelow(directory) }
            || adopted.contains { $0.key == directory || $0.key.isBelow(directory) }
    }
}

/// One batch on its way through the disk.
struct RunningBatch: Sendable {
    var items: [AppliedItem] = []
    /// What the path of each item is to become.
    private(set) var wanted = SortedMap<Path, Entry>()
    /// Directories of this batch that take a file's place.
    private(set) var exchanged: [Path] = []
    /// Directories below the root whose names change, with the time they are to keep.
    var parents = SortedMap<Path, Timestamp>()
    var parentStats = SortedMap<Path, Stat>()
    /// The directories whose times are being put back, in the order of their programs.
    var timed: [(path: Path, identity: FileIdentity, time: Timestamp)] = []
    /// What is being synced behind them, each by a program of its own.
    var syncs: [DiskOperation] = []
    /// Items whose undo program runs, by index.
    var undoing: [Int] = []
    /// Items of those whose undo program runs again without looking first.
    var undoingBlindly: [Int] = []
    /// Items of which a stranger's file is on its way from the stage into the tree.
    var rescuing: [Int] = []

    mutating func add(_ item: AppliedItem) {
        items.append(item)
        wanted[item.task.path] = item.wanted.entry
        if case .replaceByDirectory = item.step { exchanged.append(item.task.path) }
    }
}

struct AppliedItem: Sendable {
    let task: PlanState.Errand
    /// What this batch decided, from the row as it was when the batch was made.
    let wanted: Resolution
    let step: Reconciler.Step
    let intent: Intent
    let displaced: Intent.Displaced?
    let program: DiskProgram
    /// From this operation on the tree has changed.
    let turningPoint: Int
    let undo: DiskProgram?
    /// What the rename of another path's file applies there.
    var sourceVersion = VersionVector.none
    var outcome = Outcome.running
    /// Where a stranger's file was put that ended up in our stage.
    var rescuedTo: Path?
    /// Something is still in the stage that only the next restart can sort out.
    var keepsIntent = false
    /// What we have put there stands there and cannot be taken back; what made room is in the stage.
    var isInPlace = false
    /// A directory that was to be made and then, because that could not be finished, to be removed; neither could be done.
    var standing: Stat?
    /// A file that has its new name and could not be given the old one again.
    var stranded: Stat?
    /// What is to go back to its name finds no directory there any more.
    var needsParents = false
    /// What came out of its place has been seen to be what was expected there.
    var isAsExpected = false
    /// A file that stood in the tree before could not be synced.
    var isUnwritten = false

    enum Outcome: Sendable {
        case running
        /// With what its program inspected.
        case done([Stat?])
        case failed(DiskError)
        /// Somebody changed the file in the very moment; it is back where it was.
        case raced

        var isDone: Bool { if case .done = self { true } else { false } }
    }

    /// What has to make room goes on in the tree.
    var makesCopy: Bool { if case .conflictCopy? = displaced { true } else { false } }

    /// From this operation on the program only looks at what it has done.
    var lastLook: Int {
        let isLook = { (operation: DiskOperation) in if case .inspect = operation { true } else { false } }
        return (program.operations.lastIndex { !isLook($0) } ?? -1) + 1
    }

    /// The file that got another mode or time where it stands, as it is since.
    var adjusted: Stat? { step == .adjust ? retimed : nil }

    /// The same, and also a file that got another name.
    var retimed: Stat? {
        guard step == .adjust || task.adoptedFrom != nil, case .done(let stats) = outcome, let stat = stats.first ?? nil
        else { return nil }
        return stat.kind == .file ? stat : nil
    }

    /// All rows this item reads or writes.
    var paths: [Path] {
        var paths = [task.path]
        if let from = task.adoptedFrom?.path { paths.append(from) }
        if case .conflictCopy(let copy)? = displaced { paths.append(copy) }
        return paths
    }
}

extension Node {
    mutating func pumpApply(into effects: inout Effects) {
        if !apply.blocked.isEmpty, !apply.isTransacting, apply.batch == nil {
            let paths = apply.blocked.map(\.key)
            apply.isTransacting = true
            enqueue(.prepare(paths))
            return
        }
        guard isWorking, !record.isPaused, apply.batch == nil, !apply.isTransacting, incoming.relocation == nil
        else { return }
        let ready = plan.tasks.keys(limits.batchPathsMax) { $0.state == .ready }
        guard !ready.isEmpty else { return }
        apply.isTransacting = true
        enqueue(.prepare(ready))
    }

    /// Rows of the tasks, of what they rename, of the directories above, and of possible conflict copies.
    func prepareQueries(_ paths: [Path]) -> [StoreQuery] {
        let sources = paths.compactMap { plan.tasks[$0]?.adoptedFrom?.path }
        let copies = paths.compactMap { plan.tasks[$0]?.copy } + paths.compactMap { heldName(of: $0) }
        let guarded = paths.filter(isGuarded)
        let own = SortedMap((paths + sources + copies).map { ($0, true) }).map(\.key)
        let parents = SortedMap(own.compactMap(\.parent).filter { !$0.isRoot }.map { ($0, true) }).map(\.key)
        return [.rows(own), .rows(parents)] + guarded.map { .versions($0, limit: limits.batchPathsMax) }
    }

    mutating func prepare(_ paths: [Path], _ answers: inout Answers, into effects: inout Effects) {
        apply.isTransacting = false
        var rows = answers.rowsByPath()
        let parents = answers.rowsByPath()
        let kept = SortedMap(paths.filter(isGuarded).map { ($0, answers.versions()) })
        var store = Batch()
        noteBlocked(among: paths, rows, kept, in: &store, into: &effects)
        var running = RunningBatch()
        for path in ordered(paths) {
            guard isWorking, !record.isPaused, let task = plan.tasks[path], task.state == .ready, let row = rows[path]
            else {
                continue
            }
            if !mayWrite(task, into: &effects) {
                var waiting = row
                wait(&waiting, .lockHeld)
                put(waiting, replacing: row, in: &store, into: &effects)
                continue
            }
            if !mayApply(task, row, kept[path] ?? [], &rows, in: &store, into: &effects) { continue }
            if isInsideExchange(path, in: running) { continue }
            guard task.step.isRemoval || task.step == .adjust || hasParent(path, parents, in: running),
                let item = item(for: task, row, rows: rows)
            else {
                forget(task)
                continue
            }
            plan.tasks.update(path) { $0.state = .running }
            running.add(item)
            store.add(.putIntent(item.intent))
            for touched in item.paths { noteParent(of: touched, parents, in: &running) }
        }
        guard !running.items.isEmpty else {
            if !store.isEmpty { self.store(&store, into: &effects) }
            return
        }
        for item in running.items {
            for path in item.paths { apply.writing[path] = true }
            // The directory itself is in this batch: it keeps the time it is being given, or is none any more.
            guard running.parents.contains(key: item.task.path) else { continue }
            let isDirectory = item.wanted.entry.content.isDirectory
            running.parents[item.task.path] = isDirectory ? item.wanted.entry.modified : nil
        }
        running.parentStats = SortedMap(
            running.parents.keys.compactMap { path in parents[path]?.disk.map { (path, $0.stat) } })
        for (parent, _) in running.parents { apply.writing[parent] = true }
        // While a directory is out of its place for an exchange, nothing below it can be seen where it belongs.
        apply.moving = running.items.filter { $0.step == .replaceDirectory }.map(\.task.path)
        if !apply.moving.isEmpty { watch.taint() }
        apply.batch = running
        self.store(&store, then: .runBatch, into: &effects)
    }

    /// What would go into a directory that takes a file's place in this batch waits for the next: if the exchange has to be
    /// undone, all that is in the directory would leave its place with it.
    private func isInsideExchange(_ path: Path, in running: RunningBatch) -> Bool {
        running.exchanged.contains { path.isBelow($0) }
    }

    /// The directory above is there, or is made earlier in this batch.
    private func hasParent(_ path: Path, _ parents: RowMap, in running: RunningBatch) -> Bool {
        guard let parent = path.parent, !parent.isRoot else { return true }
        if running.wanted[parent]?.content.isDirectory == true { return true }
        guard let row = parents[parent], row.condition != .missing else { return false }
        return row.disk?.entry.content.isDirectory == true && plan.tasks[parent]?.step.isReplacingDirectory != true
    }

    /// Files that go come first, then what is made, parents before children, then directories that go, children first.
    private func ordered(_ paths: [Path]) -> [Path] {
        var removals: [Path] = []
        var makings: [Path] = []
        var directories: [Path] = []
        for path in paths.sorted() {
            switch plan.tasks[path]?.step {
            case .remove: removals.append(path)
            case .removeDirectory: directories.append(path)
            case .agree, .adjust, .place, .replace, .makeDirectory, .replaceByDirectory, .replaceDirectory:
                makings.append(path)
            case nil: break
            }
        }
        return removals.reversed() + makings + directories.reversed()
    }

    /// What was refused after the rows had been asked for waits for the next time.
    private mutating func noteBlocked(
        among paths: [Path], _ rows: RowMap, _ kept: SortedMap<Path, [KeptVersion]>, in batch: inout Batch,
        into effects: inout Effects
    ) {
        for path in paths {
            guard let reason = apply.blocked.removeValue(forKey: path), let old = rows[path] else { continue }
            var row = old
            if row.needsApply { wait(&row, reason) }
            if reason == .contentUnavailable, let waiting = row.waiting, waiting.tries > ApplyState.triesForLost,
                patiences(of: waiting) >= 1, incoming.isIdle
            {
                acceptLoss(&row, kept[path] ?? [], patiences: patiences(of: waiting), in: &batch)
            }
            put(row, replacing: old, in: &batch, into: &effects)
        }
    }

    /// A content that its own author no longer has, asked for again and again: a power cut took it before it came here.
    /// A node whose folder shows something whole says so anew. If none has, whoever has what a cut left of it says that; if
    /// there is nothing at all, its author does; and if he has not done so long after he would have, he does not know any more
    /// that he ever wrote it (his state was lost since, and this node put back to an image from before that).
    private mutating func acceptLoss(
        _ row: inout Row, _ kept: [KeptVersion], patiences: Int64, in batch: inout Batch
    ) {
        let lost = resolution(of: row)
        let version = row.version
        if let disk = row.disk, row.owesCopy, row.condition == .normal, row.format.map({ $0.isOf(lost.entry) }) == false
        {
            // A save that was held back against another state than the lost one is held on.
            assertAnew(&row, disk, kept, in: &batch)
            cancel(row.path)
        } else if let disk = row.disk, row.condition != .damaged || patiences >= 2 {
            revise(&row, to: disk.entry, stat: disk.stat, isReasserted: true, seeing: version, in: &batch)
            cancel(row.path)
        } else if row.disk == nil, patiences >= (lost.origins.content.author == .own ? 3 : 8) {
            var gone = lost.entry
            gone.content = .absent
            revise(&row, to: gone, stat: nil, isReasserted: true, seeing: version, in: &batch)
            cancel(row.path)
        }
    }

    private func noteParent(of path: Path, _ parents: RowMap, in running: inout RunningBatch) {
        guard let parent = path.parent, !parent.isRoot else { return }
        if let planned = running.wanted[parent] {
            running.parents[parent] = planned.modified
        } else if let disk = parents[parent]?.disk, disk.entry.content.isDirectory {
            running.parents[parent] = disk.entry.modified
        }
    }

    // MARK: Programs

    /// The program of a task, from the row as it is now. Nil if the task has been overtaken.
    private mutating func item(for task: PlanState.Errand, _ row: Row, rows: RowMap) -> AppliedItem? {
        let wanted = resolution(of: row)
        let step = reconciler.step(from: row, to: wanted)
        guard step == task.step || sameShape(step, task.step), row.disk?.stat == task.stat,
            row.condition != .missing, row.condition != .ignored,
            wanted.entry.content == task.wanted.entry.content
        else { return nil }
        if let source = task.adoptedFrom {
            guard let holder = rows[source.path], holder.disk?.stat == source.stat,
                resolution(of: holder).entry.isAbsent
            else { return nil }
            var item = adoption(task, wanted, from: source)
            item.sourceVersion = holder.version
            return item
        }
        switch step {
        case .agree: return nil
        case .adjust: return adjustment(task, wanted, step)
        case .place, .replace, .makeDirectory, .replaceByDirectory, .replaceDirectory:
            return making(task, wanted, step, row, rows)
        case .remove, .removeDirectory: return removal(task, wanted, step, row, rows)
        }
    }

    /// The same work, with another fate for what is displaced.
    private func sameShape(_ a: Reconciler.Step, _ b: Reconciler.Step) -> Bool {
        switch a {
        case .replace: if case .replace = b { true } else { false }
        case .replaceByDirectory: if case .replaceByDirectory = b { true } else { false }
        case .remove: if case .remove = b { true } else { false }
        case .agree, .adjust, .place, .makeDirectory, .replaceDirectory, .removeDirectory: false
        }
    }

    private mutating func adjustment(
        _ task: PlanState.Errand, _ wanted: Resolution, _ step: Reconciler.Step
    ) -> AppliedItem? {
        guard let stat = task.stat else { return nil }
        let place = Place.tree(task.path)
        // Files of a directory come and go in the same breath; only that it is this directory matters.
        var operations: [DiskOperation] = [
            stat.kind == .directory ? .expectIdentity(place, stat.identity, .directory) : .expect(place, stat)
        ]
        if stat.kind != .symlink { operations.append(.setMode(place, wanted.entry.mode)) }
        operations += [.setModified(place, wanted.entry.modified), .syncFile(place), .inspect(place)]
        let intent = Intent(
            stage: nextStage(), path: task.path, action: .place(stat.identity, wanted.entry), expected: stat,
            displaced: nil, shown: Intent.Shown(wanted))
        return AppliedItem(
            task: task, wanted: wanted, step: step, intent: intent, displaced: nil, program: DiskProgram(operations),
            turningPoint: operations.count, undo: nil)
    }

    private mutating func making(
        _ task: PlanState.Errand, _ wanted: Resolution, _ step: Reconciler.Step, _ row: Row, _ rows: RowMap
    ) -> AppliedItem? {
        let place = Place.tree(task.path)
        let entry = wanted.entry
        var operations: [DiskOperation] = []
        if case .makeDirectory = step {
            // One that could not be synced goes again: found by a look, it would count as applied.
            operations = [
                .expectAbsent(place), .createDirectory(place, mode: entry.mode), .setMode(place, entry.mode),
                .setModified(place, entry.modified), .syncFile(place), .inspect(place),
            ]
            let intent = Intent(
                stage: nextStage(), path: task.path, action: .place(nil, entry), expected: nil, displaced: nil,
                shown: Intent.Shown(wanted))
            return AppliedItem(
                task: task, wanted: wanted, step: step, intent: intent, displaced: nil,
                program: DiskProgram(operations), turningPoint: 2,
                undo: DiskProgram([.inspect(place), .removeDirectory(place)]))
        }
        guard let stage = task.stage else { return nil }
        let staged = Place.stage(stage.name)
        if stage.entry != entry {
            if entry.content.kind != .symlink { operations.append(.setMode(staged, entry.mode)) }
            operations += [.setModified(staged, entry.modified), .syncFile(staged)]
        }
        var displaced: Intent.Displaced?
        var undo: DiskProgram?
        var turningPoint = 0
        switch step {
        case .place:
            operations += [.expectAbsent(place), .move(staged, to: place), .inspect(place)]
            turningPoint = operations.count - 1
        case .replaceDirectory:
            turningPoint = operations.count + 1
            operations += [.exchange(staged, place), .removeDirectory(staged), .inspect(place)]
            undo = DiskProgram([.inspect(staged), .exchange(staged, place), .inspect(staged)])
        case .replace(let displacement), .replaceByDirectory(let displacement):
            guard let old = task.stat, let goal = destination(of: row, displacement, rows) else { return nil }
            displaced = goal
            operations += untouched(old, at: place)
            turningPoint = operations.count + 1
            operations += [
                .exchange(staged, place), .expectContent(staged, old),
                .move(staged, to: self.place(of: goal)), .inspect(place), .inspect(self.place(of: goal)),
            ]
            undo = DiskProgram([.inspect(staged), .exchange(staged, place), .inspect(staged)])
            // What somebody has put into our directory meanwhile must not vanish with it.
            if entry.content.isDirectory {
                undo?.operations += [
                    .expectIdentity(staged, stage.stat.identity, .directory), .removeDirectory(staged),
                ]
            }
        case .agree, .adjust, .makeDirectory, .remove, .removeDirectory:
            return nil
        }
        let intent = Intent(
            stage: stage.name, path: task.path, action: .place(stage.stat.identity, entry), expected: task.stat,
            displaced: displaced, stagedTime: stage.stat.modified, shown: Intent.Shown(wanted))
        return AppliedItem(
            task: task, wanted: wanted, step: step, intent: intent, displaced: displaced,
            program: DiskProgram(operations), turningPoint: turningPoint, undo: undo)
    }

    private mutating func removal(
        _ task: PlanState.Errand, _ wanted: Resolution, _ step: Reconciler.Step, _ row: Row, _ rows: RowMap
    ) -> AppliedItem? {
        let place = Place.tree(task.path)
        guard case .remove(let displacement) = step else {
            let intent = Intent(stage: nextStage(), path: task.path, action: .remove, expected: nil, displaced: nil)
            return AppliedItem(
                task: task, wanted: wanted, step: step, intent: intent, displaced: nil,
                program: DiskProgram([.removeDirectory(place)]), turningPoint: 1, undo: nil)
        }
        guard let old = task.stat, let goal = destination(of: row, displacement, rows) else { return nil }
        let intent = Intent(stage: nextStage(), path: task.path, action: .remove, expected: old, displaced: goal)
        let (staged, aside) = (Place.stage(intent.stage), self.place(of: goal))
        // Only what has been seen to be what was to go is a version: a save in that very moment goes back.
        let expectations = untouched(old, at: place)
        let operations: [DiskOperation] = [
            .move(place, to: staged), .expectContent(staged, old), .move(staged, to: aside), .inspect(aside),
        ]
        return AppliedItem(
            task: task, wanted: wanted, step: step, intent: intent, displaced: goal,
            program: DiskProgram(expectations + operations), turningPoint: expectations.count + 1,
            undo: DiskProgram([.inspect(staged), .move(staged, to: place)]))
    }

    /// What has to hold before anything takes the place of `old`. Who is writing would go on writing to what was displaced.
    private func untouched(_ old: Stat, at place: Place) -> [DiskOperation] {
        old.kind == .file ? [.expect(place, old), .expectUnheld(place)] : [.expect(place, old)]
    }

    private mutating func adoption(
        _ task: PlanState.Errand, _ wanted: Resolution, from source: (path: Path, stat: Stat)
    ) -> AppliedItem {
        let (here, there) = (Place.tree(task.path), Place.tree(source.path))
        let operations: [DiskOperation] = [
            .expect(there, source.stat), .expectAbsent(here), .move(there, to: here), .expectContent(here, source.stat),
            .setMode(here, wanted.entry.mode), .setModified(here, wanted.entry.modified), .syncFile(here),
            .inspect(here),
        ]
        let intent = Intent(
            stage: nextStage(), path: task.path, action: .rename(from: source.path), expected: source.stat,
            displaced: nil, shown: Intent.Shown(wanted))
        return AppliedItem(
            task: task, wanted: wanted, step: task.step, intent: intent, displaced: nil,
            program: DiskProgram(operations),
            // A save that took the name in that moment is where it belongs; only our own file goes back.
            turningPoint: 3,
            undo: DiskProgram([
                .inspect(here), .expectIdentity(here, source.stat.identity, source.stat.kind), .move(here, to: there),
            ]))
    }

    private func place(of displaced: Intent.Displaced) -> Place {
        switch displaced {
        case .version(let version), .quarantine(let version): version.place
        case .conflictCopy(let path): .tree(path)
        }
    }

    /// Where the file goes that has to make room.
    private mutating func destination(
        of row: Row, _ displacement: Reconciler.Displacement, _ rows: RowMap
    ) -> Intent.Displaced? {
        guard let disk = row.disk else { return nil }
        switch displacement {
        case .keep:
            return .version(kept(row, disk, .versionKept))
        case .quarantine:
            return .quarantine(kept(row, disk, .itemQuarantined))
        case .conflictCopy:
            guard let copy = conflictCopy(of: row), !apply.touches(copy), !apply.occupied.contains(key: copy) else {
                // A name that is taken must not stop the decision, nor cost the version its place in the tree.
                return refuge(for: row.path).map { .conflictCopy($0) }
            }
            guard let known = rows[copy], !known.heads.isEmpty || known.disk != nil else { return .conflictCopy(copy) }
            // Whoever made the copy first has told of it: there it goes on, or has been removed since by somebody who saw it.
            let content = resolution(of: known).entry.content
            if known.disk?.entry.content == disk.entry.content || content.isAbsent || isInHand(copy) {
                return .version(kept(row, disk, .versionKept))
            }
            guard content == disk.entry.content, known.disk == nil else {
                return refuge(for: row.path).map { .conflictCopy($0) }
            }
            cancel(copy)
            return .conflictCopy(copy)
        }
    }

    private func isInHand(_ path: Path) -> Bool { plan.tasks[path]?.state == .running }

    /// The name under which what is on disk goes on if it loses its own: the same on both nodes.
    func conflictCopy(of row: Row) -> Path? {
        guard let disk = row.disk, !disk.entry.content.isDirectory else { return nil }
        return copyName(for: row.path, losing: disk.entry.content, of: disk.origins.content)
    }

    /// The name under which a content goes on that loses a path, after the node that wrote it and when.
    func copyName(for path: Path, losing content: Content, of origin: Origin) -> Path? {
        let node = origin.author == .own ? record.name : record.peerName
        return ConflictName.path(for: path, losing: content, node: node, time: origin.time)
    }

    mutating func kept(_ row: Row, _ disk: Row.DiskState, _ reason: MessageCode) -> KeptVersion {
        KeptVersion(
            id: nextVersion(), path: row.path, entry: disk.entry, stat: disk.stat, author: disk.origins.content.author,
            keptMilliseconds: now.wallMilliseconds, reason: reason, isQuarantined: reason == .itemQuarantined)
    }

    // MARK: Running

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
            let isRace = failure.error == .mismatch || failure.error == .exists
            batch.items[index].outcome = isRace ? .raced : .failed(failure.error)
            if failure.error == .exists, failure.index == item.turningPoint + 1,
                case .conflictCopy(let copy)? = item.displaced
            {
                if apply.occupied.count < 1_024 { apply.occupied[copy] = true }
            }
            if failure.index >= item.turningPoint, item.undo != nil { batch.undoing.append(index) }
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
            let programs = batch.undoing.compactMap { batch.items[$0].undo }
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
            runRescues(into: &effects)
        } else {
            let programs = batch.undoingBlindly.compactMap { batch.items[$0].undo?.operations.dropFirst() }
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
        runRescues(into: &effects)
    }

    private mutating func judge(_ undone: [(Int, DiskResult)], _ batch: inout RunningBatch) {
        for (index, result) in undone {
            let item = batch.items[index]
            guard case .place(let identity?, _) = item.intent.action else {
                guard result.failure != nil else { continue }
                if item.step == .makeDirectory { batch.items[index].standing = result.inspected.first ?? nil }
                if case .rename = item.intent.action, let stat = result.inspected.first ?? nil,
                    stat.identity == item.intent.expected?.identity
                {
                    batch.items[index].stranded = stat
                }
                guard case .remove = item.intent.action else { continue }
                // Its name was taken again in that moment, or the disk failed once more. History can wait for the next start.
                if !item.makesCopy, item.isAsExpected || isExpected(result, item) {
                    batch.items[index].keepsIntent = true
                } else if let name = result.failure?.error == .exists ? refuge(for: item.task.path) : item.task.path {
                    batch.items[index].rescuedTo = name
                    batch.rescuing.append(index)
                }
                continue
            }
            let inStage = result.inspected.dropFirst().first ?? nil
            let isOurs = inStage?.identity == identity && isAsStaged(inStage, item)
            guard result.failure != nil || !isOurs else { continue }
            let isHistory = !item.makesCopy && (item.isAsExpected || isExpected(result, item))
            if let failure = result.failure, failure.index > 2 {
                // Undone; only what is to be done with the directory that came out is open.
                guard failure.error == .notEmpty || failure.error == .mismatch else {
                    batch.items[index].keepsIntent = true
                    timers.mustStop = true
                    continue
                }
            } else if let failure = result.failure, failure.index > 1 || isHistory {
                // The exchange cannot be undone, or not be seen to be; nothing is owed to the tree. The next start clears it up.
                batch.items[index].keepsIntent = true
                batch.items[index].isInPlace = failure.index <= 1 && failure.error != .notFound
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
            // Where ours was taken away in that moment the name is free, and what was there goes back to it.
            let isFree = result.failure?.error == .notFound
            guard let refuge = isFree ? item.task.path : refuge(for: item.task.path) else { continue }
            batch.items[index].rescuedTo = refuge
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

    /// Its directory went in that very moment with all that was in it, but not with this.
    private func parentsMadeAnew(for item: AppliedItem) -> [DiskProgram] {
        guard item.needsParents, let expected = item.intent.expected else { return [] }
        let staged = Place.stage(item.intent.stage)
        return sequence(first: item.task.path, next: \.parent).dropFirst().filter { !$0.isRoot }.reversed().map {
            parent in
            DiskProgram([
                .expectIdentity(staged, expected.identity, expected.kind), .createDirectory(.tree(parent), mode: 0o755),
            ])
        }
    }

    /// Nobody has written to the file we staged since it was finished.
    private func isAsStaged(_ stat: Stat?, _ item: AppliedItem) -> Bool {
        guard let stat, let staged = item.task.stage else { return false }
        return stat.size == staged.stat.size || stat.kind == .directory
            ? stat.kind != .file || stat.modified == expectedTime(of: item) : false
    }

    private func expectedTime(of item: AppliedItem) -> Timestamp {
        guard let staged = item.task.stage, staged.entry.modified == item.wanted.entry.modified else {
            return item.wanted.entry.modified
        }
        return staged.stat.modified
    }

    mutating func finishRescue(_ results: [DiskResult], into effects: inout Effects) {
        guard var batch = apply.batch else { return }
        var again: [Int] = []
        let moves = results.suffix(batch.rescuing.count)
        for (index, result) in zip(batch.rescuing, moves) where result.failure != nil {
            let path = batch.items[index].task.path
            if result.failure?.error == .notFound, !batch.items[index].needsParents {
                batch.items[index].needsParents = true
                batch.items[index].rescuedTo = path
                again.append(index)
            } else if result.failure?.error.isOfMissingDirectory == true,
                let refuge = refugeAtTheTop(for: batch.items[index])
            {
                // Its directory has become something else.
                batch.items[index].rescuedTo = refuge
                again.append(index)
            } else if batch.items[index].rescuedTo == path, let refuge = refuge(for: path) {
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
        for item in batch.items {
            if case .done(let stats) = item.outcome, !item.step.isRemoval, let stat = stats.first ?? nil {
                made[item.task.path] = stat.identity
            }
        }
        let timed = batch.parents.compactMap { parent, time in
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
        // What was put back must last as well, or a restart finds it in the stage and no intent to say whose it is.
        for (index, item) in batch.items.enumerated() where item.outcome.isDone || batch.undoing.contains(index) {
            for path in item.paths { syncs += syncsOfNames(leadingTo: path, besides: &synced) }
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
    private func noteUnwritten(_ sync: DiskOperation, _ result: DiskResult, in batch: inout RunningBatch) -> Bool {
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

    // MARK: Committing

    mutating func commitItems(
        _ items: [AppliedItem], _ parents: SortedMap<Path, Stat>, _ answers: inout Answers, into effects: inout Effects
    ) {
        let before = answers.rowsByPath()
        var rows = before
        for row in answers.rows() where rows[row.path] == nil { rows[row.path] = row }
        let all = rows
        let namesakes = Namesakes(answers.rows())
        var batch = Batch()
        for (parent, stat) in parents where items.allSatisfy({ $0.task.path != parent || !$0.outcome.isDone }) {
            guard let disk = rows[parent]?.disk, disk.entry.content.isDirectory else { continue }
            // A mode or time that is not ours is a user's change: it stays visible as a difference.
            var shown = stat
            shown.mode = disk.stat.mode
            shown.modified = disk.stat.modified
            rows[parent]?.disk?.stat = shown
        }
        for item in items {
            if !item.keepsIntent { batch.add(.dropIntent(item.intent.stage)) }
            plan.tasks[item.task.path] = nil
            if let from = item.task.adoptedFrom?.path {
                apply.adopted[from] = nil
                plan.want(from)
            }
            for follower in item.task.followers { plan.want(follower) }
            switch item.outcome {
            case .done(let stats) where stats.first == .some(nil) && !item.step.isRemoval && item.task.stage == nil:
                // Gone again before we could look: what it was then is for a look to say.
                giveUp(item, reason: nil, rows: &rows, in: &batch, into: &effects)
            case .done(let stats):
                settle(item, stats, parents: parents, namesakes, rows: &rows, in: &batch, into: &effects)
            case .raced: giveUp(item, reason: nil, rows: &rows, in: &batch, into: &effects)
            case .failed(let error): giveUp(item, reason: error, rows: &rows, in: &batch, into: &effects)
            case .running: break
            }
        }
        for (path, row) in rows.rows { put(row, replacing: all[path], in: &batch, into: &effects) }
        expectEchoes(of: rows)
        release()
        for item in items { if let stat = item.adjusted { lookAtNamesakes(of: item.task.path, stat, namesakes) } }
        store(&batch, into: &effects)
    }

    private mutating func release() {
        apply.batch = nil
        apply.isTransacting = false
        endWriting()
        releaseDeferred()
    }

    /// What was written is written: looks that were asked for before may not have seen it.
    mutating func endWriting() {
        for (path, _) in apply.writing { watch.overtake(path) }
        apply.writing.removeAll()
        apply.moving = []
    }

    /// Looks that had to wait for our own writing.
    mutating func releaseDeferred() {
        for (path, sawWriting) in watch.deferred where !apply.touches(path) {
            // Times can be set over a write: where somebody wrote, only reading tells.
            if sawWriting { watch.toHash[path] = true } else { watch.toInspect[path] = true }
        }
        watch.deferred.removeAll { path, _ in !apply.touches(path) }
        for (path, _) in plan.afterBatch where !apply.touches(path) {
            plan.afterBatch[path] = nil
            plan.want(path)
        }
    }

    private mutating func settle(
        _ item: AppliedItem, _ stats: [Stat?], parents: SortedMap<Path, Stat>, _ namesakes: Namesakes,
        rows: inout RowMap, in batch: inout Batch, into effects: inout Effects
    ) {
        plan.madeProgress = true
        let path = item.task.path
        var row = rows[path] ?? Row(path: path)
        let old = row.disk
        if let format = item.task.format { row.format = format }
        let isOvertaken = wasOvertaken(row, since: item.wanted.version)
        row.reflected = row.reflected.joined(with: item.wanted.version)
        row.condition = .normal
        row.waiting = nil
        row.owesCopy = false
        row.disk = nil
        // A file that was taken away again in that very moment was there all the same: its absence is news for the next look.
        let found = item.step.isRemoval ? nil : parents[path] ?? (stats.first ?? nil) ?? item.task.stage?.stat
        if let found {
            let ours = asWeLeftIt(found, item)
            let isRacy = isRacy(item, old, rows) || isInTick(found, item) || hasOtherNames(item, namesakes)
            if isRacy { readAgain(path, found) }
            row.disk = Row.DiskState(
                entry: item.wanted.entry, stat: ours, origins: item.wanted.origins, isRacy: isRacy)
            if ours != found || (stats.first ?? nil) == nil { watch.deferred[path] = found.kind != .directory }
        }
        if let stage = item.task.stage, let chunks = stage.chunks, case .file(let id, _) = item.wanted.entry.content {
            batch.add(.putChunks(id, chunks))
        }
        if let from = item.task.adoptedFrom?.path, var source = rows[from] {
            let isOvertaken = wasOvertaken(source, since: item.sourceVersion)
            let shown = source.disk?.entry ?? item.wanted.entry
            source.disk = nil
            source.reflected = source.reflected.joined(with: item.sourceVersion)
            source.owesCopy = false
            source.condition = .normal
            source.waiting = nil
            // Told anew meanwhile as what stood there, for a peer that was set back.
            if isOvertaken { revise(&source, to: gone(shown), stat: nil, isReasserted: true, in: &batch) }
            rows[from] = source
        }
        let aside = (item.step.isRemoval ? stats.first : stats.last) ?? nil
        keep(item.displaced, old: old, stat: aside, rows: &rows, in: &batch, into: &effects)
        if item.isUnwritten, case .conflictCopy(let copy)? = item.displaced { noteUnwritten(copy, rows: &rows) }
        if case .conflictCopy? = item.displaced, aside != nil { settleConflict(&row, in: &batch) }
        if isOvertaken {
            // The peer was set back meanwhile and has taken back what was applied, or we have written it off: what stands
            // here now is ours to tell.
            let shown = row.disk?.entry ?? gone(item.wanted.entry)
            revise(&row, to: shown, stat: row.disk?.stat, isReasserted: true, in: &batch)
        }
        rows[path] = row
        if row.isUnsettled { plan.want(path) }
        if row.disk?.entry.content.isDirectory == true, old?.entry.content.isDirectory != true {
            // Nobody watches a new directory until the notice of it has been read.
            rescan(path)
            noteYoung(path)
        }
        if row.disk?.entry.content.isDirectory == true { plan.roundIsWanted = plan.roundIsWanted || plan.someWait }
    }

    /// Since the batch was made the peer has taken back some of what the row knew, or the row has been told anew in our name.
    private func wasOvertaken(_ row: Row, since version: VersionVector) -> Bool {
        !row.version.covers(version) || row.version.own > version.own
    }

    /// A deleted path keeps the mode and time it had.
    private func gone(_ entry: Entry) -> Entry {
        Entry(content: .absent, mode: entry.mode, modified: entry.modified)
    }

    /// A file that only got another time, mode or name has not been read by that: it is still to be.
    private func isRacy(_ item: AppliedItem, _ old: Row.DiskState?, _ rows: RowMap) -> Bool {
        if let from = item.task.adoptedFrom?.path { return rows[from]?.disk?.isRacy == true }
        return item.step == .adjust && old?.isRacy == true
    }

    /// Written by another name in that very moment it would not show by the time we have set, and nobody tells of it here.
    private func hasOtherNames(_ item: AppliedItem, _ namesakes: Namesakes) -> Bool {
        guard let stat = item.retimed else { return false }
        return namesakes[stat.identity].contains { !item.paths.contains($0.path) }
    }

    /// Put in place in this very tick of a file system that stamps coarsely: a save in the same tick would not show. (Where
    /// stamps are fine the tick is over before a person can see the file.)
    private func isInTick(_ found: Stat, _ item: AppliedItem) -> Bool {
        found.kind == .file && item.task.stage != nil && found.isCoarse
            && found.isFresh(during: now.wallMilliseconds...now.wallMilliseconds)
    }

    /// What stood there at the end of our program may already be a user's next save. Where it differs from what we put
    /// there, the row keeps what we put there, so that the next look sees the difference.
    private func asWeLeftIt(_ found: Stat, _ item: AppliedItem) -> Stat {
        var ours = found
        ours.kind = item.wanted.entry.content.kind ?? found.kind
        ours.mode = item.wanted.entry.content.kind == .symlink ? found.mode : item.wanted.entry.mode
        if let staged = item.task.stage {
            ours.identity = staged.stat.identity
            if found.kind != .directory { ours.size = staged.stat.size }
        } else if let before = item.task.adoptedFrom?.stat ?? (item.step == .adjust ? item.task.stat : nil) {
            ours.identity = before.identity
            ours.size = before.size
        }
        let time = expectedTime(of: item)
        // What the file system keeps of a time, the staged file has shown: any other is somebody's.
        let isKnown = item.task.stage?.entry.modified == item.wanted.entry.modified && found.kind != .directory
        if isKnown ? found.modified != time : !found.modified.mayStand(for: time) { ours.modified = time }
        return ours
    }

    /// What had to make room: a version that is kept, or a file of the tree under a new name.
    mutating func keep(
        _ displaced: Intent.Displaced?, old: Row.DiskState?, stat: Stat?, rows: inout RowMap, in batch: inout Batch,
        into effects: inout Effects
    ) {
        switch displaced {
        case nil:
            break
        case .version(let planned)?, .quarantine(let planned)?:
            // Late writers are waited for from when it was displaced, not from when that was planned.
            let version = planned.with(keptMilliseconds: now.wallMilliseconds)
            batch.add(.putVersion(version))
            expectLateWriter(of: version)
            effects.add(.report(.note(Note(code: version.reason, subject: version.path.bytes))))
            if version.isQuarantined {
                effects.add(.report(.note(Note(code: .itemRestored, subject: version.path.bytes))))
            }
        case .conflictCopy(let path)?:
            guard let old, let stat else {
                look(afterBatch: path)
                break
            }
            // A save in that very moment: the row keeps the loser as it was, so that the next look sees the difference.
            let isOurs = stat.isSameContent(as: old.stat)
            let shown = isOurs ? stat : old.stat
            var row = rows[path] ?? Row(path: path)
            let wanted = resolution(of: row)
            if wanted.entry.agrees(with: old.entry) {
                row.disk = Row.DiskState(entry: wanted.entry, stat: shown, origins: wanted.origins)
                row.reflected = row.version
                row.condition = .normal
                row.waiting = nil
            } else {
                revise(&row, to: old.entry, stat: shown, in: &batch)
            }
            // The rename has just changed its time: of a save since then that may not tell, only reading does.
            row.disk?.isRacy = true
            watch.deferred[path] = true
            rows[path] = row
            effects.add(.report(.note(Note(code: .conflictFile, subject: path.bytes))))
        }
    }

    /// The loser goes on under the name of its copy. Written down as "seen both, this one stands here", or it would win this
    /// path as well when the winner leaves it.
    mutating func settleConflict(_ row: inout Row, in batch: inout Batch) {
        guard row.heads.count > 1, let disk = row.disk else { return }
        revise(&row, to: disk.entry, stat: disk.stat, in: &batch)
    }

    private mutating func giveUp(
        _ item: AppliedItem, reason: DiskError?, rows: inout RowMap, in batch: inout Batch, into effects: inout Effects
    ) {
        let path = item.task.path
        if let refuge = item.rescuedTo { look(afterBatch: refuge) }
        if let stage = item.task.stage, !item.keepsIntent { plan.abandoned.append(stage.name) }
        for touched in item.paths { look(afterBatch: touched) }
        if let parent = path.parent { look(afterBatch: parent) }
        plan.want(path)
        // Tried again when a look finds something new, or after a pause.
        plan.fresh[path] = nil
        plan.someWait = true
        rest(path)
        if let stat = item.stranded { settleStranded(item, stat, rows: &rows) }
        if item.isUnwritten {
            noteUnwritten(item.stranded == nil ? item.task.adoptedFrom?.path ?? path : path, rows: &rows)
        }
        guard var row = rows[path] else { return }
        if let stat = item.standing, stat.kind == .directory, row.disk == nil {
            // Found by a look, it would be a person's. It is nobody's until what it lacks has been applied.
            row.disk = Row.DiskState(
                entry: Entry(content: .directory, mode: stat.mode, modified: stat.modified), stat: stat,
                origins: Resolution.nothing.origins)
            // What somebody has put into it before anybody watched it is told by no notice.
            rescan(path)
            noteYoung(path)
        }
        guard let reason else {
            wait(&row, .pathBusy)
            rows[path] = row
            return
        }
        if reason == .noSpace || reason == .inputOutput || reason == .readOnly {
            setAlarm(Node.reason(for: reason), reason.facts(at: path), if: true, into: &effects)
        }
        if item.isInPlace {
            settleInPlace(item, &row, in: &batch)
        } else {
            wait(&row, Node.reason(for: reason))
        }
        rows[path] = row
        if reason == .notEmpty { enqueue(.explainNotEmpty(path, after: nil, sawLive: false)) }
    }

    /// The directory it came from may have gone in the same batch. Found by a look, it would be a person's.
    private mutating func settleStranded(_ item: AppliedItem, _ stat: Stat, rows: inout RowMap) {
        guard let from = item.task.adoptedFrom?.path, let shown = item.intent.shown, let source = rows[from],
            let known = source.disk, let target = rows[item.task.path],
            let row = settled(
                target, RecoveryState.Moved(path: target.path, stat: stat, shown: shown), from: known)
        else { return }
        rows[row.path] = row
        if let row = settled(source, RecoveryState.Taken(path: from, identity: stat.identity)) { rows[from] = row }
    }

    /// Its author may not have synced it, and now the kernel takes it for written. It still can be read.
    private func noteUnwritten(_ path: Path, rows: inout RowMap) {
        guard rows[path]?.disk?.stat.kind == .file else { return }
        rows[path]?.disk?.isUnwritten = true
    }

    /// Found by a look once the peer has told of something newer, what we have put there would be a person's.
    private mutating func settleInPlace(_ item: AppliedItem, _ row: inout Row, in batch: inout Batch) {
        guard let stage = item.task.stage else { return }
        if let chunks = stage.chunks, case .file(let id, _) = item.wanted.entry.content {
            batch.add(.putChunks(id, chunks))
        }
        row.disk = Row.DiskState(
            entry: item.wanted.entry, stat: asWeLeftIt(stage.stat, item), origins: item.wanted.origins, isRacy: true)
        row.reflected = row.reflected.joined(with: item.wanted.version)
        row.waiting = nil
        row.owesCopy = false
        guard stage.stat.kind == .directory else { return }
        rescan(row.path)
        noteYoung(row.path)
    }

    /// A look at what we are writing, for when that is done.
    mutating func look(afterBatch path: Path) {
        if !path.isRoot, !path.isReserved, watch.deferred[path] == nil { watch.deferred[path] = false }
    }

    // MARK: Programs of their own

    /// A note for recovery that a version goes back into the tree, to a path that is to be looked at; and what takes its place
    /// among the versions, if anything does.
    mutating func announce(_ path: Path, from version: KeptVersion, replacing expected: Stat? = nil) -> Intent {
        Intent(
            stage: nextStage(), path: path, action: .rename(from: path), expected: expected,
            displaced: version.displaced)
    }

    /// Runs programs once their intent is durable.
    mutating func run(
        _ programs: [DiskProgram], for purpose: Purpose, after intent: Intent, into effects: inout Effects
    ) {
        var batch = Batch()
        batch.add(.putIntent(intent))
        store(&batch, then: .run(purpose, programs), into: &effects)
    }
}

extension KeptVersion {
    fileprivate var displaced: Intent.Displaced { isQuarantined ? .quarantine(self) : .version(self) }

    /// What lies in the stage, whole, goes to its place: the note for recovery, and what does it.
    func placing(from stage: StageName, _ stat: Stat) -> (intent: Intent, program: DiskProgram) {
        let intent = Intent(
            stage: stage, path: path, action: .rename(from: path), expected: stat, displaced: displaced)
        return (intent, DiskProgram([.move(.stage(stage), to: place), .syncParent(place), .inspect(place)]))
    }
}

extension Intent.Shown {
    init(_ wanted: Resolution) {
        self.init(version: wanted.version, origins: wanted.origins)
    }
}

extension Reconciler.Step {
    var isReplacingDirectory: Bool { self == .replaceDirectory || self == .removeDirectory }

    /// A file has to make room.
    var isDisplacing: Bool {
        switch self {
        case .replace, .replaceByDirectory, .remove: true
        case .agree, .adjust, .place, .makeDirectory, .replaceDirectory, .removeDirectory: false
        }
    }

    var isRemoval: Bool {
        switch self {
        case .remove, .removeDirectory: true
        case .agree, .adjust, .place, .replace, .makeDirectory, .replaceByDirectory, .replaceDirectory: false
        }
    }
}

extension Place {
    var isQuarantine: Bool { if case .quarantine = self { true } else { false } }
}

extension ByteWriter {
    static func bytes(of number: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.put(number)
        return writer.bytes
    }
}
