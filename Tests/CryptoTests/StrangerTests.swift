import COpenSSL
import Testing

/// Peers that are not this program: OpenSSL with other settings, at the other end of our sessions.
@testable import Crypto

@Suite("TLS with strangers")
struct StrangerTests {
    private func ours(_ role: TLSRole, trust: Trust = .unverified) throws -> TLSSession {
        try TLSSession(role: role, key: SessionPair.keys.get().1, protocols: ["syncd/1"], trust: trust)
    }

    @Test("a client with our settings is welcome: the others below fail for their own reasons") func welcome() throws {
        let server = try ours(.server)
        let client = try Stranger(.client)
        #expect(client.talk(with: server) == nil)
        #expect(server.isEstablished && client.isFinished)
    }

    @Test("TLS 1.2 is refused by the server") func oldClient() throws {
        let server = try ours(.server)
        let error = try Stranger(.client, newest: TLS1_2_VERSION).talk(with: server)
        #expect(error?.kind == .badTraffic)
        #expect(error?.reason.contains("protocol") == true, "\(error?.reason ?? "")")
        #expect(!server.isEstablished)
    }

    @Test("TLS 1.2 is refused by the client") func oldServer() throws {
        let client = try ours(.client)
        let error = try Stranger(.server, newest: TLS1_2_VERSION).talk(with: client)
        #expect(error?.kind == .refusedByPeer(alert: 70))
        #expect(error?.reason.contains("TLS 1.3") == true)
        #expect(!client.isEstablished)
    }

    @Test("a client without a certificate is refused") func noCertificate() throws {
        let server = try ours(.server)
        let error = try Stranger(.client, identity: .none).talk(with: server)
        #expect(error?.kind == .badTraffic)
        #expect(!server.isEstablished)
    }

    @Test("a key of another kind is refused, even where any key would do", arguments: [TLSRole.client, .server])
    func otherKind(role: TLSRole) throws {
        let session = try ours(role == .client ? .server : .client)
        let error = try Stranger(role, identity: .p256).talk(with: session)
        #expect(error != nil)
        #expect(!session.isEstablished && session.peerFingerprint == nil)
    }

    @Test("who names no protocol is refused", arguments: [TLSRole.client, .server]) func noProtocol(role: TLSRole)
        throws
    {
        let session = try ours(role == .client ? .server : .client)
        let error = try Stranger(role, protocols: []).talk(with: session)
        #expect(error?.kind == .noCommonProtocol)
        #expect(!session.isEstablished)
    }

    @Test("a server that answers with a protocol we did not offer is refused") func inventedProtocol() throws {
        let client = try ours(.client)
        let error = try Stranger(.server, protocols: Array("\u{3}foo".utf8), insists: true).talk(with: client)
        #expect(error != nil)
        #expect(!client.isEstablished)
    }

    @Test("our server gives no tickets, so nothing can be resumed") func noTickets() throws {
        let server = try ours(.server)
        let client = try Stranger(.client)
        _ = client.talk(with: server)
        try server.writePlain([1, 2, 3])
        client.receive(server.takeOutgoing())
        #expect(client.read() == [1, 2, 3])
        #expect(!client.canResume)
    }

    @Test("tickets of a server do no harm") func foreignTickets() throws {
        let client = try ours(.client)
        let server = try Stranger(.server)
        #expect(server.talk(with: client) == nil)
        #expect(client.isEstablished)
        server.write([7, 8])
        try client.receive(server.takeOutgoing())
        #expect(client.readPlain() == [7, 8])
        try client.writePlain([9])
        server.receive(client.takeOutgoing())
        #expect(server.read() == [9])
    }

    @Test("a peer may change its key and ask for ours to be changed, many times over") func keyUpdates() throws {
        let server = try ours(.server)
        let client = try Stranger(.client)
        _ = client.talk(with: server)
        for number in 0..<40 {
            client.askForNewKeys()
            client.write([UInt8(number)])
            try server.receive(client.takeOutgoing())
            #expect(server.readPlain() == [UInt8(number)])
            try server.writePlain([UInt8(number)])
            client.receive(server.takeOutgoing())
            #expect(client.read() == [UInt8(number)])
        }
    }

    @Test("the certificate says 1970 to 9999, and its dates are not looked at") func dates() throws {
        let server = try ours(.server)
        let client = try Stranger(.client, identity: .ed25519LongExpired)
        #expect(client.talk(with: server) == nil)
        #expect(server.isEstablished)
        #expect(client.datesOfPeer == ["19700101000000Z", "99991231235959Z"])
    }
}
