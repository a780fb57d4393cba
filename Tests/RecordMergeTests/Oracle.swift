/// The rules of the design once more, written from its text and not from the code: sets, texts, whole passes, no
/// numbers for records, no components, no incremental heads. Slow, and good for nothing but saying what the answer is.
import RecordMerge
import SyncModel

struct Oracle {
    let model: Model
    let acts: [Act]
    private(set) var ids: [String] = []
    private var actsOf: [String: [Act]] = [:]
    var alive: Set<String> = []
    var contested: Set<String> = []
    var standsFor: [String: String] = [:]

    /// One operation with everything its author knew.
    struct Act {
        let change: String
        let index: Int
        let knows: Set<String>
        /// The order K.
        let rank: Int
        let record: RecordID
        let action: Operation.Action
        let author: Party
        let seq: UInt64
        let milliseconds: UInt64
    }

    struct Wish: Hashable {
        let relation: RelationName
        let owner: String
        let target: String?
        let rank: Int
        let order: [UInt8]
        var instead: String?
    }

    init(_ changes: [ChangeSet], _ model: Model) {
        self.model = model
        let unique = changes.reduce(into: [String: ChangeSet]()) { $0[Oracle.name($1)] = $1 }
        let ranked = unique.values.sorted {
            ($0.time.raw, $0.author.rawValue, $0.position.seq) < ($1.time.raw, $1.author.rawValue, $1.position.seq)
        }
        var acts: [Act] = []
        for change in ranked {
            let knows = ranked.filter { $0 != change && $0.position.seq <= Oracle.known(of: $0.author, to: change) }
            for (index, operation) in change.operations.enumerated() {
                acts.append(
                    Act(
                        change: Oracle.name(change), index: index, knows: Set(knows.map(Oracle.name)), rank: acts.count,
                        record: operation.record, action: operation.action, author: change.author,
                        seq: change.position.seq, milliseconds: change.time.raw >> 16))
            }
        }
        self.acts = acts
        actsOf = Dictionary(grouping: acts) { $0.record.description }
        ids = Set(actsOf.keys).union(acts.compactMap { wish($0)?.target }).sorted()
    }

    private static func name(_ change: ChangeSet) -> String { "\(change.author) \(change.position.seq)" }

    private static func known(of author: Party, to change: ChangeSet) -> UInt64 {
        author == change.author ? change.position.seq - 1 : change.seen[author].seq
    }

    func saw(_ later: Act, _ earlier: Act) -> Bool {
        later.change == earlier.change ? earlier.index < later.index : later.knows.contains(earlier.change)
    }

    func concurrent(_ one: Act, _ other: Act) -> Bool {
        one.change != other.change && !saw(one, other) && !saw(other, one)
    }

    /// What nobody who saw it has overtaken, in the order K.
    func heads(_ writes: [Act]) -> [Act] {
        writes.filter { write in !writes.contains { saw($0, write) } }
    }
}

// MARK: - Fold

extension Oracle {
    func of(_ id: String) -> [Act] { actsOf[id] ?? [] }

    func entity(_ id: String) -> Entity? {
        model.entities.first { id.hasPrefix($0.name.description + "/") }
    }

    func isKnown(_ id: String) -> Bool { of(id).contains { $0.isBirth } }

    func standing(_ id: String) -> [Act] {
        of(id).filter { $0.isDelete }.filter { delete in !of(id).contains { $0.isBirth && saw($0, delete) } }
    }

    mutating func judgeLives() {
        for id in ids where isKnown(id) {
            let deletes = standing(id)
            let edits = of(id).filter { !$0.isDelete }
            let edited = deletes.allSatisfy { isOutlived($0, edits, deletes) }
            if deletes.isEmpty || edited && entity(id)?.onConcurrentDelete != .quarantine {
                alive.insert(id)
            } else if edited {
                contested.insert(id)
            }
        }
    }

