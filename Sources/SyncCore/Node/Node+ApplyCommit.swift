import SyncModel

/// What a batch has done becomes rows, versions and log in one store batch; only then is anything acknowledged.
extension Node {
    mutating func commitItems(
        _ items: [AppliedItem], _ parents: SortedMap<Path, Stat>, _ answers: inout Answers, into effects: inout Effects
    ) {
        let before = answers.rowsByPath()
        var rows = before
        for row in answers.rows() where rows[row.path] == nil { rows[row.path] = row }
        let all = rows
        let namesakes = Namesakes(answers.rows())
        let leaving = SortedMap(items.compactMap { item in item.keptFile.map { _ in (item.task.path, true) } })
        var shared: [LateLook] = []
        var batch = Batch()
        for (parent, stat) in parents where items.allSatisfy({ $0.task.path != parent || !$0.outcome.isDone }) {
            guard let disk = rows[parent]?.disk, disk.entry.content.isDirectory else { continue }
            rows[parent]?.disk?.stat = shown(stat, as: disk.stat)
        }
        for item in items {
            if !item.keepsIntent, item.leftAgain == nil { batch.add(.dropIntent(item.intent.stage)) }
            plan.tasks[item.task.path] = nil
            if let from = item.task.adoptedFrom?.path {
                apply.adopted[from] = nil
                plan.want(from)
            }
            for follower in item.task.followers { plan.want(follower) }
            switch item.outcome {
            case .done(let stats) where stats.first == .some(nil) && !item.step.isRemoval && item.source == nil:
                // Gone again before we could look: what it was then is for a look to say.
                giveUp(item, reason: nil, rows: &rows, in: &batch, into: &effects)
            case .done(let stats):
                let isShared = isShared(item, namesakes, leaving)
                let look = settle(
                    item, stats, parents: parents, namesakes, isShared: isShared, rows: &rows, in: &batch,
                    into: &effects)
                if isShared, let look { shared.append(look) }
            case .raced: giveUp(item, reason: nil, rows: &rows, in: &batch, into: &effects)
            case .failed(let error): giveUp(item, reason: error, rows: &rows, in: &batch, into: &effects)
            case .running: break
            }
        }
        for (path, row) in rows.rows { put(row, replacing: all[path], in: &batch, into: &effects) }
        expectEchoes(of: rows)
        release()
        noteRetimed(items)
        for item in items { if let stat = item.adjusted { lookAtNamesakes(of: item.task.path, stat, namesakes) } }
        let left = items.compactMap { item in item.outcome.isDone ? item.emptied?.parent.map { ($0, true) } : nil }
        for parent in SortedMap(left).keys where rows[parent].map(isKept) == true {
            enqueue(.letGo(parent, after: nil))
        }
        store(&batch, then: shared.isEmpty ? .nothing : .secure(shared), into: &effects)
    }

    /// It goes on in the folder under another name, which is none of those that make room with it.
    private func isShared(_ item: AppliedItem, _ namesakes: Namesakes, _ leaving: SortedMap<Path, Bool>) -> Bool {
        guard let file = item.keptFile else { return false }
        return namesakes[file].contains { !leaving.contains(key: $0.path) }
    }

