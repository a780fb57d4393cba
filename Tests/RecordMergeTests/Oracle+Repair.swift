/// The second half of the oracle: who comes back, who gets which place, who leaves and who returns.
import RecordMerge
import SyncModel

extension Oracle {
    /// One end of a relation, as seen by a record of its entity.
    struct Seat {
        let relation: Relation
        let isOwner: Bool
        var end: Relation.End { isOwner ? relation.owner : relation.target }
        var opposite: Relation.End { isOwner ? relation.target : relation.owner }
    }

    func seats(_ id: String) -> [Seat] {
        model.relations.flatMap { [Seat(relation: $0, isOwner: true), Seat(relation: $0, isOwner: false)] }
            .filter { $0.end.entity == entity(id)?.name }
    }

    func asked(_ wishes: [Wish], _ id: String, _ seat: Seat) -> [(wish: Wish, partner: String)] {
        wishes.filter { $0.relation == seat.relation.name && (seat.isOwner ? $0.owner : $0.target) == id }
            .compactMap { wish in (seat.isOwner ? wish.target : wish.owner).map { (wish, $0) } }
    }

    func isDead(_ id: String) -> Bool { isKnown(id) && !alive.contains(id) && !contested.contains(id) }

    /// True if somebody came back.
    mutating func revive() -> Bool {
        let wishes = wishes()
        var back: Set<String> = []
        for id in ids where alive.contains(id) && main(id) == id {
            for seat in seats(id) where seat.end.isRequired {
                let asked = asked(wishes, id, seat)
                guard let first = asked.first, asked.allSatisfy({ isDead($0.partner) }) else { continue }
                let link = acts[first.wish.rank]
                let deletes = standing(first.partner)
                let undone = Set(standing(id).map(\.change))
                let isUnknown = deletes.allSatisfy { !saw($0, link) && !isLate(link, after: $0) }
                if isUnknown || deletes.allSatisfy({ undone.contains($0.change) }) {
                    back.insert(first.partner)
                }
            }
        }
        for id in ids where isDead(id) {
            for seat in seats(id) where seat.end.onDelete == .deny {
                for (wish, partner) in asked(wishes, id, seat) where alive.contains(partner) {
                    let link = acts[wish.rank]
                    if standing(id).allSatisfy({ !saw($0, link) && !isLate(link, after: $0) }) { back.insert(id) }
                }
            }
        }
        alive.formUnion(back)
        return !back.isEmpty
    }

    struct Outcome {
        var clones: [String: Clone] = [:]
        var live: Set<String> = []
        var out: [String: String] = [:]
        var held: [Wish] = []
    }

    private func count(_ held: [Wish], _ id: String, _ seat: Seat) -> Int { asked(held, id, seat).count }

    private func fits(_ wish: Wish, _ held: [Wish], _ live: Set<String>) -> Bool {
        let needed = [wish.owner, wish.target, wish.instead].compactMap(\.self)
        guard needed.allSatisfy(live.contains),
            let relation = model.relations.first(where: { $0.name == wish.relation })
        else { return false }
        if held.contains(where: { $0.relation == wish.relation && $0.owner == wish.owner && $0.target == wish.target })
        {
            return false
        }
        let ofOwner = held.filter { $0.relation == wish.relation && $0.owner == wish.owner }.count
        let ofTarget =
            wish.target == nil ? 0 : held.filter { $0.relation == wish.relation && $0.target == wish.target }.count
        return ofOwner < relation.owner.countMax ?? .max
            && (wish.target == nil || ofTarget < relation.target.countMax ?? .max)
    }

    func outcome() -> (Outcome, [Wish]) {
        let (clones, more) = clones(wishes())
        let wishes = wishes() + homes(wishes()) + more
        var outcome = Outcome(clones: clones)
        for id in ids where main(id) == id {
            if contested.contains(id) { outcome.out[id] = "deletedWhileEdited" }
            guard alive.contains(id) else { continue }
            if let name = invalid(id) { outcome.out[id] = "invalidValue \(name)" } else { outcome.live.insert(id) }
        }
        repeat {
            outcome.held = []
            for wish in wishes where fits(wish, outcome.held, outcome.live) { outcome.held.append(wish) }
        } while shrink(&outcome, wishes)
        while grow(&outcome, wishes) {}
        return (outcome, wishes)
    }

