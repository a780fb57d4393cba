import COpenSSL

/// The other end of a session as anybody might write it with OpenSSL: its own version, certificate and protocols.
@testable import Crypto

@safe final class Stranger {
    enum Identity {
        case none
        case ed25519
        case ed25519LongExpired
        case p256
    }

    private let ssl: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private let role: TLSRole
    private let protocols: [UInt8]
    private let insists: Bool

    struct Failure: Error {
        let step: String
    }

    /// `protocols` as ALPN lists them. A server takes the client's first protocol, unless it `insists` on its own.
    init(
        _ role: TLSRole, newest: Int32 = TLS1_3_VERSION, identity: Identity = .ed25519,
        protocols: [UInt8] = Array("\u{7}syncd/1".utf8), insists: Bool = false
    ) throws {
        guard let context = unsafe SSL_CTX_new(role == .client ? TLS_client_method() : TLS_server_method()),
            let incoming = unsafe BIO_new(BIO_s_mem()), let outgoing = unsafe BIO_new(BIO_s_mem())
        else { throw Failure(step: "context") }
        defer { unsafe SSL_CTX_free(context) }
        unsafe copenssl_empty_means_retry(incoming)
        unsafe copenssl_empty_means_retry(outgoing)
        guard unsafe copenssl_pin_version(context, newest) == 1 else { throw Failure(step: "version") }
        try unsafe Stranger.install(identity, in: context)
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER) { _, _ in 1 }
        if role == .client, !protocols.isEmpty {
            unsafe SSL_CTX_set_alpn_protos(context, protocols, UInt32(protocols.count))
        }
        guard let ssl = unsafe SSL_new(context) else { throw Failure(step: "session") }
        unsafe SSL_set_bio(ssl, incoming, outgoing)
        unsafe self.ssl = ssl
        unsafe self.incoming = incoming
        unsafe self.outgoing = outgoing
        self.role = role
        self.protocols = protocols
        self.insists = insists
        if role == .server, !protocols.isEmpty {
            unsafe SSL_CTX_set_alpn_select_cb(context, select, Unmanaged.passUnretained(self).toOpaque())
        }
        unsafe role == .client ? SSL_set_connect_state(ssl) : SSL_set_accept_state(ssl)
    }

    deinit {
        unsafe SSL_free(ssl)
    }

    private let select: SSL_CTX_alpn_select_cb_func = { _, chosen, count, offered, _, cell in
        guard let cell = unsafe cell, let offered = unsafe offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        let stranger = unsafe Unmanaged<Stranger>.fromOpaque(cell).takeUnretainedValue()
        if stranger.insists {
            unsafe stranger.protocols.withUnsafeBufferPointer { own in
                // OpenSSL copies the name when the callback has returned; the array is not changed or freed by then.
                unsafe chosen?.pointee = own.baseAddress.map { unsafe $0 + 1 }
                unsafe count?.pointee = own[0]
            }
        } else {
            unsafe chosen?.pointee = offered + 1
            unsafe count?.pointee = offered[0]
        }
        return SSL_TLSEXT_ERR_OK
    }

    private static func install(_ identity: Identity, in context: OpaquePointer) throws {
        switch identity {
        case .none: return
        case .ed25519: try unsafe use(IdentityKey.generate(), in: context)
        case .ed25519LongExpired:
            let key = try IdentityKey.generate()
            unsafe ASN1_TIME_set_string_X509(X509_getm_notAfter(key.certificate), "19700101000001Z")
            guard unsafe X509_sign(key.certificate, key.pair, nil) > 0 else { throw Failure(step: "signing") }
            try unsafe use(key, in: context)
        case .p256:
            guard let key = unsafe read(Samples.p256, { unsafe PEM_read_bio_PrivateKey($0, nil, nil, nil) }),
                let certificate = unsafe read(Samples.p256Certificate, { unsafe PEM_read_bio_X509($0, nil, nil, nil) })
            else { throw Failure(step: "reading P-256") }
            defer {
                unsafe EVP_PKEY_free(key)
                unsafe X509_free(certificate)
            }
            guard unsafe SSL_CTX_use_certificate(context, certificate) == 1,
                unsafe SSL_CTX_use_PrivateKey(context, key) == 1
            else { throw Failure(step: "P-256") }
        }
    }

    private static func use(_ key: IdentityKey, in context: OpaquePointer) throws {
        guard unsafe SSL_CTX_use_certificate(context, key.certificate) == 1,
            unsafe SSL_CTX_use_PrivateKey(context, key.pair) == 1
        else { throw Failure(step: "Ed25519") }
    }

    private static func read(_ text: String, _ parse: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
        let bytes = Array(text.utf8)
        guard let memory = unsafe BIO_new_mem_buf(bytes, Int32(bytes.count)) else { return nil }
        defer { unsafe BIO_free(memory) }
        return unsafe parse(memory)
    }
}

extension Stranger {
    var isFinished: Bool { unsafe SSL_is_init_finished(ssl) == 1 }
    var canResume: Bool { unsafe SSL_SESSION_is_resumable(SSL_get_session(ssl)) == 1 }

    /// Shakes hands with `session` until neither has anything to say; returns the first error of the session.
    func talk(with session: TLSSession) -> CryptoError? {
        var error: CryptoError?
        for _ in 0..<6 {
            unsafe SSL_do_handshake(ssl)
            let problem = SessionPair.error { try session.receive(takeOutgoing()) }
            error = error ?? problem
            receive(session.takeOutgoing())
        }
        return error
    }

    func receive(_ bytes: [UInt8]) {
        if !bytes.isEmpty { unsafe BIO_write(incoming, bytes, Int32(bytes.count)) }
    }

    func takeOutgoing() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe BIO_read(outgoing, &bytes, Int32(bytes.count))
        return Array(bytes.prefix(max(0, Int(count))))
    }

    func write(_ bytes: [UInt8]) {
        unsafe SSL_write(ssl, bytes, Int32(bytes.count))
    }

    func read() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe SSL_read(ssl, &bytes, Int32(bytes.count))
        return Array(bytes.prefix(max(0, Int(count))))
    }

    func askForNewKeys() {
        unsafe SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED)
    }

    /// When the certificate it was shown begins and ends to be valid.
    var datesOfPeer: [String] {
        guard let certificate = unsafe SSL_get0_peer_certificate(ssl) else { return [] }
        return unsafe [X509_get0_notBefore(certificate), X509_get0_notAfter(certificate)].map { time in
            var text: UnsafeMutablePointer<CChar>?
            guard let memory = unsafe BIO_new(BIO_s_mem()), let full = unsafe ASN1_TIME_to_generalizedtime(time, nil)
            else { return "" }
            defer {
                unsafe BIO_free(memory)
                unsafe ASN1_STRING_free(full)
            }
            unsafe BIO_write(memory, ASN1_STRING_get0_data(full), ASN1_STRING_length(full))
            let count = unsafe copenssl_memory(memory, &text)
            return unsafe String(decoding: UnsafeRawBufferPointer(start: text, count: count), as: UTF8.self)
        }
    }
}
