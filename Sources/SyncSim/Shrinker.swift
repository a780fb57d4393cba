import SyncModel

/// Makes a failing seed small: takes away whole traits, then user operations, then lengths, as long as it still fails
/// in the same way. What is left is the story worth reading.
package struct Shrinker {
    /// See `Violation.signature`.
    package let signature: String
    package private(set) var plan: SeedPlan
    package private(set) var runs = 0
    private let runsMax: Int
    private let breaks: (SeedPlan) -> String?

    /// `breaks` runs a plan and answers how it fails. Nil if the plan as given does not.
    package init?(_ plan: SeedPlan, runsMax: Int = 600, breaks: @escaping (SeedPlan) -> String?) {
        guard let signature = breaks(plan) else { return nil }
        self.signature = signature
        self.plan = plan
        self.runsMax = runsMax
        self.breaks = breaks
    }

    package init?(_ plan: SeedPlan, runsMax: Int = 600) {
        self.init(plan, runsMax: runsMax) { Simulation.run(plan: $0).violations.first?.signature }
    }

    /// Until nothing more can be taken away, or the runs are used up.
    package mutating func shrink() {
        var size = Int.max
        while weight < size, runs < runsMax {
            size = weight
            dropTraits()
            dropOperations()
            shortenDelays()
        }
    }

    /// Smaller is simpler.
    private var weight: Int {
        plan.traits.list.count * 10 + operations - plan.skippedOperations.count
            + (plan.endsWithRestart ? 10 : 0) + delays
    }

    /// Those of the users, and what is done around a model that comes late.
    private var operations: Int { plan.userOperations.reduce(0, +) + (plan.lateModels?.steps.count ?? 0) }

    private var delays: Int {
        [
            plan.diskDelayMillisecondsMax, plan.storeDelayMillisecondsMax, plan.linkDelayMillisecondsMax,
            plan.noticeDelayMillisecondsMax, plan.restartDelayMillisecondsMax,
        ].count { $0 > 1 }
    }

    /// Keeps the candidate if it still breaks the same invariant.
    @discardableResult
    private mutating func attempt(_ candidate: SeedPlan) -> Bool {
        guard runs < runsMax else { return false }
        runs += 1
        guard breaks(candidate) == signature else { return false }
        plan = candidate
        return true
    }

    private mutating func attempt(_ change: (inout SeedPlan) -> Void) {
        var candidate = plan
        change(&candidate)
        attempt(candidate)
    }

    private mutating func dropTraits() {
        // All faults at once first: many bugs need none.
        attempt { plan in
            for trait in plan.traits.list where !trait.isHabit { plan.turnOff(trait) }
        }
        for trait in plan.traits.list { attempt { $0.turnOff(trait) } }
        if plan.endsWithRestart { attempt { $0.endsWithRestart = false } }
    }

    /// Halves, then quarters, down to single operations.
    private mutating func dropOperations() {
        let all = operations
        var stretch = max(1, all / 2)
        while runs < runsMax {
            var first = 0
            while first < all {
                var candidate = plan
                for number in first..<min(all, first + stretch) { candidate.skippedOperations.insert(number) }
                if candidate.skippedOperations != plan.skippedOperations { attempt(candidate) }
                first += stretch
            }
            if stretch == 1 { return }
            stretch /= 2
        }
    }

    private mutating func shortenDelays() {
        attempt { plan in
            plan.diskDelayMillisecondsMax = min(1, plan.diskDelayMillisecondsMax)
            plan.storeDelayMillisecondsMax = min(1, plan.storeDelayMillisecondsMax)
            plan.linkDelayMillisecondsMax = min(1, plan.linkDelayMillisecondsMax)
        }
        attempt { $0.diskDelayMillisecondsMax = min(1, $0.diskDelayMillisecondsMax) }
        attempt { $0.storeDelayMillisecondsMax = min(1, $0.storeDelayMillisecondsMax) }
        attempt { $0.linkDelayMillisecondsMax = min(1, $0.linkDelayMillisecondsMax) }
        attempt { $0.noticeDelayMillisecondsMax = min(1, $0.noticeDelayMillisecondsMax) }
        attempt { $0.restartDelayMillisecondsMax = min(1, $0.restartDelayMillisecondsMax) }
    }
}

extension SeedPlan {
    /// For people: what is on, how large, what was left out.
    package var description: String {
        let traits = traits.list.map { "\($0)" }.joined(separator: " ")
        let skipped = skippedOperations.numbers.map(String.init).joined(separator: " ")
        let limits = limits.enumerated().map { index, limits in
            "  \(Machine.names[index]): batch \(limits.batchPathsMax), scan chunk \(limits.scanChunkMax), "
                + "log frame \(limits.logRecordsPerFrameMax), tasks \(limits.applyTasksMax), "
                + "wanted \(limits.wantedBytesMax) B, content frame \(limits.contentFrameBytesMax) B, "
                + "log kept \(limits.logRecordsKept), chunk \(limits.chunking.average) B"
        }
        let late = lateModels.map { "\n  \($0.description)" } ?? ""
        return """
            seed \(seed): \(userOperations[0]) + \(userOperations[1]) operations on \(fileCount) files in \
            \(directoryCount) directories, up to \(fileBytesMax) B each
              on: \(traits.isEmpty ? "nothing" : traits)
              delays up to: disk \(diskDelayMillisecondsMax), store \(storeDelayMillisecondsMax), \
            link \(linkDelayMillisecondsMax), notices \(noticeDelayMillisecondsMax), \
            restart \(restartDelayMillisecondsMax) ms
            \(limits.joined(separator: "\n"))
              crash model \(crashModel), ends with a restart: \(endsWithRestart)
              left out: \(skipped.isEmpty ? "nothing" : skipped)\(late)
            """
    }
}
