/// All that was written to one record and has not been overwritten by someone who saw it.
import SyncModel

struct RecordState {
    /// Inserts and restores, in the order K.
    private(set) var lives: [Write] = []
    private(set) var deletes: [Write] = []
    /// Everything else that was written to it, the last of each change set: what a concurrent delete is weighed against. (The last, because
    /// a delete in the same set may have seen those before it.)
    private(set) var edits: [Write] = []
    /// In the order of their first write; names come from `Fold.properties`.
    private(set) var values: [Register<JSONText?>] = []
    private(set) var links: [Register<Link>] = []
    private(set) var edges: SortedMap<EdgeKey, [EdgeHead]> = [:]

    /// What nobody has overtaken: one head, or two that are concurrent. (Of a thing with second names one more for each that was only just
    /// made, or that a set writes to.)
    struct Register<Value> {
        let property: Int
        var heads: [(write: Write, value: Value)]
        /// What the heads have overtaken, in the order K: kept only where values are merged with what both had before.
        var older: [(write: Write, value: Value)] = []
    }

    struct Link: Equatable {
        let target: Int?
        let order: [UInt8]
    }

    /// One target of a to-many relation.
    struct EdgeKey: Hashable, Comparable {
        let property: Int
        let target: Int

        static func < (left: EdgeKey, right: EdgeKey) -> Bool {
            (left.property, left.target) < (right.property, right.target)
        }
    }

    /// `order` is nil where it was taken out. A target is there if any head says so: adding wins.
    struct EdgeHead {
        let write: Write
        let order: [UInt8]?
    }

    /// A restore that comes too late finds nothing left, and so does an insert: but for what was wanted of a record before anybody
    /// made it.
    mutating func live(_ write: Write, isInsert: Bool, in history: History) {
        let isLate = deletes.contains { isOpen($0, to: write, history) && history.isTooLate(write, for: $0) }
        let isAnew =
            isInsert && (lives.contains { history.saw(write, $0) } || deletes.contains { history.saw(write, $0) })
        lives.append(write)
        guard isAnew || isLate else { return }
        for index in values.indices {
            values[index].heads.removeAll { history.saw(write, $0.write) }
            values[index].older.removeAll { history.saw(write, $0.write) }
        }
        for index in links.indices { links[index].heads.removeAll { history.saw(write, $0.write) } }
        for key in Array(edges.keys) { edges.update(key) { $0.removeAll { history.saw(write, $0.write) } } }
    }

    /// Nobody whom the other knew of had taken the delete back.
    private func isOpen(_ delete: Write, to write: Write, _ history: History) -> Bool {
        !lives.contains { history.saw($0, delete) && history.saw(write, $0) }
    }

    /// Shows what another shows.
    mutating func take(_ values: [Register<JSONText?>]) { self.values = values }

    mutating func delete(_ write: Write) { deletes.append(write) }

    private mutating func noteEdit(_ write: Write) {
        if edits.last?.change == write.change { edits.removeLast() }
        edits.append(write)
    }

    /// `keepsOlder` for values that are merged by lines.
    mutating func set(
        _ property: Int, _ value: JSONText?, _ write: Write, keepsOlder: Bool, in history: History
    ) {
        noteEdit(write)
        guard let index = values.firstIndex(where: { $0.property == property }) else {
            return values.append(Register(property: property, heads: [(write, value)]))
        }
        if keepsOlder { values[index].older += values[index].heads.filter { history.saw(write, $0.write) } }
        values[index].heads.removeAll { history.saw(write, $0.write) }
        values[index].heads.append((write, value))
    }

    mutating func link(_ property: Int, _ link: Link, _ write: Write, in history: History) {
        noteEdit(write)
        guard let index = links.firstIndex(where: { $0.property == property }) else {
            return links.append(Register(property: property, heads: [(write, link)]))
        }
        links[index].heads.removeAll { history.saw(write, $0.write) }
        links[index].heads.append((write, link))
    }

    mutating func edge(_ key: EdgeKey, order: [UInt8]?, _ write: Write, in history: History) {
        noteEdit(write)
        edges[key, default: []].removeAll { history.saw(write, $0.write) }
        edges[key, default: []].append(EdgeHead(write: write, order: order))
    }

    /// When it was written to for the last time. (The last write to any of its places is one that nobody has overtaken.)
    var last: Write? { (lives + deletes + heads).max() }

    /// What nobody has overtaken of all that was written to its places.
    var heads: [Write] {
        let registers = values.flatMap(\.heads).map(\.write) + links.flatMap(\.heads).map(\.write)
        return registers + edges.flatMap(\.value).map(\.write)
    }

