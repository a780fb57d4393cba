/// What the oracle says, in the same lines as `RecordView.lines`.
import RecordMerge
import SyncModel

extension Oracle {
    static func lines(_ changes: [ChangeSet], _ model: Model) -> [String] {
        var oracle = Oracle(changes, model)
        oracle.judgeLives()
        repeat { oracle.nameAll() } while oracle.revive()
        let (outcome, wishes) = oracle.outcome()
        let copies = outcome.clones.filter { outcome.live.contains($0.key) }.map { id, clone in
            "live \(id) \(oracle.record(id, outcome.held, isLive: true, values: oracle.members(clone.holder)))"
        }
        return (oracle.ids.flatMap { oracle.lines($0, outcome, wishes) } + copies).sorted()
    }

    private func lines(_ id: String, _ outcome: Outcome, _ wishes: [Wish]) -> [String] {
        if !isKnown(id) {
            let isWanted = wishes.contains { $0.instead == nil && ($0.owner == id || $0.target == id) }
            return of(id).isEmpty && !isWanted ? [] : ["unknown \(id)"]
        }
        if let main = standsFor[id] { return ["alias \(id) \(main)"] }
        if outcome.live.contains(id) {
            return ["live \(id) \(record(id, outcome.held, isLive: true))"] + concurrent(id, outcome)
        }
        guard let reason = outcome.out[id] else { return ["dead \(id)"] }
        let place = isToGo(id, reason) ? "dropped" : "out"
        return ["\(place) \(id) \(record(id, wishes, isLive: false)) \(reason)"] + concurrent(id, outcome)
    }

    private func isToGo(_ id: String, _ reason: String) -> Bool {
        if reason.hasPrefix("invalid") { return entity(id)?.onInvalid == .delete }
        guard reason.hasPrefix("lostSlot") else { return false }
        let holder = reason.split(separator: " ")[2]
        return seats(id).contains { seat in
            reason.hasPrefix("lostSlot \(seat.relation.name) ") && seat.opposite.onContest == .delete
                && holder.hasPrefix("\(seat.opposite.entity)/")
        }
    }

    private func record(_ id: String, _ wishes: [Wish], isLive: Bool, values: [String]? = nil) -> String {
        let names = values ?? members(id)
        var facts = valueNames(names).compactMap { name in value(names, name).map { "\(name)=\($0)" } }
        for seat in seats(id) {
            guard let property = seat.end.property, isLive || seat.isOwner else { continue }
            var partners = asked(wishes.filter { isLive || $0.instead == nil }, id, seat)
            partners.sort { left, right in
                if seat.end.isOrdered, left.wish.order != right.wish.order {
                    return left.wish.order.lexicographicallyPrecedes(right.wish.order)
                }
                return left.partner.utf8.lexicographicallyPrecedes(right.partner.utf8)
            }
            if !partners.isEmpty { facts.append("\(property)=[\(partners.map(\.partner).joined(separator: " "))]") }
        }
        return "{" + facts.sorted().joined(separator: " ") + "}"
    }

    private func concurrent(_ id: String, _ outcome: Outcome) -> [String] {
        let names = members(id)
        var lines: [String] = []
        for name in valueNames(names) where joined(names, name) == nil {
            for head in valueHeads(names, name).dropLast() {
                guard case .set(_, let value) = head.action else { continue }
                lines.append(line(id, name, value?.description ?? "none", head))
            }
        }
        for relation in model.relations where relation.name.entity == entity(id)?.name {
            let name = relation.name.property
            let shown = outcome.held.filter { $0.relation == relation.name && $0.owner == id }.compactMap(\.target)
            let heads = linkHeads(names, name)
            for head in heads where heads.count > 1 {
                guard case .link(_, let key, _) = head.action else { continue }
                let target = key.map { RecordID(relation.target.entity, $0).description }
                if target.map({ shown.contains(main($0)) }) ?? shown.isEmpty { continue }
                lines.append(line(id, name, target.map { "-> \($0)" } ?? "-> nothing", head))
            }
            lines += removals(id, relation)
        }
        return lines
    }

    private func removals(_ id: String, _ relation: Relation) -> [String] {
        let writes = valid(members(id))
        let removals = writes.filter { if case .remove(relation.name.property, _) = $0.action { true } else { false } }
        return removals.compactMap { removal in
            guard case .remove(let name, let target) = removal.action else { return nil }
            let about = heads(writes.filter { $0.isAbout(name, target) })
            guard about.contains(where: { $0.rank == removal.rank }), about.contains(where: \.isAdding) else {
                return nil
            }
            return line(id, name, "without \(RecordID(relation.target.entity, target))", removal)
        }
    }

    private func line(_ id: String, _ name: PropertyName, _ content: String, _ act: Act) -> String {
        "concurrent \(id).\(name) \(content) by \(act.author) \(act.seq).\(act.index)"
    }
}
