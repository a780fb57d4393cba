/// Turns a repaired graph into the view that people and files see.
import SyncModel

extension RecordView {
    public init(of changes: some Sequence<ChangeSet>, model: Model) {
        let graph = Graph(Fold(History(changes), model: ModelIndex(model)))
        self = ViewMaker(Repair(graph)).view()
    }
}

struct ViewMaker {
    private let repair: Repair
    private let graph: Graph
    private let fold: Fold

    init(_ repair: Repair) {
        self.repair = repair
        graph = repair.graph
        fold = repair.graph.fold
    }

    func view() -> RecordView {
        var view = RecordView()
        for number in fold.records.indices.sorted(by: { fold.records[$0] < fold.records[$1] }) {
            place(number, in: &view)
        }
        for file in fold.history.changes.flatMap(\.files) {
            if let content = file.content { view.bases[file.path] = content }
        }
        return view
    }

    func facts(of number: Int) -> RecordFacts {
        var view = RecordView()
        place(number, in: &view)
        return view.facts(of: fold.records[number])
    }

    private func place(_ number: Int, in view: inout RecordView) {
        let id = fold.records[number]
        switch repair.places[number] {
        case .live:
            view.live[id] = record(number)
            if let clone = graph.clones[number] { return view.clones[id] = fold.records[clone.holder] }
            view.put(concurrent(number), at: id)
        case .out(let reason):
            let entry = RecordView.Quarantined(record: record(number), reason: told(reason), group: group(of: number))
            if isToGo(number, reason) { view.dropped[id] = entry } else { view.quarantine[id] = entry }
            view.put(concurrent(number), at: id)
        case .absent, .spare:
            switch graph.lives[number] {
            case .alive, .contested: view.aliases[id] = fold.records[graph.names[number]]
            case .dead: view.deadRecords[id] = true
            case .unknown: if graph.isMentioned(number) { view.unknownRecords[id] = true }
            }
        }
    }

    private func record(_ number: Int) -> RecordView.Record {
        var record = RecordView.Record()
        for register in graph.states[number].values {
            if let value = graph.shown(register, of: number)?.value {
                record.values[fold.properties[register.property]] = value
            }
        }
        for slot in graph.slots(of: number) {
            guard let property = slot.end.property else { continue }
            let partners = partners(of: number, at: slot)
            if partners.isEmpty { continue }
            record.links[property] = partners.map(\.id)
            if slot.end.isOrdered { record.orders[property] = partners.map(\.order) }
        }
        return record
    }

    /// Of what is live those that hold a place; of what is not, everybody it wants by a side of its own.
    private func partners(of number: Int, at slot: ModelIndex.Slot) -> [(order: [UInt8], id: RecordID)] {
        let edges = graph.edges(at: number, by: slot).filter { edge in
            repair.isLive(number) ? repair.isAccepted[edge] : slot.isOwner && graph.edges[edge].insteadOf == nil
        }
        let partners = edges.compactMap { edge in
            graph.edges[edge].other(than: number).map { (order: graph.edges[edge].order, id: fold.records[$0]) }
        }
        guard slot.end.isOrdered else { return partners.sorted { $0.id < $1.id } }
        return partners.sorted { left, right in
            left.order == right.order ? left.id < right.id : left.order.lexicographicallyPrecedes(right.order)
        }
    }

    private func isToGo(_ number: Int, _ reason: Repair.Reason) -> Bool {
        switch reason {
        case .invalidValue: graph.entity(of: number)?.onInvalid == .delete
        case .lostSlot(let relation, let isOwner, _, _):
            graph.model.model.relations[relation].end(ofHolder: isOwner).onContest == .delete
        case .deletedWhileEdited, .missing, .gone: false
        }
    }

    private func told(_ reason: Repair.Reason) -> RecordView.Reason {
        func name(_ relation: Int) -> RelationName { graph.model.model.relations[relation].name }
        return switch reason {
        case .invalidValue(let property): .invalidValue(property)
        case .deletedWhileEdited: .deletedWhileEdited
        case .missing(let relation, _): .missing(name(relation))
        case .gone(let relation, _, let partner): .gone(name(relation), fold.records[partner])
        case .lostSlot(let relation, _, let holder, let winner):
            .lostSlot(name(relation), holder: fold.records[holder], winner: fold.records[winner])
        }
    }

    /// Follows those that are gone to the first that left for a reason of its own. A ring of them goes by its smallest
    /// id.
    private func group(of number: Int) -> RecordID {
        var visited = [number]
        var current = number
        while case .out(.gone(_, _, let partner)) = repair.places[current], case .out = repair.places[partner] {
            if let start = visited.firstIndex(of: partner) {
                return visited[start...].map { fold.records[$0] }.min() ?? fold.records[number]
            }
            visited.append(partner)
            current = partner
        }
        return fold.records[current]
    }
}

extension Relation {
    /// The end at which a place was wanted by a record of the other end.
    func end(ofHolder loserIsOwner: Bool) -> End { loserIsOwner ? target : owner }
}

// MARK: - What is not shown

extension ViewMaker {
    private func concurrent(_ number: Int) -> [RecordView.ConcurrentWrite] {
        let state = graph.states[number]
        var writes: [RecordView.ConcurrentWrite] = []
        for register in state.values where graph.shown(register, of: number)?.isJoined == false {
            for head in register.heads.dropLast() {
                writes.append(write(number, register.property, head.write, .value(head.value)))
            }
        }
        for register in state.links where register.heads.count > 1 {
            for head in register.heads where !isShown(number, register.property, head.value.target, head.write) {
                let target = head.value.target.map { fold.records[$0] }
                writes.append(write(number, register.property, head.write, .link(target)))
            }
        }
        for (key, heads) in state.edges where heads.contains(where: { $0.order != nil }) {
            for head in heads where head.order == nil {
                writes.append(write(number, key.property, head.write, .removal(fold.records[key.target])))
            }
        }
        return writes.sorted { ($0.property, $0.write) < ($1.property, $1.write) }
    }

    private func isShown(_ owner: Int, _ property: Int, _ target: Int?, _ write: Write) -> Bool {
        guard let target = target.map({ graph.names[$0] }) else {
            return !graph.edgesOf[owner].contains { isHeld($0, by: owner, property) && graph.edges[$0].target != nil }
        }
        return graph.edgesOf[owner].contains { isHeld($0, by: owner, property) && graph.edges[$0].target == target }
    }

    private func isHeld(_ edge: Int, by owner: Int, _ property: Int) -> Bool {
        repair.isAccepted[edge] && graph.edges[edge].owner == owner
            && graph.edges[edge].relation == fold.relation(property, of: owner)
    }

    private func write(
        _ number: Int, _ property: Int, _ write: Write, _ content: RecordView.ConcurrentWrite.Content
    ) -> RecordView.ConcurrentWrite {
        RecordView.ConcurrentWrite(
            record: fold.records[number], property: fold.properties[property],
            write: fold.history.stamp(of: write), content: content)
    }
}
