import SyncModel

/// The link: who the peer is, where each log stands, what is acknowledged.
///
/// After `Hello` each side sends its log from where the other one is. A peer that is too far behind gets the rows instead;
/// a peer that knows more of our log than we do proves that we were set back (`Node+Rollback`).
struct SessionState: Sendable {
    var link: LinkID?
    /// The peer's hello has been answered for; frames other than hello may flow.
    var isLive = false
    var hasHello = false
    var peerTellsChanges = false
    var peerRenewsKeys = false
    var helloDeadline: UInt64?
    /// The other node has greeted, in no version that is spoken here.
    var isDisjoint = false
    var outboundBytes = 0
    /// Frames that came before the greeting was weighed.
    var early = Deque<Frame>()

    /// Whole frames that came while this node was still recovering.
    var held = Deque<[UInt8]>()
    static let earlyMax = 64

    /// Our log has been handed to the link up to here.
    var sentThrough = LogPosition.none
    /// Heads sent and not yet acknowledged, oldest first.
    var unacknowledged = Deque<LogHead>()
    var isReadingLog = false
    /// The log may be sent: the greeting, rows or a renumbering before it are done.
    var maySendLog = false
    /// Rows are being sent instead of the log.
    var rows: SendingRows?

    struct SendingRows: Sendable {
        let through: LogHead
        var after: Path?
        var isReading = false
        /// Frames that the peer has not said to have taken in.
        var untaken = 0
    }

    /// The peer tells its rows instead of its log, and somebody has been told so.
    var toldOfRows = false

    var lastAcknowledgement: Acknowledgement?
    /// The peer showed all we had at this head.
    var peerIsSettled = false
    var asksToExpand: LogPosition?
    /// Directory moves that the peer wants to be told path by path, and that wait in the lane.
    var expansions = 0
    var toldRollback = false
    /// What was last said of this node, and what the other has said of itself.
    var saidPaused = false
    var peerIsPaused = false
    /// How many deletes wait for a person here, as the other was last told, and there, as it has told.
    var peerHeedsHolds = false
    var saidHeld = 0
    var peerHeld = 0
    /// The end of the peer's log when it greeted us: its past up to here is read before anything of it is applied.
    var pastEnd: LogPosition?
    /// The epochs of the peer's log when the hellos were written: where it was, and how far we said to know it.
    var peerEpoch = Epoch.none
    var claimedEpoch = Epoch.none

    /// The peer reads for which purpose a claim is made.
    var peerReadsPurposes = false
    var peerReadsWaits = false

    // Records (`Node+RecordLink`)
    /// The peer can take change sets.
    var peerKeepsRecords = false
    var peerReadsLocks = false
    /// It has the same models.
    var sharesRecords = false
    var saidRecords = false
    /// Its last change set when it said so, and of our own the last it had, was sent and has said to have stored.
    var peerSets: LogPosition?
    var setsSent: LogPosition?
    var setsTaken: LogPosition?
    /// Sets of the peer's own after this may be unknown to it.
    var giveBackAfter: LogPosition?
    var isReadingSets = false
    var incomingSet = SetAssembly()
    var setsComing: [StoredChangeSet] = []
    var isTakingSets = false
    var setsAcknowledged = LogPosition.none
    /// Whatever the peer still makes has seen so much of our own; and what we have told it of that.
    var setsShown = LogPosition.none
    var setsShownToPeer = LogPosition.none
    /// The last of our own sets that it had when it said so. We have asked for what we have lost of them.
    var peerKnows = LogPosition.none
    var askedForLost = false
    /// Of its own sets, which a set-back node gets back, what has come; and the last of them, which is stored with what follows from it.
    var givenBack = SortedMap<LogPosition, Bool>()
    var lastLost: StoredChangeSet?

    /// How far the peer has forgotten, its own sets and ours. It wants what is left here, and how far that has been told; what
    /// is left there is wanted, and has come so far.
    var peerForgot = SetHeads()
    var peerWantsBase = false
    var baseGoing: BaseGoing?
    var askedForBase = false
    var baseComing: BaseComing?

    // Formats (`Node+FormatAlarms`)
    var peerTellsFormats = false
    var saidFormats = false

    static let recordsFeature = Array("records".utf8)
}

extension Node {
    // MARK: Life of a link

