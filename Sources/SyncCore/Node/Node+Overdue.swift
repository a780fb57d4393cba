import SyncModel

/// What the peer owes, and does not give for long though it is there. Each try that fails is a matter of moments and told as a reason
/// for waiting; that none succeeds for ten minutes is told as a warning, for a day as something serious; both go when it comes.
struct OverdueState: Sendable {
    /// When something of the peer's log, its rows or its change sets came last (monotonic milliseconds).
    var heardAt: UInt64 = 0
    /// It is time to look whether anything is.
    var isDue = false
    var told = ToldPaths()
}

extension Node {
    /// A content was refused once more.
    mutating func watchOverdue(_ row: Row, into effects: inout Effects) {
        guard let waiting = row.waiting, row.needsApply, waiting.reason.isOfContent else {
            // (What becomes of a wish that is still under way is not known yet.)
            if row.waiting != nil || !row.needsApply { endOverdue(row.path, into: &effects) }
            return
        }
        let age = timers.age(of: waiting.sinceMilliseconds, at: now)
        tellOverdue(row.path, after: UInt64(clamping: age), into: &effects)
    }

    /// Looked at a few times while it gets old: what came between is seen then.
    mutating func pumpOverdue(into effects: inout Effects) {
        let owesHistory = owesHistory
        if !owesHistory { endAlarms(about: [], into: &effects) }
        // With the sign of life, and by no wish of its own to be woken.
        guard overdue.isDue else { return }
        overdue.isDue = false
        // (Who is paused owes nothing as long as he is, and says himself what waits.)
        guard session.isLive, !session.peerIsPaused, !record.isPaused else { return }
        if owesHistory { setAlarms(about: [], after: silence(since: overdue.heardAt), into: &effects) }
        for (content, wanted) in fetch.active {
            guard wanted.reserved > 0 || !wanted.asked.isEmpty else { continue }
            for path in wanted.claimants where plan.tasks[path]?.content == content {
                tellOverdue(path, after: silence(since: wanted.heardAt), into: &effects)
            }
        }
    }

    /// One of the two was paused and goes on: what it owes is waited for from here.
    mutating func waitAnew() {
        overdue.heardAt = now.monotonicMilliseconds
        for content in fetch.active.keys { fetch.active.update(content) { $0.heardAt = now.monotonicMilliseconds } }
    }

    /// The peer has said of more than has come that it happened.
    @inline(__always)  // (As `Node.isWorking` is.)
    private var owesHistory: Bool {
        isCatchingUp || keepsRecords && session.isLive && records.lacks(session.peerKnows)
    }

    private func silence(since heardAt: UInt64) -> UInt64 { now.monotonicMilliseconds - heardAt }

    private mutating func tellOverdue(_ path: Path, after milliseconds: UInt64, into effects: inout Effects) {
        guard milliseconds >= limits.overdueMilliseconds, overdue.told.note(path) else { return }
        setAlarms(about: path.bytes, after: milliseconds, into: &effects)
    }

    /// One of the two at most.
    private mutating func setAlarms(about subject: [UInt8], after milliseconds: UInt64, into effects: inout Effects) {
        let isStalled = milliseconds >= limits.stalledMilliseconds
        let isOverdue = milliseconds >= limits.overdueMilliseconds && !isStalled
        if isStalled { setAlarm(.contentStalled, subject: subject, if: true, into: &effects) }
        setAlarm(.contentOverdue, subject: subject, if: isOverdue, into: &effects)
    }

    private mutating func endAlarms(about subject: [UInt8], into effects: inout Effects) {
        if alarms.raised.isEmpty { return }
        setAlarm(.contentStalled, subject: subject, if: false, into: &effects)
        setAlarm(.contentOverdue, subject: subject, if: false, into: &effects)
    }

    private mutating func endOverdue(_ path: Path, into effects: inout Effects) {
        if overdue.told.forget(path) { endAlarms(about: path.bytes, into: &effects) }
    }
}

extension MessageCode {
    fileprivate var isOfContent: Bool { self == .contentChanging || self == .contentUnavailable }
}
