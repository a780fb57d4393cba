/// What comes over the link is read as it was sent or refused; a frame can neither trap the reader nor make it allocate
/// more than it brought. The checksum is written out here once more, so that the two must agree.
import SyncCore
import SyncModel
import Testing

struct FrameCodecTests {
    /// CRC-32 as zlib has it, bit by bit.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var value: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
        }
        return ~value
    }

    /// A whole frame around a type and a body.
    private static func sealed(_ body: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.put(UInt32(body.count + 4))
        writer.putRaw(body)
        writer.put(checksum(body[...]))
        return writer.bytes
    }

    private static func body(of frame: Frame) -> [UInt8] { Array(FrameCodec.encode(frame).dropFirst(4).dropLast(4)) }

    @Test("what was sent is received: every type", arguments: UInt8(1)...33) func roundTrip(type: UInt8) {
        var random = SeededRandom(seed: UInt64(type))
        for _ in 0..<150 {
            let frame = random.drawFrame(type: type)
            let bytes = FrameCodec.encode(frame)
            #expect(FrameCodec.decode(bytes) == frame)
            #expect(bytes == FrameCodecTests.sealed(FrameCodecTests.body(of: frame)) && bytes[4] == type)
        }
    }

    @Test("every cut, every changed bit and every byte too many is seen") func damage() {
        var random = SeededRandom(seed: 1)
        for type in UInt8(1)...33 {
            let bytes = FrameCodec.encode(random.drawFrame(type: type))
            for count in bytes.indices where FrameCodec.decode(Array(bytes.prefix(count))) != nil {
                Issue.record("type \(type) cut after \(count) bytes is read")
            }
            for bit in 0..<bytes.count * 8 {
                var changed = bytes
                changed[bit / 8] ^= UInt8(1 << (bit % 8))
                if FrameCodec.decode(changed) != nil { Issue.record("type \(type) with bit \(bit) changed is read") }
            }
            #expect(FrameCodec.decode(bytes + [0]) == nil && FrameCodec.decode([0] + bytes) == nil)
        }
    }

    // MARK: Behind the checksum, where an enemy stands

    /// Reads a body with a right checksum. What is read at all has only one way to be written, but for what this program
    /// does not know: a newer frame, and a newer reason to halt.
    private func check(_ body: [UInt8]) -> Frame? {
        let bytes = FrameCodecTests.sealed(body)
        guard let frame = FrameCodec.decode(bytes) else { return nil }
        switch frame {
        case .unknown(let type):
            if type != body.first { Issue.record("type \(type) was sent as \(body)") }
        case .halt(.nodeHalted):
            break
        case .hello(let hello) where hello.versionMin > Hello.protocolMax:
            let known = FrameCodecTests.body(of: frame)
            if !body.starts(with: known) { Issue.record("read, but not as sent: \(Hex.text(body))") }
        case .hello, .log, .acknowledge, .rows, .rowsEnd, .want, .wantChanged, .chunkList, .changedList, .wantChunks,
            .chunks, .contents, .gone, .later, .rolledBack, .expand, .expansion, .ping, .pong, .records, .changeSet,
            .setsTaken, .setsShown, .setsBase, .formats, .claim, .claimAnswer, .releaseClaim, .claimWaits, .pausing,
            .holding, .halt:
            if FrameCodec.encode(frame) != bytes { Issue.record("read, but not as sent: \(Hex.text(body))") }
        }
        return frame
    }

    @Test("every cut of a body with a right checksum is refused", arguments: UInt8(1)...33)
    func truncation(type: UInt8) {
        var random = SeededRandom(seed: 2, stream: UInt64(type))
        for _ in 0..<4 {
            let body = FrameCodecTests.body(of: random.drawFrame(type: type))
            // A halt cut short is a halt for a reason we do not know only if its length still holds, which it does not.
            for count in 1..<body.count where check(Array(body.prefix(count))) != nil {
                Issue.record("type \(type) cut after \(count) of \(body.count) bytes is read")
            }
            #expect(check(body + [0]) == nil)
        }
    }

    @Test("every bit of a body, changed, gives another frame or none", arguments: UInt8(1)...33)
    func bitFlips(type: UInt8) {
        var random = SeededRandom(seed: 3, stream: UInt64(type))
        let frame = random.drawFrame(type: type)
        let body = FrameCodecTests.body(of: frame)
        for bit in 0..<body.count * 8 {
            var changed = body
            changed[bit / 8] ^= UInt8(1 << (bit % 8))
            if check(changed) == frame { Issue.record("bit \(bit) of type \(type) makes no difference") }
        }
    }

    @Test("100,000 mangled bodies and random bytes: read or refused, never a trap") func totality() {
        var random = SeededRandom(seed: 4)
        let bodies = (0..<240).map { FrameCodecTests.body(of: random.drawFrame(type: UInt8(1 + $0 % 24))) }
        var read = 0
        for number in 0..<100_000 {
            let noise = [UInt8(random.below(26))] + random.bytes(random.below(60))
            if check(number % 4 == 0 ? noise : random.mangle(bodies[number % 240])) != nil { read += 1 }
        }
        #expect(read > 5_000)
    }

    @Test("bytes that are no frame at all are none") func noise() {
        var random = SeededRandom(seed: 5)
        let isNone = (0..<10_000).allSatisfy { _ in FrameCodec.decode(random.bytes(random.below(64))) == nil }
        #expect(isNone && FrameCodec.decode([]) == nil)
    }

    @Test(
        "R-09: a count is believed only as far as the bytes reach",
        arguments: [2, 4, 6, 7, 8, 9, 13, 17, 19, 20] as [UInt8])
    func counts(type: UInt8) {
        // Where each type has its count, behind the type.
        let offsets: [UInt8: Int] =  // lookup only
            [2: 1, 4: 1, 6: 1, 7: 41, 8: 33, 9: 33, 13: 18, 17: 1, 19: 1, 20: 65]
        var random = SeededRandom(seed: 6, stream: UInt64(type))
        guard let offset = offsets[type] else { return }
        for count in [[0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0, 1, 0, 0]] as [[UInt8]] {
            var body = FrameCodecTests.body(of: random.drawFrame(type: type))
            #expect(body.count >= offset + 4)
            body.replaceSubrange(offset..<offset + 4, with: count)
            #expect(check(body) == nil)
        }
    }

    @Test("R-09: a frame is at most a mebibyte") func frameSize() {
        let fits = [UInt8](repeating: 7, count: Limits.frameBytesMax - 4 - 1 - 8)
        let frame = Frame.log([fits])
        let bytes = FrameCodec.encode(frame)
        #expect(bytes.count == Limits.frameBytesMax + 4)
        #expect(FrameCodec.decode(bytes) == frame)
        #expect(FrameCodec.decode(FrameCodec.encode(.log([fits + [7]]))) == nil)
    }

    @Test("a chunk and the largest page fit a frame") func largest() {
        let data = ChunkData(index: 1, bytes: [UInt8](repeating: 1, count: Int(Limits.chunkBytesMax)))
        let chunks = Frame.chunks(ContentID(.zero), [data])
        #expect(FrameCodec.decode(FrameCodec.encode(chunks)) == chunks)
        let page = [Chunk](repeating: Chunk(digest: .zero, length: 1), count: Limits.chunksPerPageMax)
        let total = UInt32(page.count)
        let list = Frame.chunkList(ContentPage(content: ContentID(.zero), first: 0, total: total, chunks: page))
        #expect(FrameCodec.decode(FrameCodec.encode(list)) == list)
        let more = Frame.chunkList(
            ContentPage(
                content: ContentID(.zero), first: 0, total: total + 1,
                chunks: page + [Chunk(digest: .zero, length: 1)]))
        #expect(FrameCodec.decode(FrameCodec.encode(more)) == nil)
    }

    // MARK: What may stand in it

    @Test("a frame of a type nobody knows yet is named, not guessed") func unknown() {
        for type in [0] + Array(UInt8(34)...255) {
            for rest: [UInt8] in [[], [1], [UInt8](repeating: 0xFF, count: 300)] {
                #expect(check([type] + rest) == .unknown(type))
            }
        }
    }

    @Test("a halt for a reason nobody knows yet is a halt") func halts() {
        var body: [UInt8] = [16, 0, 0, 0, 5]
        body += Array("later".utf8)
        #expect(check(body) == .halt(.nodeHalted))
        #expect(check([16, 0, 0, 0, 2, 0xFF, 0xFE]) == .halt(.nodeHalted))
        #expect(check([16, 0, 0, 0, 65] + [UInt8](repeating: 0x61, count: 65)) == nil)
    }

    @Test("a hello keeps its bounds") func hellos() {
        var random = SeededRandom(seed: 7)
        func reads(_ change: (inout Hello) -> Void) -> Bool {
            var hello = random.drawHello()
            change(&hello)
            return FrameCodec.decode(FrameCodec.encode(.hello(hello))) == .hello(hello)
        }
        let head = LogHead.none
        #expect(reads { $0.name = [UInt8](repeating: 0x61, count: Limits.nodeNameBytesMax) })
        #expect(!reads { $0.name = [UInt8](repeating: 0x61, count: Limits.nodeNameBytesMax + 1) })
        #expect(reads { $0.program = [UInt8](repeating: 0x61, count: 64) })
        #expect(!reads { $0.program = [UInt8](repeating: 0x61, count: 65) })
        #expect(reads { $0.features = Array(repeating: [1], count: Limits.featureCountMax) })
        #expect(!reads { $0.features = Array(repeating: [1], count: Limits.featureCountMax + 1) })
        #expect(!reads { $0.features = [[UInt8](repeating: 1, count: 65)] })
        // Every epoch that is remembered, and the one that goes on.
        #expect(reads { $0.known = Array(repeating: head, count: Limits.epochsRememberedMax + 1) })
        #expect(!reads { $0.known = Array(repeating: head, count: Limits.epochsRememberedMax + 2) })
        #expect(!reads { ($0.versionMin, $0.versionMax) = (2, 1) })
        #expect(reads { ($0.versionMin, $0.versionMax) = (0, .max) })
    }

    @Test("INV-23: a row of a path that no peer may name is refused") func rows() {
        var random = SeededRandom(seed: 8)
        let state = random.drawRowState()
        for path in [Path.root, place(".syncd"), place(".syncd/x")] {
            let row = RowState(path: path, revision: state.revision)
            #expect(FrameCodec.decode(FrameCodec.encode(.rows([state, row]))) == nil)
            #expect(FrameCodec.decode(FrameCodec.encode(.expansion(.none, [row], isLast: true))) == nil)
        }
        let fine = RowState(path: place("syncd"), revision: state.revision)
        #expect(FrameCodec.decode(FrameCodec.encode(.rows([state, fine]))) == .rows([state, fine]))
    }

    @Test("a row is the sender's own, and saw only what was before it") func foreignRows() {
        var random = SeededRandom(seed: 9)
        let state = random.drawRowState()
        let foreign = RowState(path: state.path, revision: state.revision.flipped)
        #expect(FrameCodec.decode(FrameCodec.encode(.rows([foreign]))) == nil)
        var mad = state.revision
        mad.seen.own = mad.origin.position
        #expect(FrameCodec.decode(FrameCodec.encode(.rows([RowState(path: state.path, revision: mad)]))) == nil)
    }

    @Test("a page lies within its list") func pages() {
        let chunk = Chunk(digest: .zero, length: 9)
        func reads(first: UInt32, total: UInt32, count: Int) -> Bool {
            let page = ContentPage(
                content: ContentID(.zero), first: first, total: total, chunks: Array(repeating: chunk, count: count))
            return FrameCodec.decode(FrameCodec.encode(.chunkList(page))) == .chunkList(page)
        }
        #expect(reads(first: 0, total: 0, count: 0) && reads(first: 3, total: 5, count: 2))
        #expect(!reads(first: 3, total: 5, count: 3) && !reads(first: 6, total: 5, count: 0))
        #expect(reads(first: .max, total: .max, count: 0) && !reads(first: .max, total: .max, count: 1))
    }
}