    mutating func connect(_ link: LinkID, into effects: inout Effects) {
        guard phase == .running || phase == .recovering else { return }
        let wasLive = session.isLive
        session = SessionState()
        if wasLive { loseLinkOfClaims(into: &effects) }
        session.link = link
        session.helloDeadline = now.monotonicMilliseconds + limits.helloMilliseconds
        incoming.queue.removeAll()
        incoming.isBeyondUs = false
        incoming.aheadOfUs = nil
        if let entry = incoming.expanding { session.asksToExpand = entry.head.position }
        serve = ServeState()
    }

    mutating func disconnect(_ link: LinkID, into effects: inout Effects) {
        guard session.link == link else { return }
        let wasLive = session.isLive
        session = SessionState()
        if wasLive { loseLinkOfClaims(into: &effects) }
        serve = ServeState()
    }

    /// The other end does not behave; nothing of what it sent is used.
    mutating func reject(_ code: MessageCode, into effects: inout Effects) {
        guard let link = session.link else { return }
        setAlarm(code, if: true, into: &effects)
        effects.add(.close(link, code))
        disconnect(link, into: &effects)
    }

    mutating func send(_ frame: Frame, into effects: inout Effects) {
        guard let link = session.link else { return }
        let bytes = FrameCodec.encode(frame, checksum: checksum)
        session.outboundBytes += bytes.count
        effects.add(.send(link, bytes))
    }

    mutating func drain(_ count: Int, on link: LinkID) {
        if session.link == link { session.outboundBytes = max(0, session.outboundBytes - count) }
    }

    var mayFillLink: Bool { session.isLive && session.outboundBytes < limits.outboundBytesMax }

    mutating func pumpSession(into effects: inout Effects) {
        guard phase == .running, session.link != nil else { return }
        if !session.hasHello, stores.isEmpty || record.peer != nil, isImportDurable {
            session.hasHello = true
            incoming.cursor = stores.durableImportedHead
            session.claimedEpoch = stores.durableImportedHead.position.epoch
            send(.hello(hello), into: &effects)
            // The hello has said it already.
            session.lastAcknowledgement = Acknowledgement(head: stores.durableImportedHead, isSettled: false)
            session.helloDeadline = now.monotonicMilliseconds + limits.helloMilliseconds
        }
        while let bytes = session.held.popFirst(), let link = session.link { receive(bytes, on: link, into: &effects) }
        guard session.link != nil else { return }
        if let deadline = session.helloDeadline, deadline <= now.monotonicMilliseconds {
            reject(.peerAway, into: &effects)
            return
        }
        guard session.isLive, !record.isForked else { return }
        while !recovery.isRenumbering, let frame = session.early.popFirst() {
            if takeLive(frame, into: &effects) { continue }
            reject(.peerProtocolViolation, into: &effects)
            return
        }
        if let position = session.asksToExpand {
            session.asksToExpand = nil
            send(.expand(position), into: &effects)
        }
        if session.saidPaused != record.isPaused {
            session.saidPaused = record.isPaused
            send(.pausing(record.isPaused), into: &effects)
        }
        if let rows = session.rows, !record.isPaused, setsAreSent, !rows.isReading, rows.untaken == 0, mayFillLink {
            session.rows?.isReading = true
            enqueue(.sendRows(after: rows.after, through: rows.through))
        }
        if let time = timers.askClockAt, time <= now.monotonicMilliseconds {
            // Asked again until it answers: with much on its way out already it does not.
            timers.askClockAt = now.monotonicMilliseconds + limits.clockAskMilliseconds
            send(.ping, into: &effects)
        }
        if let time = incoming.aheadOfUs, isInTime(time) {
            // What was passed over is sent again on the next link.
            reject(.clockSkew, into: &effects)
            return
        }
        let window = max(1, limits.importRecordsMax / 2)
        pumpRecordLink(into: &effects)
        while session.maySendLog, !record.isPaused, setsAreSent, !session.isReadingLog, !recovery.isRenumbering,
            mayFillLink,
            session.unacknowledged.count < window, session.sentThrough < stores.durableOwnHead.position, !isEpochEmpty
        {
            if let entries = logTail.entries(after: session.sentThrough, limit: limits.logRecordsPerFrameMax) {
                sendLog(entries, into: &effects)
                logTail.drop(through: session.sentThrough)
            } else {
                session.isReadingLog = true
                enqueue(.sendLog)
            }
        }
        tellOfHeld(into: &effects)
    }

