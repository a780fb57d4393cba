/// What the oracle says of copies for those that lose a place.
import RecordMerge
import SyncModel

extension Oracle {
    struct Clone {
        let holder: String
        let wanter: String
    }

    /// By id, with the wish for each and what it wants like its original.
    func clones(_ wishes: [Wish]) -> ([String: Clone], [Wish]) {
        var clones: [String: Clone] = [:]
        var named: Set<String> = []
        var more: [Wish] = []
        for (wish, seat, holder, wanter) in wishes.flatMap(seats) where isContested(seat, holder, wishes) {
            let id = name(holder, wanter)
            if holder == wanter || !isFree(id) || !named.insert(id).inserted { continue }
            more.append(
                Wish(
                    relation: wish.relation, owner: seat.isOwner ? id : wish.owner,
                    target: seat.isOwner ? wish.target : id, rank: wish.rank, order: wish.order, instead: holder))
            if isKnown(id) { continue }
            clones[id] = Clone(holder: holder, wanter: wanter)
            more += wishes.filter { $0.owner == holder && $0.relation != wish.relation && $0.target != holder }.map {
                Wish(
                    relation: $0.relation, owner: id, target: $0.target, rank: $0.rank, order: $0.order,
                    instead: holder)
            }
        }
        return (clones, more)
    }

    /// Both ends of a wish, each as the one who holds the place that the other wants.
    private func seats(_ wish: Wish) -> [(wish: Wish, seat: Seat, holder: String, wanter: String)] {
        guard let relation = model.relations.first(where: { $0.name == wish.relation }), let target = wish.target else {
            return []
        }
        return [
            (wish, Seat(relation: relation, isOwner: true), wish.owner, target),
            (wish, Seat(relation: relation, isOwner: false), target, wish.owner),
        ]
    }

    private func isFree(_ id: String) -> Bool {
        isKnown(id) ? alive.contains(id) : !of(id).contains { $0.isDelete }
    }

    private func isContested(_ seat: Seat, _ holder: String, _ wishes: [Wish]) -> Bool {
        guard seat.end.onContest == .fork, let max = seat.end.countMax, let entity = entity(holder),
            alive.contains(holder) || contested.contains(holder), !entity.isSingleton, entity.identity.isEmpty
        else { return false }
        let rivals = wishes.filter {
            $0.relation == seat.relation.name && (seat.isOwner ? $0.owner : $0.target) == holder && $0.target != nil
        }
        return rivals.count > max
    }

    private func name(_ holder: String, _ wanter: String) -> String {
        var writer = ByteWriter()
        writer.putRaw(Array("syncd fork 1".utf8))
        for id in [holder, wanter] {
            let parts = id.split(separator: "/", maxSplits: 1)
            for part in parts { writer.putCounted(Array(part.utf8)) }
        }
        return "\(holder.split(separator: "/")[0])/\(SHA256.digest(of: writer.bytes).hex(digits: 32))"
    }
}
