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
            let pending = oracle.pending(id, outcome, wishes)
            let record = oracle.record(id, outcome.held, pending, isLive: true, values: oracle.members(clone.holder))
            return "live \(id) \(record)"
        }
        return (oracle.ids.flatMap { oracle.lines($0, outcome, wishes) } + copies).sorted()
    }

    private func lines(_ id: String, _ outcome: Outcome, _ wishes: [Wish]) -> [String] {
        if !isKnown(id) {
            if outcome.clones[id] != nil, outcome.live.contains(id) { return [] }
            let isWanted = wishes.contains { $0.instead == nil && ($0.owner == id || $0.target == id) }
            return of(id).isEmpty && !isWanted ? [] : ["unknown \(id)"]
        }
        if let main = standsFor[id] { return ["alias \(id) \(main)"] }
        if outcome.live.contains(id) {
            let pending = pending(id, outcome, wishes)
            return ["live \(id) \(record(id, outcome.held, pending, isLive: true))"]
                + concurrent(id, outcome.held + pending)
        }
        guard let reason = outcome.out[id] else { return ["dead \(id)"] }
        let place = isToGo(id, reason) ? "dropped" : "out"
        return ["\(place) \(id) \(record(id, wishes, [], isLive: false)) \(reason)"] + concurrent(id, outcome.held)
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

    /// What a live record asks of those whom nobody made: each once, the latest first, as long as there is room beside what is held. A
    /// wish for nobody, where it is held, takes the room of all that was wished before it.
    private func pending(_ id: String, _ outcome: Outcome, _ wishes: [Wish]) -> [Wish] {
        seats(id).flatMap { seat -> [Wish] in
            let isHere: (Wish) -> Bool = { wish in
                wish.relation == seat.relation.name && (seat.isOwner ? wish.owner : wish.target) == id
            }
            let held = outcome.held.filter(isHere)
            let unmade = wishes.filter(isHere).filter { wish in
                guard let partner = seat.isOwner ? wish.target : wish.owner else { return false }
                return !isKnown(partner) && !outcome.live.contains(partner)
                    && (wish.instead == nil || seat.isOwner && outcome.clones[id] != nil)
            }
            var chosen: [Wish] = []
            for wish in unmade.sorted(by: { $0.rank > $1.rank }) {
                if chosen.contains(where: { $0.owner == wish.owner && $0.target == wish.target }) { continue }
                let before = held.filter { $0.target != nil || $0.rank > wish.rank }
                if before.count + chosen.count < seat.end.countMax ?? .max { chosen.append(wish) }
            }
            return chosen
        }
    }

    private func record(
        _ id: String, _ wishes: [Wish], _ pending: [Wish], isLive: Bool, values: [String]? = nil
    ) -> String {
        let names = values ?? members(id)
        var facts = valueNames(names).compactMap { name in value(names, name).map { "\(name)=\($0)" } }
        for seat in seats(id) {
            guard let property = seat.end.property, isLive || seat.isOwner else { continue }
            for (sign, wishes) in [("=", wishes.filter { isLive || $0.instead == nil }), ("?", pending)] {
                let partners = sorted(asked(wishes, id, seat), seat).map(\.partner)
                if !partners.isEmpty { facts.append("\(property)\(sign)[\(partners.joined(separator: " "))]") }
            }
        }
        return "{" + facts.sorted().joined(separator: " ") + "}"
    }

    private func sorted(
        _ partners: [(wish: Wish, partner: String)], _ seat: Seat
    ) -> [(wish: Wish, partner: String)] {
        partners.sorted { left, right in
            if seat.end.isOrdered, left.wish.order != right.wish.order {
                return left.wish.order.lexicographicallyPrecedes(right.wish.order)
            }
            return left.partner.utf8.lexicographicallyPrecedes(right.partner.utf8)
        }
    }

    /// `stands` is what the files say.
    private func concurrent(_ id: String, _ stands: [Wish]) -> [String] {
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
            let shown = stands.filter { $0.relation == relation.name && $0.owner == id }.compactMap(\.target)
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
            let about = heads(members(id)) { $0.isAbout(name, target) }
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
