import SyncCore
import SyncModel

/// The programs at one machine that read and write guarded files, each in its own version, and the person who runs them: he
/// upgrades them, copies newer files in, breaks them, deletes and renames them, and settles conflicts.
package final class FormatUser: Agent {
    package let name: String
    package var holdsSafetyPhase: Bool { true }
    package let rareStates = [
        "formats: programs of another version were installed", "formats: a conflict copy was taken",
    ]

    private let life: FormatLife
    private let machine: Int
    private let paths: [Path]
    private var random: SeededRandom
    private var highest: UInt32
    /// Numbers of the operations still to do, last first.
    private var numbers: [Int]
    /// What is still to be done of the operation at hand, last first.
    private var steps: [(pause: Int, act: (World) -> Void)] = []
    private var file: Hands.OpenFile?
    private var tokens = 0

    init(_ plan: SeedPlan, _ life: FormatLife, machine: Int) {
        self.life = life
        self.machine = machine
        name = "programs of \(Machine.names[machine])"
        random = SeededRandom(seed: plan.seed, stream: "formats \(machine)")
        highest = life.support[machine]
        paths = FormatUser.paths(of: plan)
        let first = machine == 0 ? 0 : plan.userOperations[0]
        numbers = (0..<plan.userOperations[machine]).map { first + $0 }.reversed()
    }

    /// The same few on both machines, of one format or of several.
    private static func paths(of plan: SeedPlan) -> [Path] {
        var random = SeededRandom(seed: plan.seed, stream: "format paths")
        let places = [Path.root, Path(root: "d"), Path(root: "d/e")]
        let formats = random.chance(percent: 60) ? random.pick(GuardedFormat.allCases).map { [$0] } ?? [] : []
        return (0..<random.range(1...4)).map { number in
            let format = formats.first ?? random.pick(GuardedFormat.allCases) ?? .notes
            return format.path(random.pick(places) ?? .root, "f\(number / 2)")
        }.sorted().reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    package func prepare(_ world: World) {
        install(in: world)
        for path in paths where random.chance(percent: machine == 0 ? 80 : 20) {
            if let parent = path.parent { hands(world).makeDirectories(parent) }
            let bytes = content(for: path)
            change([path], world) { $0.write(path, bytes) }
        }
    }

    package func act(in world: World) -> Int? {
        if let step = steps.popLast() {
            step.act(world)
            return steps.isEmpty ? pause(world) : step.pause
        }
        while let number = numbers.popLast() {
            // Drawn for each operation by itself, so that the others stay as they are when one is left out.
            random = SeededRandom(seed: world.plan.seed, stream: "format-op-\(number)")
            if world.plan.skippedOperations.contains(number) { continue }
            begin(world)
            steps.reverse()
            world.trace.mix(number)
            return 0
        }
        return nil
    }

    package func rest(_ world: World) {
        while let step = steps.popLast() { step.act(world) }
    }

    private func pause(_ world: World) -> Int { random.below(2 * world.plan.userPauseMilliseconds + 1) }

    private func hands(_ world: World) -> Hands { Hands(world, machine: machine) }

    private func then(after pause: Int = 0, _ act: @escaping (World) -> Void) {
        if let last = steps.popLast() { steps.append((pause, last.act)) }
        steps.append((0, act))
    }

    // MARK: Operations

    private func begin(_ world: World) {
        guard let path = random.pick(paths) else { return }
        switch random.below(100) {
        case 0..<24: write(path)
        case 24..<32: writeSlowly(path)
        case 32..<54: replace(path)
        case 54..<64: removeAndMakeAnew(path)
        case 64..<71: then { self.change([path], $0) { $0.unlink(path) } }
        case 71..<77: rename(path)
        case 77..<80: touch(path)
        case 80..<85: tidyCopy(world)
        case 85..<90: takeCopy(world)
        case 90..<93: removeDirectory(path, world)
        default: upgrade()
        }
    }

    /// Mostly as the programs here save.
    private func content(for path: Path) -> [UInt8] {
        guard let format = GuardedFormat.of(path) else { return [] }
        tokens += 1
        let padding = random.chance(percent: 85) ? 0 : random.range(1...1_500)
        let token = "m\(machine)x\(tokens)" + String(repeating: ".", count: padding)
        return switch random.below(100) {
        case 0..<62: format.bytes(highest, token)
        case 62..<82: format.bytes(UInt32(random.range(1...Int(highest))), token)
        case 82..<88: format.bytes(highest + 1, token)
        case 88..<91: format.unknownBytes(token)
        case 91..<94: format.legacyBytes(token)
        case 94..<97: format.brokenBytes(highest, token)
        default: []
        }
    }

    private func makeWay(to path: Path) {
        then { world in path.parent.map { self.hands(world).makeDirectories($0) } }
    }

    private func write(_ path: Path) {
        let bytes = content(for: path)
        makeWay(to: path)
        then { self.change([path], $0) { $0.write(path, bytes) } }
    }

    /// In two pieces, with time to think in between.
    private func writeSlowly(_ path: Path) {
        let bytes = content(for: path)
        makeWay(to: path)
        then { world in self.change([path], world) { self.file = $0.open(path, create: true, truncate: true) } }
        for (from, to) in [(0, bytes.count / 2), (bytes.count / 2, bytes.count)] {
            then(after: random.pick([0, 1, 30, 400, 3_000]) ?? 0) { world in
                self.change([path], world) { hands in
                    if let file = self.file { hands.write(file, at: from, Array(bytes[from..<to])) }
                }
            }
        }
        then { world in
            if let file = self.file { self.hands(world).close(file) }
            self.file = nil
        }
    }

    /// A new file that is renamed over the old one.
    private func replace(_ path: Path) {
        guard let temporary = Hands.beside(path, prefix: ".", suffix: ".tmp") else { return }
        let bytes = content(for: path)
        let isSynced = random.chance(percent: 60)
        makeWay(to: path)
        then { world in
            // (A power cut may have left the file both names.)
            self.change([path], world) { hands in
                guard let file = hands.open(temporary, create: true, truncate: true) else { return }
                hands.write(file, at: 0, bytes)
                if isSynced { hands.sync(file) }
                hands.close(file)
            }
        }
        then(after: random.pick([0, 0, 1, 30]) ?? 0) { self.change([path], $0) { $0.rename(temporary, to: path) } }
    }

    private func removeAndMakeAnew(_ path: Path) {
        let bytes = content(for: path)
        makeWay(to: path)
        then { self.change([path], $0) { $0.unlink(path) } }
        then(after: random.pick([0, 0, 1, 20, 300, 3_000]) ?? 0) { self.change([path], $0) { $0.write(path, bytes) } }
    }

    private func rename(_ path: Path) {
        let format = GuardedFormat.of(path)
        let others = paths.filter { $0 != path && GuardedFormat.of($0) == format }
        guard let target = random.pick(others) else { return write(path) }
        makeWay(to: target)
        then { world in
            guard self.hands(world).exists(path) else { return }
            self.change([path, target], isMove: true, world) { $0.rename(path, to: target) }
        }
    }

    private func touch(_ path: Path) {
        let isMode = random.chance(percent: 50)
        let (mode, age) = (UInt16([0o600, 0o644, 0o640][random.below(3)]), random.below(100_000))
        then { world in
            guard self.hands(world).exists(path) else { return }
            let time = Timestamp(milliseconds: world.wall(of: self.machine) - Int64(age))
            if isMode { self.hands(world).chmod(path, mode) } else { self.hands(world).touch(path, time) }
        }
    }

    private func removeDirectory(_ path: Path, _ world: World) {
        guard let parent = path.parent, !parent.isRoot else { return }
        then { world in
            let all = Array(self.hands(world).tree.keys.filter { $0.isBelow(parent) })
            self.change(all, isMove: true, world) { $0.removeAll([parent]) }
            if !self.hands(world).exists(parent) { self.life.tookAway(parent, on: self.machine) }
        }
    }

    private func copies(_ world: World) -> [Path] {
        Array(hands(world).tree.keys).filter { ConflictFamily.base(of: $0) != nil && GuardedFormat.reading($0) != nil }
    }

    private func tidyCopy(_ world: World) {
        guard let copy = random.pick(copies(world)) else { return }
        then { self.hands($0).unlink(copy) }
    }

    /// `syncctl conflicts take ID copy`: the copy goes among the versions, and from there to the name.
    private func takeCopy(_ world: World) {
        guard let copy = random.pick(copies(world)), let path = ConflictFamily.base(of: copy),
            GuardedFormat.of(path) != nil
        else { return }
        var asked: CommandID?
        then(after: 2_000) { asked = $0.command(self.machine, .setAside(copy)) }
        then { world in
            guard let asked, case .done? = world.takeAnswer(self.machine, asked),
                let version = world.machines[self.machine].store.versions.values.last(where: { $0.path == copy })
            else { return }
            world.rare.hit("formats: a conflict copy was taken")
            world.command(self.machine, .restore(version.id, to: path))
        }
    }

    // MARK: Programs

    /// Other programs, mostly newer ones. The daemon reads what they understand when it starts.
    private func upgrade() {
        let isOlder = random.chance(percent: 20)
        let isKill = random.chance(percent: 50)
        then { world in
            self.highest = isOlder ? max(1, self.highest - 1) : min(5, self.highest + 1)
            world.rare.hit("formats: programs of another version were installed")
            self.install(in: world)
            guard world.machines[self.machine].isRunning else { return }
            if isKill { world.kill(self.machine) } else { world.requestStop(self.machine) }
        }
    }

    private func install(in world: World) {
        life.support[machine] = highest
        world.installFormats(GuardedFormat.rules(upTo: highest), on: machine)
    }

    // MARK: The judge is told

    private func change(_ paths: [Path], isMove: Bool = false, _ world: World, _ act: (Hands) -> Void) {
        let hands = hands(world)
        let guarded = paths.filter { GuardedFormat.of($0) != nil }
        let before = guarded.map { (value: hands.value(at: $0), isKnown: world.hasRead($0, on: machine)) }
        act(hands)
        for (path, was) in zip(guarded, before) {
            let after = hands.value(at: path)
            life.changed(
                path, on: machine, from: was.value, to: after, age: GuardedFormat.of(path)?.age(of: hands.bytes(path)),
                isKnown: was.isKnown, isMove: isMove, at: world.now)
            if was.value != after { world.loseFormats(at: path, life) }
            // What is written before the daemon has been through the folder after a power cut may count as what that has left.
            if world.isUnsettled(machine) { life.lose(at: path) { $0 != after } }
        }
    }
}

extension World {
    /// A daemon has on record what stands there, or the other machine shows the same.
    fileprivate func hasRead(_ path: Path, on machine: Int) -> Bool {
        guard let (value, stat) = machines[machine].disk.peek(path), value.isContent else { return false }
        if machines[1 - machine].disk.value(at: path) == value { return true }
        guard let known = machines[machine].store.rows[path]?.disk else { return false }
        return stat.isUntouched(since: known.stat) && known.entry.content.kind == .file
    }

    /// What a person has just written over is nowhere, unless it stands on the other machine or somebody has a copy for this path.
    fileprivate func loseFormats(at path: Path, _ life: FormatLife) {
        let left = machines.flatMap { machine in
            let versions = machine.store.versions.values.filter { $0.path == path }
            return [machine.disk.value(at: path)] + versions.map { machine.disk.value(at: $0.place) }
        }
        life.lose(at: path) { left.contains($0) }
    }
}
