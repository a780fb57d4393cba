import SyncModel

/// The life of a link, and what comes over it: each frame goes to whom it concerns.
extension Node {
    // MARK: Life of a link

    mutating func connect(_ link: LinkID, into effects: inout Effects) {
        guard phase == .running || phase == .recovering else { return }
        let wasLive = session.isLive
        session = SessionState()
        if wasLive { loseLinkOfClaims(into: &effects) }
        session.link = link
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
        while session.hasHello, let bytes = session.held.popFirst(), let link = session.link {
            receive(bytes, on: link, into: &effects)
        }
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
        guard session.link == link, phase == .running || phase == .recovering else { return }
        guard session.hasHello else {
            session.held.append(bytes)
            if session.held.count > SessionState.earlyMax { reject(.peerProtocolViolation, into: &effects) }
            return
        }
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
            enqueueImport(.importPage(states))
            return incoming.pages <= SessionState.earlyMax
        case .rowsEnd(let head):
            guard isPlausible(end: head) else { return false }
            guard head.position >= incoming.cursor.position, incoming.aheadOfUs == nil else { return true }
            incoming.cursor = head
            incoming.ends += 1
            setAlarm(.logNewer, if: records.held.areNewer, into: &effects)
            enqueueImport(.finishRows(head))
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
            incoming.pastEnd = nil
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
            incoming.held = [.adopt(after: nil, beyond: position)]
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
}
