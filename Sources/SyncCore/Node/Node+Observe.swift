import SyncModel

/// What the folder shows: notices and scans become looks, looks become hashes, hashes become revisions of our own log.
///
/// A notice is never believed, only followed up. A difference found in the middle of an apply is put off until the apply is done.
struct WatchState: Sendable {
    var root = RootState.healthy
    var rules = IgnoreRules()
    /// What the wall clock has shown since the machine was started: one stretch for each time it was set since this process
    /// began.
    var clockStretches: [ClosedRange<Int64>] = []
    var clockSeen = Moment(monotonicMilliseconds: 0, wallMilliseconds: 0)
    /// The latest time told of before a power cut (wall milliseconds), by the first process after it: by a clock that has been put back
    /// over it, what bears an earlier one may be from before.
    var toldBeforeCut: Int64?
    /// After a power cut: what was seen being written or taken away since, and so is nobody's damage. Once the distrust has ended only
    /// that still counts which the rules left out (`distrustOfIgnored`).
    var handled = SortedMap<Path, Bool>()
    /// After a power cut: whole files that went from where they were known, without a row that still says so. Who gives
    /// one of them another name is no cut.
    var strays = SortedMap<FileIdentity, Stray>()

    /// After a power cut: directories that somebody has put in their place since the machine is up. What is in them has come along,
    /// and nothing of that shows in its own times.
    var arrived = SortedMap<Path, Bool>()

    struct Stray: Sendable {
        let path: Path
        let content: Content
        /// The change time it was known with.
        let changed: Timestamp
    }

    /// After a power cut: files that recovery has found in the stage. A cut may leave a file two names, and who takes one away
    /// changes the time of the other.
    var swept = SortedMap<FileIdentity, Swept>()

    struct Swept: Sendable {
        /// The change time it was found with.
        let changed: Timestamp
        /// When recovery was done with it (wall milliseconds).
        let untilMilliseconds: Int64
    }

    /// Files that were put back into the tree and could not be synced, until they have a row.
    var unwritten = SortedMap<Path, FileIdentity>()
    /// What the rules left out when the distrust ended had not been looked at: since when that is distrusted still, as long as
    /// this process lasts.
    var distrustOfIgnored: Int64?
    /// Of that, what the rules have let go since, until it has been read.
    var heeded = SortedMap<Path, Bool>()
    /// Paths to look at, in path order.
    var toInspect = SortedMap<Path, Bool>()
    /// The path looked at last: the next are those behind it, then from the beginning, so that paths which come again and
    /// again keep no other waiting.
    var inspectedThrough = Path.root
    /// Paths to read.
    var toHash = SortedMap<Path, Bool>()
    /// Paths that are being read; false if it is known by now that what comes of it is out of date.
    var hashing = SortedMap<Path, Bool>()
    /// What looks have found since where a file was being read. If that is what was read, it is not read again.
    var seenWhileHashing = SortedMap<Path, Stat>()
    /// Files that were being read when notices were lost: each is looked at once more when it has been read.
    var readDuringLoss = SortedMap<Path, Bool>()
    /// Paths whose look must wait until the batch that is writing them is done; true if somebody else wrote meanwhile.
    var deferred = SortedMap<Path, Bool>()
    /// Files that changed while they were read, and when to try again.
    var changing = SortedMap<Path, UInt64>()
    /// Paths whose looks fail, and how often in a row.
    var failing = SortedMap<Path, Int>()
    /// Directories that were seen to be gone while something was being written there. Back again, they look as if they had never been away.
    var goneMeanwhile = SortedMap<Path, Bool>()
    /// Files found empty that were not, or were not there, and when.
    var emptied = SortedMap<Path, Emptied>()

    struct Emptied: Sendable {
        let stat: Stat
        let atMilliseconds: UInt64
    }

    /// Directories that are new, until the first notice of them has been read: only from then on they are surely watched, and
    /// what happened inside before must be looked for.
    var young = SortedMap<Path, UInt64>()

    /// Directories in which something new was found, until a look has found them as well: if they go before that, no row of
    /// theirs tells of it.
    var homes = SortedMap<Path, Bool>()

    /// Directories that came from elsewhere and will be told path by path.
    var unmoved = SortedMap<Path, FileIdentity>()

    /// States of files with several names for which the other names have been asked. Where a file system gives two files one
    /// identity, they must not ask each other without end.
    var askedNamesakes = SortedMap<Path, Stat>()

    /// Files that had a name and no longer have it. Whoever has one of them open is told of by the name he opened it by, and
    /// the file may have others.
    var former = SortedMap<Path, [FileIdentity]>()
    /// Such names, and all that somebody is writing by, of which there was a notice since they were looked at, and when (wall
    /// milliseconds).
    var noticed = SortedMap<Path, Int64>()
    /// Closed by somebody who could write, and not looked at since.
    var closed = SortedMap<Path, Bool>()
    /// Directories in which somebody writes a file that had a name there before this process began.
    var toSearch = SortedMap<Path, Bool>()

    /// Special files reported, so that each is told once.
    var specials = SortedMap<Path, Bool>()
    /// An inspection is under way, or what it saw is not compared with the rows yet.
    var isInspecting = false
    /// What has been written, and for a scan also what has been looked at or read, since it was asked for: of these paths it
    /// may tell an older state. Nil when none is under way.
    var sinceInspection: SortedMap<Path, Bool>?
    var sinceScan: SortedMap<Path, Bool>?
    var hashJobs = 0
    /// Looks that are being compared with their rows.
    var observing = 0

    /// Directories still to be scanned; a scan includes everything below.
    var toScan = SortedMap<Path, Bool>()
    var scan: Scan?

    struct Scan: Sendable {
        let directory: Path
        var after: Path?
        var job: JobID?
        var sawAbsence = false
        var unreadable = SortedMap<Path, MessageCode>()
        var isWhole: Bool { directory.isRoot }
    }

    /// The whole folder has been scanned; what it found is still being read.
    var wholeScanEnded = false
    /// All that was there when this process began has been read.
    var isAllRead = false
    var rulesAreLoaded = false
    var mustLoadRules = false
    /// Jobs that read rule files. If one began before another had ended, nobody knows whose answer is the older: all of
    /// them are dropped, and everything is read once more.
    var rulesBeingRead = 0
    /// Ignore files that rules cover, perhaps their own, as they were when they were read last.
    var rulesRead = SortedMap<Path, Stat>()
    var rulesWereOvertaken = false
    /// Directories that cannot be read, and what is told of them.
    var unreadable = SortedMap<Path, MessageCode>()
    /// Directories that the first whole scan after a power cut could not read: what is in them is still distrusted.
    var unseen: SortedMap<Path, MessageCode>?

    static let youngMax = 4_096
    static let clockStretchesMax = 16
    static let formerMax = 4

    /// When this machine was started (wall milliseconds), as far as the clock could be trusted then.
    var bootMilliseconds: Int64 { clockStretches.first?.lowerBound ?? 0 }

