import Coordination
import SyncModel

/// The peer's log: verified entry by entry, joined into the rows, durable before it is acknowledged.
///
/// Importing never touches the folder; it only makes rows want something. The one exception is a directory move, which is
/// one rename here too if this node holds exactly what was moved, and is asked for path by path if not.
struct ImportState: Sendable {
    var queue = Deque<LogRecord>()
    /// The last entry taken into the queue; where the next one must link.
    var cursor = LogHead.none
    /// The end of the peer's log when it greeted us last: its past up to here is read before anything of it is applied.
    var pastEnd: LogPosition?
    /// An entry that needs a newer program stops the import here.
    var isBeyondUs = false
    /// An entry that is ahead of our clock by a century stops it as well, until one of the clocks is set: it would come again
    /// on every link.
    var aheadOfUs: HybridTime?
    var isBusy = false
    /// Frames of rows that wait in the lane.
    var pages = 0
    /// Ends of such rows that wait in the lane.
    var ends = 0
    /// The directory move that is being carried out.
    var relocation: RunningRelocation?
    /// The directory move that is being read path by path.
    var expanding: LogRecord?
    var initialScanDone = false
    /// The peer was set back while something was being carried out for it: what the folder shows is told when that is done, and what the peer
    /// says anew is heard after that.
    var held: [Transaction]?

    struct RunningRelocation: Sendable {
        let record: LogRecord
        let move: Relocation
        let stat: Stat
        let intent: StageName
        /// The directories whose names change, with the times they are to keep.
        let parents: SortedMap<Path, Timestamp>
        /// The rules leave out some of what is moved, by its old name.
        let hasLeftOut: Bool
    }

    var isIdle: Bool { queue.isEmpty && !isBusy && relocation == nil && expanding == nil && held == nil }
}

extension Node {
    // MARK: Taking entries in

    /// Entries as they came; what is wrong with them, if they break the log.
    mutating func accept(_ entries: [[UInt8]], into effects: inout Effects) -> MessageCode? {
        guard let peer = record.peer, !incoming.isBeyondUs, incoming.aheadOfUs == nil else { return nil }
        for bytes in entries {
            guard incoming.queue.count < limits.importRecordsMax else { return .peerProtocolViolation }
            switch LogCodec.decode(bytes, after: incoming.cursor, node: peer, digest: digest) {
            case .broken:
                return .logCorrupt
            case .beyondUs:
                // It stays with its author, who is not told that it has arrived.
                incoming.isBeyondUs = true
                setAlarm(.logNewer, if: true, into: &effects)
                return nil
            case .record(let entry):
                if entry.head.position <= incoming.cursor.position { continue }
                let time = latestTime(of: entry)
                guard entry.head.position.follows(incoming.cursor.position), isCredible(entry), isOfAClock(time)
                else { return .peerProtocolViolation }
                if !isInTime(time) {
                    incoming.aheadOfUs = time
                    return nil
                }
                incoming.cursor = entry.head
                incoming.queue.append(entry)
            }
        }
        return nil
    }

    /// A peer cannot have seen entries of ours that we have not written.
    private func isCredible(_ entry: LogRecord) -> Bool {
        switch entry.change {
        case .put(_, let revision): return isCredible(revision)
        case .relocate(let move): return move.seenPeer <= record.ownHead.position
        }
    }

    private func isCredible(_ revision: Revision) -> Bool {
        revision.seen.peer <= record.ownHead.position
            && revision.origins.content.time <= revision.origin.time && revision.origin.position.epoch != .none
    }

    private func latestTime(of entry: LogRecord) -> HybridTime {
        guard case .put(_, let revision) = entry.change else { return entry.time }
        return max(entry.time, revision.origin.time)
    }

    func latestTime(of states: [RowState]) -> HybridTime? { states.map(\.revision.origin.time).max() }

    /// A clock may be wrong by a century. Who dates something a thousand years ahead wants to use up the numbers there are.
    func isOfAClock(_ time: HybridTime) -> Bool {
        time.wallMilliseconds <= UInt64(max(0, now.wallMilliseconds)) + HybridClock.leadMillisecondsMax * 10
    }

