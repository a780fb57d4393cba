/// By what records hang together: whom one wants, whom it would be given instead, and who wants it.
import SyncModel

struct Ties {
    /// By id.
    var wants: SortedMap<RecordID, Bool> = [:]
    var wantedBy: SortedMap<RecordID, Bool> = [:]

    var isEmpty: Bool { wants.isEmpty && wantedBy.isEmpty }
}

extension RecordSpace {
    /// Before anything is folded: perhaps too many, never too few.
    mutating func tie(_ owner: RecordID, toTargetsOf action: Operation.Action) {
        switch action {
        case .link(let name, let target?, _): tie(owner, to: wanted(by: owner, name, target))
        case .add(let name, let target, _): tie(owner, to: wanted(by: owner, name, target))
        case .link(_, nil, _), .insert, .delete, .restore, .set, .remove: break
        }
    }

    mutating func tie(_ owner: RecordID, to targets: [RecordID]) {
        for target in targets {
            traces[owner, default: Trace()].ties.wants[target] = true
            traces[target, default: Trace()].ties.wantedBy[owner] = true
        }
    }

    /// The target, and the homes of those that lose a place in this relation.
    private func wanted(by owner: RecordID, _ name: PropertyName, _ target: [UInt8]) -> [RecordID] {
        guard let number = index.relation(RelationName(owner.entity, name)) else { return [] }
        let relation = model.relations[number]
        let homes = [relation.owner, relation.target].compactMap { end in
            if case .rehome(let key) = end.onContest { RecordID(end.entity, key) } else { nil }
        }
        return [RecordID(relation.target.entity, target)] + homes
    }

    /// After folding: exactly what its heads want.
    mutating func retie(_ owner: RecordID, _ state: RecordState, _ fold: Fold) {
        var wants: SortedMap<RecordID, Bool> = [:]
        func want(_ property: Int, _ target: Int) {
            let targets = wanted(by: owner, fold.properties[property], fold.records[target].key)
            for target in targets { wants[target] = true }
        }
        for register in state.links {
            for head in register.heads { if let target = head.value.target { want(register.property, target) } }
        }
        for (key, heads) in state.edges where heads.contains(where: { $0.order != nil }) {
            want(key.property, key.target)
        }
        let before = traces[owner]?.ties.wants ?? [:]
        for (target, _) in before where wants[target] == nil { untie(owner, from: target) }
        if !wants.isEmpty { tie(owner, to: Array(wants.keys)) }
    }

    private mutating func untie(_ owner: RecordID, from target: RecordID) {
        traces.update(owner) { $0.ties.wants[target] = nil }
        traces.update(target) { $0.ties.wantedBy[owner] = nil }
    }

    /// These, and all that hang together with any of them.
    func reach(of seeds: some Sequence<RecordID>) -> SortedMap<RecordID, Bool> {
        var reached: SortedMap<RecordID, Bool> = [:]
        var stoodFor: SortedMap<IdentityKey, Bool> = [:]
        var waiting = Array(seeds)
        while let id = waiting.popLast() {
            if reached.updateValue(true, forKey: id) != nil { continue }
            guard let trace = traces[id] else { continue }
            waiting += trace.ties.wants.keys
            waiting += trace.ties.wantedBy.keys
            guard let key = trace.key, stoodFor.updateValue(true, forKey: key) == nil else { continue }
            waiting += (namesakes[key] ?? [:]).keys
        }
        return reached
    }
}
