import SyncModel

/// What the hello of the peer says of it and of us: whether we understand each other, who was set back, and where its log goes on.
extension Node {
    /// Epochs are counted up one at a time; a number far ahead would only serve to use up the numbers there are.
    func isPlausible(_ hello: Hello) -> Bool {
        let limit = UInt64(record.ownHead.position.epoch.number) + 1_000_000
        return hello.known.allSatisfy { UInt64($0.position.epoch.number) <= limit }
    }

    /// A peer begins an epoch with its first entry after a start, and one when it has been set back: a log that ended far
    /// beyond what it has spoken of would never be read again.
    func isPlausible(end: LogHead) -> Bool {
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
        record.peerName = hello.name
        judgeClock(of: hello.wallMilliseconds, into: &effects)
        peerProgram = hello.program
        session.peerTellsChanges = hello.features.contains(Hello.changedLists)
        session.peerReadsPurposes = hello.features.contains(Hello.claimPurposes)
        session.peerReadsWaits = hello.features.contains(Hello.claimWaits)
        session.peerHeedsHolds = hello.features.contains(Hello.heldDeletes)
        session.peerRenewsKeys = hello.features.contains(Hello.renewsKeys)
        session.peerEpoch = hello.ownHead.position.epoch

        let standing = standing(of: hello.known, &answers)
        session.isLive = true
        session.liveSince = now.monotonicMilliseconds
        overdue.heardAt = now.monotonicMilliseconds
        session.peerKeepsRecords = hello.features.contains(SessionState.recordsFeature)
        session.peerReadsLocks = hello.features.contains(Hello.saveLocks)
        tellOfModels(hello, into: &effects)
        noteSupport(of: hello)
        incoming.pastEnd = hello.ownHead.position.seq > 0 ? hello.ownHead.position : nil
        askAgain()
        plan.startRound()
        if let common = record.rollbackCommon {
            // The epoch of that, or one begun since: it takes the note before it takes any entry, and the note taken twice would be of another loss.
            let renewed = record.lost?.before ?? record.ownHead.position.epoch
            if hello.known.contains(where: { $0.position.epoch >= renewed }) {
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
    mutating func judgeClock(of wall: Int64, into effects: inout Effects) {
        let (skew, isBeyond) = wall.subtractingReportingOverflow(now.wallMilliseconds)
        timers.clockSkew = isBeyond ? (wall < 0 ? .min : .max) : skew
        if timers.clockSkew.magnitude > limits.clockSkewMilliseconds || incoming.aheadOfUs != nil {
            waitForClock(into: &effects)
        } else {
            setAlarm(.clockSkew, if: false, into: &effects)
            timers.askClockAt = nil
        }
    }

    mutating func waitForClock(into effects: inout Effects) {
        setAlarm(.clockSkew, clockFacts, if: true, into: &effects)
        timers.askClockAt = now.monotonicMilliseconds + limits.clockAskMilliseconds
    }

    /// Whose clock is ahead and by how much, and how late the other node dates what waits. Ten times as many seconds are more than
    /// anybody has seen.
    private var clockFacts: AlertFacts {
        let (own, peer) = (Path.escape(record.name), Path.escape(record.peerName))
        let (ahead, behind) = timers.clockSkew > 0 ? (peer, own) : (own, peer)
        var amount = timers.clockSkew.magnitude
        var sentences: [String] = []
        if amount > limits.clockSkewMilliseconds {
            let lead = Node.words(forMilliseconds: amount)
            sentences.append("The clock of \(ahead) is \(lead) ahead of that of \(behind).")
        }
        if let time = incoming.aheadOfUs {
            let wall = Int64(clamping: time.wallMilliseconds)
            let date = CalendarTime(milliseconds: wall).date.joined(separator: "-")
            let though = sentences.isEmpty ? ", though the clocks agree" : ""
            sentences.append("Changes of \(peer) are dated \(date)\(though).")
            amount = max(amount, UInt64(clamping: wall - now.wallMilliseconds))
        }
        let digits = "\((amount + 500) / 1_000)".utf8.count
        return AlertFacts(detail: sentences.joined(separator: " "), size: digits)
    }

    /// Rounded, and in a unit of which it is two at least: a clock in another time zone is as far off each time.
    private static func words(forMilliseconds amount: UInt64) -> String {
        let units: [(UInt64, String)] = [
            (365 * 86_400_000, "years"), (86_400_000, "days"), (3_600_000, "h"), (60_000, "min"),
        ]
        for (unit, name) in units {
            let count = (amount + unit / 2) / unit
            if count > 1 { return "\(count) \(name)" }
        }
        return "\((amount + 500) / 1_000) s"
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
        // (Rows that came from an epoch we have lost since, and began another after: how many there were it does not know, only that they are there.)
        if let lost = record.lost, known.allSatisfy({ $0.position.epoch < lost.before }),
            known.contains(where: { $0.isMark && $0.position.epoch >= lost.after.epoch })
        {
            return .setBack(common: lost.after)
        }
        guard let (last, entry) = records.last else {
            return record.prunedThrough == .none ? .at(.none) : .behind
        }
        if entry != nil || last == record.prunedThrough { return .at(last) }
        if let lost = record.lost, known.allSatisfy({ $0.position.epoch < lost.before }), last.position > lost.after {
            return .setBack(common: lost.after)
        }
        if last.position < record.prunedThrough.position, !isLost(last.position.epoch) { return .behind }
        return .setBack(common: common(of: records))
    }

    /// An epoch of ours that we know nothing of. (One before the present one may have been forgotten.)
    private func isLost(_ epoch: Epoch) -> Bool {
        let present = record.ownHead.position.epoch
        return epoch.number >= present.number && epoch != present
    }

    private func common(of records: [(LogHead, LogRecord?)]) -> LogPosition {
        var common = stillAcknowledged(records.map(\.0))
        for (head, entry) in records where entry != nil { common = max(common, head.position) }
        // The peer has this epoch to a later entry than we do: all we have of it is common.
        for (head, _) in records where head.position.epoch == record.ownHead.position.epoch {
            common = max(common, min(head.position, record.ownHead.position))
        }
        return common
    }

    /// What the peer has acknowledged, and has still: it may have been set back as well. (It tells of its latest few epochs only.)
    private func stillAcknowledged(_ known: [LogHead]) -> LogPosition {
        let position = record.acknowledged.position
        if let head = known.first(where: { $0.position.epoch == position.epoch }) {
            return min(head.position, position)
        }
        return known.contains { $0.position < position } ? .none : position
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
}
