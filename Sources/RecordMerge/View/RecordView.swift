/// What both nodes make of the same operations: the live graph, and everything that could not be in it. A pure function
/// of the set of operations and the model: no clock, no chance, no "me", no order of arrival.
public import SyncModel

public struct RecordView: Hashable, Sendable {
    /// Of every rule here and in `Repair`. A change set made under other rules is not mixed with these.
    public static let rulesVersion = 1

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
    /// By id: live records that nobody wrote, and what they are a copy of (`OnContest.fork`).
    public internal(set) var clones: SortedMap<RecordID, RecordID> = [:]
    var deadRecords: SortedMap<RecordID, Bool> = [:]
    var unknownRecords: SortedMap<RecordID, Bool> = [:]
    /// By record; none is empty.
    var concurrentWrites: SortedMap<RecordID, [ConcurrentWrite]> = [:]

    /// By id.
    public var dead: [RecordID] { Array(deadRecords.keys) }
    /// Written to or pointed at, but never inserted. By id.
    public var unknown: [RecordID] { Array(unknownRecords.keys) }
    /// Writes that nobody has overtaken and that are not shown. By record, property and K.
    public var concurrent: [ConcurrentWrite] { concurrentWrites.flatMap(\.value) }

    public struct Record: Hashable, Sendable {
        public internal(set) var values: SortedMap<PropertyName, JSONText> = [:]
        /// What the record hangs together with, by both sides of each relation; in the order of an ordered one, else by
        /// id.
        public internal(set) var links: SortedMap<PropertyName, [RecordID]> = [:]
        /// For ordered sides: the places of the links, in the same order.
        var orders: SortedMap<PropertyName, [[UInt8]]> = [:]
    }

    public struct Quarantined: Hashable, Sendable {
        public internal(set) var record: Record
        public internal(set) var reason: Reason
        /// The record whose trouble this is: one alert for all that left with it.
        public internal(set) var group: RecordID
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
