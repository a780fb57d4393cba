import Coordination
package import SyncCore
import SyncModel

/// The programs of one machine that hold files still or show them: some answer, some are late, some never.
package final class LockUser: Agent {
    package let name: String
    package var holdsSafetyPhase: Bool { true }
    package let rareStates = ["locks: a presenter was asked", "locks: a lock was given up while it was waited for"]

    private let life: LockLife
    private let machine: Int
    private let paths: [Path]
    private var random: SeededRandom
    /// Numbers of the operations still to do, last first.
    private var numbers: [Int]

    static let wishesMax = 6

    init(_ plan: SeedPlan, _ life: LockLife, machine: Int) {
        self.life = life
        self.machine = machine
        name = "lockers of \(Machine.names[machine])"
        random = SeededRandom(seed: plan.seed, stream: "locks \(machine)")
        let alphabet = Alphabet(plan, machine: machine)
        var shared = SeededRandom(seed: plan.seed, stream: "lock paths")
        paths = (0..<4).map { _ in alphabet.file(&shared) } + (0..<2).map { _ in alphabet.directory(&shared) }
        let first = plan.userOperations[0] + plan.userOperations[1] + machine * 1_000
        numbers = (0..<random.range(20...80)).map { first + $0 }.reversed()
    }

    package func prepare(_ world: World) {}

    package func act(in world: World) -> Int? {
        while let number = numbers.popLast() {
            random = SeededRandom(seed: world.plan.seed, stream: "lock-op-\(number)")
            if world.plan.skippedOperations.contains(number) { continue }
            world.trace.mix(number)
            doSomething(world)
            return random.below(2 * (random.pick([50, 500, 4_000]) ?? 500) + 1)
        }
        return nil
    }

    private func doSomething(_ world: World) {
        switch random.below(100) {
        case ..<40: claim(world)
        case ..<65: release(world)
        case ..<72: present(world)
        case ..<76: withdraw(world)
        default: answer(world)
        }
    }

    private func claim(_ world: World) {
        guard life.wishes[machine].count < LockUser.wishesMax else { return release(world) }
        let accesses = (0..<random.range(1...2)).map { _ in access() }
        let claim = Claim(
            id: Claim.ID(life.newNumber()), client: ClientID(UInt64(random.range(1...3))), accesses: accesses,
            purpose: random.chance(percent: 25) ? "p\(random.below(2))" : nil,
            mode: random.pick([.local, .pair, .pair, .pair, .strict]) ?? .pair,
            holdMilliseconds: random.chance(percent: 15) ? UInt64(random.range(500...8_000)) : nil, holder: [],
            process: 1)
        let patience = random.chance(percent: 30) ? UInt64(random.range(0...20_000)) : nil
        guard world.machines[machine].isRunning else { return }
        // The answer may be there before the number of the command is known.
        life.wishes[machine][claim.id] = LockLife.Wish(claim: claim, command: world.nextCommand(machine))
        _ = world.command(machine, .claim(claim, timeoutMilliseconds: patience))
    }

    private func access() -> Access {
        let path = random.pick(paths) ?? .root
        let kind: Access.Kind =
            random.chance(percent: 40)
            ? .read(savesFirst: random.chance(percent: 50))
            : .write(random.pick(Access.Writing.allCases) ?? .update)
        return Access(path, kind, coversContents: random.chance(percent: 40))
    }

    private func release(_ world: World) {
        guard let wish = random.pick(life.wishes[machine].map(\.value)) else { return }
        if !wish.isHeld { world.rare.hit("locks: a lock was given up while it was waited for") }
        let deeds = wish.isHeld && random.chance(percent: 50) ? wish.claim.paths.map { Deed.changed($0) } : []
        _ = world.command(machine, .endClaims([wish.claim.id], deeds))
    }

    private func present(_ world: World) {
        guard world.machines[machine].isRunning, life.presenters[machine].count < 3 else { return }
        let presenter = Presenter(
            id: PresenterID(life.newNumber()), client: ClientID(UInt64(random.range(1...3))),
            path: random.pick(paths) ?? .root,
            coversContents: random.chance(percent: 30))
        life.presenters[machine].append(presenter.id)
        _ = world.command(machine, .present(presenter))
    }

    private func withdraw(_ world: World) {
        guard let id = life.presenters[machine].popLast() else { return }
        _ = world.command(machine, .withdrawPresenter(id))
    }

    private func answer(_ world: World) {
        guard let question = life.questions[machine].popLast() else { return }
        world.rare.hit("locks: a presenter was asked")
        let answer: PresenterAnswer = random.pick([.ready, .ready, .ready, .busy, .failed("it is open")]) ?? .ready
        _ = world.command(machine, .answerQuestion(question.id, of: question.presenter, answer))
    }

    /// Whoever shows something closes it.
    package func rest(_ world: World) {
        for presenter in life.presenters[machine] { _ = world.command(machine, .withdrawPresenter(presenter)) }
        life.presenters[machine] = []
        life.questions[machine] = []
    }

    /// Whoever has what he waited for gives it back.
    package func attend(_ status: Status, on machine: Int, in world: World) {
        guard machine == self.machine, let command = world.command(machine, .listClaims),
            case .claims(let claims)? = world.takeAnswer(machine, command)
        else { return }
        let held = claims.filter { $0.isHeld && $0.node == .own }.map(\.id)
        if !held.isEmpty { _ = world.command(machine, .endClaims(held, [])) }
    }
}
