import SyncModel

/// A person at one machine, or one of two programs that run there: does one operation of the plan after another.
package final class User: Agent {
    package let name: String
    package var holdsSafetyPhase: Bool { true }
    package let rareStates = ["user: wrote into a file the daemon had moved aside"]

    private let machine: Int
    private let alphabet: Alphabet
    private let writer: String
    /// Numbers of the operations still to do, last first.
    private var numbers: [Int]
    /// Micro-steps of the operation at hand, last first.
    private var steps: [Script.Step] = []

    /// `seat` 0 or 1: two people share the operations of a machine.
    package init(_ plan: SeedPlan, machine: Int, seat: Int) {
        self.machine = machine
        name = "user \(seat + 1) of \(Machine.names[machine])"
        writer = "u\(machine)\(seat)"
        alphabet = Alphabet(plan, machine: machine)
        let first = machine == 0 ? 0 : plan.userOperations[0]
        numbers = (0..<plan.userOperations[machine]).filter { $0 % 2 == seat }.map { first + $0 }.reversed()
    }

    package func prepare(_ world: World) {
        guard world.plan.isOn(.initialTrees), name.hasPrefix("user 1") else { return }
        InitialTree.fill(Hands(world, machine: machine), world.plan, alphabet)
    }

    package func act(in world: World) -> Int? {
        if let step = steps.popLast() {
            step.act(Hands(world, machine: machine))
            return steps.isEmpty ? pause(world) : step.pause
        }
        while let number = numbers.popLast() {
            if world.plan.skippedOperations.contains(number) { continue }
            var draft = Draft(plan: world.plan, alphabet: alphabet, number: number, writer: writer)
            Recipes.write(&draft, Hands(world, machine: machine))
            steps = draft.script.steps.reversed()
            world.trace.mix(number)
            return 0
        }
        return nil
    }

    /// What was begun is finished as if nothing had happened, all at once.
    package func rest(_ world: World) {
        let hands = Hands(world, machine: machine)
        while let step = steps.popLast() { step.act(hands) }
    }

    private func pause(_ world: World) -> Int {
        world.random.users[machine].below(2 * world.plan.userPauseMilliseconds + 1)
    }
}

/// The folders before the two nodes have ever met: partly equal, partly not.
enum InitialTree {
    static func fill(_ hands: Hands, _ plan: SeedPlan, _ alphabet: Alphabet) {
        // The same draws on both machines, so that most of it is equal.
        var shared = SeededRandom(seed: plan.seed, stream: "initial tree")
        var own = SeededRandom(seed: plan.seed, stream: "initial tree \(hands.machine)")
        for number in 0..<shared.range(1...12) {
            let path = alphabet.file(&shared)
            let content = Array("initial \(number)".utf8)
            let isShared = shared.chance(percent: 60)
            if own.chance(percent: 25) { continue }
            if let parent = path.parent { hands.makeDirectories(parent) }
            hands.write(path, isShared ? content : content + Array(" of \(hands.machine)".utf8))
        }
        hands.world.machines[hands.machine].disk.syncEverything()
    }
}
