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
}
