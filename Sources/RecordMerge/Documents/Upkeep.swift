/// What a save has to say beside what was edited, so that nothing falls that its author could not know to hang on it.
///
/// A folder that was deleted on the other node may be there for one of its notes only; a record may have found its place elsewhere
/// because somebody else has the one that it wants; a copy (`fork`) is there as long as its original. No file tells any of
/// that. Who moves the note, or deletes the original, leaves the rest as it is, and as far as his folder shows it is whole: so it stays, and
/// his save says so. Whoever deletes what a file names, or writes to it, is asked to mend that himself (`SaveCheck`).
import SyncModel

public struct Upkeep {
    private let model: Model
    private let view: RecordView
    private let isWritten: SortedMap<RecordID, Bool>
    private let isDeleted: SortedMap<RecordID, Bool>
    public private(set) var operations: [Operation] = []
    /// Copies that become records of their own: what their files say is saved with them.
    public private(set) var made: [RecordID] = []

    /// `view` is what the author had before the save, `faults` what the operations of the save would break.
    public init(for faults: [SaveFault], of save: [Operation], model: Model, view: RecordView) {
        self.model = model
        self.view = view
        isWritten = SortedMap(save.map { ($0.record, true) })
        isDeleted = SortedMap(save.filter { $0.action == .delete }.map { ($0.record, true) })
        for fault in faults { uphold(fault) }
    }

    private mutating func uphold(_ fault: SaveFault) {
        let id = fault.record
        guard case .leaves = fault.reason, !isWritten.contains(key: id), let record = view.live[id] else { return }
        for side in model.entity(id.entity)?.sides ?? [] where side.isRequired {
            for partner in record.links[side.name] ?? [] where !isDeleted.contains(key: partner) {
                uphold(partner, of: id, by: side)
            }
        }
    }

    private mutating func uphold(_ partner: RecordID, of id: RecordID, by side: Side) {
        if view.clones.contains(key: partner) {
            make(partner)
        } else if view.revivedRecords.contains(key: partner) {
            say(Operation(partner, .restore))
            return
        }
        link(id, partner, by: side)
    }

    /// A copy with all that it shows.
    private mutating func make(_ clone: RecordID) {
        guard let record = view.live[clone], !made.contains(clone) else { return }
        made.append(clone)
        say(Operation(clone, .insert))
        for (name, value) in record.values { say(Operation(clone, .set(name, value))) }
        for side in model.entity(clone.entity)?.sides ?? [] where isOwner(clone, side.name) {
            for partner in record.links[side.name] ?? [] { link(clone, partner, by: side) }
        }
    }

    /// At the owner, unless the save has written there: then its author has chosen.
    private mutating func link(_ id: RecordID, _ partner: RecordID, by side: Side) {
        guard let relation = model.relation(of: id.entity, side.name) else { return }
        let isOwner = isOwner(id, side.name)
        let (owner, target) = isOwner ? (id, partner) : (partner, id)
        if isWritten.contains(key: owner) { return }
        let name = relation.name.property
        let order = view.live[partner].flatMap { record in side.inverse.flatMap { record.orders[$0]?[id] } } ?? []
        let own = view.live[id]?.orders[side.name]?[partner] ?? order
        say(
            Operation(
                owner, relation.isRegister ? .link(name, target.key, order: own) : .add(name, target.key, order: own)))
    }

    private func isOwner(_ id: RecordID, _ side: PropertyName) -> Bool {
        model.relation(of: id.entity, side)?.name == RelationName(id.entity, side)
    }

    private mutating func say(_ operation: Operation) {
        if !operations.contains(operation) { operations.append(operation) }
    }
}

extension Model {
    /// Of which this is one side.
    func relation(of entity: EntityName, _ side: PropertyName) -> Relation? {
        relations.first { relation in
            relation.name == RelationName(entity, side)
                || relation.target.entity == entity && relation.target.property == side
        }
    }
}
