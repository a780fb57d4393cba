import SyncModel

/// Local saves are judged strictly, imports never: what a save would break that was whole before. The files stay as
/// they are; the save waits until its author has mended it.
public struct SaveFault: Hashable, Sendable {
    public let record: RecordID
    public let reason: Reason

    public enum Reason: Hashable, Sendable {
        /// It would leave the live graph.
        case leaves(RecordView.Reason)
        /// It is deleted, and a side that denies deletes still has this one.
        case denied(PropertyName, RecordID)
        /// It would be a second name of this one: a singleton, or a natural key that is taken.
        case taken(RecordID)
    }
}

private struct Place: Comparable {
    let record: RecordID
    let property: [UInt8]
    let other: RecordID

    init(_ record: RecordID, _ property: [UInt8], _ other: RecordID) {
        (self.record, self.property, self.other) = (record, property, other)
    }

    static func < (left: Place, right: Place) -> Bool {
        if left.record != right.record { return left.record < right.record }
        if left.property != right.property { return left.property.lexicographicallyPrecedes(right.property) }
        return left.other < right.other
    }
}

/// Compares the views before and after a save.
public struct SaveCheck {
    private let model: Model
    private let before: RecordView
    private let after: RecordView
    /// Of which the two views can say different things. By id.
    private let records: [RecordID]

    /// `known` is all that the author of the save had.
    public init(_ save: ChangeSet, after known: [ChangeSet], model: Model) {
        self.init(save, in: RecordSpace(of: known, model: model))
    }

    /// `space` is what the author of the save had.
    public init(_ save: ChangeSet, in space: RecordSpace) {
        var next = space
        records = next.add(CollectionOfOne(save)).records
        model = space.model
        before = space.view
        after = next.view
    }

    /// By id, then by property, then by whom it is about. Empty if the save may be logged.
    public var faults: [SaveFault] {
        (leaving + denied + taken).sorted { $0.place < $1.place }
    }

    private var leaving: [SaveFault] {
        records.compactMap { id in
            guard before.quarantine[id] == nil, before.dropped[id] == nil else { return nil }
            let entry = after.quarantine[id] ?? after.dropped[id]
            return entry.map { SaveFault(record: id, reason: .leaves($0.reason)) }
        }
    }

    private var denied: [SaveFault] {
        records.flatMap { id -> [SaveFault] in
            guard let record = before.live[id], after.live[id] == nil else { return [] }
            let sides = model.entity(id.entity)?.sides.filter { $0.onDelete == .deny } ?? []
            return sides.flatMap { side in
                (record.links[side.name] ?? []).filter { after.live[$0] != nil }
                    .map { SaveFault(record: id, reason: .denied(side.name, $0)) }
            }
        }
    }

    private var taken: [SaveFault] {
        records.compactMap { id in
            guard before.aliases[id] == nil else { return nil }
            return after.aliases[id].map { SaveFault(record: id, reason: .taken($0)) }
        }
    }
}

extension SaveFault {
    /// Where it stands among others.
    fileprivate var place: Place {
        switch reason {
        case .leaves(.missing(let relation)): Place(record, relation.property.bytes, record)
        case .leaves(.gone(let relation, let partner)): Place(record, relation.property.bytes, partner)
        case .leaves(.lostSlot(let relation, let holder, _)): Place(record, relation.property.bytes, holder)
        case .leaves(.invalidValue(let name)): Place(record, name.bytes, record)
        case .leaves(.deletedWhileEdited): Place(record, [], record)
        case .denied(let name, let partner): Place(record, name.bytes, partner)
        case .taken(let other): Place(record, [], other)
        }
    }
}

extension SaveFault: CustomStringConvertible {
    public var description: String {
        switch reason {
        case .leaves(.missing(let relation)): "\(record) needs somebody by \(relation), and nobody is named"
        case .leaves(.gone(let relation, let partner)): "\(record) needs \(partner) by \(relation), which is not there"
        case .leaves(.lostSlot(let relation, let holder, let winner)):
            "\(record) wants the place at \(holder) by \(relation), which \(winner) has"
        case .leaves(.invalidValue(let name)): "\(record) has no \(name), or not of the type that its model says"
        case .leaves(.deletedWhileEdited): "\(record) was deleted while the other node wrote to it"
        case .denied(let name, let partner): "\(record) may not be deleted while it has \(partner) by \(name)"
        case .taken(let other): "\(record) would be the same as \(other)"
        }
    }
}
