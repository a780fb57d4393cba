/// A record of the own log as a blob; its position is the key. Version 1:
///
/// ```
/// chain (32) · hybrid time (8) · kind
/// 1 put       path · revision
/// 2 relocate  path from · path to · origin · position seen of the peer · live rows · fingerprint (8)
/// ```
/// What is chained and sent is another format, `LogCodec` in SyncCore: it is made anew from the record.
import SyncModel

enum RecordCodec {
    static let version: UInt8 = 1

    static func encode(_ record: LogRecord) -> [UInt8] {
        var writer = BlobWriter()
        writer.put(record.head.chain)
        writer.put(fixed: record.time.raw, width: 8)
        switch record.change {
        case .put(let path, let revision):
            writer.put(byte: 1)
            writer.put(path)
            writer.put(revision)
        case .relocate(let move):
            writer.put(byte: 2)
            writer.put(move.from)
            writer.put(move.to)
            writer.put(move.origin)
            writer.put(move.seenPeer)
            writer.put(number: move.summary.liveRows)
            writer.put(fixed: move.summary.fingerprint, width: 8)
        }
        return Blob.seal(writer.bytes, version: version, key: record.head.position.key)
    }

    static func decode(_ sealed: [UInt8], key: [UInt8]) throws(BlobError) -> LogRecord {
        var reader = try Blob.open(sealed, version: version, key: key)
        let head = LogHead(position: try LogPosition(key: key), chain: try reader.digest())
        let time = HybridTime(raw: try reader.fixed(width: 8))
        let change = try change(from: &reader)
        try reader.finish()
        return LogRecord(head: head, time: time, change: change)
    }

    private static func change(from reader: inout BlobReader) throws(BlobError) -> LogRecord.Change {
        switch try reader.byte() {
        case 1:
            let path = try reader.path()
            return .put(path, try reader.revision())
        case 2:
            let (from, to) = (try reader.path(), try reader.path())
            let (origin, seenPeer) = (try reader.origin(), try reader.position())
            let liveRows = try reader.number()
            let summary = SubtreeSummary.Contents(liveRows: liveRows, fingerprint: try reader.fixed(width: 8))
            return .relocate(Relocation(from: from, to: to, origin: origin, seenPeer: seenPeer, summary: summary))
        default: throw .damaged
        }
    }
}
