/// What a step of `RecordSpace` does once the new sets are noted: fold and repair what they touch, and put the outcome
/// where the old one was.
public import SyncModel

extension RecordSpace {
    mutating func settle(_ news: News) -> Change {
        var before: SortedMap<RecordID, RecordFacts> = [:]
        var touched = news.isPlain.filter { !$0.value || !mayStayPut($0.key) }.map(\.key)
        let reached = reach(of: touched)
        let plain = news.isPlain.filter { $0.value && reached[$0.key] == nil }.map(\.key)
        for (id, facts) in zip(plain, revalued(plain)) {
            if let facts { replace(id, by: facts, noting: &before) } else { touched.append(id) }
        }
        if !touched.isEmpty { repair(reach(of: touched), noting: &before) }
        return change(from: before, files: news.files)
    }

    /// A record may have been replaced more than once.
    private func change(from before: SortedMap<RecordID, RecordFacts>, files: SortedMap<Path, Bool>) -> Change {
        var change = Change()
        var files = files
        for (id, old) in before {
            let new = view.facts(of: id)
            if old == new { continue }
            change.records.append(id)
            if old.quarantined != new.quarantined || old.dropped != new.dropped { change.quarantine.append(id) }
            if old.quarantined == nil, new.quarantined != nil { change.quarantined.append(id) }
            if !old.isRepaired, new.isRepaired { change.repaired.append(id) }
            if old.alias != new.alias { change.aliases.append(id) }
            if old.live == new.live { continue }
            for path in [old.live, new.live].compactMap({ path(of: id, $0) }) { files[path] = true }
        }
        change.files = Array(files.keys)
        return change
    }

    private func path(of id: RecordID, _ record: RecordView.Record?) -> Path? {
        record.flatMap { RecordRenderer.path(of: id, $0, model) }
    }

    /// Where a second name would stand by itself.
    public func path(ofSecondName id: RecordID) -> Path? {
        let graph = graph(of: CollectionOfOne(id))
        return graph.fold.number(of: id).flatMap { path(of: id, ViewMaker(Repair(graph)).facts(of: $0).record) }
    }

    // MARK: - Values only

    /// Nothing that others see of it can change with its values: it is live, under its own name only, and no delete is
    /// to be weighed.
    private func mayStayPut(_ id: RecordID) -> Bool {
        guard let trace = traces[id], view.live.contains(key: id), !trace.isEverDeleted else { return false }
        if index.hasForks, view.clones[id] != nil || trace.ties.wantedBy.keys.contains(where: { view.clones[$0] == id })
        {
            return false
        }
        return trace.key.map { namesakes[$0]?.count == 1 } ?? true
    }

    /// In the same order; nil for those whose values break a rule now. They are folded together, because to begin a fold costs more
    /// than a record in it, and nothing but values is taken of it.
    private func revalued(_ ids: [RecordID]) -> [RecordFacts?] {
        if ids.isEmpty { return [] }
        let graph = graph(of: ids)
        let maker = ViewMaker(Repair(graph))
        return ids.map { id in
            guard let number = graph.fold.number(of: id), graph.invalidField(of: number) == nil else { return nil }
            let part = maker.facts(of: number)
            var facts = view.facts(of: id)
            facts.live?.values = part.record?.values ?? [:]
            facts.concurrent = (facts.concurrent.filter { !$0.isValue } + part.concurrent.filter(\.isValue))
                .sorted { ($0.property, $0.write) < ($1.property, $1.write) }
            return facts
        }
    }

    // MARK: - Components

