import SyncModel
import SyncSim

/// Running seeds: one with its story, or many on all processors.
enum Seeds {
    /// One seed. True if nothing is wrong with it.
    static func one(_ given: SeedPlan, keepsTrace: Bool, shrinks: Bool) -> Bool {
        var plan = given
        let seed = plan.seed
        if shrinks, let shrunk = shrink(plan) { plan = shrunk }
        System.say(plan.description)
        let report = Crash.announcing(seed: seed) {
            Simulation.run(plan: plan, keepsTrace: keepsTrace || shrinks)
        }
        for line in report.lines { System.say(line) }
        for (name, count) in report.rare.counts { System.say("rare: \(count) × \(name)") }
        System.say(
            "\(report.steps) steps, \(report.messages) frames, \(report.simulatedMilliseconds) ms simulated, "
                + "trace \(hex(report.traceHash))")
        for violation in report.violations { System.say(describe(violation)) }
        if report.isClean { System.say("seed \(seed) passed") }
        return report.isClean
    }

    private static func shrink(_ plan: SeedPlan) -> SeedPlan? {
        System.note("shrinking seed \(plan.seed) …")
        guard var shrinker = Shrinker(plan) else {
            System.note("seed \(plan.seed) does not fail: nothing to shrink")
            return nil
        }
        shrinker.shrink()
        System.note("shrunk in \(shrinker.runs) runs, still fails as \(shrinker.signature)")
        return shrinker.plan
    }

    /// Many worlds, each by its place among them, and the account of them.
    static func many(count: UInt64, jobs: Int, _ world: @escaping @Sendable (UInt64) -> NumberedWorld) async -> Tally {
        var tally = Tally(total: count)
        await withTaskGroup(of: [(NumberedWorld, SeedReport)].self) { group in
            var next: UInt64 = 0
            func add(to group: inout TaskGroup<[(NumberedWorld, SeedReport)]>) {
                guard next < count else { return }
                let stretch = next..<min(count, next + stretchLength)
                next = stretch.upperBound
                group.addTask { @concurrent in
                    stretch.map { place in
                        let world = world(place)
                        return (world, Crash.announcing(seed: world.seed) { Simulation.run(plan: world.plan) })
                    }
                }
            }
            for _ in 0..<jobs { add(to: &group) }
            while let reports = await group.next() {
                for (world, report) in reports { tally.add(report, of: world) }
                add(to: &group)
            }
        }
        tally.close()
        return tally
    }

    static func traces(first: UInt64, count: UInt64, _ worlds: Worlds) {
        for seed in first..<(first + count) {
            let report = Crash.announcing(seed: seed) { Simulation.run(plan: NumberedWorld(worlds, seed).plan) }
            System.say(hashLine(seed, report.traceHash))
        }
    }

    static func hashLine(_ seed: UInt64, _ hash: UInt64) -> String { "\(seed) \(hex(hash))" }

    static func describe(_ violation: Violation) -> String {
        "\(violation.invariant) at step \(violation.step), \(violation.time) ms: \(violation.detail)"
    }

    static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Short enough that all processors end together, long enough that handing out is nothing.
    private static let stretchLength: UInt64 = 8
}

/// One world: what its users do, and its seed.
struct NumberedWorld {
    let worlds: Worlds
    let seed: UInt64

    init(_ worlds: Worlds, _ seed: UInt64) {
        self.worlds = worlds
        self.seed = seed
    }

    var plan: SeedPlan {
        switch worlds {
        case .files: SeedPlan(seed: seed)
        case .records: SeedPlan(recordsOf: seed)
        case .formats: SeedPlan(formatsOf: seed)
        case .locks: SeedPlan(locksOf: seed)
        }
    }

    /// How to ask for it by itself.
    var options: String { worlds == .files ? "--seed \(seed)" : "--\(worlds.rawValue) --seed \(seed)" }
}

/// What has been found while many seeds run.
struct Tally {
    let total: UInt64
    private(set) var failures: [(world: NumberedWorld, violation: Violation)] = []
    private var hashes = SortedMap<UInt64, UInt64>()
    private var hasFiles = false
    private var passed: UInt64 = 0
    private var rare = RareStates()
    /// What such worlds come to, and none of these did.
    private var missed: [String] = []
    private var steps = 0
    private let began = ContinuousClock.now
    private var lastNote = ContinuousClock.now

    init(total: UInt64) {
        self.total = total
    }

    var isClean: Bool { failures.isEmpty && !hasTooMuchDamage && blindSpots.isEmpty }

    /// What so many worlds of files must have come to, or the simulator looks for it no more. (The least frequent is met by some nine of
    /// them. `.ci/simulate` runs them in two halves, and looks at both together.)
    private var blindSpots: [String] {
        total < 20_000 ? [] : missed.filter { name in !Simulation.seldomHit.contains { $0.name == name } }
    }

    /// Now and then nothing tells a person's work from what a power cut has left, and the judge lets it pass; a daemon that sets much aside so
    /// does not look. (Of few worlds, or of those that are known for it, it says nothing.)
    private var hasTooMuchDamage: Bool {
        total >= 1_000 && UInt64(rare[Simulation.countedAsDamage]) > 2 + total / 1_000
    }

    /// By seed, as `--traces` prints them.
    var hashLines: String { hashes.map { Seeds.hashLine($0.key, $0.value) + "\n" }.joined() }

    mutating func add(_ report: SeedReport, of world: NumberedWorld) {
        if world.worlds == .files { hasFiles = true }
        rare.add(report.rare)
        steps += report.steps
        hashes[report.seed] = report.traceHash
        if let violation = report.violations.first {
            failures.append((world, violation))
            System.note("seed \(report.seed): \(Seeds.describe(violation))")
        } else {
            passed += 1
        }
        let now = ContinuousClock.now
        guard now - lastNote >= .seconds(5) else { return }
        lastNote = now
        System.note(progress(at: now))
    }

    private func progress(at now: ContinuousClock.Instant) -> String {
        let done = passed + UInt64(failures.count)
        let seconds = max(0.001, (now - began) / .seconds(1))
        return "\(done) of \(total) seeds, \(Int(Double(done) / seconds)) per second, \(failures.count) failed"
    }

    /// The closing account; its last line is the one that `make test` reads.
    mutating func close() {
        failures.sort { $0.world.seed < $1.world.seed }
        System.note(progress(at: .now) + ", \(steps) steps")
        for (world, violation) in failures {
            System.say("\(violation.invariant)  syncsim \(world.options) --shrink")
        }
        System.say("rare states:")
        missed = hasFiles ? Simulation.knownRareStates().filter { rare[$0] == 0 } : []
        for name in missed {
            let excuse = Simulation.seldomHit.first { $0.name == name }
            System.say("  never  \(name)" + (excuse.map { " (may be missed: \($0.reason))" } ?? ""))
        }
        for (name, count) in rare.counts { System.say("  \(count)  \(name)") }
        if hasTooMuchDamage { System.say("too often: \(Simulation.countedAsDamage)") }
        for name in blindSpots { System.say("never met: \(name)") }
        let failed = failures.count + (hasTooMuchDamage ? 1 : 0) + blindSpots.count
        System.say("\(passed) passed, \(failed) failed, 0 skipped")
    }
}
