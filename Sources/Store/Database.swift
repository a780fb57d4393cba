/// What the store does, on its one connection: batches and queries of `SyncModel/Store.swift`, answered as `VirtualStore`
/// (SyncSim) answers them. The work itself is in the files `Database+…`, one for each table or two.
///
/// Not thread-safe: `Store` puts a lock around it.
import SyncModel

final class Database {
    let connection: Connection
    private let journal: JournalFile
    /// Batches that were performed since the state was made: the clock by which chunk lists are forgotten.
    var batches: Int64
    /// What the running batch has to put right at its end.
    var pending = Pending()
    var recentLists = RecentLists()
    var recentRows = RecentRows()
    /// The size of all versions outside quarantine. Nil until it is asked for, and after a batch that failed.
    var prunableBytes: UInt128?
    /// Directories whose sums were asked for and found stale: counted anew with the next batch.
    var staleAsked: Set<Path> = []
    /// A directory move of ours whose rows still stand at the old place: see `Database+Owed`.
    var owed: Relocation?
    /// Pages that lie in the journal, if SQLite has not brought it in by itself since.
    private var journalPages = 0
    /// The disk reported an error in a write or a sync. What was written since the last good commit cannot be known any more.
    private var writeFault: StoreFault?

    struct Pending {
        /// Contents that came to a path, left one or had their list stored.
        var contents: [ContentID: Holding] = [:]
        var sums: [Path: SumsChange] = [:]
    }

    /// Whether a content is at some path now.
    enum Holding {
        /// The last thing that happened to it is that it came to one.
        case held
        case unknown
    }

    /// The connection is open, and has the schema of this program.
    init(_ connection: Connection, _ journal: JournalFile) throws(StoreError) {
        self.connection = connection
        self.journal = journal
        try connection.prepareAll()
        batches = try connection.first(.batches) { $0.integer(0) } ?? 0
        owed = try notedMove()
    }

    func perform(_ batch: StoreBatch) throws(StoreError) {
        try settleOwed()
        let entry = batch.ownMove
        try write { () throws(StoreError) in
            batches += 1
            for operation in batch.operations where entry == nil || !operation.isRelocation { try perform(operation) }
            if let entry { try note(entry) } else { try settleRows() }
            try connection.run(.putBatches, .integer(batches))
        }
        if case .relocate(let move)? = entry?.change { owed = move }
    }

    /// What hangs on the rows that have changed.
    func settleRows() throws(StoreError) {
        try settleContents()
        try settleSums()
        try forgetChunks()
    }

    /// Everything that is written is written in here.
    func write(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        if let writeFault { throw .inputOutput(writeFault) }
        let before = batches
        pending = Pending()
        do throws(StoreError) {
            try connection.transaction(body)
            journal.noteCommit()
        } catch {
            batches = before
            recentLists = RecentLists()
            recentRows = RecentRows()
            prunableBytes = nil
            note(error)
            throw error
        }
    }

    /// SQLite does it within a commit once the journal has grown long, and whoever waits for that commit waits for all of it.
    func bringInJournal() throws(StoreError) {
        if let writeFault { throw .inputOutput(writeFault) }
        journalPages += try connection.takePagesWritten()
        guard journalPages >= Database.journalPagesMin else { return }
        do throws(StoreError) {
            try connection.checkpoint()
        } catch {
            note(error)
            throw error
        }
        journalPages = 0
    }

    /// Two megabytes: some milliseconds of work, and every few dozen changes at most.
    private static let journalPagesMin = 512

    func note(_ error: StoreError) {
        guard case .inputOutput(let fault) = error else { return }
        writeFault = fault
        // Nor must the journal be used up unchecked at the close: the next open reads it by its checksums.
        connection.keepsJournal = true
    }

