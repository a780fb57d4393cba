/// A private key as the text of its file: PKCS#8 in PEM, without a passphrase.
import COpenSSL

enum KeyText {
    /// A file of ours has 119 bytes; whatever is longer than this is something else.
    static let bytesMax = 16 << 10

    static func read(_ pem: [UInt8]) throws(CryptoError) -> OpaquePointer {
        let operation = "reading the key"
        ErrorQueue.clear()
        guard !pem.isEmpty else { throw CryptoError(.badKey, operation, "it is empty") }
        guard pem.count <= bytesMax else {
            throw CryptoError(.badKey, operation, "\(pem.count) bytes is too much for a key")
        }
        guard let pair = unsafe parse(pem) else {
            let detail = ErrorQueue.take()?.text ?? "no reason given"
            throw CryptoError(
                .badKey, operation, "it is not a private key in PEM without a passphrase (OpenSSL: \(detail))")
        }
        guard unsafe EVP_PKEY_get_base_id(pair) == EVP_PKEY_ED25519 else {
            let type = unsafe EVP_PKEY_get0_type_name(pair).map { unsafe String(cString: $0) } ?? "unknown"
            unsafe EVP_PKEY_free(pair)
            throw CryptoError(.badKey, operation, "it is a key of type \(type), where Ed25519 is needed")
        }
        return unsafe pair
    }

    private static func parse(_ pem: [UInt8]) -> OpaquePointer? {
        unsafe pem.withUnsafeBytes { bytes in
            guard let memory = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
            defer { unsafe BIO_free(memory) }
            // Without this answer OpenSSL asks for a passphrase on the terminal, and a daemon waits for ever.
            return unsafe PEM_read_bio_PrivateKey(memory, nil, { _, _, _, _ in -1 }, nil)
        }
    }

    static func write(_ pair: OpaquePointer) throws(CryptoError) -> [UInt8] {
        let operation = "writing the key"
        ErrorQueue.clear()
        // OpenSSL overwrites the buffer of a memory BIO before it frees it.
        guard let memory = unsafe BIO_new(BIO_s_mem()) else { throw ErrorQueue.failure(operation) }
        defer { unsafe BIO_free(memory) }
        guard unsafe PEM_write_bio_PKCS8PrivateKey(memory, pair, nil, nil, 0, nil, nil) == 1 else {
            throw ErrorQueue.failure(operation)
        }
        var text: UnsafeMutablePointer<CChar>?
        let count = unsafe copenssl_memory(memory, &text)
        return unsafe Array(UnsafeRawBufferPointer(start: text, count: count))
    }
}
