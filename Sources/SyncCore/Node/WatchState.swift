import SyncModel

/// What the folder shows: notices and scans become looks, looks become hashes, hashes become revisions of our own log.
///
/// A notice is never believed, only followed up. A difference found in the middle of an apply is put off until the apply is done.
struct WatchState: Sendable {
    var root = RootState.healthy
    var rules = IgnoreRules()
    /// What the wall clock has shown since the machine was started: one stretch for each time it was set, as far as this process and, after a power
    /// cut, those before it know (`NodeRecord.clockShown`).
    var clockStretches: [ClosedRange<Int64>] = []
    /// So many of them had begun before this process did, or may have: of what was done by those it may not have been told.
    var stretchesRecalled = 0
    var clockSeen = Moment(monotonicMilliseconds: 0, wallMilliseconds: 0)
    /// As it was at the start (`NodeRecord.toldBeforeCut`): it outlasts the distrust of all but what the rules leave out.
    var toldBeforeCut: Int64?
    /// The power was lost before this process began, and no other has been since.
    var isFirstSinceCut = false
    /// After a power cut: what was seen being written or taken away since, and so is nobody's damage. Once the distrust has ended only
    /// that still counts which the rules left out (`NodeRecord.distrustOfIgnored`).
    var handled = SortedMap<Path, Handling>()

    enum Handling: Sendable {
        /// Perhaps before or after it was taken away.
        case written
        case takenAway
    }

    /// Directories that we have made and take away again because the disk failed: the notice of that speaks of nobody's doing.
    var unmade = SortedMap<Path, Bool>()
    /// After a power cut: whole files, and directories, that went from where they were known, without a row that still says so. Who gives
    /// one of them another name is no cut.
    var strays = SortedMap<FileIdentity, Stray>()

    /// After a power cut: files that are known here and were found to have been given another name since the machine is up. What stands in
    /// their place by now came later than they went.
    var renamed = SortedMap<FileIdentity, Path>()

    /// After a power cut: directories that have come to their place since it, or since they were known elsewhere. What is in them has come
    /// along, and nothing of that shows in its own times.
    var arrived = SortedMap<Path, Arrival>()

    enum Arrival: Sendable {
        /// Somebody has put it there.
        case byPerson
        /// It is known elsewhere as of no earlier change.
        case byCut
    }

    struct Stray: Sendable {
        let path: Path
        let content: Content
        /// The change time it was known with.
        let changed: Timestamp
        let modified: Timestamp
        /// We had put it where it was known, for good.
        let isPlaced: Bool
        /// It may be that nobody had known it there before the cut.
        let isFound: Bool
    }

    /// After a power cut: states of files here that were told of before it, the latest only, each with the time of its writing.
    var toldStates = SortedMap<Path, [Entry]>()
    /// And of directories the times alone.
    var toldDirectories = SortedMap<Path, [Timestamp]>()

    /// After a power cut: names that notices told of as given to something that had another.
    var named = SortedMap<Path, Bool>()

    /// After a power cut: directories that something was put into or taken from since the machine is up, and when.
    var stirred = SortedMap<Path, Timestamp>()

    /// After a power cut: files that recovery has found in the stage. A cut may leave a file two names, and who takes one away
    /// changes the time of the other.
    var swept = SortedMap<FileIdentity, Swept>()

    struct Swept: Sendable {
        /// As it was found.
        let stat: Stat
        /// When recovery was done with it (wall milliseconds).
        let untilMilliseconds: Int64
    }

    /// Files that were put back into the tree and could not be synced, until they have a row.
    var unwritten = SortedMap<Path, FileIdentity>()
    /// Of what is distrusted because the rules left it out (`NodeRecord.distrustOfIgnored`), what they have let go since, until it has been read.
    var heeded = SortedMap<Path, Bool>()
    /// There was more of that than is noted.
    var heedsMore = false
    /// After a power cut: what was known, and rules that were read since leave out, until it has been looked at. If they are what the cut has left
    /// (`rulesAreRemains`), who is not seen at work there until they let go of it has not taken away what is missing then.
    var leftOut = SortedMap<Path, Bool>()
    var rulesAreRemains = false
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
    /// Files that were being read when notices were lost, or were written by another name: each is looked at once more when it
    /// has been read.
    var afterReading = SortedMap<Path, Bool>()
    /// Paths whose look must wait until the batch that is writing them is done; true if somebody else wrote meanwhile.
    var deferred = SortedMap<Path, Bool>()
    /// Files that changed while they were read, and when to try again.
    var changing = SortedMap<Path, UInt64>()
    /// Paths whose looks fail, and how often in a row.
    var failing = SortedMap<Path, Int>()
    /// What was told of as gone, and directories that were seen to be gone while something was being written there. Back again, a directory
    /// may look as if it had never been away.
    var goneMeanwhile = SortedMap<Path, Bool>()
    /// What was missed by a look of its own, until the directory above has been looked at.
    var missed = SortedMap<Path, Bool>()
    /// Directories that the rules leave out where a file is to be, as they were known before.
    var strangers = SortedMap<Path, Stranger>()

