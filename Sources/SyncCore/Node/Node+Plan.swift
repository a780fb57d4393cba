import SyncModel

/// Rows that want something become tasks, and what they want is looked for here before the peer is asked; see `PlanState` for how the rounds go.
extension Node {
    /// Forgets a task that has not begun to write; a running one finds out for itself.
    mutating func cancel(_ path: Path) {
        if let task = plan.tasks[path], task.state != .running { forget(task) }
    }

    mutating func forget(_ task: PlanState.Errand) {
        plan.tasks[task.path] = nil
        if let stage = task.stage { abandon(stage, of: task.path) }
        if let from = task.adoptedFrom?.path {
            apply.adopted[from] = nil
            plan.want(from)
        }
        plan.want(task.path)
        for follower in task.followers { plan.want(follower) }
    }

    @inline(__always)  // (As `Node.isWorking` is.)
    private var mayPlan: Bool {
        isWorking && !record.isPaused && record.adoptBeyond == nil && !recovery.isRenumbering && !isCatchingUp
            && !isRecalling && watch.rulesAreLoaded
    }

    mutating func pumpPlan() {
        guard mayPlan else { return }
        if !plan.isLocating, !plan.toLocate.isEmpty {
            let wanted = Array(plan.toLocate.prefix(limits.batchPathsMax))
            plan.toLocate.removeFirst(wanted.count)
            plan.isLocating = true
            enqueue(.locate(wanted))
        }
        if let count = plan.overfullAt, plan.tasks.count < count {
            plan.overfullAt = nil
            plan.roundIsWanted = true
        }
        guard !plan.isPlanning, plan.tasks.count < limits.applyTasksMax else { return }
        if !plan.fresh.isEmpty {
            var paths: [Path] = []
            while paths.count < limits.batchPathsMax, let next = plan.fresh.popFirst() { paths.append(next.key) }
            plan.isPlanning = true
            enqueue(.planPaths(paths))
            return
        }
        switch plan.round {
        case .none:
            if plan.spares.mayBeUnwanted, plan.tasks.isEmpty { plan.roundIsWanted = true }
            if !plan.roundIsWanted, let path = plan.crowdedOut, plan.tasks.count <= contentTasksMax / 2 {
                plan.crowdedOut = nil
                plan.round = .filling(after: path)
                plan.want(path)
                return pumpPlan()
            }
            guard plan.roundIsWanted, apply.isIdle else { return }
            plan.roundIsWanted = false
            plan.crowdedOut = nil
            plan.madeProgress = false
            plan.someWait = false
            plan.round = .ascending(after: nil)
            plan.isPlanning = true
            plan.spares.beginRound()
            enqueue(.planPage(cursor: nil, ascending: true))
        case .ascending(let after):
            plan.isPlanning = true
            enqueue(.planPage(cursor: after, ascending: true))
        case .descending(let before):
            plan.isPlanning = true
            enqueue(.planPage(cursor: before, ascending: false))
        case .filling(let after):
            if let path = plan.crowdedOut {
                // What had no room may be a fresh wish from further on: this page has not been read yet.
                plan.crowdedOut = min(path, after)
                plan.round = .none
                return
            }
            plan.isPlanning = true
            enqueue(.planPage(cursor: after, ascending: true))
        }
    }

    /// Contents may take long; what needs none must not wait behind them.
    private var contentTasksMax: Int { max(1, limits.applyTasksMax * 3 / 4) }

    mutating func planPaths(_ paths: [Path], _ answers: inout Answers, into effects: inout Effects) {
        plan.isPlanning = false
        let rows = answers.rows()
        let parents = answers.rowsByPath()
        planRows(rows, parents: parents, into: &effects)
    }

    mutating func planPage(_ ascending: Bool, _ answers: inout Answers, into effects: inout Effects) {
        plan.isPlanning = false
        let rows = answers.rows()
        let isLast = rows.count < limits.batchPathsMax
        // Rows are planned with their parents at hand, so by path.
        for row in rows where isForDirection(row, ascending) { plan.want(row.path) }
        if case .filling = plan.round {
            plan.round = isLast ? .none : rows.last.map { .filling(after: $0.path) } ?? .none
            return
        }
        if ascending {
            noteSpares(wantedBy: rows)
            for row in rows { watchForbidden(row, into: &effects) }
            if isLast { plan.abandoned += plan.spares.endRound() }
        }
        switch (ascending, isLast) {
        case (true, false): plan.round = .ascending(after: rows.last?.path)
        case (true, true): plan.round = .descending(before: nil)
        case (false, false): plan.round = .descending(before: rows.last?.path)
        case (false, true): plan.round = .none
        }
    }

