import SyncModel

/// One run of two small histories: the two sides apart, each observed by its own node, then together until all is quiet.
struct SmallWorld {
    /// What does not decide anything and so may not change anything.
    struct Timing {
        let seed: UInt64
        let delayMilliseconds: Int
        /// Both links are up while people work, instead of only afterwards.
        let isTogether: Bool

        static let plain = Timing(seed: 1, delayMilliseconds: 1, isTogether: false)
        static let slow = Timing(seed: 2, delayMilliseconds: 20, isTogether: false)
        static let together = Timing(seed: 3, delayMilliseconds: 5, isTogether: true)
    }

    let world: World
    private let watch: Watch

    init(
        base: SmallBase, _ histories: [History], isMirrored: Bool, timing: Timing, keepsTrace: Bool = false
    ) {
        // The mirror world has the other machine's key as the smaller one.
        var plan = SeedPlan(calm: SmallWorld.seed(timing.seed, mirrored: isMirrored))
        plan.diskDelayMillisecondsMax = timing.delayMilliseconds
        plan.storeDelayMillisecondsMax = timing.delayMilliseconds
        plan.linkDelayMillisecondsMax = timing.delayMilliseconds
        plan.noticeDelayMillisecondsMax = timing.delayMilliseconds
        var budget = Budget()
        budget.quietMilliseconds = 1_000
        world = World(plan: plan, budget: budget, keepsTrace: keepsTrace)
        watch = Watch(plan)
        world.add(watch)
        begin(base, isMirrored: isMirrored)
        if !timing.isTogether { for sender in 0..<2 { world.network.block(from: sender, at: world.now) } }
        perform(histories, isMirrored: isMirrored)
        if !timing.isTogether { for sender in 0..<2 { world.network.unblock(from: sender, at: world.now) } }
        world.settle()
    }

    var sight: Sight { Sight(machines: world.machines.map { watch.look(at: $0) }) }

    private func begin(_ base: SmallBase, isMirrored: Bool) {
        for machine in 0..<2 {
            let hands = Hands(world, machine: machine)
            for (number, operation) in base.operations.enumerated() {
                SmallWorld.carryOut(operation, "base\(number)", hands)
            }
        }
        world.begin()
        // The starting trees are in sync before anybody does anything.
        world.settle()
    }

    /// Side 0 acts at even, side 1 at odd half seconds: who was later does not hang on any delay.
    private func perform(_ histories: [History], isMirrored: Bool) {
        let start = (world.now / 1_000 + 2) * 1_000
        for turn in 0..<4 {
            world.run(milliseconds: start + Int64(turn) * 1_000 + 200 - world.now)
            let side = turn % 2
            let history = histories[side].operations
            guard turn / 2 < history.count else { continue }
            let hands = Hands(world, machine: isMirrored ? 1 - side : side)
            SmallWorld.carryOut(history[turn / 2], "side\(side) act\(turn / 2)", hands)
            world.notice()
        }
        world.run(milliseconds: 700)
    }

    private static func carryOut(_ operation: SmallOperation, _ tag: String, _ hands: Hands) {
        switch operation {
        case .write(let path): hands.write(path.path, Array(tag.utf8))
        case .makeDirectory(let path): hands.mkdir(path.path)
        case .link(let path):
            if hands.exists(path.path) { hands.unlink(path.path) }
            hands.symlink(path.path, to: Array(tag.utf8))
        case .remove(let path):
            if hands.kind(path.path) == .directory { hands.removeAll([path.path]) } else { hands.unlink(path.path) }
        case .rename(let from, let to): hands.rename(from.path, to: to.path)
        case .changeMode(let path): hands.chmod(path.path, 0o700)
        }
    }

    /// Seeds decide the keys: of two neighbours one has alpha's smaller, one beta's.
    private static func seed(_ wanted: UInt64, mirrored: Bool) -> UInt64 {
        var seed = wanted * 1_000
        while (Machine.freshRecord(0, seed: seed).id < Machine.freshRecord(1, seed: seed).id) == mirrored { seed += 1 }
        return seed
    }
}

/// What both sides begin with.
struct SmallBase {
    let name: String
    let operations: [SmallOperation]

    var tree: SmallTree {
        operations.reduce(SmallTree()) { $0.after($1) ?? $0 }
    }

    static let all = [
        SmallBase(name: "nothing", operations: []),
        SmallBase(name: "a/c and b", operations: [.makeDirectory(.a), .write(.aInner), .write(.b)]),
    ]
}
