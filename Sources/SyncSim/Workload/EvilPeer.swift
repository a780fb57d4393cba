import SyncModel

/// The other machine holds the right key and means harm. Either it has no node at all and speaks by hand (`Forger`), or
/// its honest node's frames are mangled on their way (`Mangler`).
package final class EvilPeer: Agent {
    package let name = "enemy"
    package var holdsSafetyPhase: Bool { false }
    package var rareStates: [String] { Forger.rareStates + Mangler.rareStates }

    private let forger: Forger?
    private let mangler: Mangler?

    package init(_ plan: SeedPlan) {
        var random = SeededRandom(seed: plan.seed, stream: "enemy")
        let isForger = random.chance(percent: 65)
        forger = isForger ? Forger(plan, random) : nil
        mangler = isForger ? nil : Mangler(random)
    }

    package func prepare(_ world: World) {
        if let forger {
            world.network.ghost = 1
            world.enemy = forger
        }
        if let mangler {
            world.network.interceptors[1] = { [unowned world] frame in mangler.mangle(frame, world) }
        }
    }

    package func act(in world: World) -> Int? {
        guard let forger else { return nil }
        forger.attack(world)
        return forger.pause()
    }

    package func rest(_ world: World) {
        world.network.interceptors = [nil, nil]
    }
}
