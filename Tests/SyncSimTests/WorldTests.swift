import SyncCore
import SyncModel
import Testing

@testable import SyncSim

@Suite("The simulated world: one queue, one seed, two real nodes")
struct WorldTests {
    // MARK: The queue

    @Test("Happenings come in order of time, ties by their draw, equals in the order they were put in")
    func queueOrder() {
        var queue = HappeningQueue()
        for (index, time) in [5, 1, 3, 1, 5, 0].enumerated() {
            queue.insert(.agent(index), at: Int64(time), tie: index == 3 ? 0 : 7)
        }
        var order: [Int] = []
        while let (_, happening) = queue.popFirst() {
            if case .agent(let index) = happening { order.append(index) }
        }
        #expect(order == [5, 3, 1, 2, 0, 4])
    }

    // MARK: Clocks

    @Test("A monotonic clock never goes back, whatever is done to the wall clock", arguments: 0..<20)
    func monotonic(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var clock = VirtualClock(
            offset: Int64(random.range(-9_000...9_000)), driftPerMillion: random.range(-5_000...5_000))
        var (now, last) = (Int64(0), clock.monotonic(at: 0))
        for _ in 0..<500 {
            now += Int64(random.below(2_000))
            switch random.below(8) {
            case 0: clock.step(by: Int64(random.range(-1_000_000...1_000_000)))
            case 1: clock.freeze(at: now)
            case 2: clock.thaw(at: now)
            case 3: clock.correct(at: now)
            default: break
            }
            let shown = clock.monotonic(at: now)
            #expect(shown >= last)
            last = shown
            let wished = shown + UInt64(random.below(100_000))
            let due = clock.moment(whenMonotonicIs: wished, notBefore: now)
            #expect(clock.monotonic(at: due) >= wished)
            #expect(due == now || clock.monotonic(at: due - 1) < wished)
        }
    }

    @Test("A frozen wall clock stays behind by as long as it stood") func frozenClock() {
        var clock = VirtualClock()
        let start = clock.wall(at: 1_000)
        clock.freeze(at: 1_000)
        #expect(clock.wall(at: 9_000) == start)
        clock.thaw(at: 9_000)
        #expect(clock.wall(at: 9_500) == start + 500)
        clock.correct(at: 9_500)
        #expect(clock.wall(at: 10_000) == VirtualClock.epochMilliseconds + 10_000)
    }

    // MARK: Plans

    @Test("A plan comes from its seed alone, and leaving a trait out moves nothing else") func plans() {
        let plan = SeedPlan(seed: 77)
        #expect(plan.description == SeedPlan(seed: 77).description)
        #expect(plan.description != SeedPlan(seed: 78).description)
        for trait in plan.traits.list {
            var smaller = plan
            smaller.turnOff(trait)
            #expect(!smaller.isOn(trait))
            #expect(smaller.userOperations == plan.userOperations)
            #expect(smaller.limits == plan.limits)
        }
    }

