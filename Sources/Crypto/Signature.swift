/// What a key has signed, Ed25519 of RFC 8032, and who can have signed it.
import COpenSSL

extension IdentityKey {
    public static let publicKeyBytes = 32
    public static let signatureBytes = 64

    /// The public half as RFC 8032 writes it, 32 bytes.
    public func publicKey() throws(CryptoError) -> [UInt8] {
        ErrorQueue.clear()
        var bytes = [UInt8](repeating: 0, count: Self.publicKeyBytes)
        var count = bytes.count
        guard unsafe EVP_PKEY_get_raw_public_key(pair, &bytes, &count) == 1, count == bytes.count else {
            throw ErrorQueue.failure("reading a public key")
        }
        return bytes
    }

    /// 64 bytes.
    public func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        let operation = "signing"
        ErrorQueue.clear()
        guard let context = unsafe EVP_MD_CTX_new() else { throw ErrorQueue.failure(operation) }
        defer { unsafe EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: Self.signatureBytes)
        var count = signature.count
        // Ed25519 hashes by itself, so no digest is named.
        guard unsafe EVP_DigestSignInit(context, nil, nil, nil, pair) == 1,
            unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1, count == signature.count
        else { throw ErrorQueue.failure(operation) }
        return signature
    }
}

/// Somebody's key without its secret: what it has signed can be told from what it has not.
public struct PublicKey: Hashable, Sendable {
    /// As RFC 8032 writes it, 32 bytes.
    public let bytes: [UInt8]
    /// SHA-256 of its SubjectPublicKeyInfo: the same as `IdentityKey.fingerprint`.
    public let fingerprint: [UInt8]

    /// Nil for what is no key.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == IdentityKey.publicKeyBytes, let key = unsafe Self.parse(bytes) else { return nil }
        defer { unsafe EVP_PKEY_free(key) }
        guard let fingerprint = try? unsafe Fingerprint.of(key) else { return nil }
        self.bytes = bytes
        self.fingerprint = fingerprint
    }

    public func hasSigned(_ message: [UInt8], _ signature: [UInt8]) -> Bool {
        guard signature.count == IdentityKey.signatureBytes, let key = unsafe Self.parse(bytes) else { return false }
        defer { unsafe EVP_PKEY_free(key) }
        defer { ErrorQueue.clear() }
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        return unsafe EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    private static func parse(_ bytes: [UInt8]) -> OpaquePointer? {
        ErrorQueue.clear()
        _ = OpenSSL.sha256  // starts the library our way
        return unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
    }
}
