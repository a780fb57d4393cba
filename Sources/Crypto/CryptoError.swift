/// What can go wrong with keys and sessions, in words an administrator can use. The translation from OpenSSL's error
/// queue is in `ErrorQueue`.
public struct CryptoError: Error, Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// OpenSSL could not do it here: no memory, a broken set-up, wrong use. The peer is not to blame.
        case library
        /// The PEM is not one Ed25519 private key without a passphrase.
        case badKey
        /// The peer showed a key we do not trust; this is its fingerprint.
        case untrustedKey([UInt8])
        /// The peer speaks TLS, but none of our protocols.
        case noCommonProtocol
        /// The peer ended it with a TLS alert. 42 is "bad certificate": it does not trust our key.
        case refusedByPeer(alert: UInt8)
        /// Not TLS 1.3, or bytes that were changed on their way.
        case badTraffic
        /// Used after `close`, or the peer left in the middle of the handshake.
        case closed
    }

    public let kind: Kind
    /// What was being done: "the TLS handshake".
    public let operation: String
    /// Why it failed, without a full stop.
    public let reason: String

    init(_ kind: Kind, _ operation: String, _ reason: String) {
        self.kind = kind
        self.operation = operation
        self.reason = reason
    }
}

extension CryptoError: CustomStringConvertible {
    public var description: String { "\(operation) failed: \(reason)" }
}
