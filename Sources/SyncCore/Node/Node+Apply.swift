import SyncModel

/// Which of the ready tasks go into the next batch, in what order, and which have to wait.
extension Node {
    mutating func pumpApply(into effects: inout Effects) {
        if !apply.blocked.isEmpty, !apply.isTransacting, apply.batch == nil {
            let paths = apply.blocked.map(\.key)
            apply.isTransacting = true
            enqueue(.prepare(paths))
            return
        }
        guard isWorking, !record.isPaused, apply.batch == nil, !apply.isTransacting, incoming.relocation == nil,
            incoming.held == nil
        else { return }
        let ready = plan.tasks.keys(limits.batchPathsMax) { $0.state == .ready }
        guard !ready.isEmpty else { return }
        apply.isTransacting = true
        enqueue(.prepare(ready))
    }

    /// Rows of the tasks, of what they rename, of the directories above, of possible conflict copies, and of what a copy may be newer than.
    func prepareQueries(_ paths: [Path]) -> [StoreQuery] {
        // (No closures: each of them would capture a copy of the whole node.)
        var (own, parents) = (SortedMap<Path, Bool>(), SortedMap<Path, Bool>())
        var versions: [StoreQuery] = []
        for path in paths {
            own[path] = true
            if let task = plan.tasks[path] {
                for other in [task.adoptedFrom?.path, task.copy, heldName(of: path), contestedOriginal(of: path)] {
                    if let other { own[other] = true }
                }
            }
            if isGuarded(path) { versions.append(.versions(path, limit: limits.versionsSearchedMax)) }
        }
        for path in own.keys { if let parent = path.parent, !parent.isRoot { parents[parent] = true } }
        return [.rows(Array(own.keys)), .rows(Array(parents.keys))] + versions
    }

    mutating func prepare(_ paths: [Path], _ answers: inout Answers, into effects: inout Effects) {
        apply.isTransacting = false
        var rows = answers.rowsByPath()
        let parents = answers.rowsByPath()
        var kept = SortedMap<Path, [KeptVersion]>()
        for path in paths where isGuarded(path) { kept[path] = answers.versions() }
        var store = Batch()
        noteBlocked(among: paths, rows, kept, in: &store, into: &effects)
        var running = RunningBatch(begunAt: record.ownHead.position)
        for path in ordered(paths) {
            guard isWorking, !record.isPaused, let task = plan.tasks[path], task.state == .ready, let row = rows[path]
            else {
                continue
            }
            if apply.restoring.contains(key: path) {
                // Planned before a person had a version put there, or the file taken out. He comes first, and what
                // stands there once that is done decides anew.
                forget(task)
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
            // The directory itself is in this batch: it keeps the time it is being given. (One that is to go keeps its own, if it has to stay.)
            guard running.parents.contains(key: item.task.path), item.wanted.entry.content.isDirectory else { continue }
            running.parents[item.task.path] = item.wanted.entry.modified
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
            if let waiting = row.waiting, waiting.tries > ApplyState.triesForLost, patiences(of: waiting) >= 1,
                reason == .contentUnavailable || reason == .contentChanging && isOwedByNobody(row, waiting),
                incoming.isIdle
            {
                acceptLoss(&row, kept[path] ?? [], patiences: patiences(of: waiting), in: &batch)
            }
            put(row, replacing: old, in: &batch, into: &effects)
        }
    }

    /// A power cut took what it held here, the peer never had it by this name, and goes on saying that the content comes later: what it
    /// thinks of is a file that the rules leave out there, as it was before they did. That may hold something else by now.
    private func isOwedByNobody(_ row: Row, _ waiting: Row.Waiting) -> Bool {
        row.condition == .damaged && resolution(of: row).origins.content.author == .own
            && row.version.own > record.applied && patiences(of: waiting) >= ApplyState.patiencesForLost
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
            if tellsRemains(of: row) { return }
            revise(&row, to: disk.entry, stat: disk.stat, isReasserted: true, seeing: version, in: &batch)
            cancel(row.path)
        } else if row.disk == nil,
            patiences >= (lost.origins.content.author == .own ? 3 : ApplyState.patiencesForLost)
        {
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
}