    /// What we have set the time of: a mode or time that is not ours is a user's change, and stays visible as a difference.
    func shown(_ found: Stat, as known: Stat) -> Stat {
        var shown = found
        shown.mode = known.mode
        shown.modified = known.modified
        return shown
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
        _ item: AppliedItem, _ stats: [Stat?], parents: SortedMap<Path, Stat>, _ namesakes: Namesakes, isShared: Bool,
        rows: inout RowMap, in batch: inout Batch, into effects: inout Effects
    ) -> LateLook? {
        plan.madeProgress = true
        let path = item.task.path
        records.noteMet(path)
        var row = rows[path] ?? Row(path: path)
        let old = row.disk
        if let format = item.task.format { row.format = format }
        let isOvertaken = wasOvertaken(row, since: item.wanted.version)
        row.reflected = row.reflected.joined(with: withoutOwed(item.wanted, row))
        row.condition = .normal
        row.waiting = nil
        // (What has only been written anew, or given its times, still owes the copy that the peer's word has made it owe meanwhile.)
        let isTheSame = old?.entry.content == item.wanted.entry.content
        row.owesCopy = row.owesCopy && isTheSame && !item.wanted.version.covers(row.version)
        row.disk = nil
        // A file that was taken away again in that very moment was there all the same: its absence is news for the next look.
        let found = item.step.isRemoval ? nil : parents[path] ?? (stats.first ?? nil) ?? item.source
        if let found {
            let ours = asWeLeftIt(found, item)
            let isRacy =
                isRacy(item, old, rows) || isInTick(found, item) || hasOtherNames(item, namesakes)
                || item.task.stage?.isLeft == true
            if isRacy { readAgain(path, found) }
            // (So it is where somebody wrote meanwhile, who is read when this is over: a process that ends before may be the last that
            // knows of it, for the time that we have set is later than his.)
            row.disk = Row.DiskState(
                entry: item.wanted.entry, stat: ours, origins: item.wanted.origins,
                isRacy: isRacy || watch.deferred[path] == true && found.kind == .file)
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
        // What could not be seen there, or has gone again, was there all the same: that, too, the next look tells.
        let aside = (item.step.isRemoval ? stats.first : stats.last) ?? nil
        let look = keep(
            item.displaced, old: old, stat: aside ?? old?.stat, isShared: isShared, rows: &rows, in: &batch,
            into: &effects)
        if item.isUnwritten, case .conflictCopy(let copy)? = item.displaced { noteUnwritten(copy, rows: &rows) }
        if case .conflictCopy? = item.displaced { settleConflict(&row, copied: old?.entry.content, in: &batch) }
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
        return look
    }

    /// Since the batch was made the peer has taken back some of what the row knew, or the row has been told anew in our name. (What the peer
    /// moves here meanwhile may have seen more of our log than what was here before: that is older than the batch.)
    private func wasOvertaken(_ row: Row, since version: VersionVector) -> Bool {
        !row.version.covers(version) || row.version.own > max(version.own, apply.batch?.begunAt ?? .none)
    }

    /// A deleted path keeps the mode and time it had.
    func gone(_ entry: Entry) -> Entry {
        Entry(content: .absent, mode: entry.mode, modified: entry.modified)
    }

    /// A file that only got another time, mode or name has not been read by that: it is still to be.
    func isRacy(_ item: AppliedItem, _ old: Row.DiskState?, _ rows: RowMap) -> Bool {
        if let from = item.task.adoptedFrom?.path { return rows[from]?.disk?.isRacy == true }
        return item.step == .adjust && old?.isRacy == true
    }

    /// Written by another name in that very moment it would not show by the time we have set, and nobody tells of it here.
    private func hasOtherNames(_ item: AppliedItem, _ namesakes: Namesakes) -> Bool {
        guard let stat = item.retimed else { return false }
        return namesakes[stat.identity].contains { !item.paths.contains($0.path) }
    }

    /// Put in place, renamed or given its time in this very tick of a file system that stamps coarsely: a save in the same tick would
    /// not show. (Where stamps are fine the tick is over before a person can see the file.)
    private func isInTick(_ found: Stat, _ item: AppliedItem) -> Bool {
        found.kind == .file && (item.task.stage != nil || item.retimed != nil) && found.isCoarse
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

    /// What had to make room: a version that is kept, and looked at once more, or a file of the tree under a new name.
    @discardableResult
    mutating func keep(
        _ displaced: Intent.Displaced?, old: Row.DiskState?, stat: Stat?, isShared: Bool = false, rows: inout RowMap,
        in batch: inout Batch, into effects: inout Effects
    ) -> LateLook? {
        switch displaced {
        case nil:
            break
        case .version(let planned)?, .quarantine(let planned)?:
            // Late writers are waited for from when it was displaced, not from when that was planned.
            let version = planned.with(keptMilliseconds: now.wallMilliseconds)
            batch.add(.putVersion(version))
            let look = expectLateWriter(of: version, isShared: isShared)
            effects.add(.report(.note(Note(code: version.reason, subject: version.path.bytes))))
            if version.isQuarantined {
                effects.add(.report(.note(Note(code: .itemRestored, subject: version.path.bytes))))
            }
            return look
        case .conflictCopy(let path)?:
            guard let old, let stat else {
                look(afterBatch: path)
                break
            }
            // A save in that very moment: the row keeps the loser as it was, so that the next look sees the difference.
            var shown = stat.isSameContent(as: old.stat) ? stat : old.stat
            // (Its permission bits are no part of that comparison: somebody may have changed them on its way.)
            shown.mode = old.stat.mode
            var row = rows[path] ?? Row(path: path)
            let wanted = resolution(of: row)
            if wanted.entry.agrees(with: old.entry) {
                row.disk = Row.DiskState(entry: wanted.entry, stat: shown, origins: wanted.origins)
                row.reflected = row.version
                row.condition = .normal
                row.waiting = nil
            } else if row.needsApply, isTakenAway(row, old.origins.content) {
                // Since this was planned the peer has told that somebody removed the copy there, who saw it: this one follows. Told of as
                // made here, it would come back.
                row.disk = Row.DiskState(entry: old.entry, stat: shown, origins: wanted.origins)
                row.condition = .normal
                row.waiting = nil
                plan.want(path)
            } else {
                revise(&row, to: old.entry, stat: shown, in: &batch)
            }
            // The rename has just changed its time: of a save since then that may not tell, only reading does.
            row.disk?.isRacy = true
            watch.deferred[path] = true
            rows[path] = row
            effects.add(.report(.note(Note(code: .conflictFile, subject: path.bytes))))
        }
        return nil
    }

    /// The loser goes on under the name of its copy. Written down as "seen both, this one stands here", or it would win this
    /// path as well when the winner leaves it. (Where it was a save that was held back against what has won here, the loser is the peer's:
    /// that has not been here, and the peer is still to put it beside.)
    mutating func settleConflict(_ row: inout Row, copied: Content?, in batch: inout Batch) {
        guard row.heads.count > 1, let disk = row.disk else { return }
        if winner(at: row) != nil, !row.heads.contains(where: { $0.entry.content == copied }) { return }
        // (Whatever the peer has told of since: what stands here he has overtaken himself by then, and it is not ours to win with.)
        row.coverOwnHead()
        revise(&row, to: disk.entry, stat: disk.stat, seeing: row.reflected, in: &batch)
    }

    private mutating func giveUp(
        _ item: AppliedItem, reason: DiskError?, rows: inout RowMap, in batch: inout Batch, into effects: inout Effects
    ) {
        let path = item.task.path
        if let refuge = item.rescuedTo { look(afterBatch: refuge) }
        if let stage = item.task.stage, !item.keepsIntent {
            if let stat = item.leftAgain { leave(stage, stat, of: path) } else { plan.abandoned.append(stage.name) }
        }
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
        if item.step == .adjust { noteSet(by: item, in: &row) }
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

    /// A mode or a time that we have set, though what was to follow has failed. Found by a look once the peer has told of something newer, it
    /// would be a person's.
    private func noteSet(by item: AppliedItem, in row: inout Row) {
        guard var disk = row.disk, disk.stat == item.task.stat else { return }
        for operation in item.program.operations.prefix(item.performed) {
            if case .setMode(_, let mode) = operation {
                (disk.entry.mode, disk.stat.mode, disk.origins.mode) = (mode, mode, item.wanted.origins.mode)
            }
            if case .setModified(_, let time) = operation {
                (disk.entry.modified, disk.stat.modified, disk.origins.time) = (time, time, item.wanted.origins.time)
            }
        }
        row.disk = disk
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
    mutating func noteUnwritten(_ path: Path, rows: inout RowMap) {
        guard rows[path]?.disk?.stat.kind == .file else { return }
        rows[path]?.disk?.isUnwritten = true
        if let identity = rows[path]?.disk?.stat.identity { enqueue(.namesakes([identity])) }
    }

    /// Found by a look once the peer has told of something newer, what we have put there would be a person's.
    private mutating func settleInPlace(_ item: AppliedItem, _ row: inout Row, in batch: inout Batch) {
        guard let stage = item.task.stage else { return }
        if let chunks = stage.chunks, case .file(let id, _) = item.wanted.entry.content {
            batch.add(.putChunks(id, chunks))
        }
        let old = row.disk
        row.disk = Row.DiskState(
            entry: item.wanted.entry, stat: asWeLeftIt(stage.stat, item), origins: item.wanted.origins, isRacy: true)
        row.reflected = row.reflected.joined(with: item.wanted.version)
        row.waiting = nil
        row.owesCopy = false
        if item.makesCopy { settleConflict(&row, copied: old?.entry.content, in: &batch) }
        guard stage.stat.kind == .directory else { return }
        rescan(row.path)
        noteYoung(row.path)
    }

    /// A look at what we are writing, for when that is done.
    mutating func look(afterBatch path: Path) {
        if !path.isRoot, !path.isReserved, watch.deferred[path] == nil { watch.deferred[path] = false }
    }
}
