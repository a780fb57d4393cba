/// A model by numbers: entities, relations, and the slots by which records of an entity hang together with others.
struct ModelIndex {
    let model: Model
    /// The slots of each entity.
    let slots: [[Slot]]
    /// Where in their entities' slots the two ends of each relation stand.
    let ownerSlots: [Int]
    let targetSlots: [Int]
    /// By entity: some field of it is merged by lines.
    private let hasLines: [Bool]
    let hasForks: Bool
    private let entityNumbers: [EntityName: Int]  // lookup only
    private let relationNumbers: [RelationName: Int]  // lookup only

    /// One end of a relation, as the records of its entity have it.
    struct Slot {
        let relation: Int
        let isOwner: Bool
        let end: Relation.End
    }

    init(_ model: Model) {
        self.model = model
        hasLines = model.entities.map { $0.fields.contains { $0.merge == .lines } }
        hasForks = model.relations.contains { $0.owner.onContest == .fork || $0.target.onContest == .fork }
        entityNumbers = Dictionary(  // lookup only
            zip(model.entities.map(\.name), model.entities.indices), uniquingKeysWith: { first, _ in first })
        relationNumbers = Dictionary(  // lookup only
            zip(model.relations.map(\.name), model.relations.indices), uniquingKeysWith: { first, _ in first })
        var slots = model.entities.map { _ in [Slot]() }
        var owners: [Int] = []
        var targets: [Int] = []
        for (number, relation) in model.relations.enumerated() {
            for isOwner in [true, false] {
                let end = isOwner ? relation.owner : relation.target
                let entity = entityNumbers[end.entity] ?? 0
                if isOwner { owners.append(slots[entity].count) } else { targets.append(slots[entity].count) }
                slots[entity].append(Slot(relation: number, isOwner: isOwner, end: end))
            }
        }
        self.slots = slots
        ownerSlots = owners
        targetSlots = targets
    }

    func isMergedByLines(_ entity: Int?, _ name: PropertyName) -> Bool {
        guard let entity, hasLines[entity] else { return false }
        return model.entities[entity].field(name)?.merge == .lines
    }

    func entity(_ name: EntityName) -> Int? { entityNumbers[name] }
    func relation(_ name: RelationName) -> Int? { relationNumbers[name] }
}
