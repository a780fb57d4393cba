import SyncModel

/// The latest entries of the own log as they are sent. Nearly every entry is sent as soon as it is durable, and need not be
/// read back from the store for that.
struct LogTail: Sendable {
    struct Entry: Sendable {
        let head: LogHead
        let bytes: [UInt8]
    }

    private var entries = Deque<Entry>()
    /// All that was written after this is in here.
    private var begins = LogPosition.none

    static let countMax = 1_024

    mutating func append(_ bytes: [UInt8], as head: LogHead, after previous: LogPosition) {
        if entries.isEmpty { begins = previous }
        entries.append(Entry(head: head, bytes: bytes))
        if entries.count > LogTail.countMax { dropFirst() }
    }

    /// The next entries after `position`; nil if they must be read from the store.
    func entries(after position: LogPosition, limit: Int) -> [Entry]? {
        guard !entries.isEmpty, begins <= position else { return nil }
        return Array(entries.lazy.drop { $0.head.position <= position }.prefix(limit))
    }

    /// They have been sent. (Over a new link it may be once more: then they are read.)
    mutating func drop(through position: LogPosition) {
        while let first = entries.first, first.head.position <= position { dropFirst() }
    }

    mutating func removeAll() { entries.removeAll() }

    private mutating func dropFirst() {
        if let first = entries.popFirst() { begins = first.head.position }
    }
}
