import Testing

/// Who gets a session with whom: pins, protocols, and what each side hears of a refusal.
@testable import Crypto

@Suite("TLS handshake")
struct HandshakeTests {
    @Test("two nodes that know each other's key meet") func meets() throws {
        let (clientKey, serverKey) = try SessionPair.keys.get()
        let pair = try SessionPair()
        #expect(!pair.client.isEstablished && pair.client.peerFingerprint == nil)
        #expect(pair.client.outgoingCount > 0, "the client speaks first")
        #expect(pair.server.outgoingCount == 0)
        try pair.settle()
        #expect(pair.isEstablished)
        #expect(pair.client.peerFingerprint == serverKey.fingerprint)
        #expect(pair.server.peerFingerprint == clientKey.fingerprint)
        #expect(pair.client.negotiatedProtocol == "syncd/1")
        #expect(pair.server.negotiatedProtocol == "syncd/1")
    }

    @Test("one byte at a time is as good as all at once") func byteByByte() throws {
        let pair = try SessionPair()
        while pair.client.outgoingCount > 0 || pair.server.outgoingCount > 0 {
            for byte in pair.client.takeOutgoing() { try pair.server.receive([byte]) }
            for byte in pair.server.takeOutgoing() { try pair.client.receive([byte]) }
        }
        #expect(pair.isEstablished)
        try pair.client.writePlain(Array("hello".utf8))
        for byte in pair.client.takeOutgoing() { try pair.server.receive([byte]) }
        #expect(pair.server.readPlain() == Array("hello".utf8))
    }

    @Test("data that follows the handshake in the same bytes is not lost") func eagerClient() throws {
        let pair = try SessionPair()
        try pair.server.receive(pair.client.takeOutgoing())
        try pair.client.receive(pair.server.takeOutgoing())
        #expect(pair.client.isEstablished && !pair.server.isEstablished)
        try pair.client.writePlain([1, 2, 3])
        try pair.server.receive(pair.client.takeOutgoing())
        #expect(pair.server.isEstablished)
        #expect(pair.server.readPlain() == [1, 2, 3])
    }

    static let wrongPins: [[UInt8]] = [
        Array(repeating: 7, count: 32), Array(repeating: 0, count: 32), [], [1], Array(repeating: 7, count: 64),
    ]

    @Test("a server refuses a key it is not paired with, and the client hears why", arguments: wrongPins)
    func serverRefuses(pin: [UInt8]) throws {
        let (clientKey, _) = try SessionPair.keys.get()
        let pair = try SessionPair(serverTrust: .pinned(pin))
        let errors = pair.settleKeepingErrors()
        #expect(errors.server?.kind == .untrustedKey(clientKey.fingerprint))
        #expect(errors.client?.kind == .refusedByPeer(alert: 42))
        #expect(!pair.server.isEstablished && pair.server.peerFingerprint == nil)
        #expect(pair.server.readPlain().isEmpty)
    }

    @Test("a client refuses a key it is not paired with, and the server hears why", arguments: wrongPins)
    func clientRefuses(pin: [UInt8]) throws {
        let (_, serverKey) = try SessionPair.keys.get()
        let pair = try SessionPair(clientTrust: .pinned(pin))
        let errors = pair.settleKeepingErrors()
        #expect(errors.client?.kind == .untrustedKey(serverKey.fingerprint))
        #expect(errors.server?.kind == .refusedByPeer(alert: 42))
        #expect(!pair.client.isEstablished && !pair.server.isEstablished)
    }

    @Test("a pin with one wrong bit is a wrong pin") func nearlyRight() throws {
        let (clientKey, _) = try SessionPair.keys.get()
        for bit in stride(from: 0, to: 256, by: 37) {
            var pin = clientKey.fingerprint
            pin[bit / 8] ^= 1 << UInt8(bit % 8)
            let errors = try SessionPair(serverTrust: .pinned(pin)).settleKeepingErrors()
            #expect(errors.server?.kind == .untrustedKey(clientKey.fingerprint))
        }
    }

    @Test("without a common protocol both sides say so") func noProtocol() throws {
        let pair = try SessionPair(clientProtocols: ["syncd/2", "syncd/3"])
        let errors = pair.settleKeepingErrors()
        #expect(errors.server?.kind == .noCommonProtocol)
        #expect(errors.client?.kind == .refusedByPeer(alert: 120))
        #expect(errors.client?.reason.contains("protocols") == true)
    }

    @Test("of several protocols the server's first choice is taken") func choice() throws {
        let pair = try SessionPair(
            clientProtocols: ["a", "syncd/1", "syncd/2"], serverProtocols: ["syncd/2", "syncd/1"])
        try pair.settle()
        #expect(pair.client.negotiatedProtocol == "syncd/2")
        #expect(pair.server.negotiatedProtocol == "syncd/2")
    }

    @Test("one door serves both, paired nodes pinned and pairing ones unverified", arguments: [false, true])
    func trustByProtocol(isPairing: Bool) throws {
        let (clientKey, serverKey) = try SessionPair.keys.get()
        let stranger = try IdentityKey.generate()
        var asked: [String] = []
        let server = try TLSSession(role: .server, key: serverKey, protocols: ["syncd/1", "syncd-pair/1"]) { name in
            asked.append(name)
            return name == "syncd-pair/1" ? .unverified : .pinned(clientKey.fingerprint)
        }
        let name = isPairing ? "syncd-pair/1" : "syncd/1"
        let client = try TLSSession(role: .client, key: stranger, protocols: [name], trust: .unverified)
        try server.receive(client.takeOutgoing())
        try client.receive(server.takeOutgoing())
        let refusal = SessionPair.error { try server.receive(client.takeOutgoing()) }
        #expect(asked == [name])
        #expect(server.isEstablished == isPairing)
        #expect(refusal?.kind == (isPairing ? nil : .untrustedKey(stranger.fingerprint)))
        if isPairing { #expect(server.peerFingerprint == stranger.fingerprint) }
    }

    @Test("a secret derived at one end is equal at the other, and nowhere else") func exporter() throws {
        let pair = try SessionPair.established()
        let label = "EXPORTER-syncd-pairing"
        let secret = try pair.client.exportKey(label: label, length: 32)
        #expect(secret.count == 32)
        #expect(try pair.server.exportKey(label: label, length: 32) == secret)
        #expect(try pair.server.exportKey(label: "EXPORTER-other", length: 32) != secret)
        let second = try SessionPair.established()
        #expect(try second.client.exportKey(label: label, length: 32) != secret, "each session has its own")
    }

    @Test("who sits in the middle of a pairing shares a different secret with each end") func middle() throws {
        let outer = try SessionPair(clientTrust: .unverified, serverTrust: .unverified)
        let inner = try SessionPair(clientTrust: .unverified, serverTrust: .unverified)
        try outer.settle()
        try inner.settle()
        let one = try outer.client.exportKey(label: "EXPORTER-syncd-pairing", length: 32)
        let other = try inner.server.exportKey(label: "EXPORTER-syncd-pairing", length: 32)
        #expect(one != other)
    }

    @Test("nothing is derived, written or readable before the handshake is over") func tooEarly() throws {
        let pair = try SessionPair()
        #expect(throws: CryptoError.self) { _ = try pair.client.exportKey(label: "EXPORTER-x", length: 32) }
        let refusal = SessionPair.error { try pair.client.writePlain([1]) }
        #expect(refusal?.kind == .closed)
        #expect(pair.client.readPlain().isEmpty)
        pair.client.close()
        try pair.settle()
        #expect(pair.isEstablished, "an early close or write has not hurt the handshake")
    }
}
