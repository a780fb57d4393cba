internal import Crypto

/// How both nodes prove that they know the token's secret, without showing it.
///
/// ```
/// HMAC-SHA-256(secret, "syncd-pair/1 " role · 0 · 32 exporter · 32 inviter's key · 32 joiner's key · name)
/// ```
/// The exporter ties the proof to this one TLS session (RFC 8446, section 7.5): somebody in the middle has two
/// sessions and can pass no proof on. The role keeps one side's proof from being the other's answer; the keys and the
/// name are what both agree on.
struct PairingProof {
    let exporter: [UInt8]
    let inviter: [UInt8]
    let joiner: [UInt8]

    static let exporterLabel = "EXPORTER-syncd-pair-1"
    static let exporterBytes = 32
    static let bytes = 32

    enum Role: String {
        case joiner = "join"
        case inviter = "invite"
    }

    func make(_ role: Role, name: [UInt8], secret: [UInt8]) -> [UInt8] {
        let label = Array("syncd-pair/1 \(role.rawValue)".utf8)
        return Secure.hmacSHA256(key: secret, label + [0] + exporter + inviter + joiner + name)
    }

    func check(_ proof: [UInt8], _ role: Role, name: [UInt8], secret: [UInt8]) -> Bool {
        Secure.areEqual(proof, make(role, name: name, secret: secret))
    }

    /// The same on both nodes, and on every repetition of the same pairing.
    func words(secret: [UInt8]) -> [String] {
        let digest = Secure.hmacSHA256(key: secret, Array("syncd-words/1".utf8) + [0] + inviter + joiner)
        return digest.prefix(6).map { WordList.words[Int($0)] }
    }
}
