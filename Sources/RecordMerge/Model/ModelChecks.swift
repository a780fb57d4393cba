/// What the entities of a model say about each other, and whether that can be. Relations come out with both their ends.
struct ModelChecks {
    private let entities: [Entity]
    private let versionAt: JSONPointer
    private let file: String
    private(set) var findings: [ModelFault] = []

    init(entities: [Entity], versionAt: JSONPointer, file: String) {
        self.entities = entities
        self.versionAt = versionAt
        self.file = file
    }

    mutating func relations() -> [Relation] {
        for entity in entities {
            checkFiles(of: entity)
            checkNames(of: entity)
        }
        for (number, entity) in entities.enumerated() {
            for other in entities[(number + 1)...] { checkOverlap(of: entity, and: other) }
        }
        return entities.flatMap { entity in entity.sides.compactMap { relation(of: entity, $0) } }
            .sorted { $0.name < $1.name }
    }

    private mutating func fault(_ entity: Entity, _ path: [[UInt8]], _ reason: String) {
        let pointer = JSONPointer(tokens: [Array("entities".utf8), entity.name.bytes] + path)
        findings.append(ModelFault(file: file, pointer: pointer, reason: reason))
    }

    private mutating func fault(_ entity: Entity, _ name: String, _ reason: String) {
        fault(entity, [Array(name.utf8)], reason)
    }

    private mutating func checkFiles(of entity: Entity) {
        switch entity.id {
        case .stem:
            if !entity.files.hasStar { fault(entity, "id", "a stem needs a star in files") }
            if entity.at != nil { fault(entity, "id", "many records of one file cannot all be called after it") }
        case .key:
            if entity.at == nil { fault(entity, "id", "a key needs at: the object that holds the records") }
        case .pointer:
            if entity.at == nil, entity.files.hasStar == false, !entity.isSingleton {
                fault(entity, "files", "one file without at holds one record: use a star, at, or singleton")
            }
        case .singleton:
            if entity.files.hasStar { fault(entity, "files", "a singleton has one file") }
            if entity.at != nil { fault(entity, "at", "a singleton is its whole file") }
        }
    }

    /// No member of a record may be two things.
    private mutating func checkNames(of entity: Entity) {
        for side in entity.sides where entity.field(side.name) != nil {
            fault(entity, [Array("relations".utf8), side.name.bytes], "a field has this name")
        }
        for (pointer, what) in reserved(of: entity) {
            guard let name = pointer.tokens.first.map({ PropertyName($0) }) else { continue }
            if entity.field(name) != nil { fault(entity, [Array("fields".utf8), name.bytes], "\(what) is there") }
            if entity.side(name) != nil { fault(entity, [Array("relations".utf8), name.bytes], "\(what) is there") }
        }
        for name in entity.identity {
            // (A member that is not listed is a field like any other.)
            if entity.side(name) != nil { fault(entity, "identity", "\(name) is a relation, and no field") }
            let reserved = reserved(of: entity).first { $0.0.tokens.first == name.bytes }
            if let reserved { fault(entity, "identity", "\(name) is no field: \(reserved.1) is there") }
        }
    }

    private func reserved(of entity: Entity) -> [(JSONPointer, String)] {
        var reserved: [(JSONPointer, String)] = []
        if case .pointer(let id) = entity.id { reserved.append((id, "the id")) }
        if entity.at == nil { reserved.append((versionAt, "the version of the format")) }
        return reserved
    }

    /// Two entities may share a document only if their records stand in different parts of it.
    private mutating func checkOverlap(of entity: Entity, and other: Entity) {
        guard entity.files.overlaps(other.files) else { return }
        if let at = entity.at, let otherAt = other.at, !at.tokens.starts(with: otherAt.tokens),
            !otherAt.tokens.starts(with: at.tokens)
        {
            return
        }
        fault(other, "files", "\(entity.name) claims some of these files too")
    }
}

// MARK: - Relations

extension ModelChecks {
    /// Nil at the side that does not own it, and where there is a fault.
    private mutating func relation(of entity: Entity, _ side: Side) -> Relation? {
        guard let target = entities.first(where: { $0.name == side.to }) else {
            fault(
                entity, [Array("relations".utf8), side.name.bytes, Array("to".utf8)], "there is no entity \(side.to)")
            return nil
        }
        checkHome(entity, side, target)
        guard let name = side.inverse else { return relation(entity, side, target, nil) }
        guard let inverse = target.side(name), inverse.to == entity.name, inverse.inverse == side.name else {
            let reason =
                "\(target.name).\(name) must be a relation that names \(entity.name).\(side.name) as its inverse"
            fault(entity, [Array("relations".utf8), side.name.bytes, Array("inverse".utf8)], reason)
            return nil
        }
        guard owns(entity, side, over: target, inverse) else { return nil }
        return relation(entity, side, target, inverse)
    }

    /// Only what has one place can be given another.
    private mutating func checkHome(_ entity: Entity, _ side: Side, _ target: Entity) {
        guard case .rehome = side.onContest, side.inverse.flatMap(target.side)?.kind != .one else { return }
        let path = [Array("relations".utf8), side.name.bytes, Array("onContest".utf8)]
        fault(entity, path, "rehome needs an inverse that has kind one")
    }

    /// A relation between one and many is kept by the many, each of which has one. Otherwise by the smaller name.
    private func owns(_ entity: Entity, _ side: Side, over other: Entity, _ inverse: Side) -> Bool {
        if side.kind != inverse.kind { return side.kind == .one }
        return (entity.name, side.name) <= (other.name, inverse.name)
    }

    private func relation(_ entity: Entity, _ side: Side, _ target: Entity, _ inverse: Side?) -> Relation {
        Relation(
            name: RelationName(entity.name, side.name), owner: end(of: entity, side),
            target: inverse.map { end(of: target, $0) } ?? openEnd(of: target), isRegister: side.kind == .one)
    }

    private func end(of entity: Entity, _ side: Side) -> Relation.End {
        Relation.End(
            entity: entity.name, property: side.name, isRequired: side.isRequired,
            countMax: side.kind == .one ? 1 : side.max, isOrdered: side.isOrdered, onDelete: side.onDelete,
            onContest: side.onContest)
    }

    /// An end that knows nothing of the relation: any number may point at it.
    private func openEnd(of entity: Entity) -> Relation.End {
        Relation.End(
            entity: entity.name, property: nil, isRequired: false, countMax: nil, isOrdered: false, onDelete: .nullify,
            onContest: .quarantine)
    }
}
