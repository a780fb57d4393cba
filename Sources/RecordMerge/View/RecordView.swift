/// What both nodes make of the same operations: the live graph, and everything that could not be in it. A pure function
/// of the set of operations and the model: no clock, no chance, no "me", no order of arrival.
public import SyncModel

public struct RecordView: Hashable, Sendable {
    /// Whoever knows of a delete can take it back for this long, by what the clocks of both writes say. A rule and not a
    /// setting, so that it does not matter who has dropped what was deleted, and who has not yet.
    public static let retentionMilliseconds: UInt64 = 30 * 86_400_000

    /// By id. Every one keeps the rules of the model.
    public internal(set) var live: SortedMap<RecordID, Record> = [:]
    /// By id. Complete records that cannot be in the live graph.
    public internal(set) var quarantine: SortedMap<RecordID, Quarantined> = [:]
    /// By id. What the model says is to go when it cannot be live.
    public internal(set) var dropped: SortedMap<RecordID, Quarantined> = [:]
    /// By path: the latest save of each file. What it held is what the records there are rendered into, on both nodes.
    public internal(set) var bases: SortedMap<Path, ContentID> = [:]
    /// Second names, and what they stand for.
    public internal(set) var aliases: SortedMap<RecordID, RecordID> = [:]
    /// By id: second names that differ from what they stand for, where nobody has seen both and chosen yet.
    public internal(set) var rivals: SortedMap<RecordID, Rival> = [:]
    /// By id: live records that nobody wrote, and what they are a copy of (`OnContest.fork`).
    public internal(set) var clones: SortedMap<RecordID, RecordID> = [:]
    /// Records that repair has put elsewhere than what was written would have them: out of the live graph, under another name, without
    /// somebody they want or at another home, or there although every delete of them stands.
    var repairedRecords: SortedMap<RecordID, Bool> = [:]
    /// Those whose every delete stands. They are there, live or out, because somebody needs them.
    var revivedRecords: SortedMap<RecordID, Bool> = [:]
    /// Those of whom a delete stands, and when the first of these was written (milliseconds on the wall). Somebody needs them, or wrote to
    /// them and did not know of it. Without those that are out just because they were deleted and edited at once.
    var outlivedDeletes: SortedMap<RecordID, UInt64> = [:]
    var deadRecords: SortedMap<RecordID, Bool> = [:]
    var unknownRecords: SortedMap<RecordID, Bool> = [:]
    /// By record; none is empty.
    var concurrentWrites: SortedMap<RecordID, [ConcurrentWrite]> = [:]

    /// By id.
    public var dead: [RecordID] { Array(deadRecords.keys) }
    /// By id. Nothing of this is in the digest: it follows from the rest and from what was written.
    public var repaired: [RecordID] { Array(repairedRecords.keys) }
    /// Written to or pointed at, but never inserted. By id.
    public var unknown: [RecordID] { Array(unknownRecords.keys) }
    /// Writes that nobody has overtaken and that are not shown. By record, property and K.
    public var concurrent: [ConcurrentWrite] { concurrentWrites.flatMap(\.value) }

    /// Somebody wrote it, whatever has become of it.
    func isMade(_ id: RecordID) -> Bool {
        let isOut = quarantine.contains(key: id) || dropped.contains(key: id) || deadRecords.contains(key: id)
        return isOut || aliases.contains(key: id) || live.contains(key: id) && !clones.contains(key: id)
    }

    public struct Record: Hashable, Sendable {
        public internal(set) var values: SortedMap<PropertyName, JSONText> = [:]
        /// What the record hangs together with, by both sides of each relation; in the order of an ordered one, else by
        /// id.
        public internal(set) var links: SortedMap<PropertyName, [RecordID]> = [:]
        /// Whom a live record names and nobody made yet, in the same order: it stands in files as it was written, until that one
        /// comes and is linked like any other.
        public internal(set) var pending: SortedMap<PropertyName, [RecordID]> = [:]
        /// For ordered sides: the place of each, among the links and the pending.
        var orders: SortedMap<PropertyName, SortedMap<RecordID, [UInt8]>> = [:]

        /// All that stands in a file for the side, in its order.
        func references(_ side: PropertyName) -> [RecordID] {
            guard let pending = pending[side] else { return links[side] ?? [] }
            let orders = orders[side] ?? [:]
            return ((links[side] ?? []) + pending).sorted { left, right in
                let (one, other) = (orders[left] ?? [], orders[right] ?? [])
                return one == other ? left < right : one.lexicographicallyPrecedes(other)
            }
        }
    }

    public struct Quarantined: Hashable, Sendable {
        public internal(set) var record: Record
        public internal(set) var reason: Reason
        /// The record whose trouble this is: one alert for all that left with it.
        public internal(set) var group: RecordID
        /// Whoever has the place that it wants knew of it: nobody is to decide between them any more. Follows from what was written.
        public internal(set) var isDecided: Bool
    }

    /// Two names of one thing, made apart.
    public struct Rival: Hashable, Sendable {
        /// What was told to the second name alone, and what to the one that stands for it.
        public internal(set) var own = Record()
        public internal(set) var eldest = Record()
        /// Of that by which they differ, what is shown.
        public internal(set) var shown = Record()
        /// Values and links of one by which they differ.
        public internal(set) var values: [PropertyName] = []
        public internal(set) var links: [PropertyName] = []
    }

    public enum Reason: Hashable, Sendable {
        case invalidValue(PropertyName)
        /// One node deleted it while the other wrote to it.
        case deletedWhileEdited
        /// It needs somebody by this relation, and nobody is named.
        case missing(RelationName)
        /// It needs this one, who is deleted, unknown or in quarantine.
        case gone(RelationName, RecordID)
        /// The place that it wants at the holder went to the winner.
        case lostSlot(RelationName, holder: RecordID, winner: RecordID)
    }

    public struct ConcurrentWrite: Hashable, Sendable {
        public let record: RecordID
        public let property: PropertyName
        public let write: Stamp
        public let content: Content

        public enum Content: Hashable, Sendable {
            case value(JSONText?)
            case link(RecordID?)
            /// Taken out of a to-many relation, while the other node put it in.
            case removal(RecordID)
        }
    }
}
