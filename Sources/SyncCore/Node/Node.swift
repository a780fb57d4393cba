public import SyncModel

/// One node: everything syncd knows how to do, as a value that turns events into effects.
///
/// `step` does no I/O, reads no clock and draws no random number: the same state and the same event give the same effects.
/// It never assumes that an effect succeeds, or when; it goes on when the completion event comes back.
///
/// How it is laid out: everything that reads or writes rows is a `Transaction`, run one at a time in order of arrival
/// (`Node+Lane`), so rows never have two writers. Around it, by theme: what the disk shows (`Node+Watch`, `Node+Looks`,
/// `Node+Contents`, after a power cut `Node+Damage`), what of it was deleted (`Node+Deletes`), the log from the peer
/// (`Node+Import`), bringing the folder to the wanted state (`Node+Plan`, `Node+Fetch`, `Node+Apply` and what follows it),
/// the link (`Node+Session`, `Node+Serve`), restart (`Node+Recovery`), people (`Node+Commands`).
public struct Node: Sendable {
    public enum Phase: UInt8, Hashable, Sendable {
        case off, recovering, running, stopping, finished
    }

    // What the store will hold once everything emitted so far is durable.
    public internal(set) var record: NodeRecord
    var recordEmitted: NodeRecord
    var counts = Counts()

    // Handed in at the start.
    var settings = Settings()
    var limits = Limits()
    var digest: SHA256.Function = { SHA256.digest(of: $0) }
    var checksum: CRC32.Checksum = { CRC32.checksum($0) }
    var program: [UInt8] = []
    /// What the shell has the hello say.
    var features: [[UInt8]] = []
    /// What the other node runs, as it last said.
    var peerProgram: [UInt8] = []
    var nonce: UInt32 = 0
    var reconciler = Reconciler(precedence: Precedence(ownKeyIsSmaller: true))
    var now = Moment(monotonicMilliseconds: 0, wallMilliseconds: 0)
    var clock = HybridClock()

    public internal(set) var phase = Phase.off
    var epochHasBegun = false
    var lastJob: UInt64 = 0
    /// What the completion of each job in flight is for.
    var jobs = SortedMap<JobID, Purpose>()

    var lane = Lane()
    var stores = StoreLine()
    var logTail = LogTail()
    var watch = WatchState()
    var echoes = EchoState()
    var deletes = DeleteState()
    var incoming = ImportState()
    var plan = PlanState()
    var fetch = FetchState()
    var apply = ApplyState()
    var session = SessionState()
    var serve = ServeState()
    var recovery = RecoveryState()
    var records = RecordState()
    var formats = FormatState()
    var claims = ClaimDesk()
    var alarms = AlarmState()
    var overdue = OverdueState()
    var toldForbidden = SortedMap<MessageCode, ToldPaths>()
    var timers = TimerState()

    public init() {
        let nobody = NodeRecord(id: NodeID(.zero), name: [], folder: FolderID(.zero))
        record = nobody
        recordEmitted = nobody
    }

    /// The only way in. Effects are performed by the caller after this returns, in order.
    public mutating func step(_ event: Event, at moment: Moment, into effects: inout Effects) {
        guard phase != .finished else { return }
        now = moment
        if watch.followClock(at: moment, limits) { effects.add(.report(.note(Note(code: .clockStepped)))) }
        refreshImported(into: &effects)
        switch event {
        case .started(let start): begin(start, into: &effects)
        case .stopRequested: requestStop()
        case .noticed(let notices): note(notices)
        case .overflowed: rescanAfterLoss()
        case .scanned(let job, let chunk): finishScan(job, chunk, into: &effects)
        case .inspected(let job, let inspection): finishInspection(job, inspection, into: &effects)
        case .hashed(let job, let outcomes): finishHashing(job, outcomes)
        case .readFinished(let job, let outcomes): finishReading(job, outcomes, into: &effects)
        case .parsed(let job, let outcome): finishParsing(job, outcome, into: &effects)
        case .diskFinished(let job, let results): finishDisk(job, results, into: &effects)
        case .stageListed(let job, let files): take(job) { $0.finishStageList(files) }
        case .loaded(let job, let answers): finishLoad(job, answers, into: &effects)
        case .stored(let job): finishStore(job, into: &effects)
        case .storeFailed: finish(.storeFailed, into: &effects)
        case .connected(let link): connect(link, into: &effects)
        case .received(let link, let bytes): receive(bytes, on: link, into: &effects)
        case .sent(let link, let count): drain(count, on: link)
        case .disconnected(let link): disconnect(link, into: &effects)
        case .deadline: timers.wakeAt = nil
        case .command(let id, let command): obey(command, id, into: &effects)
        }
        pump(into: &effects)
    }

    /// Starts whatever can be started now. Every piece decides for itself whether its turn has come.
    private mutating func pump(into effects: inout Effects) {
        guard phase != .off, phase != .finished else { return }
        pumpTimers(into: &effects)
        guard phase != .finished else { return }
        repeat {
            pumpRecovery(into: &effects)
            pumpWatch(into: &effects)
            pumpDeletes()
            pumpImport()
            pumpClaims(into: &effects)
            pumpPlan()
            pumpSpares(into: &effects)
            pumpFetch(into: &effects)
            pumpApply(into: &effects)
            pumpRecords(into: &effects)
            pumpShelf()
            pumpFormats(into: &effects)
            pumpSession(into: &effects)
            pumpServe(into: &effects)
        } while pumpLane(into: &effects) && records.imported == nil
        // The store is at work on them already when their outcome is made, at the next event: that they are stored, if no other.
        guard records.imported == nil else { return setWake(into: &effects) }
        pumpAcknowledgement(into: &effects)
        acknowledgeSets(into: &effects)
        acknowledgeShown(into: &effects)
        forgetRecords(into: &effects)
        pumpAlarms(into: &effects)
        pumpOverdue(into: &effects)
        noteInitialImport(into: &effects)
        pumpStop(into: &effects)
        setWake(into: &effects)
    }