    /// Not ahead of us by a century.
    func isInTime(_ time: HybridTime) -> Bool {
        let limit = UInt64(max(0, now.wallMilliseconds)) + HybridClock.leadMillisecondsMax
        return time.wallMilliseconds <= max(limit, clock.last.wallMilliseconds)
    }

    mutating func pumpImport() {
        if let held = incoming.held, apply.isIdle, incoming.relocation == nil, !incoming.isBusy {
            incoming.held = nil
            for transaction in held { enqueue(transaction) }
        }
        guard phase == .running, !record.isForked, !incoming.isBusy, incoming.relocation == nil,
            incoming.held == nil, incoming.expanding == nil, !recovery.isRenumbering, watch.rulesAreLoaded
        else { return }
        while let first = incoming.queue.first, first.head.position <= record.importedHead.position {
            _ = incoming.queue.popFirst()
        }
        guard let first = incoming.queue.first else { return }
        if case .relocate(let move) = first.change {
            guard isWorking, apply.isIdle, !claims.isWaiting(toDoAt: move.to) else { return }
            _ = incoming.queue.popFirst()
            incoming.isBusy = true
            enqueue(.weighRelocation(first, move.flipped))
            return
        }
        var entries: [LogRecord] = []
        while entries.count < limits.batchPathsMax, let next = incoming.queue.first {
            guard case .put = next.change else { break }
            entries.append(next)
            _ = incoming.queue.popFirst()
        }
        incoming.isBusy = true
        enqueue(.importRecords(entries))
    }

    /// What the peer says; behind `adopt`, if that waits.
    mutating func enqueueImport(_ transaction: Transaction) {
        if incoming.held == nil { enqueue(transaction) } else { incoming.held?.append(transaction) }
    }

    // MARK: Joining

    mutating func importRecords(_ entries: [LogRecord], _ answers: inout Answers, into effects: inout Effects) {
        incoming.isBusy = false
        var rows = answers.rowsByPath()
        var batch = Batch()
        for entry in entries where entry.head.position > record.importedHead.position {
            guard case .put(let path, let revision) = entry.change else { continue }
            join(revision.flipped, at: path, rows: &rows, in: &batch, into: &effects)
        }
        for entry in entries { advanceImport(to: entry.head) }
        planMade(entries.compactMap(\.putPath), &rows, in: &batch, into: &effects)
        store(&batch, into: &effects)
    }

    /// Those that are put, and the directories of files that a model claims.
    func importQuery(_ entries: [LogRecord]) -> StoreQuery {
        let paths = entries.compactMap(\.putPath)
        let claimed = paths.filter { book(of: $0) != nil }
        guard !claimed.isEmpty else { return .rows(paths) }
        return .rows(SortedMap((paths + claimed.compactMap(\.parent)).map { ($0, true) }).map(\.key))
    }

    private mutating func join(
        _ revision: Revision, at path: Path, rows: inout RowMap, in batch: inout Batch, into effects: inout Effects
    ) {
        clock.witness(revision.origin.time)
        let old = rows[path]
        var row = old ?? Row(path: path)
        row.join(revision)
        if row == old { return }
        // What it overtakes had won over something of the peer's that nobody here has seen: that may be all he is left with after a setback.
        if let old, row.head(by: .own) == nil, let earlier = unreadConflict(old) {
            row.reflected.peer = min(row.reflected.peer, earlier)
        }
        noteDeletion(by: revision, of: old, &row)
        plan.resting[path] = nil
        noteRow(at: path)
        // What waits to be saved on, or to come back, is weighed anew now that the peer has had his say.
        if formats.missingSince.contains(key: path) || formats.brokenSince.contains(key: path) { look(at: path) }
        if losesUnseen(row) || leavesStockUnseen(row, before: old) { row.owesCopy = true }
        let wanted = resolution(of: row)
        // What is shown here and not left out is still to be told of, and makes room first.
        if isIgnored(row), watch.rules.isIgnored(path.bytes, isDirectory: wanted.entry.content.isDirectory) {
            row.condition = .ignored
        } else {
            if row.condition == .ignored, row.disk == nil || standsInTheWay(row) { makeStranger(&row) }
            plan.want(path)
        }
        if wanted.isConflict && book(of: path) == nil && !isHeldBack(path)
            && !(old.map { resolution(of: $0).isConflict } ?? false)
        {
            effects.add(.report(.note(Note(code: .conflictFile, subject: path.bytes))))
        }
        put(row, replacing: old, in: &batch, into: &effects)
        rows[path] = row
        // What it was kept for may have gone before its deletion, or that of what took its place, is told of.
        if isKept(row) { enqueue(.letGo(path, after: nil)) }
    }