    private func homes(_ wishes: [Wish]) -> [Wish] {
        wishes.flatMap { wish -> [Wish] in
            guard let target = wish.target, let relation = model.relations.first(where: { $0.name == wish.relation })
            else { return [] }
            var homes: [Wish] = []
            if case .rehome(let key) = relation.owner.onContest {
                let home = main(RecordID(relation.owner.entity, key).description)
                homes.append(
                    Wish(
                        relation: wish.relation, owner: home, target: target, rank: wish.rank, order: wish.order,
                        instead: wish.owner))
            }
            if case .rehome(let key) = relation.target.onContest {
                let home = main(RecordID(relation.target.entity, key).description)
                homes.append(
                    Wish(
                        relation: wish.relation, owner: wish.owner, target: home, rank: wish.rank, order: wish.order,
                        instead: target))
            }
            return homes
        }
    }

    private func invalid(_ id: String) -> PropertyName? {
        entity(id)?.fields.first { field in
            guard let value = value(members(id), field.name), value.kind != .null else { return field.isRequired }
            let text = value.description
            return switch field.type {
            case .any: false
            case .string: !text.hasPrefix("\"")
            case .integer: Int(text) == nil
            case .number: Double(text) == nil
            case .bool: text != "true" && text != "false"
            case .array: !text.hasPrefix("[")
            case .object: !text.hasPrefix("{")
            }
        }?.name
    }

    private func shrink(_ outcome: inout Outcome, _ wishes: [Wish]) -> Bool {
        var hard: [String: String] = [:]
        var soft: [String: String] = [:]
        for id in outcome.live {
            for seat in seats(id) where seat.end.isRequired && count(outcome.held, id, seat) == 0 {
                let asked = asked(wishes, id, seat)
                if let holder = asked.first(where: { outcome.live.contains($0.partner) })?.partner {
                    let other = Seat(relation: seat.relation, isOwner: !seat.isOwner)
                    let winner = self.asked(outcome.held, holder, other).min { $0.wish.rank < $1.wish.rank }?.partner
                    soft[id] = soft[id] ?? "lostSlot \(seat.relation.name) \(holder) \(winner ?? holder)"
                } else {
                    let text = asked.first.map { "gone \(seat.relation.name) \($0.partner)" }
                    hard[id] = hard[id] ?? text ?? "missing \(seat.relation.name)"
                }
            }
        }
        let leaving = hard.isEmpty ? soft : hard
        outcome.live.subtract(leaving.keys)
        outcome.out.merge(leaving) { $1 }
        return !leaving.isEmpty
    }

    private func mayReturn(_ id: String, _ outcome: Outcome) -> Bool {
        guard let reason = outcome.out[id], !outcome.live.contains(id) else { return false }
        return !reason.hasPrefix("invalid") && !reason.hasPrefix("deleted")
    }

    /// One pass over all that is out, the latest first. True if somebody returned.
    private func grow(_ outcome: inout Outcome, _ wishes: [Wish]) -> Bool {
        func weight(_ id: String) -> Int {
            wishes.first { $0.owner == id || $0.target == id }?.rank ?? birth(of: id)
        }
        var hasGrown = false
        let order = outcome.out.keys.sorted { (weight($0), $1) > (weight($1), $0) }
        for id in order where mayReturn(id, outcome) {
            guard let (group, held) = group(id, outcome, wishes) else { continue }
            outcome.live.formUnion(group)
            for member in group { outcome.out[member] = nil }
            outcome.held += held
            for wish in wishes
            where [wish.owner, wish.target].contains(where: { $0.map(group.contains) ?? false })
                && fits(wish, outcome.held, outcome.live)
            {
                outcome.held.append(wish)
            }
            hasGrown = true
        }
        return hasGrown
    }

    private func birth(of id: String) -> Int { of(id).first { $0.isBirth }?.rank ?? -1 }

    private func group(_ id: String, _ outcome: Outcome, _ wishes: [Wish]) -> ([String], [Wish])? {
        var group = [id]
        var held: [Wish] = []
        var next = 0
        while next < group.count {
            let member = group[next]
            next += 1
            for seat in seats(member) where seat.end.isRequired {
                let asked = asked(wishes, member, seat)
                if asked.contains(where: { held.contains($0.wish) }) { continue }
                let free = asked.filter { candidate in
                    let ends = [candidate.wish.owner, candidate.wish.target ?? ""]
                    return fits(candidate.wish, outcome.held + held, outcome.live.union(ends))
                }
                let choice =
                    free.first { outcome.live.contains($0.partner) }
                    ?? free.first {
                        mayReturn($0.partner, outcome) || outcome.clones[$0.partner]?.wanter == member
                    }
                guard let choice else { return nil }
                held.append(choice.wish)
                if !outcome.live.contains(choice.partner), !group.contains(choice.partner) {
                    group.append(choice.partner)
                }
            }
        }
        return (group, held)
    }
}