    struct Stranger: Sendable {
        let disk: Row.DiskState
        /// What it showed: what has come in its place since was never here.
        let reflected: VersionVector
    }

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
    /// The names that such files have still: who has one open by a name that nobody has looked at in between is found by these.
    var survivors = SortedMap<Path, Bool>()
    /// What went from where it was known lately, and what it held.
    var departed = SortedMap<FileIdentity, Content>()
    /// Names that have lost a file, and all that somebody is writing by, of which there was a notice since they were looked at, and
    /// when (wall milliseconds; 0 where another file has come to the name since).
    var noticed = SortedMap<Path, Int64>()
    /// Closed by somebody who could write, and not looked at since.
    var closed = SortedMap<Path, Bool>()
    /// Directories in which somebody writes a file that had a name there before this process began.
    var toSearch = SortedMap<Path, Bool>()

    /// Special files reported, so that each is told once.
    var specials = SortedMap<Path, Bool>()
    /// Those that are there, as far as anybody has looked, and that no rule leaves out.
    var leftSpecials = SortedMap<Path, Bool>()
    static let leftSpecialsMax = 256
    /// An inspection is under way, or what it saw is not compared with the rows yet.
    var isInspecting = false
    /// What has been written, and for a scan also what has been looked at or read, since it was asked for: of these paths it
    /// may tell an older state. Nil when none is under way.
    var sinceInspection: SortedMap<Path, Bool>?
    var sinceScan: SortedMap<Path, Bool>?
    var hashJobs = 0
    /// Looks that are being compared with their rows.
    var observing = 0
    /// Directories that turned up under a new name, of which it is not said yet whether they moved as a whole.
    var movesInDoubt = 0
    /// The names they had: what stands below one of them belongs to another directory there, while the rows still speak of the one that moved.
    var leftNames = SortedMap<Path, Bool>()

    /// Directories still to be scanned; a scan includes everything below.
    var toScan = SortedMap<Path, Bool>()
    var scan: Scan?

    struct Scan: Sendable {
        let directory: Path
        var after: Path?
        var job: JobID?
        var sawAbsence = false
        var unreadable = SortedMap<Path, MessageCode>()
        /// Of the special files that are listed, those that it or a look since it began has met.
        var specials = SortedMap<Path, Bool>()
        var isWhole: Bool { directory.isRoot }
    }

    /// The whole folder has been scanned; what it found is still being read.
    var wholeScanEnded = false
    var rulesAreLoaded = false
    var mustLoadRules = false
    /// Jobs that read rule files. If one began before another had ended, nobody knows whose answer is the older: all of
    /// them are dropped, and everything is read once more.
    var rulesBeingRead = 0
    /// Ignore files that were new when they were looked at, or that rules cover, perhaps their own, as they were when
    /// they were read last.
    var rulesRead = SortedMap<Path, Stat>()
    var rulesWereOvertaken = false
    /// Ignore files that count, or are waited for, and may not be read: by another name they are not new.
    var rulesForbidden = SortedMap<FileIdentity, Bool>()
    /// Those that had a row when all rules were to be read last.
    var rulesStored = SortedMap<Path, FileIdentity>()
    /// Ignore files over whose directory something else is mounted: they cannot be read until that has gone.
    var rulesCovered = SortedMap<Path, Bool>()
    /// Since when the disk does not let them be read (monotonic milliseconds), and whether that is told. It is where it outlasts the longest
    /// pause between two tries, however long others have been waiting and made the pauses long.
    var rulesFailing: (since: UInt64, isTold: Bool)?
    /// What was found and is looked at once more, because rules were being read.
    var putOff = SortedMap<Path, Bool>()
    /// Directories that cannot be read, and what is told of them.
    var unreadable = SortedMap<Path, MessageCode>()
    /// Directories that the first whole scan could not read, and none has since: what is in them was there before, and is still distrusted
    /// after a power cut. Nil until that scan has ended, and all that it found has been read.
    var unseen: SortedMap<Path, MessageCode>?

    static let youngMax = 4_096
    static let clockStretchesMax = 16
    static let formerMax = 4

    /// When this machine was started (wall milliseconds), by the clock of then or the earliest since.
    var bootMilliseconds: Int64 { clockStretches.map(\.lowerBound).min() ?? 0 }