    /// Rows that are being stored. A file that this node has made itself is staged meanwhile; what shows it asks for the row again,
    /// and so comes after that.
    mutating func planMade(
        _ paths: [Path], _ rows: inout RowMap, in batch: inout Batch, into effects: inout Effects
    ) {
        guard keepsRecords, mayPlan else { return }
        for path in paths {
            guard let old = rows[path], old.condition == .normal, case .file? = old.disk?.entry.content,
                case .file(let content, _) = resolution(of: old).entry.content,
                recordFile(content, at: path) != nil
            else { continue }
            var row = old
            planRow(&row, parents: rows, in: &batch)
            put(row, replacing: old, in: &batch, into: &effects)
            rows[path] = row
            if plan.tasks.contains(key: path) { plan.fresh[path] = nil }
        }
    }

    private func isForDirection(_ row: Row, _ ascending: Bool) -> Bool {
        resolution(of: row).entry.isAbsent != ascending
    }

    private mutating func planRows(_ rows: [Row], parents: RowMap, into effects: inout Effects) {
        var batch = Batch()
        let ordered = rows.sorted { $0.path < $1.path }
        for old in ordered {
            var row = old
            planRow(&row, parents: parents, in: &batch)
            put(row, replacing: old, in: &batch, into: &effects)
        }
        if !batch.isEmpty { store(&batch, into: &effects) }
    }

    private mutating func planRow(_ row: inout Row, parents: RowMap, in batch: inout Batch) {
        dropLeft(of: row, in: &batch)
        guard row.condition != .ignored, row.condition != .missing, plan.tasks[row.path] == nil, row.isUnsettled
        else { return }
        if apply.touches(row.path) {
            plan.afterBatch[row.path] = true
            return
        }
        if plan.resting.contains(key: row.path) {
            plan.someWait = true
            return
        }
        if staysHeldBack(&row) || isUnread(row) || !isMatched(row) { return }
        if isBeingLookedAt(row.path) {
            plan.afterLook[row.path] = true
            return
        }
        if !row.needsApply && row.condition == .normal {
            // A file that could not be read waits for its reader, not for a writer.
            if !watch.changing.contains(key: row.path) { watch.toHash[row.path] = true }
            return
        }
        let wanted = resolution(of: row)
        let step = reconciler.step(from: row, to: wanted)
        if step == .agree, watch.emptied.contains(key: row.path) {
            // What was found there is to be read yet. (Its next look may have been lost with notices, and if no row knew it and it is gone, no
            // scan tells of it.)
            plan.afterLook[row.path] = true
            if !watch.changing.contains(key: row.path) { look(at: row.path) }
            return
        }
        if step.isRemoval, isMovedInPart(row) {
            plan.someWait = true
            if plan.afterMove.count < PlanState.freshMax { plan.afterMove[row.path] = true }
            return
        }
        if step != .agree, claims.holds(row.path), claims.writings.count >= ClaimDesk.writingsMax {
            wait(&row, .lockHeld)
            plan.someWait = true
            return
        }
        if case .remove(.conflictCopy) = step, let disk = row.disk, row.condition == .normal, isHeldSave(row) {
            // What was to come back in its place has been deleted by somebody who had seen it: nothing is held against it any more.
            row.owesCopy = false
            row.format = nil
            watch.toHash[row.path] = true
            return revise(&row, to: disk.entry, stat: disk.stat, isReasserted: true, in: &batch)
        }
        if step.isDisplacing, row.disk?.isRacy == true {
            // Read in the breath of its last change: one more that does not show would be put aside under the wrong name.
            plan.afterLook[row.path] = true
            if !watch.changing.contains(key: row.path) { watch.toHash[row.path] = true }
            return
        }
        if step == .remove(.keep), let disk = row.disk, wasFoundSinceDelete(row) {
            return revise(&row, to: disk.entry, stat: disk.stat, isReasserted: true, in: &batch)
        }
        let isFetching = wanted.entry.content.kind == .file && step != .agree && step != .adjust
        if isFetching, plan.tasks.count >= contentTasksMax {
            plan.crowdedOut = min(plan.crowdedOut ?? row.path, row.path)
            return
        }
        guard plan.tasks.count < limits.applyTasksMax else {
            plan.overfullAt = plan.tasks.count
            return
        }
        switch step {
        case .agree:
            // What it was held against may still be here: that is known where the versions are at hand.
            if isWrittenAlike(row) { return start(row, step, wanted) }
            row.disk?.entry = wanted.entry
            row.disk?.origins = wanted.origins
            row.reflected = row.reflected.joined(with: wanted.version)
            if row.condition == .damaged { row.condition = .normal }
            row.waiting = nil
            row.owesCopy = false
            plan.madeProgress = true
        case .place, .replace, .makeDirectory, .replaceByDirectory, .replaceDirectory:
            guard hasParent(row.path, parents) else {
                if row.condition == .damaged, row.disk == nil {
                    if let above = goneDirectory(above: row.path, parents), isAgreed(above, since: row.waiting) {
                        // Neither node has it, nor the directory it was in: nothing is left to bring back.
                        var gone = wanted.entry
                        gone.content = .absent
                        revise(&row, to: gone, stat: nil, isReasserted: true, in: &batch)
                        // What was in it waits for the same answer.
                        plan.madeProgress = true
                        return
                    }
                    // Nobody tells when the directory is gone for good, nor when that is agreed.
                    timers.retrySoon(at: now, limits)
                }
                wait(&row, .waitingParent)
                plan.someWait = true
                return
            }
            start(row, step, wanted)
        case .adjust, .remove, .removeDirectory:
            start(row, step, wanted)
        }
    }