    /// The end of an epoch is remembered: after a restored image it tells the peer how far its old log had come here.
    private mutating func advanceImport(to head: LogHead) {
        let before = record.importedHead
        guard head.position > before.position else { return }
        if before != .none && before.position.epoch != head.position.epoch {
            record.importedEpochs.append(before)
        }
        let epoch = head.position.epoch
        record.importedEpochs.removeAll { $0.position.epoch == epoch || $0.isMark && $0.position.epoch < epoch }
        while record.importedEpochs.count > Limits.epochsRememberedMax { record.importedEpochs.removeFirst() }
        record.importedHead = head
    }

    /// The rows of an epoch are told of from the first of them on: a peer that loses its state before the last has come must
    /// not use the number again.
    private mutating func noteEpoch(of states: [RowState]) {
        guard let epoch = states.map(\.revision.origin.position.epoch).max(),
            epoch > record.importedHead.position.epoch, epoch > record.importedEpochs.last?.position.epoch ?? .none
        else { return }
        record.importedEpochs.removeAll(where: \.isMark)
        record.importedEpochs.append(.mark(of: epoch))
    }

    /// A part of the rows that come instead of the log. Saying so brings the next: this node decides how fast they come.
    mutating func importPage(_ states: [RowState], _ answers: inout Answers, into effects: inout Effects) {
        incoming.pages -= 1
        // Judged without the rules: they are held against all rows once more.
        if !watch.rulesAreLoaded { record.rulesConsidered = nil }
        importRows(states, &answers, into: &effects)
        guard session.isLive else { return }
        let acknowledgement = Acknowledgement(head: stores.durableImportedHead, isSettled: false)
        session.lastAcknowledgement = acknowledgement
        send(.acknowledge(acknowledgement), into: &effects)
    }

    /// Revisions outside the log, from a peer whose log no longer reaches back to where we are.
    mutating func importRows(_ states: [RowState], _ answers: inout Answers, into effects: inout Effects) {
        var rows = answers.rowsByPath()
        var batch = Batch()
        for state in states {
            join(state.revision.flipped, at: state.path, rows: &rows, in: &batch, into: &effects)
        }
        noteEpoch(of: states)
        store(&batch, into: &effects)
    }

    func areCredible(_ states: [RowState]) -> Bool { states.allSatisfy { isCredible($0.revision) } }

    mutating func finishRows(_ head: LogHead, into effects: inout Effects) {
        incoming.ends -= 1
        if head.position > record.importedHead.position { advanceImport(to: head) }
        while let rules = plan.afterMove.popFirst() { plan.want(rules.key) }
        var batch = Batch()
        store(&batch, into: &effects)
    }

    mutating func endInitialScan() {
        if !incoming.initialScanDone, record.distrustSince != nil { plan.startRound() }
        incoming.initialScanDone = true
    }

    // MARK: Directory moves

