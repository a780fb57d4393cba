/// Bytes that were written once must be read for ever: Tests/Vectors against the values they say, both ways.
/// The bytes came from a separate program written from the specifications, so that the codecs do not testify for themselves.
import Coordination
import Foundation
import SyncCore
import SyncModel
import Testing

struct VectorsTests {
    /// Hexadecimal lines of a vectors file, with the comment above them.
    private struct Group {
        let comment: String
        var lines: [[UInt8]] = []
    }

    private static func groups(in name: String, thisFile: String = #filePath) throws -> [Group] {
        let folder = URL(fileURLWithPath: thisFile).deletingLastPathComponent().deletingLastPathComponent()
        let file = folder.appendingPathComponent("Vectors").appendingPathComponent(name)
        var groups: [Group] = []
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("#") {
                groups.append(Group(comment: String(line.dropFirst(2))))
            } else {
                groups[groups.count - 1].lines.append(try #require(Hex.bytes(line)))
            }
        }
        return groups.filter { !$0.lines.isEmpty }
    }

    // MARK: What they say

    private static let node = NodeID(SHA256.digest(of: Array("left".utf8)))
    private static let wall: Int64 = 1_795_226_584_000
    private static let first = Epoch(number: 1, nonce: 0x0102_0304)
    private static let second = Epoch(number: 2, nonce: 0x0A0B_0C0D)
    private static let peers = Epoch(number: 7, nonce: 0x77)
    private static let contentA = ContentID(SHA256.digest(of: Array("a".utf8)))
    private static let contentB = ContentID(SHA256.digest(of: Array("b".utf8)))

    private static func at(_ seq: UInt64, _ epoch: Epoch = first) -> LogPosition { LogPosition(epoch: epoch, seq: seq) }

    private static func own(_ seq: UInt64, _ time: HybridTime, _ epoch: Epoch = first) -> Origin {
        Origin(author: .own, position: at(seq, epoch), time: time)
    }

    private static func time(_ milliseconds: Int64, _ counter: UInt16 = 0) -> HybridTime {
        HybridTime(wallMilliseconds: wall + milliseconds, counter: counter)
    }

    private static let file = Revision(
        origin: own(1, time(0, 5)), seen: .none,
        entry: Entry(
            content: .file(contentA, size: 3), mode: 0o644,
            modified: Timestamp(seconds: 1_795_226_584, nanoseconds: 123_456_789)),
        origins: Origins(all: own(1, time(0, 5))))

    private static let deleted = Revision(
        origin: own(2, time(1)), seen: VersionVector(own: at(1), peer: at(9, peers)),
        entry: Entry(content: .absent, mode: 0o600, modified: Timestamp(seconds: 1_700_000_000, nanoseconds: 0)),
        origins: Origins(all: own(2, time(1))), movedTo: place("new/name"))

    private static let directory = Revision(
        origin: own(3, time(1, 1)), seen: VersionVector(own: at(2), peer: at(9, peers)),
        entry: Entry(
            content: .directory, mode: 0o755, modified: Timestamp(seconds: -1, nanoseconds: 999_999_999)),
        origins: Origins(
            content: Origin(author: .peer, position: at(9, peers), time: time(0, 4)), mode: own(1, time(0, 5)),
            time: own(3, time(1, 1))),
        movedFrom: place("old"))

    private static let link = Revision(
        origin: own(4, time(2)), seen: .none,
        entry: Entry(content: .symlink(Array("../there ".utf8) + [0xFF]), mode: 0o777, modified: .zero),
        origins: Origins(all: own(4, time(2))))

    private static let move = Relocation(
        from: place("from"), to: place("to/here"), origin: own(5, time(3)), seenPeer: at(12, peers),
        summary: SubtreeSummary.Contents(liveRows: 1_000, fingerprint: 0x0123_4567_89AB_CDEF))

    private static let largest = Revision(
        origin: own(1, time(4, .max), second), seen: VersionVector(own: at(5), peer: .none),
        entry: Entry(
            content: .file(contentB, size: 1 << 44), mode: 0, modified: Timestamp(seconds: .max, nanoseconds: 0)),
        origins: Origins(all: own(1, time(4, .max), second)))

