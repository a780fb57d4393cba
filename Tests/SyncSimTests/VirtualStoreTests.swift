import SyncModel
import Testing

@testable import SyncSim

@Suite("The simulated store keeps the contract of Store.swift")
struct VirtualStoreTests {
    @Test("Random batches: every question has the answer of the plainest implementation", arguments: 0..<40)
    func agreesWithNaiveStore(seed: Int) {
        var maker = Maker(seed: UInt64(seed))
        var store = VirtualStore(node: maker.node)
        var naive = NaiveStore(node: maker.node)
        for _ in 0..<150 {
            let batch = maker.batch()
            store.perform(batch)
            naive.perform(batch)
            for query in maker.queries() {
                if let expected = naive.answer(query) { #expect(store.answer(query) == expected) }
            }
            expectChunks(of: store, naive, &maker)
            #expect(store.node == naive.node)
        }
        #expect(Array(store.rows.values) == naive.rows.sorted { $0.path < $1.path })
    }

    /// A list must be known while a row holds its content; a source must be one, and must be found if there is one.
    private func expectChunks(of store: VirtualStore, _ naive: NaiveStore, _ maker: inout Maker) {
        let content = maker.content()
        let stored = naive.chunkLists.first { $0.content == content.id }
        let list = store.chunkList(of: content.id)
        #expect(list == nil || list == content.list)
        if let stored, !stored.mayBeForgotten { #expect(list != nil) }
        if stored == nil { #expect(list == nil) }

        let digests = content.list.chunks.map(\.digest)
        guard case .chunkSources(let sources) = store.answer(.chunkSources(digests)) else {
            Issue.record("chunk sources were asked for")
            return
        }
        let usable = naive.chunkLists.filter {
            $0.list.chunks.count > 1 && naive.isHeld($0.content) && store.chunkList(of: $0.content) != nil
        }
        for source in sources {
            let holders = naive.rows.filter { $0.path == source.path }
            #expect(
                usable.contains { list in
                    list.list.places(source) && holders.contains { naive.holds($0, list.content) }
                })
        }
        for digest in digests {
            let isThere = usable.contains { list in list.list.chunks.contains { $0.digest == digest } }
            #expect(sources.contains { $0.digest == digest } == isThere)
        }
    }

    @Test("A directory move takes every row that is on disk along and leaves the others") func relocates() throws {
        var maker = Maker(seed: 1)
        var store = VirtualStore(node: maker.node)
        let (old, new) = (try #require(Path("a/b")), try #require(Path("c")))
        let file = try #require(Path("a/b/x"))
        let gone = try #require(Path("a/b/y"))
        store.perform(StoreBatch([.putRow(maker.liveRow(at: old)), .putRow(maker.liveRow(at: file))]))
        var tombstone = Row(path: gone)
        tombstone.condition = .ignored
        store.perform(StoreBatch([.putRow(tombstone)]))
        let relocation = maker.relocation(from: old, to: new)
        store.perform(StoreBatch([.relocate(relocation)]))
        #expect(store.rows[file]?.disk == nil)
        #expect(store.rows[try #require(Path("c/x"))]?.disk != nil)
        #expect(store.rows[gone] == tombstone)
        #expect(store.rows[try #require(Path("c/y"))] == nil)
    }

    @Test("A copy is an image: what happens later does not reach it") func copiesAreImages() throws {
        var maker = Maker(seed: 2)
        var store = VirtualStore(node: maker.node)
        let path = try #require(Path("a"))
        store.perform(StoreBatch([.putRow(maker.liveRow(at: path))]))
        let image = store
        store.perform(StoreBatch([.dropRow(path)]))
        #expect(store.rows.isEmpty)
        #expect(image.rows.count == 1)
        #expect(image.answer(.rows([path])) != store.answer(.rows([path])))
    }

    @Test("A chunk list outlives the row for a while, so that a content can come back under another path")
    func keepsUnheldChunks() throws {
        var maker = Maker(seed: 3)
        var store = VirtualStore(node: maker.node)
        let content = maker.content()
        store.perform(StoreBatch([.putChunks(content.id, content.list)]))
        for _ in 0..<20 { store.perform(StoreBatch()) }
        #expect(store.answer(.chunkList(content.id)) == .chunkList(content.list))
        for _ in 0..<100 { store.perform(StoreBatch()) }
        #expect(store.answer(.chunkList(content.id)) == .chunkList(nil))
        #expect(store.answer(.chunkSources(content.list.chunks.map(\.digest))) == .chunkSources([]))
    }
}

extension VirtualStore {
    fileprivate func chunkList(of content: ContentID) -> ChunkList? {
        guard case .chunkList(let list) = answer(.chunkList(content)) else { return nil }
        return list
    }
}

extension ChunkList {
    /// True if the chunk lies where the source says.
    fileprivate func places(_ source: ChunkSource) -> Bool {
        var start: UInt64 = 0
        for chunk in chunks {
            if chunk.digest == source.digest && start == source.offset && chunk.length == source.length { return true }
            start += UInt64(chunk.length)
        }
        return false
    }
}

/// Makes rows, batches and questions by chance, from few names so that they meet.
struct Maker {
    private var random: SeededRandom
    let node: NodeRecord
    private let paths: [Path]
    private var contents: [(id: ContentID, list: ChunkList)] = []

    init(seed: UInt64) {
        random = SeededRandom(seed: seed, stream: "maker")
        node = Machine.freshRecord(0, seed: seed)
        paths = [
            "a", "a/b", "a/b/x", "a/b/y", "a/c", "a/x", "b", "b/x", "c", ".syncignore", "a/.syncignore",
            "a/x.conflict-beta-20260101-000000-abcdef", "d/e/f",
        ].compactMap { Path($0) }
        for index in 0..<6 {
            let bytes = (0..<(index * 40)).map { UInt8(truncatingIfNeeded: $0 / 32) }
            let list = ContentHasher.chunks(of: bytes + [UInt8(index / 2)], ChunkerParameters(average: 16))
            contents.append((ContentID(list.contentID), list))
        }
    }

    mutating func content() -> (id: ContentID, list: ChunkList) { contents[random.below(contents.count)] }

    mutating func path() -> Path { paths[random.below(paths.count)] }

    mutating func batch() -> StoreBatch {
        StoreBatch((0..<random.range(0...4)).map { _ in operation() })
    }

    private mutating func operation() -> StoreOperation {
        switch random.below(12) {
        case 0...3: return .putRow(random.chance(percent: 70) ? liveRow(at: path()) : deadRow(at: path()))
        case 4: return .dropRow(path())
        case 5:
            let (from, to) = (path(), path())
            return to.isBelow(from) || from.isBelow(to) || to == from
                ? .dropRow(from) : .relocate(relocation(from: from, to: to))
        case 6: return random.chance(percent: 70) ? .appendLog(record()) : .dropLog(through: position())
        case 7:
            var changed = node
            changed.nextStage = random.next()
            return .putNode(changed)
        case 8:
            let stage = StageName(raw: UInt64(random.below(5)))
            if random.chance(percent: 40) { return .dropIntent(stage) }
            return .putIntent(Intent(stage: stage, path: path(), action: .remove, expected: nil, displaced: nil))
        case 9:
            let id = VersionID(raw: UInt64(random.below(6)))
            if random.chance(percent: 40) { return .dropVersion(id) }
            return .putVersion(version(id))
        default:
            let content = content()
            return .putChunks(content.id, content.list)
        }
    }

    mutating func queries() -> [StoreQuery] {
        let identity = liveRow(at: path()).disk?.stat.identity
        return [
            .rows([path(), path(), path()]), .rows([path()]),
            .below(
                random.chance(percent: 30) ? .root : path(), after: random.chance(percent: 50) ? path() : nil,
                limit: random.range(0...5)),
            .unsettled(cursor: random.chance(percent: 50) ? path() : nil, ascending: true, limit: random.range(0...4)),
            .unsettled(cursor: random.chance(percent: 50) ? path() : nil, ascending: false, limit: random.range(0...4)),
            .identities(identity.map { [$0] } ?? []), .contents([content().id, content().id]), .ignoreFiles,
            .conflictCopies(limit: random.range(0...2)), .guarded(after: nil, limit: random.range(0...2)),
            .summary(random.chance(percent: 20) ? .root : path()),
            .log(after: position(), limit: random.range(0...3)), .latestLog(limit: random.range(0...3)),
            .logRecord(position()), .intents,
            .versions(path(), limit: random.range(0...3)), .versions(nil, limit: random.range(0...3)),
            .versionsBelow(random.chance(percent: 30) ? .root : path()),
            .versionsKept(sinceMilliseconds: Int64(random.range(0...3)), limit: random.range(0...3)),
            .prunable(limit: random.range(0...3)),
        ]
    }

    mutating func liveRow(at path: Path) -> Row {
        var row = Row(path: path)
        let content = content()
        let entry = Entry(
            content: random.chance(percent: 70) ? .file(content.id, size: content.list.size) : .directory, mode: 0o644,
            modified: .zero)
        let identity = FileIdentity(device: 1, inode: UInt64(random.below(6)), birth: .zero)
        let stat = Stat(
            identity: identity, kind: entry.content.kind ?? .file, mode: 0o644, size: entry.content.size,
            modified: .zero, changed: .zero)
        row.disk = Row.DiskState(entry: entry, stat: stat, origins: origins())
        row.heads = [revision(entry)]
        row.reflected = random.chance(percent: 60) ? row.version : .none
        if random.chance(percent: 20) { row.condition = [.missing, .damaged, .ignored][random.below(3)] }
        return row
    }

    private mutating func deadRow(at path: Path) -> Row {
        var row = Row(path: path)
        row.heads = [revision(.absent)]
        row.reflected = random.chance(percent: 60) ? row.version : .none
        return row
    }

    private mutating func revision(_ entry: Entry) -> Revision {
        let origin = origin()
        return Revision(
            origin: origin, seen: .none, entry: entry,
            origins: Origins(content: origin, mode: origin, time: origin))
    }

    private mutating func origins() -> Origins { Origins(content: origin(), mode: origin(), time: origin()) }

    private mutating func origin() -> Origin {
        Origin(author: random.chance(percent: 50) ? .own : .peer, position: position(), time: .zero)
    }

    private mutating func position() -> LogPosition {
        LogPosition(epoch: Epoch(raw: UInt64(random.range(1...2))), seq: UInt64(random.range(1...4)))
    }

    private mutating func record() -> LogRecord {
        LogRecord(
            head: LogHead(position: position(), chain: .zero), time: .zero,
            change: .put(path(), revision(.absent)))
    }

    private mutating func version(_ id: VersionID) -> KeptVersion {
        let identity = FileIdentity(device: 1, inode: UInt64(random.below(6)), birth: .zero)
        let stat = Stat(identity: identity, kind: .file, mode: 0o644, size: 1, modified: .zero, changed: .zero)
        return KeptVersion(
            id: id, path: path(), entry: .absent, stat: stat, author: .own, keptMilliseconds: Int64(random.below(100)),
            reason: .conflictFile)
    }

    mutating func relocation(from: Path, to: Path) -> Relocation {
        Relocation(
            from: from, to: to, origin: origin(), seenPeer: position(), summary: SubtreeSummary.Contents())
    }
}
