import SyncModel

/// Everything that happens because time has passed: one wish to be woken, for the nearest of it.
struct TimerState: Sendable {
    var wakeAt: UInt64?
    var rescanAt: UInt64 = 0
    var pruneAt: UInt64 = 0
    var aliveAt: UInt64 = 0
    var retryAt: UInt64?
    var retryPause: UInt64 = 0
    var rootCheckAt: UInt64 = 0
    /// Not before this is another search begun for a file that is written unseen; each time the pause is longer.
    var searchAt: UInt64 = 0
    var searchPause: UInt64 = 0
    var isCheckingRoot = false
    /// A scan saw a root that is not ours; to be confirmed by a look.
    var rootSuspect: RootState?
    /// When to ask the peer for its time, while the clocks differ.
    var askClockAt: UInt64?
    /// How far its clock was ahead of ours when it told its time last; less than nothing if it was behind.
    var clockSkew: Int64 = 0
    var isMarkingStop = false
    /// The disk did something of which nobody knows whether it will last.
    var mustStop = false
    /// How far the wall clock was ahead of the monotonic one at least, in the last stretch of time and in the one before: a
    /// clock that was put forward makes young files look old.
    var clockLeads: (before: Int64, recent: Int64) = (0, 0)
    /// When the last stretch began (monotonic milliseconds). Each is as long as the disk may take to write things down.
    var clockLeadSince: UInt64 = 0
    /// How far it was ahead a moment ago, and since when it has gone without being put forward (monotonic milliseconds), as
    /// far as this process can tell.
    var lastLead: Int64 = 0
    var steadySince: UInt64 = 0
    /// A clock that is only being corrected does not jump further than this between two events.
    static let clockSlack: Int64 = 1_000
    /// Own heads the peer acknowledged, as far as their entries are kept.
    var acknowledged = Deque<LogHead>()

    /// Nothing is known yet of how the clock went between the last sign of life and now.
    mutating func begin(at now: Moment, lastAlive: Int64, _ limits: Limits) {
        clockLeads = (lastAlive - Int64(clamping: now.monotonicMilliseconds), TimerState.lead(of: now))
        clockLeadSince = now.monotonicMilliseconds
        lastLead = TimerState.lead(of: now)
        steadySince = now.monotonicMilliseconds
        rescanAt = now.monotonicMilliseconds + limits.rescanMilliseconds
        pruneAt = now.monotonicMilliseconds + limits.rescanMilliseconds
        aliveAt = now.monotonicMilliseconds + limits.writebackMilliseconds / 2
    }

    private static func lead(of now: Moment) -> Int64 {
        now.wallMilliseconds - Int64(clamping: now.monotonicMilliseconds)
    }

    /// How far the clock was put forward since the last time.
    mutating func watchClock(at now: Moment, _ limits: Limits) -> Int64 {
        let lead = TimerState.lead(of: now)
        let leap = lead - lastLead
        if lead > lastLead + TimerState.clockSlack { steadySince = now.monotonicMilliseconds }
        lastLead = lead
        clockLeads.recent = min(clockLeads.recent, lead)
        guard now.monotonicMilliseconds >= clockLeadSince + limits.writebackMilliseconds else { return leap }
        clockLeads = (clockLeads.recent, lead)
        clockLeadSince = now.monotonicMilliseconds
        return leap
    }

    /// How long ago it was by the wall clock, without what that may have been put forward by since.
    func age(of wallMilliseconds: Int64, at now: Moment) -> Int64 {
        min(now.wallMilliseconds - wallMilliseconds, Int64(clamping: now.monotonicMilliseconds - steadySince))
    }

    /// The sign of life: the wall time by the slowest clock that files may have been stamped with.
    func alive(at now: Moment) -> Int64 {
        min(clockLeads.before, clockLeads.recent) + Int64(clamping: now.monotonicMilliseconds)
    }

    /// Something failed: try everything that waits again after a pause that grows while nothing gets better.
    mutating func retrySoon(at now: Moment, _ limits: Limits) {
        guard retryAt == nil else { return }
        retryPause = retryPause == 0 ? limits.retryFirstMilliseconds : min(retryPause * 2, limits.retryLastMilliseconds)
        retryAt = now.monotonicMilliseconds + retryPause
    }
}