    private func perform(_ operation: StoreOperation) throws(StoreError) {
        switch operation {
        case .putRow(let row): try put(row)
        case .dropRow(let path): try dropRow(path)
        case .relocate(let relocation): try relocate(relocation)
        case .appendLog(let record): try put(record)
        case .dropLog(let through): try connection.run(.dropLog, .bytes(through.key))
        case .putNode(let record): try connection.run(.putNode, .bytes(NodeCodec.encode(record)))
        case .putIntent(let intent): try put(intent)
        case .dropIntent(let stage): try connection.run(.dropIntent, .bytes(stage.raw.key))
        case .putVersion(let version): try put(version)
        case .dropVersion(let id): try dropVersion(id)
        case .putChunks(let content, let list): try put(list, of: content)
        case .putChangeSet(let set): try put(set)
        case .dropChangeSets(let author, let through):
            try connection.run(.dropSets, .integer(Int64(author.rawValue)), .bytes(through.key))
        }
    }

    func answer(_ query: StoreQuery) throws(StoreError) -> StoreAnswer {
        if query.concernsRows { try settleOwed() }
        return try found(query)
    }

    private func found(_ query: StoreQuery) throws(StoreError) -> StoreAnswer {
        switch query {
        case .rows(let paths): .rows(try rows(at: paths))
        case .below(let directory, let after, let limit):
            .rows(try rows(below: directory, after: after, limit: limit))
        case .unsettled(let cursor, let ascending, let limit):
            .rows(try unsettledRows(cursor: cursor, ascending: ascending, limit: limit))
        case .identities(let identities): .rows(try rows(with: identities))
        case .contents(let contents): .rows(try rows(holding: contents))
        case .ignoreFiles: .rows(try rows(.ignoreFiles))
        case .conflictCopies(let limit): .rows(try rows(.conflictCopies, .limit(limit)))
        case .guarded(let after, let limit): .rows(try rows(guardedAfter: after, limit: limit))
        case .summary(let directory): .summary(try summary(of: directory))
        case .chunkList(let content): .chunkList(try recentChunkList(of: content))
        case .chunkSources(let digests): .chunkSources(try chunkSources(of: digests))
        case .log(let after, let limit): .log(try records(after: after, limit: limit))
        case .latestLog(let limit): .log(try latestRecords(limit: limit))
        case .logRecord(let position): .logRecord(try record(at: position))
        case .intents: .intents(try intents())
        case .versions(let path, let limit): .versions(try keptVersions(of: path, limit: limit))
        case .versionsBelow(let directory): .versions(try keptVersions(below: directory))
        case .versionsKept(let since, let limit):
            .versions(try keptVersions(.versionsKept, .integer(since), .limit(limit)))
        case .prunable(let limit): try prunable(limit: limit)
        case .changeSets(let author, let after, let limit):
            .changeSets(try sets(by: author.map { [$0] } ?? [.own, .peer], after: after, limit: limit))
        }
    }

    func setValue(_ key: String, _ value: [UInt8]?) throws(StoreError) {
        try write { () throws(StoreError) in try put((key, value)) }
    }

    func put(_ fact: StoreFact) throws(StoreError) {
        if let value = fact.value {
            try connection.run(.putValue, .text(fact.key), .bytes(value))
        } else {
            try connection.run(.dropValue, .text(fact.key))
        }
    }

    func value(_ key: String) throws(StoreError) -> [UInt8]? {
        try connection.first(.value, .text(key)) { $0.bytes(0) }
    }

    func node() throws(StoreError) -> NodeRecord? {
        let sealed = try connection.first(.node) { $0.isNull(0) ? nil : $0.bytes(0) }
        guard let sealed = sealed ?? nil else { return nil }
        return try decoded("the node's record") { () throws(BlobError) in try NodeCodec.decode(sealed) }
    }
}

/// What `body` decodes; a blob that cannot be read says something of the whole state.
func decoded<Result>(
    _ what: String, _ body: () throws(BlobError) -> Result
) throws(StoreError) -> Result {
    do throws(BlobError) {
        return try body()
    } catch {
        switch error {
        case .damaged: throw .damaged(StoreFault("read \(what)", "its bytes are not what was written"))
        case .newer: throw .newer(found: Schema.version + 1, supported: Schema.version)
        }
    }
}

extension Value {
    /// SQLite takes a negative limit for none.
    static func limit(_ limit: Int) -> Value { .integer(Int64(max(0, limit))) }
}
