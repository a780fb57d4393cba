/// what is in the log is read as it was written, what is not is refused, and nothing in it can be changed,
/// left out or moved without the chain telling.
import SyncCore
import SyncModel
import Testing

struct LogCodecTests {
    private static let node = NodeID(SHA256.digest(of: Array("left".utf8)))
    private static let peer = NodeID(SHA256.digest(of: Array("right".utf8)))

    private static func decode(_ bytes: [UInt8], after head: LogHead = .none) -> LogCodec.Decoded {
        LogCodec.decode(bytes, after: head, node: node)
    }

    private static func sample(_ seed: UInt64, _ count: Int = 12) -> [LogRecord] {
        var random = SeededRandom(seed: seed)
        return random.drawLog(count, node: node)
    }

    /// An entry of one path whose bytes can be changed by hand: they begin at 33.
    private static func entry(at path: Path, movedFrom: Path? = nil, movedTo: Path? = nil) -> [UInt8] {
        let position = LogPosition(epoch: Epoch(number: 1, nonce: 1), seq: 1)
        let time = HybridTime(wallMilliseconds: 1)
        let origin = Origin(author: .own, position: position, time: time)
        let revision = Revision(
            origin: origin, seen: .none, entry: Entry(content: .directory, mode: 0o755, modified: .zero),
            origins: Origins(all: origin), movedFrom: movedFrom, movedTo: movedTo)
        return LogCodec.encode(
            LogCodec.record(.put(path, revision), at: position, time: time, after: .none, node: node))
    }

    @Test("what was written is read, with its place in the chain", arguments: 1...5) func roundTrip(seed: UInt64) {
        var head = LogHead.none
        for record in LogCodecTests.sample(seed, 300) {
            #expect(LogCodecTests.decode(LogCodec.encode(record), after: head) == .record(record))
            #expect(record.head.position.follows(head.position))
            head = record.head
        }
    }

    // MARK: Total

    @Test("every cut is seen") func truncation() {
        for record in LogCodecTests.sample(2) {
            let bytes = LogCodec.encode(record)
            for count in 0..<bytes.count where LogCodecTests.decode(Array(bytes.prefix(count))) != .broken {
                Issue.record("cut after \(count) of \(bytes.count) bytes: \(record)")
            }
            #expect(LogCodecTests.decode(bytes + [0]) == .broken)
        }
    }

    /// What is read at all has only one way to be written: nothing hides between the values.
    private func check(_ bytes: [UInt8], after head: LogHead = .none) {
        switch LogCodecTests.decode(bytes, after: head) {
        case .record(let record):
            if LogCodec.encode(record) != bytes { Issue.record("read, but not as written: \(Hex.text(bytes))") }
        case .beyondUs, .broken:
            break
        }
    }

    @Test("every bit of some entries, changed, gives another entry or none") func bitFlips() {
        for record in LogCodecTests.sample(3) {
            let bytes = LogCodec.encode(record)
            for bit in 0..<bytes.count * 8 {
                var changed = bytes
                changed[bit / 8] ^= UInt8(1 << (bit % 8))
                check(changed)
                if LogCodecTests.decode(changed) == .record(record) { Issue.record("bit \(bit) makes no difference") }
            }
        }
    }

    @Test("100,000 mangled entries and random bytes: read or refused, never a trap") func totality() {
        var random = SeededRandom(seed: 4)
        let entries = LogCodecTests.sample(4, 200).map(LogCodec.encode)
        var read = 0
        for number in 0..<100_000 {
            let bytes = number % 4 == 0 ? random.bytes(random.below(80)) : random.mangle(entries[number % 200])
            check(bytes)
            if case .record = LogCodecTests.decode(bytes) { read += 1 }
        }
        // Chance must get past the first checks, or it tests nothing behind them.
        #expect(read > 1_000)
    }

    @Test("R-09: a length is believed only as far as the bytes reach") func lengths() {
        let bytes = LogCodecTests.entry(at: place("ab"))
        for offset in [29, 35] {
            for length in [[0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0, 0x10, 0, 0]] as [[UInt8]] {
                var changed = bytes
                changed.replaceSubrange(offset..<offset + 4, with: length)
                #expect(LogCodecTests.decode(changed) == .broken)
            }
        }
        var many = bytes
        many[28] = 0xFF
        #expect(LogCodecTests.decode(many) == .broken)
    }

