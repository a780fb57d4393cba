import SyncCore
import SyncModel
import Testing

@testable import SyncSim

@Suite("What a node may not read or write")
struct ForbiddenTests {
    @Test(
        "path.permission: what cannot be read, or not be put in place, is a warning until it can, over a restart too",
        arguments: [0, 1])
    func forbidden(machine: Int) throws {
        let world = World(plan: SeedPlan(calm: 1))
        let path = try #require(Path("x"))
        let bytes = Array("text".utf8)
        let alert = AlertKey(code: .pathPermission, subject: path.bytes)
        world.begin()
        world.settle()
        // The first machine has the file, the second is to get it.
        #expect(world.machines[0].disk.writeFile(path, bytes, now: world.stamp(0)) == nil)
        world.machines[machine].disk.faults.permissionDenied = [path]
        world.notice()
        world.run(milliseconds: 4_000)
        #expect(world.machines[machine].alerts.isEmpty)
        world.run(milliseconds: 20_000)
        #expect(world.machines[machine].alerts[alert] != nil)
        #expect(world.machines[1 - machine].alerts.isEmpty)

        world.holdDown(machine)
        world.requestStop(machine)
        world.run(milliseconds: 2_000)
        world.release(machine)
        world.run(milliseconds: 3_000)
        #expect(world.machines[machine].isRunning && world.machines[machine].alerts[alert] != nil)

        world.machines[machine].disk.faults.permissionDenied = []
        world.settle()
        #expect(world.machines.allSatisfy { $0.alerts.isEmpty })
        #expect(world.machines[1].disk.readFile(path) == bytes)
        #expect(world.isClean, "\(world.violations)")
    }

    @Test("path.permission: of very many not each is told") func many() throws {
        let world = World(plan: SeedPlan(calm: 1))
        let paths = try (0..<300).map { number in try #require(Path("f\(number)")) }
        world.begin()
        world.settle()
        for path in paths {
            #expect(world.machines[0].disk.writeFile(path, path.bytes, now: world.stamp(0)) == nil)
        }
        world.machines[0].disk.faults.permissionDenied = paths
        world.notice()
        world.run(milliseconds: 20_000)
        #expect(world.machines[0].alerts.count { $0.key.code == .pathPermission } == 256)
        world.machines[0].disk.faults.permissionDenied = []
        world.settle()
        #expect(world.machines[0].alerts.isEmpty)
        #expect(world.isClean, "\(world.violations)")
    }
}
