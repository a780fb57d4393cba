import SyncCore
import SyncModel
import Testing

@testable import SyncDaemon

@Suite("alerts over time and over restarts")
struct AlertBookTests {
    private let full = AlertKey(code: .diskFull)
    private let conflict = AlertKey(code: .conflictFile, subject: Array("a/b".utf8))

    @Test("R-12: what is raised again is one alert that was seen twice, since the first time")
    func raisedAgain() {
        var book = AlertBook()
        let isNew = book.raise(full, since: 5, now: 10)
        let isNewAgain = book.raise(full, since: 20, now: 30)
        #expect(isNew == .isNew && isNewAgain == .isKnown)
        #expect(book.open.map(\.count) == [2])
        #expect(book.open.map(\.firstMilliseconds) == [5])
        #expect(book.open.map(\.lastMilliseconds) == [30])
    }

    @Test("what is over is remembered but not open, and begins anew when it comes back")
    func comesBack() {
        var book = AlertBook()
        let id = book.id(of: full)
        var steps: [Bool] = [book.raise(full, since: 5, now: 5) == .isNew, book.acknowledge(id)]
        steps += [book.clear(full, now: 9), book.clear(full, now: 10)]
        #expect(steps == [true, true, true, false])
        #expect(book.open.isEmpty)
        #expect(book.item(id)?.clearedMilliseconds == 9)
        let isNew = book.raise(full, since: 20, now: 20)
        #expect(isNew == .isNew)
        #expect(book.open.map(\.firstMilliseconds) == [20] && book.open.map(\.count) == [1])
        #expect(book.open.map(\.isAcknowledged) == [false], "an old acknowledgement must not hide a new alert")
    }

    @Test("what is not open cannot be acknowledged") func nothingToAcknowledge() {
        var book = AlertBook()
        let isDone = book.acknowledge("a0000000000")
        #expect(!isDone)
    }

    @Test("a restart forgets nothing") func roundTrip() {
        var book = AlertBook()
        _ = book.raise(full, since: 5, now: 5)
        _ = book.raise(conflict, since: 6, now: 7)
        _ = book.acknowledge(book.id(of: conflict))
        _ = book.clear(full, now: 8)
        #expect(book.isChanged)
        let bytes = book.encoded()
        #expect(!book.isChanged)
        #expect(AlertBook(encoded: bytes).items.map(\.value) == book.items.map(\.value))
    }

