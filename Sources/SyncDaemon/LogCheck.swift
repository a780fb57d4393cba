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
