/// Commits that are not synced: a power cut leaves the state as it was after one of them, and never less than was synced.
import Dispatch
import Glibc
import Store
import SyncModel
import SyncSim
import Synchronization
import Testing

@Suite("Commits before their sync")
struct UnsyncedTests {
    /// What lies on the disk at two moments, and the states in between.
    private struct Course {
        /// Of state.db, which no commit touches.
        var state: [UInt8] = []
        /// The journal when it was last synced, and at the end.
        var synced: [UInt8] = []
        var journal: [UInt8] = []
        /// After the last sync, and after each commit since.
        var states: [VirtualStore] = []
    }

    /// With `isUsed` the journal holds frames of earlier commits, which are in state.db by now, behind those that count.
    private static func course(in scratch: Scratch, _ seed: UInt64, isUsed: Bool) throws -> Course {
        var draws = Draws(seed: seed, stream: "unsynced")
        var course = Course()
        var virtual = VirtualStore(node: draws.node())
        let store = try scratch.open()
        func commit() throws {
            // Each can be told from the one before, whatever else is in it.
            var node = virtual.node
            node.nextStage &+= 1
            let operations = draws.batch().operations.filter { if case .putNode = $0 { false } else { true } }
            let batch = StoreBatch(operations + [.putNode(node)])
            try store.commit(batch)
            // (What an own move still owes is written here and not by a look in between.)
            _ = try store.totals()
            virtual.perform(batch)
        }
        if isUsed {
            try store.setValue("much", [UInt8](repeating: 7, count: 3 << 20))
            try store.setValue("much", nil)
            try store.bringInJournal()
        }
        for _ in 0..<4 { try commit() }
        try store.sync()
        #expect(store.durable == store.commits)
        course.synced = try scratch.bytes("state.db-wal")
        course.states = [virtual]
        for _ in 0..<5 {
            try commit()
            course.states.append(virtual)
        }
        #expect(store.durable < store.commits)
        course.journal = try scratch.bytes("state.db-wal")
        course.state = try scratch.bytes("state.db")
        store.close()
        return course
    }

    /// Which of the states is there; it must be one.
    private static func left(_ journal: [UInt8], of course: Course, in scratch: Scratch) throws -> Int? {
        try scratch.write(course.state, to: "state.db")
        try scratch.write(journal, to: "state.db-wal")
        let store = try scratch.open()
        defer { store.close() }
        return try course.states.lastIndex { try $0.isIn(store) }
    }

    private static let headerBytes = 32
    private static let frameBytes = 24 + 4_096

    @Test("a journal that ends at any frame, or within one, holds what was synced and the first few commits since")
    func torn() throws {
        let scratch = try Scratch()
        let course = try UnsyncedTests.course(in: scratch, 3, isUsed: false)
        let (header, frame) = (UnsyncedTests.headerBytes, UnsyncedTests.frameBytes)
        #expect(course.journal.count > course.synced.count + 5 * frame)
        var last = 0
        var seen: Set<Int> = []
        for end in stride(from: course.synced.count, through: course.journal.count, by: frame) {
            #expect((end - header) % frame == 0)
            for cut in [end, min(end + 4_000, course.journal.count)] {
                let left = try #require(try UnsyncedTests.left(Array(course.journal[..<cut]), of: course, in: scratch))
                #expect(left >= last, "more of the journal leaves less of the state")
                last = left
                seen.insert(left)
            }
        }
        #expect(last == 5 && seen.count == 6)
    }