    @Test("Over many seeds every trait is on and off, and every crash model is drawn") func swarm() {
        let plans = (0..<400).map { SeedPlan(seed: $0) }
        for trait in Trait.allCases {
            #expect(plans.contains { $0.isOn(trait) }, "\(trait) is never on")
            #expect(plans.contains { !$0.isOn(trait) }, "\(trait) is never off")
        }
        for model in CrashModel.allCases { #expect(plans.contains { $0.crashModel == model }) }
        #expect(plans.contains { $0.limits[0].batchPathsMax == 1 })
        #expect(plans.contains { $0.limits[0].scanChunkMax == 1 })
        #expect(plans.contains { $0.endsWithRestart } && plans.contains { !$0.endsWithRestart })
    }

    @Test("What a long run may miss is a state that worlds may come to") func seldomHit() {
        let known = Simulation.knownRareStates()
        for (name, reason) in Simulation.seldomHit { #expect(known.contains(name) && !reason.isEmpty) }
    }

    @Test("A skip list names operations by number") func skipList() {
        var list = SkipList()
        for number in [3, 200, 64, 3] { list.insert(number) }
        #expect(list.numbers == [3, 64, 200])
        #expect(list.count == 3)
        list.remove(64)
        #expect(list.numbers == [3, 200])
        #expect(!list.contains(64) && !list.contains(1_000) && list.contains(200))
    }

    // MARK: Two nodes

    @Test("INV-06: what is written on one node arrives on the other, and then nothing moves") func converges() throws {
        let world = calmWorld()
        let path = try #require(Path("a"))
        world.machines[0].disk.writeFile(path, Array("1".utf8), now: world.stamp(0))
        world.begin()
        world.run(milliseconds: 1_000)
        world.settle()
        #expect(world.violations == [])
        #expect(world.phase == .quiet)
        #expect(world.sketch(1) == "a=1")
    }

    @Test("INV-06 can fail: two nodes that never meet do not count as quiet") func neverQuiet() throws {
        var budget = Budget()
        budget.healingMilliseconds = 60_000
        let world = World(plan: SeedPlan(calm: 1), budget: budget)
        world.machines[0].disk.writeFile(try #require(Path("a")), [1], now: world.stamp(0))
        world.saboteur = Deaf()
        world.begin()
        world.settle()
        #expect(world.violations.map(\.invariant) == ["INV-06"])
    }

    @Test("INV-07 can fail: a node that keeps talking is not quiet") func talkative() {
        let world = calmWorld()
        world.saboteur = Chatter()
        world.begin()
        world.settle()
        #expect(world.violations.map(\.invariant) == ["INV-07"])
    }

    @Test("A killed process loses its queue and starts again by itself") func killed() throws {
        let world = calmWorld()
        world.begin()
        world.run(milliseconds: 200)
        world.kill(0)
        #expect(!world.machines[0].isRunning)
        #expect(world.machines[0].work.outstanding == 0)
        world.run(milliseconds: 200)
        #expect(world.machines[0].isRunning)
        #expect(world.machines[0].process == 2)
        #expect(world.network.isWhole || world.network.lives >= 1)
    }

    @Test("A process that starts after a power cut is told so, one that was only killed is not") func powerWasLost() {
        let world = calmWorld()
        let diary = Diary()
        world.add(diary)
        world.begin()
        world.run(milliseconds: 100)
        world.kill(0)
        world.run(milliseconds: 100)
        world.powerCut(0)
        world.run(milliseconds: 200)
        #expect(diary.starts == [false, false, true])
        #expect(diary.occurrences == [.started, .killed, .started, .powerCut, .powerOn, .started])
    }

    @Test("A failing store ends the process with whole batches only; it is started again and is well") func storeFails()
        throws
    {
        let world = calmWorld()
        world.begin()
        world.run(milliseconds: 500)
        world.machines[0].storeFailsAfter = 0
        world.machines[0].disk.writeFile(try #require(Path("a")), [1], now: world.stamp(0))
        world.notice()
        world.run(milliseconds: 1_000)
        #expect(world.machines[0].counters.starts == 2)
        #expect(world.rare["store: a batch failed"] == 1)
        world.settle()
        #expect(world.violations == [])
        #expect(world.sketch(1) == world.sketch(0))
    }

    @Test("Each effect with a job number is answered exactly once", arguments: 0..<10) func answersOnce(seed: Int) {
        var plan = SeedPlan(seed: UInt64(seed))
        plan.turnOff(.evilPeer)
        let world = World(plan: plan)
        for agent in Workload.agents(for: plan) { world.add(agent) }
        let clerk = Clerk()
        world.add(clerk)
        world.begin()
        world.run(milliseconds: 20_000)
        #expect(clerk.answeredTwice.isEmpty)
        #expect(clerk.answered > 20)
    }

    @Test("What an agent tells a node when the faults are over is seen once, and before anything else happens")
    func seesRest() {
        let world = calmWorld()
        let gossip = Gossip()
        world.add(Guest())
        world.add(gossip)
        world.begin()
        world.run(milliseconds: 1_000)
        let before = world.steps
        world.heal()
        #expect(world.steps == before)
        #expect(gossip.heard == 1)
        world.run(milliseconds: 50)
        #expect(gossip.heard == 1)
    }

    // MARK: Determinism

    @Test("The same seed gives the same trace; another gives another", arguments: 0..<6) func deterministic(seed: Int) {
        var budget = Budget()
        budget.steps = 8_000
        let first = Simulation.run(seed: UInt64(seed), budget: budget)
        let second = Simulation.run(seed: UInt64(seed), keepsTrace: true, budget: budget)
        #expect(first.traceHash == second.traceHash)
        #expect(first.violations == second.violations)
        #expect(first.steps == second.steps)
        #expect(Simulation.run(seed: UInt64(seed) + 1, budget: budget).traceHash != first.traceHash)
    }

    // MARK: Shrinking

    @Test("Shrinking keeps what is needed to fail in the same way and takes the rest away") func shrinks() throws {
        var plan = SeedPlan(seed: 5)
        plan.turnOn(.linkCuts, pauseMilliseconds: 500)
        plan.turnOn(.symlinks, pauseMilliseconds: 500)
        plan.userOperations = [10, 10]
        // Fails while links are cut and operations 3 and 14 are there; fails otherwise without operation 7.
        let shrunk = Shrinker(plan) { plan in
            let isThere = { (number: Int) in !plan.skippedOperations.contains(number) }
            if plan.isOn(.linkCuts), isThere(3), isThere(14) { return "INV-01" }
            return isThere(7) ? nil : "INV-02"
        }
        var shrinker = try #require(shrunk)
        shrinker.shrink()
        #expect(shrinker.signature == "INV-01")
        #expect(shrinker.plan.traits.list == [.linkCuts])
        #expect(shrinker.plan.skippedOperations.numbers == (0..<20).filter { $0 != 3 && $0 != 14 })
        #expect(Shrinker(plan) { _ in nil } == nil)
    }

    private func calmWorld() -> World { World(plan: SeedPlan(calm: 1)) }
}

extension Shrinker? {
    fileprivate static func == (left: Shrinker?, right: _OptionalNilComparisonType) -> Bool {
        if case .none = left { return true }
        return false
    }
}

/// Never hears of a connection.
private final class Deaf: Saboteur {
    func told(_ event: Event, on machine: Int, in world: World) -> Event? {
        if case .connected = event { return nil }
        return event
    }
    func asked(_ effects: [Effect], by machine: Int, in world: World) -> [Effect] { effects }
}

/// Says something whenever it is asked how it is.
private final class Chatter: Saboteur {
    private var link: LinkID?

    func told(_ event: Event, on machine: Int, in world: World) -> Event? {
        if machine == 0, case .connected(let link) = event { self.link = link }
        return event
    }
    func asked(_ effects: [Effect], by machine: Int, in world: World) -> [Effect] {
        let isAnswer = effects.contains {
            if case .answer = $0 { return true }
            return false
        }
        guard machine == 0, isAnswer, let link else { return effects }
        return effects + [.send(link, FrameCodec.encode(.unknown(200)))]
    }
}

/// Remembers how processes began and ended on machine 0.
private final class Diary: QuietChecker {
    var starts: [Bool] = []
    var occurrences: [Occurrence] = []

    override func didHappen(_ occurrence: Occurrence, to machine: Int, in world: World) {
        if machine == 0 { occurrences.append(occurrence) }
    }
    override func afterStep(_ step: StepRecord, in world: World) {
        for tell in step.tells where tell.machine == 0 {
            if case .started(let start) = tell.event { starts.append(start.powerWasLost) }
        }
    }
}

/// Has nothing to do but to ask for a scan before he goes.
private final class Guest: Agent {
    let name = "guest"
    let holdsSafetyPhase = false
    let rareStates: [String] = []

    func prepare(_ world: World) {}
    func act(in world: World) -> Int? { nil }
    func rest(_ world: World) { world.command(0, .rescan(.root)) }
    func attend(_ status: Status, on machine: Int, in world: World) {}
}

/// Counts the scans that are asked for.
private final class Gossip: QuietChecker {
    var heard = 0

    override func afterStep(_ step: StepRecord, in world: World) {
        for tell in step.tells { if case .command(_, .rescan) = tell.event { heard += 1 } }
    }
}

/// Counts jobs given out and answered.
private final class Clerk: QuietChecker {
    var answeredTwice: [JobID] = []
    var answered = 0
    private var open: [SortedMap<JobID, Void>] = [[:], [:]]

    override func didHappen(_ occurrence: Occurrence, to machine: Int, in world: World) {
        if occurrence == .started { open[machine] = [:] }
    }
    override func afterStep(_ step: StepRecord, in world: World) {
        for tell in step.tells {
            if let job = tell.event.answeredJob {
                answered += 1
                if !open[tell.machine].contains(key: job) { answeredTwice.append(job) }
                open[tell.machine][job] = nil
            }
            for effect in tell.effects {
                if let job = effect.givenJob { open[tell.machine][job] = () }
            }
        }
    }
}

/// A checker that watches nothing, to be made one that does.
private class QuietChecker: Checker {
    var rareStates: [String] { [] }
    func begin(_ world: World) {}
    func willPerform(_ operation: DiskOperation, on machine: Int, in world: World) {}
    func didPerform(_ operation: DiskOperation, error: DiskError?, on machine: Int, in world: World) {}
    func willStore(_ batch: StoreBatch, on machine: Int, in world: World) {}
    func willHappen(_ occurrence: Occurrence, to machine: Int, in world: World) {}
    func didHappen(_ occurrence: Occurrence, to machine: Int, in world: World) {}
    func afterStep(_ step: StepRecord, in world: World) {}
    func atPause(_ world: World) {}
    func atQuiescence(_ world: World) {}
}

extension Event {
    fileprivate var answeredJob: JobID? {
        switch self {
        case .scanned(let job, _), .inspected(let job, _), .hashed(let job, _), .readFinished(let job, _),
            .parsed(let job, _), .diskFinished(let job, _), .stageListed(let job, _), .loaded(let job, _),
            .stored(let job),
            .storeFailed(let job):
            job
        case .started, .stopRequested, .noticed, .overflowed, .connected, .received, .sent, .disconnected, .deadline,
            .command:
            nil
        }
    }
}

extension Effect {
    fileprivate var givenJob: JobID? {
        switch self {
        case .load(let job, _), .store(let job, _), .scan(let job, _, _), .inspect(let job, _), .hash(let job, _),
            .read(let job, _), .parse(let job, _), .disk(let job, _), .listStage(let job):
            job
        case .send, .close, .wake, .report, .answer, .program, .finish: nil
        }
    }
}