    /// One rename if we hold exactly what the mover moved and nothing is in its way; else path by path.
    mutating func weighRelocation(
        _ entry: LogRecord, _ move: Relocation, _ answers: inout Answers, into effects: inout Effects
    ) {
        incoming.isBusy = false
        let isDue = takeOrder(of: nil, at: move.to)
        // Read path by path meanwhile: it came again over a new link before the last part was noted.
        guard entry.head.position > record.importedHead.position else { return }
        let rows = answers.rowsByPath()
        let source = answers.summary()
        let target = answers.summary()
        let parent = move.to.parent ?? .root
        let parentRows = answers.rowsByPath()
        guard let row = rows[move.from], let disk = row.disk, disk.entry.content.isDirectory, !row.isUnsettled,
            row.heads.count == 1, row.version.own <= move.seenPeer, source.unsettled == 0, source.missing == 0,
            source.entangled == 0, source.ownLatest <= move.seenPeer, source.contents == move.summary,
            target.contents.liveRows == 0, target.unsettled == 0, target.missing == 0,
            target.ownLatest <= move.seenPeer, rows[move.to]?.disk == nil, rows[move.to]?.isUnsettled != true,
            (rows[move.to]?.version.own ?? .none) <= move.seenPeer,
            parent.isRoot || rows[parent]?.disk?.entry.content.isDirectory == true,
            !watch.rules.isIgnored(move.to.bytes, isDirectory: true), apply.isIdle, isWorking, !record.isPaused,
            !concernsHeldFiles(move)
        else {
            askForExpansion(entry)
            return
        }
        if !isDue {
            let accesses = [move.from, move.to].map { Access($0, .write(.moving)) }
            switch turn(of: .relocate(entry.head.position), at: move.to, accesses, into: &effects) {
            case .come: break
            case .later where claims.orders.contains(key: move.to): return incoming.queue.prepend(entry)
            case .later, .taken:
                // Path by path: what nobody has comes at once, and each of the others when it is its turn.
                return askForExpansion(entry)
            }
        }
        var parents = SortedMap<Path, Timestamp>()
        for path in [move.from.parent, move.to.parent] {
            if let path, !path.isRoot, let disk = parentRows[path]?.disk { parents[path] = disk.entry.modified }
        }
        let stage = nextStage()
        incoming.relocation = ImportState.RunningRelocation(
            record: entry, move: move, stat: disk.stat, intent: stage, parents: parents, hasLeftOut: source.hasLeftOut)
        clock.witness(entry.time)
        for (path, _) in parents { apply.writing[path] = true }
        apply.moving = [move.from, move.to]
        watch.taint()
        var batch = Batch()
        let moved = move.applied(to: row, replacing: rows[move.to])?.new
        let shown = moved.map { Intent.Shown(version: $0.version, origins: $0.disk?.origins ?? disk.origins) }
        let intent = Intent(
            stage: stage, path: move.to, action: .rename(from: move.from), expected: disk.stat, displaced: nil,
            shown: shown)
        batch.add(.putIntent(intent))
        store(&batch, then: .runRelocation, into: &effects)
    }

    mutating func runRelocation(into effects: inout Effects) {
        guard let running = incoming.relocation else { return }
        let (move, stat) = (running.move, running.stat)
        let program = DiskProgram([
            .expect(.tree(move.from), stat), .expectAbsent(.tree(move.to)),
            .move(.tree(move.from), to: .tree(move.to)), .setModified(.tree(move.to), stat.modified),
            .syncParent(.tree(move.to)), .syncParent(.tree(move.from)), .inspect(.tree(move.to)),
        ])
        let times = running.parents.map { path, time in
            DiskProgram([.setModified(.tree(path), time), .syncFile(.tree(path)), .inspect(.tree(path))])
        }
        effects.add(.disk(newJob(.relocating), [program] + times))
    }

    mutating func finishRelocation(_ results: [DiskResult]) {
        guard let relocation = incoming.relocation, let result = results.first else { return }
        let isMoved = result.failure == nil || (result.failure?.index ?? 0) > 2
        var stat = isMoved ? result.inspected.first ?? nil : nil
        if isMoved && stat == nil {
            // The rename happened, but whether it will last is not known: start again from what is durable.
            timers.mustStop = true
            return
        }
        // What somebody else did in that very moment must differ from what the rows say, so that a look can see it.
        if let found = stat, !found.isSameContent(as: relocation.stat) { stat = relocation.stat }
        var stats = SortedMap<Path, Stat>()
        for ((path, time), result) in zip(relocation.parents, results.dropFirst()) {
            if result.failure == nil, let found = result.inspected.first, let stat = found,
                stat.modified.mayStand(for: time)
            {
                stats[path] = stat
            }
        }
        incoming.isBusy = true
        enqueue(.settleRelocation(relocation, moved: stat, parents: stats))
    }

