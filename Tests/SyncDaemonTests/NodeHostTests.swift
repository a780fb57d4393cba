import ControlProtocol
import Disk
import EventLoop
import Glibc
import Store
import SyncCore
import SyncModel
import Synchronization
import Testing

@testable import SyncDaemon

/// A node with a folder and a store of its own, the disk under which does what a test wants.
private final class Bench {
    let loop: Loop
    let host: NodeHost
    let disk = Held()
    private let store: Store
    private let place: String
    /// What has left the node, and what became of it.
    private(set) var told: [String] = []

    init() throws {
        var template = Array("/tmp/syncd-test-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        place = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        for name in ["folder", "state"] { try #require(unsafe mkdir("\(place)/\(name)", 0o700) == 0) }
        let folderPath = Array("\(place)/folder".utf8)
        let id = try Folder.create(at: folderPath)
        let folder = try Folder(path: folderPath, id: id)
        store = try Store.open(directory: Array("\(place)/state".utf8)) { [disk] in disk.sync($0) }
        let record = NodeRecord(id: NodeID(.zero), name: [0x61], folder: id)
        try store.perform(StoreBatch([.putNode(record)]))
        loop = try Loop()
        host = try NodeHost(
            loop: loop, store: store, folder: folder, watcher: try Watcher(folder: folder), chunking: Limits().chunking)
        host.onSend = { [unowned self] _, _ in told.append("sent") }
        host.onFinish = { [unowned self] in told.append("finished \($0)") }
        host.onStoreFailure = { [unowned self] in told.append("\($0)") }
        host.start(
            Start(
                node: record, settings: Settings(), limits: Limits(), program: [], nonce: 1, powerWasLost: false,
                digest: Program.digest(of:), checksum: Program.checksum(of:)))
    }

    /// The file is seen and its row is written; then nothing is known to be durable, and a peer comes.
    func writeAndMeet() throws {
        var isAtRest = false
        func look() {
            host.ask(.status) { [unowned self] in
                if case .status(let status) = $0, status.state != .starting, status.state != .scanning {
                    isAtRest = true
                } else {
                    loop.doLater { look() }
                }
            }
        }
        look()
        try #require(run { isAtRest && self.store.commits == self.store.durable })
        disk.hold()
        let file = unsafe open("\(place)/folder/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        close(file)
        try #require(run { self.disk.isHeld })
        host.post(.connected(LinkID(raw: 1)))
        host.ask(.status) { [unowned self] in
            if case .status = $0 { told.append("answered") } else { told.append("not answered") }
        }
        // So much that every event that can come has been taken in.
        var turns = 0
        try #require(
            run {
                turns += 1
                return turns > 20
            })
    }

    func run(until holds: @escaping () -> Bool) -> Bool {
        loop.onTurn = { [host] in host.turn() }
        return loop.run(until: holds)
    }

    func end() throws {
        disk.release()
        host.close()
        store.close()
        try loop.close()
        for name in ["folder/file", "folder/.syncd/folder-id", "state/state.db", "state/state.db-wal"] {
            unsafe unlink("\(place)/\(name)")
        }
        for name in [
            "folder/.syncd/stage", "folder/.syncd/versions", "folder/.syncd/quarantine", "folder/.syncd", "folder",
            "state",
        ] { unsafe rmdir("\(place)/\(name)") }
        unsafe rmdir(place)
    }
}

/// A disk whose syncs wait for leave, or fail.
private final class Held: Sendable {
    private struct State {
        var isHolding = false
        var isHeld = false
        var fails = false
    }
    private let state = Mutex(State())

    var isHeld: Bool { state.withLock { $0.isHeld } }
    func hold() { state.withLock { $0.isHolding = true } }
    func release(failing: Bool = false) {
        state.withLock {
            $0.fails = failing
            $0.isHolding = false
        }
    }

    func sync(_ descriptor: Int32) -> Int32 {
        state.withLock { $0.isHeld = $0.isHolding }
        while state.withLock({ $0.isHolding }) { sched_yield() }
        guard state.withLock({ $0.fails }) else { return fdatasync(descriptor) }
        errno = EIO
        return -1
    }
}

@Suite("what leaves a node on a machine") struct NodeHostTests {
    @Test("durable before promised: nothing leaves before the sync, and all of it after, in its order")
    func held() throws {
        let bench = try Bench()
        try bench.writeAndMeet()
        #expect(bench.told == [])
        bench.disk.release()
        #expect(bench.run { bench.told.contains("answered") })
        #expect(bench.told.prefix(2) == ["sent", "answered"])
        #expect(bench.host.isAlive)
        try bench.end()
    }

    @Test("R-09: a peer is held back with the frame that is too much, and not only at the end of the turn")
    func flooded() throws {
        let bench = try Bench()
        var words: [Bool] = []
        bench.host.onFlood = { words.append($0) }
        bench.host.post(.connected(LinkID(raw: 1)))
        let frame = [UInt8](repeating: 0, count: FloodGate.bytesMax / 4)
        for _ in 0..<4 { bench.host.post(.received(LinkID(raw: 1), frame)) }
        #expect(words == [])
        bench.host.post(.received(LinkID(raw: 1), frame))
        #expect(words == [true])
        #expect(bench.run { words == [true, false] })
        try bench.end()
    }

    @Test("what a node is asked that has stopped, or had not answered by then, is refused as such")
    func stopped() throws {
        let bench = try Bench()
        try bench.writeAndMeet()
        var refusals: [MessageCode] = []
        let note = { (answer: Answer) in
            if case .refused(let code) = answer { refusals.append(code) }
        }
        bench.host.ask(.status, then: note)
        bench.disk.release(failing: true)
        #expect(bench.run { !bench.host.isAlive })
        #expect(refusals == [.nodeStopped])
        bench.host.ask(.approve, then: note)
        #expect(refusals == [.nodeStopped, .nodeStopped])
        let error = Daemon.error(instead: .refused(.nodeStopped))
        #expect(error.code.known == .nodeStopped && error.text.contains("before it could say that this was done"))
        try bench.end()
    }

    @Test("a sync that fails ends the node, and nothing of what waited for it leaves") func failed() throws {
        let bench = try Bench()
        try bench.writeAndMeet()
        #expect(bench.told == [])
        bench.disk.release(failing: true)
        #expect(bench.run { !bench.host.isAlive })
        #expect(bench.told.first?.contains("sync the journal") == true)
        #expect(bench.told.dropFirst() == ["not answered", "finished \(FinishReason.storeFailed)"])
        try bench.end()
    }
}
