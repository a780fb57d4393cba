/// Second names: two nodes made "the one" each, or the same thing by its natural key. The oldest stands for all.
import SyncModel

extension Graph {
    mutating func nameAliases() {
        names = Array(fold.records.indices)
        hasAliases = false
        states = fold.states
        for (number, entity) in model.model.entities.enumerated() where entity.isSingleton || !entity.identity.isEmpty {
            var groups: SortedMap<IdentityKey, [Int]> = [:]
            for record in fold.records.indices where fold.entities[record] == number && lives[record] == .alive {
                if let key = key(of: record, entity) { groups[key, default: []].append(record) }
            }
            for (_, members) in groups where members.count > 1 { unite(members) }
        }
    }

    func key(of record: Int, _ entity: Entity) -> IdentityKey? {
        IdentityKey(entity) { value($0, in: fold.states[record], of: record) }
    }

    func value(_ name: PropertyName, of record: Int) -> JSONText? { value(name, in: states[record], of: record) }

    private func value(_ name: PropertyName, in state: RecordState, of record: Int) -> JSONText? {
        guard let property = fold.number(of: name) else { return nil }
        return state.values.first { $0.property == property }.flatMap { shown($0, of: record)?.value }
    }

    private mutating func unite(_ members: [Int]) {
        guard let eldest = members.min(by: isElder) else { return }
        let overtaking = Overtaking(among: members.map { fold.states[$0] }, in: fold.history)
        let others = members.filter { $0 != eldest }
        for member in others { names[member] = eldest }
        hasAliases = true
        states[eldest].join(others.map { states[$0] }, by: overtaking)
    }

    private func isElder(_ one: Int, _ other: Int) -> Bool {
        guard let left = fold.birth(of: one), let right = fold.birth(of: other), left != right else {
            return fold.records[one] < fold.records[other]
        }
        return left < right
    }
}

/// What a record stands for: two of an entity with the same parts are one.
struct IdentityKey: Comparable {
    let entity: EntityName
    let parts: [[UInt8]]

    static func < (left: IdentityKey, right: IdentityKey) -> Bool {
        if left.entity != right.entity { return left.entity < right.entity }
        return left.parts.lexicographicallyPrecedes(right.parts) { $0.lexicographicallyPrecedes($1) }
    }
}

extension IdentityKey {
    /// Nil if nothing else can be the same thing. If a part of a natural key is missing it stands for itself only.
    init?(_ entity: Entity, value shown: (PropertyName) -> JSONText?) {
        guard entity.isSingleton || !entity.identity.isEmpty else { return nil }
        var parts: [[UInt8]] = []
        for name in entity.isSingleton ? [] : entity.identity {
            guard let value = shown(name), value.kind != .null else { return nil }
            parts.append(value.string.map { [JSONByte.quote] + $0 } ?? value.bytes)
        }
        self.init(entity: entity.name, parts: parts)
    }
}
