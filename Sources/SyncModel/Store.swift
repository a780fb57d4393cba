/// What the core asks of the store and gives to it, as data. The store performs batches and queries in the order in which
/// they were emitted, so a query sees every batch before it.

public indirect enum StoreOperation: Hashable, Sendable {
    case putRow(Row)
    case dropRow(Path)
    /// `Relocation.applied` to every row at or below `from` that is on disk.
    case relocate(Relocation)
    case appendLog(LogRecord)
    case dropLog(through: LogPosition)
    case putNode(NodeRecord)
    case putIntent(Intent)
    case dropIntent(StageName)
    case putVersion(KeptVersion)
    case dropVersion(VersionID)
    /// The chunks of a content that is in the folder, so that it can be served and reused.
    case putChunks(ContentID, ChunkList)
    case putChangeSet(StoredChangeSet)
    case dropChangeSets(Author, through: LogPosition)
}

/// A change set of records as it came: the store does not look into it.
public struct StoredChangeSet: Hashable, Sendable {
    public let author: Author
    public let position: LogPosition
    public let bytes: [UInt8]

    public init(_ author: Author, _ position: LogPosition, _ bytes: [UInt8]) {
        self.author = author
        self.position = position
        self.bytes = bytes
    }
}

/// A list of operations that becomes durable as a whole or not at all. Answered by `Event.stored`.
public struct StoreBatch: Hashable, Sendable {
    public var operations: [StoreOperation]

    public init(_ operations: [StoreOperation] = []) {
        self.operations = operations
    }
}

/// What is about to be done to a path, written down before it is done, so that a crash in the middle can be finished.
public struct Intent: Hashable, Sendable {
    public let stage: StageName
    public let path: Path
    public let action: Action
    /// What stood at the path when the decision was made; nil for nothing.
    public let expected: Stat?
    /// Where the displaced file goes.
    public let displaced: Displaced?
    /// The time of the staged file when the intent was written: until the program has begun it may be another than the
    /// wanted one.
    public let stagedTime: Timestamp?
    /// What the path shows of both logs when the file is in its place.
    public let shown: Shown?

    /// What a row says of a path beside its entry.
    public struct Shown: Hashable, Sendable {
        public let version: VersionVector
        public let origins: Origins

        public init(version: VersionVector, origins: Origins) {
            self.version = version
            self.origins = origins
        }
    }

    public enum Action: Hashable, Sendable {
        /// Put the staged file (known by its identity) at the path.
        case place(FileIdentity?, Entry)
        /// Take away what is at the path.
        case remove
        /// Rename a file or a directory of ours from another path.
        case rename(from: Path)
    }

    public enum Displaced: Hashable, Sendable {
        case version(KeptVersion)
        case conflictCopy(Path)
        case quarantine(KeptVersion)
    }

    /// What is kept of what makes room, out of the tree.
    public var version: KeptVersion? {
        switch displaced {
        case .version(let version)?, .quarantine(let version)?: version
        case .conflictCopy?, nil: nil
        }
    }

    public init(
        stage: StageName, path: Path, action: Action, expected: Stat?, displaced: Displaced?,
        stagedTime: Timestamp? = nil, shown: Shown? = nil
    ) {
        self.stage = stage
        self.path = path
        self.action = action
        self.expected = expected
        self.displaced = displaced
        self.stagedTime = stagedTime
        self.shown = shown
    }
}

/// An earlier state of a path that this node keeps.
public struct KeptVersion: Hashable, Sendable {
    public let id: VersionID
    public let path: Path
    public let entry: Entry
    /// The file as it was when it was put aside: a difference tells of a late writer.
    public let stat: Stat
    public let author: Author
    public let keptMilliseconds: Int64
    public let reason: MessageCode
    /// Kept in quarantine instead of the versions folder.
    public let isQuarantined: Bool

    public init(
        id: VersionID, path: Path, entry: Entry, stat: Stat, author: Author, keptMilliseconds: Int64,
        reason: MessageCode, isQuarantined: Bool = false
    ) {
        self.id = id
        self.path = path
        self.entry = entry
        self.stat = stat
        self.author = author
        self.keptMilliseconds = keptMilliseconds
        self.reason = reason
        self.isQuarantined = isQuarantined
    }

    /// It goes by its age and for the room it takes. What is in quarantine stays until nobody needs it but for what was.
    public var isPrunable: Bool { !isQuarantined || reason == .versionKept }

    /// Records in quarantine are counted by themselves.
    public var isOfDamage: Bool { isQuarantined && reason == .itemQuarantined }

    public var place: Place { isQuarantined ? .quarantine(id) : .version(id) }
}

public enum StoreQuery: Hashable, Sendable {
    /// Rows at these paths. Answered by `.rows` with those that exist, in path order.
    case rows([Path])
    /// Rows strictly below a directory, in path order, after `after`. Answered by `.rows`.
    case below(Path, after: Path?, limit: Int)
    /// Rows that are unsettled, ascending after or descending before `cursor`. Answered by `.rows`.
    case unsettled(cursor: Path?, ascending: Bool, limit: Int)
    /// Rows whose disk state has one of these identities. Answered by `.rows`.
    case identities([FileIdentity])
    /// For each content one row whose disk holds it, if there is one; else one that holds it and that the rules leave out. Answered by `.rows`.
    case contents([ContentID])
    /// Every live row whose name is `.syncignore`. Answered by `.rows`.
    case ignoreFiles
    /// Live rows that are called like a conflict copy (`ConflictName.isConflictCopy`). Answered by `.rows`.
    case conflictCopies(limit: Int)
    /// Rows of guarded files whose header was read (`Row.format`), after a path. Answered by `.rows`.
    case guarded(after: Path?, limit: Int)
    case summary(Path)
    /// The chunk list of a content. Answered by `.chunkList`.
    case chunkList(ContentID)
    /// Where chunks can be copied from. Answered by `.chunkSources`.
    case chunkSources([Digest])
    /// Own log records after a position.
    case log(after: LogPosition, limit: Int)
    /// The latest own log records, oldest first, of whichever processes. Answered by `.log`.
    case latestLog(limit: Int)
    /// The own log record at a position.
    case logRecord(LogPosition)
    case intents
    /// Kept versions of a path, newest first; of every path, oldest first, if nil.
    case versions(Path?, limit: Int)
    /// Kept versions of what lies strictly below a directory, or did, newest first. Answered by `.versions`.
    case versionsBelow(Path)
    /// Versions kept at this wall time or later, newest first. Answered by `.versions`.
    case versionsKept(sinceMilliseconds: Int64, limit: Int)
    /// The oldest versions that are prunable, and the size of all that are. Answered by `.prunable`.
    case prunable(limit: Int)
    /// Change sets by an author after a position, in order; of both authors, each in order, if nil. Answered by `.changeSets`.
    case changeSets(Author?, after: LogPosition, limit: Int)
}

public enum StoreAnswer: Hashable, Sendable {
    case rows([Row])
    case summary(SubtreeSummary)
    case chunkList(ChunkList?)
    case chunkSources([ChunkSource])
    case log([LogRecord])
    indirect case logRecord(LogRecord?)
    case intents([Intent])
    case versions([KeptVersion])
    case prunable([KeptVersion], bytes: UInt64)
    case changeSets([StoredChangeSet])
}

public struct ChunkSource: Hashable, Sendable {
    public let digest: Digest
    public let path: Path
    public let offset: UInt64
    public let length: UInt32

    public init(digest: Digest, path: Path, offset: UInt64, length: UInt32) {
        self.digest = digest
        self.path = path
        self.offset = offset
        self.length = length
    }
}