    /// Rules that have left this name with their directory, path by path, and where the rest of it goes is still to be told: what they
    /// leave out here goes along only as long as they do.
    private func isMovedInPart(_ row: Row) -> Bool {
        guard row.path.name?.bytes == IgnoreRules.fileName, let gone = row.head(by: .peer), gone.movedTo != nil else {
            return false
        }
        return gone.origin.position > record.importedHead.position
    }

    func isBeingLookedAt(_ path: Path) -> Bool {
        watch.toInspect.contains(key: path) || watch.toHash.contains(key: path) || watch.hashing.contains(key: path)
            || watch.deferred.contains(key: path)
    }

    /// The row of the directory above, if there is none there and none is wanted. (An empty one if it went before anybody
    /// could tell of it.)
    private func goneDirectory(above path: Path, _ parents: RowMap) -> Row? {
        guard let parent = path.parent, !parent.isRoot else { return nil }
        let row = parents[parent] ?? Row(path: parent)
        guard !row.isUnsettled, !resolution(of: row).entry.content.isDirectory else { return nil }
        return row
    }

    /// Both nodes agree that there is no such directory: the peer has said so or carried it out, or has known it for long and
    /// not objected. A peer that still holds something of what was inside brings the directory back, but not before it has
    /// been patient itself.
    private func isAgreed(_ directory: Row, since waiting: Row.Waiting?) -> Bool {
        let position = directory.version.own
        if !directory.heads.isEmpty,
            resolution(of: directory).origins.content.author == .peer || position <= record.applied
        {
            return true
        }
        guard session.isLive, position <= record.acknowledged.position, incoming.isIdle, let waiting,
            waiting.reason == .waitingParent
        else { return false }
        return patiences(of: waiting) >= 2
    }

    /// How often over a path has waited as long as an answer is waited for. By a clock put forward it would be at once, and the
    /// peer, who may know better, would not be heard.
    func patiences(of waiting: Row.Waiting) -> Int64 {
        timers.age(of: waiting.sinceMilliseconds, at: now) / max(1, Int64(clamping: limits.lostPatienceMilliseconds))
    }

    private func hasParent(_ path: Path, _ parents: RowMap) -> Bool {
        guard let parent = path.parent, !parent.isRoot else { return true }
        if let row = parents[parent], row.disk?.entry.content.isDirectory == true, row.condition != .missing {
            // Nothing goes into one that is about to go: made ready again and again, it would never be let in.
            return plan.tasks[parent]?.step.isReplacingDirectory != true
        }
        // Made in the same batch or in one before.
        guard let task = plan.tasks[parent], task.state == .ready || task.state == .running else { return false }
        switch task.step {
        case .makeDirectory, .replaceByDirectory: return true
        case .agree, .adjust, .place, .replace, .replaceDirectory, .remove, .removeDirectory: return false
        }
    }