    /// The other node knows nothing of what is held here, and would say that it is in sync. That nothing is held any more it hears after
    /// what came of it.
    private mutating func tellOfHeld(into effects: inout Effects) {
        guard session.peerHeedsHolds else { return }
        let held = record.held?.files ?? 0
        let isThrough = deletes.isIdle && recordsAreIdle && session.sentThrough >= record.ownHead.position
        guard held != session.saidHeld, held > 0 || isEpochEmpty || isThrough else { return }
        session.saidHeld = held
        send(.holding(files: UInt32(clamping: held)), into: &effects)
    }

    /// Nothing of the last link is still on its way into the rows: a peer that has lost its state counts its epochs on from what
    /// the hello says is known here.
    private var isImportDurable: Bool {
        !incoming.isBusy && incoming.pages == 0 && incoming.ends == 0
            && stores.durableImportedHead == record.importedHead
    }

    private var hello: Hello {
        Hello(
            versionMin: Hello.protocolMin, versionMax: Hello.protocolMax,
            features: [Hello.changedLists] + (keepsRecords ? [SessionState.recordsFeature, Hello.saveLocks] : [])
                + (guardsFormats ? [FormatState.support] : []) + features,
            name: record.name, program: Array(program.prefix(64)), wallMilliseconds: now.wallMilliseconds,
            ownHead: stores.durableOwnHead, known: known)
    }

    /// What is stored here of the peer's log: how far each epoch has come, and last the mark of one whose rows are coming.
    private var known: [LogHead] {
        let head = stores.durableImportedHead
        return record.importedEpochs.filter { $0.position < head.position } + (head == .none ? [] : [head])
            + record.importedEpochs.filter { $0.position > head.position }
    }

    // MARK: Frames

    mutating func receive(_ bytes: [UInt8], on link: LinkID, into effects: inout Effects) {
        guard session.link == link else { return }
        if phase == .recovering {
            session.held.append(bytes)
            if session.held.count > SessionState.earlyMax { reject(.peerProtocolViolation, into: &effects) }
            return
        }
        guard phase == .running else { return }
        guard let frame = FrameCodec.decode(bytes, checksum: checksum) else {
            reject(.peerProtocolViolation, into: &effects)
            return
        }
        if !take(frame, into: &effects) { reject(.peerProtocolViolation, into: &effects) }
    }

    /// False for what no honest peer sends.
    private mutating func take(_ frame: Frame, into effects: inout Effects) -> Bool {
        if case .hello(let hello) = frame {
            guard session.helloDeadline != nil, !session.isLive else { return false }
            session.helloDeadline = nil
            guard let link = session.link, isPlausible(hello) else { return false }
            enqueue(.greet(hello, link))
            return true
        }
        guard session.helloDeadline == nil else { return false }
        // (In its own version it may say anything.)
        if session.isDisjoint { return true }
        if !session.isLive || recovery.isRenumbering {
            // Frames behind a hello that is still being weighed are for after it.
            session.early.append(frame)
            return session.early.count <= SessionState.earlyMax
        }
        return takeLive(frame, into: &effects)
    }

