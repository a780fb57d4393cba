/// A row of the base as a blob; its path is the key. Version 1:
///
/// ```
/// flags      bits 0-1 condition · bit 2 owes a copy · bit 3 on disk · bit 4 racy · bit 5 waiting · bit 6 reflected follows
///            bit 7 unwritten
/// number of heads, and 4 if a format follows; each a revision
/// on disk    entry · stat beside it · 3 origins
/// reflected  vector; if it does not follow it is the row's version, as for every path at rest
/// waiting    code (bytes) · signed milliseconds · signed tries
/// format     content · rule · 0 empty, 1 corrupt, 2 unknown, or 3 and its version; 8 more if it is given up
/// ```
import SyncModel

enum RowCodec {
    static let version: UInt8 = 1

    static func encode(_ row: Row, key: [UInt8]) -> [UInt8] {
        var writer = BlobWriter()
        let isBehind = row.reflected != row.version
        writer.put(byte: flags(of: row) | (isBehind ? 64 : 0))
        writer.put(count: row.heads.count | (row.format == nil ? 0 : formatFlag))
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
        if let format = row.format { put(format, into: &writer) }
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
        let heads = try reader.count()
        for _ in 0..<(heads & ~formatFlag) { row.heads.append(try reader.revision()) }
        if flags & 8 != 0 {
            row.disk = try diskState(from: &reader)
            row.disk?.isRacy = flags & 16 != 0
            row.disk?.isUnwritten = flags & 128 != 0
        }
        row.reflected = flags & 64 == 0 ? row.version : try reader.vector()
        if flags & 32 != 0 { row.waiting = try waiting(from: &reader) }
        if heads & formatFlag != 0 { row.format = try format(from: &reader) }
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

    // MARK: What the header said

    /// Beside the number of heads, which are two at most.
    private static let formatFlag = 4

    private static func put(_ format: FormatMark, into writer: inout BlobWriter) {
        writer.put(format.content.digest)
        writer.put(number: UInt64(format.rule))
        let end: UInt8 = format.isGivenUp ? 8 : 0
        switch format.reading {
        case .zeroLength: writer.put(byte: end | 0)
        case .corrupt: writer.put(byte: end | 1)
        case .unknown: writer.put(byte: end | 2)
        case .version(let number):
            writer.put(byte: end | 3)
            writer.put(number: UInt64(number))
        }
    }

    private static func format(from reader: inout BlobReader) throws(BlobError) -> FormatMark {
        let (content, rule) = (ContentID(try reader.digest()), try reader.number32())
        let byte = try reader.byte()
        let reading: FormatReading
        switch byte & ~8 {
        case 0: reading = .zeroLength
        case 1: reading = .corrupt
        case 2: reading = .unknown
        case 3: reading = .version(try reader.number32())
        default: throw .damaged
        }
        var mark = FormatMark(content: content, rule: rule, reading: reading)
        mark.isGivenUp = byte & 8 != 0
        return mark
    }
}
