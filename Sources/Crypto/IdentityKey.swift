/// A node's key. Its fingerprint is the node's id, and the one thing the other node has to know of it.
import COpenSSL

/// An Ed25519 key pair with the certificate that carries it in TLS. Nothing in it changes: a node that
/// renews its key has another one.
///
/// Unchecked because of the two pointers: they are ours until `deinit`, OpenSSL counts references to what is behind them
/// with atomics, and nobody writes to it.
@safe public final class IdentityKey: @unchecked Sendable {
    /// PKCS#8, unencrypted. This is the secret: it belongs into a file that only the daemon's user can read.
    public let pem: [UInt8]
    /// SHA-256 of the SubjectPublicKeyInfo in DER, 32 bytes.
    public let fingerprint: [UInt8]
    let pair: OpaquePointer
    let certificate: OpaquePointer

    public static func generate() throws(CryptoError) -> IdentityKey {
        try OpenSSL.start()
        ErrorQueue.clear()
        let operation = "making a key"
        guard let maker = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil) else {
            throw ErrorQueue.failure(operation)
        }
        defer { unsafe EVP_PKEY_CTX_free(maker) }
        var pair: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(maker) == 1, unsafe EVP_PKEY_keygen(maker, &pair) == 1,
            let pair = unsafe pair
        else { throw ErrorQueue.failure(operation) }
        return try unsafe IdentityKey(owning: pair)
    }

    public convenience init(pem: [UInt8]) throws(CryptoError) {
        try OpenSSL.start()
        try unsafe self.init(owning: KeyText.read(pem))
    }

    /// Takes over `pair`, also when it throws.
    private init(owning pair: OpaquePointer) throws(CryptoError) {
        do throws(CryptoError) {
            unsafe pem = try KeyText.write(pair)
            unsafe fingerprint = try Fingerprint.of(pair)
            unsafe certificate = try Certificate.make(for: pair)
            unsafe self.pair = pair
        } catch {
            unsafe EVP_PKEY_free(pair)
            throw error
        }
    }

    deinit {
        unsafe X509_free(certificate)
        unsafe EVP_PKEY_free(pair)
    }
}

/// What a public key is known by: SHA-256 of its SubjectPublicKeyInfo in DER.
/// `openssl pkey -in key.pem -pubout -outform DER | sha256sum` prints the same.
enum Fingerprint {
    static func of(_ key: OpaquePointer) throws(CryptoError) -> [UInt8] {
        ErrorQueue.clear()
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_PUBKEY(key, &encoded)
        guard count > 0, let encoded = unsafe encoded else { throw ErrorQueue.failure("reading a public key") }
        defer { unsafe CRYPTO_free(encoded, nil, 0) }
        return unsafe SHA256Stream.hash(UnsafeRawBufferPointer(start: encoded, count: Int(count)))
    }
}
