/// A row of the base as a blob; its path is the key. Version 1:
///
/// ```
/// flags      bits 0-1 condition · bit 2 owes a copy · bit 3 on disk · bit 4 racy · bit 5 waiting · bit 6 reflected follows
///            bit 7 unwritten
/// number of heads, each a revision
/// on disk    entry · stat beside it · 3 origins
/// reflected  vector; if it does not follow it is the row's version, as for every path at rest
/// waiting    code (bytes) · signed milliseconds · signed tries
/// ```
import SyncModel

enum RowCodec {
    static let version: UInt8 = 1

    static func encode(_ row: Row, key: [UInt8]) -> [UInt8] {
        var writer = BlobWriter()
        let isBehind = row.reflected != row.version
        writer.put(byte: flags(of: row) | (isBehind ? 64 : 0))
        writer.put(count: row.heads.count)
        for head in row.heads { writer.put(head) }
        if let disk = row.disk {
            writer.put(disk.entry)
            writer.put(disk.stat, beside: disk.entry)
            writer.put(disk.origins)
        }
        if isBehind { writer.put(row.reflected) }
        if let waiting = row.waiting {
            writer.put(waiting.reason)
            writer.put(signed: waiting.sinceMilliseconds)
            writer.put(signed: Int64(waiting.tries))
        }
        return Blob.seal(writer.bytes, version: version, key: key)
    }

    private static func flags(of row: Row) -> UInt8 {
        row.condition.rawValue | (row.owesCopy ? 4 : 0) | (row.disk == nil ? 0 : 8)
            | (row.disk?.isRacy == true ? 16 : 0) | (row.waiting == nil ? 0 : 32)
            | (row.disk?.isUnwritten == true ? 128 : 0)
    }

    static func decode(_ sealed: [UInt8], key: [UInt8]) throws(BlobError) -> Row {
        var reader = try Blob.open(sealed, version: version, key: key)
        guard let path = PathKey.path(of: key) else { throw .damaged }
        let flags = try reader.byte()
        guard let condition = Row.Condition(rawValue: flags & 3) else { throw .damaged }
        var row = Row(path: path)
        row.condition = condition
        row.owesCopy = flags & 4 != 0
        for _ in 0..<(try reader.count()) { row.heads.append(try reader.revision()) }
        if flags & 8 != 0 {
            row.disk = try diskState(from: &reader)
            row.disk?.isRacy = flags & 16 != 0
            row.disk?.isUnwritten = flags & 128 != 0
        }
        row.reflected = flags & 64 == 0 ? row.version : try reader.vector()
        if flags & 32 != 0 { row.waiting = try waiting(from: &reader) }
        try reader.finish()
        return row
    }

    private static func diskState(from reader: inout BlobReader) throws(BlobError) -> Row.DiskState {
        let entry = try reader.entry()
        let stat = try reader.stat(beside: entry)
        return Row.DiskState(entry: entry, stat: stat, origins: try reader.origins())
    }

    private static func waiting(from reader: inout BlobReader) throws(BlobError) -> Row.Waiting {
        let (reason, since) = (try reader.code(), try reader.signed())
        return Row.Waiting(reason: reason, sinceMilliseconds: since, tries: try reader.int())
    }
}
