/// The smallest thing that can happen to a record. Links are written at the side that owns the relation
/// (`Relation.owner`), whichever side's file was edited.
public struct Operation: Hashable, Sendable {
    public let record: RecordID
    public let action: Action

    public enum Action: Hashable, Sendable {
        /// Whatever was written to the record before, and seen by this, is void.
        case insert
        case delete
        /// Takes a delete back, with all that the record held.
        case restore
        /// Nil takes the member out.
        case set(PropertyName, JSONText?)
        /// The one target of a relation; nil for none. `order` is its place in an ordered inverse.
        case link(PropertyName, [UInt8]?, order: [UInt8])
        /// One of many targets.
        case add(PropertyName, [UInt8], order: [UInt8])
        case remove(PropertyName, [UInt8])
    }

    public init(_ record: RecordID, _ action: Action) {
        self.record = record
        self.action = action
    }
}

extension Operation: CustomStringConvertible {
    public var description: String {
        switch action {
        case .insert: "insert \(record)"
        case .delete: "delete \(record)"
        case .restore: "restore \(record)"
        case .set(.location, let value): "put \(record) into the file \(value?.description ?? "(none)")"
        case .set(let name, let value): "set \(record).\(name) \(value?.description ?? "(none)")"
        case .link(let name, let target, _): "link \(record).\(name) \(target.map(Operation.text) ?? "(none)")"
        case .add(let name, let target, _): "add \(record).\(name) \(Operation.text(target))"
        case .remove(let name, let target): "remove \(record).\(name) \(Operation.text(target))"
        }
    }

    private static func text(_ key: [UInt8]) -> String { String(decoding: key, as: UTF8.self) }
}
