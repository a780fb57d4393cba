import SyncCore
import SyncModel

/// The alerts of this node: what the core and the shell raised, since when, how often, and what a person said to it.
/// Written down whole (`encoded`) so that a restart forgets neither when something began nor that it was seen.
struct AlertBook {
    struct Item: Hashable {
        let key: AlertKey
        var firstMilliseconds: Int64
        var lastMilliseconds: Int64
        var count: Int
        var isAcknowledged: Bool
        /// Who wrote what it is about, where that matters.
        var writer: Author?
        /// What is wrong with a record; not written down, because whatever raises it again knows it.
        var violation: Violation?
        /// The time at which it was over.
        var clearedMilliseconds: Int64?

        /// The same for the same condition, on every run.
        var id: String { AlertBook.id(of: key) }
    }

    private(set) var items = SortedMap<AlertKey, Item>()
    /// Something is here that is not written down yet.
    private(set) var isChanged = false

    /// Those that are over are remembered up to so many.
    static let clearedMax = 200

    static func id(of key: AlertKey) -> String {
        let format: [UInt8] = key.format.map { Array("\0\($0.found ?? 0) \($0.supported) \($0.node)".utf8) } ?? []
        let digest = SHA256.digest(of: Array(key.code.rawValue.utf8) + [0] + key.subject + format)
        return "a" + digest.hex(digits: 10)
    }

    var open: [Item] { items.map(\.value).filter { $0.clearedMilliseconds == nil } }

    func item(_ id: String) -> Item? { items.map(\.value).first { $0.id == id } }

    /// True if it was not open before.
    mutating func raise(
        _ key: AlertKey, since: Int64, now: Int64, writer: Author? = nil, violation: Violation? = nil
    ) -> Bool {
        isChanged = true
        if var item = items[key], item.clearedMilliseconds == nil {
            item.lastMilliseconds = now
            item.count += 1
            item.violation = violation ?? item.violation
            items[key] = item
            return false
        }
        let count = (items[key]?.count ?? 0) + 1
        items[key] = Item(
            key: key, firstMilliseconds: since, lastMilliseconds: now, count: count, isAcknowledged: false,
            writer: writer, violation: violation)
        return true
    }

    /// True if it was open.
    mutating func clear(_ key: AlertKey, now: Int64) -> Bool {
        guard var item = items[key], item.clearedMilliseconds == nil else { return false }
        isChanged = true
        item.clearedMilliseconds = now
        items[key] = item
        forgetOldest()
        return true
    }

    mutating func acknowledge(_ id: String) -> Bool {
        guard var item = item(id), item.clearedMilliseconds == nil else { return false }
        isChanged = true
        item.isAcknowledged = true
        items[item.key] = item
        return true
    }

    private mutating func forgetOldest() {
        let cleared = items.map(\.value).filter { $0.clearedMilliseconds != nil }
        guard cleared.count > AlertBook.clearedMax else { return }
        let oldest = cleared.min { ($0.clearedMilliseconds ?? 0) < ($1.clearedMilliseconds ?? 0) }
        if let oldest { items[oldest.key] = nil }
    }
}

// MARK: On disk

/// Version 2, numbers big-endian: `1 version · 4 n, n × item`; an item is
/// `4 length, code · 4 length, subject · 8 first · 8 last · 8 count · 1 acknowledged · 1 is over · 8 over at · 1 writer (0 none,
/// 1 this node, 2 the other) · 1 is about a format`, and of a format `1 node · 1 has found · 4 found · 4 lowest · 4 highest`.
/// Version 1 ended after "over at".
/// A code this program does not know is left out: it was raised by another version, and what it tells of is raised again.
extension AlertBook {
    mutating func encoded() -> [UInt8] {
        isChanged = false
        var writer = ByteWriter()
        writer.put(AlertBook.version)
        writer.put(UInt32(items.count))
        for (_, item) in items {
            writer.putCounted(Array(item.key.code.rawValue.utf8))
            writer.putCounted(item.key.subject)
            writer.put(item.firstMilliseconds)
            writer.put(item.lastMilliseconds)
            writer.put(Int64(item.count))
            writer.put(item.isAcknowledged)
            writer.put(item.clearedMilliseconds != nil)
            writer.put(item.clearedMilliseconds ?? 0)
            writer.put(item.writer.map { $0.rawValue + 1 } ?? 0)
            AlertBook.put(item.key.format, into: &writer)
        }
        return writer.bytes
    }

    private static let version: UInt8 = 2

    private static func put(_ format: FormatFinding?, into writer: inout ByteWriter) {
        writer.put(format != nil)
        guard let format else { return }
        writer.put(format.node.rawValue)
        writer.put(format.found != nil)
        for number in [format.found ?? 0, format.supported.lowerBound, format.supported.upperBound] {
            writer.put(number)
        }
    }

    /// Nil if it cannot be read; a nil in it if there is none.
    private static func format(from reader: inout ByteReader) -> FormatFinding?? {
        guard let isThere = reader.bool() else { return nil }
        guard isThere else { return .some(nil) }
        guard let node = reader.byte().flatMap({ Author(rawValue: $0) }), let hasFound = reader.bool(),
            let found = reader.uint32(), let low = reader.uint32(), let high = reader.uint32(), low <= high
        else { return nil }
        return FormatFinding(found: hasFound ? found : nil, supported: low...high, node: node)
    }

    /// What cannot be read counts as nothing: alerts are raised again by what they tell of.
    init(encoded bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let version = reader.byte(), (1...AlertBook.version).contains(version), let count = reader.uint32()
        else { return }
        for _ in 0..<count {
            guard let (key, item) = AlertBook.item(from: &reader, version) else { return }
            if let key { items[key] = item }
        }
    }

    private static func item(from reader: inout ByteReader, _ version: UInt8) -> (AlertKey?, Item)? {
        guard let code = reader.counted(max: 256), let subject = reader.counted(max: Limits.pathBytesMax),
            let first = reader.int64(), let last = reader.int64(), let count = reader.int64(),
            let isAcknowledged = reader.byte(), let isOver = reader.byte(), let over = reader.int64()
        else { return nil }
        var (writer, format): (UInt8, FormatFinding?) = (0, nil)
        if version > 1 {
            guard let byte = reader.byte(), let read = AlertBook.format(from: &reader) else { return nil }
            (writer, format) = (byte, read)
        }
        let known = MessageCode(rawValue: String(decoding: code, as: UTF8.self))
        let key = AlertKey(code: known ?? .stateDamaged, subject: subject, format: format)
        let item = Item(
            key: key, firstMilliseconds: first, lastMilliseconds: last, count: Int(clamping: max(1, count)),
            isAcknowledged: isAcknowledged != 0, writer: writer == 0 ? nil : Author(rawValue: writer - 1),
            clearedMilliseconds: isOver != 0 ? over : nil)
        return (known == nil ? nil : key, item)
    }
}
