/// A directory that was moved here can be told of as soon as its entry is in the log. The rows, two for each path below it,
/// follow in a transaction of their own, before anybody is answered who could see one. If the process ends in between,
/// the next one finds a note and goes on from there.
public import SyncModel

extension Database {
    private static let noteKey = "store.move"

    func note(_ entry: LogRecord) throws(StoreError) {
        try connection.run(.putValue, .text(Database.noteKey), .bytes(entry.head.position.key))
    }

    func notedMove() throws(StoreError) -> Relocation? {
        guard let key = try value(Database.noteKey) else { return nil }
        let position = try decoded("the note of a move") { () throws(BlobError) in try LogPosition(key: key) }
        guard case .relocate(let move)? = try record(at: position)?.change else {
            throw .damaged(StoreFault("read the note of a move", "its entry is not in the log"))
        }
        return move
    }

    func settleOwed() throws(StoreError) {
        guard let move = owed else { return }
        try write { () throws(StoreError) in
            try relocate(move)
            try settleRows()
            try connection.run(.dropValue, .text(Database.noteKey))
        }
        owed = nil
    }
}

extension StoreBatch {
    /// The entry, if the batch is that of a directory move of ours and says nothing else of any row: nor that what
    /// is left out stays in doubt (`Relocation.distrustOfIgnored`), for the entry does not say that.
    public var ownMove: LogRecord? {
        var entries: [LogRecord] = []
        var moves: [Relocation] = []
        for operation in operations {
            switch operation {
            case .appendLog(let entry): entries.append(entry)
            case .relocate(let move): moves.append(move)
            case .putNode: break
            case .putRow, .dropRow, .dropLog, .putIntent, .dropIntent, .putVersion, .dropVersion, .putChunks,
                .putChangeSet, .dropChangeSets:
                return nil
            }
        }
        guard entries.count == 1, moves.count == 1, entries[0].change == .relocate(moves[0]) else { return nil }
        return entries[0]
    }
}

extension StoreOperation {
    var isRelocation: Bool { if case .relocate = self { true } else { false } }
}

extension StoreQuery {
    /// The answer depends on rows, or on what hangs on them.
    var concernsRows: Bool {
        switch self {
        case .rows, .below, .unsettled, .identities, .contents, .ignoreFiles, .conflictCopies, .guarded, .summary,
            .chunkList, .chunkSources:
            true
        case .log, .latestLog, .logRecord, .intents, .versions, .versionsBelow, .versionsKept, .prunable,
            .changeSets:
            false
        }
    }
}