    mutating func settleRelocation(
        _ running: ImportState.RunningRelocation, moved: Stat?, parents: SortedMap<Path, Stat>,
        _ answers: inout Answers, into effects: inout Effects
    ) {
        incoming.isBusy = false
        incoming.relocation = nil
        let (entry, move) = (running.record, running.move)
        let rows = answers.rowsByPath()
        var batch = Batch()
        batch.add(.dropIntent(running.intent))
        endWriting()
        reloadAllRules()
        for path in [move.from.parent, move.to.parent] {
            if let path, !path.isRoot { look(at: path) }
        }
        guard let stat = moved else {
            store(&batch, into: &effects)
            look(at: move.from)
            look(at: move.to)
            askForExpansion(entry)
            return
        }
        relocateRows(move, in: &batch, into: &effects)
        if running.hasLeftOut { counts.mustRecount = true }
        for (path, stat) in parents {
            guard let old = rows[path], old.disk?.entry.content.isDirectory == true else { continue }
            var row = old
            if let known = row.disk?.stat, known.identity == stat.identity { row.disk?.stat = shown(stat, as: known) }
            put(row, replacing: old, in: &batch, into: &effects)
        }
        if let row = rows[move.from], var new = move.applied(to: row, replacing: rows[move.to])?.new {
            if let known = new.disk?.stat { new.disk?.stat = shown(stat, as: known) }
            batch.add(.putRow(new))
        }
        advanceImport(to: entry.head)
        store(&batch, into: &effects)
        look(at: move.to)
        rescan(move.to)
    }

    /// Somebody who shows something in it would not let go of it.
    mutating func giveUpRelocation(_ position: LogPosition) {
        guard let entry = incoming.queue.first, entry.head.position == position else { return }
        _ = incoming.queue.popFirst()
        askForExpansion(entry)
    }

    private mutating func askForExpansion(_ entry: LogRecord) {
        incoming.expanding = entry
        session.asksToExpand = entry.head.position
    }

    /// The rows of a directory move, one by one, in place of the move.
    mutating func takeExpansion(_ position: LogPosition, _ states: [RowState], isLast: Bool) -> Bool {
        guard let entry = incoming.expanding, entry.head.position == position else { return true }
        guard areCredible(states), latestTime(of: states).map(isInTime) != false else { return false }
        enqueueImport(.importRows(states))
        if isLast {
            incoming.expanding = nil
            incoming.ends += 1
            enqueueImport(.finishRows(entry.head))
        }
        return true
    }

    // MARK: A peer that lost its memory