    /// What stands there by those who did not know of it yet: who made it, and who wrote to it before he had heard that it was made.
    func blindHeads(in history: History) -> [Write] {
        heads.filter { head in
            lives.first.map { $0.change == head.change || !history.saw(head, $0) } ?? true
        }
    }

    /// What the names of one thing were told, as if it had been told to one. (Of one name only what nobody has overtaken is here.)
    mutating func join(_ others: [RecordState], by overtaking: Overtaking) {
        for other in others {
            for register in other.values { values.add(register) }
            for register in other.links { links.add(register) }
            for (key, heads) in other.edges { edges[key, default: []] += heads }
        }
        for index in values.indices {
            values[index].heads = overtaking.standing(among: values[index].heads) { $0.write }
        }
        for index in links.indices {
            links[index].heads = overtaking.standing(among: links[index].heads) { $0.write }
        }
        for key in Array(edges.keys) {
            edges.update(key) { $0 = overtaking.standing(among: $0) { $0.write } }
        }
    }
}

/// Which of the writes to one thing, perhaps under two names, has overtaken which. Who has not chosen between two texts overtakes neither: what
/// one set says to two names was saved together, and who only just made a name, or did not know that it was made, has put it beside the others: but
/// for those that he has deleted, even if somebody else still writes to them.
struct Overtaking {
    private let history: History
    private var isBlind: SortedMap<Write, Bool> = [:]
    /// Of the names of these heads, those that nobody has taken back.
    private var deletes: SortedMap<Write, [Write]> = [:]

    init(among names: [RecordState], in history: History) {
        self.history = history
        for state in names {
            for write in state.blindHeads(in: history) { isBlind[write] = true }
            let standing = state.standingDeletes(in: history)
            if standing.isEmpty { continue }
            for write in state.heads { deletes[write] = standing }
        }
    }

    /// What nobody has overtaken, in the order K.
    func standing<Head>(among heads: [Head], _ write: (Head) -> Write) -> [Head] {
        if heads.count < 2 { return heads }
        // (What one set says to several names has overtaken the same, but for who is blind.)
        var overtakers: SortedMap<UInt32, Write> = [:]
        for later in heads.map(write) where overtakers[later.change] == nil || !isBlind.contains(key: later) {
            overtakers[later.change] = later
        }
        return heads.filter { head in !overtakers.contains { overtook($0.value, write(head)) } }
            .sorted { write($0) < write($1) }
    }

    private func overtook(_ later: Write, _ earlier: Write) -> Bool {
        guard later.change != earlier.change, history.saw(later, earlier) else { return false }
        return !isBlind.contains(key: later) || hadDeleted(later, earlier)
    }

    /// Whoever wrote the one had deleted the name of the other, or knew of that, or did so in the same set.
    private func hadDeleted(_ later: Write, _ earlier: Write) -> Bool {
        deletes[earlier]?.contains { delete in
            history.saw(delete, earlier) && (delete.change == later.change || history.saw(later, delete))
        } ?? false
    }
}

extension Array {
    fileprivate mutating func add<Value>(_ register: RecordState.Register<Value>)
    where Element == RecordState.Register<Value> {
        if register.heads.isEmpty { return }
        guard let index = firstIndex(where: { $0.property == register.property }) else { return append(register) }
        if self[index].heads.isEmpty { return self[index] = register }
        // Neither was made from the other: there is nothing that both had before.
        self[index].older = []
        self[index].heads += register.heads
    }
}

// MARK: - Life and death

extension RecordState {
    enum Life: Equatable {
        /// Written to, but never inserted: what tells of it has not come.
        case unknown
        case alive
        case dead
        /// Deleted by one node while the other edited it, where the model wants a person to decide.
        case contested
    }

    /// Deletes that nobody who saw them took back.
    func standingDeletes(in history: History) -> [Write] {
        deletes.filter { delete in !lives.contains { history.saw($0, delete) } }
    }

    func outliving(_ standing: [Write], in history: History) -> Outliving {
        Outliving(edits + lives, standing: standing, in: history)
    }

    /// Every delete of it stands, whoever may need it.
    func isDead(in history: History) -> Bool { life(.revive, in: history) == .dead }

    func life(_ policy: Entity.OnConcurrentDelete, in history: History) -> Life {
        if lives.isEmpty { return .unknown }
        if deletes.isEmpty { return .alive }
        let standing = standingDeletes(in: history)
        if standing.isEmpty { return .alive }
        var outliving = outliving(standing, in: history)
        if outliving.isDead { return .dead }
        return policy == .revive ? .alive : .contested
    }
}