    private mutating func start(_ row: Row, _ step: Reconciler.Step, _ wanted: Resolution) {
        var task = PlanState.Errand(
            path: row.path, step: step, wanted: wanted, stat: row.disk?.stat, content: nil, stage: nil,
            adoptedFrom: nil, copy: conflictCopy(of: row), state: .ready)
        switch (step, wanted.entry.content) {
        case (.replace, .file(let id, _)) where recordFile(id, at: row.path) != nil:
            task.content = id
            task.state = .fetching
            plan.tasks[row.path] = task
            return begin(id, for: task, copying: nil)
        case (.place, .file(let id, _)), (.replace, .file(let id, _)), (.replaceDirectory, .file(let id, _)):
            task.content = id
            task.base = row.heldFile
            task.state = .locating
            let mayBeKept = hasHeader(row.path) || row.waiting?.reason == .contentUnavailable
            plan.toLocate.append(
                WantedContent(
                    path: row.path, content: id, mayBeKept: mayBeKept,
                    mayBeLeftOut: row.waiting?.reason == .contentChanging,
                    isUntried: row.waiting == nil || row.waiting?.reason == .waitingParent))
        case (.place, .symlink), (.replace, .symlink), (.replaceDirectory, .symlink), (.replaceByDirectory, _):
            task.state = .fetching
            plan.tasks[row.path] = task
            fetch.toStage.append(row.path)
            return
        case (.agree, _), (.adjust, _), (.place, _), (.replace, _), (.makeDirectory, _), (.replaceDirectory, _),
            (.remove, _), (.removeDirectory, _):
            break
        }
        plan.tasks[row.path] = task
    }

    // MARK: Is it here already?

    /// For each task that needs a content: a file here that holds it is renamed or copied, else the peer is asked.
    mutating func locate(_ wanted: [WantedContent], _ answers: inout Answers, into effects: inout Effects) {
        plan.isLocating = false
        let holders = Holders(answers.rows())
        let lists = wanted.map { _ in answers.chunkList() }
        let versions = wanted.map { $0.mayBeKept ? answers.versions() : [] }
        for (index, item) in wanted.enumerated() {
            let (path, content) = (item.path, item.content)
            guard var task = plan.tasks[path], task.content == content, task.state == .locating else { continue }
            let holder = holders[content].first { $0.condition == .normal && !apply.touches($0.path) }
            let carried = holders[content].first {
                item.isUntried && isCarried($0, by: task) && !apply.touches($0.path)
            }
            if let holder = carried ?? holder, case .place = task.step, canAdopt(holder, for: task),
                let disk = holder.disk, !hasHeader(path)
            {
                task.adoptedFrom = (holder.path, disk.stat)
                task.state = .ready
                plan.tasks[path] = task
                plan.tasks[holder.path] = nil
                apply.adopted[holder.path] = true
                continue
            }
            if takeLeft(for: task, into: &effects) { continue }
            let kept = versions[index].first { $0.contentID == content }
            if holder == nil, lists[index] == nil, let kept, readKept(kept, for: item, into: &effects) { continue }
            let leftOut = item.mayBeLeftOut && holder == nil ? holders[content].first { $0.condition == .ignored } : nil
            if lists[index] == nil, let leftOut, readLeftOut(leftOut, for: item, into: &effects) { continue }
            task.state = .fetching
            plan.tasks[path] = task
            let place = (holder ?? leftOut).map { Place.tree($0.path) } ?? kept?.place
            let source = place.flatMap { place in lists[index].map { (place, $0) } }
            begin(
                content, for: task,
                copying: source ?? plan.spares.source(of: content, size: task.wanted.entry.content.size))
        }
    }

    /// The rules leave it out, and one move takes it with its directory to the path of the task. It goes along, as it would in one rename: the
    /// rules come along as well, and where they let go of it first and then leave out its new name it would only be deleted. (Not
    /// where a power cut may have left something else of it: nobody reads it on the way.)
    private func isCarried(_ holder: Row, by task: PlanState.Errand) -> Bool {
        guard holder.condition == .ignored, let disk = holder.disk, let gone = holder.head(by: .peer),
            gone.movedTo == task.path, gone.origin.position == task.wanted.version.peer, !isSuspect(holder)
        else { return false }
        return record.distrustOfIgnored.map { !disk.isYounger(than: $0) } ?? true
    }

    /// A file that is to be deleted anyway and whose content is wanted elsewhere just changes its name.
    private func canAdopt(_ holder: Row, for task: PlanState.Errand) -> Bool {
        guard holder.needsApply, holder.disk?.isRacy != true, holder.disk?.isUnwritten != true,
            !apply.adopted.contains(key: holder.path), !isHeldBack(holder.path),
            !isBeingLookedAt(holder.path), !isUnread(holder), !isToBeTold(holder)
        else {
            return false
        }
        let wanted = resolution(of: holder)
        guard wanted.entry.isAbsent, case .remove(.keep) = reconciler.step(from: holder, to: wanted) else {
            return false
        }
        return plan.tasks[holder.path].map { $0.state != .running } ?? true
    }
}

extension Row {
    /// The content of the file that is known to be there, whole.
    fileprivate var heldFile: ContentID? {
        guard condition == .normal, case .file(let id, size: 1...)? = disk?.entry.content else { return nil }
        return id
    }
}