    /// The log of `log-1.txt`.
    private static func log() throws -> [LogRecord] {
        let noText = try #require(Path([0xFF, 0x20, 0x01]))
        let changes: [(LogRecord.Change, Origin)] = [
            (.put(place("a/ä.txt"), file), file.origin), (.put(place("old name"), deleted), deleted.origin),
            (.put(place("new"), directory), directory.origin), (.put(place("link"), link), link.origin),
            (.relocate(move), move.origin), (.put(noText, largest), largest.origin),
        ]
        var head = LogHead.none
        return changes.map { change, origin in
            let record = LogCodec.record(change, at: origin.position, time: origin.time, after: head, node: node)
            head = record.head
            return record
        }
    }

    /// The frames of `frame-1.txt`.
    private static func frames() throws -> [Frame] {
        let log = try log()
        let rows = [
            RowState(path: place("a/ä.txt"), revision: file), RowState(path: place("old name"), revision: deleted),
        ]
        let nobody = Hello(
            versionMin: 1, versionMax: 1, features: [], name: [], program: [], wallMilliseconds: 0, ownHead: .none,
            known: [])
        let hello = Hello(
            versionMin: 1, versionMax: 3, features: ["zstd", "records"].map { Array($0.utf8) },
            name: Array("läptop".utf8), program: Array("syncd 1.0".utf8), wallMilliseconds: -wall,
            ownHead: log[5].head, known: [log[4].head, log[5].head])
        let page = ContentPage(
            content: contentA, first: 3, total: 5,
            chunks: [
                Chunk(digest: SHA256.digest(of: Array("x".utf8)), length: 65_536),
                Chunk(digest: SHA256.digest(of: Array("y".utf8)), length: 1),
            ])
        let changed = ChangedList(
            content: contentA, base: contentB,
            parts: [.known(first: 2, count: 7), .other(page.chunks[0]), .known(first: 10, count: 1)])
        let chunks = [ChunkData(index: 4, bytes: Array("y".utf8)), ChunkData(index: 0, bytes: [])]
        let model = RecordsHello.Model(
            name: Array("org.example.notes".utf8), version: 2, digest: SHA256.digest(of: Array("model".utf8)))
        let ours = LogPosition(epoch: Epoch(number: 1, nonce: 7), seq: 3)
        let theirs = LogPosition(epoch: Epoch(number: 2, nonce: 9), seq: 4)
        let contents = [
            SmallContent(id: contentA, bytes: Array("a".utf8)), SmallContent(id: contentB, bytes: Array("b".utf8)),
        ]
        return [
            .hello(nobody), .hello(hello), .log([LogCodec.encode(log[0]), LogCodec.encode(log[4])]),
            .acknowledge(Acknowledgement(head: log[5].head, isSettled: true)),
            .acknowledge(Acknowledgement(head: .none, isSettled: false)), .rows(rows), .rowsEnd(log[4].head),
            .want([contentA, contentB]), .chunkList(page), .wantChunks(contentA, [0, 4, .max]),
            .chunks(contentA, chunks), .gone(contentB), .rolledBack(at(4)), .expand(at(5)),
            .expansion(at(5), [], isLast: true), .expansion(at(5), [rows[1]], isLast: false),
            .ping, .pong(wallMilliseconds: wall),
            .halt(.logForked), .contents(contents), .later(contentB),
            .wantChanged([ChangedWish(content: contentA, base: contentB)]), .changedList(changed), .unknown(200),
            .records(RecordsHello(models: [model], own: ours, before: .none, known: theirs)),
            .changeSet(
                SetPiece(author: .peer, position: theirs, total: 12, offset: 5, bytes: Array("abc".utf8))),
            .setsTaken(ours),
            .formats([
                FormatSupport(model: Array("org.example.app".utf8), name: Array("notes".utf8), rule: 7, versions: 1...3)
            ]),
            .setsShown(theirs),
            .claim(
                PeerClaim(
                    id: 7, isRead: true, isHeld: false, process: 42, holder: Array("vi".utf8),
                    paths: [Path("a"), Path("b/c")].compactMap(\.self))),
            .claimAnswer(7, isGranted: true), .releaseClaim(7),
            .setsBase(SetsBase(.begins, own: ours, peer: theirs, ownEnd: ours, peerEnd: theirs)),
            .pausing(true),
            .claim(
                PeerClaim(
                    id: 8, isRead: false, isHeld: true, process: 42, holder: Array("vi".utf8),
                    paths: [Path("a")].compactMap(\.self), purpose: Array("list".utf8))),
            .holding(files: 80),
            .claimWaits([PeerWait(purpose: Array("list".utf8), awaited: Array("notes".utf8))]),
        ]
    }

