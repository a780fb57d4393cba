import Coordination
import RecordMerge
public import SyncModel

/// What people ask of a running node, and how it stops.
extension Node {
    mutating func obey(_ command: Command, _ id: CommandID, into effects: inout Effects) {
        guard !recovery.isRenumbering else {
            effects.add(.answer(id, .refused(.logRolledBack)))
            return
        }
        switch command {
        case .status:
            enqueue(.status(id))
        case .pause:
            record.isPaused = true
            saveAndAnswer(id, into: &effects)
        case .resume:
            record.isPaused = false
            waitAnew()
            plan.startRound()
            saveAndAnswer(id, into: &effects)
        case .rescan(let path):
            if path.isRoot { rescanAll() } else { rescan(path) }
            effects.add(.answer(id, .done))
        case .approve:
            decideHeld(id, approved: true, into: &effects)
        case .reject:
            decideHeld(id, approved: false, into: &effects)
        case .history(let path):
            enqueue(.history(id, path))
        case .restore(let version, let path):
            enqueue(.findVersion(id, version, path))
        case .setAside(let path):
            enqueue(.setAside(id, path))
        case .doubt(let path, let found, let stat):
            enqueue(.doubt(id, path, found, stat))
        case .contests:
            effects.add(.answer(id, .contests(contests)))
        case .discardedContests:
            effects.add(.answer(id, .contests(discardedContests)))
        case .deadRecords:
            effects.add(.answer(id, .records(records.dead)))
        case .settleContest(let choice, let record):
            enqueue(.settleContest(id, choice, record))
        case .explainRecord(let record):
            let told = explanation(of: record).map { Answer.explanation($0, own: ownParty) }
            effects.add(.answer(id, told ?? .refused(.requestNotFound)))
        case .scanRecords:
            effects.add(.answer(id, .scan(GraphScan(of: records.books.map(\.space)))))
        case .claim(let claim, let timeout):
            self.claim(claim, timeoutMilliseconds: timeout, id, into: &effects)
        case .endClaims(let ids, let deeds):
            endClaims(ids, deeds, into: &effects)
            effects.add(.answer(id, .done))
        case .present(let presenter):
            instruct(.register(presenter), into: &effects)
            effects.add(.answer(id, .done))
            tellWarnings(to: presenter, into: &effects)
        case .withdrawPresenter(let presenter):
            instruct(.withdraw(presenter: presenter), into: &effects)
            effects.add(.answer(id, .done))
        case .answerQuestion(let question, let presenter, let answer):
            if claims.machine.isAsked(presenter, question) {
                instruct(.answer(question: question, answer), into: &effects)
            }
            effects.add(.answer(id, .done))
        case .listClaims:
            effects.add(.answer(id, .claims(claims.entries.map(\.value.claim))))
        case .configure(let chosen):
            settings = chosen
            effects.add(.answer(id, .done))
        }
    }

    mutating func saveAndAnswer(_ id: CommandID, into effects: inout Effects) {
        var batch = Batch()
        store(&batch, then: .answer(id, .done), into: &effects)
    }

    /// Answered when what he decided is carried out and stored: a process that ends before that asks him again.
    private mutating func decideHeld(_ id: CommandID, approved: Bool, into effects: inout Effects) {
        guard record.held != nil else {
            effects.add(.answer(id, .refused(.fuseDeletes)))
            return
        }
        guard isWorking else {
            effects.add(.answer(id, .refused(standstill)))
            return
        }
        if approved { deletes.approve(id) }
        releaseHold(approved ? .fuseApproved : .fuseRejected, into: &effects)
        if !approved { enqueue(.rejectMissing(id, after: nil)) }
    }

    // MARK: Status

    var isInSync: Bool { isInSync(butFor: 0) }

    /// So many paths wait for nothing else.
    @inline(__always) func isInSync(butFor waiting: Int) -> Bool {
        session.peerIsSettled && isThrough(butFor: waiting)
    }

    /// Nothing is left to do here, and the other node has stored all there is.
    @inline(__always) private func isThrough(butFor waiting: Int) -> Bool {
        isWorking && isQuiet && counts.unsettled == waiting && watch.unreadable.isEmpty && session.isLive
            && !record.isPaused && !session.peerIsPaused
            && record.held == nil && session.peerHeld == 0 && incoming.aheadOfUs == nil
            && recordsAreShared
            && (isEpochEmpty || record.acknowledged.position == stores.durableOwnHead.position)
    }