    /// True if somebody has set it, by more than clocks may differ.
    mutating func followClock(at now: Moment, _ limits: Limits) -> Bool {
        let wall = now.wallMilliseconds
        let before = clockSeen
        clockSeen = now
        guard let last = clockStretches.popLast() else {
            let boot = wall - Int64(clamping: now.monotonicMilliseconds)
            clockStretches = [min(boot, wall)...wall]
            return false
        }
        let elapsed = Int64(clamping: now.monotonicMilliseconds) - Int64(clamping: before.monotonicMilliseconds)
        // A clock that stands still for a while is not set; nor is one that was put back to a time of this stretch.
        let latest = before.wallMilliseconds + elapsed + Int64(clamping: limits.clockSkewMilliseconds)
        let isSet = wall < last.lowerBound || wall > latest
        let isStepped = wall > latest || wall < before.wallMilliseconds - Int64(clamping: limits.clockSkewMilliseconds)
        guard isSet, clockStretches.count + 1 < WatchState.clockStretchesMax else {
            clockStretches.append(min(last.lowerBound, wall)...max(last.upperBound, wall))
            return isStepped
        }
        // Nobody knows when in the meantime it was set.
        clockStretches.append(last.lowerBound...max(last.upperBound, before.wallMilliseconds + elapsed))
        clockStretches.append(min(wall - elapsed, wall)...wall)
        return isStepped
    }

    /// By one of the clocks since the machine was started. (From the first to the last of them may be years.) A coarse stamp
    /// stands for all of its step, and no machine is up again within one.
    func isSinceBoot(_ time: Timestamp) -> Bool {
        let isCoarse = time.nanoseconds % 10_000_000 == 0
        let rest: Int64 = time.nanoseconds == 0 ? 999 : isCoarse ? 9 : 0
        return clockStretches.contains { ($0.lowerBound - rest...$0.upperBound).contains(time.milliseconds) }
    }

    /// Before the cut, by the clock as it was.
    func mayBeTold(_ time: Timestamp) -> Bool { toldBeforeCut.map { time.milliseconds <= $0 } ?? false }

    /// Somebody did something to the file since the machine was started, and not only recovery.
    func isChangedSinceBoot(_ stat: Stat) -> Bool {
        !isSwept(stat) && isSinceBoot(stat.changed)
    }

    /// The change time may be that of recovery, which took another name of the file away.
    func isSwept(_ stat: Stat) -> Bool {
        isSinceBoot(stat.changed)
            && swept[stat.identity].map { stat.changed.milliseconds <= $0.untilMilliseconds } == true
    }

    /// As the cut has left it, if nobody but recovery has done anything to it since. (Another process of this boot may have swept
    /// before: then nobody knows.)
    func asLeft(_ stat: Stat) -> Stat {
        guard isSwept(stat), let changed = swept[stat.identity]?.changed, !isSinceBoot(changed) else { return stat }
        var left = stat
        left.changed = changed
        return left
    }

    /// The looks under way may see a directory away from its place: they are taken again.
    var isInspectionTainted = false
    var isScanTainted = false

    mutating func taint() {
        isInspectionTainted = isInspecting
        isScanTainted = scan?.job != nil
    }

    /// Something was seen standing at the path; what it is, reading it will tell.
    func isToBeRead(_ path: Path) -> Bool {
        toHash.contains(key: path) || hashing[path] == true || emptied.contains(key: path)
    }

    mutating func noteHome(of path: Path) {
        guard let parent = path.parent, !parent.isRoot else { return }
        if homes.count >= WatchState.youngMax { homes.removeAll() }
        homes[parent] = true
    }

    /// A look at the path is over. True if things were found in the directory that stood there and does no more.
    mutating func leaveHome(_ path: Path, isDirectory: Bool) -> Bool {
        if !isDirectory {
            let below = hashing.range(from: path).map(\.key).prefix { $0 == path || $0.isBelow(path) }
            for child in below where child != path { hashing[child] = false }
        }
        return homes.removeValue(forKey: path) != nil && !isDirectory
    }

    /// The path was written by us: whatever was asked before may have seen it as it was.
    mutating func overtake(_ path: Path) {
        sinceInspection?[path] = true
        sinceScan?[path] = true
        if hashing.contains(key: path) { hashing[path] = false }
    }

    var isIdle: Bool {
        toInspect.isEmpty && toHash.isEmpty && hashing.isEmpty && deferred.isEmpty && changing.isEmpty && !isInspecting
            && observing == 0 && toScan.isEmpty && scan == nil
    }
}

/// A look at a path: what stands there, if anything.
struct Look: Hashable, Sendable {
    let path: Path
    let stat: Stat?
}

enum LookSource: Hashable, Sendable {
    /// Every path of the list was looked at, changed or not.
    case inspection
    /// Only differences are in the list; absence is decided at the end of the scan.
    case scan
}

struct HashedPath: Sendable {
    let path: Path
    let outcome: HashOutcome
    /// One more change after the file was read might not show in its times. When it was read decides: the rows it is
    /// compared with may come much later.
    let isRacy: Bool

    /// What stood there is what was read, as far as times can tell.
    func shows(_ seen: Stat) -> Bool {
        guard !isRacy, case .content(_, _, let stat) = outcome else { return false }
        return seen.isUntouched(since: stat)
    }
}

extension HashOutcome {
    func isRacy(during wallMilliseconds: ClosedRange<Int64>) -> Bool {
        guard case .content(_, _, let stat) = self else { return false }
        return stat.kind == .file && stat.isFresh(during: wallMilliseconds)
    }
}

extension Node {
    // MARK: Following up

    mutating func note(_ notices: [Notice]) {
        // (What changes while recovery is at work, the first scan sees; but not that it was somebody who changed it.)
        if phase == .recovering { for notice in notices { noteHandled(notice) } }
        guard phase == .running else { return }
        for notice in notices where !notice.path.isReserved && !notice.path.isRoot {
            noteHandled(notice)
            noteWriting(notice)
            if book(of: notice.path) != nil { records.noteTouch(notice.path, at: now.monotonicMilliseconds) }
            let isFirst = notice.kind == .touched && watch.young.removeValue(forKey: notice.path) != nil
            // What cannot be named below it is found by a scan only.
            if isFirst || notice.path.mayRefuseChild { rescan(notice.path) }
            if notice.kind == .closed { noteClose(notice.path) }
            if notice.kind == .writing, !apply.touches(notice.path) {
                // Wait for the close; a program that never closes is looked at after a pause all the same.
                watch.changing[notice.path] = now.monotonicMilliseconds + limits.changingRetryMilliseconds
                continue
            }
            look(at: notice.path, sawWriting: notice.kind == .writing)
            // A change inside changes the directory's own time.
            if let parent = notice.path.parent, !parent.isRoot { look(at: parent) }
        }
        if max(watch.toInspect.count, watch.closed.count) > limits.notedPathsMax {
            watch.toInspect.removeAll()
            watch.noticed.removeAll()
            watch.closed.removeAll()
            rescanAfterLoss()
            // What waited for one of these looks, or is gone without having been known, is in no scan.
            plan.afterLook.removeAll()
            plan.startRound()
        }
    }

    /// What waits for nobody to write to this file any more need not wait for its next try.
    private mutating func noteClose(_ path: Path) {
        watch.closed[path] = true
        if plan.resting.removeValue(forKey: path) != nil { plan.afterLook[path] = true }
    }

    private mutating func noteHandled(_ notice: Notice) {
        guard notice.kind == .writing || notice.kind == .gone, noteHandled(notice.path) else { return }
        // What is being read may be from before, and so what the cut left.
        if watch.hashing.contains(key: notice.path) { watch.hashing[notice.path] = false }
    }

    /// Somebody has done something there: true if what stands at the path was in doubt. What the rules left out is longer than all else.
    @discardableResult
    mutating func noteHandled(_ path: Path) -> Bool {
        let isInDoubt =
            record.distrustSince != nil
            || watch.distrustOfIgnored != nil && watch.rules.isIgnored(path.bytes, isDirectory: false)
        guard isInDoubt, watch.handled.count < limits.notedPathsMax else { return false }
        watch.handled[path] = true
        return true
    }