    @Test("an alert about a format is another for each version and each node, and keeps its writer over a restart")
    func formats() {
        var book = AlertBook()
        let findings = [(2, Author.own), (3, .own), (3, .peer)].map { found, node in
            FormatFinding(found: UInt32(found), supported: 1...1, node: node)
        }
        let keys = findings.map { AlertKey(code: .formatNewer, subject: Array("a".utf8), format: $0) }
        for key in keys { _ = book.raise(key, since: 1, now: 1, AlertFacts(writer: .peer)) }
        #expect(Set(book.open.map { book.id(of: $0.key) }).count == 3)
        let read = AlertBook(encoded: book.encoded())
        #expect(
            read.items.map(\.value) == book.items.map(\.value)
                && read.open.map(\.facts.writer) == [.peer, .peer, .peer])
    }

    @Test("N5 R-15: both nodes call an alert the same, and two alerts never have one ID, whichever node they are about")
    func sameOnBoth() {
        let nodes = [UInt8(1), 2].map { NodeID(SHA256.digest(of: [$0])) }
        var books = [AlertBook(), AlertBook()]
        for (index, _) in books.enumerated() {
            books[index].own = nodes[index]
            books[index].peer = nodes[1 - index]
        }
        func ids(_ code: MessageCode, _ finding: (Author) -> FormatFinding) -> [String] {
            zip(books, [Author.own, .peer]).map { book, node in
                book.id(of: AlertKey(code: code, subject: Array("a".utf8), format: finding(node)))
            }
        }
        let same = [
            ids(.formatNewer) { FormatFinding(found: 2, supported: 1...1, node: $0) },
            ids(.formatNewer) { FormatFinding(found: 2, supported: 1...1, node: $0.flipped) },
            ids(.formatNewer) { _ in FormatFinding(found: 2, supportedOnBoth: 1...1) },
            ids(.formatNewer) { _ in FormatFinding(found: 2, reads: 1...1, node: .own) },
            ids(.formatUnknown) { _ in FormatFinding(found: nil, supported: 1...1, node: .own) },
            ids(.formatDowngradeHeld) { FormatFinding(found: 1, kept: 2, node: $0) },
            ids(.formatDowngradeHeld) { FormatFinding(found: 1, kept: 2, node: $0.flipped) },
        ]
        #expect(same.allSatisfy { $0[0] == $0[1] } && Set(same.map { $0[0] }).count == same.count)
    }

    @Test("what was acknowledged is told again when there is more of it, and not when there is as much or less")
    func grows() {
        var book = AlertBook()
        _ = book.raise(full, since: 1, now: 1, AlertFacts(size: 3))
        #expect(book.raise(full, since: 1, now: 2, AlertFacts(size: 4)) == .isKnown, "nobody has seen it yet")
        _ = book.acknowledge(book.id(of: full))
        // A node that starts anew counts from the beginning.
        for size in 1...4 { #expect(book.raise(full, since: 1, now: 3, AlertFacts(size: size)) == .isKnown) }
        #expect(book.open.map(\.isAcknowledged) == [true])
        var read = AlertBook(encoded: book.encoded())
        #expect(read.raise(full, since: 1, now: 4, AlertFacts(size: 5)) == .hasGrown)
        #expect(read.open.map(\.isAcknowledged) == [false])
        #expect(read.raise(full, since: 1, now: 5, AlertFacts(size: 6)) == .isKnown, "nobody has seen the last one yet")
    }

    @Test("while it is open its writer, its detail and its last time are those of the last time it was met")
    func lastWriter() {
        var book = AlertBook()
        _ = book.raise(conflict, since: 1, now: 1, AlertFacts(writer: .own, detail: "First."))
        _ = book.raise(conflict, since: 1, now: 2, AlertFacts(writer: .peer, detail: "Second."))
        _ = book.raise(conflict, since: 1, now: 3)
        #expect(book.open.map(\.facts) == [AlertFacts(writer: .peer, detail: "Second.")])
        #expect(book.open.map(\.lastMilliseconds) == [3] && book.open.map(\.count) == [3])
    }

    @Test("a restart forgets no detail, no copy and no version that is kept", arguments: [nil, 0, 7] as [UInt32?])
    func facts(kept: UInt32?) {
        var book = AlertBook()
        let finding = FormatFinding(found: nil, kept: kept, node: .peer)
        let key = AlertKey(code: .formatDowngradeHeld, subject: Array("a.db".utf8), format: finding)
        let copy = Path("a.conflict-beta-20250615-150732-1ffd72.db")
        _ = book.raise(key, since: 1, now: 1, AlertFacts(writer: .peer, detail: "At byte 3.", size: 9, copy: copy))
        #expect(AlertBook(encoded: book.encoded()).items.map(\.value) == book.items.map(\.value))
    }

    @Test("nor what was found instead of a version, nor where a file breaks off")
    func findings() {
        var book = AlertBook()
        let unknown = FormatFinding(found: nil, supported: 1...2, node: .own)
        let keys = [
            AlertKey(code: .formatCorrupt, subject: Array("a".utf8)),
            AlertKey(code: .formatUnknown, subject: Array("b".utf8), format: unknown),
        ]
        _ = book.raise(keys[0], since: 1, now: 1, AlertFacts(detail: "At byte 0: no.", offset: 0))
        _ = book.raise(keys[1], since: 1, now: 1, AlertFacts(detail: "There is -1.", found: "-1"))
        let read = AlertBook(encoded: book.encoded())
        #expect(read.items.map(\.value) == book.items.map(\.value))
        #expect(keys.map { read.items[$0]?.facts.offset } == [0, nil])
        #expect(keys.map { read.items[$0]?.facts.found } == [nil, "-1"])
    }

    @Test("what was found, and where, is known as long as the sentence about it, and no longer") func latestFinding() {
        var book = AlertBook()
        let key = AlertKey(code: .formatCorrupt, subject: Array("a".utf8))
        _ = book.raise(key, since: 1, now: 1, AlertFacts(detail: "At byte 3: no.", offset: 3))
        _ = book.raise(key, since: 1, now: 2)
        #expect(book.open.map(\.facts.offset) == [3])
        _ = book.raise(key, since: 1, now: 3, AlertFacts(detail: "An object is expected."))
        #expect(book.open.map(\.facts.offset) == [nil])
    }

    @Test("nor what a model reads", arguments: [nil, 0, 7] as [UInt32?]) func readVersions(found: UInt32?) {
        var book = AlertBook()
        let finding = FormatFinding(found: found, reads: 1...3, node: .own)
        _ = book.raise(AlertKey(code: .formatNewer, subject: Array("d/1".utf8), format: finding), since: 1, now: 1)
        #expect(AlertBook(encoded: book.encoded()).items.map(\.value) == book.items.map(\.value))
    }

    @Test("nor what neither node understands") func supportedOnBoth() {
        var book = AlertBook()
        let finding = FormatFinding(found: 5, supportedOnBoth: 1...3)
        _ = book.raise(AlertKey(code: .formatNewer, subject: Array("a".utf8), format: finding), since: 1, now: 1)
        #expect(AlertBook(encoded: book.encoded()).items.map(\.value) == book.items.map(\.value))
    }

    @Test("what version 2 wrote is read") func version2() {
        var writer = ByteWriter()
        writer.put(UInt8(2))
        writer.put(UInt32(1))
        writer.putCounted(Array("format.newer".utf8))
        writer.putCounted(Array("a".utf8))
        for number in [3, 4, 5] as [Int64] { writer.put(number) }
        for byte in [1, 0] as [UInt8] { writer.put(byte) }
        writer.put(Int64(0))
        for byte in [2, 1, 1, 1] as [UInt8] { writer.put(byte) }
        for number in [9, 1, 4] as [UInt32] { writer.put(number) }
        let item = AlertBook(encoded: writer.bytes).open.first
        #expect(item?.key.format == FormatFinding(found: 9, supported: 1...4, node: .peer))
        #expect(item?.facts == AlertFacts(writer: .peer) && item?.isAcknowledged == true && item?.count == 5)
    }

    @Test("what version 1 wrote is read") func version1() {
        var writer = ByteWriter()
        writer.put(UInt8(1))
        writer.put(UInt32(1))
        writer.putCounted(Array("disk.full".utf8))
        writer.putCounted([])
        for number: Int64 in [5, 6, 7] { writer.put(number) }
        writer.put(true)
        writer.put(false)
        writer.put(Int64(0))
        let book = AlertBook(encoded: writer.bytes)
        #expect(
            book.open.map(\.key) == [full] && book.open.map(\.count) == [7] && book.open.map(\.isAcknowledged) == [true]
        )
    }

    @Test("bytes that were cut or damaged give fewer alerts, never a trap") func hostile() {
        var book = AlertBook()
        for number in 0..<20 { _ = book.raise(AlertKey(code: .pathBusy, subject: [UInt8(number)]), since: 1, now: 2) }
        let bytes = book.encoded()
        for length in 0..<bytes.count { #expect(AlertBook(encoded: Array(bytes[..<length])).items.count <= 20) }
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0xFF
            #expect(AlertBook(encoded: damaged).items.count <= 20)
        }
    }

    @Test("alerts that are over do not pile up") func bounded() {
        var book = AlertBook()
        for number in 0..<(AlertBook.clearedMax + 50) {
            let key = AlertKey(code: .pathBusy, subject: Array("\(number)".utf8))
            _ = book.raise(key, since: Int64(number), now: Int64(number))
            _ = book.clear(key, now: Int64(number))
        }
        #expect(book.items.count == AlertBook.clearedMax)
        #expect(book.items.map(\.value.firstMilliseconds).min() == 50, "the oldest go first")
    }
}
