/// A state that forgets its pair: all of it or nothing, and what there was lies beside it.
import Glibc
import Store
import SyncModel
import SyncSim
import Testing

@Suite("A forgotten pair")
struct ForgettingTests {
    private static let facts: [StoreFact] = [("peer.pin", nil), ("peer.former", [7])]

    /// A store by chance, the same as a simulated one.
    private func drawn(_ seed: UInt64, in store: Store) throws -> VirtualStore {
        var draws = Draws(seed: seed, stream: "forgetting")
        var virtual = VirtualStore(node: draws.node())
        try store.perform(StoreBatch([.putNode(virtual.node)]))
        for number in 0..<30 {
            let batch = number == 29 ? StoreBatch(draws.ownMove()) : draws.batch()
            virtual.perform(batch)
            try store.perform(batch)
        }
        let set = StoredChangeSet(.peer, LogPosition(epoch: Epoch(number: 1, nonce: 1), seq: 1), [1, 2, 3])
        virtual.perform(StoreBatch([.putChangeSet(set)]))
        try store.perform(StoreBatch([.putChangeSet(set)]))
        try store.setValue("peer.pin", [1])
        try store.setValue("boot.id", [2])
        return virtual
    }

    @Test(
        "rows, logs and sets are gone; versions, intents and what is to be said stay; the copy is what there was",
        arguments: 0..<6)
    func forgets(seed: UInt64) throws {
        let scratch = try Scratch()
        let store = try scratch.open()
        var virtual = try drawn(seed, in: store)
        let before = virtual
        virtual.forgetPeer()
        let name = String(decoding: try store.forgetPeer(as: virtual.node, setting: Self.facts), as: UTF8.self)
        try expectForgotten(virtual, store)
        store.close()
        try expectForgotten(virtual, try scratch.open())
        let other = try Scratch()
        try other.write(try scratch.bytes(name), to: "state.db")
        let copy = try other.open()
        #expect(try before.isIn(copy))
        #expect(try copy.value("peer.pin") == [1])
        guard case .changeSets(let sets) = try copy.answer(.changeSets(nil, after: .none, limit: .max)) else { return }
        #expect(!sets.isEmpty)
        #expect(!scratch.names.contains("state.db.copy"))
    }

    private func expectForgotten(_ virtual: VirtualStore, _ store: Store) throws {
        #expect(try virtual.isIn(store))
        #expect(try store.answer(.changeSets(nil, after: .none, limit: .max)) == .changeSets([]))
        #expect(try store.value("peer.pin") == nil && store.value("peer.former") == [7])
        #expect(try store.value("boot.id") == [2])
        #expect(try store.totals().files == 0)
    }

    @Test("what is written after it is as in a state that never knew anything", arguments: 0..<3)
    func goesOn(seed: UInt64) throws {
        let scratch = try Scratch()
        let store = try scratch.open()
        var virtual = try drawn(seed, in: store)
        virtual.forgetPeer()
        _ = try store.forgetPeer(as: virtual.node, setting: [])
        var draws = Draws(seed: seed, stream: "after forgetting")
        for _ in 0..<30 {
            let batch = draws.batch()
            virtual.perform(batch)
            try store.perform(batch)
            #expect(try virtual.isIn(store))
        }
    }

    @Test("a copy that cannot be made leaves the state as it was") func noCopy() throws {
        let scratch = try Scratch()
        let store = try scratch.open()
        let virtual = try drawn(1, in: store)
        var after = virtual
        after.forgetPeer()
        try #require(unsafe mkdir("\(scratch.path)/state.db.copy", 0o700) == 0)
        #expect(throws: StoreError.self) { try store.forgetPeer(as: after.node, setting: Self.facts) }
        #expect(try virtual.isIn(store))
        #expect(try store.value("peer.pin") == [1])
        try #require(unsafe rmdir("\(scratch.path)/state.db.copy") == 0)
        // What a process that was killed has left of one is in nobody's way.
        try scratch.write([1, 2, 3], to: "state.db.copy")
        _ = try store.forgetPeer(as: after.node, setting: Self.facts)
        #expect(try after.isIn(store))
    }

    @Test("a node that has forgotten is who it was, and gives no number twice") func record() {
        var node = NodeRecord(id: NodeID(Digest(words: (1, 2, 3, 4))), name: [1], folder: FolderID(.zero))
        let head = LogHead(
            position: LogPosition(epoch: Epoch(number: 7, nonce: 3), seq: 9), chain: Digest(words: (9, 9, 9, 9)))
        (node.peer, node.peerName) = (NodeID(.zero), [2])
        (node.ownHead, node.prunedThrough, node.importedHead, node.acknowledged) = (head, head, head, head)
        (node.applied, node.importedEpochs, node.rollbackCommon) = (head.position, [head], head.position)
        (node.nextStage, node.nextVersion, node.isPaused, node.isForked) = (5, 6, true, true)
        node.held = NodeRecord.HeldDeletes(id: 1, files: 2, sinceMilliseconds: 3)
        (node.initialImportDone, node.distrustSince, node.rulesConsidered) = (true, 4, .zero)
        (node.clock, node.aliveMilliseconds, node.steadySince) = (HybridTime(raw: 99), 8, 7)
        var after = node
        after.forgetPeer()
        var expected = NodeRecord(id: node.id, name: [1], folder: node.folder)
        expected.ownHead = LogHead(position: LogPosition(epoch: Epoch(number: 7, nonce: 3), seq: 0), chain: .zero)
        (expected.nextStage, expected.nextVersion, expected.isPaused) = (5, 6, true)
        (expected.clock, expected.aliveMilliseconds, expected.steadySince) = (node.clock, 8, 7)
        #expect(after == expected)
    }
}
