import SyncModel
import Testing

@testable import SyncCore
@testable import SyncSim

/// The enemy's tools: frames that are sound but for what they forge, and frames that were sound once.
@Suite("Enemies: the forger and the mangler")
struct EnemyTests {
    // MARK: Forger

    @Test("A forged log entry is sound but for what it forges; what is no frame at all is short")
    func forgedFrames() {
        var (sound, evil, broken) = (0, 0, 0)
        for seed in 1...4 as ClosedRange<UInt64> {
            let (frames, world) = besieged(seed: seed)
            let node = world.machines[1].id
            for bytes in frames {
                guard let frame = FrameCodec.decode(bytes) else {
                    broken += 1
                    #expect(bytes.count <= 40)
                    continue
                }
                guard case .log(let entries) = frame else { continue }
                for entry in entries {
                    if isRecord(entry, node) {
                        sound += 1
                    } else {
                        evil += 1
                        #expect(isRecord(withPlainPath(entry), node), "more than the path is wrong")
                    }
                }
            }
        }
        #expect(sound > 20 && evil > 2 && broken > 2)
    }

    @Test("The forger is hung up on for his offences, comes back, and is believed where he keeps to the rules")
    func offences() {
        var hits = RareStates()
        var isBelieved = false
        for seed in 1...4 as ClosedRange<UInt64> {
            let (frames, world) = besieged(seed: seed)
            hits.add(world.rare)
            let greetings = frames.filter { frame in
                if case .hello? = FrameCodec.decode(frame) { return true }
                return false
            }
            #expect(greetings.count > 1)
            let disk = world.machines[0].disk
            let texts = disk.treeValues.keys.compactMap { disk.peekBytes($0) }
            isBelieved = isBelieved || texts.contains { $0.starts(with: utf8("evil ")) }
        }
        for offence in ["an invalid path", "a broken log", "a broken frame"] {
            #expect(hits["enemy: hung up on for \(offence)"] > 0, "never: \(offence)")
        }
        #expect(isBelieved)
    }

    @Test("The forger's checksum is that of the frames") func sealing() {
        for frame in [Frame.ping, .want([ContentID(.zero)]), .pong(wallMilliseconds: 7)] {
            let bytes = FrameCodec.encode(frame)
            #expect(Forger.sealed(Array(bytes[4..<(bytes.count - 4)])) == bytes)
        }
    }

    // MARK: Mangler

    @Test("Most frames pass untouched; the others are lost, doubled, cut, changed, delayed or made up") func mangled() {
        let world = World(plan: SeedPlan(calm: 1))
        let mangler = Mangler(SeededRandom(seed: 3))
        var found: [String: Int] = [:]
        for number in 0..<2_000 {
            found[kind(of: mangler.mangle(frame(number), world), number), default: 0] += 1
        }
        #expect((found["untouched"] ?? 0) > 1_600)
        for kind in ["gone", "doubled", "cut", "longer", "resealed", "changed", "made up", "delayed"] {
            #expect((found[kind] ?? 0) > 5, "\(kind): \(found)")
        }
        #expect(world.rare[Mangler.rareStates[0]] == found["resealed"])
    }

    @Test("The same chance mangles the same frames") func sameMangling() {
        let world = World(plan: SeedPlan(calm: 1))
        let (one, two) = (Mangler(SeededRandom(seed: 4)), Mangler(SeededRandom(seed: 4)))
        for number in 0..<500 { #expect(one.mangle(frame(number), world) == two.mangle(frame(number), world)) }
    }

    // MARK: Helpers

    /// What an honest node hears from a forger who attacks it for a while.
    private func besieged(seed: UInt64) -> (frames: [[UInt8]], world: World) {
        var plan = SeedPlan(calm: seed)
        plan.turnOn(.evilPeer, pauseMilliseconds: 60)
        let world = World(plan: plan)
        let ear = Ear()
        world.add(Siege(plan))
        world.saboteur = ear
        world.machines[0].disk.writeFile(at("a"), utf8("honest"), now: world.stamp(0))
        world.begin()
        world.run(milliseconds: 12_000)
        return (ear.frames, world)
    }

    private func isRecord(_ entry: [UInt8], _ node: NodeID) -> Bool {
        if case .record = LogCodec.decode(entry, after: .none, node: node) { return true }
        return false
    }

    /// A forged entry with an honest path in place of its own. The path follows 29 bytes of prologue, counted.
    private func withPlainPath(_ entry: [UInt8]) -> [UInt8] {
        var reader = ByteReader(Array(entry.dropFirst(29)))
        guard let path = reader.counted(max: Limits.frameBytesMax) else { return [] }
        var writer = ByteWriter()
        writer.putRaw(Array(entry.prefix(29)))
        writer.putCounted(utf8("p"))
        writer.putRaw(Array(entry.dropFirst(29 + 4 + path.count)))
        return writer.bytes
    }

    /// All different.
    private func frame(_ number: Int) -> [UInt8] {
        FrameCodec.encode(.want([ContentID(SHA256.digest(of: utf8("\(number)")))]))
    }

    private func kind(of out: [[UInt8]], _ number: Int) -> String {
        let frame = frame(number)
        if out == [frame] { return "untouched" }
        if out == [frame, frame] { return "doubled" }
        if out == [frame, self.frame(number - 1)] { return "delayed" }
        guard let only = out.first else { return "gone" }
        if only.count < frame.count, frame.starts(with: only) { return "cut" }
        if only.count > frame.count, only.starts(with: frame) { return "longer" }
        guard only.count == frame.count else { return "made up" }
        let bits = zip(only, frame).map { ($0 ^ $1).nonzeroBitCount }.reduce(0, +)
        return bits == 1 ? "changed" : Forger.sealed(Array(only[4..<(only.count - 4)])) == only ? "resealed" : "made up"
    }
}

/// A forger at the second end of the wire.
private final class Siege: Agent {
    let name = "siege"
    let holdsSafetyPhase = false
    let rareStates: [String] = []
    private let forger: Forger

    init(_ plan: SeedPlan) { forger = Forger(plan, SeededRandom(seed: plan.seed, stream: "siege")) }

    func prepare(_ world: World) {
        world.network.ghost = 1
        world.enemy = forger
    }

    func act(in world: World) -> Int? {
        forger.attack(world)
        return forger.pause()
    }

    func rest(_ world: World) {}
}

/// Writes down what the first node hears.
private final class Ear: Saboteur {
    var frames: [[UInt8]] = []

    func told(_ event: Event, on machine: Int, in world: World) -> Event? {
        if case .received(_, let frame) = event, machine == 0 { frames.append(frame) }
        return event
    }

    func asked(_ effects: [Effect], by machine: Int, in world: World) -> [Effect] { effects }
}
