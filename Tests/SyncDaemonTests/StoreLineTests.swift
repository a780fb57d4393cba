import EventLoop
import Glibc
import Store
import SyncCore
import SyncModel
import Testing

@testable import SyncDaemon

/// A loop, a store of its own, and the line to it.
private final class Bench {
    let loop: Loop
    let store: Store
    let line: StoreLine
    private let worker: WorkerPool
    private let syncer: WorkerPool
    private let directory: [UInt8]
    private let path: Path
    private(set) var told: [String] = []
    /// `stateBytes` when the latest batch was told to be stored: from then on what is in the journal may be brought in.
    private(set) var bytesWhenStored = 0

    init() throws {
        var template = Array("/tmp/syncd-test-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        directory = template.dropLast().map(UInt8.init(bitPattern:))
        path = try #require(Path("file"))
        loop = try Loop()
        store = try Store.open(directory: directory)
        worker = try WorkerPool(loop: loop, name: "store", threads: 1)
        final class Ear { var take: (Event) -> Void = { _ in } }
        let ear = Ear()
        syncer = try WorkerPool(loop: loop, name: "sync", threads: 1)
        line = StoreLine(store, loop: loop, worker: worker, syncer: syncer) { ear.take($0) }
        ear.take = { [unowned self] in
            switch $0 {
            case .stored(let job):
                told.append("stored \(job.raw)")
                bytesWhenStored = stateBytes
            case .storeFailed(let job): told.append("failed \(job.raw)")
            case .loaded(let job, _): told.append("loaded \(job.raw)")
            default: told.append("something else")
            }
        }
        line.onStored = { [unowned self] in told.append("durable \($0.operations.count)") }
        line.onFailure = { [unowned self] _ in told.append("failure") }
    }

    func note(_ text: String) { told.append(text) }

    func put(_ job: UInt64) {
        let intent = Intent(
            stage: StageName(raw: job), path: path, action: .remove, expected: nil, displaced: nil)
        line.store(JobID(raw: job), StoreBatch([.putIntent(intent)]))
    }

    /// So many in one batch.
    func put(_ jobs: Range<UInt64>) {
        let intents = jobs.map {
            Intent(stage: StageName(raw: $0), path: path, action: .remove, expected: nil, displaced: nil)
        }
        line.store(JobID(raw: jobs.lowerBound), StoreBatch(intents.map { .putIntent($0) }))
    }

    /// Bytes of state.db itself, without its journal.
    var stateBytes: Int {
        var found = stat()
        let path = String(decoding: directory, as: UTF8.self)
        return unsafe stat("\(path)/state.db", &found) == 0 ? Int(found.st_size) : 0
    }

    func run(until holds: @escaping () -> Bool) -> Bool {
        loop.onTurn = { [unowned self] in
            line.sendOff(isAwaited: false)
            return false
        }
        return loop.run(until: holds)
    }

    /// Without a sync.
    func runUntilTold() {
        loop.onTurn = { [unowned self] in
            if !told.isEmpty { loop.stop() }
            return false
        }
        loop.run()
    }

    func runUntilQuiet() {
        loop.onTurn = { [unowned self] in
            line.sendOff(isAwaited: false)
            if line.isQuiet { loop.stop() }
            return false
        }
        loop.run()
    }

    func end() throws {
        line.close()
        worker.close()
        syncer.close()
        store.close()
        try loop.close()
        let path = String(decoding: directory, as: UTF8.self)
        for name in ["state.db", "state.db-wal", "state.db-shm", "lock"] { unsafe unlink("\(path)/\(name)") }
        unsafe rmdir(path)
    }
}

@Suite("the way to the store") struct StoreLineTests {
    @Test("a question is answered after everything that was given before it, however busy the store is") func order()
        throws
    {
        let bench = try Bench()
        for job in 1...3 { bench.put(UInt64(job)) }
        bench.line.ask({ (store: Store) throws(StoreError) in try store.answer(.intents) }) { result in
            guard case .success(.intents(let found)) = result else { return bench.note("\(result)") }
            bench.note("\(found.count) intents")
        }
        bench.put(4)
        bench.line.load(JobID(raw: 5), [.intents])
        bench.runUntilQuiet()
        #expect(
            bench.told == [
                "stored 1", "stored 2", "stored 3", "durable 1", "durable 1", "durable 1", "3 intents", "stored 4",
                "loaded 5", "durable 1",
            ])
        try bench.end()
    }

    @Test("what lies in the journal is brought in when nobody waits, so that no commit has to") func journal() throws {
        let bench = try Bench()
        let before = bench.stateBytes
        bench.put(1..<120_000)
        bench.runUntilQuiet()
        #expect(bench.bytesWhenStored == before, "the commit has done it")
        #expect(bench.run { bench.stateBytes > before + 1 << 20 && bench.line.isQuiet })
        // What is little waits: a single change costs no more than it did.
        let after = bench.stateBytes
        bench.put(120_001..<121_000)
        bench.runUntilQuiet()
        #expect(bench.told.suffix(2) == ["stored 120001", "durable 999"])
        #expect(bench.stateBytes == after)
        try bench.end()
    }

    @Test("after a failure nothing is written behind the hole, and everybody is told") func failure() throws {
        let bench = try Bench()
        bench.put(1)
        bench.runUntilQuiet()
        bench.store.close()
        bench.put(2)
        bench.put(3)
        bench.line.load(JobID(raw: 4), [.intents])
        bench.line.ask({ (store: Store) throws(StoreError) in try store.setValue("fact", [1]) }) { result in
            if case .failure = result { bench.note("not kept") }
        }
        bench.put(5)
        bench.runUntilQuiet()
        #expect(
            bench.told == [
                "stored 1", "durable 1", "failure", "failed 2", "failed 3", "failed 4", "not kept", "failed 5",
            ])
        try bench.end()
    }

    @Test("what somebody else has made durable counts, and the line is quiet") func beside() throws {
        let bench = try Bench()
        bench.put(1)
        bench.runUntilTold()
        #expect(bench.told == ["stored 1"] && !bench.line.isQuiet)
        try bench.store.setValue("fact", [1])
        #expect(bench.run { bench.line.isQuiet })
        #expect(bench.told == ["stored 1", "durable 1"])
        try bench.end()
    }

    @Test("a fact that cannot be kept does not stand in the way of what the core writes") func fact() throws {
        let bench = try Bench()
        bench.line.ask({ (_: Store) throws(StoreError) -> Void in throw .busy }) {
            if case .failure = $0 { bench.note("not kept") }
        }
        bench.put(1)
        bench.runUntilQuiet()
        #expect(bench.told == ["not kept", "stored 1", "durable 1"])
        try bench.end()
    }
}
