import SyncModel

/// Our log on its way out, and what the peer has acknowledged of it.
extension Node {
    mutating func sendLog(_ answers: inout Answers, into effects: inout Effects) {
        session.isReadingLog = false
        let entries = answers.log()
        guard session.isLive, session.maySendLog else { return }
        let unsent = entries.lazy.filter { [sentThrough = session.sentThrough] in $0.head.position > sentThrough }
        sendLog(unsent.map { LogTail.Entry(head: $0.head, bytes: LogCodec.encode($0)) }, into: &effects)
    }

    /// As many as a frame takes of those that are durable.
    mutating func sendLog(_ entries: some Sequence<LogTail.Entry>, into effects: inout Effects) {
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
        // (What was read may have been acknowledged meanwhile: of nothing new the peer will not say once more that it is through.)
        if frame.isEmpty { return }
        session.peerIsSettled = false
        send(.log(frame), into: &effects)
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

    mutating func take(_ acknowledgement: Acknowledgement, into effects: inout Effects) -> Bool {
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
                // (A log that is still to come nobody has heard of.)
                return head.position < record.ownHead.position
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
        if session.peerIsSettled {
            record.applied = max(record.applied, head.position)
            matchOwed()
        }
        pruneLog(into: &effects)
        return true
    }

    /// What happened while we were apart is still coming in. States that have been overtaken since are neither fetched nor
    /// shown, so that what comes of a time apart does not depend on where a frame ends.
    @inline(__always) var isCatchingUp: Bool { session.isLive && owesPast }

    /// We were set back, and the past that the peer tells of is still coming in, whether or not the link is up. What was agreed in the
    /// middle of it would be overtaken by the rest, as if somebody who has seen what stands here had let go of it. (A node that was not
    /// set back knows its past.)
    @inline(__always) var isRecalling: Bool { record.lost != nil && owesPast }

    @inline(__always)  // (As `Node.isWorking` is.)
    private var owesPast: Bool {
        guard !incoming.isBeyondUs, let end = incoming.pastEnd else { return false }
        return record.importedHead.position < end
    }

    /// Our log has begun a new epoch and said nothing in it yet.
    var isEpochEmpty: Bool { stores.durableOwnHead.position.seq == 0 }

    mutating func noteAcknowledged(_ head: LogHead) {
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

    /// Says what is durable here, and whether the folder shows it all; only when that has changed. What is being saved here is
    /// no news until its log goes out. What stays undone is: the other node would go on saying that both show the same.
    mutating func pumpAcknowledgement(into effects: inout Effects) {
        guard phase == .running, session.isLive, !record.isForked, session.link != nil else { return }
        // (What cannot be read here is in no row, and may be anything.)
        let isQuiet = isQuiet
        let isSettled = counts.unsettled == records.owed.count && watch.unreadable.isEmpty && isQuiet
        let acknowledgement = Acknowledgement(head: stores.durableImportedHead, isSettled: isSettled)
        if acknowledgement == session.lastAcknowledgement { return }
        // (Once the peer has told what it owed, it is not to believe that this is shown here.)
        let mayWait = !session.saidSettledButForOwed
        if acknowledgement.head == session.lastAcknowledgement?.head, !isSettled, !isQuiet, mayWait { return }
        session.lastAcknowledgement = acknowledgement
        session.saidSettledButForOwed = isSettled && !records.owed.isEmpty
        send(.acknowledge(acknowledgement), into: &effects)
    }
}
