import SyncCore
import SyncModel

/// The alerts of this node: what the core and the shell raised, since when, how often, and what a person said to it.
/// Written down whole (`encoded`) so that a restart forgets neither when something began nor that it was seen.
struct AlertBook {
    struct Item: Hashable {
        let key: AlertKey
        var firstMilliseconds: Int64
        var lastMilliseconds: Int64
        /// How often it was met since then.
        var count: Int
        /// How much of it a person has said to have seen; nil if none.
        var acknowledgedSize: Int?
        /// The violation is not written down: whatever raises it again knows it.
        var facts = AlertFacts()
        /// The time at which it was over.
        var clearedMilliseconds: Int64?

        var isAcknowledged: Bool { acknowledgedSize != nil }
    }

    /// Who the two nodes are: which of them is this one makes no alert another one.
    var own: NodeID?
    var peer: NodeID?

    private(set) var items = SortedMap<AlertKey, Item>()
    /// Something is here that is not written down yet.
    private(set) var isChanged = false

    /// Those that are over are remembered up to so many.
    static let clearedMax = 200

    /// The same for the same condition, on every run and on both nodes.
    func id(of key: AlertKey) -> String {
        let format = key.format.map { "\0" + text(of: $0) } ?? ""
        let digest = SHA256.digest(of: Array(key.code.rawValue.utf8) + [0] + key.subject + Array(format.utf8))
        return "a" + digest.hex(digits: 10)
    }

    private func text(of format: FormatFinding) -> String {
        let found = format.found.map { "\($0)" } ?? "none"
        return switch format.measure {
        // (Where no version can be found, the file is what it is about, and no node.)
        case .supports(let range): "\(found) \(range)" + (format.found == nil ? "" : " " + name(of: format.node))
        case .supportsOnBoth(let range): "\(found) \(range) on both"
        case .reads(let range): "\(found) \(range) read"
        case .keeps(let version): "\(found) \(version.map { "\($0)" } ?? "unknown") kept " + name(of: format.node)
        }
    }

    private func name(of node: Author) -> String {
        (node == .own ? own : peer).map { $0.digest.hex(digits: 64) } ?? "\(node)"
    }

    var open: [Item] { items.map(\.value).filter { $0.clearedMilliseconds == nil } }

    func item(_ id: String) -> Item? { items.map(\.value).first { self.id(of: $0.key) == id } }

    enum News: Hashable {
        case isNew
        /// A person had seen it, and it is about more by now.
        case hasGrown
        case isKnown
    }