    /// Somebody wrote to it who did not know of this delete, or had it before him all the same, and whom nobody who knew deleted.
    private func isOutlived(_ delete: Act, _ edits: [Act], _ deletes: [Act]) -> Bool {
        edits.contains { edit in
            if deletes.contains(where: { saw($0, edit) }) { return false }
            return concurrent(edit, delete) || saw(edit, delete) && wasThere(for: edit)
        }
    }

    private func wasThere(for edit: Act) -> Bool {
        let id = edit.record.description
        let edits = of(id).filter { !$0.isDelete && saw(edit, $0) }
        let deletes = standing(id).filter { saw(edit, $0) }
        return deletes.allSatisfy { isOutlived($0, edits, deletes) }
    }

    /// The ids that a record goes by.
    func members(_ id: String) -> [String] { standsFor.filter { $0.value == id }.map(\.key).sorted() + [id] }

    /// What was written to a record and not made void by an insert that saw it.
    func valid(_ ids: [String]) -> [Act] {
        ids.flatMap { of($0).filter { !isVoid($0) } }.sorted { $0.rank < $1.rank }
    }

    private func isVoid(_ write: Act) -> Bool {
        of(write.record.description).contains { (isAnew($0) || isLateRestore($0)) && saw($0, write) }
    }

    /// What stands of such writes to a record, or to all its names. What was overtaken in its own record stays so, whatever has become of
    /// that by which it was: void, or overtaken by somebody who had not seen the first.
    func heads(_ ids: [String], _ isSuch: (Act) -> Bool) -> [Act] {
        let standing = ids.flatMap { heads(of($0).filter(isSuch)).filter { !isVoid($0) } }
        return standing.filter { write in
            !standing.contains { saw($0, write) && !isBeside($0, write) }
        }.sorted { $0.rank < $1.rank }
    }

    /// Told to another name by somebody who has not chosen between the two: he saved them together, or this one was only just made, or he did not
    /// know that it was.
    private func isBeside(_ one: Act, _ other: Act) -> Bool {
        if one.record == other.record || one.change != other.change && knewDeleted(one, other) { return false }
        guard one.change != other.change, let made = of(one.record.description).first(where: \.isBirth) else {
            return true
        }
        return !one.knows.contains(made.change)
    }

    /// Who has deleted that name has chosen, unless somebody has taken the delete back.
    private func knewDeleted(_ one: Act, _ other: Act) -> Bool {
        standing(other.record.description).contains { delete in
            saw(delete, other) && (delete.change == one.change || saw(one, delete))
        }
    }

    /// An insert over what was there before, or had been deleted: not the first that its author knows of.
    private func isAnew(_ act: Act) -> Bool {
        act.isInsert && of(act.record.description).contains { ($0.isBirth || $0.isDelete) && saw(act, $0) }
    }

    /// More than 30 days after a delete that it knew of, and that nobody it knew of had taken back.
    private func isLateRestore(_ act: Act) -> Bool {
        act.action == .restore
            && of(act.record.description).contains { delete in
                delete.isDelete && isLate(act, after: delete)
                    && !of(act.record.description).contains { $0.isBirth && saw($0, delete) && saw(act, $0) }
            }
    }

    func isLate(_ act: Act, after delete: Act) -> Bool {
        saw(act, delete) && act.milliseconds >= delete.milliseconds + 30 * 24 * 3600 * 1000
    }

    func valueHeads(_ ids: [String], _ name: PropertyName) -> [Act] {
        heads(ids) { if case .set(name, _) = $0.action { true } else { false } }
    }

    func value(_ ids: [String], _ name: PropertyName) -> JSONText? {
        if let joined = joined(ids, name) { return joined }
        return if case .set(_, let value)? = valueHeads(ids, name).last?.action { value } else { nil }
    }

    func valueNames(_ ids: [String]) -> [PropertyName] {
        Set(valid(ids).compactMap { if case .set(let name, _) = $0.action { name } else { nil } }).sorted()
    }
}

