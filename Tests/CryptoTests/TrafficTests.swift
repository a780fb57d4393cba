import SyncModel
import Testing

/// What goes through a session once it stands: everything, once, in order, until it is closed.
@testable import Crypto

@Suite("TLS traffic")
struct TrafficTests {
    @Test("100 MB arrive as they were sent, whatever pieces they are written and read in") func volume() throws {
        let pair = try SessionPair.established()
        var random = SeededRandom(seed: 100)
        let block = Secure.random(300_000)
        var sent = SHA256Stream()
        var arrived = SHA256Stream()
        var total = 0
        while total < 100_000_000 {
            let piece = block[..<random.range(1...block.count)]
            try pair.client.writePlain(piece.span)
            sent.update(piece)
            total += piece.count
            let cipher = pair.client.takeOutgoing()
            var start = 0
            while start < cipher.count {
                let end = min(cipher.count, start + random.range(1...70_000))
                try pair.server.receive(Array(cipher[start..<end]))
                if random.chance(percent: 70) { arrived.update(pair.server.readPlain()) }
                start = end
            }
        }
        arrived.update(pair.server.readPlain())
        let (left, right) = (sent.finish(), arrived.finish())
        #expect(left == right)
    }

    @Test("both directions are used at the same time") func bothWays() throws {
        let pair = try SessionPair.established()
        for number in 0..<50 {
            try pair.client.writePlain([UInt8(number)])
            try pair.server.writePlain([UInt8(number), 255])
            try pair.settle()
        }
        #expect(pair.server.readPlain() == (0..<50).map { UInt8($0) })
        #expect(pair.client.readPlain() == (0..<50).flatMap { [UInt8($0), 255] })
    }

    @Test("a record is at most 16 KiB and 22 bytes, and a large write is cut into full ones") func records() throws {
        let pair = try SessionPair.established()
        try pair.client.writePlain(Array(repeating: 0, count: 100_000))
        var lengths: [Int] = []
        var rest = pair.client.takeOutgoing()[...]
        while rest.count >= 5 {
            let length = Int(rest[rest.startIndex + 3]) << 8 | Int(rest[rest.startIndex + 4])
            lengths.append(length + 5)
            rest = rest.dropFirst(length + 5)
        }
        #expect(lengths == Array(repeating: 16_406, count: 6) + [100_000 - 6 * 16_384 + 22])
    }

    @Test("no byte of the plain text is in what travels") func secrecy() throws {
        let pair = try SessionPair.established()
        let plain = Array("attack at dawn, attack at dawn".utf8)
        try pair.client.writePlain(plain)
        let cipher = pair.client.takeOutgoing()
        for start in 0...(cipher.count - 8) {
            #expect(!cipher[start..<(start + 8)].elementsEqual(plain.prefix(8)))
        }
    }

    @Test("empty writes and empty reads are nothing") func nothing() throws {
        let pair = try SessionPair.established()
        try pair.client.writePlain([])
        #expect(pair.client.outgoingCount == 0)
        try pair.server.receive([])
        #expect(pair.server.readPlain().isEmpty)
        #expect(pair.client.takeOutgoing().isEmpty)
    }

    @Test("the outgoing count says what would be taken, and taking empties it") func outgoing() throws {
        let pair = try SessionPair.established()
        try pair.client.writePlain(Array(repeating: 1, count: 1_000))
        #expect(pair.client.outgoingCount == 1_022)
        try pair.client.writePlain([2])
        let taken = pair.client.takeOutgoing()
        #expect(taken.count == 1_022 + 23)
        #expect(pair.client.outgoingCount == 0)
    }

    @Test("the writing key is changed in time, and nobody notices") func renewal() throws {
        let pair = try SessionPair.established(recordsPerKey: 3)
        var expected: [UInt8] = []
        for number in 0..<40 {
            let piece = Array(repeating: UInt8(number), count: 1 + number * 1_000)
            expected += piece
            try pair.client.writePlain(piece)
            try pair.server.writePlain([UInt8(number)])
            try pair.settle()
        }
        #expect(pair.server.readPlain() == expected)
        #expect(pair.client.readPlain() == (0..<40).map { UInt8($0) })
        #expect(pair.client.renewal.renewals > 10 && pair.server.renewal.renewals > 5)
    }

    @Test("a key is renewed exactly when its records are used up") func renewalCount() {
        var renewal = KeyRenewal(recordsMax: 10)
        let answers = [10, 1, 9, 64, 1].map { renewal.isDue(after: $0) }
        #expect(answers == [false, true, false, true, true])
        #expect(renewal.renewals == 3)
        #expect(KeyRenewal().recordsMax < 1 << 24, "RFC 8446, section 5.5")
    }

    @Test("closing is heard, and the other side may go on writing") func halfClosed() throws {
        let pair = try SessionPair.established()
        try pair.client.writePlain([1])
        pair.client.close()
        try pair.settle()
        #expect(pair.server.isPeerClosed && !pair.client.isPeerClosed)
        #expect(pair.server.readPlain() == [1])
        try pair.server.writePlain([2, 3])
        try pair.settle()
        #expect(pair.client.readPlain() == [2, 3])
        pair.server.close()
        pair.server.close()
        try pair.settle()
        #expect(pair.client.isPeerClosed)
    }

    @Test("after closing nothing can be written, and what comes after a close is not read") func closed() throws {
        let pair = try SessionPair.established()
        pair.client.close()
        #expect(SessionPair.error { try pair.client.writePlain([1]) }?.kind == .closed)
        try pair.settle()
        try pair.server.receive([1, 2, 3])
        #expect(pair.server.readPlain().isEmpty)
    }

    @Test("a cut is not a close") func cut() throws {
        let pair = try SessionPair.established()
        try pair.client.writePlain(Array(repeating: 9, count: 40_000))
        let cipher = pair.client.takeOutgoing()
        try pair.server.receive(Array(cipher.dropLast(1)))
        #expect(!pair.server.isPeerClosed)
        #expect(pair.server.readPlain() == Array(repeating: 9, count: 32_768), "whole records only")
    }
}