    @Test(
        "pages of the journal that reach the disk in any order leave no state that never was", arguments: [false, true])
    func anyOrder(isUsed: Bool) throws {
        var seen: Set<Int> = []
        for seed in UInt64(0)..<3 {
            let scratch = try Scratch()
            let course = try UnsyncedTests.course(in: scratch, seed, isUsed: isUsed)
            var random = SeededRandom(seed: seed, stream: "pages")
            // As the kernel writes: pages of its cache, without any order, and the file is as long as it may be.
            var before = course.synced
            before += [UInt8](repeating: 0, count: max(0, course.journal.count - before.count))
            for _ in 0..<40 {
                var journal = before
                let chance = random.pick([10, 50, 90, 98]) ?? 50
                for start in stride(from: 0, to: course.journal.count, by: 4_096) where random.chance(percent: chance) {
                    let page = start..<min(start + 4_096, course.journal.count)
                    journal.replaceSubrange(page, with: course.journal[page])
                }
                let left = try UnsyncedTests.left(journal, of: course, in: scratch)
                seen.insert(try #require(left, "a state that never was, or less than was synced"))
            }
        }
        #expect(seen.count > 3)
    }

    @Test("a sync does not wait for who works with the store, nor he for it, and is for all commits before it")
    func beside() throws {
        let scratch = try Scratch()
        let disk = SlowDisk()
        let store = try Store.open(directory: scratch.directory) { disk.sync($0) }
        try store.commit(StoreBatch([.putRow(Row(path: try place("a")))]))
        try store.commit(StoreBatch([.putRow(Row(path: try place("b")))]))
        disk.hold()
        let syncing = DispatchGroup()
        DispatchQueue(label: "sync").async(group: syncing) { _ = Result { try store.sync() } }
        disk.waitUntilHeld()
        #expect(store.durable == 0)
        try store.commit(StoreBatch([.putRow(Row(path: try place("c")))]))
        #expect(try store.answer(.rows([try place("c")])) == .rows([Row(path: try place("c"))]))
        disk.release()
        syncing.wait()
        #expect(store.durable == 2 && store.commits == 3)
        let before = disk.syncs
        try store.perform(StoreBatch())
        #expect(store.durable == 4 && disk.syncs == before + 1)
        try store.sync()
        #expect(disk.syncs == before + 1, "nothing was left to be synced")
        store.close()
    }

    @Test("what the last process left is synced before anybody acts on it") func opened() throws {
        let scratch = try Scratch()
        let course = try UnsyncedTests.course(in: scratch, 1, isUsed: false)
        try scratch.write(course.state, to: "state.db")
        try scratch.write(course.journal, to: "state.db-wal")
        let disk = SlowDisk()
        try Store.open(directory: scratch.directory) { disk.sync($0) }.close()
        #expect(disk.syncs == 1)
        #expect(throws: StoreError.self) {
            try Store.open(directory: scratch.directory) { _ in
                errno = EIO
                return -1
            }
        }
    }

    @Test("after a failed sync nothing is written any more, and none that succeeds later makes it good") func failed()
        throws
    {
        let scratch = try Scratch()
        let store = try scratch.open()
        try store.perform(StoreBatch())
        try store.commit(StoreBatch([.putRow(Row(path: try place("a")))]))
        func failure(_ body: () throws -> Void) -> StoreError? {
            do { try body() } catch { return error as? StoreError }
            return nil
        }
        let (error, wasReached) = FaultyDisk.failing(.syncError, after: 0) { failure { try store.sync() } }
        #expect(wasReached)
        guard case .inputOutput(let fault)? = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(fault.errno == EIO && fault.operation == "sync the journal")
        #expect(store.durable == 1 && store.commits == 2)
        #expect(failure { try store.sync() } == error)
        #expect(failure { try store.commit(StoreBatch()) } == error)
        #expect(failure { try store.setValue("a", [1]) } == error)
        #expect(try store.answer(.rows([try place("a")])) == .rows([Row(path: try place("a"))]))
        store.close()
        #expect(scratch.names.contains("state.db-wal"), "it is brought in unchecked")
    }
}

/// A disk whose syncs wait for leave.
private final class SlowDisk: Sendable {
    private struct State {
        var syncs = 0
        var isHolding = false
        var isHeld = false
    }
    private let state = Mutex(State())

    var syncs: Int { state.withLock { $0.syncs } }
    func hold() { state.withLock { $0.isHolding = true } }
    func release() { state.withLock { $0.isHolding = false } }

    func waitUntilHeld() { while !state.withLock({ $0.isHeld }) { sched_yield() } }

    func sync(_ descriptor: Int32) -> Int32 {
        state.withLock {
            $0.syncs += 1
            $0.isHeld = $0.isHolding
        }
        while state.withLock({ $0.isHolding }) { sched_yield() }
        return fdatasync(descriptor)
    }
}