extension Oracle.Act {
    var isInsert: Bool { action == .insert }
    var isBirth: Bool { action == .insert || action == .restore }
    var isDelete: Bool { action == .delete }
}

// MARK: - Second names

extension Oracle {
    mutating func nameAll() {
        standsFor = [:]
        for entity in model.entities where entity.isSingleton || !entity.identity.isEmpty {
            let here = ids.filter { alive.contains($0) && self.entity($0) == entity }
            var groups: [String: [String]] = [:]
            for id in here {
                let parts = entity.isSingleton ? [] : entity.identity.map { value([id], $0) }
                if parts.contains(where: { $0 == nil || $0?.kind == .null }) { continue }
                let key = parts.map { part in part.flatMap(\.string).map { "\"\($0)" } ?? part?.description ?? "" }
                groups[key.joined(separator: "\0"), default: []].append(id)
            }
            for group in groups.values {
                let eldest = group.min { birth($0) < birth($1) }
                for id in group where id != eldest { standsFor[id] = eldest }
            }
        }
    }

    private func birth(_ id: String) -> Int { of(id).first { $0.isBirth }?.rank ?? .max }

    func main(_ id: String) -> String { standsFor[id] ?? id }
}

// MARK: - Wishes

extension Oracle {
    func relation(_ act: Act, _ name: PropertyName) -> Relation? {
        model.relations.first { $0.name == RelationName(act.record.entity, name) }
    }

    /// What a link, or a target put in, asks for.
    func wish(_ act: Act) -> Wish? {
        switch act.action {
        case .link(let name, let target, let order): wish(act, name, target, order)
        case .add(let name, let target, let order): wish(act, name, target, order)
        case .insert, .delete, .restore, .set, .remove: nil
        }
    }

    private func wish(_ act: Act, _ name: PropertyName, _ target: [UInt8]?, _ order: [UInt8]) -> Wish? {
        guard let relation = relation(act, name) else { return nil }
        let target = target.map { RecordID(relation.target.entity, $0).description }
        return Wish(
            relation: relation.name, owner: main(act.record.description), target: target.map(main), rank: act.rank,
            order: order)
    }

    /// The link heads of a record, or of all its names, by one property.
    func linkHeads(_ ids: [String], _ name: PropertyName) -> [Act] {
        heads(ids) { if case .link(name, _, _) = $0.action { true } else { false } }
    }

    /// What is asked for in the end, latest first.
    func wishes() -> [Wish] {
        var wishes: [Wish] = []
        for id in ids where main(id) == id {
            let writes = valid(members(id))
            for relation in model.relations where relation.name.entity.description == entity(id)?.name.description {
                wishes += linkHeads(members(id), relation.name.property).compactMap(wish)
                    .filter { $0.target != nil || !relation.owner.isRequired && !relation.target.isRequired }
                for target in targetKeys(writes, relation.name.property) {
                    let about = heads(members(id)) { $0.isAbout(relation.name.property, target) }
                    wishes += about.filter { $0.isAdding }.suffix(1).compactMap(wish)
                }
            }
        }
        return wishes.sorted { $0.rank > $1.rank }
    }

    private func targetKeys(_ writes: [Act], _ name: PropertyName) -> Set<[UInt8]> {
        Set(
            writes.compactMap { write in
                switch write.action {
                case .add(name, let target, _), .remove(name, let target): target
                case .insert, .delete, .restore, .set, .link, .add, .remove: nil
                }
            })
    }
}

extension Oracle.Act {
    func isAbout(_ name: PropertyName, _ target: [UInt8]) -> Bool {
        switch action {
        case .add(name, target, _), .remove(name, target): true
        case .insert, .delete, .restore, .set, .link, .add, .remove: false
        }
    }

    var isAdding: Bool { if case .add = action { true } else { false } }
}
