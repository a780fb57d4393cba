package import SyncModel

/// One thing a person sets out to do, as micro-steps with pauses between them: the daemon, the peer and every fault may
/// come in between any two.
package struct Script {
    package struct Step {
        /// Milliseconds until the next.
        let pause: Int
        let act: (Hands) -> Void
    }

    package private(set) var steps: [Step] = []

    package init() {}

    package mutating func then(after pause: Int = 0, _ act: @escaping (Hands) -> Void) {
        if let last = steps.popLast() { steps.append(Step(pause: pause, act: last.act)) }
        steps.append(Step(pause: 0, act: act))
    }
}

/// What one operation is made of: its chance, its number and its writer decide everything.
package struct Draft {
    package var random: SeededRandom
    package let plan: SeedPlan
    package let alphabet: Alphabet
    package let number: Int
    package let writer: String
    package var script = Script()
    private var values = 0

    package init(plan: SeedPlan, alphabet: Alphabet, number: Int, writer: String) {
        random = SeededRandom(seed: plan.seed, stream: "op-\(number)")
        self.plan = plan
        self.alphabet = alphabet
        self.number = number
        self.writer = writer
    }

    /// Bytes that nobody else writes, or, now and then, bytes that others write too.
    package mutating func content() -> [UInt8] {
        values += 1
        if random.chance(percent: 8) { return Array("common \(random.below(3))".utf8) }
        let tag = Array("\(writer)#\(number).\(values):".utf8)
        let size =
            random.chance(percent: 70)
            ? random.range(0...min(40, plan.fileBytesMax)) : random.range(0...plan.fileBytesMax)
        return tag + random.bytes(max(0, size - tag.count))
    }

    package mutating func file() -> Path { alphabet.file(&random) }
    package mutating func directory() -> Path { alphabet.directory(&random) }

    /// Between two micro-steps of one program: usually nothing, now and then long enough for anything.
    package mutating func moment() -> Int {
        guard plan.isOn(.openWriters) else { return random.chance(percent: 80) ? 0 : random.range(0...3) }
        return random.pick([0, 1, 5, 30, 400]) ?? 0
    }

    /// Long enough for a change to come over from the other machine.
    package mutating func span() -> Int { random.range(50...3_000) }

    package mutating func then(after pause: Int = 0, _ act: @escaping (Hands) -> Void) {
        script.then(after: pause, act)
    }

    /// `mkdir -p` of the directory of a path.
    package mutating func makeWay(to path: Path) {
        guard let parent = path.parent, !parent.isRoot else { return }
        then { $0.makeDirectories(parent) }
    }
}

extension Hands {
    package func makeDirectories(_ path: Path) {
        guard !path.isRoot, !exists(path) else { return }
        if let parent = path.parent { makeDirectories(parent) }
        mkdir(path)
    }

    /// The path with something added to its name, as editors do.
    package static func beside(_ path: Path, prefix: String = "", suffix: String = "") -> Path? {
        guard let parent = path.parent, let name = path.name else { return nil }
        return Name(Array(prefix.utf8) + name.bytes + Array(suffix.utf8)).map { parent.appending($0) }
    }
}
