import SyncModel

/// The examination of the examiners: bugs of known kinds are planted one at a time, and the invariants must find them.
package enum PlantedBugs {
    /// A bug and the worlds in which it should matter.
    struct Plot {
        let name: String
        var worlds = Worlds.files
        /// Always on, besides what the seed draws.
        var traits: [Trait] = []
        /// Further changes of the plan.
        var shape: (inout SeedPlan) -> Void = { _ in }
        /// Made anew for each run: a saboteur may remember.
        let bug: () -> PlantedBug.Ways
    }

    enum Worlds {
        case files
        /// Users save guarded files, and the judge of these looks on.
        case formats

        func plan(seed: UInt64) -> SeedPlan {
            switch self {
            case .files: SeedPlan(seed: seed)
            case .formats: SeedPlan(formatsOf: seed)
            }
        }
    }

    /// True if enough are found.
    package static func run(say: (String) -> Void) -> Bool {
        let plots = disk + store + told + formats
        var found = 0
        var missing: [String] = []
        for (index, plot) in plots.enumerated() {
            // Every bug has seeds of its own, so that a new one does not move the others.
            if let find = search(plot, from: firstSeed + UInt64(index) * 1_000) {
                found += 1
                say(
                    "found      \(plot.name): \(find.violation.invariant) at seed \(find.seed), number \(find.tries): \(find.violation.detail)"
                )
            } else {
                missing.append(plot.name)
                say("NOT FOUND  \(plot.name), in \(triesMax) seeds")
            }
        }
        let isEnough = found * 10 >= plots.count * 9
        if !missing.isEmpty { say("not found: " + missing.joined(separator: "; ")) }
        say("\(found) passed, \(isEnough ? 0 : missing.count) failed, \(isEnough ? missing.count : 0) skipped")
        return isEnough
    }

    private struct Find {
        let seed: UInt64
        let tries: Int
        let violation: Violation
    }

    /// The first seed that violates something with the bug and nothing at all without it.
    private static func search(_ plot: Plot, from first: UInt64) -> Find? {
        for number in 0..<triesMax {
            let plan = plan(of: plot, seed: first + UInt64(number))
            guard let violation = firstViolation(plan, PlantedBug(plot.bug())) else { continue }
            if firstViolation(plan, nil) == nil {
                return Find(seed: plan.seed, tries: number + 1, violation: violation)
            }
        }
        return nil
    }

    private static func plan(of plot: Plot, seed: UInt64) -> SeedPlan {
        var plan = plot.worlds.plan(seed: seed)
        plan.turnOff(.evilPeer)
        for trait in plot.traits { plan.turnOn(trait, pauseMilliseconds: trait.pauseRange.lowerBound * 2) }
        plot.shape(&plan)
        return plan
    }

    private static func firstViolation(_ plan: SeedPlan, _ bug: PlantedBug?) -> Violation? {
        var budget = Budget()
        // A bug may make a world spin; the verdict on that must not take longer than the others.
        budget.steps = 60_000
        let world = Simulation.world(of: plan, budget: budget)
        world.saboteur = bug
        world.run()
        return world.violations.first
    }

    private static let firstSeed: UInt64 = 700_000
    private static let triesMax = 240
}