    /// What people are to be told of it.
    mutating func raise(_ key: AlertKey, since: Int64, now: Int64, _ facts: AlertFacts = AlertFacts()) -> News {
        isChanged = true
        if var item = items[key], item.clearedMilliseconds == nil {
            let hasGrown = item.acknowledgedSize.map { $0 < facts.size } ?? false
            item.lastMilliseconds = now
            item.count += 1
            item.facts = facts.over(item.facts)
            if hasGrown { item.acknowledgedSize = nil }
            items[key] = item
            return hasGrown ? .hasGrown : .isKnown
        }
        // What was over begins anew, with all that is said of it.
        items[key] = Item(key: key, firstMilliseconds: since, lastMilliseconds: now, count: 1, facts: facts)
        return .isNew
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
        item.acknowledgedSize = item.facts.size
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

/// Version 4, numbers big-endian: `1 version · 4 n, n × item`; an item is
/// `4 length, code · 4 length, subject · 8 first · 8 last · 8 count · 1 acknowledged · 1 is over · 8 over at · 1 writer (0 none,
/// 1 this node, 2 the other) · 1 is about a format · format · 4 length, detail · 8 size · 8 size that was acknowledged · 4 length, copy`
/// (of no length where there is none) `· 1 has found · 4 length, found · 1 has offset · 8 offset`, and a format
/// `1 node · 1 has found · 4 found · 4 lowest · 4 highest · 1 measure`: 0 the two are what is understood, 1 the lowest is the version
/// that is kept, 2 a version that nobody knows is, 3 the two are what a model reads, 4 what is understood on both nodes.
/// Version 3 ended with the copy, version 2 with the format, which had no measure, and version 1 after "over at".
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
            writer.put(item.facts.writer.map { $0.rawValue + 1 } ?? 0)
            AlertBook.put(item.key.format, into: &writer)
            writer.putCounted(Array(item.facts.detail.utf8.prefix(AlertBook.detailBytesMax)))
            writer.put(Int64(item.facts.size))
            writer.put(Int64(item.acknowledgedSize ?? 0))
            writer.putCounted(item.facts.copy?.bytes ?? [])
            writer.put(item.facts.found != nil)
            writer.putCounted(Array((item.facts.found ?? "").utf8.prefix(AlertBook.detailBytesMax)))
            writer.put(item.facts.offset != nil)
            writer.put(Int64(item.facts.offset ?? 0))
        }
        return writer.bytes
    }

    private static let version: UInt8 = 4
    private static let detailBytesMax = 4_096

    private static func put(_ format: FormatFinding?, into writer: inout ByteWriter) {
        writer.put(format != nil)
        guard let format else { return }
        writer.put(format.node.rawValue)
        writer.put(format.found != nil)
        let (low, high, measure): (UInt32, UInt32, UInt8) =
            switch format.measure {
            case .supports(let range): (range.lowerBound, range.upperBound, 0)
            case .keeps(let version?): (version, version, 1)
            case .keeps(nil): (0, 0, 2)
            case .reads(let range): (range.lowerBound, range.upperBound, 3)
            case .supportsOnBoth(let range): (range.lowerBound, range.upperBound, 4)
            }
        for number in [format.found ?? 0, low, high] { writer.put(number) }
        writer.put(measure)
    }

    /// Nil if it cannot be read; a nil in it if there is none.
    private static func format(from reader: inout ByteReader, _ version: UInt8) -> FormatFinding?? {
        guard let isThere = reader.bool() else { return nil }
        guard isThere else { return .some(nil) }
        guard let node = reader.byte().flatMap({ Author(rawValue: $0) }), let hasFound = reader.bool(),
            let found = reader.uint32(), let low = reader.uint32(), let high = reader.uint32(), low <= high
        else { return nil }
        let number = hasFound ? found : nil
        guard version > 2 else { return FormatFinding(found: number, supported: low...high, node: node) }
        switch reader.byte() {
        case 0: return FormatFinding(found: number, supported: low...high, node: node)
        case 1: return FormatFinding(found: number, kept: low, node: node)
        case 2: return FormatFinding(found: number, kept: nil, node: node)
        case 3: return FormatFinding(found: number, reads: low...high, node: node)
        case 4: return FormatFinding(found: number, supportedOnBoth: low...high)
        default: return nil
        }
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
        var format: FormatFinding?
        var facts = AlertFacts()
        if version > 1 {
            guard let byte = reader.byte(), let read = AlertBook.format(from: &reader, version) else { return nil }
            facts.writer = byte == 0 ? nil : Author(rawValue: byte - 1)
            format = read
        }
        var acknowledgedSize: Int?
        if isAcknowledged != 0 { acknowledgedSize = 1 }
        if version > 2 {
            guard let detail = reader.counted(max: detailBytesMax), let size = reader.int64(),
                let seen = reader.int64(),
                let copy = reader.counted(max: Limits.pathBytesMax)
            else { return nil }
            facts.detail = String(decoding: detail, as: UTF8.self)
            facts.size = Int(clamping: max(1, size))
            facts.copy = copy.isEmpty ? nil : Path(copy)
            if isAcknowledged != 0 { acknowledgedSize = Int(clamping: seen) }
        }
        if version > 3 {
            guard let hasFound = reader.bool(), let found = reader.counted(max: detailBytesMax),
                let hasOffset = reader.bool(), let offset = reader.int64()
            else { return nil }
            facts.found = hasFound ? String(decoding: found, as: UTF8.self) : nil
            facts.offset = hasOffset ? Int(clamping: max(0, offset)) : nil
        }
        let known = MessageCode(rawValue: String(decoding: code, as: UTF8.self))
        let key = AlertKey(code: known ?? .stateDamaged, subject: subject, format: format)
        let item = Item(
            key: key, firstMilliseconds: first, lastMilliseconds: last, count: Int(clamping: max(1, count)),
            acknowledgedSize: acknowledgedSize, facts: facts,
            clearedMilliseconds: isOver != 0 ? over : nil)
        return (known == nil ? nil : key, item)
    }
}
