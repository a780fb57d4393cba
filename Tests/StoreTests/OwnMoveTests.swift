/// A directory move of ours can be told of before its rows have changed, and nobody sees the difference.
import Store
import SyncModel
import SyncSim
import Testing

@Suite("Directory moves of ours")
struct OwnMoveTests {
    /// A directory of some files, and the batch that moves it.
    private struct Trial {
        let scratch: Scratch
        let store: Store
        var virtual: VirtualStore
        let batch: StoreBatch

        init(seed: UInt64) throws {
            FaultyDisk.prepare()
            scratch = try Scratch()
            store = try scratch.open()
            var draws = Draws(seed: seed, stream: "own move")
            virtual = VirtualStore(node: draws.node())
            let rows = try (0..<300).map { number in StoreOperation.putRow(draws.row(at: try place("old/\(number)"))) }
            let first = StoreBatch([.putNode(virtual.node)] + rows)
            let move = draws.relocation(from: try place("old"), to: try place("new"))
            let entry = LogRecord(
                head: LogHead(position: draws.position(), chain: draws.digest()), time: HybridTime(raw: 1),
                change: .relocate(move))
            batch = StoreBatch([.appendLog(entry), .relocate(move)])
            try store.perform(first)
            virtual.perform(first)
            virtual.perform(batch)
        }
    }

    @Test("the entry is durable before the rows have changed, and these follow when somebody asks for one")
    func entryFirst() throws {
        let trial = try Trial(seed: 1)
        try trial.store.perform(trial.batch)
        let log = StoreQuery.log(after: .none, limit: .max)
        let (_, hasFailed) = FaultyDisk.failing(.noSpace, after: 0) {
            #expect(throws: Never.self) { try #expect(trial.store.answer(log) == trial.virtual.answer(log)) }
            #expect(throws: StoreError.self) { try trial.store.totals() }
        }
        #expect(hasFailed, "the rows had changed before")
        #expect(try trial.virtual.isIn(trial.store))
        trial.store.close()
    }

    @Test("a process that ends before the rows have changed leaves the rest to the next one") func nextProcess() throws
    {
        for end in FaultyDisk.Fault.allCases {
            let trial = try Trial(seed: 2)
            try trial.store.perform(trial.batch)
            // The second time there is a hole behind the entry.
            _ = FaultyDisk.failing(end, after: 0) { _ = Result { try trial.store.totals() } }
            trial.store.close()
            let next = try trial.scratch.open()
            #expect(try trial.virtual.isIn(next))
            next.close()
        }
    }

    @Test("a batch that says more is performed as a whole") func otherBatches() throws {
        let trial = try Trial(seed: 3)
        let row = StoreOperation.putRow(Row(path: try place("other")))
        #expect(trial.batch.ownMove != nil)
        #expect(StoreBatch(trial.batch.operations + [row]).ownMove == nil)
        #expect(StoreBatch(Array(trial.batch.operations.dropFirst())).ownMove == nil)
        #expect(StoreBatch(Array(trial.batch.operations.dropLast())).ownMove == nil)
        let doubting = trial.batch.operations.map { operation -> StoreOperation in
            guard case .relocate(var move) = operation else { return operation }
            move.distrustOfIgnored = 1
            return .relocate(move)
        }
        #expect(StoreBatch(doubting).ownMove == nil)
    }
}