    private mutating func takeLive(_ frame: Frame, into effects: inout Effects) -> Bool {
        switch frame {
        case .hello: return false
        case .log(let entries):
            overdue.heardAt = now.monotonicMilliseconds
            if let fault = accept(entries, into: &effects) {
                reject(fault, into: &effects)
                return true
            }
            if incoming.aheadOfUs != nil { waitForClock(into: &effects) }
            return true
        case .acknowledge(let acknowledgement): return take(acknowledgement, into: &effects)
        case .rows(let states):
            overdue.heardAt = now.monotonicMilliseconds
            guard areCredible(states) else { return false }
            if incoming.aheadOfUs == nil, let time = latestTime(of: states), !isInTime(time) {
                guard isOfAClock(time) else { return false }
                incoming.aheadOfUs = time
                waitForClock(into: &effects)
            }
            guard incoming.aheadOfUs == nil else { return true }
            if !session.toldOfRows {
                session.toldOfRows = true
                effects.add(.report(.note(Note(code: .logMissing))))
            }
            incoming.pages += 1
            enqueue(.importPage(states))
            return incoming.pages <= SessionState.earlyMax
        case .rowsEnd(let head):
            guard isPlausible(end: head) else { return false }
            guard head.position >= incoming.cursor.position, incoming.aheadOfUs == nil else { return true }
            incoming.cursor = head
            incoming.ends += 1
            setAlarm(.logNewer, if: records.held.areNewer, into: &effects)
            enqueue(.finishRows(head))
            return true
        case .want(let contents): return noteWishes(contents.map { .content($0, base: nil) })
        case .wantChanged(let wishes): return noteWishes(wishes.map { .content($0.content, base: $0.base) })
        case .wantChunks(let content, let indexes):
            guard indexes.count <= FetchState.askedPerFrameMax else { return false }
            return noteWishes([.chunks(content, indexes)])
        case .chunkList(let page):
            takeChunkList(page, into: &effects)
            return true
        case .changedList(let list):
            takeChangedList(list)
            return true
        case .chunks(let content, let chunks):
            takeChunks(content, chunks, into: &effects)
            return true
        case .contents(let contents):
            takeSmallContents(contents, into: &effects)
            return true
        case .gone(let content):
            takeRefusal(of: content, reason: .contentUnavailable, into: &effects)
            return true
        case .later(let content):
            takeRefusal(of: content, reason: .contentChanging, into: &effects)
            return true
        case .rolledBack(let position):
            session.pastEnd = nil
            // The peer does not know the move any more that we asked it to tell path by path. Rows come instead of everything.
            incoming.expanding = nil
            session.asksToExpand = nil
            guard record.adoptBeyond == nil else { return true }
            record.adoptBeyond = position
            // A hello of an epoch later than any we know: the peer repeats itself, and part of the new epoch may be here.
            record.adoptSparing = session.peerEpoch.number > session.claimedEpoch.number ? session.peerEpoch : nil
            effects.add(.report(.note(Note(code: .logRolledBack))))
            var batch = Batch()
            store(&batch, into: &effects)
            enqueue(.adopt(after: nil, beyond: position))
            return true
        case .expand(let position):
            session.expansions += 1
            enqueue(.expand(position))
            return session.expansions <= SessionState.earlyMax
        case .expansion(let position, let states, let isLast): return takeExpansion(position, states, isLast: isLast)
        case .records(let hello): return greetRecords(hello, into: &effects)
        case .changeSet(let piece):
            overdue.heardAt = now.monotonicMilliseconds
            return take(piece)
        case .setsBase(let base): return take(base)
        case .claim(let claim): return take(claim, into: &effects)
        case .claimAnswer(let id, let isGranted):
            takeClaimAnswer(id, isGranted: isGranted, into: &effects)
            return true
        case .releaseClaim(let id):
            takeRelease(of: id, into: &effects)
            return true
        case .claimWaits(let waits):
            take(waits, into: &effects)
            return true
        case .setsShown(let position):
            session.setsShown = position
            return true
        case .setsTaken(let position):
            noteSetsTaken(position)
            return true
        case .formats(let support):
            if session.peerTellsFormats { noteSupport(support) }
            return true
        case .ping:
            if mayFillLink { send(.pong(wallMilliseconds: now.wallMilliseconds), into: &effects) }
            return true
        case .pong(let wall):
            judgeClock(of: wall, into: &effects)
            return true
        case .pausing(let isPaused):
            session.peerIsPaused = isPaused
            waitAnew()
            return true
        case .holding(let files):
            session.peerHeld = Int(clamping: files)
            return true
        case .unknown: return true
        case .halt(let reason):
            heedHalt(for: reason, into: &effects)
            return true
        }
    }

    /// A fork is one for both nodes. Whatever else stops the other node is wrong there, and here it is only known that it stands still:
    /// until it works again (see `take(_:into:)`), however often it greets before that.
    private mutating func heedHalt(for reason: MessageCode, into effects: inout Effects) {
        if reason == .logForked { return fork(into: &effects) }
        let cause = reason == .nodeHalted ? "" : ": \(reason)"
        let detail = "\(Path.escape(record.peerName)) says that it stands still\(cause)."
        setAlarm(.nodeHalted, AlertFacts(detail: detail), if: true, into: &effects)
    }

    // MARK: Greeting