    // MARK: Both ways

    @Test("log version 1: what was written once is read, and written the same") func log1() throws {
        let records = try VectorsTests.log()
        let groups = try VectorsTests.groups(in: "log-1.txt")
        #expect(groups.count == records.count)
        var head = LogHead.none
        for (group, record) in zip(groups, records) {
            try #require(group.lines.count == 2, "\(group.comment)")
            let (bytes, chain) = (group.lines[0], group.lines[1])
            let decoded = LogCodec.decode(bytes, after: head, node: VectorsTests.node)
            #expect(decoded == .record(record), "\(group.comment)")
            #expect(Hex.text(LogCodec.encode(record)) == Hex.text(bytes), "\(group.comment)")
            #expect(record.head.chain.hex() == Hex.text(chain), "\(group.comment)")
            head = record.head
        }
    }

    @Test("wire version 1: what was sent once is understood, and sent the same") func frame1() throws {
        let frames = try VectorsTests.frames()
        let groups = try VectorsTests.groups(in: "frame-1.txt")
        #expect(groups.count == frames.count)
        for (group, frame) in zip(groups, frames) {
            try #require(group.lines.count == 1, "\(group.comment)")
            #expect(FrameCodec.decode(group.lines[0]) == frame, "\(group.comment)")
            #expect(Hex.text(FrameCodec.encode(frame)) == Hex.text(group.lines[0]), "\(group.comment)")
        }
        // No type is without its vector.
        let types = Set(groups.map { $0.lines[0][4] })
        #expect(types.isSuperset(of: 1...33))
    }

    // MARK: Of a later program

    @Test("INV-22: an entry of a later program is beyond us, and nothing else") func nextLog() throws {
        let groups = try VectorsTests.groups(in: "next-log.txt")
        #expect(groups.count == 2)
        for group in groups {
            let decoded = LogCodec.decode(group.lines[0], after: .none, node: VectorsTests.node)
            #expect(decoded == .beyondUs, "\(group.comment)")
            // Cut off it is damage, whoever wrote it.
            let cut = Array(group.lines[0].dropLast())
            #expect(LogCodec.decode(cut, after: .none, node: VectorsTests.node) == .broken, "\(group.comment)")
        }
    }

    @Test("a later program is known by its greeting, whatever that has to say more; what else is new is skipped")
    func nextFrame() throws {
        let frames = try VectorsTests.groups(in: "next-frame.txt").map { FrameCodec.decode($0.lines[0]) }
        try #require(frames.count == 5)
        for frame in frames.prefix(3) {
            guard case .hello(let hello)? = frame else {
                Issue.record("a later greeting is not read")
                continue
            }
            #expect((hello.versionMin, hello.versionMax) == (2, 3))
            #expect(hello.name == Array("later".utf8) && hello.program == Array("9.0.0".utf8) && hello.known.count == 1)
        }
        #expect(frames[3] == .unknown(201))
        #expect(frames[4] == nil, "of our version, with a byte too many")
    }

    @Test("a later program and this one stay connected, and people are told who is behind") func nextGreeting() throws {
        for group in try VectorsTests.groups(in: "next-frame.txt").prefix(3) {
            var driver = Driver.running()
            driver.happen(.connected(Driver.link))
            driver.settle()
            driver.happen(.received(Driver.link, group.lines[0]))
            driver.settle()
            #expect(driver.alerts == [.wireDisjoint] && driver.closings.isEmpty, "\(group.comment)")
        }
    }
}
