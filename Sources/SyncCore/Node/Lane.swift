import RecordMerge
import SyncModel

/// The lane: everything that reads or writes rows, one at a time, in order.
///
/// A transaction names the queries it needs; when the answers are there it runs to its end without interruption and may emit
/// one store batch. Queries are answered in the order of emission, so each transaction sees what all before it wrote.
struct Lane: Sendable {
    var waiting = Deque<Transaction>()
    /// The transaction whose answers are under way.
    var current: (job: JobID, transaction: Transaction)?

    var isIdle: Bool { waiting.isEmpty && current == nil }
}

/// The large ones are boxed, so that the lane moves few bytes.
enum Transaction: Sendable {
    // Observe
    case observe([Look], source: LookSource)
    case hashed([HashedPath])
    case namesakes([FileIdentity], areUnwritten: Bool = false)
    case flagBelow(Path, after: Path?, mayBeBack: Bool)
    indirect case verifyMove(LocalMove, after: Path?)
    indirect case relocateLocally(LocalMove)
    case loadRules
    case reconsiderIgnored(Digest, after: Path?)
    case lookAtIgnored(after: Path?)

    // Deletes
    case judge([Path])
    indirect case findRenamed(DeleteTally, [GoneFile], next: Path?)
    indirect case judgeWithSums(DeleteTally)
    indirect case tallyMissing(after: Path?, DeleteTally)
    case deleteJudged([Path], isRename: Bool)
    indirect case deleteMissing(before: Path?, DeletePass)
    case rejectMissing(CommandID, after: Path?)
    case rejectRefused([Path])

    // Records
    case loadRecords
    case reloadRecords
    case adoptRecords(Int, after: Path?)
    case tellRecords([Path])
    case matchRecords([Path])
    case sendSets(Author, after: LogPosition)
    case importSets
    case sendBase(Author, after: LogPosition)
    case takeBase
    case settleContest(CommandID, ContestChoice, RecordID)
    case loadShelf
    case shelve

    // Formats
    case reviewFormats(after: Path?, isWhole: Bool)
    case judgeCopies([Path])
    case keepNewer(Path, ContentID)

    // Import
    case importRecords([LogRecord])
    case importPage([RowState])
    case importRows([RowState])
    indirect case finishRows(LogHead)
    indirect case weighRelocation(LogRecord, Relocation)
    indirect case settleRelocation(ImportState.RunningRelocation, moved: Stat?, parents: SortedMap<Path, Stat>)
    case adopt(after: Path?, beyond: LogPosition)
    indirect case renumber(after: Path?, Renumbering)
    indirect case renumberLog(Renumbering)

    // Plan, fetch, apply
    case planPaths([Path])
    case planPage(cursor: Path?, ascending: Bool)
    case locate([WantedContent])
    indirect case rebuildList(ChangedList)
    case findChunks(ContentID)
    case prepare([Path])
    case commit([AppliedItem], parents: SortedMap<Path, Stat>)
    case explainNotEmpty(Path, after: Path?, sawLive: Bool)
    case reassertBeside(Path, copy: Path)
    case letGo(Path, after: Path?)
    case lateWriters([KeptVersion])

    // Session
    indirect case greet(Hello, LinkID)
    case sendLog
    indirect case sendRows(after: Path?, through: LogHead)
    case expand(LogPosition)
    indirect case expandPart(LogPosition, Relocation, after: Path?, old: Bool)
    case serve([ServeState.Request])

    // Node
    case recover
    indirect case settleRecovery(RecoveryState.Findings)
    case status(CommandID)
    case history(CommandID, Path)
    case findVersion(CommandID, VersionID, Path?)
    indirect case restoreOver(CommandID, KeptVersion, Path)
    case setAside(CommandID, Path)
    indirect case keepUnwritten(CommandID, KeptVersion, StageName)
    indirect case doubt(CommandID, Path, Content, Stat)
    indirect case settleRestore(CommandID, KeptVersion, Path, Row.DiskState?, Stat?, Answer)
    case prune
    case dropVersions([VersionID])
    case markAlive
    case markStopped
}