    /// Epochs are counted up one at a time; a number far ahead would only serve to use up the numbers there are.
    private func isPlausible(_ hello: Hello) -> Bool {
        let limit = UInt64(record.ownHead.position.epoch.number) + 1_000_000
        return hello.known.allSatisfy { UInt64($0.position.epoch.number) <= limit }
    }

    /// A peer begins an epoch with its first entry after a start, and one when it has been set back: a log that ended far
    /// beyond what it has spoken of would never be read again.
    private func isPlausible(end: LogHead) -> Bool {
        let spokenOf = max(session.peerEpoch.number, incoming.cursor.position.epoch.number)
        return UInt64(end.position.epoch.number) <= UInt64(spokenOf) + 2
    }

    mutating func greet(_ hello: Hello, on link: LinkID, _ answers: inout Answers, into effects: inout Effects) {
        guard session.link == link, !session.isLive else { return }
        guard hello.versionMin <= Hello.protocolMax, hello.versionMax >= Hello.protocolMin else {
            return stayApart(from: hello, into: &effects)
        }
        if let node = hello.node, node != record.peer {
            guard node != record.id else { return reject(.peerProtocolViolation, into: &effects) }
            // Everything that is known of the peer goes by who it is, so the shell starts the node anew with that.
            effects.add(.report(.peerIs(node)))
            return
        }
        setAlarm(.wireDisjoint, if: false, into: &effects)
        setAlarm(.peerProtocolViolation, if: false, into: &effects)
        setAlarm(.logCorrupt, if: false, into: &effects)
        setAlarm(.peerAway, if: false, into: &effects)
        judgeClock(of: hello.wallMilliseconds, into: &effects)
        record.peerName = hello.name
        peerProgram = hello.program
        session.peerTellsChanges = hello.features.contains(Hello.changedLists)
        session.peerReadsPurposes = hello.features.contains(Hello.claimPurposes)
        session.peerReadsWaits = hello.features.contains(Hello.claimWaits)
        session.peerHeedsHolds = hello.features.contains(Hello.heldDeletes)
        session.peerRenewsKeys = hello.features.contains(Hello.renewsKeys)
        session.peerEpoch = hello.ownHead.position.epoch

        let standing = standing(of: hello.known, &answers)
        session.isLive = true
        overdue.heardAt = now.monotonicMilliseconds
        session.peerKeepsRecords = hello.features.contains(SessionState.recordsFeature)
        session.peerReadsLocks = hello.features.contains(Hello.saveLocks)
        tellOfModels(hello, into: &effects)
        noteSupport(of: hello)
        if hello.ownHead.position.seq > 0 { session.pastEnd = hello.ownHead.position }
        askAgain()
        plan.startRound()
        if let common = record.rollbackCommon {
            if hello.known.contains(where: { $0.position.epoch == record.ownHead.position.epoch }) {
                record.rollbackCommon = nil
            } else {
                announceRollback(common, into: &effects)
                return
            }
        }
        switch standing {
        case .forked:
            send(.halt(.logForked), into: &effects)
            fork(into: &effects)
        case .setBack(let common):
            startRollback(known: hello.known, common: common, into: &effects)
        case .at(let head):
            noteAcknowledged(head)
            startSending(after: head.position)
        case .behind:
            sendRowsInstead()
        }
        var batch = Batch()
        if record != recordEmitted { store(&batch, into: &effects) }
    }

    /// The two have no version in common: what the other node says of itself is all that can be known of it.
    private mutating func stayApart(from hello: Hello, into effects: inout Effects) {
        session.isDisjoint = true
        record.peerName = hello.name
        peerProgram = hello.program
        let theirs = Node.spoken(hello.versionMin...hello.versionMax)
        let ours = Node.spoken(Hello.protocolMin...Hello.protocolMax)
        let isBehind = hello.versionMax < Hello.protocolMin
        let detail =
            "\(Path.escape(hello.name)) speaks \(theirs), \(Path.escape(record.name)) \(ours): "
            + "\(Path.escape(isBehind ? hello.name : record.name)) is the older one."
        setAlarm(.peerAway, if: false, into: &effects)
        setAlarm(.wireDisjoint, AlertFacts(detail: detail), if: true, into: &effects)
        var batch = Batch()
        if record != recordEmitted { store(&batch, into: &effects) }
    }

    private static func spoken(_ versions: ClosedRange<UInt16>) -> String {
        versions.count == 1
            ? "version \(versions.lowerBound)" : "versions \(versions.lowerBound) to \(versions.upperBound)"
    }

