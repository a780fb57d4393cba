import SyncModel
import Testing

@testable import SyncSim

@Suite("What somebody takes out of a directory that a daemon has moved for the other node, and moves back")
struct TakenOutTests {
    /// The node knows `d`, and has it at `e`. A person takes away what is in it, but for `y`, and then it goes back.
    private func goneBack(isAnnounced: Bool) -> (World, Watch) {
        let person = Person("e/ e/x=1 e/y=2 e/s/ e/s/f=3")
        let (world, watch) = (person.world, Watch(SeedPlan(calm: 11)))
        for name in ["d", "d/s"] { world.ledger.madeDirectory(name, on: 1) }
        for (name, text) in [("d/x", "1"), ("d/y", "2"), ("d/s/f", "3")] {
            world.ledger.wrote(text, at: name, on: 1)
            world.machines[0].store.perform(StoreBatch([.putRow(.file(text, at: name))]))
        }
        for name in ["d", "d/s"] { world.machines[0].store.perform(StoreBatch([.putRow(.directory(at: name))])) }
        if isAnnounced {
            let intent = Intent(
                stage: .first, path: at("e"), action: .rename(from: at("d")), expected: nil, displaced: nil)
            world.machines[0].store.perform(StoreBatch([.putIntent(intent)]))
        }
        person.hands.unlink(at("e/x"))
        person.hands.rename(at("e/s"), to: at("z"))
        let back = DiskOperation.move(.tree(at("e")), to: .tree(at("d")))
        watch.willPerform(back, on: 0, in: world)
        let error = world.machines[0].disk.rename(at("e"), to: at("d"), now: .seconds(9))
        #expect(error == nil && person.names == ["d", "d/y", "z", "z/f"])
        watch.didPerform(back, error: nil, on: 0, in: world)
        return (world, watch)
    }

    @Test("R-07: it is told of by the old name; nothing else is, nor without such a move", arguments: [true, false])
    func toldByTheOldName(isAnnounced: Bool) {
        var log = SmallLog(0)
        log.put(nil, at: "d/x")
        log.move("d/s", to: "z")
        log.put(nil, at: "d/y")
        let (world, watch) = goneBack(isAnnounced: isAnnounced)
        watch.willStore(StoreBatch(log.records.map { .appendLog($0) }), on: 0, in: world)
        let found = world.violations.filter { $0.invariant == DeletesHaveCauses.id }.map(\.detail)
        let wrong = isAnnounced ? ["d/y"] : ["d/x", "d/s", "d/y"]
        #expect(found == wrong.map { "alpha: the log says that \($0) was deleted; no person did that" })
    }
}
