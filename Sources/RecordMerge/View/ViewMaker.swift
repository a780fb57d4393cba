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
        let sets = fold.history.changes
        var saves: SortedMap<Path, BaseSaves> = [:]
        for (number, set) in sets.enumerated() {
            for (place, file) in set.files.enumerated() where file.content != nil {
                _ = saves[file.path, default: BaseSaves()].note(BaseSaves.Place(number, place)) { sets[$0] }
            }
        }
        for (path, saves) in saves { view.bases[path] = saves.base(graph.model.model) { sets[$0] } }
        return view
    }

    func facts(of number: Int) -> RecordFacts {
        var view = RecordView()
        place(number, in: &view)
        return view.facts(of: fold.records[number])
    }

    private func place(_ number: Int, in view: inout RecordView) {
        let id = fold.records[number]
        if isRepaired(number) { view.repairedRecords[id] = true }
        switch repair.places[number] {
        case .live:
            view.live[id] = record(number)
            noteDeletes(of: number, in: &view)
            if let clone = graph.clones[number] { return view.clones[id] = fold.records[clone.holder] }
            view.put(concurrent(number), at: id)
        case .out(let reason):
            let entry = RecordView.Quarantined(
                record: record(number), reason: told(reason), group: group(of: number),
                isDecided: isDecided(number, reason))
            if isToGo(number, reason) { view.dropped[id] = entry } else { view.quarantine[id] = entry }
            // (Whether one that was deleted and edited at once comes back is for somebody to decide.)
            if reason != .deletedWhileEdited { noteDeletes(of: number, in: &view) }
            view.put(concurrent(number), at: id)
        case .absent, .spare:
            switch graph.lives[number] {
            case .alive, .contested:
                view.aliases[id] = fold.records[graph.names[number]]
                view.rivals[id] = rival(number)
            case .dead: view.deadRecords[id] = true
            case .unknown: if graph.isMentioned(number) { view.unknownRecords[id] = true }
            }
        }
    }

    private func isRepaired(_ number: Int) -> Bool {
        switch repair.places[number] {
        case .out: true
        case .spare: false
        case .absent: graph.names[number] != number
        case .live:
            graph.clones[number] != nil || isRevived(number) || isDeprived(number)
        }
    }

    private func noteDeletes(of number: Int, in view: inout RecordView) {
        let id = fold.records[number]
        if isRevived(number) { view.revivedRecords[id] = true }
        view.outlivedDeletes[id] = outlivedDelete(number)
    }

    private func isRevived(_ number: Int) -> Bool { fold.states[number].isDead(in: fold.history) }

    private func outlivedDelete(_ number: Int) -> UInt64? {
        fold.states[number].standingDeletes(in: fold.history).map(fold.history.wall).min()
    }

    /// Somebody whom its latest writes want is not with it. (Of two heads that want different ones the later counts, and that is no repair.)
    private func isDeprived(_ number: Int) -> Bool {
        graph.edgesOf[number].contains { edge in
            let wanted = graph.edges[edge]
            guard !repair.isAccepted[edge], wanted.owner == number, wanted.insteadOf == nil, let target = wanted.target
            else { return false }
            let isLatest = graph.states[number].links.allSatisfy { register in
                !register.heads.contains { $0.write == wanted.write } || register.heads.last?.write == wanted.write
            }
            return isLatest && !isWith(number, target, by: wanted.relation)
        }
    }

    /// Two writes may want the same.
    private func isWith(_ owner: Int, _ target: Int, by relation: Int) -> Bool {
        graph.edgesOf[owner].contains { edge in
            repair.isAccepted[edge] && graph.edges[edge].owner == owner && graph.edges[edge].target == target
                && graph.edges[edge].relation == relation
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
            let linked = partners(of: number, at: slot, by: held(number, at: slot))
            let pending = partners(of: number, at: slot, by: repair.pending(at: number, by: slot))
            if !linked.isEmpty { record.links[property] = linked.map(\.id) }
            if !pending.isEmpty { record.pending[property] = pending.map(\.id) }
            for partner in linked + pending where slot.end.isOrdered {
                record.orders[property, default: [:]][partner.id] = partner.order
            }
        }
        return record
    }

    /// Of what is live those that hold a place; of what is not, everybody it wants by a side of its own.
    private func held(_ number: Int, at slot: ModelIndex.Slot) -> [Int] {
        graph.edges(at: number, by: slot).filter { edge in
            repair.isLive(number) ? repair.isAccepted[edge] : slot.isOwner && graph.edges[edge].insteadOf == nil
        }
    }

    private func partners(
        of number: Int, at slot: ModelIndex.Slot, by edges: [Int]
    ) -> [(order: [UInt8], id: RecordID)] {
        let partners = edges.compactMap { edge in
            graph.edges[edge].other(than: number).map { (order: graph.edges[edge].order, id: fold.records[$0]) }
        }
        guard slot.end.isOrdered else { return partners.sorted { $0.id < $1.id } }
        return partners.sorted { left, right in
            left.order == right.order ? left.id < right.id : left.order.lexicographicallyPrecedes(right.order)
        }
    }

    /// True if all who have taken the places at the holder had seen that this one wants one: by `conflicts take`, or by a save that gives
    /// the place to another. Where the holder names whom it wants, such a write overtakes the one before it, and nobody names the loser.
    private func isDecided(_ number: Int, _ reason: Repair.Reason) -> Bool {
        guard case .lostSlot(let relation, let isOwner, let holder, _) = reason else { return false }
        let wanted = graph.edgesOf[number].map { graph.edges[$0] }.filter { edge in
            edge.relation == relation && edge.insteadOf == nil && edge.other(than: number) == holder
                && (isOwner ? edge.owner : edge.target) == number
        }
        let taken = graph.edgesOf[holder].filter { repair.isAccepted[$0] }.map { graph.edges[$0] }.filter { edge in
            edge.relation == relation && edge.target != nil && (isOwner ? edge.target : edge.owner) == holder
        }
        return !wanted.isEmpty && !taken.isEmpty
            && taken.allSatisfy { taker in wanted.allSatisfy { isChosen(taker, over: $0, at: holder) } }
    }

    /// A save that gives the place to somebody new has chosen him. One that wants it for the loser, and says of whoever had it that he has it
    /// still, has not: it was made without knowing of him (`Upkeep`).
    private func isChosen(_ taker: Graph.Edge, over wanted: Graph.Edge, at holder: Int) -> Bool {
        let isNew = taker.other(than: holder).flatMap { fold.birth(of: $0) }?.change == taker.write.change
        return fold.history.saw(taker.write, wanted.write) && (isNew || taker.write.change != wanted.write.change)
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
        let targets = graph.slots(of: owner).filter { $0.isOwner && $0.relation == fold.relation(property, of: owner) }
            .flatMap { slot in
                graph.edges(at: owner, by: slot).filter { repair.isAccepted[$0] } + repair.pending(at: owner, by: slot)
            }
            .compactMap { graph.edges[$0].target }
        return target.map { targets.contains(graph.names[$0]) } ?? targets.isEmpty
    }

    private func write(
        _ number: Int, _ property: Int, _ write: Write, _ content: RecordView.ConcurrentWrite.Content
    ) -> RecordView.ConcurrentWrite {
        RecordView.ConcurrentWrite(
            record: fold.records[number], property: fold.properties[property],
            write: fold.history.stamp(of: write), content: content)
    }
}