    /// All that keeps this node from being in sync is that the other has not said that it is through: it goes through its
    /// folder, or something waits in it that nobody here knows. (What it does not show of this node's own is pending here. Where a save
    /// waits for the first import that does not tell for what: this does.)
    @inline(__always)  // (As `Node.isWorking` is.)
    private var waitsForPeerAlone: Bool {
        let barred = records.barredCount
        return !session.peerIsSettled && isThrough(butFor: barred + records.owed.count)
            && (isEpochEmpty || barred > 0 || record.applied >= stores.durableOwnHead.position)
    }

    mutating func answerStatus(_ id: CommandID, _ answers: inout Answers, into effects: inout Effects) {
        if counts.mustRecount { recount(answers.summary()) }
        var status = Status()
        status.inSync = isInSync
        status.isConnected = session.isLive
        status.peerIsPaused = session.peerIsPaused
        status.peerHeldDeletes = session.peerHeld
        status.peerWaits = waitsForPeerAlone
        status.peerRenewsKeys = session.isLive && session.peerRenewsKeys
        status.peerName = record.peerName
        status.peerProgram = peerProgram
        status.initialImportDone = record.initialImportDone
        status.files = counts.files
        status.directories = counts.directories
        status.toApply = counts.unsettled
        let (head, known) = (stores.durableOwnHead.position, record.applied)
        status.toSend = head <= known ? 0 : head.epoch == known.epoch ? head.seq - known.seq : head.seq
        for row in answers.rows() {
            let reason = reason(for: row)
            status.pending.append(
                Status.Pending(path: row.path, reason: reason, sinceMilliseconds: since(reason, row)))
        }
        let locked = locked(but: status.pending)
        let gathered = gathered(but: status.pending + locked)
        let saves = locked + gathered.prefix(limits.batchPathsMax)
        let outgoing = outgoing(answers.log(), but: status.pending + saves)
        let unread = unread(but: status.pending + saves + outgoing)
        status.pending = (status.pending + saves + outgoing + unread).sorted { $0.path < $1.path }
        status.pendingTotal = counts.unsettled + locked.count + gathered.count + outgoing.count + unread.count
        status.leftOut = watch.leftSpecials.map(\.key)
        status.alerts = alarms.raised.map(\.value)
        status.locks = claims.entries.count { $0.value.claim.isHeld }
        status.heldDeletes = record.held
        status.quarantinedRecords = records.contestedCount
        status.contests = records.contested.count
        status.heldSets = records.missedCount
        status.importRepairs = records.importRepairs
        status.recordsAreMatched = records.areMatched && session.setsComing.isEmpty
        status.state = folderState
        effects.add(.answer(id, .status(status)))
    }

    private mutating func recount(_ all: SubtreeSummary) {
        (counts.files, counts.directories) = (all.files, all.directories)
        counts.mustRecount = false
    }

    /// What cannot be read, or has no name here, may be anything: nobody can say that it is in sync.
    @inline(__always)  // (As `Node.isWorking` is.)
    private func unread(but known: [Status.Pending]) -> [Status.Pending] {
        if watch.unreadable.isEmpty { return [] }
        let known = SortedMap(known.map { ($0.path, true) })
        return watch.unreadable.filter { !known.contains(key: $0.key) }.map { path, code in
            let alarm = alarms.raised[AlertKey(code: code, subject: path.bytes)]
            return Status.Pending(
                path: path, reason: code, sinceMilliseconds: alarm?.sinceMilliseconds ?? now.wallMilliseconds)
        }
    }

    @inline(__always)  // (As `Node.isWorking` is.)
    private var folderState: Status.FolderState {
        if record.isForked || watch.root != .healthy { return .halted }
        if phase != .running { return .starting }
        if record.isPaused { return .paused }
        if watch.isScanning || formats.review != nil { return .scanning }
        if isInSync { return .inSync }
        let allWait = plan.tasks.allSatisfy { $0.value.state == .claiming }
        // (What is dated too far ahead waits for a clock.)
        let waitsForPeer =
            !session.isLive || session.peerIsPaused || session.peerHeld > 0 || incoming.aheadOfUs != nil
        let isAnyLeft = counts.unsettled > 0 || !lockedSaves.isEmpty || !watch.unreadable.isEmpty
        // With other models there, or none, nobody can say that both show the same: that waits for a person.
        let isAnotherThere = !session.peerKeepsRecords || session.peerSets != nil && !session.sharesRecords
        let waitsForModels = !isAnyLeft && keepsRecords && isAnotherThere
        return isAnyLeft && allWait || waitsForPeer || waitsForModels || waitsForPeerAlone ? .waiting : .syncing
    }

