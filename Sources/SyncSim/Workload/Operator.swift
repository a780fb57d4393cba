import SyncCore
import SyncModel

/// Whoever runs the two machines: stops and pauses daemons, loses and restores disks and state, takes folders away and
/// brings them back, decides on held deletions, puts versions back.
///
/// Kills, power cuts and failing disks come by themselves (`World+Faults`). What the operator took away he brings back
/// before the world is healed.
package final class Operator: Agent {
    package let name = "operator"
    package var holdsSafetyPhase: Bool { false }
    package let rareStates = [
        "operator: a whole machine was put back to an old image",
        "operator: only the state was put back",
        "operator: only the folder was put back",
        "operator: state wiped",
        "operator: folder unmounted",
        "operator: folder emptied",
        "operator: another folder in its place",
        "operator: marker removed",
        "operator: mass deletion approved",
        "operator: mass deletion rejected",
        "operator: version restored",
    ]

    /// What is to be undone, and when.
    private struct Undo {
        let time: Int64
        let machine: Int
        /// It is the folder that comes back.
        let isReturn: Bool
        /// False if it cannot be done yet.
        let act: (World) -> Bool
    }

    private enum Chore: CaseIterable {
        case stops, pauses, images, wipes, roots, rescans, versions, heldDeletes

        var trait: Trait {
            switch self {
            case .stops: .orderlyStops
            case .pauses: .pauses
            case .images: .imageRestores
            case .wipes: .stateWipes
            case .roots: .rootLosses
            case .rescans: .rescans
            case .versions: .versionRestores
            case .heldDeletes: .massDeletes
            }
        }
    }

    private var chores: [(chore: Chore, next: Int64)] = []
    private var undos: [Undo] = []
    /// Folders that are not as they should be: nothing else is done to them meanwhile.
    private var isAway = [false, false]

    package init(_ plan: SeedPlan) {
        for chore in Chore.allCases where plan.isOn(chore.trait) {
            chores.append((chore, Int64(max(500, plan.pause(chore.trait)))))
        }
    }

    package func prepare(_ world: World) {}

    package func act(in world: World) -> Int? {
        guard !chores.isEmpty else { return nil }
        runUndos(world, all: false)
        for index in chores.indices where chores[index].next <= world.now {
            let chore = chores[index].chore
            strike(chore, world)
            let pause = world.random.operatorActs.below(2 * max(500, world.plan.pause(chore.trait)) + 1)
            chores[index].next = world.now + Int64(pause) + 1
        }
        let next = (chores.map(\.next) + undos.map(\.time)).min() ?? world.now + 1_000
        return max(1, Int(next - world.now))
    }

    package func rest(_ world: World) { runUndos(world, all: true) }

    private func runUndos(_ world: World, all: Bool) {
        let due = undos.filter { all || $0.time <= world.now }
        undos.removeAll { all || $0.time <= world.now }
        for undo in due {
            guard undo.act(world) else {
                undos.append(
                    Undo(time: world.now + 500, machine: undo.machine, isReturn: undo.isReturn, act: undo.act))
                continue
            }
            if undo.isReturn { isAway[undo.machine] = false }
        }
    }

    private func strike(_ chore: Chore, _ world: World) {
        let machine = world.random.operatorActs.below(2)
        guard world.machines[machine].isPowered, !isAway[machine], world.network.ghost != machine else { return }
        world.trace.mix(Int(chore.trait.rawValue) << 8 | machine)
        world.trace.tell("\(world.now) operator: \(chore) at \(world.machines[machine].name)")
        switch chore {
        case .stops: world.requestStop(machine)
        case .pauses: pause(machine, world)
        case .images: image(machine, world)
        case .wipes:
            world.rare.hit("operator: state wiped")
            world.wipeState(machine)
        case .roots: loseRoot(machine, world)
        case .rescans: world.command(machine, .rescan(.root))
        case .versions: tendVersions(machine, world)
        case .heldDeletes: decide(machine, world)
        }
    }

    private func later(
        _ machine: Int, _ world: World, isReturn: Bool = false, _ act: @escaping (World) -> Bool
    ) {
        let time = world.now + Int64(world.random.operatorActs.range(50...6_000))
        undos.append(Undo(time: time, machine: machine, isReturn: isReturn, act: act))
    }

    private func pause(_ machine: Int, _ world: World) {
        world.command(machine, .pause)
        later(machine, world) { world in
            world.command(machine, .resume)
            return true
        }
    }

    private func decide(_ machine: Int, _ world: World) {
        guard world.machines[machine].store.node.held != nil else { return }
        let approves = world.random.operatorActs.chance(percent: 50)
        world.rare.hit(approves ? "operator: mass deletion approved" : "operator: mass deletion rejected")
        world.command(machine, approves ? .approve : .reject)
    }

    /// Conflicts are resolved by setting their copies aside; now and then it is another file.
    private func tendVersions(_ machine: Int, _ world: World) {
        let files = world.machines[machine].store.rows.filter { $0.value.disk?.entry.content.kind == .file }.map(\.key)
        let copies = files.filter { ConflictName.isConflictCopy($0) }
        let isConflict = world.random.operatorActs.chance(percent: 80)
        guard world.random.operatorActs.chance(percent: 40),
            let path = world.random.operatorActs.pick(isConflict ? copies : files)
        else { return restoreVersion(machine, world) }
        world.command(machine, .setAside(path))
    }

    private func restoreVersion(_ machine: Int, _ world: World) {
        let versions = Array(world.machines[machine].store.versions.values)
        guard let version = world.random.operatorActs.pick(versions) else { return }
        let target = world.random.operatorActs.chance(percent: 50) ? nil : Path.root.appending(.known("restored"))
        // Its copy on the way back has a number too, which is that of what makes room for it as soon as it is there.
        if world.watch?.isPuttingBack(versionOf: version.path, machine, world) == true { return }
        world.rare.hit("operator: version restored")
        world.command(machine, .restore(version.id, to: target))
    }
}

