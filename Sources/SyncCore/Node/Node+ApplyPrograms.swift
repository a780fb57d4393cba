import SyncModel

/// What a task is to do on disk: its `DiskProgram`, its intent, and where what is displaced goes.
extension Node {
    /// The program of a task, from the row as it is now. Nil if the task has been overtaken.
    mutating func item(for task: PlanState.Errand, _ row: Row, rows: RowMap) -> AppliedItem? {
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

    func place(of displaced: Intent.Displaced) -> Place {
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
            if known.disk?.entry.content == disk.entry.content || isTakenAway(known, disk.origins.content)
                || isInHand(copy)
            {
                return .version(kept(row, disk, .versionKept))
            }
            guard content == disk.entry.content || content.isAbsent, known.disk == nil else {
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

    /// Whoever took away the copy of that name had seen what lost there. (The same bytes may have lost before within that second, which is long where
    /// clocks stand or a peer's is ahead: who removed the copy of those says nothing of what was saved since.)
    func isTakenAway(_ copy: Row, _ lost: Origin) -> Bool {
        let known = resolution(of: copy)
        return known.entry.isAbsent && known.origins.content.time > lost.time
    }

    mutating func kept(_ row: Row, _ disk: Row.DiskState, _ reason: MessageCode) -> KeptVersion {
        KeptVersion(
            id: nextVersion(), path: row.path, entry: disk.entry, stat: disk.stat, author: disk.origins.content.author,
            keptMilliseconds: now.wallMilliseconds, reason: reason, isQuarantined: reason == .itemQuarantined)
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
    var displaced: Intent.Displaced { isQuarantined ? .quarantine(self) : .version(self) }

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
