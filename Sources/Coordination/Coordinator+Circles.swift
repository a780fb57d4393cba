import SyncModel

/// Claims that wait for each other in a circle: found when the last of them begins to wait, and ended by refusing the youngest of this node, by
/// name. In every circle there is one: claims of the other node do not wait for each other here, and of those that wait for each other there, as it
/// says, it ends the circles itself.
extension Coordinator {
    /// Which purposes of this node wait for which others of it, whoever else stands between the two: the first so many of them.
    public func waits(atMost most: Int) -> [Wait] {
        var waits: [Wait] = []
        for (turn, entry) in entries where !entry.isHeld && entry.request.node == .own {
            guard let purpose = entry.request.purpose else { continue }
            for awaited in purposes(beyond: awaited(by: entry, turn)) where !waits.contains(Wait(purpose, for: awaited))
            {
                if waits.count == most { return waits }
                waits.append(Wait(purpose, for: awaited))
            }
        }
        return waits
    }

    /// Those among them, and those that others among them wait for.
    private func purposes(beyond agents: [Agent]) -> [String] {
        var (open, seen): ([Agent], [Agent]) = (agents, [])
        var found: [String] = []
        while let agent = open.popLast() {
            guard !seen.contains(agent) else { continue }
            seen.append(agent)
            switch agent {
            case .purpose(let name, of: .own): found.append(name)
            case .purpose(_, of: .peer): break
            case .claim, .presenter: open += awaited(by: agent)
            }
        }
        return found
    }

    /// Any claim of this node may be a part of a circle now.
    mutating func note(elsewhere waits: [Wait]) {
        waitsElsewhere = waits
        if !waits.isEmpty {
            suspects += entries.filter { !$0.value.isHeld && $0.value.request.node == .own }.map(\.key)
        }
    }

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
        if case .purpose(let purpose, of: .peer) = agent {
            result += waitsElsewhere.filter { $0.purpose == purpose }.map { .purpose($0.awaited, of: .peer) }
        }
        for (turn, entry) in entries where !entry.isHeld && entry.request.agent == agent {
            result += awaited(by: entry, turn)
        }
        return result
    }

    private func awaited(by entry: ClaimEntry, _ turn: Turn) -> [Agent] {
        // (Who is only told that somebody reads has nothing to do for that, and need not wait for anything.)
        let asked = entry.pending.compactMap { questions[$0]?.question }.filter { $0.savesFirst || $0.kind != .letRead }
        return blockers(of: turn).compactMap { entries[$0]?.request.agent }
            + asked.compactMap { presenters[$0.presenter]?.agent }
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