    /// Paths of which the other node does not show yet what this one wrote. One that is settled nowhere counts once.
    @inline(__always)  // (As `Node.isWorking` is.)
    private func outgoing(_ log: [LogRecord], but listed: [Status.Pending]) -> [Status.Pending] {
        guard record.peer != nil else { return [] }
        let known = SortedMap(listed.map { ($0.path, true) })
        var since = SortedMap<Path, Int64>()
        for entry in log where entry.head.position > record.applied {
            let path =
                switch entry.change {
                case .put(let path, _): path
                case .relocate(let move): move.to
                }
            if !known.contains(key: path), since[path] == nil {
                since[path] = Int64(clamping: entry.time.wallMilliseconds)
            }
        }
        let reason = outgoingReason
        return since.map { Status.Pending(path: $0.key, reason: reason, sinceMilliseconds: $0.value) }
    }

    /// Saves of records that are told of when the lock ends that they were made under.
    @inline(__always)  // (As `Node.isWorking` is.)
    private func locked(but listed: [Status.Pending]) -> [Status.Pending] {
        if claims.entries.isEmpty { return [] }
        let locked = lockedSaves
        guard !locked.isEmpty else { return [] }
        let since = savesFoundSince
        return locked.map(\.key).filter { path in !listed.contains { $0.path == path } }
            .map { Status.Pending(path: $0, reason: .lockHeld, sinceMilliseconds: since) }
    }

    /// Saves of records that are told of once what was saved with them is there.
    @inline(__always)  // (As `Node.isWorking` is.)
    private func gathered(but listed: [Status.Pending]) -> [Status.Pending] {
        guard records.found.count > records.waiting.count else { return [] }
        let (known, since) = (SortedMap(listed.map { ($0.path, true) }), savesFoundSince)
        return records.found.map(\.key).filter { isGathered($0) && !known.contains(key: $0) }
            .map { Status.Pending(path: $0, reason: .waitingSave, sinceMilliseconds: since) }
    }

    private func isGathered(_ path: Path) -> Bool {
        records.found.contains(key: path) && !records.waiting.contains(key: path)
    }

    private var savesFoundSince: Int64 {
        now.wallMilliseconds - Int64(clamping: now.monotonicMilliseconds - records.firstFoundAt)
    }

    /// Why this path is not the same on both nodes, as far as this one knows. Nil if it is.
    public func reasonNotInSync(_ row: Row) -> MessageCode? {
        if row.isUnsettled { return reason(for: row) }
        if lockedSaves.contains(key: row.path) { return .lockHeld }
        if isGathered(row.path) { return .waitingSave }
        return record.peer != nil && row.version.own > record.applied ? outgoingReason : nil
    }

    @inline(__always)  // (As `Node.isWorking` is.)
    private var outgoingReason: MessageCode {
        if record.isForked { return .logForked }
        if record.isPaused { return .nodePaused }
        if !session.isLive { return session.isDisjoint ? .wireDisjoint : .peerAway }
        return session.peerIsPaused ? .peerPaused : .waitingPeer
    }

    /// Every unsettled row has a reason, stored or evident.
    private func reason(for row: Row) -> MessageCode {
        if record.isForked { return .logForked }
        if let reason = watch.root.code { return reason }
        if row.condition == .missing, !waitsForAuthor(row), row.waiting?.reason != .schemaInvalid {
            return record.held == nil ? .waitingChildren : .fuseDeletes
        }
        if record.isPaused { return .nodePaused }
        if let waiting = row.waiting { return waiting.reason }
        if !session.isLive { return session.isDisjoint ? .wireDisjoint : .peerAway }
        if row.condition == .damaged { return .stateDamaged }
        if session.peerIsPaused { return .peerPaused }
        return .waitingContent
    }

    /// What is evident and not stored with the row has an alert that knows since when.
    private func since(_ reason: MessageCode, _ row: Row) -> Int64 {
        if let waiting = row.waiting, waiting.reason == reason { return waiting.sinceMilliseconds }
        if reason == .fuseDeletes, let held = record.held { return held.sinceMilliseconds }
        return alarms.raised[AlertKey(code: reason)]?.sinceMilliseconds ?? now.wallMilliseconds
    }

