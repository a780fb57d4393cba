/// Who gets which place: edges in descending K, each accepted while both its ends are there and have room.
extension Repair {
    mutating func match(_ component: Component) {
        for record in component.records {
            for slot in held[record].indices { held[record][slot] = 0 }
        }
        for edge in component.edges { isAccepted[edge] = false }
        for edge in component.edges { acceptIfFree(edge) }
    }

    mutating func acceptIfFree(_ number: Int) {
        guard !isAccepted[number], areEndsLive(number), hasRoom(number), !isRepeated(number) else { return }
        accept(number)
    }

    mutating func accept(_ number: Int) {
        let edge = graph.edges[number]
        isAccepted[number] = true
        held[edge.owner][graph.model.ownerSlots[edge.relation]] += 1
        if let target = edge.target { held[target][graph.model.targetSlots[edge.relation]] += 1 }
    }

    private func areEndsLive(_ number: Int) -> Bool {
        let edge = graph.edges[number]
        return isLive(edge.owner) && edge.target.map(isLive) ?? true && edge.insteadOf.map(isLive) ?? true
    }

    func hasRoom(_ number: Int) -> Bool {
        let edge = graph.edges[number]
        let relation = graph.relation(of: edge)
        let ofOwner = held[edge.owner][graph.model.ownerSlots[edge.relation]]
        if let max = relation.owner.countMax, ofOwner >= max { return false }
        guard let target = edge.target, let max = relation.target.countMax else { return true }
        return held[target][graph.model.targetSlots[edge.relation]] < max
    }

    /// Two writes may want the same: after aliases were joined, or in two heads.
    private func isRepeated(_ number: Int) -> Bool {
        guard graph.hasAliases else { return false }
        let edge = graph.edges[number]
        return graph.edgesOf[edge.owner].contains { other in
            isAccepted[other] && graph.edges[other].relation == edge.relation
                && graph.edges[other].owner == edge.owner && graph.edges[other].target == edge.target
        }
    }
}
