internal import Crypto

/// How a node proves to its peer that a new key is its own: the present key, with which the session was made, and the new
/// one sign the same text. What is signed names the session, so an offer can be neither carried into another one nor said
/// again there.
///
/// ```
/// "syncd-renew/1" · 0 · 32 exporter · 32 fingerprint of the present key · 32 of the new key · 32 of the receiver's key
/// ```
struct Renewal {
    /// Of the session (RFC 8446, section 7.5).
    let exporter: [UInt8]
    /// Fingerprints of the two ends of the session.
    let sender: [UInt8]
    let receiver: [UInt8]

    static let exporterLabel = "EXPORTER-syncd-renew-1"
    static let exporterBytes = 32
    private static let label = Array("syncd-renew/1".utf8) + [0]

    /// The payload of the record.
    func offer(_ new: IdentityKey, by present: IdentityKey) throws(CryptoError) -> [UInt8] {
        let text = text(for: new.fingerprint)
        return try new.publicKey() + new.sign(text) + present.publicKey() + present.sign(text)
    }

    /// The fingerprint of the new key; nil if the offer proves nothing.
    func check(_ payload: [UInt8]) -> [UInt8]? {
        let part = IdentityKey.publicKeyBytes + IdentityKey.signatureBytes
        guard payload.count >= 2 * part,
            let new = PublicKey(Array(payload[..<IdentityKey.publicKeyBytes])),
            let present = PublicKey(Array(payload[part..<(part + IdentityKey.publicKeyBytes)])),
            Secure.areEqual(present.fingerprint, sender), new.fingerprint != receiver, new.fingerprint != sender
        else { return nil }
        let text = text(for: new.fingerprint)
        let byNew = Array(payload[IdentityKey.publicKeyBytes..<part])
        let byPresent = Array(payload[(part + IdentityKey.publicKeyBytes)..<(2 * part)])
        return new.hasSigned(text, byNew) && present.hasSigned(text, byPresent) ? new.fingerprint : nil
    }

    private func text(for new: [UInt8]) -> [UInt8] { Self.label + exporter + sender + new + receiver }
}