// MARK: Images

extension Operator {
    /// Saves one while there is none; otherwise puts back the whole machine, the state alone or the folder alone.
    private func image(_ machine: Int, _ world: World) {
        guard let image = world.machines[machine].image, world.random.operatorActs.chance(percent: 70) else {
            // An image of a folder that is not there would be of no use to anybody.
            if world.machines[machine].disk.isMounted { world.saveImage(machine) }
            return
        }
        switch world.random.operatorActs.below(4) {
        case 0, 1:
            world.rare.hit("operator: a whole machine was put back to an old image")
            world.restoreImage(machine)
        case 2:
            world.rare.hit("operator: only the state was put back")
            world.life?.disaster(on: machine)
            world.kill(machine)
            let owed = world.watch?.owed(by: machine, world) ?? []
            world.machines[machine].store = image.store
            world.watch?.forget(machine, world)
            world.watch?.forgetRemovals(machine, since: image.time, world)
            world.watch?.forgetReturns(machine, since: image.time, world)
            world.watch?.forgetCopies(owed, machine, world)
            world.watch?.announce(.restoredState, machine, world)
            world.formatLife?.disaster(world)
        default:
            world.rare.hit("operator: only the folder was put back")
            // Whatever was written since, by whomever, it takes away.
            for machine in 0..<2 { world.life?.disaster(on: machine) }
            restoreFolder(machine, image, world)
        }
    }

    private func restoreFolder(_ machine: Int, _ image: Machine.Image, _ world: World) {
        world.kill(machine)
        let before = world.machines[machine].disk
        // A copy of the files into the folder that is there: everything is laid down anew, and long synced.
        let was = before.treeValues
        let values = before.allValues
        var disk = image.disk
        disk.faults = before.faults
        disk.uptimeMilliseconds = before.uptimeMilliseconds
        disk.kill()
        disk.becomeCopy(besides: before)
        disk.syncEverything()
        world.machines[machine].disk = disk
        world.ledger.replacedTree(machine, was: was, is: disk.treeValues, at: world.now)
        // Files that hold the same may have got an older mode or time back.
        world.ledger.forgotMetadata(of: machine) { disk.peekStat($0).map { ($0.mode, $0.modified) } }
        // Also what somebody had given them on the other machine, if it was here by then: it is changed here.
        world.ledger.forgotMetadata(of: 1 - machine) { path in
            guard let had = before.peekStat(path), let found = disk.peekStat(path),
                had.mode != found.mode || had.modified != found.modified
            else { return nil }
            return (found.mode, found.modified)
        }
        world.watch?.excuseLost(values, world)
        world.watch?.announce(.restoredTree, machine, world)
        world.formatLife?.disaster(world)
        world.formatLife?.putBack(was: was, is: disk.treeValues, at: world.now)
    }
}

// MARK: The root

extension Operator {
    private func loseRoot(_ machine: Int, _ world: World) {
        let hands = Hands(world, machine: machine)
        guard hands.hasFolder else { return }
        let now = world.stamp(machine)
        world.watch?.announce(.damagedRoot, machine, world)
        switch world.random.operatorActs.below(5) {
        case 0, 1:
            world.rare.hit("operator: folder unmounted")
            let leaves = world.random.operatorActs.chance(percent: 50)
            world.machines[machine].disk.unmount(leaving: leaves ? .emptyDirectory : .nothing)
            takeAway(machine, world) { Operator.mount(machine, $0) }
        case 2:
            world.rare.hit("operator: another folder in its place")
            let other = FolderID(SHA256.digest(of: Array("another folder".utf8)))
            let marker = world.random.operatorActs.chance(percent: 50) ? other : nil
            world.machines[machine].disk.replaceRoot(marker: marker, now: now)
            takeAway(machine, world) { Operator.mount(machine, $0) }
        case 3:
            world.rare.hit("operator: marker removed")
            world.machines[machine].disk.removeMarker(now: now)
            takeAway(machine, world) { world in
                let marker = world.machines[machine].store.node.folder.digest.bytes
                guard let path = Path(".syncd/folder-id") else { return true }
                // Half a marker is none: on a failing or full disk a person writes it until it is there.
                for _ in 0..<100 {
                    let error = world.machines[machine].disk.writeFile(path, marker, now: world.stamp(machine))
                    guard error == nil else { continue }
                    // Whoever puts it back sees to it that a power cut does not take it again.
                    world.machines[machine].disk.syncEverything()
                    return true
                }
                return false
            }
        default:
            world.rare.hit("operator: folder emptied")
            let removed = hands.removeAll(hands.tree.keys.filter { $0.depth == 1 })
            guard world.random.operatorActs.chance(percent: 60) else { return }
            later(machine, world) { world in
                let hands = Hands(world, machine: machine)
                for (path, remains) in removed where !hands.exists(path) { hands.restore(path, remains) }
                return true
            }
        }
    }

    private static func mount(_ machine: Int, _ world: World) -> Bool {
        world.machines[machine].disk.mount()
        return true
    }

    private func takeAway(_ machine: Int, _ world: World, bringBack: @escaping (World) -> Bool) {
        isAway[machine] = true
        later(machine, world, isReturn: true, bringBack)
    }
}
