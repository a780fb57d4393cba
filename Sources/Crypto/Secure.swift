/// The small verbs of secrets: chance nobody can guess, comparison that tells nothing by its time, proof by HMAC.
import COpenSSL

public enum Secure {
    /// Bytes for keys and tokens, from the kernel's generator by way of OpenSSL's.
    public static func random(_ count: Int) -> [UInt8] {
        precondition(count >= 0 && count <= 1 << 20, "asked for \(count) random bytes")
        guard count > 0 else { return [] }
        _ = OpenSSL.sha256  // starts the library our way
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
            // Going on with bytes that can be guessed would be worse than stopping.
            let isDone = unsafe RAND_bytes(bytes.baseAddress, Int32(count))
            precondition(isDone == 1, "the kernel gives no random bytes")
            filled = count
        }
    }

    /// True for equal bytes, in a time that depends on their number only.
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe CRYPTO_memcmp(left, right, left.count) == 0
    }

    /// HMAC-SHA256 of RFC 2104, 32 bytes.
    public static func hmacSHA256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: SHA256Stream.byteCount) { code, count in
            let made = unsafe HMAC(
                OpenSSL.sha256.raw, key, Int32(key.count), message, message.count, code.baseAddress, nil)
            precondition(unsafe made != nil, "OpenSSL makes no HMAC")
            count = SHA256Stream.byteCount
        }
    }
}
