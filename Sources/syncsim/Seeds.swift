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

    /// Many seeds. True if all of them passed.
    static func many(first: UInt64, count: UInt64, _ worlds: Worlds, jobs: Int) async -> Bool {
        var tally = Tally(total: count, worlds)
        await withTaskGroup(of: [SeedReport].self) { group in
            var next = first
            let end = first + count
            func add(to group: inout TaskGroup<[SeedReport]>) {
                guard next < end else { return }
                let stretch = next..<min(end, next + stretchLength)
                next = stretch.upperBound
                group.addTask { @concurrent in
                    stretch.map { seed in Crash.announcing(seed: seed) { Simulation.run(plan: worlds.plan(seed)) } }
                }
            }
            for _ in 0..<jobs { add(to: &group) }
            while let reports = await group.next() {
                for report in reports { tally.add(report) }
                add(to: &group)
            }
        }
        tally.close()
        return tally.failures.isEmpty
    }

    static func traces(first: UInt64, count: UInt64, _ worlds: Worlds) {
        for seed in first..<(first + count) {
            let report = Crash.announcing(seed: seed) { Simulation.run(plan: worlds.plan(seed)) }
            System.say("\(seed) \(hex(report.traceHash))")
        }
    }

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

extension Worlds {
    var option: String {
        switch self {
        case .files: ""
        case .records: " --records"
        case .formats: " --formats"
        case .locks: " --locks"
        }
    }

    func plan(_ seed: UInt64) -> SeedPlan {
        switch self {
        case .files: SeedPlan(seed: seed)
        case .records: SeedPlan(recordsOf: seed)
        case .formats: SeedPlan(formatsOf: seed)
        case .locks: SeedPlan(locksOf: seed)
        }
    }
}

/// What has been found while many seeds run.
private struct Tally {
    let total: UInt64
    let worlds: Worlds
    private(set) var failures: [(seed: UInt64, violation: Violation)] = []
    private var passed: UInt64 = 0
    private var rare = RareStates()
    private var steps = 0
    private let began = ContinuousClock.now
    private var lastNote = ContinuousClock.now

    init(total: UInt64, _ worlds: Worlds) {
        self.total = total
        self.worlds = worlds
    }

    mutating func add(_ report: SeedReport) {
        rare.add(report.rare)
        steps += report.steps
        if let violation = report.violations.first {
            failures.append((report.seed, violation))
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
        failures.sort { $0.seed < $1.seed }
        System.note(progress(at: .now) + ", \(steps) steps")
        for (seed, violation) in failures {
            System.say(
                "\(violation.invariant)  syncsim\(worlds.option) --seed \(seed) --shrink")
        }
        System.say("rare states:")
        let known = worlds == .files ? Simulation.knownRareStates() : []
        for name in known where rare[name] == 0 { System.say("  never  \(name)") }
        for (name, count) in rare.counts { System.say("  \(count)  \(name)") }
        System.say("\(passed) passed, \(failures.count) failed, 0 skipped")
    }
}