    // MARK: Versions

    mutating func restore(
        _ id: CommandID, _ version: VersionID, to path: Path?, _ answers: inout Answers, into effects: inout Effects
    ) {
        guard isWorking else {
            effects.add(.answer(id, .refused(watch.root.code ?? standstill)))
            return
        }
        guard let kept = answers.versions().first(where: { $0.id == version }) else {
            effects.add(.answer(id, .refused(.requestNotFound)))
            return
        }
        // Asked for twice at once: by the time of the second the place of the version may hold what has made room for the first.
        guard apply.givingBack.updateValue(true, forKey: version) == nil else {
            effects.add(.answer(id, .refused(.pathBusy)))
            return
        }
        let target = path ?? kept.path
        copyKept(id, kept, target, into: &effects)
    }

    /// The version goes back into the tree by its name; a file that stands there takes its place among the versions. Directories that
    /// are not there any more are made for it.
    mutating func restoreOver(
        _ id: CommandID, _ kept: KeptVersion, _ target: Path, _ answers: inout Answers, into effects: inout Effects
    ) {
        let isDue = takeOrder(of: id, at: target)
        let old = standing(at: target, answers.rows().first)
        let parents = answers.rowsByPath()
        guard !isHeldBack(target) else {
            endGivingBack(kept, into: &effects)
            effects.add(.answer(id, .refused(.schemaInvalid)))
            return
        }
        let isBelowFile = target.parents.contains { parents[$0]?.disk?.entry.content.isDirectory == false }
        guard !apply.touches(target), !target.isReserved, !target.isRoot, old?.entry.content.isDirectory != true,
            !isBelowFile
        else {
            endGivingBack(kept, into: &effects)
            effects.add(.answer(id, .refused(.pathBusy)))
            return
        }
        if !isDue {
            // Who shows what stands there saves it first.
            switch turn(of: .restore(id, kept), at: target, [Access(target, .write(.merging))], into: &effects) {
            case .come: break
            case .later: return
            case .taken:
                endGivingBack(kept, into: &effects)
                return effects.add(.answer(id, .refused(.lockHeld)))
            }
        }
        let (there, here) = (kept.place, Place.tree(target))
        let program: DiskProgram
        if let stat = old?.stat {
            program = DiskProgram(
                [
                    .expect(here, stat), .expectUnheld(here), .exchange(there, here), .expectContent(there, stat),
                    .inspect(there), .syncParent(here), .syncParent(there),
                ] + (stat.kind == .file ? [.syncFile(there)] : []))
        } else {
            program = DiskProgram([.move(there, to: here), .syncParent(here), .syncParent(there)])
        }
        apply.restoring[target] = true
        let aside = old.map { replaced(kept, by: $0, of: target) }
        let intent = announce(target, from: aside ?? kept, replacing: old?.stat)
        run(
            programs(toMakeParentsOf: target, parents) + [program],
            for: .restoring(id, kept, target, old, intent.stage), after: intent, into: &effects)
    }

    /// What has to make room. A save that waits for its author is in no row: that speaks of what was told of before, and after a delete that
    /// waits nothing stands there.
    private func standing(at path: Path, _ row: Row?) -> Row.DiskState? {
        guard records.alarmed.contains(key: path), let save = records.found[path] else { return row?.disk }
        let origin = Origin(author: .own, position: record.ownHead.position, time: clock.last)
        return save.stat.map { Row.DiskState(entry: save.entry, stat: $0, origins: Origins(all: origin)) }
    }

    /// As a person makes them, one by one; another program may be faster. They are like the directory that they are made in.
    private func programs(toMakeParentsOf target: Path, _ rows: RowMap) -> [DiskProgram] {
        var mode: UInt16 = 0o755
        var programs: [DiskProgram] = []
        for parent in target.parents {
            if let disk = rows[parent]?.disk {
                mode = disk.entry.mode
            } else {
                let here = Place.tree(parent)
                programs.append(DiskProgram([.createDirectory(here, mode: mode), .syncParent(here)]))
            }
        }
        return programs
    }

    /// The operation that makes it so, where something has to make room.
    private static let restoringExchange = 2

