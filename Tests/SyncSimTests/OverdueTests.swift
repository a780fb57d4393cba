import SyncCore
import SyncModel
import Testing

@testable import SyncSim

@Suite("What does not come for long")
struct OverdueTests {
    @Test(
        "I24: a peer that withholds a file for eleven minutes: a warning after ten, which goes when it comes, and nobody did anything"
    )
    func withheld() throws {
        let world = World(plan: SeedPlan(calm: 1))
        let path = try #require(Path("x"))
        let bytes = Array("text".utf8)
        let withholder = Withholder()
        world.begin()
        world.settle()
        world.saboteur = withholder
        #expect(world.machines[0].disk.writeFile(path, bytes, now: world.stamp(0)) == nil)
        world.notice()
        world.run(milliseconds: 595_000)
        #expect(world.machines[1].alerts.isEmpty && withholder.withheld >= 10)
        world.run(milliseconds: 70_000)
        #expect(world.machines[1].alerts.keys.map(\.code) == [.contentOverdue])
        #expect(world.machines[1].disk.readFile(path) == nil)

        withholder.isOver = true
        world.settle()
        #expect(world.machines[1].alerts.isEmpty)
        #expect(world.machines[1].disk.readFile(path) == bytes)
        #expect(world.isClean, "\(world.violations)")
    }
}

/// Instead of a content the second machine is told that it cannot be had now.
private final class Withholder: Saboteur {
    var isOver = false
    private(set) var withheld = 0

    func told(_ event: Event, on machine: Int, in world: World) -> Event? {
        guard !isOver, machine == 1, case .received(let link, let frame) = event,
            case .contents(let contents)? = FrameCodec.decode(frame), let first = contents.first
        else { return event }
        withheld += 1
        return .received(link, FrameCodec.encode(.later(first.id)))
    }

    func asked(_ effects: [Effect], by machine: Int, in world: World) -> [Effect] { effects }
}
