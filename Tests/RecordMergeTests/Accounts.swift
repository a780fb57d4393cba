/// Books over a view, made from the change sets alone: is the live graph valid, and is everything that anybody ever
/// wrote somewhere? Knows nothing of how the view came to be.
import RecordMerge
import SyncModel

struct Accounts {
    let changes: [ChangeSet]
    let model: Model
    let view: RecordView

    /// Empty if all is well.
    var complaints: [String] { invalidities + lostRecords + lostWrites + lostReferences }

    // MARK: V4: the live graph keeps every rule of the model

    var invalidities: [String] {
        view.live.flatMap { id, record -> [String] in
            guard let entity = model.entity(id.entity) else { return [] }
            let fields = entity.fields.filter { $0.isRequired && record.values[$0.name] == nil }
            return fields.map { "\(id) has no \($0.name)" } + entity.sides.flatMap { invalid(id, record, $0) }
        } + singletons
    }

    private func invalid(_ id: RecordID, _ record: RecordView.Record, _ side: Side) -> [String] {
        let partners = record.links[side.name] ?? []
        let pending = record.pending[side.name] ?? []
        var complaints: [String] = []
        if side.isRequired, partners.isEmpty { complaints.append("\(id) needs \(side.name)") }
        if partners.count + pending.count > Accounts.room(side) { complaints.append("\(id) has too many \(side.name)") }
        let references = partners + pending
        if references.count != Set(references).count { complaints.append("\(id) has one of its \(side.name) twice") }
        complaints += pending.filter { !view.unknown.contains($0) }.map { "\(id) waits for \($0), who is known" }
        for partner in partners {
            guard let other = view.live[partner] else {
                complaints.append("\(id).\(side.name) points at \(partner), who is not live")
                continue
            }
            if let inverse = side.inverse, other.links[inverse]?.contains(id) != true {
                complaints.append("\(partner) knows nothing of \(id).\(side.name)")
            }
        }
        return complaints
    }

    private var singletons: [String] {
        model.entities.filter(\.isSingleton).filter { entity in
            view.live.filter { $0.key.entity == entity.name }.count > 1
        }
        .map { "there are several \($0.name)" }
    }

    // MARK: V5: every insert is in exactly one place, every write that nobody overtook is to be seen

    private var inserted: Set<RecordID> {
        Set(changes.flatMap(\.operations).filter { $0.action == .insert }.map(\.record))
    }

    var lostRecords: [String] {
        inserted.flatMap { id -> [String] in
            let places = [
                view.live[id] != nil, view.quarantine[id] != nil, view.dropped[id] != nil, view.aliases[id] != nil,
                view.dead.contains(id),
            ]
            if places.filter(\.self).count != 1 { return ["\(id) is in \(places.filter(\.self).count) places"] }
            return view.dead.contains(id) && !isDeleted(id) ? ["\(id) is dead, and nobody deleted it"] : []
        }
    }

    private func isDeleted(_ id: RecordID) -> Bool {
        changes.flatMap(\.operations).contains { $0.record == id && $0.action == .delete }
    }

    var lostWrites: [String] {
        changes.flatMap { change in
            change.operations.enumerated().compactMap { index, operation in
                guard case .set(let name, let value) = operation.action, !isOvertaken(operation, name, change, index)
                else { return nil }
                let id = main(operation.record)
                if view.dead.contains(id) || view.unknown.contains(id) { return nil }
                // What is joined is in no value as it was written; the oracle knows.
                if model.entity(id.entity)?.field(name)?.merge == .lines { return nil }
                let record = view.live[id] ?? view.quarantine[id]?.record ?? view.dropped[id]?.record
                if record?.values[name] == value { return nil }
                let isKept = view.concurrent.contains {
                    $0.record == id && $0.property == name && $0.content == .value(value)
                }
                return isKept ? nil : "\(operation) is nowhere"
            }
        }
    }

    private static func room(_ side: Side) -> Int { side.kind == .one ? 1 : side.max ?? .max }

    // MARK: I25: who is named and unknown stands in the file of whoever names him