    /// What was written before its name went is looked for when the name is found gone.
    private mutating func noteWriting(_ notice: Notice) {
        let isFormer = watch.former.contains(key: notice.path)
        if notice.kind == .writing || isFormer && notice.kind != .gone {
            watch.noticed[notice.path] = now.wallMilliseconds
        } else if notice.kind == .gone, !isFormer {
            watch.noticed[notice.path] = nil
        }
    }

    mutating func look(at path: Path, sawWriting: Bool = false) {
        guard !path.isRoot, !path.isReserved else { return }
        if apply.touches(path) {
            watch.deferred[path] = sawWriting || watch.deferred[path] == true
        } else {
            watch.toInspect[path] = true
        }
    }

    /// The first whole scan after a power cut is done: from here on, what is found is what somebody wrote.
    private mutating func endDistrust(into effects: inout Effects) {
        guard record.distrustSince != nil else { return }
        guard watch.unreadable.isEmpty else {
            watch.unseen = watch.unseen ?? watch.unreadable
            return
        }
        watch.distrustOfIgnored = record.distrustSince
        record.distrustSince = nil
        watch.unseen = nil
        watch.handled.removeAll { path, _ in !watch.rules.isIgnored(path.bytes, isDirectory: false) }
        watch.strays.removeAll()
        watch.arrived.removeAll()
        watch.swept.removeAll()
        var batch = Batch()
        store(&batch, into: &effects)
    }

    /// Notices were lost. What is being looked at or read this moment may be from before, and where it is new a scan has no row to
    /// compare with: what is gone by then would be in no difference.
    mutating func rescanAfterLoss() {
        for (_, purpose) in jobs {
            guard case .inspection(let paths) = purpose else { continue }
            for path in paths { look(at: path) }
        }
        for (path, _) in watch.hashing { watch.readDuringLoss[path] = true }
        rescanAll()
    }

    mutating func rescanAll() {
        watch.wholeScanEnded = false
        watch.toScan.removeAll()
        watch.toScan[.root] = true
        if watch.scan?.isWhole == true { watch.scan?.after = nil }
    }

    mutating func rescan(_ directory: Path) {
        if watch.toScan.contains(key: .root) { return }
        watch.toScan[directory] = true
    }

    mutating func pumpWatch(into effects: inout Effects) {
        guard phase == .running, !record.isForked else { return }
        // Not while a batch runs: its end does it too, and most of what waits is waiting for that.
        if apply.batch == nil, !watch.deferred.isEmpty || !plan.afterBatch.isEmpty { releaseDeferred() }
        guard watch.rulesAreLoaded, !recovery.isRenumbering else { return }
        pumpInspection(into: &effects)
        guard watch.root == .healthy else { return }
        pumpHashing(into: &effects)
        pumpScan(into: &effects)
        let isAllSeen = watch.unseen != nil && watch.unreadable.isEmpty
        if watch.wholeScanEnded || isAllSeen, watch.isIdle, lane.isIdle {
            watch.wholeScanEnded = false
            watch.isAllRead = true
            endDistrust(into: &effects)
        }
    }

    private mutating func pumpInspection(into effects: inout Effects) {
        // What is out of its place for a moment is soon back: asking meanwhile would only mean to ask again.
        guard !watch.isInspecting, !watch.toInspect.isEmpty, watch.root == .healthy, apply.moving.isEmpty
        else { return }
        var paths: [Path] = []
        while paths.count < limits.batchPathsMax,
            let next = (watch.toInspect.first(after: watch.inspectedThrough) ?? watch.toInspect.first)?.key
        {
            watch.toInspect[next] = nil
            watch.inspectedThrough = next
            paths.append(next)
        }
        paths.sort()
        watch.isInspecting = true
        watch.isInspectionTainted = false
        watch.sinceInspection = SortedMap()
        effects.add(.inspect(newJob(.inspection(paths)), paths))
    }

    private mutating func pumpHashing(into effects: inout Effects) {
        // One read of a path at a time: of two, the older could come back last, and times may be too coarse to tell.
        var busy: [Path] = []
        defer { for path in busy { watch.toHash[path] = true } }
        while watch.hashJobs < 2, !watch.toHash.isEmpty {
            var paths: [Path] = []
            while paths.count < limits.batchPathsMax, let next = watch.toHash.popFirst() {
                if apply.touches(next.key) {
                    watch.deferred[next.key] = true
                } else if watch.hashing.contains(key: next.key) {
                    busy.append(next.key)
                } else {
                    paths.append(next.key)
                    watch.hashing[next.key] = true
                }
            }
            if paths.isEmpty { return }
            watch.hashJobs += 1
            effects.add(.hash(newJob(.hashing(paths, sinceMilliseconds: now.wallMilliseconds)), paths))
        }
    }

    private mutating func pumpScan(into effects: inout Effects) {
        if watch.scan == nil, let next = watch.toScan.popFirst() {
            watch.scan = WatchState.Scan(directory: next.key, after: nil)
            // It goes through everything below as well. (A tree that is new asks for each directory of it.)
            let below = watch.toScan.range(from: next.key).map(\.key).prefix { $0.isBelow(next.key) }
            for directory in below { watch.toScan[directory] = nil }
        }
        // One chunk at a time, and not faster than what it found is looked at. (It meets the rows as they are stored: what is back
        // and not yet marked as missing there would be no difference.)
        guard let scan = watch.scan, scan.job == nil, watch.observing == 0, apply.moving.isEmpty,
            watch.toHash.count + watch.hashing.count < limits.batchPathsMax * 4, !stores.isMarking
        else { return }
        let job = newJob(.scan)
        watch.scan?.job = job
        watch.isScanTainted = false
        watch.sinceScan = SortedMap()
        let request = ScanRequest(
            directory: scan.directory, after: scan.after, limit: limits.scanChunkMax,
            distrustSince: record.distrustSince)
        effects.add(.scan(job, request, watch.rules))
    }

    // MARK: What came back

    mutating func finishInspection(_ job: JobID, _ inspection: Inspection, into effects: inout Effects) {
        guard let purpose = jobs.removeValue(forKey: job) else { return }
        judgeRoot(inspection.root, into: &effects)
        if case .moveCheck(let move, let rows, let next) = purpose {
            finishMoveCheck(move, rows, next: next, inspection)
            return
        }
        if case .batchRootCheck = purpose {
            finishRootCheck(of: inspection.root)
            return
        }
        guard case .inspection(let paths) = purpose else {
            timers.isCheckingRoot = false
            return
        }
        guard inspection.root == .healthy, !watch.isInspectionTainted else {
            endInspection()
            for path in paths { look(at: path) }
            return
        }
        var looks: [Look] = []
        for (path, result) in zip(paths, inspection.results) {
            switch result {
            case .found(let stat): looks.append(Look(path: path, stat: stat))
            case .absent: looks.append(Look(path: path, stat: nil))
            case .failed:
                let tries = watch.failing.removeValue(forKey: path) ?? 0
                if watch.failing.count < WatchState.youngMax { watch.failing[path] = tries + 1 }
                watch.changing[path] = now.monotonicMilliseconds + limits.retryPause(afterTries: tries + 1)
                continue
            }
            if !watch.failing.isEmpty { watch.failing[path] = nil }
        }
        for look in looks where isEcho(look) { records.forgetTouch(look.path) }
        looks.removeAll { isEcho($0) }
        if looks.isEmpty { return endInspection() }
        watch.observing += 1
        enqueue(.observe(looks, source: .inspection))
    }

