package import SyncCore
import SyncModel

/// Who puts the models of a world in place, late, and what else is done to the folders and nodes around that: see `LateModels`. What he took
/// away, left out or held apart is as it was before the world is healed, and the models are there.
package final class Installer: Agent {
    package let name = "installer"
    package var holdsSafetyPhase: Bool { true }
    package let rareStates = [
        "records: a model came to the first of two", "records: a model came to the second",
        "records: rules left out files of a model that comes late",
    ]

    private let plan: LateModels
    private let life: RecordLife
    /// Of each machine: the model file is in place, and since which process.
    private var installed: [Int?] = [nil, nil]
    private var begun = [0, 0]
    private var next = 0
    /// The number of the first step, among the operations that may be skipped.
    private let firstNumber: Int
    /// Since when the first step waits for what people do before it.
    private var waitsSince: Int64?
    private var isPauseOver = false
    private var isApart: Bool
    private var rules: [Path?] = [nil, nil]
    private var hasLeftOut = false
    private var moved: [Moved?] = [nil, nil]
    private var random: SeededRandom

    private struct Moved {
        let place: Path
        let aside: Path
        let records: [RecordFolder.Name]
    }

    init(_ plan: LateModels, of seed: SeedPlan, _ life: RecordLife) {
        self.plan = plan
        self.life = life
        firstNumber = seed.userOperations[0] + seed.userOperations[1]
        isApart = plan.isApart
        random = SeededRandom(seed: seed.seed, stream: "late act")
    }

    /// The users of both machines have made what stands in their folders by now.
    package func prepare(_ world: World) {
        switch plan.beginning {
        case .copied: copyFolder(in: world, withTimes: false)
        case .copiedWithTimes: copyFolder(in: world, withTimes: true)
        case .nothing, .onOne, .onEach: break
        }
        for machine in 0..<2 {
            world.ownModels[machine] = []
            if plan.isDown(machine) { world.holdDown(machine) }
            if isApart { world.network.block(from: machine, at: world.now) }
        }
    }

    /// Whoever made the copy has seen what he copied.
    private func copyFolder(in world: World, withTimes: Bool) {
        let hands = Hands(world, machine: 1)
        for (path, bytes) in RecordFolder(world.machines[0].disk).files {
            if let parent = path.parent { hands.makeDirectories(parent) }
            hands.write(path, bytes)
            if withTimes, let stat = world.machines[0].disk.peekStat(path) { hands.touch(path, stat.modified) }
        }
        life.heard(1, at: world.now)
    }

    /// True if users of this machine make what stands there in the beginning.
    func begins(with machine: Int) -> Bool {
        switch plan.beginning {
        case .nothing: false
        case .onOne, .copied, .copiedWithTimes: machine == 0
        case .onEach: true
        }
    }

    /// A user asks whether he may begin an operation, and does if so.
    func mayBegin(on machine: Int) -> Bool {
        let isThere = installed[machine] != nil || next >= plan.steps.count
        let isAnywhere = installed.contains { $0 != nil }
        let most = plan.operationsBefore[machine] + (isAnywhere ? plan.operationsBetween[machine] : 0)
        guard isThere || begun[machine] < most else { return false }
        begun[machine] += 1
        return true
    }

    package func act(in world: World) -> Int? {
        guard next < plan.steps.count else { return nil }
        if next == 0, !isPauseOver, !haveBegun(world) { return 200 }
        if !isPauseOver {
            isPauseOver = true
            let pause = plan.steps[next].pauseMilliseconds
            if pause > 0 { return pause }
        }
        let number = firstNumber + next
        if !world.plan.skippedOperations.contains(number) {
            random = SeededRandom(seed: world.plan.seed, stream: "late-act-\(number)")
            perform(plan.steps[next].act, world)
        }
        next += 1
        isPauseOver = false
        return 0
    }

    /// What people do before there is a model; but a folder that is away may keep one of them from it.
    private func haveBegun(_ world: World) -> Bool {
        let since = waitsSince ?? world.now
        waitsSince = since
        let areThrough = (0..<2).allSatisfy { machine in
            begun[machine] >= min(plan.operationsBefore[machine], world.plan.userOperations[machine])
        }
        return areThrough || world.now - since > Installer.patienceMilliseconds
    }

    private static let patienceMilliseconds: Int64 = 60_000

    private func perform(_ act: LateModels.Act, _ world: World) {
        world.trace.tell("\(world.now) \(name): \(act)")
        switch act {
        case .install(let machine): install(on: machine, world)
        case .stop(let machine): world.requestStop(machine)
        case .kill(let machine): world.kill(machine)
        case .cutPower(let machine): world.powerCut(machine)
        case .join: join(world)
        case .start(let machine): world.release(machine)
        case .touch(let machine): touch(on: machine, world)
        case .moveAway(let machine): moveAway(on: machine, world)
        case .moveBack(let machine): moveBack(on: machine, world)
        case .leaveOut(let machine): leaveOut(on: machine, world)
        case .letGo(let machine): letGo(on: machine, world)
        }
    }

    /// Before the faults of nature are mended: nothing is left undone.
    package func rest(_ world: World) {
        next = plan.steps.count
        for machine in 0..<2 {
            world.powerOn(machine)
            if installed[machine] == nil { install(on: machine, world) }
            if installed[machine] == world.machines[machine].process { world.kill(machine) }
            moveBack(on: machine, world)
            // Also those of the other that have come, and what a power cut has brought back.
            let hands = Hands(world, machine: machine)
            for path in hands.tree.keys where path.name?.bytes == IgnoreRules.fileName { hands.unlink(path) }
            // (No later cut brings them back: they would leave out here what the other node shows, and nobody takes them away any more.)
            for file in Installer.ruleFiles where hasLeftOut {
                world.machines[machine].disk.syncDirectory(file.parent ?? .root)
            }
        }
        join(world)
    }

    /// Somebody else, asked whether so many deletes are meant, may have had his rules brought back: he takes them away once more.
    package func attend(_ status: Status, on machine: Int, in world: World) {
        guard hasLeftOut, status.inSync else { return }
        let hands = Hands(world, machine: machine)
        for file in Installer.ruleFiles where !hands.bytes(file).isEmpty {
            world.trace.tell("\(world.now) \(name): takes away \(file) once more")
            hands.unlink(file)
            world.machines[machine].disk.syncDirectory(file.parent ?? .root)
        }
    }

    // MARK: Nodes

    private func install(on machine: Int, _ world: World) {
        world.rare.hit(
            installed[1 - machine] == nil
                ? "records: a model came to the first of two" : "records: a model came to the second")
        world.ownModels[machine] = nil
        installed[machine] = world.machines[machine].process
        // What is out of the way by now is gone, as far as a node with a model can tell.
        for machine in 0..<2 where moved[machine] != nil { noteRemovals(on: machine, world) }
    }

    private func join(_ world: World) {
        guard isApart else { return }
        isApart = false
        for sender in 0..<2 { world.network.unblock(from: sender, at: world.now) }
        world.network.wantConnection(at: world.now, &world.random.network)
        world.linkChanged()
    }

    // MARK: Files

    private func touch(on machine: Int, _ world: World) {
        let disk = world.machines[machine].disk
        guard let path = random.pick(Array(RecordFolder(disk).files.keys)) else { return }
        let back = random.pick([0, 0, 5_000, 86_400_000]) ?? 0
        Hands(world, machine: machine).touch(
            path, Timestamp(milliseconds: world.wall(of: machine) - Int64(back)))
    }

    private func moveAway(on machine: Int, _ world: World) {
        let folder = RecordFolder(world.machines[machine].disk)
        let isAll = random.chance(percent: 30) && !folder.files.isEmpty
        guard let path = isAll ? RecordFolder.root : random.pick(Array(folder.files.keys)) else { return }
        let aside = Path(root: "aside\(machine)")
        let records = folder.places.filter { $0.value == path || isAll }.map(\.key)
        moved[machine] = Moved(place: path, aside: aside, records: records)
        if installed.contains(where: { $0 != nil }) { noteRemovals(on: machine, world) }
        guard Hands(world, machine: machine).rename(path, to: aside) == nil else { return moved[machine] = nil }
        if !isAll { return }
        life.movedAside(to: aside, with: folder.files.keys.compactMap { $0.rebased(from: path, to: aside) })
    }

    private func moveBack(on machine: Int, _ world: World) {
        guard let away = moved[machine] else { return }
        moved[machine] = nil
        let hands = Hands(world, machine: machine)
        guard hands.kind(away.aside) == .directory else {
            return putBack(away.aside, at: away.place, hands)
        }
        for path in hands.tree.keys where path.isBelow(away.aside) && hands.kind(path) != .directory {
            if let place = path.rebased(from: away.aside, to: away.place) { putBack(path, at: place, hands) }
        }
        hands.removeAll([away.aside])
    }

    private func putBack(_ path: Path, at place: Path, _ hands: Hands) {
        guard hands.exists(path) else { return }
        // Something has come there meanwhile, stands for it under another name, or is in quarantine: who puts the old file back does not ask what
        // that says.
        let names = RecordFolder.names(in: hands.bytes(path), at: place)
        if hands.exists(place) {
            let there = RecordFolder.names(in: hands.bytes(place), at: place)
            for record in there + names { life.excuse(record) }
        } else {
            let folder = RecordFolder(hands.world.machines[hands.machine].disk)
            let out = hands.world.recordsInQuarantine(on: hands.machine)
            for record in names where out.contains(record) || life.isUnderAnotherName(record, in: folder) {
                life.excuse(record)
            }
        }
        if let parent = place.parent { hands.makeDirectories(parent) }
        hands.rename(path, to: place)
    }

    /// What a node with a model finds gone counts as deleted, and what its model has go along with it.
    private func noteRemovals(on machine: Int, _ world: World) {
        guard let away = moved[machine] else { return }
        for record in away.records {
            life.removed(record, on: machine, at: world.now)
            for disk in world.machines.map(\.disk) {
                for note in RecordFolder(disk).notes(in: record) where record.entity == "F" {
                    life.removed(note, on: machine, at: world.now)
                }
            }
        }
    }

    /// Each in a file of his own, or they would be a conflict.
    private static let ruleFiles = [Path(root: ".syncignore"), Path(root: "d/.syncignore")]

    private func leaveOut(on machine: Int, _ world: World) {
        let files = RecordFolder(world.machines[machine].disk).files
        guard let path = random.pick(Array(files.keys)), let parent = path.parent else { return }
        let isOne = random.chance(percent: 60)
        let pattern = isOne ? "/\(path)" : parent == RecordFolder.root ? "*.json" : "/\(parent)/"
        let file = Installer.ruleFiles[machine]
        let below = machine == 0 || pattern == "*.json" ? pattern : String(pattern.dropFirst("/d".count))
        rules[machine] = file
        hasLeftOut = true
        let hands = Hands(world, machine: machine)
        if let parent = file.parent { hands.makeDirectories(parent) }
        hands.write(file, Array((below + "\n").utf8))
        world.rare.hit("records: rules left out files of a model that comes late")
    }

    private func letGo(on machine: Int, _ world: World) {
        guard let file = rules[machine] else { return }
        rules[machine] = nil
        Hands(world, machine: machine).unlink(file)
    }
}

extension World {
    /// Of which a file lies there.
    func recordsInQuarantine(on machine: Int) -> [RecordFolder.Name] {
        machines[machine].store.versions.flatMap { _, version in
            guard version.isQuarantined, !version.isPrunable else { return [RecordFolder.Name]() }
            let bytes = machines[machine].disk.peekBytes(VirtualDisk.path(of: version.place)) ?? []
            return RecordFolder.names(in: bytes, at: version.path)
        }
    }
}
