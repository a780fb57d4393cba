import SyncModel

/// Claims that wait for each other in a circle: found when the last of them begins to wait, and ended by refusing the youngest of this node, by
/// name. In every circle there is one: claims of the other node do not wait for each other here.
extension Coordinator {
    mutating func breakCircles(into effects: inout [Effect]) {
        while let suspect = suspects.last {
            guard let circle = circle(through: suspect), let youngest = youngest(of: circle) else {
                suspects.removeLast()
                continue
            }
            refuse(youngest, .wouldDeadlock(names(of: circle)), into: &effects)
        }
    }

    /// Agents, each of which waits for the next, and the last for the first.
    private func circle(through turn: Turn) -> [Agent]? {
        guard let entry = entries[turn], !entry.isHeld, mayBeAwaited(entry) else { return nil }
        let start = entry.request.agent
        var open = [(agent: start, depth: 0)]
        var seen: [Agent] = []
        var way: [Agent] = []
        while let (agent, depth) = open.popLast() {
            way.removeSubrange(depth...)
            way.append(agent)
            for next in awaited(by: agent) {
                if next == start { return way }
                guard !seen.contains(next) else { continue }
                seen.append(next)
                open.append((next, depth + 1))
            }
        }
        return nil
    }

    /// Who stands for itself and has nobody asked yet has come last: nobody waits for it.
    private func mayBeAwaited(_ entry: ClaimEntry) -> Bool { entry.request.purpose != nil || entry.phase != .waiting }

    private func awaited(by agent: Agent) -> [Agent] {
        var result: [Agent] = []
        for (turn, entry) in entries where !entry.isHeld && entry.request.agent == agent {
            result += blockers(of: turn).compactMap { entries[$0]?.request.agent }
            // (Who is only told that somebody reads has nothing to do for that, and need not wait for anything.)
            result += entry.pending.compactMap { questions[$0]?.question }
                .filter { $0.savesFirst || $0.kind != .letRead }
                .compactMap { presenters[$0.presenter]?.agent }
        }
        return result
    }

    private func youngest(of circle: [Agent]) -> Turn? {
        entries.last {
            !$0.value.isHeld && $0.value.request.node == .own && circle.contains($0.value.request.agent)
        }?.key
    }

    private func name(of claim: ClaimID) -> String? { turns[claim].flatMap { entries[$0]?.request.name } }

    private func names(of circle: [Agent]) -> [String] {
        circle.map { agent in
            switch agent {
            case .purpose(let name, of: .own): name
            case .purpose(let name, of: .peer): "\(name) on the other node"
            case .claim(let id): name(of: id) ?? "claim \(id)"
            case .presenter(let id): "presenter \(id)"
            }
        }
    }
}