    private mutating func endInspection() {
        watch.sinceInspection = nil
        watch.isInspecting = false
    }

    mutating func finishScan(_ job: JobID, _ chunk: ScanChunk, into effects: inout Effects) {
        guard jobs.removeValue(forKey: job) != nil, var scan = watch.scan, scan.job == job else { return }
        scan.job = nil
        if watch.isScanTainted {
            watch.scan = nil
            watch.toScan[scan.directory] = true
            return
        }
        guard chunk.root == .healthy else {
            // Whatever this chunk says was said by another folder.
            watch.scan = nil
            rescanAll()
            timers.rootSuspect = chunk.root
            return
        }
        let looks = chunk.differences.map { Look(path: $0.path, stat: $0.stat) }
        watch.observing += 1
        enqueue(.observe(looks, source: .scan))
        for path in chunk.unreadable { scan.unreadable[path] = .pathPermission }
        for path in chunk.unsupported { scan.unreadable[path] = .pathUnsupported }
        if looks.contains(where: { $0.stat == nil }) { scan.sawAbsence = true }
        if watch.toScan.contains(key: .root) {
            // Asked to begin again: what follows is seen by the new scan.
            watch.scan = nil
        } else if let resume = chunk.resume {
            scan.after = resume
            watch.scan = scan
        } else {
            watch.scan = nil
            noteUnreadable(scan, into: &effects)
            if scan.isWhole || scan.sawAbsence { deletes.wantTally(isWhole: scan.isWhole) }
            if scan.isWhole { watch.wholeScanEnded = true }
            lookAtFindings(below: scan.directory)
            // All that is in it counts as missing if it was not there itself: then it must count as missing too, or nobody would
            // look for the rest when it is back.
            if scan.sawAbsence, !scan.isWhole { look(at: scan.directory) }
        }
    }

    /// What could not be read is unknown: told once, and tried again until it can be.
    private mutating func noteUnreadable(_ scan: WatchState.Scan, into effects: inout Effects) {
        for (path, code) in watch.unreadable where path == scan.directory || path.isBelow(scan.directory) {
            if scan.unreadable[path] == code { continue }
            watch.unreadable[path] = nil
            setAlarm(code, subject: path.bytes, if: false, into: &effects)
        }
        for (path, code) in scan.unreadable {
            watch.unreadable[path] = code
            setAlarm(code, subject: path.bytes, if: true, into: &effects)
        }
    }

    /// Anything but a healthy root stops all work; a root that is healthy again is scanned from the beginning.
    mutating func judgeRoot(_ root: RootState, into effects: inout Effects) {
        if root == watch.root { return }
        let wasHealthy = watch.root == .healthy
        watch.root = root
        setAlarm(.rootMissing, if: root == .missing || root == .unmarked, into: &effects)
        setAlarm(.rootReplaced, if: root == .replaced, into: &effects)
        if root == .healthy {
            rescanAll()
            plan.startRound()
        } else if wasHealthy {
            watch.scan = nil
        }
    }

    mutating func finishHashing(_ job: JobID, _ outcomes: [HashOutcome]) {
        guard case .hashing(let paths, let since)? = jobs.removeValue(forKey: job) else { return }
        watch.hashJobs -= 1
        watch.observing += 1
        let reading = since...max(since, now.wallMilliseconds)
        enqueue(
            .hashed(
                zip(paths, outcomes).map { path, outcome in
                    HashedPath(path: path, outcome: outcome, isRacy: outcome.isRacy(during: reading))
                }))
    }

    // MARK: Looks

    mutating func observe(
        _ looks: [Look], _ source: LookSource, _ answers: inout Answers, into effects: inout Effects
    ) {
        watch.observing -= 1
        let looks = upToDate(looks, source)
        var rows = answers.rowsByPath()
        let namesakes = Namesakes(answers.rows())
        var batch = Batch()
        var absent: [Path] = []
        var replaced: [Path] = []
        var former: [FileIdentity] = []
        let looked = SortedMap(looks.map { ($0.path, $0.stat) })

        let moved = startRelocations(looks, looked, rows: rows, namesakes: namesakes)
        for look in looks {
            // Where nothing is known to be there was nothing to move.
            let isNothing = look.stat == nil && rows[look.path]?.disk == nil
            if !isNothing, isBelowOrIn(look.path, moved) { continue }
            let old = rows[look.path]
            if apply.touches(look.path) {
                if look.stat == nil { noteGoneMeanwhile(old) }
                self.look(afterBatch: look.path)
                continue
            }
            var row = old ?? Row(path: look.path)
            let wasClosed = watch.closed.removeValue(forKey: look.path) != nil
            let isLeftOut = look.stat.map {
                watch.rules.isIgnored(look.path.bytes, isDirectory: $0.kind == .directory)
            }
            if look.stat == nil { forgetRules(of: row, into: &effects) }
            if look.stat.map({ $0.kind != .file || $0.size != 0 }) ?? true { watch.emptied[look.path] = nil }
            if isLeftOut != false, isIgnored(row) {
                // Another name of the same file may be synced, and nobody tells of that one.
                if let stat = look.stat, stat.kind == .file {
                    lookAtNamesakes(of: look.path, stat, namesakes)
                    followRules(of: row, stat, into: &effects)
                }
                ignore(&row)
            } else if let stat = look.stat, stat.kind != .special, isLeftOut == false {
                found(stat, at: &row, wasClosed: wasClosed, namesakes: namesakes, in: &batch)
            } else {
                // What cannot be synced, or what the rules leave out while they do not leave out what was or is to be here,
                // only stands in its way.
                if let stat = look.stat, stat.kind == .special, isLeftOut == false {
                    reportSpecial(look.path, into: &effects)
                    // Made after what is known had been put here: no cut took that.
                    if let disk = row.disk, stat.identity.birth > disk.stat.changed { noteHandled(row.path) }
                }
                // What is being read may have been there a moment ago.
                if watch.hashing.contains(key: look.path) { watch.hashing[look.path] = false }
                if vanished(&row) {
                    absent.append(row.path)
                } else if source != .scan, row.disk == nil, row.condition == .normal,
                    old?.disk?.entry.content.isDirectory == true
                {
                    // It was to go, but what its deleter had not seen has gone with it, and nobody tells of that.
                    replaced.append(look.path)
                }
            }
            if !row.needsApply && row.condition == .normal && look.stat == nil { row.waiting = nil }
            put(row, replacing: old, in: &batch, into: &effects)
            let isDirectory = look.stat?.kind == .directory
            if isDirectory, old?.disk == nil { watch.noteHome(of: look.path) }
            let wasHome = watch.leaveHome(look.path, isDirectory: isDirectory) && old?.disk == nil
            if wasHome || look.stat != nil && !isDirectory && old?.disk?.entry.content.isDirectory == true {
                replaced.append(look.path)
            }
            rows[look.path] = row
            let wasAwaited = plan.afterLook.removeValue(forKey: look.path) != nil
            former += formerFiles(of: look, old)
            if isNews(row, old) { plan.resting[row.path] = nil }
            if row.needsApply && (wasAwaited || row != old) { plan.want(row.path) }
        }
        for path in replaced { flag(below: path) }
        if !former.isEmpty { enqueue(.namesakes(former)) }
        if !batch.isEmpty { store(&batch, into: &effects) }
        for path in absent where rows[path]?.disk?.entry.content.isDirectory == true && source != .scan {
            // Below a directory that went with its parent, everything is being looked at already.
            if let parent = path.parent, let above = looked[parent], above == nil { continue }
            flag(below: path)
        }
        guard source != .scan else { return }
        // One file that is gone may be the first seen of a whole directory: they are to be judged together.
        for path in absent {
            if let parent = path.parent, looked[parent] == nil { look(at: parent) }
        }
        deletes.note(absent)
        if !absent.isEmpty { deletes.latest = now.monotonicMilliseconds }
    }