    /// A wrong clock costs nothing but the better name in a conflict, but people should know. While it is wrong the peer is
    /// asked for its time now and then, so that the alert goes when the cause does.
    private mutating func judgeClock(of wall: Int64, into effects: inout Effects) {
        let skew = wall.subtractingReportingOverflow(now.wallMilliseconds)
        let isSkewed = skew.overflow || skew.partialValue.magnitude > limits.clockSkewMilliseconds
        if isSkewed || incoming.aheadOfUs != nil {
            waitForClock(into: &effects)
        } else {
            setAlarm(.clockSkew, if: false, into: &effects)
            timers.askClockAt = nil
        }
    }

    private mutating func waitForClock(into effects: inout Effects) {
        setAlarm(.clockSkew, if: true, into: &effects)
        timers.askClockAt = now.monotonicMilliseconds + limits.clockAskMilliseconds
    }

    private enum Standing {
        case at(LogHead)
        /// The peer needs entries we no longer keep.
        case behind
        /// The peer knows entries of ours that we do not: our state is older than what we once said.
        case setBack(common: LogPosition)
        case forked
    }

    /// Compares what the peer has of our log with our log.
    private func standing(of known: [LogHead], _ answers: inout Answers) -> Standing {
        let records = known.map { ($0, answers.logRecord()) }.filter { !$0.0.isMark }
        for (head, entry) in records { if let entry, entry.head.chain != head.chain { return .forked } }
        if known.contains(where: { $0.isMark && isLost($0.position.epoch) }) {
            return .setBack(common: common(of: records))
        }
        guard let (last, entry) = records.last else {
            return record.prunedThrough == .none ? .at(.none) : .behind
        }
        if entry != nil || last == record.prunedThrough { return .at(last) }
        if last.position < record.prunedThrough.position { return .behind }
        return .setBack(common: common(of: records))
    }

    /// An epoch of ours that we know nothing of. (One before the present one may have been forgotten.)
    private func isLost(_ epoch: Epoch) -> Bool {
        let present = record.ownHead.position.epoch
        return epoch.number >= present.number && epoch != present
    }

    private func common(of records: [(LogHead, LogRecord?)]) -> LogPosition {
        var common = record.acknowledged.position
        for (head, entry) in records where entry != nil { common = max(common, head.position) }
        // The peer has this epoch to a later entry than we do: all we have of it is common.
        for (head, _) in records where head.position.epoch == record.ownHead.position.epoch {
            common = max(common, min(head.position, record.ownHead.position))
        }
        return common
    }

    mutating func fork(into effects: inout Effects) {
        guard !record.isForked else { return }
        record.isForked = true
        setAlarm(.logForked, if: true, into: &effects)
        var batch = Batch()
        store(&batch, into: &effects)
    }

    mutating func startSending(after position: LogPosition) {
        session.sentThrough = position
        session.maySendLog = true
    }

    mutating func sendRowsInstead() {
        session.rows = SessionState.SendingRows(through: stores.durableOwnHead)
    }

    // MARK: The log, out

    mutating func sendLog(_ answers: inout Answers, into effects: inout Effects) {
        session.isReadingLog = false
        let entries = answers.log()
        guard session.isLive, session.maySendLog else { return }
        let unsent = entries.lazy.filter { [sentThrough = session.sentThrough] in $0.head.position > sentThrough }
        sendLog(unsent.map { LogTail.Entry(head: $0.head, bytes: LogCodec.encode($0)) }, into: &effects)
    }

    /// As many as a frame takes of those that are durable.
    private mutating func sendLog(_ entries: some Sequence<LogTail.Entry>, into effects: inout Effects) {
        var frame: [[UInt8]] = []
        var size = 0
        for entry in entries {
            guard entry.head.position <= stores.durableOwnHead.position else { break }
            if size + entry.bytes.count > Limits.frameBytesMax / 2 { break }
            size += entry.bytes.count + 4
            frame.append(entry.bytes)
            session.sentThrough = entry.head.position
            session.unacknowledged.append(entry.head)
        }
        session.peerIsSettled = false
        if !frame.isEmpty { send(.log(frame), into: &effects) }
    }

