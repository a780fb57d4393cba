/// A set of change sets in the order K, each once, whatever order and however often they came.
import SyncModel

struct History {
    let changes: [ChangeSet]

    init(_ changes: some Sequence<ChangeSet>) {
        var unique: [ChangeSet] = []
        for change in changes.sorted(by: { $0.precedes($1) }) {
            if let last = unique.last, last.author == change.author, last.position == change.position { continue }
            unique.append(change)
        }
        self.changes = unique
    }

    /// True if whoever wrote `later` knew `earlier`.
    func saw(_ later: Write, _ earlier: Write) -> Bool {
        if later.change == earlier.change { return earlier.index < later.index }
        return changes[Int(later.change)].hasSeen(changes[Int(earlier.change)])
    }

    func areConcurrent(_ one: Write, _ other: Write) -> Bool {
        one.change != other.change && !saw(one, other) && !saw(other, one)
    }

    /// True if the later write came, by somebody who knew of the delete, when what was deleted was no longer kept.
    func isTooLate(_ later: Write, for delete: Write) -> Bool {
        saw(later, delete) && wall(later) >= wall(delete) + RecordView.retentionMilliseconds
    }

    func wall(_ write: Write) -> UInt64 { changes[Int(write.change)].time.wallMilliseconds }

    func stamp(of write: Write) -> Stamp {
        let change = changes[Int(write.change)]
        return Stamp(author: change.author, position: change.position, time: change.time, index: write.index)
    }
}

/// An operation by its number in a history. Their order is K.
struct Write: Hashable, Comparable, Sendable {
    let change: UInt32
    let index: UInt32

    static func < (left: Write, right: Write) -> Bool {
        left.change == right.change ? left.index < right.index : left.change < right.change
    }
}
