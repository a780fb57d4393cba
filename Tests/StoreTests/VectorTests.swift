/// What was written once must be read for ever: Tests/Vectors against the values they say, both ways, and the schema.
/// The bytes came from a separate program written from the specifications, so that the codecs do not testify for themselves.
import Foundation
import SyncModel
import Testing

@testable import Store

@Suite("What lies on people's disks")
struct VectorTests {
    private struct Vector {
        let comment: String
        let key: [UInt8]
        let blob: [UInt8]
    }

    private static func lines(of name: String, thisFile: String = #filePath) throws -> [String] {
        let folder = URL(fileURLWithPath: thisFile).deletingLastPathComponent().deletingLastPathComponent()
        let file = folder.appendingPathComponent("Vectors").appendingPathComponent(name)
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// A file in hexadecimal lines.
    static func whole(_ name: String) throws -> [UInt8] {
        try lines(of: name).filter { !$0.hasPrefix("#") }.flatMap { try #require(bytes($0)) }
    }

    private static func vectors() throws -> [Vector] {
        let lines = try lines(of: "store-1.txt")
        return try lines.indices.filter { lines[$0].hasPrefix("#") && !lines[$0 + 1].hasPrefix("#") }.map { index in
            try #require(index + 2 < lines.count)
            return Vector(
                comment: lines[index], key: try #require(bytes(lines[index + 1])),
                blob: try #require(bytes(lines[index + 2])))
        }
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text[...]
        while !rest.isEmpty && text != "-" {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    // MARK: What they say

    private static let wall: Int64 = 1_795_226_584_000
    private static let first = Epoch(number: 1, nonce: 0x0102_0304)
    private static let peers = Epoch(number: 7, nonce: 0x77)
    private static let written = Timestamp(seconds: 1_795_226_584, nanoseconds: 123_456_789)

    private static func sha(_ text: String) -> Digest { SHA256.digest(of: Array(text.utf8)) }
    private static func own(_ seq: UInt64) -> LogPosition { LogPosition(epoch: first, seq: seq) }
    private static func peer(_ seq: UInt64) -> LogPosition { LogPosition(epoch: peers, seq: seq) }

    private static func time(_ milliseconds: Int64, _ counter: UInt16 = 0) -> HybridTime {
        HybridTime(wallMilliseconds: wall + milliseconds, counter: counter)
    }

    private static let file = Entry(content: .file(ContentID(sha("a")), size: 3), mode: 0o644, modified: written)
    private static let directory = Entry(
        content: .directory, mode: 0o755, modified: Timestamp(seconds: -1, nanoseconds: 999_999_999))
    private static let gone = Entry(
        content: .absent, mode: 0o600, modified: Timestamp(seconds: 1_700_000_000, nanoseconds: 0))
    private static let stat = Stat(
        identity: FileIdentity(
            device: 65_024, inode: 1_000_000, birth: Timestamp(seconds: 1_795_226_580, nanoseconds: 1)),
        kind: .file, mode: 0o644, size: 3, modified: written,
        changed: Timestamp(seconds: 1_795_226_585, nanoseconds: 2))
    private static let one = Origin(author: .own, position: own(1), time: time(0, 5))
    private static let two = Origin(author: .own, position: own(2), time: time(1))
    private static let nine = Origin(author: .peer, position: peer(9), time: time(0, 4))

    private static func settled() throws -> Row {
        var row = Row(path: try place("a/b!/ä.txt"))
        row.heads = [Revision(origin: one, seen: .none, entry: file, origins: Origins(all: one))]
        row.disk = Row.DiskState(entry: file, stat: stat, origins: Origins(all: one))
        row.reflected = row.version
        return row
    }

    private static func restless() throws -> Row {
        var row = Row(path: try place("old name"))
        let origins = Origins(content: nine, mode: one, time: nine)
        row.heads = [
            Revision(
                origin: two, seen: VersionVector(own: own(1), peer: peer(8)), entry: gone, origins: Origins(all: two),
                movedTo: try place("new/name")),
            Revision(
                origin: nine, seen: VersionVector(own: .none, peer: peer(8)), entry: directory, origins: origins,
                movedFrom: try place("from")),
        ]
        let identity = FileIdentity(device: 1, inode: .max, birth: Timestamp(seconds: -5, nanoseconds: 7))
        let stat = Stat(
            identity: identity, kind: .directory, mode: 0o700, size: 4096, modified: directory.modified,
            changed: .zero)
        row.disk = Row.DiskState(entry: directory, stat: stat, origins: origins, isRacy: true)
        row.reflected = VersionVector(own: own(1), peer: .none)
        row.condition = .missing
        row.waiting = Row.Waiting(reason: .pathBusy, sinceMilliseconds: -wall, tries: 3)
        row.owesCopy = true
        return row
    }

    private static func node() -> NodeRecord {
        var node = NodeRecord(id: NodeID(sha("left")), name: Array("läptop".utf8), folder: FolderID(sha("folder")))
        node.peer = NodeID(sha("right"))
        node.peerName = Array("peer".utf8)
        node.ownHead = LogHead(position: own(5), chain: sha("own"))
        node.importedHead = LogHead(position: peer(12), chain: sha("peer"))
        node.importedEpochs = [LogHead(position: peer(9), chain: sha("nine"))]
        node.acknowledged = LogHead(position: own(4), chain: sha("four"))
        node.applied = own(3)
        node.clock = time(7)
        node.aliveMilliseconds = wall
        (node.nextStage, node.nextVersion) = (77, 300)
        node.initialImportDone = true
        node.held = NodeRecord.HeldDeletes(id: 2, files: 51, sinceMilliseconds: wall)
        node.distrustSince = wall - 1
        node.rollbackCommon = own(2)
        node.adoptBeyond = peer(11)
        node.adoptSparing = peers
        node.rulesConsidered = sha("rules")
        return node
    }

    private static func nodeAfterCut() -> NodeRecord {
        var node = node()
        node.distrustOfIgnored = wall - 2
        node.toldBeforeCut = wall - 3
        node.writtenMilliseconds = wall - 4
        node.clockShown = NodeRecord.ClockShown(
            stretches: [-5...wall, wall + 6...wall + 7], monotonicMilliseconds: 88_000)
        return node
    }

    private static func nodeWithUntoldRules() throws -> NodeRecord {
        var node = node()
        node.untoldRules = [try place("build/.syncignore"), try place("d/.syncignore")]
        return node
    }

    private static func records() throws -> [LogRecord] {
        let put = Revision(origin: one, seen: .none, entry: file, origins: Origins(all: one))
        let move = Relocation(
            from: try place("from"), to: try place("to/here"),
            origin: Origin(author: .own, position: own(5), time: time(3)), seenPeer: peer(12),
            summary: SubtreeSummary.Contents(liveRows: 1_000, fingerprint: 0x0123_4567_89AB_CDEF))
        return [
            LogRecord(
                head: LogHead(position: own(1), chain: sha("own")), time: time(0, 5),
                change: .put(try place("a/b"), put)),
            LogRecord(
                head: LogHead(position: own(5), chain: sha("own")), time: time(3), change: .relocate(move)),
        ]
    }

    private static func kept() throws -> KeptVersion {
        KeptVersion(
            id: VersionID(raw: 300), path: try place("a/b"), entry: file, stat: stat, author: .peer,
            keptMilliseconds: wall, reason: .versionKept)
    }

    private static func intents() throws -> [Intent] {
        let path = try place("a/b")
        let identity = FileIdentity(
            device: 65_024, inode: 1_000_001, birth: Timestamp(seconds: 1_795_226_586, nanoseconds: 0))
        let shown = Intent.Shown(
            version: VersionVector(own: own(1), peer: peer(9)), origins: Origins(content: one, mode: one, time: nine))
        let quarantined = KeptVersion(
            id: VersionID(raw: 301), path: path, entry: gone, stat: stat, author: .own, keptMilliseconds: -1,
            reason: .itemQuarantined, isQuarantined: true)
        return [
            Intent(
                stage: StageName(raw: 77), path: path, action: .place(identity, file), expected: stat,
                displaced: .version(try kept()), stagedTime: Timestamp(seconds: 5, nanoseconds: 6), shown: shown),
            Intent(
                stage: StageName(raw: 78), path: path, action: .remove, expected: nil,
                displaced: .conflictCopy(try place("a/copy"))),
            Intent(
                stage: StageName(raw: 79), path: path, action: .rename(from: try place("a/c")), expected: nil,
                displaced: .quarantine(quarantined)),
        ]
    }

    private static func sums() -> Sums {
        var sums = Sums()
        sums.summary.contents = SubtreeSummary.Contents(liveRows: 2, fingerprint: 0xFEDC_BA98_7654_3210)
        (sums.summary.files, sums.summary.directories, sums.summary.unsettled) = (1, 2, 3)
        (sums.summary.missing, sums.summary.pendingRows, sums.summary.entangled) = (4, 5, 6)
        (sums.summary.ownLatest, sums.summary.peerLatest) = (own(2), peer(9))
        sums.bytes = 1 << 44
        sums.isStale = true
        return sums
    }

    // MARK: Both ways

    @Test("blobs of version 1: what was written once is read, and written the same") func store1() throws {
        let vectors = try VectorTests.vectors()
        var next = 0
        func check<Value: Equatable>(
            _ value: Value, encode: (Value, [UInt8]) -> [UInt8], decode: ([UInt8], [UInt8]) throws -> Value
        ) throws {
            let vector = try #require(next < vectors.count ? vectors[next] : nil)
            next += 1
            #expect(encode(value, vector.key) == vector.blob, "\(vector.comment)")
            let decoded = try decode(vector.blob, vector.key)
            #expect(decoded == value, "\(vector.comment)")
        }
        for row in [try VectorTests.settled(), try VectorTests.restless()] {
            try check(row, encode: RowCodec.encode, decode: RowCodec.decode)
        }
        for node in [VectorTests.node(), VectorTests.nodeAfterCut(), try VectorTests.nodeWithUntoldRules()] {
            try check(
                node, encode: { node, _ in NodeCodec.encode(node) },
                decode: { blob, _ in try NodeCodec.decode(blob) })
        }
        for record in try VectorTests.records() {
            try check(record, encode: { record, _ in RecordCodec.encode(record) }, decode: RecordCodec.decode)
        }
        for intent in try VectorTests.intents() {
            try check(intent, encode: { intent, _ in IntentCodec.encode(intent) }, decode: IntentCodec.decode)
        }
        try check(try VectorTests.kept(), encode: { kept, _ in VersionCodec.encode(kept) }, decode: VersionCodec.decode)
        let earlier = try #require(next < vectors.count ? vectors[next] : nil)
        next += 1
        #expect(try SumsCodec.decode(earlier.blob, key: earlier.key) == VectorTests.sums(), "\(earlier.comment)")
        try check(VectorTests.sums(), encode: SumsCodec.encode, decode: SumsCodec.decode)

        let page = try #require(vectors.last)
        let chunks = [("x", 65_536), ("y", 1)].map { Chunk(digest: VectorTests.sha($0.0), length: $0.1) }
        let content = ContentID(VectorTests.sha("a"))
        #expect(ChunkPages.pages(of: ChunkList(chunks), content: content) == [page.blob])
        var list = ChunkList()
        try ChunkPages.append(page.blob, page: 0, of: content, to: &list)
        #expect(list.chunks == chunks && next == vectors.count - 1)
    }

    @Test("the schema of each version is what it was, and a state of version 1 gets the tables of all that came after")
    func schema() throws {
        let scratch = try Scratch()
        try scratch.open().close()
        #expect(Schema.version == 4)
        try scratch.withDatabase { connection in
            try expectSchema(4, connection)
            try putSetsBackToVersion3(connection)
            try expectSchema(3, connection)
            try connection.execute(
                "DROP INDEX base_guarded; ALTER TABLE base DROP COLUMN guarded; PRAGMA user_version = 2", "test")
            try expectSchema(2, connection)
            try connection.execute("DROP TABLE change_set; PRAGMA user_version = 1", "test")
            try expectSchema(1, connection)
        }
        try scratch.open().close()
        try scratch.withDatabase { try expectSchema(4, $0) }
    }

    @Test("change sets of version 3 are all there in version 4") func setsOfVersion3() throws {
        let scratch = try Scratch()
        let store = try scratch.open()
        let sets = [Author.own, .peer].flatMap { author in
            (1...40).map { seq in
                let bytes = [UInt8](repeating: UInt8(seq), count: seq == 7 ? 300_000 : seq)
                return StoredChangeSet(author, VectorTests.own(UInt64(seq)), bytes)
            }
        }
        try store.perform(StoreBatch(sets.map { .putChangeSet($0) }))
        store.close()
        try scratch.withDatabase { try putSetsBackToVersion3($0) }
        let migrated = try scratch.open()
        let answer = try migrated.answer(.changeSets(nil, after: .none, limit: 1_000))
        #expect(answer == .changeSets(sets))
        migrated.close()
        try scratch.withDatabase { try expectSchema(4, $0) }
    }

    private func putSetsBackToVersion3(_ connection: Connection) throws {
        try connection.execute(
            """
            ALTER TABLE change_set RENAME TO change_set_after;
            CREATE TABLE change_set (
                author INTEGER NOT NULL, position BLOB NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (author, position)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO change_set SELECT * FROM change_set_after;
            DROP TABLE change_set_after;
            PRAGMA user_version = 3
            """, "test")
    }

    private func expectSchema(_ version: Int, _ connection: Connection) throws {
        let tables = try connection.texts("SELECT sql FROM sqlite_schema ORDER BY name", "test")
        let lines = tables.flatMap { $0.split(separator: "\n").map(String.init) }
        let expected = try VectorTests.lines(of: "store-\(version)-schema.txt").filter { !$0.hasPrefix("#") }
        #expect(lines == expected, "version \(version)")
        let application = try connection.integer("PRAGMA application_id", "test")
        let found = try connection.integer("PRAGMA user_version", "test")
        #expect(application == 0x7379_6364 && found == Int64(version))
    }
}
