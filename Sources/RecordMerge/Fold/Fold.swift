/// Every record with what was written to it, from the operations in the order K. Each record is folded by itself, so a
/// new operation concerns one of them. Numbers of records and names are given in the order of their first mention.
struct Fold {
    let history: History
    let model: ModelIndex
    private(set) var records: [RecordID] = []
    /// The number of each record's entity; nil for one the model does not know.
    private(set) var entities: [Int?] = []
    private(set) var states: [RecordState] = []
    private(set) var properties: [PropertyName] = []
    private var recordNumbers: [RecordID: Int] = [:]  // lookup only
    private var propertyNumbers: [PropertyName: Int] = [:]  // lookup only

    init(_ history: History, model: ModelIndex) {
        self.history = history
        self.model = model
        for (change, set) in history.changes.enumerated() {
            for (index, operation) in set.operations.enumerated() {
                apply(operation, Write(change: UInt32(change), index: set.number(of: index)))
            }
        }
    }

    /// Nil for a record that nothing ever mentioned.
    func number(of record: RecordID) -> Int? { recordNumbers[record] }
    func number(of property: PropertyName) -> Int? { propertyNumbers[property] }

    func relation(_ property: Int, of record: Int) -> Int? {
        model.relation(RelationName(records[record].entity, properties[property]))
    }

    /// When it came to be; nil if that is not known.
    func birth(of record: Int) -> Write? { states[record].lives.first }

    private mutating func apply(_ operation: Operation, _ write: Write) {
        let record = intern(operation.record)
        switch operation.action {
        case .insert: states[record].live(write, isInsert: true, in: history)
        case .restore: states[record].live(write, isInsert: false, in: history)
        case .delete: states[record].delete(write)
        case .set(let name, let value):
            let keepsOlder = model.isMergedByLines(entities[record], name)
            states[record].set(intern(name), value, write, keepsOlder: keepsOlder, in: history)
        case .link(let name, let target, let order):
            let target = target.flatMap { self.target($0, of: operation.record, name) }
            states[record].link(intern(name), RecordState.Link(target: target, order: order), write, in: history)
        case .add(let name, let target, let order):
            edge(record, operation.record, name, target, order: order, write)
        case .remove(let name, let target):
            edge(record, operation.record, name, target, order: nil, write)
        }
    }

    private mutating func edge(
        _ record: Int, _ id: RecordID, _ name: PropertyName, _ target: [UInt8], order: [UInt8]?, _ write: Write
    ) {
        guard let target = self.target(target, of: id, name) else { return }
        let key = RecordState.EdgeKey(property: intern(name), target: target)
        states[record].edge(key, order: order, write, in: history)
    }

    /// Nil where the model has no such relation.
    private mutating func target(_ key: [UInt8], of record: RecordID, _ name: PropertyName) -> Int? {
        guard let relation = model.relation(RelationName(record.entity, name)) else { return nil }
        return intern(RecordID(model.model.relations[relation].target.entity, key))
    }

    mutating func intern(_ record: RecordID) -> Int {
        if let number = recordNumbers[record] { return number }
        recordNumbers[record] = records.count
        records.append(record)
        entities.append(model.entity(record.entity))
        states.append(RecordState())
        return records.count - 1
    }

    private mutating func intern(_ name: PropertyName) -> Int {
        if let number = propertyNumbers[name] { return number }
        propertyNumbers[name] = properties.count
        properties.append(name)
        return properties.count - 1
    }
}
