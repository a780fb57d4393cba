public import Coordination
public import RecordMerge
public import SyncModel

/// Everything that can happen to a node. `Node.step` consumes these one at a time; each completion names the effect it answers.
/// The large cases are boxed: on its way an event is handed on many times.
public enum Event: Sendable {
    /// The first event of a process.
    indirect case started(Start)
    /// An orderly stop is wanted: finish what must be finished, then `Effect.finish`.
    case stopRequested

    // The watcher
    /// Something happened at these paths. Never trusted: each is looked at again.
    case noticed([Notice])
    /// The kernel's queue overflowed or the watch was lost: only a rescan can tell what changed.
    case overflowed

    // Completions of disk work
    /// Answers `Effect.scan`.
    case scanned(JobID, ScanChunk)
    /// Answers `Effect.inspect`.
    case inspected(JobID, Inspection)
    /// Answers `Effect.hash`, in the order of the requests.
    case hashed(JobID, [HashOutcome])
    /// Answers `Effect.read`, in the order of the requests.
    case readFinished(JobID, [ReadOutcome])
    /// Answers `Effect.parse`.
    indirect case parsed(JobID, ParseOutcome<Parsed>)
    /// Answers `Effect.disk`, in the order of the programs.
    case diskFinished(JobID, [DiskResult])
    /// Answers `Effect.listStage`.
    case stageListed(JobID, [StagedFile])

    // Completions of the store
    /// Answers `Effect.load`, in the order of the queries.
    case loaded(JobID, [StoreAnswer])
    /// Answers `Effect.store`: the batch is durable.
    case stored(JobID)
    /// The store cannot be written. What was not stored was not promised; the node stops.
    case storeFailed(JobID)

    // The link
    case connected(LinkID)
    /// One whole frame from the authenticated peer.
    case received(LinkID, [UInt8])
    /// So many bytes of what was sent have left this process.
    case sent(LinkID, Int)
    case disconnected(LinkID)

    /// The time asked for by the last `Effect.wake` has come.
    case deadline
    indirect case command(CommandID, Command)
}

public struct Start: Sendable {
    public let node: NodeRecord
    public let settings: Settings
    public let limits: Limits
    /// The version of this program, for the peer and for `status`.
    public let program: [UInt8]
    /// Drawn by the shell: names the epoch that begins with this process.
    public let nonce: UInt32
    /// The machine went down since the node was last alive: what was not synced may be gone or damaged.
    public let powerWasLost: Bool
    /// SHA-256. The shell has one that uses what the processor has for it.
    public let digest: SHA256.Function
    /// CRC-32 of a frame. The shell has a faster one of that, too.
    public let checksum: CRC32.Checksum
    /// What the applications say of their files.
    public let models: [InstalledModel]
    /// The files of those of which nobody can tell what they say.
    public let heldFiles: HeldFiles
    public let formats: FormatRules
    /// The other node was there before this one, and what it has comes first.
    public let hasJoined: Bool
    /// What the shell has the hello say besides what the core has to say.
    public let features: [[UInt8]]

    public init(
        node: NodeRecord, settings: Settings, limits: Limits, program: [UInt8], nonce: UInt32, powerWasLost: Bool,
        models: [InstalledModel] = [], heldFiles: HeldFiles = HeldFiles(), formats: FormatRules = FormatRules(),
        hasJoined: Bool = false,
        features: [[UInt8]] = [],
        digest: @escaping SHA256.Function = { SHA256.digest(of: $0) },
        checksum: @escaping CRC32.Checksum = { CRC32.checksum($0) }
    ) {
        self.node = node
        self.settings = settings
        self.limits = limits
        self.program = program
        self.nonce = nonce
        self.powerWasLost = powerWasLost
        self.digest = digest
        self.checksum = checksum
        self.models = models
        self.heldFiles = heldFiles
        self.formats = formats
        self.hasJoined = hasJoined
        self.features = features
    }
}

/// A model, and the digest of the file it was read from: two nodes merge records only by the same one.
public struct InstalledModel: Sendable {
    public let model: Model
    public let digest: Digest

    public init(_ model: Model, digest: Digest) {
        self.model = model
        self.digest = digest
    }
}

/// One life of the connection to the peer.
public struct LinkID: Hashable, Comparable, Sendable {
    public let raw: UInt64

    public init(raw: UInt64) {
        self.raw = raw
    }

    public static func < (left: LinkID, right: LinkID) -> Bool { left.raw < right.raw }
}

public struct CommandID: Hashable, Sendable {
    public let raw: UInt64

    public init(raw: UInt64) {
        self.raw = raw
    }
}

/// What a person decides about a record that is in quarantine, or was.
public enum ContestChoice: Hashable, Sendable {
    /// It gets the place that it lost; who has it goes to quarantine. Of two names of one record: what this one says counts.
    case take
    /// It is deleted, with those that left the folder with it. A second name: what is shown counts.
    case discard
    /// The delete is taken back, with that of all that were deleted with it.
    case restore
}

/// What a person or a program may ask of a running node.
public enum Command: Hashable, Sendable {
    case status
    case pause
    case resume
    case rescan(Path)
    case approve
    case reject
    /// Earlier versions of a path kept here.
    case history(Path)
    /// Put a kept version back, at its path or another; what is there now is kept in turn.
    case restore(VersionID, to: Path?)
    /// Take a file out of the folder as its deletion would, and keep it here too.
    case setAside(Path)
    /// Read whole, the file is not what is known of it, and the look at it says that nobody has changed it.
    case doubt(Path, Content, Stat)
    /// Records that are in quarantine, and why.
    case contests
    /// Groups of records that were discarded and can be restored.
    case discardedContests
    /// Records that are deleted.
    case deadRecords
    case settleContest(ContestChoice, RecordID)
    /// Why a record is where it is.
    case explainRecord(RecordID)
    /// The whole graph of every model, made anew and held against its rules. Takes a while where there are many records.
    case scanRecords
    /// Answered by `.claims` with the one that is granted, when it is.
    case claim(Claim, timeoutMilliseconds: UInt64?)
    /// Waiting or granted, and what was done under them that others must know of.
    case endClaims([Claim.ID], [Deed])
    /// It is asked before others touch what it shows, and told after.
    case present(Presenter)
    case withdrawPresenter(PresenterID)
    case answerQuestion(QuestionID, of: PresenterID, PresenterAnswer)
    /// All that are known here.
    case listClaims
    /// The administrator has changed his mind.
    case configure(Settings)
}