    private mutating func repair(
        _ seeds: SortedMap<RecordID, Bool>, noting before: inout SortedMap<RecordID, RecordFacts>
    ) {
        let (reached, graph) = whole(around: seeds)
        let part = ViewMaker(Repair(graph)).view()
        rename(reached, keys(of: graph))
        for (id, _) in reached {
            replace(id, by: part.facts(of: id), noting: &before)
            retie(id, graph.fold.number(of: id).map { graph.fold.states[$0] } ?? RecordState(), graph.fold)
        }
        for (number, holder) in graph.cloneNames {
            let id = graph.fold.records[number]
            if reached[id] == nil { replace(id, by: part.facts(of: id), noting: &before) }
            // Whatever is written to it may give the place to who lost it, or take it: also where it is a record of its own.
            tie(id, to: [graph.fold.records[holder]])
        }
        for (id, _) in reached {
            if let trace = traces[id], trace.writes.isEmpty, trace.ties.isEmpty { traces[id] = nil }
        }
    }

    /// Records that come to stand for the same thing as others take those along.
    private func whole(around seeds: SortedMap<RecordID, Bool>) -> (reached: SortedMap<RecordID, Bool>, graph: Graph) {
        var reached = seeds
        while true {
            let graph = graph(of: reached.keys)
            let keys = SortedMap(keys(of: graph).map { ($0.key, true) })
            let members = keys.flatMap { Array((namesakes[$0.key] ?? [:]).keys) }
            let written = graph.cloneNames.keys.map { graph.fold.records[$0] }.filter { traces.contains(key: $0) }
            let more = (members + written).filter { reached[$0] == nil }
            if more.isEmpty { return (reached, graph) }
            reached = reach(of: Array(reached.keys) + more)
        }
    }

    /// What these records alone come to.
    func graph(of records: some Sequence<RecordID>) -> Graph {
        let places = records.flatMap { traces[$0]?.writes ?? [] }.sorted()
        var parts: [ChangeSet] = []
        var start = 0
        while start < places.count {
            let end = places[start...].firstIndex { $0.set != places[start].set } ?? places.count
            if let set = sets[places[start].set] { parts.append(part(of: set, places[start..<end])) }
            start = end
        }
        return Graph(Fold(History(parts), model: index))
    }

    private func part(of set: ChangeSet, _ places: ArraySlice<OperationPlace>) -> ChangeSet {
        let kept = places.map { (number: set.number(of: $0.place), operation: set.operations[$0.place]) }
        return ChangeSet(set, keeping: kept, files: [])
    }

    /// Of all that are there, and of a kind that can stand for the same thing as another.
    private func keys(of graph: Graph) -> [(id: RecordID, key: IdentityKey)] {
        graph.fold.records.indices.compactMap { number in
            guard graph.lives[number] == .alive, let entity = graph.entity(of: number),
                entity.isSingleton || !entity.identity.isEmpty
            else { return nil }
            return graph.key(of: number, entity).map { (graph.fold.records[number], $0) }
        }
    }

    private mutating func rename(_ reached: SortedMap<RecordID, Bool>, _ keys: [(id: RecordID, key: IdentityKey)]) {
        for (id, _) in reached {
            guard let key = traces[id]?.key else { continue }
            namesakes[key, default: [:]][id] = nil
            if namesakes[key]?.isEmpty == true { namesakes[key] = nil }
            traces.update(id) { $0.key = nil }
        }
        for (id, key) in keys {
            namesakes[key, default: [:]][id] = true
            traces.update(id) { $0.key = key }
        }
    }

    // MARK: - The view

    private mutating func replace(
        _ id: RecordID, by facts: RecordFacts, noting before: inout SortedMap<RecordID, RecordFacts>
    ) {
        let old = view.facts(of: id)
        if old == facts { return }
        if !before.contains(key: id) { before[id] = old }
        view.put(facts, at: id)
        let (from, to) = (path(of: id, old.live), path(of: id, facts.live))
        if from == to { return }
        if let from {
            files[from, default: [:]][id] = nil
            if files[from]?.isEmpty == true { files[from] = nil }
        }
        if let to { files[to, default: [:]][id] = true }
    }
}

extension RecordView.ConcurrentWrite {
    fileprivate var isValue: Bool { if case .value = content { true } else { false } }
}