    /// Answers overtake each other: what was learnt of a path after a look at it was asked for may be newer than the look.
    /// Such a path is looked at again.
    private mutating func upToDate(_ looks: [Look], _ source: LookSource) -> [Look] {
        let newer: SortedMap<Path, Bool>
        switch source {
        case .inspection:
            newer = watch.sinceInspection ?? SortedMap()
            endInspection()
            for look in looks { watch.sinceScan?[look.path] = true }
            if watch.sinceScan.map({ $0.count > limits.notedPathsMax }) == true {
                watch.sinceScan = SortedMap()
                watch.isScanTainted = true
            }
        case .scan:
            newer = watch.sinceScan ?? SortedMap()
            watch.sinceScan = nil
        }
        if newer.isEmpty { return looks }
        return looks.filter { look in
            var path = look.path
            var isOld = newer.contains(key: path)
            // With a directory that is back again everything in it may be back.
            while !isOld, source == .scan, look.stat == nil, let above = path.parent, !above.isRoot {
                path = above
                isOld = newer.contains(key: path)
            }
            if isOld { self.look(at: look.path) }
            return !isOld
        }
    }

    /// What lay below a directory that is gone is gone with it; nobody tells of each.
    mutating func flag(below path: Path, mayBeBack: Bool = false) {
        deletes.flagging += 1
        enqueue(.flagBelow(path, after: nil, mayBeBack: mayBeBack))
    }

    func isBelowOrIn<Value>(_ path: Path, _ set: SortedMap<Path, Value>) -> Bool {
        if set.isEmpty { return false }
        return set.contains { entry in path == entry.key || path.isBelow(entry.key) }
    }

    /// More than the change time, which our own exchange and back alters too: a path that rests must not wake itself.
    private func isNews(_ row: Row, _ old: Row?) -> Bool {
        guard var before = old, let changed = row.disk?.stat.changed, before.disk != nil else { return row != old }
        before.disk?.stat.changed = changed
        return row != before
    }

    /// Something stands at the path.
    private mutating func found(
        _ stat: Stat, at row: inout Row, wasClosed: Bool, namesakes: Namesakes, in batch: inout Batch
    ) {
        if row.condition == .ignored { heed(&row) }
        // What has come back with it nobody tells.
        if watch.goneMeanwhile.removeValue(forKey: row.path) != nil, stat.kind == .directory { rescan(row.path) }
        if stat.kind != .directory { lookAtNamesakes(of: row.path, stat, namesakes) }
        if let disk = row.disk, disk.isStill(stat) {
            records.forgetTouch(row.path)
            watch.emptied[row.path] = nil
            if !row.needsApply && row.condition == .normal { row.waiting = nil }
            if row.condition == .missing {
                revived(&row)
                // What was marked missing with it may be back as well, and nobody tells.
                if stat.kind == .directory { rescan(row.path) }
            }
            guard stat.kind == .file, row.condition == .normal else { return }
            // The times may have reached the disk before the bytes did.
            let isDoubted = isSuspect(row) || watch.heeded.contains(key: row.path)
            if isDoubted || wasClosed && mayBeMapped(disk, stat) { watch.toHash[row.path] = true }
            return
        }
        guard stat.kind == .directory else {
            if isJustEmptied(stat, row) { return }
            if watch.hashing[row.path] == true, !wasClosed {
                watch.seenWhileHashing[row.path] = stat
            } else if isFreshAndLarge(stat) {
                readAgain(row.path, stat)
            } else {
                watch.toHash[row.path] = true
            }
            return
        }
        // (A directory from here on.)
        if watch.hashing.contains(key: row.path) { watch.hashing[row.path] = false }
        let isNew = row.disk?.stat.identity != stat.identity || row.condition == .missing
        noteArrival(of: stat, at: row)
        revised(&row, showing: .directory, stat: stat, namesakes: namesakes, in: &batch)
        if isNew {
            rescan(row.path)
            noteYoung(row.path)
            // What goes into it may have waited for it.
            plan.madeProgress = true
        }
    }

    /// Read now, it would be read twice. Waiting until times can tell costs less.
    private func isFreshAndLarge(_ stat: Stat) -> Bool {
        stat.kind == .file && stat.size >= limits.readTwiceBytesMax
            && stat.isFresh(during: now.wallMilliseconds...now.wallMilliseconds)
    }

    /// Whoever has mapped a file changes its times only with the first write to a page that is clean: until the kernel has
    /// written that down, what follows leaves no trace but the close. What came from the peer was synced before it was put
    /// there, so that every write to it shows; and it is we who close it.
    private func mayBeMapped(_ disk: Row.DiskState, _ stat: Stat) -> Bool {
        disk.origins.content.author == .own
            && now.wallMilliseconds - stat.changed.milliseconds < Int64(clamping: limits.writebackMilliseconds)
    }

    /// A write through one name of a hard link, ours or a user's, is told of for that name only. A name that is being read
    /// already is not asked again: two that are both out of date would send looks to each other without end.
    mutating func lookAtNamesakes(of path: Path, _ stat: Stat, _ namesakes: Namesakes) {
        let others = namesakes[stat.identity].filter { other in
            guard let known = other.disk?.stat, other.path != path else { return false }
            return !stat.isUntouched(since: known)
        }
        guard !others.isEmpty, watch.askedNamesakes[path] != stat else { return }
        if watch.askedNamesakes.count >= WatchState.youngMax { watch.askedNamesakes.removeAll() }
        watch.askedNamesakes[path] = stat
        for other in others where !apply.touches(other.path) {
            let isRead = watch.toHash.contains(key: other.path) || watch.hashing.contains(key: other.path)
            if !isRead { look(at: other.path) }
        }
    }

    /// Files that may have been written by this name and are not to be seen under it: the one that has just lost it and, if
    /// there was a notice, all that had it before.
    private mutating func formerFiles(of look: Look, _ row: Row?) -> [FileIdentity] {
        let (path, shown) = (look.path, look.stat?.identity)
        let noticed = watch.noticed.removeValue(forKey: path)
        let lost = row?.disk.flatMap { $0.stat.kind == .file && $0.stat.identity != shown ? $0.stat.identity : nil }
        let known = watch.former[path]
        if let noticed { searchForWritten(at: look, noticed) }
        guard known != nil || lost != nil else { return [] }
        var former = (known ?? []).filter { $0 != shown }
        var asked = noticed != nil ? former : []
        if let lost, !former.contains(lost) {
            if former.count == WatchState.formerMax { former.removeFirst() }
            former.append(lost)
            asked.append(lost)
        }
        if watch.former.count >= WatchState.youngMax { watch.former.removeAll() }
        watch.former[path] = former.isEmpty ? nil : former
        return asked
    }

