/// A real file system without space, where one may be mounted.
import Glibc
import Store
import SyncModel
import SyncSim
import Testing

@Suite("A full file system")
struct FullDiskTests {
    @Test(
        "a batch that finds no space is taken back, everything can be read, and with space the same batch is a good one",
        .enabled(if: SmallFileSystem.isPossible, "it takes the right to mount a file system"))
    func full() throws {
        let scratch = try Scratch()
        let mounted = try SmallFileSystem(at: scratch)
        defer { mounted.unmount() }
        try mounted.scratch.write([UInt8](repeating: 1, count: 256 << 10), to: "ballast")

        var draws = Draws(seed: 1, stream: "full")
        var virtual = VirtualStore(node: draws.node())
        let store = try mounted.scratch.open()
        try store.perform(StoreBatch([.putNode(virtual.node)]))
        virtual.perform(StoreBatch())
        var refused: StoreBatch?
        while refused == nil {
            let batch = draws.largeBatch()
            do throws(StoreError) {
                try store.perform(batch)
                virtual.perform(batch)
            } catch {
                guard case .full(let fault) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(fault.operation.isEmpty == false)
                refused = batch
            }
        }
        #expect(try virtual.isIn(store))
        unsafe unlink("\(mounted.scratch.path)/ballast")
        let batch = try #require(refused)
        try store.perform(batch)
        virtual.perform(batch)
        #expect(try virtual.isIn(store))
        store.close()
        let next = try mounted.scratch.open()
        #expect(try virtual.isIn(next))
        next.close()
    }

    @Test(
        "no space for the copy of a pair that is to be forgotten: it is not, and nothing of the copy is left",
        .enabled(if: SmallFileSystem.isPossible, "it takes the right to mount a file system"))
    func noSpaceToForget() throws {
        let scratch = try Scratch()
        let mounted = try SmallFileSystem(at: scratch)
        defer { mounted.unmount() }
        var draws = Draws(seed: 2, stream: "full")
        var virtual = VirtualStore(node: draws.node())
        let store = try mounted.scratch.open()
        try store.perform(StoreBatch([.putNode(virtual.node)]))
        for _ in 0..<5 {
            let batch = draws.batch()
            try store.perform(batch)
            virtual.perform(batch)
        }
        mounted.fill()
        var after = virtual
        after.forgetPeer()
        #expect {
            try store.forgetPeer(as: after.node, setting: [])
        } throws: { error in
            if case .full = error as? StoreError { true } else { false }
        }
        #expect(try virtual.isIn(store))
        #expect(!mounted.scratch.names.contains("state.db.copy"))
        unsafe unlink("\(mounted.scratch.path)/ballast")
        _ = try store.forgetPeer(as: after.node, setting: [])
        #expect(try after.isIn(store))
        store.close()
    }

    @Test(
        "no space for a new state leaves none behind",
        .enabled(if: SmallFileSystem.isPossible, "it takes the right to mount a file system"))
    func noSpaceToBegin() throws {
        let scratch = try Scratch()
        let mounted = try SmallFileSystem(at: scratch)
        defer { mounted.unmount() }
        mounted.fill()
        #expect {
            try mounted.scratch.open()
        } throws: { error in
            if case .full = error as? StoreError { true } else { false }
        }
        #expect(try !Store.exists(in: mounted.scratch.directory))
        unsafe unlink("\(mounted.scratch.path)/ballast")
        try mounted.scratch.open().close()
    }
}

/// A megabyte of memory as a file system, over a scratch directory.
struct SmallFileSystem {
    let scratch: Scratch

    static let isPossible: Bool = {
        guard let probe = try? Scratch(), let mounted = try? SmallFileSystem(at: probe) else { return false }
        mounted.unmount()
        return true
    }()

    struct Refused: Error {}

    init(at scratch: Scratch) throws {
        self.scratch = scratch
        if unsafe mount("tmpfs", scratch.path, "tmpfs", 0, "size=1m") != 0 { throw Refused() }
    }

    /// Takes all the space there is.
    func fill() {
        let file = unsafe open("\(scratch.path)/ballast", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        let bytes = [UInt8](repeating: 1, count: 4096)
        while unsafe write(file, bytes, bytes.count) > 0 {}
    }

    func unmount() {
        unsafe umount2(scratch.path, Int32(MNT_DETACH))
    }
}

extension Draws {
    /// Rows at places of their own, so that each takes space.
    mutating func largeBatch() -> StoreBatch {
        StoreBatch(
            (0..<40).compactMap { _ in
                Path("large/\(random.next())").map { .putRow(row(at: $0)) }
            })
    }
}
