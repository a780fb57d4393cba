/// SHA-256 over bytes that arrive in pieces, as fast as OpenSSL is on this processor.
import COpenSSL

/// Feed with `update`, then ask `finish`. May be used on any thread, by one at a time.
@safe public struct SHA256Stream: ~Copyable {
    public static let byteCount = 32

    /// Ours alone from `init` to `deinit`.
    private let context: OpaquePointer

    public init() {
        guard let context = unsafe EVP_MD_CTX_new(),
            unsafe EVP_DigestInit_ex2(context, OpenSSL.sha256.raw, nil) == 1
        else { preconditionFailure("OpenSSL has no memory for a hash") }
        unsafe self.context = context
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    public mutating func update(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { unsafe update($0) }
    }

    public mutating func update(_ bytes: ArraySlice<UInt8>) {
        unsafe bytes.withUnsafeBytes { unsafe update($0) }
    }

    public mutating func update(_ bytes: borrowing Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { unsafe update($0) }
    }

    /// For bytes that lie in a mapping or a read buffer. They are read before this returns.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        let isDone = unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        precondition(isDone == 1, "OpenSSL refuses bytes for a hash that was started")
    }

    /// The digest, 32 bytes.
    public consuming func finish() -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: Self.byteCount) { digest, count in
            let isDone = unsafe EVP_DigestFinal_ex(context, digest.baseAddress, nil)
            precondition(isDone == 1, "OpenSSL does not finish a hash that was started")
            count = Self.byteCount
        }
    }

    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        unsafe bytes.withUnsafeBytes { unsafe hash($0) }
    }

    package static func hash(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: Self.byteCount) { digest, count in
            let isDone = unsafe EVP_Digest(
                bytes.baseAddress, bytes.count, digest.baseAddress, nil, OpenSSL.sha256.raw, nil)
            precondition(isDone == 1, "OpenSSL does not hash")
            count = Self.byteCount
        }
    }
}
