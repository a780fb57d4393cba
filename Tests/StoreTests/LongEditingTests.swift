/// Two simulated nodes whose users edit records for long, with the real state.db of one of them beside it: it is given every batch that
/// its node has stored.
import Store
import SyncModel
import Testing

@testable import SyncSim

@Suite("The table of change sets under long editing")
struct LongEditingTests {
    private static let model = """
        {"model": "m", "version": 1, "root": "d", "entities": {
          "N": {"files": "n/*.json", "id": "stem", "fields": {"t": {"type": "string"}}}}}
        """

    @Test("V13: keeps to its bound however long it goes on, and loses no record")
    func bounded() throws {
        let scratch = try Scratch()
        var plan = SeedPlan(calm: 1)
        let least = 32
        for index in plan.limits.indices { plan.limits[index].setsForgottenMin = least }
        let world = World(plan: plan)
        let table = try Table(scratch, of: 0)
        world.install(LongEditingTests.model)
        world.add(table)
        world.begin()
        let records = 10
        for number in 0..<400 {
            let machine = number / 3 % 2
            let path = try place("d/n/\(number % records).json")
            if number < records { world.machines[machine].disk.mkdir(try place("d"), now: world.stamp(machine)) }
            if number < records { world.machines[machine].disk.mkdir(try place("d/n"), now: world.stamp(machine)) }
            let bytes = Array(#"{"t": "\#(number)"}"#.utf8)
            #expect(world.machines[machine].disk.writeFile(path, bytes, now: world.stamp(machine)) == nil)
            world.notice()
            world.run(milliseconds: 1_000)
            if number == 199 { table.beginAnew() }
        }
        world.settle()
        #expect(world.isClean, "\(world.violations)")
        try table.fault.map { throw $0 }

        print("FIGURE \(table.put) sets were stored; in the table \(table.before) and then \(table.most) lay at most")
        #expect(table.put >= 380)
        // Of each record the last write of either node, and what neither can know yet that the other has seen: both promise that half of
        // the least at a time, some seconds late.
        let left = 2 * records + 2 * least
        #expect(table.left <= left)
        #expect(table.most <= 2 * left + least)
        // The second half is no higher than the first. (Either node promises half of the least at a time: when both come together in one half
        // of the story and not in the other, that is as much as the two may differ by.)
        #expect(table.most <= table.before + least)
        // Nothing lies beside the table that would grow instead, and a new process finds the same in it.
        let sets = try table.sets()
        #expect(.changeSets(sets) == world.machines[0].store.answer(LongEditingTests.all))
        for machine in world.machines {
            for number in 0..<records {
                let text = #"{"t": "\#(390 + number)"}"#
                #expect(machine.disk.readFile(try place("d/n/\(number).json")) == Array(text.utf8))
            }
        }
    }

    static let all = StoreQuery.changeSets(nil, after: .none, limit: .max)
}

/// A state.db that is told of all change sets that one machine stores.
private final class Table: Checker {
    private let scratch: Scratch
    private let machine: Int
    private var store: Store
    private(set) var put = 0
    private(set) var most = 0
    /// `most` until `beginAnew`.
    private(set) var before = 0
    /// At most, after forgetting.
    private(set) var left = 0
    private(set) var fault: (any Error)?

    init(_ scratch: Scratch, of machine: Int) throws {
        self.scratch = scratch
        self.machine = machine
        store = try scratch.open()
    }

    func beginAnew() { (before, most) = (most, 0) }

    func sets() throws -> [StoredChangeSet] {
        store.close()
        store = try scratch.open()
        return try rows()
    }

    private func rows() throws -> [StoredChangeSet] {
        guard case .changeSets(let sets) = try store.answer(LongEditingTests.all) else { return [] }
        return sets
    }

    var rareStates: [String] { [] }
    func begin(_ world: World) {}
    func willPerform(_ operation: DiskOperation, on machine: Int, in world: World) {}
    func didPerform(_ operation: DiskOperation, error: DiskError?, on machine: Int, in world: World) {}
    func willStore(_ batch: StoreBatch, on machine: Int, in world: World) {
        guard machine == self.machine else { return }
        var operations: [StoreOperation] = []
        var isForgetting = false
        for operation in batch.operations {
            if case .putChangeSet = operation { operations.append(operation) }
            guard case .dropChangeSets = operation else { continue }
            operations.append(operation)
            isForgetting = true
        }
        guard !operations.isEmpty else { return }
        do {
            try store.perform(StoreBatch(operations))
            let count = try rows().count
            most = max(most, count)
            if isForgetting { left = max(left, count) } else { put += operations.count }
        } catch {
            fault = error
        }
    }
    func willHappen(_ occurrence: Occurrence, to machine: Int, in world: World) {}
    func didHappen(_ occurrence: Occurrence, to machine: Int, in world: World) {}
    func afterStep(_ step: StepRecord, in world: World) {}
    func atPause(_ world: World) {}
    func atQuiescence(_ world: World) {}
}
