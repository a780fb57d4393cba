/// Two sessions joined in memory, with everything between them in the test's hands.
@testable import Crypto

final class SessionPair {
    let client: TLSSession
    let server: TLSSession

    static let protocolName = "syncd/1"
    /// Made once: most tests do not care whose key it is.
    static let keys = Result { (try IdentityKey.generate(), try IdentityKey.generate()) }

    init(
        clientProtocols: [String] = [protocolName], serverProtocols: [String] = [protocolName],
        clientTrust: Trust? = nil, serverTrust: Trust? = nil, recordsPerKey: Int = 1 << 22
    ) throws {
        let (clientKey, serverKey) = try SessionPair.keys.get()
        let renewal = KeyRenewal(recordsMax: recordsPerKey)
        client = try TLSSession(role: .client, key: clientKey, protocols: clientProtocols, renewal: renewal) { _ in
            clientTrust ?? .pinned(serverKey.fingerprint)
        }
        server = try TLSSession(role: .server, key: serverKey, protocols: serverProtocols, renewal: renewal) { _ in
            serverTrust ?? .pinned(clientKey.fingerprint)
        }
    }

    static func established(recordsPerKey: Int = 1 << 22) throws -> SessionPair {
        let pair = try SessionPair(recordsPerKey: recordsPerKey)
        try pair.settle()
        return pair
    }

    var isEstablished: Bool { client.isEstablished && server.isEstablished }

    /// Carries bytes both ways until neither side has any.
    func settle() throws {
        while client.outgoingCount > 0 || server.outgoingCount > 0 {
            try server.receive(client.takeOutgoing())
            try client.receive(server.takeOutgoing())
        }
    }

    /// The same, but each side is told as long as it lives, and the first error of each is returned.
    func settleKeepingErrors() -> (client: CryptoError?, server: CryptoError?) {
        var errors: (client: CryptoError?, server: CryptoError?) = (nil, nil)
        while client.outgoingCount > 0 || server.outgoingCount > 0 {
            let problem = SessionPair.error { try server.receive(client.takeOutgoing()) }
            errors.server = errors.server ?? problem
            let other = SessionPair.error { try client.receive(server.takeOutgoing()) }
            errors.client = errors.client ?? other
        }
        return errors
    }

    static func error(_ body: () throws -> Void) -> CryptoError? {
        do {
            try body()
            return nil
        } catch {
            return error as? CryptoError
        }
    }
}