    var lostReferences: [String] {
        changes.flatMap { change in
            change.operations.enumerated().compactMap { index, operation in
                guard let (name, key) = operation.reference, !isOverruled(operation, name, key, change, index),
                    let relation = model.relations.first(where: {
                        $0.name == RelationName(operation.record.entity, name)
                    })
                else { return nil }
                let (owner, target) = (main(operation.record), main(RecordID(relation.target.entity, key)))
                let isKept =
                    stands(target, in: owner, name)
                    && relation.target.property.map { stands(owner, in: target, $0) } ?? true
                return isKept || view.concurrent.contains { $0.record == owner && $0.content == .link(target) }
                    ? nil : "\(operation) is nowhere"
            }
        }
    }

    /// True as well where it need not: the one who names is not live, the other is known, or there is no room.
    private func stands(_ id: RecordID, in record: RecordID, _ name: PropertyName) -> Bool {
        guard let side = model.entity(record.entity)?.side(name), view.unknown.contains(id),
            let record = view.live[record]
        else { return true }
        let pending = record.pending[name] ?? []
        return pending.contains(id) || pending.count + (record.links[name] ?? []).count >= Accounts.room(side)
    }

    /// By a later write to the same place, or by whoever made the record anew, and had seen it.
    private func isOverruled(
        _ operation: Operation, _ name: PropertyName, _ key: [UInt8], _ change: ChangeSet, _ index: Int
    ) -> Bool {
        changes.contains { other in
            other.operations.enumerated().contains { place, later in
                guard main(later.record) == main(operation.record) else { return false }
                guard isAfter(later, place, in: other, operation, index, in: change) else { return false }
                return later.names(name, key) || later.action == .insert || isLateRestore(later, other)
            }
        }
    }

    private func main(_ id: RecordID) -> RecordID { view.aliases[id] ?? id }

    /// A later write, or an insert, by somebody who had seen it.
    private func isOvertaken(_ operation: Operation, _ name: PropertyName, _ change: ChangeSet, _ index: Int) -> Bool {
        changes.contains { other in
            other.operations.enumerated().contains { place, later in
                guard main(later.record) == main(operation.record) else { return false }
                guard later.writes(name) || isLateRestore(later, other) else { return false }
                return isAfter(later, place, in: other, operation, index, in: change)
            }
        }
    }

    /// By somebody who had seen it. What one set says to two names stands beside each other, and so does what makes another name, unless
    /// the first was deleted by then.
    private func isAfter(
        _ later: Operation, _ place: Int, in other: ChangeSet, _ operation: Operation, _ index: Int,
        in change: ChangeSet
    ) -> Bool {
        let isSame = later.record == operation.record
        if other == change { return isSame && place > index }
        guard other.hasSeen(change) else { return false }
        return isSame || changes.contains { $0 != other && other.hasSeen($0) && $0.makes(later.record) }
            || changes.contains {
                ($0 == other || other.hasSeen($0)) && $0.hasSeen(change) && $0.deletes(operation.record)
            }
    }

    /// Of what was deleted more than 30 days before.
    private func isLateRestore(_ operation: Operation, _ change: ChangeSet) -> Bool {
        operation.action == .restore
            && changes.contains { other in
                other.operations.contains(Operation(operation.record, .delete)) && change.hasSeen(other)
                    && change.time.wallMilliseconds >= other.time.wallMilliseconds + RecordView.retentionMilliseconds
            }
    }
}

extension ChangeSet {
    fileprivate func makes(_ record: RecordID) -> Bool {
        operations.contains { $0 == Operation(record, .insert) || $0 == Operation(record, .restore) }
    }

    fileprivate func deletes(_ record: RecordID) -> Bool { operations.contains(Operation(record, .delete)) }
}

extension Operation {
    /// Whom it names.
    fileprivate var reference: (PropertyName, [UInt8])? {
        switch action {
        case .link(let name, let key?, _), .add(let name, let key, _): (name, key)
        case .link(_, nil, _), .insert, .delete, .restore, .set, .remove: nil
        }
    }

    fileprivate func names(_ property: PropertyName, _ key: [UInt8]) -> Bool {
        switch action {
        case .link(property, _, _): true
        case .add(property, key, _), .remove(property, key): true
        case .link, .add, .remove, .insert, .delete, .restore, .set: false
        }
    }

    fileprivate func writes(_ property: PropertyName) -> Bool {
        switch action {
        case .insert, .set(property, _): true
        case .delete, .restore, .set, .link, .add, .remove: false
        }
    }
}
