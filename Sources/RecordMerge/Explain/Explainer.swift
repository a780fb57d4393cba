/// Finds the words for one record of a repaired graph. See `Explanation`.
import SyncModel

struct Explainer {
    private let repair: Repair
    private let graph: Graph
    private let fold: Fold
    private let number: Int
    /// All names of the record, if it is the one that stands for them.
    private let names: [Int]

    init(_ repair: Repair, _ number: Int) {
        self.repair = repair
        self.number = number
        graph = repair.graph
        fold = repair.graph.fold
        let names = repair.graph.names
        self.names = names.indices.filter { $0 == number || names[$0] == number }
    }

    func verdict() -> (outcome: String, rule: String) {
        switch repair.places[number] {
        case .live: ("is in the live graph", liveRule)
        case .out(let reason): ("is not in the live graph, but kept whole", words(for: reason))
        case .absent, .spare: absent
        }
    }

    private var liveRule: String {
        if let clone = graph.clones[number] {
            return "it is a copy of \(fold.records[clone.holder]), for \(fold.records[clone.wanter])"
        }
        let standing = fold.states[number].standingDeletes(in: fold.history)
        if standing.isEmpty { return "it keeps every rule of its model, and no delete of it stands" }
        let life = fold.states[number].life(graph.entity(of: number)?.onConcurrentDelete ?? .revive, in: fold.history)
        return life == .alive
            ? "it was written to by somebody who did not know of its delete, and an edit outlives such a delete"
            : "something live needs it, and whoever deleted it did not know that or deleted both at once"
    }

    private var absent: (outcome: String, rule: String) {
        switch graph.lives[number] {
        case .alive, .contested:
            (
                "is a second name of \(fold.records[graph.names[number]])",
                "both stand for the same thing, and the one that was made first keeps its name"
            )
        case .dead:
            ("is deleted", "nobody who knew of the delete took it back, and nobody who did not know wrote to it")
        case .unknown: ("is not known", "it is written to or pointed at, but what made it has not come")
        }
    }

    private func words(for reason: Repair.Reason) -> String {
        switch reason {
        case .invalidValue(let property):
            return "the value of \(property) is missing or of another type than its model says"
        case .deletedWhileEdited:
            return "one node deleted it while the other wrote to it, and its model wants a person to decide"
        case .missing(let relation, _): return "it needs somebody by \(name(relation)), and nobody is named"
        case .gone(let relation, _, let partner):
            return "it needs \(fold.records[partner]) by \(name(relation)), which is not in the live graph"
        case .lostSlot(let relation, _, let holder, let winner):
            let place = "the place it wants at \(fold.records[holder]) by \(name(relation))"
            return "\(place) went to \(fold.records[winner]): the later link has it"
        }
    }

    private func name(_ relation: Int) -> String { graph.model.model.relations[relation].name.description }
}

// MARK: - Operations

extension Explainer {
    func steps() -> [Explanation.Step] {
        var steps: [Explanation.Step] = []
        for (change, set) in fold.history.changes.enumerated() {
            for (index, operation) in set.operations.enumerated() {
                let write = Write(change: UInt32(change), index: set.number(of: index))
                guard let record = fold.number(of: operation.record), concerns(operation, of: record) else { continue }
                let fate = fate(of: operation, of: record, write)
                steps.append(Explanation.Step(stamp: fold.history.stamp(of: write), operation: operation, fate: fate))
            }
        }
        return steps
    }

    /// Written to it, or a link of another to it.
    private func concerns(_ operation: Operation, of record: Int) -> Bool {
        if names.contains(record) { return true }
        switch operation.action {
        case .link(let property, let key, _): return key.map { isSelf($0, record, property) } ?? false
        case .add(let property, let key, _), .remove(let property, let key): return isSelf(key, record, property)
        case .insert, .delete, .restore, .set: return false
        }
    }

    private func isSelf(_ key: [UInt8], _ owner: Int, _ property: PropertyName) -> Bool {
        guard let relation = graph.model.relation(RelationName(fold.records[owner].entity, property)) else {
            return false
        }
        let target = graph.model.model.relations[relation].target.entity
        return names.contains { fold.records[$0] == RecordID(target, key) }
    }

    private func fate(of operation: Operation, of record: Int, _ write: Write) -> Explanation.Fate {
        switch operation.action {
        case .insert, .restore: .born
        case .delete: fateOfDelete(write, of: record)
        case .set(let name, _): fateOfValue(write, name, of: record)
        case .link(_, let target, _): fateOfLink(write, of: record, wantsNobody: target == nil)
        case .add: fateOfLink(write, of: record, wantsNobody: false)
        case .remove: fateOfRemoval(write, of: record)
        }
    }

    private func fateOfDelete(_ write: Write, of record: Int) -> Explanation.Fate {
        guard fold.states[record].standingDeletes(in: fold.history).contains(write) else { return .takenBack }
        return graph.lives[record] == .dead ? .deletes : .gaveWay
    }

    private func fateOfValue(_ write: Write, _ name: PropertyName, of record: Int) -> Explanation.Fate {
        let state = graph.states[graph.names[record]]
        let register = state.values.first { fold.properties[$0.property] == name }
        guard let register, register.heads.contains(where: { $0.write == write }) else { return .overtaken }
        if graph.lives[graph.names[record]] == .dead { return .gone }
        if graph.entity(of: record)?.at == nil, graph.model.model.isVersion(name) { return .version }
        let isJoined = graph.shown(register, of: graph.names[record])?.isJoined == true
        return isJoined || register.heads.last?.write == write ? .shown : .concurrent
    }

    private func fateOfLink(_ write: Write, of record: Int, wantsNobody: Bool) -> Explanation.Fate {
        guard isHead(write, of: record) else { return .overtaken }
        let edge = graph.edgesOf[graph.names[record]].first { graph.edges[$0].write == write }
        guard let edge else { return wantsNobody ? .without : .overtaken }
        if repair.isAccepted[edge] { return .held }
        return isPending(edge) ? .pending : .notHeld
    }

    /// What another write adds, or moves, stays in.
    private func fateOfRemoval(_ write: Write, of record: Int) -> Explanation.Fate {
        let edges = graph.states[graph.names[record]].edges.map(\.value)
        guard let heads = edges.first(where: { $0.contains { $0.write == write } }) else { return .overtaken }
        return heads.contains { $0.order != nil } ? .gaveWay : .shown
    }

    private func isPending(_ edge: Int) -> Bool {
        let (owner, target) = (graph.edges[edge].owner, graph.edges[edge].target)
        return [owner, target].compactMap(\.self).contains { end in
            graph.slots(of: end).contains { repair.pending(at: end, by: $0).contains(edge) }
        }
    }

    private func isHead(_ write: Write, of record: Int) -> Bool {
        let state = graph.states[graph.names[record]]
        return state.links.contains { $0.heads.contains { $0.write == write } }
            || state.edges.contains { $0.value.contains { $0.write == write } }
    }
}
