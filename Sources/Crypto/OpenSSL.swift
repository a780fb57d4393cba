/// What all of this target shares of OpenSSL: its start, its error queue and the algorithms looked up once.
import COpenSSL

public enum OpenSSL {
    /// Of the one that is in use.
    public static var libraryVersion: String {
        "\(OPENSSL_version_major()).\(OPENSSL_version_minor()).\(OPENSSL_version_patch())"
    }

    /// Asked first by everything that can throw. A node's key comes before all else it does, so whoever has a key knows
    /// that the rest of this target works.
    static func start() throws(CryptoError) {
        guard found == nil else { return }
        throw CryptoError(
            .library, "starting OpenSSL",
            "it has no SHA-256, so its library or its configuration is broken (`openssl version -d` tells where that is)"
        )
    }

    /// SHA-256 found once: finding it by name costs as much as hashing a small file.
    static var sha256: Algorithm {
        guard let found else { preconditionFailure("OpenSSL does not work: see the error of IdentityKey") }
        return found
    }

    private static let found: Algorithm? = Algorithm()

    /// SHA-256 as OpenSSL's providers implement it.
    /// Unchecked because of the pointer: the object behind it never changes after the fetch and is never freed.
    @safe struct Algorithm: @unchecked Sendable {
        let raw: OpaquePointer

        fileprivate init?() {
            guard OpenSSL.isStarted, let raw = unsafe EVP_MD_fetch(nil, "SHA256", nil) else { return nil }
            unsafe self.raw = raw
        }
    }

    /// OpenSSL frees its tables when the process exits, under the feet of worker threads that still hash. So it is
    /// started here, before anything else of it is used, and told not to; the kernel takes the memory back.
    private static let isStarted: Bool = {
        let options = OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_LOAD_SSL_STRINGS | OPENSSL_INIT_LOAD_CRYPTO_STRINGS
        return OPENSSL_init_ssl(UInt64(options), nil) == 1
    }()
}

/// OpenSSL notes errors in a queue of each thread. Whoever calls it clears the queue first, so that an error found
/// afterwards is his own.
enum ErrorQueue {
    struct Entry {
        /// The alert the peer sent, if that is what went wrong.
        let alert: UInt8?
        /// OpenSSL's words.
        let text: String
    }

    static func clear() {
        ERR_clear_error()
    }

    /// The first error, which is the cause of those after it. The queue is empty afterwards.
    static func take() -> Entry? {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return nil }
        let reason = ERR_GET_REASON(code)
        let words = unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) }
        let isAlert = ERR_GET_LIB(code) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET
        return Entry(
            alert: isAlert ? UInt8(clamping: reason - SSL_AD_REASON_OFFSET) : nil,
            text: words ?? "OpenSSL error \(String(code, radix: 16))")
    }

    /// The error of a call that failed on this side.
    static func failure(_ operation: String, _ kind: CryptoError.Kind = .library) -> CryptoError {
        CryptoError(kind, operation, take()?.text ?? "OpenSSL does not say why")
    }

    /// The error of bytes that came from the peer.
    static func traffic(_ operation: String) -> CryptoError {
        guard let entry = take() else { return CryptoError(.badTraffic, operation, "OpenSSL does not say why") }
        guard let alert = entry.alert else {
            return CryptoError(.badTraffic, operation, "what came is not sound TLS 1.3 (OpenSSL: \(entry.text))")
        }
        let meaning =
            switch Int32(alert) {
            case SSL_AD_BAD_CERTIFICATE: "the peer does not accept the key of this node"
            case SSL_AD_NO_APPLICATION_PROTOCOL: "the peer speaks none of our protocols here"
            case SSL_AD_PROTOCOL_VERSION: "the peer does not speak TLS 1.3"
            default: "the peer broke it off"
            }
        return CryptoError(.refusedByPeer(alert: alert), operation, "\(meaning) (OpenSSL: \(entry.text))")
    }
}