    /// True if somebody has set it, by more than clocks may differ.
    mutating func followClock(at now: Moment, _ limits: Limits) -> Bool {
        let wall = now.wallMilliseconds
        let before = clockSeen
        clockSeen = now
        guard let last = clockStretches.popLast() else {
            clockStretches = NodeRecord.ClockShown(at: now).stretches
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

    var clockShown: NodeRecord.ClockShown {
        NodeRecord.ClockShown(stretches: clockStretches, monotonicMilliseconds: clockSeen.monotonicMilliseconds)
    }

    /// An earlier process of this boot has seen it show that.
    mutating func recallClock(_ shown: NodeRecord.ClockShown?, at now: Moment, _ limits: Limits) {
        guard let shown, let last = shown.stretches.last else { return }
        clockStretches = shown.stretches
        clockSeen = Moment(
            monotonicMilliseconds: shown.monotonicMilliseconds, wallMilliseconds: last.upperBound)
        _ = followClock(at: now, limits)
        stretchesRecalled = clockStretches.count
    }

    /// By one of the clocks since the machine was started. (From the first to the last of them may be years.) A coarse stamp
    /// stands for all of its step, and no machine is up again within one.
    func isSinceBoot(_ time: Timestamp) -> Bool { isShown(time, by: clockStretches[...]) }

    /// Since then, and by a clock that was not set anew since this process began, so that it may not have been told of what was done then.
    func mayBeBeforeStart(_ time: Timestamp) -> Bool { isShown(time, by: clockStretches.prefix(stretchesRecalled)) }

    private func isShown(_ time: Timestamp, by stretches: ArraySlice<ClosedRange<Int64>>) -> Bool {
        let isCoarse = time.nanoseconds % 10_000_000 == 0
        let rest: Int64 = time.nanoseconds == 0 ? 999 : isCoarse ? 9 : 0
        return stretches.contains { ($0.lowerBound - rest...$0.upperBound).contains(time.milliseconds) }
    }

    /// The clock showed `time` since the machine was started, and `known` was still to come by far then.
    func wasBehind(_ known: Timestamp, at time: Timestamp, _ limits: Limits) -> Bool {
        clockStretches.contains { stretch in
            stretch.contains(time.milliseconds)
                && known.milliseconds > stretch.upperBound + Int64(clamping: limits.clockSkewMilliseconds)
        }
    }

    /// Before the cut, by the clock as it was.
    func mayBeTold(_ time: Timestamp) -> Bool { toldBeforeCut.map { time.milliseconds <= $0 } ?? false }

    /// Somebody did something to the file since the machine was started, and not only recovery.
    func isChangedSinceBoot(_ stat: Stat) -> Bool {
        !isSwept(stat) && isSinceBoot(stat.changed)
    }

    /// Or has written to it before recovery came, which changes no time of writing.
    func isHandledSinceBoot(_ stat: Stat) -> Bool {
        isChangedSinceBoot(stat) || isSwept(stat) && isSinceBoot(stat.modified)
    }

    mutating func noteUnmade(_ directory: Path) {
        if unmade.count >= WatchState.youngMax { unmade.removeAll() }
        unmade[directory] = true
    }

    /// The change time may be that of recovery, which took another name of the file away.
    func isSwept(_ stat: Stat) -> Bool {
        isSinceBoot(stat.changed)
            && swept[stat.identity].map { stat.changed.milliseconds <= $0.untilMilliseconds } == true
    }

    /// As the cut has left it, if nobody but recovery has done anything to it since. (Another process of this boot may have swept
    /// before: then nobody knows.)
    func asLeft(_ stat: Stat) -> Stat {
        guard isSwept(stat), let found = swept[stat.identity]?.stat, !isSinceBoot(found.changed) else { return stat }
        var left = stat
        left.changed = found.changed
        return left
    }

    /// Somebody has given it another mode or time since recovery found it.
    func isAltered(_ stat: Stat) -> Bool {
        swept[stat.identity].map { $0.stat.mode != stat.mode || $0.stat.modified != stat.modified } ?? false
    }

    /// Notices were lost before what an inspection saw was in the rows.
    var isInspectionLost = false
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

    /// The file of the row has gone from its name, as far as anybody has looked: until what stands there now has been read, the row speaks
    /// of the one before.
    func hasLeft(_ row: Row) -> Bool {
        guard let identity = row.disk?.stat.identity else { return false }
        return former[row.path]?.contains(identity) == true
    }

    mutating func noteHome(of path: Path) {
        guard let parent = path.parent, !parent.isRoot else { return }
        if homes.count >= WatchState.youngMax { homes.removeAll() }
        homes[parent] = true
    }

    /// A look at the path is over. True if things were found in the directory that stood there and does no more.
    mutating func leaveHome(_ path: Path, isDirectory: Bool) -> Bool {
        if !isDirectory { leave(path) }
        return homes.removeValue(forKey: path) != nil && !isDirectory
    }

    /// No directory stands there any more: what is being read below it is out of date.
    mutating func leave(_ directory: Path) {
        for path in hashing.paths(in: directory) where path != directory { hashing[path] = false }
    }

    /// The path was written by us, or while it was in doubt by somebody: whatever was asked before may have seen it as it was.
    mutating func overtake(_ path: Path) {
        sinceInspection?[path] = true
        sinceScan?[path] = true
        if hashing.contains(key: path) { hashing[path] = false }
    }

    var isIdle: Bool {
        toInspect.isEmpty && toHash.isEmpty && hashing.isEmpty && deferred.isEmpty && changing.isEmpty && !isInspecting
            && observing == 0 && !isScanning
    }

    /// Something is being scanned, or is to be.
    var isScanning: Bool { scan != nil || !toScan.isEmpty }
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
    /// One more change after the file or link was read might not show in its times, nor another link that got its number. When it was
    /// read decides: the rows it is compared with may come much later.
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
        return stat.kind != .directory && stat.isFresh(during: wallMilliseconds)
    }
}