    /// Somebody writes by this name, but nothing stands there, or something that has not been changed for a while: he has
    /// another file open, which may have gone from the name before this process began. If it has another name it is found
    /// beside this one.
    private mutating func searchForWritten(at look: Look, _ noticed: Int64) {
        guard let parent = look.path.parent else { return }
        let earliest = noticed - Int64(clamping: limits.changingRetryMilliseconds)
        // (What was changed in a time to come was changed before the clock was put back.)
        let latest = max(earliest, now.wallMilliseconds + Int64(clamping: limits.clockSkewMilliseconds))
        if let stat = look.stat, stat.kind != .file || (earliest...latest).contains(stat.changed.milliseconds) {
            return
        }
        watch.toSearch[parent] = true
    }

    /// The other names of such files.
    mutating func lookAtNamesakes(_ answers: inout Answers) {
        for row in answers.rows() where row.condition != .missing { look(at: row.path) }
    }

    mutating func noteYoung(_ directory: Path) {
        let time = now.monotonicMilliseconds
        if watch.young.count >= WatchState.youngMax { watch.young.removeAll { _, due in due <= time } }
        guard watch.young.count < WatchState.youngMax else { return }
        watch.young[directory] = time + limits.youngMilliseconds
    }

    /// An empty file is the first half of many a save: it is believed when it has been empty for a while.
    private mutating func isJustEmptied(_ stat: Stat, _ row: Row) -> Bool {
        guard stat.kind == .file, stat.size == 0, row.disk?.entry.content.size != 0 || row.disk == nil else {
            watch.emptied[row.path] = nil
            return false
        }
        if let seen = watch.emptied[row.path], seen.stat == stat {
            guard seen.atMilliseconds + limits.changingRetryMilliseconds > now.monotonicMilliseconds else {
                watch.emptied[row.path] = nil
                return false
            }
        } else {
            watch.emptied[row.path] = WatchState.Emptied(stat: stat, atMilliseconds: now.monotonicMilliseconds)
        }
        watch.changing[row.path] = now.monotonicMilliseconds + limits.changingRetryMilliseconds
        return true
    }

    private mutating func noteGoneMeanwhile(_ row: Row?) {
        guard let row, row.disk?.entry.content.isDirectory == true, watch.goneMeanwhile.count < limits.notedPathsMax
        else { return }
        watch.goneMeanwhile[row.path] = true
    }

    /// Nothing (that we sync) stands at the path. True if it was there before.
    private mutating func vanished(_ row: inout Row) -> Bool {
        forgetFinding(at: row.path)
        watch.goneMeanwhile[row.path] = nil
        guard row.disk != nil else {
            records.forgetTouch(row.path)
            if row.condition == .ignored { row.condition = .normal }
            if waitsForAuthor(row) { plan.want(row.path) }
            if row.heads.isEmpty || row.waiting?.reason == .contentChanging || waitsForAuthor(row) { row.waiting = nil }
            return false
        }
        // The rules do not cover it any more, and this look at it may be the last before the row is held against them.
        if row.condition == .ignored { heed(&row) }
        if row.needsApply && row.condition == .normal && resolution(of: row).entry.isAbsent {
            // Wanted gone, and gone: by our own hand before a crash, or by a user's who wanted the same.
            row.disk = nil
            row.reflected = row.version
            row.waiting = nil
            row.owesCopy = false
            return false
        }
        if isSuspect(row), !isHandled(row.path) {
            if let disk = row.disk { noteStray(disk.stat, disk.entry.content, row.path) }
            row.disk = nil
            row.condition = .damaged
            row.waiting = nil
            plan.want(row.path)
            return false
        }
        if row.condition == .damaged {
            row.disk = nil
            plan.want(row.path)
            return false
        }
        // Where its content went before it came back says nothing any more.
        if row.condition != .missing { deletes.movedTo[row.path] = nil }
        row.condition = .missing
        deletes.markedSince?[row.path] = true
        return true
    }

    private mutating func revived(_ row: inout Row) {
        takeBackFinding(at: row.path)
        row.condition = .normal
        endHoldingBack(&row)
        plan.madeProgress = true
        plan.want(row.path)
    }

    private mutating func reportSpecial(_ path: Path, into effects: inout Effects) {
        guard watch.specials.count < 1_024, !watch.specials.contains(key: path) else { return }
        watch.specials[path] = true
        effects.add(.report(.note(Note(code: .pathSpecial, subject: path.bytes))))
    }

    /// After a power cut: this path was new enough that the machine may not have written it down.
    func isSuspect(_ row: Row) -> Bool {
        guard let since = record.distrustSince, let disk = row.disk else { return false }
        if let unseen = watch.unseen, !isBelowOrIn(row.path, unseen) { return false }
        return disk.isYounger(than: since)
    }

    // MARK: Contents

    mutating func takeHashes(_ results: [HashedPath], _ answers: inout Answers, into effects: inout Effects) {
        watch.observing -= 1
        let rows = answers.rowsByPath()
        let namesakes = Namesakes(answers.rows())
        let kept = keptContents(of: results, &answers)
        var batch = Batch()
        for result in results {
            if waitsForHeader(result, rows[result.path], into: &effects) { continue }
            let isOutOfDate = watch.hashing.removeValue(forKey: result.path) == false
            if let seen = watch.seenWhileHashing.removeValue(forKey: result.path), !result.shows(seen) {
                watch.toHash[result.path] = true
            }
            if watch.readDuringLoss.removeValue(forKey: result.path) != nil { look(at: result.path) }
            if apply.touches(result.path) {
                watch.deferred[result.path] = true
                continue
            }
            // (The rules may have come to cover it since it was looked at.)
            if isOutOfDate || watch.rules.isIgnored(result.path.bytes, isDirectory: false) {
                if case .content(let content, _, let stat) = result.outcome { noteStray(stat, content, result.path) }
                look(at: result.path)
                continue
            }
            watch.sinceScan?[result.path] = true
            let old = rows[result.path]
            var row = old ?? Row(path: result.path)
            switch result.outcome {
            case .content(.directory, _, _), .absent:
                look(at: row.path)
            case .content(let content, let list, let stat):
                if case .file(let id, _) = content { batch.add(.putChunks(id, list)) }
                if !row.needsApply, !waitsSinceBefore(row) { row.waiting = nil }
                if row.disk == nil { watch.noteHome(of: row.path) }
                // (Not all that is read has been looked at before.)
                if stat.kind == .file { lookAtNamesakes(of: row.path, stat, namesakes) }
                revised(
                    &row, showing: content, stat: stat, isRacy: result.isRacy, namesakes: namesakes,
                    kept: kept[row.path] ?? [], in: &batch)
                noteFormat(&row)
                watch.heeded[row.path] = nil
            case .changing:
                wait(&row, .contentChanging)
                watch.changing[row.path] = now.monotonicMilliseconds + limits.changingRetryMilliseconds
            case .failed(let error):
                wait(&row, Node.reason(for: error))
                let pause = limits.retryPause(afterTries: row.waiting?.tries ?? 1)
                watch.changing[row.path] = now.monotonicMilliseconds + pause
            }
            put(row, replacing: old, in: &batch, into: &effects)
            if row.isUnsettled { plan.want(row.path) }
        }
        if !batch.isEmpty { store(&batch, into: &effects) }
    }

    /// Once a change would show in its times.
    mutating func readAgain(_ path: Path, _ stat: Stat) {
        let pause = min(limits.racyMilliseconds, UInt64(stat.grainMilliseconds) + Node.racyMarginMilliseconds)
        watch.changing[path] = now.monotonicMilliseconds + pause
    }

    private static let racyMarginMilliseconds: UInt64 = 20

