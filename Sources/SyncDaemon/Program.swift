import Crypto
import SyncModel

/// What this program is called and how new it is.
public enum Program {
    public static let version = "0.1.0"

    /// Names the epoch that begins with a start: drawn, so that a restored image cannot repeat it.
    static func nonce() -> UInt32 { Secure.random(4).reduce(0) { $0 << 8 | UInt32($1) } }

    /// SHA-256 with what the processor has for it.
    @Sendable static func digest(of bytes: [UInt8]) -> Digest {
        guard let digest = Digest(bytes: SHA256Stream.hash(bytes)) else {
            preconditionFailure("SHA-256 gives 32 bytes")
        }
        return digest
    }

    /// CRC-32 with what the processor has for it, and what is left with the table.
    @Sendable static func checksum(of bytes: ArraySlice<UInt8>) -> UInt32 {
        let (sum, taken) = FastCRC32.checksum(bytes)
        return CRC32.checksum(bytes.dropFirst(taken), after: sum)
    }
}
