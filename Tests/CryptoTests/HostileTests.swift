import SyncModel
import Testing

/// Bytes that no honest peer sends: none of them crashes a session, and none gets one established.
@testable import Crypto

@Suite("TLS against hostile bytes")
struct HostileTests {
    static let garbage: [[UInt8]] = [
        Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), Array("SSH-2.0-OpenSSH_9.2\r\n".utf8),
        Array(repeating: 0, count: 1_000), Array(repeating: 0xFF, count: 1_000), [0x16, 0x03, 0x01, 0xFF, 0xFF] + [0],
        [0x80, 0x2E, 0x01, 0x00, 0x02] + Array(repeating: 1, count: 44), [0x15, 3, 3, 0, 2, 2, 40],
        [0x17, 3, 3, 0, 5, 1, 2, 3, 4, 5],
    ]

    @Test("a server that is spoken to in another language refuses, or waits for more", arguments: garbage)
    func server(bytes: [UInt8]) throws {
        let pair = try SessionPair()
        let error = SessionPair.error { try pair.server.receive(bytes) }
        #expect(!pair.server.isEstablished && pair.server.readPlain().isEmpty)
        if let error { #expect(isOfTraffic(error)) } else { #expect(bytes[0] == 0x16, "an unfinished record") }
    }

    @Test("a client that is answered in another language refuses, or waits for more", arguments: garbage)
    func client(bytes: [UInt8]) throws {
        let pair = try SessionPair()
        let error = SessionPair.error { try pair.client.receive(bytes) }
        #expect(!pair.client.isEstablished && pair.client.readPlain().isEmpty)
        if let error { #expect(isOfTraffic(error)) } else { #expect(bytes[0] == 0x16, "an unfinished record") }
    }

    @Test("an error is for ever") func sticky() throws {
        let pair = try SessionPair()
        let first = SessionPair.error { try pair.server.receive(HostileTests.garbage[0]) }
        #expect(first != nil)
        #expect(SessionPair.error { try pair.server.receive(pair.client.takeOutgoing()) } == first)
        #expect(SessionPair.error { try pair.server.writePlain([1]) } == first)
        pair.server.close()
        #expect(!pair.server.isEstablished)
    }

    @Test("random bytes, in any pieces, never establish anything") func noise() throws {
        var random = SeededRandom(seed: 4)
        for _ in 0..<300 {
            let pair = try SessionPair()
            let target = random.chance(percent: 50) ? pair.server : pair.client
            for _ in 0..<5 {
                var bytes = random.bytes(random.range(1...600))
                // Half of them look like the head of a record, to get further in.
                if random.chance(percent: 50) { bytes.replaceSubrange(0..<min(3, bytes.count), with: [0x16, 3, 1]) }
                _ = SessionPair.error { try target.receive(bytes) }
            }
            #expect(!target.isEstablished && target.readPlain().isEmpty)
        }
    }

    @Test("one changed byte in the handshake stops it, or changes nothing that matters") func changedHandshake() throws
    {
        let (clientKey, serverKey) = try SessionPair.keys.get()
        var stopped = 0
        for position in stride(from: 0, to: 1_800, by: 13) {
            let pair = try SessionPair()
            var seen = 0
            let tamper = { (bytes: [UInt8]) -> [UInt8] in
                defer { seen += bytes.count }
                guard (seen..<(seen + bytes.count)).contains(position) else { return bytes }
                var changed = bytes
                changed[position - seen] ^= 0x21
                return changed
            }
            for _ in 0..<4 {
                _ = SessionPair.error { try pair.server.receive(tamper(pair.client.takeOutgoing())) }
                _ = SessionPair.error { try pair.client.receive(tamper(pair.server.takeOutgoing())) }
            }
            if !pair.isEstablished { stopped += 1 }
            if pair.server.isEstablished { #expect(pair.server.peerFingerprint == clientKey.fingerprint) }
            if pair.client.isEstablished { #expect(pair.client.peerFingerprint == serverKey.fingerprint) }
        }
        #expect(stopped > 50, "most positions matter")
    }

    @Test("a handshake that is cut anywhere stays unfinished and reads nothing") func cutHandshake() throws {
        let whole = try SessionPair()
        let hello = whole.client.takeOutgoing()
        for end in stride(from: 1, to: hello.count, by: 17) {
            let pair = try SessionPair()
            try pair.server.receive(Array(hello[..<end]))
            #expect(!pair.server.isEstablished && pair.server.outgoingCount == 0)
        }
    }

    @Test("a changed, repeated or missing record of data is an error, and what was before it is kept")
    func changedData() throws {
        for damage in 0..<3 {
            let pair = try SessionPair.established()
            try pair.client.writePlain([1])
            let first = pair.client.takeOutgoing()
            try pair.client.writePlain(Array(repeating: 2, count: 100))
            var second = pair.client.takeOutgoing()
            try pair.client.writePlain([3])
            let third = pair.client.takeOutgoing()
            let received: [UInt8]
            switch damage {
            case 0:
                second[50] ^= 1
                received = first + second + third
            case 1: received = first + first
            default: received = first + third
            }
            let error = SessionPair.error { try pair.server.receive(received) }
            #expect(error?.kind == .badTraffic)
            #expect(pair.server.readPlain() == [1])
            #expect(SessionPair.error { try pair.server.receive(third) } == error)
            #expect(pair.server.outgoingCount > 0, "the peer is told")
        }
    }

    @Test("what one session encrypted means nothing to another") func replay() throws {
        let pair = try SessionPair.established()
        let other = try SessionPair.established()
        try pair.client.writePlain([1, 2, 3])
        let error = SessionPair.error { try other.server.receive(pair.client.takeOutgoing()) }
        #expect(error?.kind == .badTraffic)
        #expect(other.server.readPlain().isEmpty)
    }

    @Test("a node that dials itself is no peer of itself, unless it is pinned to itself") func itself() throws {
        let (key, other) = try SessionPair.keys.get()
        let client = try TLSSession(role: .client, key: key, protocols: ["a"], trust: .pinned(other.fingerprint))
        let server = try TLSSession(role: .server, key: key, protocols: ["a"], trust: .pinned(other.fingerprint))
        try server.receive(client.takeOutgoing())
        let error = SessionPair.error { try client.receive(server.takeOutgoing()) }
        #expect(error?.kind == .untrustedKey(key.fingerprint))
    }

    private func isOfTraffic(_ error: CryptoError) -> Bool {
        switch error.kind {
        case .badTraffic, .refusedByPeer: true
        default: false
        }
    }
}