/// The answers to a transaction's queries, taken off in order.
struct Answers {
    private var list: ArraySlice<StoreAnswer>

    init(_ list: [StoreAnswer]) {
        self.list = list[...]
    }

    mutating func rows() -> [Row] {
        if case .rows(let rows)? = list.popFirst() { return rows }
        return []
    }

    mutating func rowsByPath() -> RowMap {
        RowMap(rows())
    }

    mutating func summary() -> SubtreeSummary {
        if case .summary(let summary)? = list.popFirst() { return summary }
        return SubtreeSummary()
    }

    mutating func chunkList() -> ChunkList? {
        if case .chunkList(let chunks)? = list.popFirst() { return chunks }
        return nil
    }

    mutating func chunkSources() -> [ChunkSource] {
        if case .chunkSources(let sources)? = list.popFirst() { return sources }
        return []
    }

    mutating func log() -> [LogRecord] {
        if case .log(let records)? = list.popFirst() { return records }
        return []
    }

    mutating func logRecord() -> LogRecord? {
        if case .logRecord(let record)? = list.popFirst() { return record }
        return nil
    }

    mutating func intents() -> [Intent] {
        if case .intents(let intents)? = list.popFirst() { return intents }
        return []
    }

    mutating func versions() -> [KeptVersion] {
        if case .versions(let versions)? = list.popFirst() { return versions }
        return []
    }

    mutating func changeSets() -> [StoredChangeSet] {
        if case .changeSets(let sets)? = list.popFirst() { return sets }
        return []
    }

    mutating func prunable() -> (versions: [KeptVersion], bytes: UInt64) {
        if case .prunable(let versions, let bytes)? = list.popFirst() { return (versions, bytes) }
        return ([], 0)
    }
}

/// Rows of one transaction, looked up by path.
struct RowMap: Sendable {
    private(set) var rows = SortedMap<Path, Row>()

    init(_ list: [Row] = []) {
        for row in list { rows[row.path] = row }
    }

    subscript(path: Path) -> Row? {
        get { rows[path] }
        set { rows[path] = newValue }
    }
}

/// The store batch of one transaction.
struct Batch: Sendable {
    var operations: [StoreOperation] = []

    var isEmpty: Bool { operations.isEmpty }

    mutating func add(_ operation: StoreOperation) { operations.append(operation) }
}

/// Batches emitted and not yet reported durable, oldest first.
struct StoreLine: Sendable {
    struct Entry: Sendable {
        let job: JobID
        let ownHead: LogHead
        let importedHead: LogHead
        let sets: SetHeads
        let setsPromised: LogPosition
        let after: AfterStored
        /// Something seen missing is marked so by it, or a directory is at its new place from it on.
        let isMarking: Bool
        /// What is on disk by its rows, and was not before.
        let shown: [Path]
    }

    var line = Deque<Entry>()
    var durableOwnHead = LogHead.none
    var durableImportedHead = LogHead.none
    /// The batch that is being made marks something missing, or moves a directory.
    var marksNext = false
    /// What it says is on disk, and was not before.
    var shownNext: [Path] = []

    /// What is seen missing is not marked so in the store yet, or what was moved not moved: whoever reads rows there now finds it as it was.
    var isMarking: Bool { line.contains(where: \.isMarking) }

    /// Nothing is under way that anybody waits for.
    var isEmpty: Bool {
        line.allSatisfy { entry in
            if case .signOfLife = entry.after { true } else { false }
        }
    }
}

/// What may be done once a batch is durable.
enum AfterStored: Sendable {
    case nothing
    /// Only a sign of life: nothing anybody waits for.
    case signOfLife
    case runBatch
    /// Versions whose files have other names in the folder.
    case secure([LateLook])
    case expectLateWriters([KeptVersion])
    case run(Node.Purpose, [DiskProgram])
    case runRelocation
    case announceRollback(LogPosition)
    case answer(CommandID, Answer)
    case finish
}
