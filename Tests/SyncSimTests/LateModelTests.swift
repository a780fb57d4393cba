import SyncModel
import Testing

@testable import SyncSim

/// Worlds whose record files stand there before their model comes.
@Suite("Records whose model comes late")
struct LateModelTests {
    @Test("Only worlds above two millions have late models, and they are about every scene") func seeds() {
        for seed: UInt64 in [1, 999_999, 1_000_001, 2_000_000] {
            #expect(SeedPlan(recordsOf: seed).lateModels == nil)
        }
        let plans = (1...100).map { SeedPlan(recordsOf: 2_000_000 + $0) }
        #expect(plans.allSatisfy { $0.lateModels != nil })
        #expect(Set(plans.compactMap(\.scene)) == Set(RecordScene.allCases))
    }

    @Test("Each machine gets its model once, and what is taken away or left out before is given back after that")
    func steps() {
        for seed: UInt64 in 1...200 {
            let acts = LateModels(seed: seed, cutsPower: true).steps.map(\.act)
            for machine in 0..<2 {
                #expect(acts.count { $0 == .install(machine) } == 1)
                for (first, second) in [
                    (LateModels.Act.moveAway(machine), LateModels.Act.moveBack(machine)),
                    (.leaveOut(machine), .letGo(machine)),
                ] {
                    guard let begin = acts.firstIndex(of: first) else { continue }
                    #expect(acts.firstIndex(of: second).map { $0 > begin } ?? false)
                }
            }
        }
    }

    @Test("The nodes begin without a model and end with it, whatever was skipped", arguments: [false, true])
    func arrival(skipsAll: Bool) {
        var plan = SeedPlan(recordsOf: 2_000_002)
        if skipsAll { for number in 0..<100 { plan.skippedOperations.insert(number) } }
        let world = Simulation.world(of: plan, keepsTrace: false, budget: Budget())
        world.begin()
        #expect(world.ownModels.allSatisfy { $0?.isEmpty ?? false })
        while world.isClean, world.busyAgents > 0, world.advance() {}
        world.settle()
        #expect(world.isClean && world.ownModels.allSatisfy { $0 == nil })
    }

    @Test("Rules that are taken away at the end do not come back with a power cut") func rules() {
        let world = Simulation.world(of: SeedPlan(recordsOf: 2_017_639), keepsTrace: false, budget: Budget())
        world.begin()
        while world.isClean, world.busyAgents > 0, world.advance() {}
        world.settle()
        for machine in 0..<2 {
            world.powerCut(machine, .strict)
            let names = Hands(world, machine: machine).tree.keys.compactMap { $0.name?.bytes }
            #expect(!names.isEmpty && !names.contains(IgnoreRules.fileName))
        }
    }

    @Test("Rules that come back once all is mended are taken away once more") func rulesBack() {
        let world = Simulation.world(of: SeedPlan(recordsOf: 2_017_639), keepsTrace: false, budget: Budget())
        world.begin()
        while world.isClean, world.busyAgents > 0, world.advance() {}
        world.settle()
        let rules = Path(root: "d/.syncignore")
        Hands(world, machine: 1).write(rules, Array("n/\n".utf8))
        world.notice()
        world.settle()
        #expect(world.isClean)
        for machine in 0..<2 { #expect(!Hands(world, machine: machine).exists(rules)) }
    }

    @Test(
        "What was in quarantine on the only node with change sets may go with its state, and nothing else",
        arguments: [false, true])
    func lostState(otherHasModel: Bool) throws {
        let world = lateWorld()
        try quarantine(in: world, on: otherHasModel ? [0, 1] : [0])
        #expect(world.machines[0].store.versions.contains { $0.value.isQuarantined && !$0.value.isPrunable })
        let life = RecordLife(.couples)
        let names = ["a1", "a2"].map { RecordFolder.Name(entity: "A", key: $0) }
        for name in names { life.wrote("w of \(name)", "t", of: name, on: 1, at: 0, isBirth: true) }
        let judge = RecordJudge(life)
        judge.willHappen(.powerCut, to: 0, in: world)
        judge.willHappen(.imageRestored, to: 0, in: world)
        #expect(life.ownedForGood == names)
        judge.willHappen(.stateWiped, to: 0, in: world)
        #expect(life.ownedForGood == (otherHasModel ? names : [names[1]]))
        #expect(life.owed.count == (otherHasModel ? 2 : 1))
    }

    @Test("What was saved into the folder as it was moved aside may stay there on both nodes, nothing that was moved")
    func savedAside() throws {
        for (isMoved, isOnBoth) in [(false, true), (true, true), (false, false)] {
            let world = lateWorld()
            let path = "aside1/k/k1.json"
            for machine in 0...(isOnBoth ? 1 : 0) {
                try world.save(path, #"{"n": "anna", "t": "w0x1"}"#, on: machine)
            }
            let life = RecordLife(.keys)
            life.wrote("w0x1", "t", of: RecordFolder.Name(entity: "K", key: "k1"), on: 0, at: 0, isBirth: true)
            life.movedAside(to: Path(root: "aside1"), with: isMoved ? [Path(root: path)] : [])
            RecordJudge(life).atQuiescence(world)
            #expect(world.violations.map(\.invariant) == (isMoved || !isOnBoth ? ["INV-21"] : []))
        }
    }

    @Test("Of what lies in quarantine the files are known, and of nothing else") func quarantine() throws {
        let world = World(plan: SeedPlan(calm: 1))
        try quarantine(in: world, on: [0, 1])
        for machine in 0..<2 {
            #expect(world.recordsInQuarantine(on: machine) == [RecordFolder.Name(entity: "A", key: "a1")])
        }
    }

    private func lateWorld() -> World {
        var plan = SeedPlan(calm: 1)
        plan.lateModels = LateModels(seed: 1, cutsPower: false)
        return World(plan: plan)
    }

    /// Without its partner a1 is in quarantine, once there is a model.
    private func quarantine(in world: World, on machines: [Int]) throws {
        world.install(RecordScene.couples.modelText)
        world.ownModels = [[], []]
        try world.save("d/a/a1.json", #"{"b": "b1"}"#, on: 0)
        try world.save("d/a/a2.json", #"{"b": "b2"}"#, on: 0)
        try world.save("d/b/b2.json", #"{"a": "a2"}"#, on: 0)
        world.begin()
        world.settle()
        for machine in machines {
            world.ownModels[machine] = nil
            world.kill(machine)
            world.release(machine)
        }
        world.run(milliseconds: 120_000)
    }
}