    /// The peer was set back to an older state: what it wrote since is known only here. It is written again in our name,
    /// so that positions it lost can never be mistaken for positions it gives anew.
    mutating func adopt(_ beyond: LogPosition, _ answers: inout Answers, into effects: inout Effects) {
        let rows = answers.rows()
        var batch = Batch()
        for old in rows {
            guard let head = old.head(by: .peer), head.origin.position > beyond,
                head.origin.position.epoch != record.adoptSparing
            else { continue }
            var row = old
            // What a power cut has left is nothing to tell of, nor is it that nothing is left: what was applied here is to come back.
            // So is what we had written ourselves, whatever else was still to come from the peer.
            var isDamaged = old.condition == .damaged && old.reflected.covers(old.version)
            if !isDamaged, old.condition == .damaged, let own = old.head(by: .own), old.reflected.covers(own.origin),
                !own.entry.isAbsent
            {
                isDamaged = true
                row.heads = [own]
            }
            // Or what was to come in its place: told as a change, what the cut has left would win over what the peer may still have of that.
            if old.condition == .damaged, !resolution(of: row).entry.isAbsent { isDamaged = true }
            // (So it is where rules have come to leave it out since.)
            if old.condition == .ignored, wasDamaged(old) { isDamaged = true }
            guard !old.needsApply || isDamaged else {
                // The peer took back what never got here: what the folder shows is what there is. A path that never was
                // here is not known any more: nobody deleted it, and the peer tells of it again if it still has it.
                row.heads.removeAll { $0.origin.author == .peer }
                row.coverOwnHead()
                // (What is here has seen all we have said, whatever a power cut has taken back of that.)
                if row.disk != nil || row.reflected != .none {
                    row.reflected.own = max(row.reflected.own, old.version.own)
                }
                let isHeld = isHeldSave(row) && row.heads.contains { row.format?.isOf($0.entry) == true }
                if !isHeld {
                    row.heads = []
                    // What it waited for is what was taken back.
                    row.waiting = nil
                }
                if isHeld, let disk = row.disk {
                    // What was saved over a newer version of our own is held back as before.
                    assertAnew(&row, disk, [], in: &batch)
                } else if let disk = row.disk {
                    // What the peer has from before, or of ours, is nothing to be held against what it has made of that since.
                    let made = disk.origins.content
                    let isKnown = made.author == .own || made.position <= beyond
                    // (But ours that has lost to that and was still to be copied nobody there has seen.)
                    let isUnseen = made.author == .own && old.owesCopy && old.format == nil
                    revise(&row, to: disk.entry, stat: disk.stat, isReasserted: !isKnown || isUnseen, in: &batch)
                } else if row.reflected != .none {
                    var gone = head.entry
                    gone.content = .absent
                    revise(&row, to: gone, stat: nil, isReasserted: true, in: &batch)
                }
                // (What was saved here over that and cannot be told waits for its author all the same.)
                if let code = records.waiting[row.path] { wait(&row, code) }
                // (What the rules leave out is not looked at, and goes on being left out.)
                if old.condition == .ignored { row.condition = .ignored }
                cancel(row.path)
                put(row, replacing: old, in: &batch, into: &effects)
                // What the records say is to be there is not said by the row any more.
                noteRow(at: row.path)
                // What stands there now, or that nothing does, may be what is not told.
                if isHeldBack(row.path) || old.condition == .missing { look(at: row.path) }
                continue
            }
            let position = nextPosition()
            // What our folder shows, which is what both heads together came to. The claim is ours, the times stay: the
            // later of two writes is still the later.
            let shown = resolution(of: row)
            // What lost to ours the peer was to copy, and may have had from before: it is not to hear that somebody has seen it. (Of its mode
            // it is, if that is what the file here has.)
            if !isDamaged, let own = winner(at: row) { row.heads = [own] }
            let time = clock.tick(wallMilliseconds: now.wallMilliseconds)
            // (Of what the peer has not lost, it is known there whose it is: who takes the file away has seen it, though not its last times.
            // And what was still to come in the place of what a cut has left nobody has seen here: it stays the peer's, who may have it, and is
            // not overtaken by what somebody puts there meanwhile.)
            let isUnseen = isDamaged && !old.reflected.covers(shown.origins.content)
            func adopted(_ origin: Origin) -> Origin {
                let isLost = origin.author == .peer && origin.position > beyond && !isUnseen
                return isLost ? Origin(author: .own, position: position, time: origin.time) : origin
            }
            let origins = Origins(
                content: adopted(shown.origins.content), mode: adopted(shown.origins.mode),
                time: adopted(shown.origins.time))
            let revision = Revision(
                origin: Origin(author: .own, position: position, time: time), seen: row.version,
                entry: isDamaged ? shown.entry : row.disk?.entry ?? shown.entry, origins: origins)
            row.join(revision)
            row.reflected = isUnseen ? row.reflected : row.version
            row.coverOwnHead()
            let merged = resolution(of: row).origins
            if !isDamaged { row.disk?.origins = merged }
            append(.put(row.path, revision), at: position, time, in: &batch)
            put(row, replacing: old, in: &batch, into: &effects)
            plan.want(row.path)
        }
        let isLast = rows.count < limits.batchPathsMax
        if isLast {
            record.adoptBeyond = nil
            record.adoptSparing = nil
        }
        store(&batch, into: &effects)
        // What the peer says anew must not be imported before the last page is done: it would be adopted with the rest.
        if !isLast, let last = rows.last { enqueueFirst(.adopt(after: last.path, beyond: beyond)) }
    }
}

extension LogRecord {
    /// Whose row it changes, if it is only one.
    fileprivate var putPath: Path? { if case .put(let path, _) = change { path } else { nil } }
}
