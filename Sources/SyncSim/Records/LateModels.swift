import SyncModel

/// What happens around a model that comes late: record files stand in the folders by then, saved on each machine, or copied from one to
/// the other. Drawn with the plan of a world; who carries it out is `Installer`.
package struct LateModels: Sendable, Equatable {
    /// What stands in the folders when the daemons run for the first time.
    enum Beginning: CaseIterable {
        case nothing, onOne, onEach
        /// Somebody has copied the folder to the other machine, with the times of its files or without.
        case copied, copiedWithTimes
    }

    enum Act: Equatable {
        /// The model file is put in place: it counts from the next start of the process on.
        case install(Int)
        case stop(Int)
        case kill(Int)
        case cutPower(Int)
        /// The nodes, which were apart from the beginning, meet.
        case join
        /// The process that nobody had started is.
        case start(Int)
        case touch(Int)
        /// A record file, or all of them, goes out of the model's sight and comes back.
        case moveAway(Int)
        case moveBack(Int)
        /// Rules leave out some of the record files, and let go of them.
        case leaveOut(Int)
        case letGo(Int)
    }

    struct Step: Equatable {
        /// After the step before it; of the first, after what people do before any model is there.
        let pauseMilliseconds: Int
        let act: Act
    }

    private(set) var beginning = Beginning.onOne
    /// So many operations each user begins before there is a model anywhere, and so many more before there is one on his machine. The
    /// others wait for that.
    private(set) var operationsBefore = [0, 0]
    private(set) var operationsBetween = [0, 0]
    private(set) var steps: [Step] = []

    /// For people.
    var description: String {
        let acts = steps.map { "\($0.pauseMilliseconds) ms \($0.act)" }.joined(separator: ", ")
        return "models come late: \(beginning) in the beginning, operations before \(operationsBefore), between "
            + "\(operationsBetween), then \(acts)"
    }

    var isApart: Bool { steps.contains { $0.act == .join } }

    func isDown(_ machine: Int) -> Bool { steps.contains { $0.act == .start(machine) } }

    /// Models come late in worlds of records above two millions.
    static func comesLate(in seed: UInt64) -> Bool { seed > 2_000_000 }

    init(seed: UInt64, cutsPower: Bool) {
        var random = SeededRandom(seed: seed, stream: "late models")
        beginning = random.pick(Array(Beginning.allCases)) ?? .onOne
        operationsBefore = [random.range(0...4), random.range(0...4)]
        operationsBetween = [random.range(0...2), random.range(0...2)]
        drawInstalling(&random)
        if random.chance(percent: 45) { insert(.join, &random) }
        for machine in 0..<2 {
            if random.chance(percent: 20) { insert(.start(machine), &random) }
            if random.chance(percent: 20) { insert(.leaveOut(machine), .letGo(machine), &random) }
            if random.chance(percent: 15) { insert(.moveAway(machine), .moveBack(machine), &random) }
            if random.chance(percent: 20) { insert(.touch(machine), &random) }
            if random.chance(percent: 15) { insert(.kill(machine), &random) }
            if random.chance(percent: 25), cutsPower { insert(.cutPower(machine), &random) }
        }
    }

    /// Both are installed together, or one long before the other. Most people start the process anew at once.
    private mutating func drawInstalling(_ random: inout SeededRandom) {
        let first = random.below(2)
        let gap = random.pick([0, 0, 1_000, 5_000, 30_000, 180_000]) ?? 0
        for machine in [first, 1 - first] {
            let pause = machine == first ? LateModels.pause(&random) : gap
            steps.append(Step(pauseMilliseconds: pause, act: .install(machine)))
            let restart = random.chance(percent: 70) ? Act.stop(machine) : .kill(machine)
            steps.append(
                Step(pauseMilliseconds: random.chance(percent: 80) ? 0 : LateModels.pause(&random), act: restart))
        }
    }

    private mutating func insert(_ act: Act, _ random: inout SeededRandom) {
        steps.insert(
            Step(pauseMilliseconds: LateModels.pause(&random), act: act), at: random.below(steps.count + 1))
    }

    private mutating func insert(_ first: Act, _ second: Act, _ random: inout SeededRandom) {
        let place = random.below(steps.count + 1)
        steps.insert(Step(pauseMilliseconds: LateModels.pause(&random), act: first), at: place)
        steps.insert(
            Step(pauseMilliseconds: LateModels.pause(&random), act: second),
            at: random.range((place + 1)...steps.count))
    }

    private static func pause(_ random: inout SeededRandom) -> Int {
        random.pick([0, 100, 1_000, 6_000, 20_000, 90_000]) ?? 0
    }
}