    // MARK: What may stand in it

    @Test("INV-23: paths outside the folder, and our own folder in it, are refused wherever they stand") func paths() {
        for text in [".syncd", ".syncd/stage/s1"] {
            #expect(LogCodecTests.decode(LogCodecTests.entry(at: place(text))) == .broken)
            #expect(LogCodecTests.decode(LogCodecTests.entry(at: place("a"), movedFrom: place(text))) == .broken)
            #expect(LogCodecTests.decode(LogCodecTests.entry(at: place("a"), movedTo: place(text))) == .broken)
        }
        #expect(LogCodecTests.decode(LogCodecTests.entry(at: .root)) == .broken)
        #expect(LogCodecTests.decode(LogCodecTests.entry(at: place("a"), movedFrom: .root)) == .broken)
        for text in ["..", "/b", "b/", ".\0", "//", "./"] {
            var bytes = LogCodecTests.entry(at: place("ab"))
            #expect(Array(bytes[33..<35]) == Array("ab".utf8))
            bytes.replaceSubrange(33..<35, with: Array(text.utf8))
            #expect(LogCodecTests.decode(bytes) == .broken, "\(text)")
        }
        var fine = LogCodecTests.entry(at: place("ab"))
        fine.replaceSubrange(33..<35, with: Array("cd".utf8))
        guard case .record = LogCodecTests.decode(fine) else {
            Issue.record("another name is another entry")
            return
        }
    }

    @Test("a directory does not move into itself, nor out of what it holds")
    func relocations() {
        let position = LogPosition(epoch: Epoch(number: 1, nonce: 1), seq: 1)
        let origin = Origin(author: .own, position: position, time: HybridTime(wallMilliseconds: 1))
        for (from, to, isFine) in [
            ("a", "b", true), ("a", "a", false), ("a", "a/b", false), ("a/b", "a", false), ("a", "ab", true),
            (".syncd", "b", false), ("a", ".syncd/b", false),
        ] {
            let move = Relocation(
                from: place(from), to: place(to), origin: origin, seenPeer: .none,
                summary: SubtreeSummary.Contents(liveRows: 1, fingerprint: 2))
            let record = LogCodec.record(
                .relocate(move), at: position, time: origin.time, after: .none, node: LogCodecTests.node)
            #expect((LogCodecTests.decode(LogCodec.encode(record)) == .record(record)) == isFine, "\(from) to \(to)")
        }
    }

    @Test("an entry saw only what was before it, and took nothing from what it did not see") func sanity() {
        let position = LogPosition(epoch: Epoch(number: 1, nonce: 1), seq: 5)
        let time = HybridTime(wallMilliseconds: 50)
        let own = Origin(author: .own, position: position, time: time)
        func at(_ seq: UInt64) -> LogPosition { LogPosition(epoch: position.epoch, seq: seq) }
        func reads(own seen: UInt64, peer: UInt64, content: Origin) -> Bool {
            let revision = Revision(
                origin: own, seen: VersionVector(own: at(seen), peer: at(peer)),
                entry: Entry(content: .directory, mode: 0, modified: .zero),
                origins: Origins(content: content, mode: own, time: own))
            let record = LogCodec.record(
                .put(place("a"), revision), at: position, time: time, after: .none, node: LogCodecTests.node)
            return LogCodecTests.decode(LogCodec.encode(record)) == .record(record)
        }
        #expect(reads(own: 4, peer: 9, content: own))
        #expect(!reads(own: 5, peer: 9, content: own))
        #expect(!reads(own: 6, peer: 9, content: own))
        #expect(reads(own: 4, peer: 9, content: Origin(author: .peer, position: at(9), time: time)))
        #expect(!reads(own: 4, peer: 9, content: Origin(author: .peer, position: at(10), time: time)))
        #expect(!reads(own: 4, peer: 9, content: Origin(author: .own, position: at(6), time: time)))
        let later = HybridTime(wallMilliseconds: 51)
        #expect(!reads(own: 4, peer: 9, content: Origin(author: .peer, position: at(9), time: later)))
    }

