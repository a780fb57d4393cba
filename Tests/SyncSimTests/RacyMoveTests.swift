import SyncModel
import Testing

@testable import SyncSim

/// Red on 92e99ac: `Relocation.applied` drops `isRacy`, so that the last change before a directory's move and the first
/// after it can be one to the daemon. Green with racy-relocation.diff. The unit belongs into `RelocationTests`.
@Suite("A directory moves in the breath in which a file in it changes")
struct RacyMoveTests {
    @Test("INV-11: a change in the same tick as the file's last look is noticed, also after its directory moved")
    func changeAfterTheMove() {
        var plan = SeedPlan(calm: 1)
        plan.stampNanoseconds = 1_000_000_000
        let world = World(plan: plan)
        world.begin()
        let hands = Hands(world, machine: 0)
        func act(_ body: () -> Void) {
            body()
            world.notice()
            world.run(milliseconds: 100)
        }
        act { hands.makeDirectories(at("d/s")) }
        world.run(milliseconds: 31_005 - world.now)
        act { hands.write(at("d/x"), utf8("1")) }
        act { hands.rename(at("d"), to: at("e")) }
        act { hands.write(at("e/x"), utf8("2")) }
        world.settle()
        #expect(world.sketch(1) == world.sketch(0) && world.sketch(0) == "e/s/  e/x=2")
    }

    @Test("a look too fresh to be trusted stays so at the new path") func racyLook() throws {
        var row = Row.file("1", at: "d/x")
        row.disk?.isRacy = true
        let halves = try #require(Relocation("d", to: "e").applied(to: row, replacing: nil))
        #expect(halves.new.disk?.isRacy == true)
    }
}
