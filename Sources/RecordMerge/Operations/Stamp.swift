/// An operation by its author and place, as both nodes name it. Ordered by K.
public import SyncModel

public struct Stamp: Hashable, Comparable, Sendable {
    public let author: Party
    public let position: LogPosition
    public let time: HybridTime
    /// Of the operation in its change set.
    public let index: UInt32

    public static func < (left: Stamp, right: Stamp) -> Bool {
        if left.time != right.time { return left.time < right.time }
        if left.author != right.author { return left.author < right.author }
        return left.position == right.position ? left.index < right.index : left.position < right.position
    }
}
