/// The two decisions OpenSSL asks us for in the middle of a handshake: which protocol, and whether to trust the peer.
import COpenSSL

/// Called by OpenSSL from within `TLSSession.receive`, so it never touches the session: it notes its verdict, and the
/// session reads it when OpenSSL has returned.
final class Judge {
    enum Verdict {
        case none
        case noCommonProtocol
        case trusted(fingerprint: [UInt8], protocol: String)
        case untrusted(fingerprint: [UInt8])
    }

    private(set) var verdict = Verdict.none
    private let protocols: [String]
    private let trust: (_ protocol: String) -> Trust

    init(protocols: [String], trust: @escaping (_ protocol: String) -> Trust) {
        precondition(
            !protocols.isEmpty && protocols.allSatisfy { 1...255 ~= $0.utf8.count },
            "a session needs protocol names of 1 to 255 bytes")
        self.protocols = protocols
        self.trust = trust
    }

    /// The protocols as ALPN lists them: each after a byte with its length.
    var offer: [UInt8] {
        protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    }

    /// Where in the client's list the first of our protocols is that it offers; nil if there is none.
    func choose(from offered: [UInt8]) -> Range<Int>? {
        let names = Judge.names(in: offered)
        for name in protocols {
            if let range = names.first(where: { offered[$0].elementsEqual(name.utf8) }) { return range }
        }
        verdict = .noCommonProtocol
        return nil
    }

    /// Total: a list that does not add up ends where it stops making sense.
    private static func names(in offered: [UInt8]) -> [Range<Int>] {
        var names: [Range<Int>] = []
        var start = 0
        while start < offered.count {
            let end = start + 1 + Int(offered[start])
            guard end <= offered.count else { break }
            names.append((start + 1)..<end)
            start = end
        }
        return names
    }

    /// True if the handshake may go on with a peer that has proved to hold the key with this fingerprint.
    func accepts(_ fingerprint: [UInt8], negotiated: [UInt8]) -> Bool {
        guard let name = protocols.first(where: { $0.utf8.elementsEqual(negotiated) }) else {
            verdict = .noCommonProtocol
            return false
        }
        guard trust(name).covers(fingerprint) else {
            verdict = .untrusted(fingerprint: fingerprint)
            return false
        }
        verdict = .trusted(fingerprint: fingerprint, protocol: name)
        return true
    }
}

extension Judge.Verdict {
    /// The error that a refusal of ours is.
    var refusal: CryptoError? {
        let operation = "the TLS handshake"
        return switch self {
        case .none, .trusted: nil
        case .noCommonProtocol:
            CryptoError(.noCommonProtocol, operation, "the peer offers no protocol that we speak here")
        case .untrusted(let fingerprint):
            CryptoError(
                .untrustedKey(fingerprint), operation, "the peer's key is not the one this node is paired with")
        }
    }
}
