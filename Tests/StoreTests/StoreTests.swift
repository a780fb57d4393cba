/// What the store promises beside the answers of the simulated one: values, sums, children, the shape of relocations.
import Foundation
import SyncModel
import Testing

@testable import Store

@Suite("Values around the node")
struct ValueTests {
    @Test("a value is there until it is replaced or taken away, also after a new open") func values() throws {
        let scratch = try Scratch()
        let store = try scratch.open()
        #expect(try store.value("peer.pin") == nil)
        try store.setValue("peer.pin", [1, 2])
        try store.setValue("empty", [])
        try store.setValue("peer.pin", [3])
        store.close()
        let next = try scratch.open()
        #expect(try next.value("peer.pin") == [3])
        #expect(try next.value("empty") == [])
        try next.setValue("peer.pin", nil)
        try next.setValue("never set", nil)
        #expect(try next.value("peer.pin") == nil)
    }
}

@Suite("Sums of the root and the directories in it")
struct SumsTests {
    private func row(_ path: Path, own seq: UInt64) -> Row {
        var row = Row(path: path)
        let position = LogPosition(epoch: Epoch(number: 1, nonce: 0), seq: seq)
        let origin = Origin(author: .own, position: position, time: .zero)
        row.heads = [Revision(origin: origin, seen: .none, entry: .absent, origins: Origins(all: origin))]
        row.reflected = row.version
        return row
    }

    private func latest(_ store: Store, _ directory: Path) throws -> UInt64 {
        guard case .summary(let summary) = try store.answer(.summary(directory)) else { return 0 }
        return summary.ownLatest.seq
    }

    @Test("a latest position that goes back is counted anew when it is asked for, and then known again")
    func goesBack() throws {
        let scratch = try Scratch()
        let opened = try Opened(scratch.directory)
        defer { opened.close() }
        let database = opened.database
        let (low, high) = (try place("d/low"), try place("d/high"))
        try database.perform(StoreBatch([.putRow(row(low, own: 3)), .putRow(row(high, own: 9))]))
        try database.perform(StoreBatch([.dropRow(high)]))
        for directory in [.root, try place("d")] as [Path] {
            #expect(try database.isStale(directory))
            #expect(try database.summary(of: directory).ownLatest.seq == 3)
        }
        try database.perform(StoreBatch([.putRow(row(low, own: 4))]))
        for directory in [.root, try place("d")] as [Path] {
            #expect(try !database.isStale(directory))
            #expect(try database.summary(of: directory).ownLatest.seq == 4)
        }
    }

    @Test("an ordinary day makes nothing stale") func staysFresh() throws {
        let scratch = try Scratch()
        let opened = try Opened(scratch.directory)
        defer { opened.close() }
        for seq in 1...20 as ClosedRange<UInt64> {
            let path = try place("d/\(seq % 3)")
            try opened.database.perform(StoreBatch([.putRow(row(path, own: seq))]))
        }
        #expect(try !opened.database.isStale(.root))
    }
}

@Suite("Change sets of any length")
struct ChangeSetTests {
    /// In bytes: some hundred times what the pages of a small commit come to.
    private static let long = 32 << 20

    @Test(
        "a long set is not read with those that come after it",
        .enabled(if: bytesRead() != nil, "the kernel does not count what is read"))
    func reads() throws {
        let scratch = try Scratch()
        let store = try scratch.open()
        let epoch = Epoch(number: 1, nonce: 1)
        let filler = [UInt8](repeating: 7, count: ChangeSetTests.long)
        func put(_ author: Author, _ seq: UInt64, _ bytes: [UInt8]) throws {
            let set = StoredChangeSet(author, LogPosition(epoch: epoch, seq: seq), bytes)
            try store.perform(StoreBatch([.putChangeSet(set)]))
        }
        try put(.own, 1, filler)
        try put(.peer, 1, filler)
        let before = try #require(bytesRead())
        for seq in 2...20 as ClosedRange<UInt64> {
            try put(.own, seq, [1])
            try put(.peer, seq, [2])
            let query = StoreQuery.changeSets(.own, after: LogPosition(epoch: epoch, seq: seq - 1), limit: 1)
            guard case .changeSets(let sets) = try store.answer(query) else { throw Failure() }
            #expect(sets.map(\.bytes) == [[1]])
        }
        let read = try #require(bytesRead()) - before
        #expect(read < ChangeSetTests.long / 4)
    }

    private struct Failure: Error {}
}

/// What this thread has read of files so far. Nil where the kernel does not count it.
private func bytesRead() -> Int? {
    let lines = (try? String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8))?.split(separator: "\n")
    let count = lines?.lazy.compactMap { $0.hasPrefix("rchar: ") ? Int($0.dropFirst("rchar: ".count)) : nil }
    return count?.first
}

