/// The heart of these tests: what the store answers is what `VirtualStore` answers, under which everything else was proved.
import Store
import SyncModel
import SyncSim
import Testing

@Suite("The store answers as the simulated one does")
struct DifferentialTests {
    @Test("random batches, with a new open in between: every question has the same answer", arguments: 0..<12)
    func agrees(seed: Int) throws {
        let scratch = try Scratch()
        var draws = Draws(seed: UInt64(seed))
        var virtual = VirtualStore(node: draws.node())
        var store = try scratch.open()
        try store.perform(StoreBatch([.putNode(virtual.node)]))
        virtual.perform(StoreBatch())
        for step in 0..<150 {
            let batch = draws.batch()
            try store.perform(batch)
            virtual.perform(batch)
            if draws.random.chance(percent: 3) {
                store.close()
                store = try scratch.open()
            }
            try compare(store, virtual, &draws, step)
        }
        try compareWhole(store, virtual)
    }

    @Test("a quiet time, in which chunk lists are forgotten at the same moment", arguments: 0..<3)
    func forgets(seed: Int) throws {
        let scratch = try Scratch()
        var draws = Draws(seed: UInt64(seed), stream: "quiet")
        var virtual = VirtualStore(node: draws.node())
        var store = try scratch.open()
        for step in 0..<200 {
            let batch = draws.random.chance(percent: 10) ? draws.batch() : StoreBatch()
            try store.perform(batch)
            virtual.perform(batch)
            if step % 50 == 25 {
                store.close()
                store = try scratch.open()
            }
            let content = draws.content()
            for query in [.chunkList(content.id), .chunkSources(content.list.chunks.map(\.digest))] as [StoreQuery] {
                let answer = try store.answer(query)
                #expect(answer == virtual.answer(query), "step \(step)")
            }
        }
    }

    @Test("change sets are put, replaced, dropped up to a position, and read in order", arguments: 0..<3)
    func changeSets(seed: Int) throws {
        let scratch = try Scratch()
        var draws = Draws(seed: UInt64(seed), stream: "change sets")
        var virtual = VirtualStore(node: draws.node())
        var store = try scratch.open()
        for step in 0..<100 {
            let author = draws.random.chance(percent: 50) ? Author.own : .peer
            let bytes = draws.random.bytes(draws.random.below(40))
            let put = StoreOperation.putChangeSet(StoredChangeSet(author, draws.position(), bytes))
            let isDrop = draws.random.chance(percent: 15)
            let batch = StoreBatch(isDrop ? [.dropChangeSets(author, through: draws.position()), put] : [put])
            try store.perform(batch)
            virtual.perform(batch)
            if step % 30 == 29 {
                store.close()
                store = try scratch.open()
            }
            for query in [
                .changeSets(nil, after: .none, limit: .max),
                .changeSets(author, after: draws.position(), limit: draws.random.below(6)),
            ] as [StoreQuery] {
                let answer = try store.answer(query)
                #expect(answer == virtual.answer(query), "step \(step): \(query)")
            }
        }
    }

    private func compare(_ store: Store, _ virtual: VirtualStore, _ draws: inout Draws, _ step: Int) throws {
        for query in draws.queries() {
            let answer = try store.answer(query)
            if answer != virtual.answer(query) { Issue.record("step \(step): \(query) is answered otherwise") }
        }
        let node = try store.node()
        #expect(node == virtual.node || (step < 1 && node == nil))
        guard case .summary(let all) = virtual.answer(.summary(.root)) else { return }
        let totals = try store.totals()
        #expect(totals.files == all.files && totals.directories == all.directories)
        #expect(totals.bytes == virtual.rows.values.reduce(0) { $0 &+ ($1.disk?.entry.content.size ?? 0) })

        let (directory, after) = (draws.path(), draws.maybe { $0.path() })
        let limit = draws.random.range(0...4)
        let children = virtual.rows.values.filter { row in
            row.path.parent == directory && (after.map { $0 < row.path } ?? true)
        }
        let found = try store.children(of: directory, after: after, limit: limit)
        #expect(found == Array(children.prefix(limit)))
    }

    private func compareWhole(_ store: Store, _ virtual: VirtualStore) throws {
        let rows = Array(virtual.rows.values.filter { !$0.path.isRoot })
        #expect(try store.answer(.below(.root, after: nil, limit: .max)) == .rows(rows))
        #expect(try store.answer(.log(after: .none, limit: .max)) == virtual.answer(.log(after: .none, limit: .max)))
        #expect(try store.answer(.intents) == .intents(Array(virtual.intents.values)))
        #expect(try store.answer(.versions(nil, limit: .max)) == .versions(Array(virtual.versions.values)))
    }
}