    /// Compares what was found with what the row says, and records a change of ours if there is one.
    private mutating func revised(
        _ row: inout Row, showing content: Content, stat: Stat, isRacy: Bool = false, namesakes: Namesakes,
        kept: [ContentID] = [], in batch: inout Batch
    ) {
        var entry = Entry(content: content, mode: stat.mode, modified: stat.modified)
        if case .symlink = content { entry.mode = 0o777 }
        if let disk = row.disk, disk.entry.content.kind == content.kind {
            // A file system may keep less than we asked for; unchanged on disk means unchanged.
            if stat.modified == disk.stat.modified { entry.modified = disk.entry.modified }
            if stat.mode == disk.stat.mode { entry.mode = disk.entry.mode }
        }
        if isRacy { readAgain(row.path, stat) }
        // A file seen missing and found again as another file was made anew, whatever it holds: whoever deletes the old one
        // elsewhere has not seen this one.
        let isMadeAnew =
            row.condition == .missing && stat.kind != .directory && row.disk?.stat.identity != stat.identity
        if let disk = row.disk, disk.entry == entry, !isMadeAnew {
            let hasFailed = watch.unwritten.removeValue(forKey: row.path) == stat.identity
            row.disk?.isUnwritten = hasFailed || disk.isUnwritten(as: stat)
            row.disk?.stat = stat
            row.disk?.isRacy = isRacy
            endHoldingBack(&row)
            if row.condition == .missing { revived(&row) }
            return
        }
        if isDamage(row, found: entry, stat, namesakes), !isRenamed(entry, stat, to: row, namesakes) {
            if row.condition != .damaged { row.waiting = nil }
            if let content = contentOfRemains(stat, at: row, namesakes), content != row.disk?.entry.content {
                let whole = Entry(content: content, mode: entry.mode, modified: entry.modified)
                revise(&row, to: whole, stat: stat, in: &batch)
                cancel(row.path)
            }
            row.condition = .damaged
            let origins = row.disk?.origins ?? Resolution.nothing.origins
            row.disk = Row.DiskState(entry: entry, stat: stat, origins: origins, isRacy: isRacy)
            plan.want(row.path)
            return
        }
        let wanted = resolution(of: row)
        if row.needsApply, wanted.entry.agrees(with: entry) {
            let isUnwritten = row.disk?.isUnwritten(as: stat) ?? false
            row.disk = Row.DiskState(
                entry: wanted.entry, stat: stat, origins: wanted.origins, isRacy: isRacy, isUnwritten: isUnwritten)
            row.reflected = row.version
            row.condition = .normal
            row.waiting = nil
            row.owesCopy = false
            return
        }
        if holdsBack(&row, content) { return }
        if leaveToRecords(&row, entry, stat, isRacy: isRacy) { return }
        if holdsDowngrade(&row, entry, stat, isRacy: isRacy, kept, in: &batch) { return }
        let source = namesakes[stat.identity].first { other in
            other.path != row.path && other.condition == .missing && other.disk?.entry.content == content
        }
        if let source { deletes.movedTo[source.path] = row.path }
        noteTurnedUp(stat.identity, entry.content, at: row.path, namesakes)
        if let disk = row.disk, row.condition != .damaged, disk.stat.identity != stat.identity {
            noteStray(disk.stat, disk.entry.content, row.path)
        }
        let isReasserted = isMadeAnew || row.condition == .damaged
        revise(&row, to: entry, stat: stat, movedFrom: source?.path, isReasserted: isReasserted, in: &batch)
        row.disk?.isRacy = isRacy
        if watch.unwritten.removeValue(forKey: row.path) == stat.identity { row.disk?.isUnwritten = true }
        cancel(row.path)
    }

    /// Somebody was seen at work here, or took away a directory above.
    func isHandled(_ path: Path) -> Bool {
        var next: Path? = path
        while !watch.handled.isEmpty, let place = next {
            if watch.handled.contains(key: place) { return true }
            next = place.parent
        }
        return false
    }

    /// Not yet read since the power cut: what the file holds is anybody's guess until the first whole scan has seen it.
    func isUnread(_ row: Row) -> Bool {
        !incoming.initialScanDone && row.condition == .normal && row.disk?.entry.content.kind == .file && isSuspect(row)
    }

    /// After a power cut, content that changed while its time did not, or that is empty now, is what the cut left of the file.
    private func isDamage(_ row: Row, found entry: Entry, _ shown: Stat, _ namesakes: Namesakes) -> Bool {
        guard let disk = row.disk else { return isBackEmpty(row, entry, shown) }
        let (stat, isSwept) = (watch.asLeft(shown), watch.isSwept(shown))
        // Known damage is no version because its time or mode has changed. (Another file that holds the same is, if it was made
        // since the machine is up.)
        if entry.content == disk.entry.content {
            let isMade = stat.identity != disk.stat.identity && watch.isSinceBoot(stat.identity.birth)
            return row.condition == .damaged && !isMade
        }
        if isWrittenByAnotherName(stat, entry, row, namesakes) { return false }
        // (A directory or a link says nothing by its size.)
        let isEmptied = entry.content.kind == .file && entry.content.size == 0 && disk.entry.content.size > 0
        guard isSuspect(row) || watch.heeded.contains(key: row.path) || isEmptied && isOfLastMoments(shown),
            !isHandled(row.path)
        else { return false }
        // (Of a file that was read in the breath of its last change the times may stand for one more, but not for nothing at all.)
        let isAmbiguous = disk.isRacy && stat.changed == disk.stat.changed && !isEmptied
        if isFromBefore(stat, disk.stat), !isAmbiguous { return true }
        // What the row says was seen after the cut: whatever differs from it now was done since. (An older state of the same file
        // says that it was not: the clock was ahead before the cut.)
        let isOvertaken = stat.identity == disk.stat.identity && stat.changed < disk.stat.changed
        let isSeenSince = watch.isSinceBoot(disk.stat.changed) && !watch.mayBeTold(disk.stat.changed)
        if isSeenSince, !isOvertaken || watch.clockStretches.count > 1 { return false }
        // The same file as of the same time with other bytes: nobody did that.
        if stat.identity == disk.stat.identity, stat.modified == disk.stat.modified { return true }
        // What was written or made since the machine is up again is somebody's. The change time alone says little by then:
        // it is altered by a rename as well, also by one of recovery's. (Known as of a time to come: the clock has been put back, and
        // nothing of now can be later than that.)
        guard watch.isChangedSinceBoot(stat), disk.stat.changed < stat.changed || isAhead(disk.stat.changed) else {
            return stat.changed <= disk.stat.changed || isEmptied
                || isBack(stat, isSwept, at: row.path, disk.stat, namesakes) || isOlder(stat, isSwept, disk)
        }
        let isNew = [stat.modified, stat.identity.birth].contains { watch.isSinceBoot($0) }
        // Made after what is known had been put here, whatever times it was given: no cut brings that back.
        let isLater = stat.identity != disk.stat.identity && stat.identity.birth > disk.stat.changed
        return !isNew && (stat.modified <= disk.stat.modified && !isLater || isEmptied)
    }

    /// The very file that is known here, and it holds what it was known to hold by another name before the cut.
    private func isWrittenByAnotherName(
        _ stat: Stat, _ entry: Entry, _ row: Row, _ namesakes: Namesakes
    ) -> Bool {
        guard stat.kind == .file, row.disk?.stat.identity == stat.identity else { return false }
        return namesakes[stat.identity].contains { other in
            other.path != row.path && other.condition == .normal && other.disk?.entry.content == entry.content
                && !isFoundSinceStart(other)
        }
    }

