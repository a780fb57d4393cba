import SyncModel

/// The records that are there, each under one name, and every edge that somebody wants between them: what repair works
/// on. Built in rounds by `Alias` and `Revival`, because a record that comes back may be a second name of another.
struct Graph {
    private(set) var fold: Fold
    /// By record.
    var lives: [RecordState.Life]
    /// The record that stands for this one: itself, unless it is a second name.
    var names: [Int]
    var hasAliases = false
    /// What was told to all names of a record, under the one that stands for it.
    var states: [RecordState]
    /// In descending K.
    private(set) var edges: [Edge] = []
    /// Numbers of the edges at each record, in descending K.
    private(set) var edgesOf: [[Int]] = []
    /// By number: records that nobody made, there if somebody who lost a place needs them. See `Graph+Clones`.
    private(set) var clones: SortedMap<Int, Clone> = [:]
    /// Those, and others of such a name that somebody made or deleted, each with the record that it would be a copy of. By number.
    private(set) var cloneNames: SortedMap<Int, Int> = [:]

    init(_ fold: Fold) {
        self.fold = fold
        states = fold.states
        names = Array(fold.records.indices)
        lives = fold.records.indices.map { number in
            let policy = fold.entities[number].map { fold.model.model.entities[$0].onConcurrentDelete } ?? .revive
            return fold.states[number].life(policy, in: fold.history)
        }
        repeat {
            nameAliases()
            collectEdges()
        } while reviveRequired()
        collectHomes()
        collectClones()
    }

    /// What a register or a set says somebody wants: `target` nil is nothing, wanted instead of something.
    struct Edge {
        let relation: Int
        let owner: Int
        let target: Int?
        let write: Write
        let order: [UInt8]
        /// A place for one that lost its own at this record.
        var insteadOf: Int?

        func other(than record: Int) -> Int? { record == owner ? target : owner }
    }

    var model: ModelIndex { fold.model }

    func relation(of edge: Edge) -> Relation { model.model.relations[edge.relation] }

    func entity(of record: Int) -> Entity? {
        fold.entities[record].map { model.model.entities[$0] }
    }

    func slots(of record: Int) -> [ModelIndex.Slot] {
        fold.entities[record].map { model.slots[$0] } ?? []
    }

    /// Somebody wrote to it or wants it still; what was overwritten does not count.
    func isMentioned(_ record: Int) -> Bool {
        edgesOf[record].contains { edges[$0].insteadOf == nil } || !states[record].edits.isEmpty
            || !states[record].deletes.isEmpty
    }

    /// The edges at a record by one of its slots, in descending K.
    func edges(at record: Int, by slot: ModelIndex.Slot) -> [Int] {
        edgesOf[record].filter { number in
            let edge = edges[number]
            return edge.relation == slot.relation && (slot.isOwner ? edge.owner : edge.target) == record
        }
    }

    private mutating func collectEdges() {
        edges = []
        for record in fold.records.indices where names[record] == record { collectEdges(of: record) }
        edges.sort { $0.write > $1.write }
        index()
    }

    private mutating func index() {
        edgesOf = Array(repeating: [], count: fold.records.count)
        for (number, edge) in edges.enumerated() {
            edgesOf[edge.owner].append(number)
            if let target = edge.target, target != edge.owner { edgesOf[target].append(number) }
        }
    }

    private mutating func collectEdges(of record: Int) {
        for register in states[record].links {
            guard let relation = fold.relation(register.property, of: record) else { continue }
            for head in register.heads { append(relation, record, head.value.target, head.write, head.value.order) }
        }
        for (key, heads) in states[record].edges {
            guard let relation = fold.relation(key.property, of: record) else { continue }
            guard let head = heads.last(where: { $0.order != nil }) else { continue }
            append(relation, record, key.target, head.write, head.order ?? [])
        }
    }

    /// Wanting nothing weighs nothing where either end needs something.
    private mutating func append(_ relation: Int, _ owner: Int, _ target: Int?, _ write: Write, _ order: [UInt8]) {
        let ends = model.model.relations[relation]
        if target == nil, ends.owner.isRequired || ends.target.isRequired { return }
        let target = target.map { names[$0] }
        edges.append(Edge(relation: relation, owner: owner, target: target, write: write, order: order))
    }
}

// MARK: - Clones

extension Graph {
    /// After everything else is wanted; see `wantedClones`.
    private mutating func collectClones() {
        let wanted = wantedClones()
        for clone in wanted { add(clone, isFree: isFree(clone.id)) }
        if !wanted.isEmpty { index() }
    }

    private mutating func add(_ clone: Clone, isFree: Bool) {
        let number = fold.intern(clone.id)
        cloneNames[number] = clone.holder
        if !isFree { return }
        if number == lives.count {
            names.append(number)
            lives.append(.unknown)
            states.append(RecordState())
        }
        edges.append(edge(of: clone, number))
        // Somebody made it a record of its own, by writing to it.
        if lives[number] != .unknown { return }
        clones[number] = clone
        states[number].take(states[clone.holder].values)
        edges += edges(like: clone, number)
    }
}

// MARK: - Other homes

extension Graph {
    /// Where a relation names a home for those that lose a place, it is wanted after everything else.
    private mutating func collectHomes() {
        let homes = edges.flatMap { home(of: $0, atOwner: true) + home(of: $0, atOwner: false) }
        if homes.isEmpty { return }
        edges += homes
        index()
    }

    private func home(of edge: Edge, atOwner: Bool) -> [Edge] {
        guard let target = edge.target else { return [] }
        let end = atOwner ? relation(of: edge).owner : relation(of: edge).target
        guard case .rehome(let key) = end.onContest else { return [] }
        guard let home = fold.number(of: RecordID(end.entity, key)).map({ names[$0] }) else { return [] }
        return [
            Edge(
                relation: edge.relation, owner: atOwner ? home : edge.owner, target: atOwner ? target : home,
                write: edge.write, order: edge.order, insteadOf: atOwner ? edge.owner : target)
        ]
    }
}