    /// Own latest revisions, page by page; entries written meanwhile follow as log.
    mutating func sendRows(_ through: LogHead, _ answers: inout Answers, into effects: inout Effects) {
        guard session.isLive, session.rows?.through == through else { return }
        session.rows?.isReading = false
        let rows = answers.rows()
        let states = rows.compactMap { row in row.head(by: .own).map { RowState(path: row.path, revision: $0) } }
        for part in Node.frames(of: states) {
            session.rows?.untaken += 1
            send(.rows(part), into: &effects)
        }
        if rows.count == limits.batchPathsMax, let last = rows.last {
            session.rows?.after = last.path
            return
        }
        session.rows = nil
        session.unacknowledged.append(through)
        send(.rowsEnd(through), into: &effects)
        startSending(after: through.position)
    }

    // MARK: Acknowledgements

    private mutating func take(_ acknowledgement: Acknowledgement, into effects: inout Effects) -> Bool {
        let head = acknowledgement.head
        if let untaken = session.rows?.untaken, untaken > 0, !acknowledgement.isSettled {
            session.rows?.untaken = untaken - 1
        }
        // Of a log we no longer have: the peer has not heard of our setback yet.
        if record.rollbackCommon != nil {
            // (While our new epoch is empty there is nothing of it that the peer could acknowledge.)
            // Rows sent before it began end with an entry of the epoch before, and whoever has those has heard.
            let isOfNewEpoch = head.position.epoch == record.ownHead.position.epoch
            let isOfRows = session.unacknowledged.contains(head)
            guard isOfNewEpoch || isOfRows || isEpochEmpty && session.toldRollback && acknowledgement.isSettled else {
                return true
            }
            record.rollbackCommon = nil
        }
        guard head.position <= stores.durableOwnHead.position || head == .none else { return false }
        // Who stands still takes nothing in, and says so of nothing.
        setAlarm(.nodeHalted, if: false, into: &effects)
        while let first = session.unacknowledged.first, first.position <= head.position {
            if first.position == head.position && first.chain != head.chain {
                send(.halt(.logForked), into: &effects)
                fork(into: &effects)
                return true
            }
            _ = session.unacknowledged.popFirst()
        }
        // Stored since its hello, from an earlier link: sent again, it would never be acknowledged again.
        if session.maySendLog, head.position > session.sentThrough { session.sentThrough = head.position }
        noteAcknowledged(head)
        session.peerIsSettled = acknowledgement.isSettled && (head == stores.durableOwnHead || isEpochEmpty)
        if session.peerIsSettled { record.applied = max(record.applied, head.position) }
        pruneLog(into: &effects)
        return true
    }

    /// What happened while we were apart is still coming in. States that have been overtaken since are neither fetched nor
    /// shown, so that what comes of a time apart does not depend on where a frame ends.
    var isCatchingUp: Bool {
        guard session.isLive, !incoming.isBeyondUs, let end = session.pastEnd else { return false }
        return record.importedHead.position < end
    }

    /// Our log has begun a new epoch and said nothing in it yet.
    var isEpochEmpty: Bool { stores.durableOwnHead.position.seq == 0 }

    private mutating func noteAcknowledged(_ head: LogHead) {
        guard head.position > record.acknowledged.position else { return }
        record.acknowledged = head
        timers.acknowledged.append(head)
    }

    private mutating func pruneLog(into effects: inout Effects) {
        var through: LogHead?
        while timers.acknowledged.count > limits.logRecordsKept { through = timers.acknowledged.popFirst() }
        guard let through, through.position > record.prunedThrough.position else { return }
        record.prunedThrough = through
        var batch = Batch()
        batch.add(.dropLog(through: through.position))
        store(&batch, into: &effects)
    }

    /// Says what is durable here, and whether the folder shows it all; only when that has changed.
    mutating func pumpAcknowledgement(into effects: inout Effects) {
        guard phase == .running, session.isLive, !record.isForked, session.link != nil else { return }
        let isSettled = counts.unsettled == 0 && isQuiet
        let acknowledgement = Acknowledgement(head: stores.durableImportedHead, isSettled: isSettled)
        if acknowledgement == session.lastAcknowledgement { return }
        if acknowledgement.head == session.lastAcknowledgement?.head, !isSettled { return }
        session.lastAcknowledgement = acknowledgement
        send(.acknowledge(acknowledgement), into: &effects)
    }
}