    @Test("an entry that needs what we do not know is held whole, whatever its body looks like", arguments: 0..<32)
    func needs(bit: Int) {
        var bytes = LogCodecTests.entry(at: place("ab"))
        bytes[3 - bit / 8] |= UInt8(1 << (bit % 8))
        #expect(LogCodecTests.decode(bytes) == .beyondUs)

        // The prologue never changes: its paths are known, its body is anything.
        var strange = Array(bytes.prefix(28))
        for part: [UInt8] in [[3], [0, 0, 0, 1, 0x61], [0, 0, 0, 1, 0x62], [0, 0, 0, 1, 0x63], [0, 0, 0, 2, 9, 9]] {
            strange += part
        }
        #expect(LogCodecTests.decode(strange) == .beyondUs)
        #expect(LogCodecTests.decode(Array(strange.dropLast())) == .broken)
    }

    // MARK: The chain

    @Test("R-02: a changed byte, anywhere, changes the chain from there on") func changedByte() {
        let log = LogCodecTests.sample(6, 6)
        let before = log[1].head
        let bytes = LogCodec.encode(log[2])
        let next = LogCodec.encode(log[3])
        var seen = Set([log[2].head.chain])
        for offset in bytes.indices {
            var changed = bytes
            changed[offset] ^= 0x10
            let chain = LogCodec.chain(
                of: changed, at: log[2].head.position, after: before, node: LogCodecTests.node)
            #expect(seen.insert(chain).inserted)
            let head = LogHead(position: log[2].head.position, chain: chain)
            let after = LogCodec.chain(of: next, at: log[3].head.position, after: head, node: LogCodecTests.node)
            #expect((after == log[3].head.chain) == (log[3].head.position.seq == 1))
        }
    }

    @Test("R-02: an entry left out is seen") func gap() {
        var tried = 0
        for seed in 1...8 as ClosedRange<UInt64> {
            let log = LogCodecTests.sample(seed, 8)
            for index in 2..<log.count where log[index].head.position.seq > 2 {
                tried += 1
                let bytes = LogCodec.encode(log[index])
                #expect(!log[index].head.position.follows(log[index - 2].head.position))
                #expect(LogCodecTests.decode(bytes, after: log[index - 2].head) != .record(log[index]))
                #expect(LogCodecTests.decode(bytes, after: log[index - 1].head) == .record(log[index]))
            }
        }
        #expect(tried > 20)
    }

    @Test("R-04: the same change in another epoch, at another number or of another node is another entry")
    func moved() {
        let position = LogPosition(epoch: Epoch(number: 1, nonce: 1), seq: 1)
        let places = [
            position, LogPosition(epoch: Epoch(number: 1, nonce: 2), seq: 1),
            LogPosition(epoch: Epoch(number: 2, nonce: 1), seq: 1), LogPosition(epoch: position.epoch, seq: 2),
        ]
        let time = HybridTime(wallMilliseconds: 1)
        var chains = Set<Digest>()
        for place in places {
            let move = Relocation(
                from: SyncCoreTests.place("a"), to: SyncCoreTests.place("b"),
                origin: Origin(author: .own, position: place, time: time), seenPeer: .none,
                summary: SubtreeSummary.Contents())
            for node in [LogCodecTests.node, LogCodecTests.peer] {
                let record = LogCodec.record(.relocate(move), at: place, time: time, after: .none, node: node)
                chains.insert(record.head.chain)
                #expect(LogCodec.decode(LogCodec.encode(record), after: .none, node: node) == .record(record))
            }
        }
        // The second number does not begin its epoch, so only the entry before it names the node.
        #expect(chains.count == places.count * 2 - 1)
    }

    @Test("an epoch begins its own chain, whatever was before") func epochs() {
        let first = LogPosition(epoch: Epoch(number: 2, nonce: 1), seq: 1)
        let bytes = LogCodecTests.entry(at: place("a"))
        var random = SeededRandom(seed: 1)
        let chains = (0..<4).map { _ in
            LogCodec.chain(of: bytes, at: first, after: random.drawHead(), node: LogCodecTests.node)
        }
        #expect(Set(chains).count == 1)
    }
}