    mutating func finishRestore(
        _ id: CommandID, _ kept: KeptVersion, _ target: Path, _ old: Row.DiskState?, _ intent: StageName,
        _ results: [DiskResult], into effects: inout Effects
    ) {
        // (Those before it made directories.)
        let failure = results.last?.failure
        if old != nil, failure?.index == Node.restoringExchange + 1, failure?.error == .mismatch {
            // A save in that very moment: everything back, the save first. Until it is back the intent stands.
            let (there, here) = (kept.place, Place.tree(target))
            let program = DiskProgram([.inspect(there), .exchange(there, here), .syncParent(here), .syncParent(there)])
            effects.add(.disk(newJob(.takingBack(id, kept, target, intent)), [program]))
            return
        }
        endRestoring(target, intent, into: &effects)
        let answer = failure.map { Answer.refused(Node.reason(for: $0.error)) } ?? .done
        // Once it is back in the tree the record must not go on telling of it, even if nobody can say that the name lasts.
        // What could not be looked at, if it is a save in that very moment, the late look will find.
        guard let result = results.last, failure.map({ $0.index > (old == nil ? 0 : Node.restoringExchange) }) ?? true
        else {
            endGivingBack(kept, into: &effects)
            effects.add(.answer(id, answer))
            return
        }
        // What stands there now is as old as the version, but a person put it there: no power cut did.
        noteHandled(target)
        noteUnsynced(kept, at: target)
        if hasHeader(target) || book(of: target) != nil { formats.insisted[target] = true }
        effects.add(.report(.note(Note(code: .versionRestored, subject: target.bytes))))
        enqueue(.settleRestore(id, kept, target, old, result.inspected.first ?? old?.stat, answer))
    }

    mutating func finishTakingBack(
        _ id: CommandID, _ kept: KeptVersion, _ target: Path, _ intent: StageName, _ results: [DiskResult],
        into effects: inout Effects
    ) {
        endRestoring(target, intent, into: &effects)
        if let result = results.first, result.failure?.index == 1, let save = result.inspected.first ?? nil {
            // What it was to change places with is gone again: the save goes into the tree beside it.
            apply.givingBack[kept.id] = nil
            rescue(kept.with(stat: save), into: &effects)
        } else if results.first?.failure == nil {
            endGivingBack(kept, into: &effects)
        } else {
            apply.givingBack[kept.id] = nil
        }
        effects.add(.answer(id, .refused(.pathBusy)))
    }

    private mutating func endRestoring(_ target: Path, _ intent: StageName, into effects: inout Effects) {
        apply.restoring[target] = nil
        look(at: target)
        for parent in target.parents { look(at: parent) }
        var batch = Batch()
        batch.add(.dropIntent(intent))
        store(&batch, into: &effects)
    }

    mutating func settleRestore(
        _ id: CommandID, _ kept: KeptVersion, _ target: Path, _ old: Row.DiskState?, _ stat: Stat?,
        _ answer: Answer, into effects: inout Effects
    ) {
        var batch = Batch()
        apply.givingBack[kept.id] = nil
        noteTaken(kept)
        if let old, let stat {
            let version = replaced(kept, by: old, of: target)
            batch.add(.putVersion(version.with(stat: stat)))
            expectLateWriter(of: version)
        } else {
            batch.add(.dropVersion(kept.id))
        }
        store(&batch, then: .answer(id, answer), into: &effects)
    }

    /// The file that takes the place of a version that goes back into the tree.
    private func replaced(_ kept: KeptVersion, by old: Row.DiskState, of target: Path) -> KeptVersion {
        KeptVersion(
            id: kept.id, path: target, entry: old.entry, stat: old.stat, author: old.origins.content.author,
            keptMilliseconds: now.wallMilliseconds, reason: .versionKept, isQuarantined: kept.isQuarantined)
    }

    // MARK: Stopping

    mutating func requestStop() {
        if phase == .recovering { phase = .stopping } else if phase == .running { phase = .stopping }
    }

    /// No new work is begun; what is on its way through the disk or the store is finished, then the clean mark is set.
    mutating func pumpStop(into effects: inout Effects) {
        guard phase == .stopping, !timers.isMarkingStop, apply.batch == nil, !apply.isTransacting, lane.isIdle,
            incoming.relocation == nil
        else { return }
        timers.isMarkingStop = true
        enqueue(.markStopped)
        _ = pumpLane(into: &effects)
    }
}