extension Node {
    mutating func pumpTimers(into effects: inout Effects) {
        if timers.mustStop {
            finish(.diskFailed, into: &effects)
            return
        }
        guard phase == .running || phase == .recovering else { return }
        noteLeap(of: timers.watchClock(at: now, limits))
        let time = now.monotonicMilliseconds
        if timers.rootSuspect != nil || watch.root != .healthy && timers.rootCheckAt <= time {
            timers.rootSuspect = nil
            timers.rootCheckAt = time + limits.retryFirstMilliseconds
            checkRoot(into: &effects)
        }
        guard phase == .running else { return }
        // The clock was put back: what is kept from now on is dated before the last sign of life, and the next start is to ask for it.
        if record.aliveMilliseconds > now.wallMilliseconds { record.aliveMilliseconds = timers.alive(at: now) }
        for (path, due) in watch.changing where due <= time {
            watch.changing[path] = nil
            look(at: path)
        }
        if let retry = timers.retryAt, retry <= time {
            timers.retryAt = nil
            if plan.madeProgress { timers.retryPause = 0 }
            plan.resting.removeAll()
            records.shelf.tryAgain()
            plan.startRound()
            for (path, _) in watch.unreadable { rescan(path) }
            if watch.mustLoadRules {
                watch.mustLoadRules = false
                enqueue(.loadRules)
            } else if !watch.rulesCovered.isEmpty {
                readRules(watch.rulesCovered.map(\.key), into: &effects)
            }
        }
        if !watch.unreadable.isEmpty { timers.retrySoon(at: now, limits) }
        if timers.rescanAt <= time {
            timers.rescanAt = time + limits.rescanMilliseconds
            rescanAll()
        }
        if !watch.toSearch.isEmpty, timers.searchAt <= time {
            let pause = max(timers.searchPause * 2, limits.retryFirstMilliseconds)
            timers.searchPause = min(pause, limits.rescanMilliseconds)
            timers.searchAt = time + timers.searchPause
            for (directory, _) in watch.toSearch { if directory.isRoot { rescanAll() } else { rescan(directory) } }
            for (path, _) in watch.survivors { look(at: path) }
            watch.toSearch.removeAll()
        }
        if timers.pruneAt <= time {
            timers.pruneAt = time + limits.rescanMilliseconds
            enqueue(.prune)
        }
        if timers.aliveAt <= time {
            timers.aliveAt = time + limits.writebackMilliseconds / 2
            overdue.isDue = true
            enqueue(.markAlive)
        }
        pumpLateWriters(into: &effects)
        if case .none = plan.round, plan.someWait, plan.madeProgress {
            plan.madeProgress = false
            plan.someWait = false
            plan.startRound()
        }
    }

    /// Asks to be woken for the nearest deadline, if that has changed.
    mutating func setWake(into effects: inout Effects) {
        guard phase == .running || phase == .recovering else { return }
        let time = now.monotonicMilliseconds
        // What is overdue after all has been tried waits for something else, which is an event of its own; the root may be away
        // for days.
        let later = time + limits.retryFirstMilliseconds
        var nearest = UInt64.max
        func consider(_ due: UInt64?) { if let due { nearest = min(nearest, due > time ? due : later) } }
        for due in [timers.rescanAt, timers.pruneAt, timers.aliveAt] { consider(due) }
        consider(timers.retryAt)
        if phase == .recovering, recovery.lookAt > 0 { consider(recovery.lookAt) }
        if session.isLive { consider(timers.askClockAt) }
        if let since = deletes.since {
            consider(since + limits.deletePatienceMilliseconds)
            let quiet = deletes.latest + limits.deleteQuietMilliseconds
            if quiet > now.monotonicMilliseconds { consider(quiet) }
        }
        if deletes.wantedTally != nil, let delay = deletes.delay { consider(delay.end(limits)) }
        consider(session.helloDeadline)
        consider(claims.nextDue(isConnected: session.isLive, forgettingEnds: forgettingEnds))
        consider(apply.late.first?.dueMilliseconds)
        if !records.isTelling { consider(records.dueAt) }
        for (_, due) in records.awaited { consider(due) }
        for (_, due) in watch.changing { consider(due) }
        if !watch.toSearch.isEmpty { consider(timers.searchAt) }
        if watch.root != .healthy { consider(timers.rootCheckAt) }
        if timers.wakeAt == nearest { return }
        timers.wakeAt = nearest
        effects.add(.wake(atMilliseconds: nearest))
    }
}
