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
        try connection.run(
            .putVersion, .bytes(version.id.raw.key), .bytes(PathKey.bytes(of: version.path)),
            .integer(version.keptMilliseconds), .bytes(VersionCodec.encode(version)))
    }

    /// Ids are given in the order of keeping, whatever the wall clock did meanwhile.
    func keptVersions(of path: Path?, limit: Int) throws(StoreError) -> [KeptVersion] {
        guard let path else { return try keptVersions(.versions, .limit(limit)) }
        return try keptVersions(.versionsOfPath, .bytes(PathKey.bytes(of: path)), .limit(limit))
    }

    func keptVersions(_ sql: SQL, _ values: Value...) throws(StoreError) -> [KeptVersion] {
        var found: [KeptVersion] = []
        try connection.each(sql, values) { statement throws(StoreError) in
            let (key, sealed) = (statement.bytes(0), statement.bytes(1))
            found.append(
                try decoded("a kept version") { () throws(BlobError) in try VersionCodec.decode(sealed, key: key) })
            return true
        }
        return found
    }
}
