/// Which rule of its model a record breaks, and by which change set: what whoever is to mend it must know.
public import RecordMerge
public import SyncModel

public struct Violation: Hashable, Sendable {
    public let record: RecordID
    /// Nil where it is about the record as a whole.
    public let property: PropertyName?
    /// Of the set that made it so. Of a save that waits for its author, the set that it would be.
    public let author: Author
    public let set: LogPosition

    public init(record: RecordID, property: PropertyName?, author: Author, set: LogPosition) {
        self.record = record
        self.property = property
        self.author = author
        self.set = set
    }
}

extension Model {
    /// What of the record the fault is about.
    func property(of fault: SaveFault) -> PropertyName? {
        switch fault.reason {
        case .leaves(let reason): property(of: reason, at: fault.record)
        case .denied(let name, _): name
        case .taken: nil
        }
    }

    func property(of reason: RecordView.Reason, at record: RecordID) -> PropertyName? {
        switch reason {
        case .invalidValue(let name): name
        case .missing(let relation), .gone(let relation, _), .lostSlot(let relation, _, _):
            side(of: relation, at: record.entity)
        case .deletedWhileEdited: nil
        }
    }

    /// A relation is called after its owner; the other side may call it otherwise.
    private func side(of name: RelationName, at entity: EntityName) -> PropertyName? {
        if name.entity == entity { return name.property }
        return relations.first { $0.name == name }?.target.property
    }
}
