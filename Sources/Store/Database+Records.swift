/// The own log, intents and kept versions: lists in the order of their keys.
import SyncModel

// MARK: The own log

extension Database {
    func put(_ record: LogRecord) throws(StoreError) {
        try connection.run(.putLog, .bytes(record.head.position.key), .bytes(RecordCodec.encode(record)))
    }

    func records(after position: LogPosition, limit: Int) throws(StoreError) -> [LogRecord] {
        var found: [LogRecord] = []
        try connection.each(.logAfter, [.bytes(position.key), .limit(limit)]) { statement throws(StoreError) in
            found.append(try Database.record(in: statement))
            return true
        }
        return found
    }

    /// Oldest first.
    func latestRecords(limit: Int) throws(StoreError) -> [LogRecord] {
        var found: [LogRecord] = []
        try connection.each(.logLatest, [.limit(limit)]) { statement throws(StoreError) in
            found.append(try Database.record(in: statement))
            return true
        }
        return found.reversed()
    }

    func record(at position: LogPosition) throws(StoreError) -> LogRecord? {
        try connection.first(.logAt, .bytes(position.key)) { statement throws(StoreError) in
            try Database.record(in: statement)
        }
    }

    private static func record(in statement: Statement) throws(StoreError) -> LogRecord {
        let (key, sealed) = (statement.bytes(0), statement.bytes(1))
        return try decoded("a log record") { () throws(BlobError) in try RecordCodec.decode(sealed, key: key) }
    }
}

// MARK: Change sets of records

extension Database {
    func put(_ set: StoredChangeSet) throws(StoreError) {
        try connection.run(
            .putSet, .integer(Int64(set.author.rawValue)), .bytes(set.position.key), .bytes(SetCodec.encode(set)))
    }

    func sets(by authors: [Author], after position: LogPosition, limit: Int) throws(StoreError) -> [StoredChangeSet] {
        var found: [StoredChangeSet] = []
        for author in authors {
            let values = [Value.integer(Int64(author.rawValue)), .bytes(position.key), .limit(limit)]
            try connection.each(.setsAfter, values) { statement throws(StoreError) in
                let (key, sealed) = (statement.bytes(0), statement.bytes(1))
                found.append(
                    try decoded("a change set") { () throws(BlobError) in
                        try SetCodec.decode(sealed, by: author, at: LogPosition(key: key))
                    })
                return true
            }
        }
        return found
    }
}

// MARK: Intents

extension Database {
    func put(_ intent: Intent) throws(StoreError) {
        try connection.run(.putIntent, .bytes(intent.stage.raw.key), .bytes(IntentCodec.encode(intent)))
    }

    func intents() throws(StoreError) -> [Intent] {
        var found: [Intent] = []
        try connection.each(.intents, []) { statement throws(StoreError) in
            let (key, sealed) = (statement.bytes(0), statement.bytes(1))
            found.append(
                try decoded("an intent") { () throws(BlobError) in try IntentCodec.decode(sealed, key: key) })
            return true
        }
        return found
    }
}

// MARK: Kept versions

extension Database {
    func put(_ version: KeptVersion) throws(StoreError) {
        try noteSize(of: version.id, as: version)
        try connection.run(
            .putVersion, .bytes(version.id.raw.key), .bytes(PathKey.bytes(of: version.path)),
            .integer(version.keptMilliseconds), .bytes(VersionCodec.encode(version)))
    }

    func dropVersion(_ id: VersionID) throws(StoreError) {
        try noteSize(of: id, as: nil)
        try connection.run(.dropVersion, .bytes(id.raw.key))
    }

    private func noteSize(of id: VersionID, as version: KeptVersion?) throws(StoreError) {
        guard let bytes = prunableBytes else { return }
        let old = try keptVersions(.version, .bytes(id.raw.key)).first
        prunableBytes = bytes - (old?.prunableSize ?? 0) + (version?.prunableSize ?? 0)
    }

    /// All versions are gone through once, and counted from then on; or as many as it takes to find the oldest.
    func prunable(limit: Int) throws(StoreError) -> StoreAnswer {
        var oldest: [KeptVersion] = []
        var counted: UInt128 = 0
        let isCounting = prunableBytes == nil
        try connection.each(.versions, [.limit(.max)]) { statement throws(StoreError) in
            let kept = try Database.keptVersion(statement)
            if kept.isPrunable, oldest.count < limit { oldest.append(kept) }
            counted += kept.prunableSize
            return isCounting || oldest.count < limit
        }
        let bytes = prunableBytes ?? counted
        prunableBytes = bytes
        return .prunable(oldest, bytes: UInt64(clamping: bytes))
    }

    /// Ids are given in the order of keeping, whatever the wall clock did meanwhile.
    func keptVersions(of path: Path?, limit: Int) throws(StoreError) -> [KeptVersion] {
        guard let path else { return try keptVersions(.versions, .limit(limit)) }
        return try keptVersions(.versionsOfPath, .bytes(PathKey.bytes(of: path)), .limit(limit))
    }

    func keptVersions(below directory: Path) throws(StoreError) -> [KeptVersion] {
        let range = PathKey.below(directory)
        let found = try keptVersions(.versionsFrom, .bytes(range.from), .bytes(range.upTo))
        // (Not all damage to an index is seen by SQLite.)
        return found.filter { $0.path.isBelow(directory) }.sorted { $0.id > $1.id }
    }

    func keptVersions(_ sql: SQL, _ values: Value...) throws(StoreError) -> [KeptVersion] {
        var found: [KeptVersion] = []
        try connection.each(sql, values) { statement throws(StoreError) in
            found.append(try Database.keptVersion(statement))
            return true
        }
        return found
    }

    private static func keptVersion(_ statement: Statement) throws(StoreError) -> KeptVersion {
        let (key, sealed) = (statement.bytes(0), statement.bytes(1))
        return try decoded("a kept version") { () throws(BlobError) in try VersionCodec.decode(sealed, key: key) }
    }
}

extension KeptVersion {
    fileprivate var prunableSize: UInt128 { isPrunable ? UInt128(entry.content.size) : 0 }
}