    // MARK: Jobs

    /// What a completion is for. The large ones are boxed.
    enum Purpose: Sendable {
        case transaction
        case scan
        case inspection([Path])
        indirect case moveCheck(LocalMove, [Row], next: Path?)
        case rootCheck
        case hashing([Path], sinceMilliseconds: Int64)
        case ignoreFiles([Path], areAll: Bool)
        case readingSave(Path)
        case readingHeader(Path)
        case readingStagedHeader(Path, StageName)
        indirect case confirming(Path, Stat, StageName)
        indirect case keepingNewer(KeptVersion, past: [VersionID], StageName)
        case stagingRecords([Shelving])
        case placingRecords([Shelving])
        indirect case readingKept(WantedContent, VersionID?)
        case readingSpare
        indirect case placingNewer(KeptVersion, past: [VersionID], StageName)
        case stageList
        case recoveryLook
        case recoveryRepair
        case staging(ContentID, StageName)
        indirect case stagingPlain(Path, StageName, Entry)
        case applying
        case undoing
        case undoingBlindly
        case givingWay
        case rescuing
        case syncing
        case batchRootCheck
        case relocating
        case lateCheck([LateLook])
        indirect case securing(LateLook, StageName)
        case copyingUnsynced([Replacing])
        case replacingUnsynced([Replacing])
        case leavingUnsynced([Replacing])
        indirect case lateVerify(KeptVersion, StageName)
        indirect case lateRescue(Path, KeptVersion, StageName)
        case serving([ServeState.Reading])
        case pruning([VersionID])
        case pruned([VersionID])
        indirect case copyingKept(CommandID, KeptVersion, Path, StageName)
        indirect case placingKept(CommandID, KeptVersion, KeptVersion, Path, StageName)
        case droppingCopy(VersionID)
        indirect case restoring(CommandID, KeptVersion, Path, Row.DiskState?, StageName)
        indirect case takingBack(CommandID, KeptVersion, Path, StageName)
        indirect case settingAside(CommandID, KeptVersion, StageName)
        indirect case bringingBack(CommandID, KeptVersion, StageName)
        case nothing
    }

    mutating func newJob(_ purpose: Purpose) -> JobID {
        lastJob += 1
        let job = JobID(raw: lastJob)
        jobs[job] = purpose
        return job
    }

    /// Runs `body` if the job is one of ours; a completion for an unknown job is ignored.
    private mutating func take(_ job: JobID, _ body: (inout Node) -> Void) {
        if jobs.removeValue(forKey: job) != nil { body(&self) }
    }

    mutating func finish(_ reason: FinishReason, into effects: inout Effects) {
        phase = .finished
        effects.add(.finish(reason))
    }

    // MARK: What may happen now
    // Inline, as are others that each step asks: for a call that only reads the compiler copies all 8 kilobytes of a node.

    /// The folder may be looked at and written to.
    @inline(__always) var isWorking: Bool { phase == .running && watch.root == .healthy && !record.isForked }

    /// Why somebody who asks for something to be done in the folder is refused where that may not be.
    var standstill: MessageCode { phase == .stopping ? .nodeStopped : .nodeHalted }

    /// Nothing is waiting to be looked at, stored, imported or applied.
    @inline(__always) var isQuiet: Bool {
        phase == .running && lane.isIdle && stores.isEmpty && watch.isIdle && deletes.isIdle && incoming.isIdle
            && apply.isIdle && plan.isIdle && fetch.isIdle && recordsAreIdle && formats.isIdle
    }

    /// Bounds of everything kept in memory, for the checker of R-09.
    public var footprint: Footprint {
        Footprint(
            jobs: jobs.count, transactions: lane.waiting.count, noted: watch.toInspect.count + watch.toHash.count,
            imports: incoming.queue.count, tasks: plan.tasks.count, fetches: fetch.active.count,
            outboundBytes: session.outboundBytes, serving: serve.queue.count)
    }
}

/// How much a node holds in memory.
public struct Footprint: Hashable, Sendable {
    public let jobs: Int
    public let transactions: Int
    public let noted: Int
    public let imports: Int
    public let tasks: Int
    public let fetches: Int
    public let outboundBytes: Int
    public let serving: Int
}

/// Sums over all rows, kept up to date with each row that is written.
struct Counts: Hashable, Sendable {
    var files = 0
    var directories = 0
    var unsettled = 0
    /// A directory has moved with what the rules left out in it: how much of that counts by its new name the store
    /// says with the next status.
    var mustRecount = false

    mutating func replace(_ old: Row?, by new: Row?) {
        count(old, -1)
        count(new, 1)
    }

    private mutating func count(_ row: Row?, _ sign: Int) {
        guard let row else { return }
        if row.isUnsettled { unsettled += sign }
        guard let disk = row.disk, row.condition != .ignored else { return }
        if disk.entry.content.isDirectory { directories += sign } else { files += sign }
    }
}
