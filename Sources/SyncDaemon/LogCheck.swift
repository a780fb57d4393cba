import RecordMerge
import SyncCore
import SyncModel

/// Looks whether entries of one log hang together: dense numbers, and each chained to the one before.
enum LogCheck {
    /// The first entry that does not follow from the one before it; nil if all do.
    static func firstBreak(in records: [LogRecord], of node: NodeID) -> LogPosition? {
        for (previous, next) in zip(records, records.dropFirst()) {
            let position = next.head.position
            guard position.follows(previous.head.position) else { return position }
            let expected = LogCodec.record(
                next.change, at: position, time: next.time, after: previous.head, node: node)
            if expected.head != next.head { return position }
        }
        return nil
    }
}

/// Looks whether each stored change set can be read, on what its author had saved before. They are not chained: what is forgotten
/// takes from sets that stand between others (`Compaction`).
struct SetCheck: Equatable, Sendable {
    private(set) var count = 0
    /// Made by a newer program, or on such a one.
    private(set) var waiting = 0
    private(set) var firstBroken: LogPosition?

    /// Those of one author, in their order.
    init(_ sets: [StoredChangeSet], hash: ChangeSetCodec.Hash) {
        var saves: SortedMap<Path, (epoch: Epoch, content: ContentID, bytes: [UInt8])> = [:]
        // (One that has got another number has left its old one empty.)
        for stored in sets where !stored.bytes.isEmpty {
            count += 1
            let decoded = ChangeSetCodec.decode(
                stored.bytes,
                base: { path in
                    saves[path].flatMap { $0.epoch == stored.position.epoch ? ($0.content, $0.bytes) : nil }
                }, hash: hash)
            switch decoded {
            case .set(let set) where set.position == stored.position:
                for file in set.files {
                    guard let content = file.content, let bytes = file.bytes else { continue }
                    saves[file.path] = (set.position.epoch, content, bytes)
                }
            case .beyondUs(let prologue) where prologue.position == stored.position: waiting += 1
            case .withoutBase where waiting > 0: waiting += 1
            case .set, .beyondUs, .withoutBase, .broken: firstBroken = firstBroken ?? stored.position
            }
        }
    }

    var isIntact: Bool { firstBroken == nil }

    /// For people.
    var text: String {
        if let firstBroken { return "the change set \(firstBroken.epoch.number)/\(firstBroken.seq) cannot be read" }
        if waiting > 0 { return "\(waiting) of the change sets wait for a newer program, the others can be read" }
        return count == 0 ? "no change set is kept" : "each change set can be read"
    }
}