extension Database {
    fileprivate func isStale(_ directory: Path) throws -> Bool {
        let key = PathKey.bytes(of: directory)
        let sealed = try connection.first(.sums, .bytes(key)) { $0.bytes(0) }
        return try SumsCodec.decode(try #require(sealed), key: key).isStale
    }
}

@Suite("Children of a directory")
struct ChildrenTests {
    @Test("pages of children are the children, whatever lies below them and however the page ends", arguments: 1...4)
    func pages(limit: Int) throws {
        let scratch = try Scratch()
        let store = try scratch.open()
        // "b" has no row of its own, "c" has many rows below, "c!" comes right after all of them.
        let texts = ["a", "b/x", "b/y/z", "c"] + (0..<40).map { "c/\($0)" } + ["c!", "d", "d/e/f/g"]
        let all = try texts.map { try place("top/\($0)") } + [try place("top"), try place("top!"), try place("to")]
        try store.perform(StoreBatch(all.map { .putRow(Row(path: $0)) }))
        let top = try place("top")
        var found: [Path] = []
        while true {
            let page = try store.children(of: top, after: found.last, limit: limit)
            #expect(page.count <= limit)
            if page.isEmpty { break }
            found += page.map(\.path)
        }
        let expected = try ["a", "c", "c!", "d"].map { try place("top/\($0)") }
        #expect(found == expected)
        let (inside, next) = (try place("top/c/7"), try place("top/c!"))
        #expect(try store.children(of: top, after: inside, limit: 1).map(\.path) == [next])
        let tops = try ["to", "top", "top!"].map { try place($0) }
        #expect(try store.children(of: .root, after: nil, limit: 9).map(\.path) == tops)
        #expect(try store.children(of: top, after: nil, limit: 0).isEmpty)
    }
}

@Suite("Moves of large directories")
struct RelocateTests {
    @Test("more rows than a page move as the few do") func manyRows() throws {
        let scratch = try Scratch()
        let store = try scratch.open()
        var draws = Draws(seed: 1, stream: "relocate")
        var rows: [Row] = []
        for number in 0..<600 {
            var row = draws.row(at: try place("old/\(number)"))
            let entry = Entry(content: .directory, mode: 0o755, modified: .zero)
            row.disk = Row.DiskState(entry: entry, stat: draws.stat(beside: entry), origins: draws.origins())
            rows.append(row)
        }
        try store.perform(StoreBatch(rows.map { .putRow($0) }))
        let relocation = draws.relocation(from: try place("old"), to: try place("new/place"))
        try store.perform(StoreBatch([.relocate(relocation)]))
        for row in rows {
            let halves = try #require(relocation.applied(to: row, replacing: nil))
            #expect(try store.answer(.rows([row.path])) == .rows([halves.old]))
            #expect(try store.answer(.rows([halves.new.path])) == .rows([halves.new]))
        }
    }
}

@Suite("Chunk lists of large files")
struct LargeListTests {
    @Test("a list of more than a page comes back whole, and every chunk is found where it lies first") func pages()
        throws
    {
        let scratch = try Scratch()
        let store = try scratch.open()
        var chunks = (0..<(Limits.chunksPerPageMax + 100)).map { number in
            Chunk(digest: Digest(words: (UInt64(number) &* 0x9E37_79B9_7F4A_7C15, 1, 2, 3)), length: 65_536)
        }
        chunks.append(chunks[17])
        let list = ChunkList(chunks)
        let content = ContentID(SHA256.digest(of: [1]))
        var row = Row(path: try place("large"))
        let entry = Entry(content: .file(content, size: list.size), mode: 0o644, modified: .zero)
        let identity = FileIdentity(device: 1, inode: 2, birth: .zero)
        let stat = Stat(identity: identity, kind: .file, mode: 0o644, size: list.size, modified: .zero, changed: .zero)
        let origin = Origin(author: .own, position: .none, time: .zero)
        row.disk = Row.DiskState(entry: entry, stat: stat, origins: Origins(all: origin))
        try store.perform(StoreBatch([.putChunks(content, list), .putRow(row)]))
        #expect(try store.answer(.chunkList(content)) == .chunkList(list))
        let wanted = [chunks[17], chunks[Limits.chunksPerPageMax + 50]]
        let expected = [17, Limits.chunksPerPageMax + 50].map { index in
            ChunkSource(
                digest: chunks[index].digest, path: row.path, offset: UInt64(index) * 65_536, length: 65_536)
        }
        #expect(try store.answer(.chunkSources(wanted.map(\.digest))) == .chunkSources(expected))

        // Nobody holds it any more: after some batches list and places are gone.
        try store.perform(StoreBatch([.dropRow(row.path)]))
        for _ in 0..<70 { try store.perform(StoreBatch()) }
        #expect(try store.answer(.chunkList(content)) == .chunkList(nil))
        #expect(try store.answer(.chunkSources(wanted.map(\.digest))) == .chunkSources([]))
    }
}

@Suite("Migrations")
struct MigrationTests {
    @Test("steps run once, in their order, each with its number") func steps() throws {
        let scratch = try Scratch()
        try scratch.open().close()
        let next = Schema.Migration(version: Schema.version + 1, name: "next") { connection throws(StoreError) in
            try connection.execute("CREATE TABLE later (a)", "next")
        }
        let last = Schema.Migration(version: Schema.version + 2, name: "last") { connection throws(StoreError) in
            try connection.execute("INSERT INTO later VALUES (1)", "last")
        }
        for _ in 0..<2 {
            try scratch.withDatabase { connection in
                try Opened.migrate(connection, with: Schema.migrations + [next, last])
                let version = try connection.integer("PRAGMA user_version", "test")
                let count = try connection.integer("SELECT count(*) FROM later", "test")
                #expect(version == Int64(Schema.version + 2) && count == 1)
            }
        }
    }

    @Test("a step that fails leaves the version before it") func failing() throws {
        let scratch = try Scratch()
        try scratch.open().close()
        let broken = Schema.Migration(version: Schema.version + 1, name: "broken") { connection throws(StoreError) in
            try connection.execute("CREATE TABLE half (a)", "broken")
            try connection.execute("CREATE TABLE half (a)", "broken")
        }
        try scratch.withDatabase { connection in
            #expect(throws: StoreError.self) { try Opened.migrate(connection, with: Schema.migrations + [broken]) }
        }
        try scratch.withDatabase { connection in
            let version = try connection.integer("PRAGMA user_version", "test")
            let count = try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'half'", "test")
            #expect(version == Int64(Schema.version) && count == 0)
        }
        #expect(scratch.damage() == nil)
    }

    @Test("versions count up from 1 without a gap") func numbers() {
        #expect(Schema.migrations.map(\.version) == Array(1...Schema.version))
    }
}