    /// Last changed so shortly before the cut that nothing of what was written may have reached the disk, however long ago that was
    /// that the file was known.
    private func isOfLastMoments(_ stat: Stat) -> Bool {
        guard let since = record.distrustSince else { return false }
        return stat.changed.milliseconds >= since && !watch.isSinceBoot(stat.changed)
    }

    /// One cut has emptied it and it was taken away then; another gives it back.
    private func isBackEmpty(_ row: Row, _ entry: Entry, _ stat: Stat) -> Bool {
        row.condition == .damaged && record.distrustSince != nil && !isHandled(row.path) && entry.content.kind == .file
            && entry.content.size == 0 && !watch.isChangedSinceBoot(stat)
    }

    /// The same file as of the same times or of an earlier one: nobody's write does that, whatever the clock showed before
    /// the cut, unless it was set back since, or before the machine was up.
    private func isFromBefore(_ stat: Stat, _ known: Stat) -> Bool {
        guard stat.identity == known.identity else { return false }
        if stat.changed == known.changed { return stat.modified == known.modified }
        return stat.changed < known.changed && watch.clockStretches.count < 2 && !watch.isChangedSinceBoot(stat)
    }

    /// Both from before the cut, and the change time says nothing: the clock was ahead when that was made, and may have gone forth
    /// and back, or it is recovery's. Only the times of the writing say which is older, if both were written here.
    private func isOlder(_ stat: Stat, _ isSwept: Bool, _ known: Row.DiskState) -> Bool {
        guard isAhead(stat.changed) || isSwept, known.origins.time.author == .own else { return false }
        return stat.identity == known.stat.identity && stat.modified < known.stat.modified
    }

    private func isAhead(_ time: Timestamp) -> Bool {
        time.milliseconds > now.wallMilliseconds + Int64(clamping: limits.clockSkewMilliseconds)
    }

    /// Another file from before the cut. If it is older and no other path is known to have it, an editor had put it aside, and
    /// the cut has taken that back, but not what it did to the change time of the file. If another path is known to have it,
    /// as of this very change time, only a cut can have given it this name: a person's rename changes that. One that is known
    /// nowhere and was in the stage as well is what we had put here before: the cut has taken back all that came after. (What this
    /// process has found elsewhere was not known before the cut: a rename that the cut has left half done leaves both names.)
    private func isBack(
        _ stat: Stat, _ isSwept: Bool, at path: Path, _ known: Stat, _ namesakes: Namesakes
    ) -> Bool {
        guard stat.identity != known.identity else { return false }
        var changes = namesakes[stat.identity].compactMap { other in
            other.path == path || isFoundSinceStart(other) ? nil : other.disk?.stat.changed
        }
        // Where it was known may have been found empty by now. (A coarse stamp may stand for both, that change and its renaming.)
        if let stray = watch.strays[stat.identity], stray.path != path,
            stray.changed != stat.changed || !stat.isCoarse
        {
            changes.append(stray.changed)
        }
        return changes.isEmpty ? stat.modified < known.modified || isSwept : changes.contains(stat.changed)
    }

    private func isFoundSinceStart(_ row: Row) -> Bool {
        guard epochHasBegun, let origin = row.disk?.origins.content else { return false }
        return origin.author == .own && origin.position.epoch == record.ownHead.position.epoch
    }

    /// A whole file that is known by another name has been given this one since the machine is up again: as old as it
    /// was, but a person put it here.
    private func isRenamed(_ entry: Entry, _ stat: Stat, to row: Row, _ namesakes: Namesakes) -> Bool {
        let isPutHere = isPutHere(stat, row)
        if let stray = watch.strays[stat.identity], stray.path != row.path, stray.content == entry.content, isPutHere {
            return true
        }
        return namesakes[stat.identity].contains { other in
            guard other.path != row.path, other.condition != .damaged, other.disk?.entry.content == entry.content
            else { return false }
            return isPutHere || isHandled(other.path)
        }
    }

    /// (The very file that is known here was not put here since: what the cut has left of it has all its names.)
    private func isPutHere(_ stat: Stat, _ row: Row) -> Bool {
        row.disk?.stat.identity != stat.identity && (watch.isChangedSinceBoot(stat) || hasArrived(row.path))
    }

    /// What a power cut has left of a file that is known by another name has been put here by a person: the content that file had.
    /// What stood here before is nothing that he wants back.
    private func contentOfRemains(_ stat: Stat, at row: Row, _ namesakes: Namesakes) -> Content? {
        guard stat.kind == .file, isPutHere(stat, row), book(of: row.path) == nil, !hasHeader(row.path),
            !isHeldBack(row.path)
        else { return nil }
        if let stray = watch.strays[stat.identity], stray.path != row.path, stray.content.kind == .file {
            return stray.content
        }
        let other = namesakes[stat.identity].first { other in
            other.path != row.path && isSuspect(other) && other.disk?.entry.content.kind == .file
        }
        return other.map { $0.condition == .damaged ? resolution(of: $0).entry.content : $0.disk?.entry.content } ?? nil
    }

    private mutating func noteArrival(of stat: Stat, at row: Row) {
        guard record.distrustSince != nil, row.disk?.stat.identity != stat.identity,
            watch.isChangedSinceBoot(stat), watch.arrived.count < limits.notedPathsMax
        else { return }
        watch.arrived[row.path] = true
    }

    /// With a directory above.
    private func hasArrived(_ path: Path) -> Bool {
        if watch.arrived.isEmpty { return false }
        return sequence(first: path, next: \.parent).contains { watch.arrived.contains(key: $0) }
    }

    mutating func noteStray(_ stat: Stat, _ content: Content, _ path: Path) {
        guard record.distrustSince != nil, stat.kind != .directory, watch.strays.count < limits.notedPathsMax
        else { return }
        watch.strays[stat.identity] = WatchState.Stray(path: path, content: content, changed: stat.changed)
    }

    mutating func wait(_ row: inout Row, _ reason: MessageCode) {
        let before = row.waiting.flatMap { $0.reason == reason ? $0 : nil }
        // Since a time to come: the clock has been put back. It waits from now at the latest, or patience would never end.
        let since = min(before?.sinceMilliseconds ?? now.wallMilliseconds, now.wallMilliseconds)
        row.waiting = Row.Waiting(reason: reason, sinceMilliseconds: since, tries: (before?.tries ?? 0) + 1)
    }

    static func reason(for error: DiskError) -> MessageCode {
        switch error {
        case .noSpace: .diskFull
        case .inputOutput, .readOnly: .diskError
        case .permission: .pathPermission
        case .busy: .pathBusy
        case .nameTooLong, .unsupported, .crossDevice: .pathUnsupported
        case .notFound, .notDirectory: .waitingParent
        case .notEmpty: .waitingChildren
        case .exists, .isDirectory, .mismatch: .pathBusy
        }
    }

    // MARK: Everything below a directory that is gone

    /// Each is looked at before it is believed: another directory may stand in the place of the one that went.
    mutating func flagBelow(
        _ directory: Path, mayBeBack: Bool, _ answers: inout Answers, into effects: inout Effects
    ) {
        let rows = answers.rows()
        for row in rows where row.disk != nil && (mayBeBack || row.condition != .missing) { look(at: row.path) }
        if rows.count == limits.batchPathsMax, let last = rows.last {
            enqueue(.flagBelow(directory, after: last.path, mayBeBack: mayBeBack))
        } else {
            deletes.flagging -= 1
        }
    }
}