// MARK: - Second names

extension ViewMaker {
    /// Nil if what was told to the second name is nowhere beside something else that was told to another, and that nobody who saw both
    /// has overtaken.
    private func rival(_ number: Int) -> RecordView.Rival? {
        let eldest = graph.names[number]
        guard eldest != number, let entity = graph.entity(of: number) else { return nil }
        let (own, all) = (fold.states[number], graph.states[eldest])
        var rival = RecordView.Rival()
        for register in all.values where graph.shown(register, of: eldest)?.isJoined == false {
            let name = fold.properties[register.property]
            guard name != .location, !entity.identity.contains(name) else { continue }
            let told = own.values.first { $0.property == register.property }?.heads.map(\.write) ?? []
            guard areApart(register.heads, told) else { continue }
            rival.values.append(name)
            rival.shown.values[name] = register.heads.last?.value
        }
        for register in all.links {
            let name = fold.properties[register.property]
            let told = own.links.first { $0.property == register.property }?.heads.map(\.write) ?? []
            let heads = register.heads.map { (write: $0.write, value: $0.value.target.map { graph.names[$0] }) }
            guard areApart(heads, told) else { continue }
            rival.links.append(name)
            rival.shown.links[name] = heads.last?.value.map { [fold.records[$0]] }
        }
        guard !rival.values.isEmpty || !rival.links.isEmpty else { return nil }
        rival.values.sort()
        rival.links.sort()
        rival.own = told(number)
        rival.eldest = told(eldest)
        return rival
    }

    /// One of the heads was told to this name, and another that says something else was not.
    private func areApart<Value: Equatable>(_ heads: [(write: Write, value: Value)], _ told: [Write]) -> Bool {
        let own = heads.filter { told.contains($0.write) }
        return heads.contains { head in !told.contains(head.write) && own.contains { $0.value != head.value } }
    }

    /// What was told to one name alone.
    private func told(_ number: Int) -> RecordView.Record {
        var record = RecordView.Record()
        for register in fold.states[number].values {
            if let value = graph.shown(register, of: number)?.value {
                record.values[fold.properties[register.property]] = value
            }
        }
        for register in fold.states[number].links {
            if let target = register.heads.last?.value.target {
                record.links[fold.properties[register.property]] = [fold.records[graph.names[target]]]
            }
        }
        for (key, heads) in fold.states[number].edges where heads.contains(where: { $0.order != nil }) {
            record.links[fold.properties[key.property], default: []].append(fold.records[graph.names[key.target]])
        }
        for name in Array(record.links.keys) { record.links.update(name) { $0.sort() } }
        return record
    }
}
