internal import Crypto
internal import EventLoop

/// What `invite` prints and `join` takes: everything the joining node needs to find the inviting one, to know it when
/// it is there, and to prove that it was invited. Whoever reads it within its time can join, so it is never logged.
///
/// ```
/// syncd1-  and, in base 32:
///   1  version, 1
///  16  secret
///  16  first half of SHA-256 of the inviter's public key
///   n  where the inviter may be reached, as text; may be empty
///   4  first bytes of SHA-256 of the above
/// ```
struct PairingToken: Equatable {
    let secret: [UInt8]
    let inviter: [UInt8]
    let hint: Endpoint?

    static let secretBytes = 16
    static let inviterBytes = 16
    private static let version: UInt8 = 1
    private static let checksumBytes = 4
    private static let hintBytesMax = 160
    private static let family = "syncd"
    private static let prefix = "syncd1-"

    enum Problem: Error { case notAToken, mistyped, newerVersion }

    var text: String {
        let hintText = hint.map { Array($0.description.utf8) } ?? []
        let body = [Self.version] + secret + inviter + (hintText.count <= Self.hintBytesMax ? hintText : [])
        return Self.prefix + Base32.encode(body + Self.checksum(of: body))
    }

    /// Spaces and line breaks around and inside do not count: terminals and mail programs wrap long words.
    static func parse(_ text: String) throws(Problem) -> PairingToken {
        let plain = String(text.filter { !$0.isWhitespace })
        guard let digits = try digits(of: plain) else { throw .notAToken }
        guard let bytes = Base32.decode(digits) else { throw .mistyped }
        guard bytes.count >= 1 + secretBytes + inviterBytes + checksumBytes else { throw .mistyped }
        let body = Array(bytes.dropLast(checksumBytes))
        guard checksum(of: body) == Array(bytes.suffix(checksumBytes)) else { throw .mistyped }
        guard body[0] == version else { throw .newerVersion }
        return PairingToken(
            secret: Array(body[1..<(1 + secretBytes)]),
            inviter: Array(body[(1 + secretBytes)..<(1 + secretBytes + inviterBytes)]),
            hint: hint(in: body[(1 + secretBytes + inviterBytes)...]))
    }

    /// Nil for what no token of ours holds: without a hint it is as good.
    private static func hint(in bytes: ArraySlice<UInt8>) -> Endpoint? {
        guard bytes.count <= hintBytesMax, let text = String(validating: bytes, as: UTF8.self) else { return nil }
        return try? Endpoint.parse(text)
    }

    func isFrom(_ fingerprint: [UInt8]) -> Bool {
        Secure.areEqual(Array(fingerprint.prefix(Self.inviterBytes)), inviter)
    }

    private static func digits(of text: String) throws(Problem) -> Substring? {
        let lowered = text.lowercased()
        if lowered.hasPrefix(prefix) { return lowered.dropFirst(prefix.count) }
        guard lowered.hasPrefix(family), let dash = lowered.firstIndex(of: "-") else { return nil }
        let number = lowered[..<dash].dropFirst(family.count)
        guard !number.isEmpty, number.allSatisfy({ ("0"..."9").contains($0) }) else { return nil }
        throw .newerVersion
    }

    private static func checksum(of body: [UInt8]) -> [UInt8] {
        Array(SHA256Stream.hash(body).prefix(checksumBytes))
    }
}

extension PairingToken: CustomStringConvertible {
    /// A description ends up in logs; a token must not.
    var description: String { "a pairing token" }
}
