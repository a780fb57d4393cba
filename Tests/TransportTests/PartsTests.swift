/// The parts of the link that need no network.
import Testing

@testable import Transport

@Suite("parts of the link") struct PartsTests {
    // MARK: Records

    @Test("records come out as they went in, however the bytes are cut", arguments: [1, 2, 3, 5, 7, 64, 10_000])
    func records(step: Int) throws {
        let written = [
            Record(kind: 0, payload: []), Record(kind: 1, payload: [1]), Record(kind: 255, payload: noise(1_000)),
            Record(kind: 3, payload: []), Record(kind: 0, payload: noise(5_000)),
        ]
        let bytes = written.flatMap { Record.encode(kind: $0.kind, $0.payload) }
        var reader = RecordReader(limit: 5_001)
        var read: [Record] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            reader.append(Array(bytes[start..<min(bytes.count, start + step)]))
            while let record = try reader.next() { read.append(record) }
        }
        #expect(read == written)
        #expect(reader.waitingBytes == 0)
    }

    @Test("a length of nothing or beyond the limit is refused before its bytes are there")
    func lengths() throws {
        for (bytes, length) in [([0, 0, 0, 0], 0), ([0, 0, 1, 1], 257), ([255, 255, 255, 255], .max)]
            as [([UInt8], UInt32)]
        {
            var reader = RecordReader(limit: 256)
            reader.append(bytes)
            #expect(throws: RecordReader.BadLength(length: length, limit: 256)) { try reader.next() }
        }
        var reader = RecordReader(limit: 256)
        reader.append([0, 0, 1])
        #expect(try reader.next() == nil)
        reader.append([0])
        #expect(try reader.next() == nil, "256 is allowed")
    }

    @Test("any bytes at all are records, more to come, or refused") func hostile() {
        for seed in 1...300 as ClosedRange<UInt64> {
            var reader = RecordReader(limit: 64)
            var total = 0
            var bytes = noise(200, seed: seed)
            // Small lengths are the interesting ones.
            for index in stride(from: 0, to: bytes.count - 4, by: 9) {
                bytes.replaceSubrange(index..<(index + 3), with: [0, 0, 0])
            }
            reader.append(bytes)
            while let record = try? reader.next() { total += record.payload.count + Record.headerBytes }
            #expect(total <= bytes.count)
        }
    }

    // MARK: Outbox

    @Test("the outbox hands out all bytes in order and counts each frame once, with its last byte", arguments: 1...20)
    func outbox(seed: UInt64) {
        var outbox = Outbox()
        var chance = noise(4_000, seed: seed)[...]
        func draw(_ bound: Int) -> Int { (Int(chance.popFirst() ?? 0) << 8 | Int(chance.popFirst() ?? 0)) % bound }
        var written: [UInt8] = []
        var read: [UInt8] = []
        var frameEnds: [(end: Int, bytes: Int)] = []
        var told = 0
        for _ in 0..<600 {
            if draw(2) == 0 {
                let record = noise(draw(300) + 1, seed: UInt64(draw(1_000)))
                let frameBytes = draw(3) == 0 ? 0 : draw(500) + 1
                outbox.add(record, frameBytes: frameBytes)
                written += record
                frameEnds.append((written.count, frameBytes))
            } else if let piece = outbox.take(draw(400)) {
                #expect(!piece.bytes.isEmpty)
                read += piece.bytes
                told += piece.frameBytes
                #expect(told == frameEnds.reduce(0) { $0 + ($1.end <= read.count ? $1.bytes : 0) })
            }
            #expect(outbox.waitingBytes == written.count - read.count)
        }
        while let piece = outbox.take(1_000) { read += piece.bytes }
        #expect(read == written)
        #expect(outbox.isEmpty)
        #expect(outbox.take(10) == nil)
    }

    // MARK: Rate

    @Test("over time the bucket gives the rate, and never much at once") func bucket() {
        var bucket = TokenBucket(bytesPerSecond: 1_000_000, nowMilliseconds: 0)
        var sent = 0
        for now in stride(from: UInt64(0), through: 10_000, by: 7) {
            let allowed = bucket.allowance(nowMilliseconds: now)
            #expect(allowed <= 250_000)
            sent += allowed
            bucket.spend(allowed)
        }
        #expect(sent > 9_900_000 && sent <= 10_250_000)
        #expect(bucket.waitMilliseconds(for: 100_000) <= 101)
        #expect(bucket.waitMilliseconds(for: .max) <= 251, "no longer than until it is full")
    }

    @Test("no limit means no limit, and a clock that goes back takes nothing away") func bucketEdges() {
        var none = TokenBucket(bytesPerSecond: 0, nowMilliseconds: 5)
        #expect(none.allowance(nowMilliseconds: 0) == .max)
        #expect(none.waitMilliseconds(for: 1_000) == 0)
        var slow = TokenBucket(bytesPerSecond: 1, nowMilliseconds: 1_000)
        #expect(slow.allowance(nowMilliseconds: 0) == 16_384)
        slow.spend(16_384)
        #expect(slow.allowance(nowMilliseconds: 0) == 0)
        #expect(slow.waitMilliseconds(for: 1) == 1_000)
    }

    // MARK: Back-off

    @Test("pauses are a fiftieth of the time nobody has answered, up to the limit, and start over") func backoff() {
        var backoff = Backoff(firstMilliseconds: 100, lastMilliseconds: 1_500)
        var waited: UInt64 = 0
        for _ in 0..<300 {
            let base = min(1_500, 100 + waited / 50)
            let pause = backoff.next()
            #expect(pause <= base + 1 + waited / 100 && pause >= base * 2 / 3 - 1)
            waited += base
        }
        #expect(waited > 70_000 && backoff.next() >= 999)
        backoff.reset()
        #expect(backoff.next() <= 100)
    }

    @Test("who answers and is not taken is called half as often each time") func doubled() {
        var backoff = Backoff(firstMilliseconds: 100, lastMilliseconds: 1_500)
        for base: UInt64 in [100, 204, 416, 848, 1_500, 1_500] {
            let pause = backoff.next()
            #expect(pause <= base && pause >= base * 2 / 3 - 2)
            backoff.double()
        }
    }

    @Test("two nodes do not pause in step") func jitter() {
        var backoff = Backoff(firstMilliseconds: 1_500, lastMilliseconds: 1_500)
        #expect(Set((0..<50).map { _ in backoff.next() }).count > 10)
    }

    // MARK: Compression

    @Test("content that never shrinks is soon tried rarely, and one that does is tried again") func packer() {
        var packer = FramePacker()
        let hard = noise(20_000)
        let easy = [UInt8](repeating: 1, count: 20_000)
        for _ in 0..<100 { #expect(packer.record(for: hard).kind == 0) }
        let kinds = (0..<40).map { _ in packer.record(for: easy).kind }
        #expect(kinds.contains(1), "tried again after a while")
        #expect(kinds.last == 1, "and then always")
        #expect(packer.record(for: [1, 2, 3]) == Record(.frame, [1, 2, 3]))
        // Small frames are always tried: they are the log and the rows, which shrink well.
        var another = FramePacker()
        for _ in 0..<10 { _ = another.record(for: hard) }
        #expect(another.record(for: [UInt8](repeating: 9, count: 1_000)).kind == 1)
    }

    // MARK: Refusals

    @Test("one host that knocks all the time is told of once a minute, and many hosts are bounded") func quiet() {
        var log = RejectionLog()
        func tells(_ address: String, _ reason: LinkRejection, at now: UInt64) -> Bool {
            log.shouldTell(address, isDialled: false, reason, nowMilliseconds: now)
        }
        #expect(tells("192.0.2.1:1000", .tooSlow, at: 1))
        #expect(!tells("192.0.2.1:1001", .tooSlow, at: 2))
        #expect(tells("192.0.2.1:1001", .ourKeyRefused, at: 3))
        let isToldForDialled = log.shouldTell("192.0.2.1:1", isDialled: true, .tooSlow, nowMilliseconds: 4)
        #expect(isToldForDialled)
        #expect(tells("192.0.2.1:1002", .tooSlow, at: 60_001))
        for host in 0..<1_000 { _ = tells("h\(host):1", .left, at: 60_002) }
        #expect(!tells("another:1", .left, at: 60_002))
        #expect(tells("another:1", .left, at: 200_000))
    }

    @Test("every end and every refusal is a phrase without a full stop") func wording() {
        let ends: [LinkEnd] = [
            .closedHere, .unpaired, .closedByPeer, .replaced, .cut, .silent(milliseconds: 4_500), .violation("x"),
            .overflow,
        ]
        let rejections: [LinkRejection] = [
            .wrongKey(fingerprint: [0xAB, 0x01]), .ourKeyRefused, .notPairedHere, .notPairedThere, .noTLS("x"), .left,
            .tooSlow,
        ]
        for text in ends.map(\.description) + rejections.map(\.description) {
            #expect(!text.isEmpty && text.last != "." && text.first?.isUppercase == false)
        }
        #expect(rejections[0].description.contains("sha256:ab01"))
    }
}
