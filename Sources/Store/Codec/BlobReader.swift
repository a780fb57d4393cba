/// Reads the payload of a blob; the format is at the head of `Blob.swift`. Total: whatever the bytes, it gives a value
/// or an error, and never reserves more than they hold.
import SyncModel

struct BlobReader {
    private let bytes: ArraySlice<UInt8>
    private var offset: Int
    private var knownEpochs: [Epoch] = []
    private var knownOrigins: [Origin] = []
    private var knownEntries: [Entry] = []

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        offset = bytes.startIndex
    }

    var isAtEnd: Bool { offset == bytes.endIndex }

    /// What has not been read.
    var rest: [UInt8] { Array(bytes[offset...]) }

    /// To be asked at the end: bytes that are left over are damage.
    func finish() throws(BlobError) {
        if !isAtEnd { throw .damaged }
    }

    mutating func byte() throws(BlobError) -> UInt8 {
        guard offset < bytes.endIndex else { throw .damaged }
        offset += 1
        return bytes[offset - 1]
    }

    mutating func number() throws(BlobError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            let next = try byte()
            if shift == 63 && next > 1 { throw .damaged }
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
        }
        throw .damaged
    }

    mutating func signed() throws(BlobError) -> Int64 {
        let raw = try number()
        return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
    }

    mutating func int() throws(BlobError) -> Int {
        Int(try signed())
    }

    /// A number of things of which each takes a byte at least.
    mutating func number32() throws(BlobError) -> UInt32 {
        guard let number = UInt32(exactly: try number()) else { throw .damaged }
        return number
    }

    mutating func count() throws(BlobError) -> Int {
        let value = try number()
        guard value <= UInt64(bytes.endIndex - offset) else { throw .damaged }
        return Int(value)
    }

    mutating func fixed(width: Int) throws(BlobError) -> UInt64 {
        guard bytes.endIndex - offset >= width else { throw .damaged }
        var value: UInt64 = 0
        for index in offset..<(offset + width) { value = value << 8 | UInt64(bytes[index]) }
        offset += width
        return value
    }

    mutating func counted() throws(BlobError) -> [UInt8] {
        let count = try count()
        defer { offset += count }
        return Array(bytes[offset..<(offset + count)])
    }

    mutating func path() throws(BlobError) -> Path {
        guard let path = Path(try counted()) else { throw .damaged }
        return path
    }

    mutating func digest() throws(BlobError) -> Digest {
        let (first, second) = (try fixed(width: 8), try fixed(width: 8))
        let (third, fourth) = (try fixed(width: 8), try fixed(width: 8))
        return Digest(words: (first, second, third, fourth))
    }

    mutating func time() throws(BlobError) -> Timestamp {
        let seconds = try signed()
        return Timestamp(seconds: seconds, nanoseconds: UInt32(truncatingIfNeeded: try fixed(width: 4)))
    }

    mutating func code() throws(BlobError) -> MessageCode {
        // Codes are added now and then without a new format; an older program meets one when it is put back.
        guard let code = MessageCode(rawValue: String(decoding: try counted(), as: UTF8.self)) else { throw .newer }
        return code
    }

    mutating func position() throws(BlobError) -> LogPosition {
        let tag = try number()
        if tag == 0 { return .none }
        let epoch: Epoch
        if tag == 1 {
            epoch = Epoch(raw: try fixed(width: 8))
            knownEpochs.append(epoch)
        } else {
            guard tag - 2 < UInt64(knownEpochs.count) else { throw .damaged }
            epoch = knownEpochs[Int(tag - 2)]
        }
        return LogPosition(epoch: epoch, seq: try number())
    }

    mutating func vector() throws(BlobError) -> VersionVector {
        let own = try position()
        return VersionVector(own: own, peer: try position())
    }

    mutating func head() throws(BlobError) -> LogHead {
        let position = try position()
        return LogHead(position: position, chain: try digest())
    }

    mutating func origin() throws(BlobError) -> Origin {
        let tag = try number()
        if tag >= 2 {
            guard tag - 2 < UInt64(knownOrigins.count) else { throw .damaged }
            return knownOrigins[Int(tag - 2)]
        }
        let position = try position()
        let time = HybridTime(raw: try fixed(width: 8))
        let origin = Origin(author: tag == 0 ? .own : .peer, position: position, time: time)
        knownOrigins.append(origin)
        return origin
    }

    mutating func origins() throws(BlobError) -> Origins {
        let (content, mode) = (try origin(), try origin())
        return Origins(content: content, mode: mode, time: try origin())
    }

    mutating func entry() throws(BlobError) -> Entry {
        let tag = try number()
        if tag >= 4 {
            guard tag - 4 < UInt64(knownEntries.count) else { throw .damaged }
            return knownEntries[Int(tag - 4)]
        }
        let content = try content(tag)
        guard let mode = UInt16(exactly: try number()), mode <= 0o777 else { throw .damaged }
        let entry = Entry(content: content, mode: mode, modified: try time())
        knownEntries.append(entry)
        return entry
    }

    private mutating func content(_ tag: UInt64) throws(BlobError) -> Content {
        switch tag {
        case 0: return .absent
        case 1:
            let id = ContentID(try digest())
            return .file(id, size: try number())
        case 2: return .directory
        default: return .symlink(try counted())
        }
    }
}
