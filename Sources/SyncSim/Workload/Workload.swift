/// Everybody who acts in a world: two people at each machine and the operator, or, where the other machine is an enemy,
/// the people at the honest one and the enemy.
package enum Workload {
    package static func agents(for plan: SeedPlan) -> [any Agent] {
        var agents: [any Agent] = []
        for machine in 0..<2 {
            for seat in 0..<2 { agents.append(User(plan, machine: machine, seat: seat)) }
        }
        agents.append(Operator(plan))
        if plan.isOn(.evilPeer) { agents.append(EvilPeer(plan)) }
        return agents
    }
}
