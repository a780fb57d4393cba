/// Records that left come back where there is room after all, in descending K, with what they need. Nothing live moves.
import SyncModel

extension Repair {
    mutating func grow(_ component: Component) {
        var waiting = component.records.filter { mayReturn($0) }.sorted { isLater($0, $1) }
        var hasGrown = true
        while hasGrown {
            hasGrown = false
            for record in waiting where !isLive(record) {
                if let group = group(around: record) {
                    admit(group)
                    hasGrown = true
                }
            }
            waiting.removeAll { isLive($0) }
        }
    }

    /// What has to come back together, and the edges that hold it.
    private struct Group {
        var records: [Int]
        var edges: [Int] = []
    }

    private func mayReturn(_ record: Int) -> Bool {
        guard case .out(let reason) = places[record] else { return false }
        return reason.mayReturn
    }

    /// By the latest edge that somebody wants for it; without any, by its birth.
    private func isLater(_ one: Int, _ other: Int) -> Bool {
        guard let left = weight(of: one), let right = weight(of: other), left != right else {
            return graph.fold.records[one] < graph.fold.records[other]
        }
        return left > right
    }

    private func weight(of record: Int) -> Write? {
        graph.edgesOf[record].first.map { graph.edges[$0].write } ?? graph.fold.birth(of: record)
    }

    /// Nil if something it needs has no room. The first choice that has room is taken; no other is tried afterwards.
    private func group(around record: Int) -> Group? {
        var group = Group(records: [record])
        var next = 0
        while next < group.records.count {
            let member = group.records[next]
            for slot in graph.slots(of: member) where slot.end.isRequired {
                guard let edge = choice(for: member, at: slot, in: group) else { return nil }
                if group.edges.contains(edge) { continue }
                group.edges.append(edge)
                if let partner = graph.edges[edge].other(than: member), !isLive(partner),
                    !group.records.contains(partner)
                {
                    group.records.append(partner)
                }
            }
            next += 1
        }
        return group
    }

    /// An edge of the group if there is one already, then to someone live, then to someone who would come back too.
    private func choice(for member: Int, at slot: ModelIndex.Slot, in group: Group) -> Int? {
        let candidates = graph.edges(at: member, by: slot)
        if let chosen = candidates.first(where: { group.edges.contains($0) }) { return chosen }
        let free = candidates.filter { hasRoom($0, beside: group) }
        func partner(_ edge: Int) -> Int { graph.edges[edge].other(than: member) ?? member }
        return free.first { isLive(partner($0)) }
            ?? free.first { mayReturn(partner($0)) || isClone(partner($0), for: member) }
    }

    private func isClone(_ record: Int, for member: Int) -> Bool {
        places[record] == .spare && graph.clones[record]?.wanter == member
    }

    private func hasRoom(_ number: Int, beside group: Group) -> Bool {
        let edge = graph.edges[number]
        guard let target = edge.target, edge.insteadOf.map(isLive) ?? true else { return false }
        let relation = graph.relation(of: edge)
        let alike = group.edges.map { graph.edges[$0] }.filter { $0.relation == edge.relation }
        let ofOwner = held[edge.owner][graph.model.ownerSlots[edge.relation]] + alike.count { $0.owner == edge.owner }
        let ofTarget = held[target][graph.model.targetSlots[edge.relation]] + alike.count { $0.target == target }
        return ofOwner < relation.owner.countMax ?? .max && ofTarget < relation.target.countMax ?? .max
    }

    private mutating func admit(_ group: Group) {
        for record in group.records { places[record] = .live }
        for edge in group.edges { accept(edge) }
        let wishes = group.records.flatMap { graph.edgesOf[$0] }.sorted()
        for edge in wishes { acceptIfFree(edge) }
    }
}
