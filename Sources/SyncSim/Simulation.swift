import SyncCore

/// One seed from beginning to end, as a function: the same plan gives the same report, always.
package enum Simulation {
    package static func run(
        seed: UInt64, keepsTrace: Bool = false, budget: Budget = Budget()
    ) -> SeedReport {
        run(plan: SeedPlan(seed: seed), keepsTrace: keepsTrace, budget: budget)
    }

    package static func run(plan: SeedPlan, keepsTrace: Bool = false, budget: Budget = Budget()) -> SeedReport {
        let world = world(of: plan, keepsTrace: keepsTrace, budget: budget)
        world.run()
        return world.report
    }

    /// With everybody who lives in it, and who judges it.
    static func world(of plan: SeedPlan, keepsTrace: Bool = false, budget: Budget = Budget()) -> World {
        var budget = budget
        // On each connection both say which formats they understand.
        if plan.formatSupport != nil { budget.quietFrames += 2 }
        let world = World(plan: plan, budget: budget, keepsTrace: keepsTrace)
        if let scene = plan.scene {
            populate(world, with: scene)
        } else if let support = plan.formatSupport {
            populate(world, with: support)
        } else {
            for agent in Workload.agents(for: plan) { world.add(agent) }
            for checker in Checkers.all(for: plan) { world.add(checker) }
            if plan.hasLocks { addLocks(to: world) }
        }
        return world
    }

    /// Nothing else is judged otherwise because of locks: no file is kept by them.
    private static func addLocks(to world: World) {
        let life = LockLife()
        world.features = [Hello.claimPurposes, Hello.claimWaits]
        for machine in 0..<2 { world.add(LockUser(world.plan, life, machine: machine)) }
        world.add(LockJudge(life))
    }

    /// Of a world of records: who judges files by who wrote them last does not know what a merge is.
    private static func populate(_ world: World, with scene: RecordScene) {
        let life = RecordLife(scene)
        world.life = life
        world.install(scene.modelText)
        let installer = world.plan.lateModels.map { Installer($0, of: world.plan, life) }
        for machine in 0..<2 { world.add(RecordUser(world.plan, life, installer, machine: machine)) }
        world.add(Operator(world.plan))
        if let installer { world.add(installer) }
        world.add(RecordJudge(life))
    }

    /// Of a world of guarded files. That the later save keeps the name, that what one person did ends as he left it, and that
    /// nothing is a conflict copy without a conflict is not so where a save is older than what was there. And what lost to a version
    /// of which nobody has a copy any more comes back to the path, and stays beside it.
    private static func populate(_ world: World, with support: [UInt32]) {
        let life = FormatLife(support: support)
        world.formatLife = life
        for machine in 0..<2 { world.add(FormatUser(world.plan, life, machine: machine)) }
        world.add(Operator(world.plan))
        let others = [UntouchedWork.id, DocumentedOutcome.id, NoFalseConflict.id, LeastIntervention.id]
        world.add(Watch(world.plan, except: others))
        world.add(FormatJudge(life))
    }

    /// A rare state that may not become a frequent one.
    package static let countedAsDamage = "ledger: what was written before a power cut counted as damage"

    /// What even a long run may miss, and why.
    package static let seldomHit = [
        (name: countedAsDamage, reason: "a judge that never has to let it pass sees no less"),
        (
            name: takesRulesAway,
            reason: "the rules of both nodes have to differ until all is mended, and no world is known that comes to it"
        ),
    ]

    static let takesRulesAway = "operator: what one node waited for the rules of the other left out"

    /// The rare states that agents, checkers and the world itself may reach: what a long run must have hit.
    package static func knownRareStates() -> [String] {
        var names = World.rareStates
        // Every kind of agent appears in one of these plans.
        var everything = SeedPlan(seed: 0)
        for trait in Trait.allCases where trait != .evilPeer { everything.turnOn(trait, pauseMilliseconds: 1_000) }
        everything.turnOff(.evilPeer)
        var evil = everything
        evil.turnOn(.evilPeer, pauseMilliseconds: 1_000)
        for plan in [everything, evil] {
            for agent in Workload.agents(for: plan) { names += agent.rareStates }
            for checker in Checkers.all(for: plan) { names += checker.rareStates }
        }
        var unique: [String] = []
        for name in names.sorted() where name != unique.last { unique.append(name) }
        return unique
    }
}

extension World {
    package var report: SeedReport {
        SeedReport(
            seed: seed, violations: violations, rare: rare, traceHash: trace.hash, steps: steps,
            messages: machines[0].counters.framesSent + machines[1].counters.framesSent, simulatedMilliseconds: now,
            lines: trace.lines)
    }

    /// What the world itself counts; see `rare.hit`.
    static let rareStates = [
        "disk: a file changed while it was hashed",
        "disk: a name came or went before the rename",
        "disk: displaced content was not the expected one",
        "disk: no space for a staged file",
        "disk: expected state had changed before the exchange",
        "disk: fsync of a staged file failed",
        "life: killed between two operations of a disk job",
        "life: killed during recovery",
        "life: power cut between two operations of a disk job",
        "life: power cut during recovery",
        "link: closed by a node",
        "link: cut with frames in flight",
        "link: half-open connection replaced by a new one",
        "operator: mass deletion decided at the end",
        Simulation.takesRulesAway,
        "operator: what the rules leave out stood in the way",
        "run: all killed after quiet and started again",
        "store: a batch failed",
        "store: killed after a batch was durable and before it was answered",
        "store: killed with batches in the queue",
        "store: power cut after a batch was durable and before it was answered",
        "store: power cut with batches in the queue",
        "watch: notices lost in an overflow",
    ]
}
