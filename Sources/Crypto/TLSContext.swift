/// The rules of every session of ours, set before it starts: TLS 1.3, one kind of key, nothing remembered between
/// sessions, and the questions that go to `Judge`.
import COpenSSL

/// One for each session: it is cheap beside a handshake, and the judge in it belongs to one session only.
@safe struct TLSContext: ~Copyable {
    let raw: OpaquePointer

    /// A certificate of ours has about 300 bytes; a stranger may not make us hold more than this.
    private static let certificateBytesMax = 8 << 10

    static func make(role: TLSRole, key: IdentityKey, judge: Judge) throws(CryptoError) -> TLSContext {
        ErrorQueue.clear()
        let operation = "setting TLS up"
        let method = unsafe role == .client ? TLS_client_method() : TLS_server_method()
        guard let raw = unsafe SSL_CTX_new(method) else { throw ErrorQueue.failure(operation) }
        let context = unsafe TLSContext(owning: raw)
        guard context.speakOnlyTLS13(), context.use(key), context.ask(judge, as: role) else {
            throw ErrorQueue.failure(operation)
        }
        return context
    }

    private init(owning raw: OpaquePointer) {
        unsafe self.raw = raw
    }

    deinit {
        unsafe SSL_CTX_free(raw)
    }

    private func speakOnlyTLS13() -> Bool {
        unsafe copenssl_keep_it_plain(raw)
        unsafe copenssl_limit_certificates(raw, Self.certificateBytesMax)
        return unsafe copenssl_pin_version(raw, TLS1_3_VERSION) == 1
            && copenssl_pin_signatures(raw, "ed25519") == 1
            && SSL_CTX_set_ciphersuites(raw, Self.ciphers) == 1
            && SSL_CTX_set_num_tickets(raw, 0) == 1
            && SSL_CTX_set_max_early_data(raw, 0) == 1
            && SSL_CTX_set_recv_max_early_data(raw, 0) == 1
    }

    /// AES-128 first: no weaker than the key exchange and the keys, and faster than AES-256.
    private static let ciphers = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"

    private func use(_ key: IdentityKey) -> Bool {
        unsafe SSL_CTX_use_certificate(raw, key.certificate) == 1 && SSL_CTX_use_PrivateKey(raw, key.pair) == 1
    }

    /// The judge is not retained here: its session keeps it until after this context is gone.
    private func ask(_ judge: Judge, as role: TLSRole) -> Bool {
        let judgeCell = unsafe Unmanaged.passUnretained(judge).toOpaque()
        unsafe SSL_CTX_set_verify(raw, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        // In place of OpenSSL's own verification: no authorities, no names, no dates.
        unsafe SSL_CTX_set_cert_verify_callback(raw, judgePeer, judgeCell)
        let offer = judge.offer
        switch role {
        case .client:
            return unsafe SSL_CTX_set_alpn_protos(raw, offer, UInt32(offer.count)) == 0
        case .server:
            unsafe SSL_CTX_set_alpn_select_cb(raw, chooseProtocol, judgeCell)
            return true
        }
    }
}

/// OpenSSL asks a server which of the client's protocols to speak. The answer points into the client's list.
private let chooseProtocol: SSL_CTX_alpn_select_cb_func = { _, chosen, chosenCount, offered, offeredCount, cell in
    guard let cell = unsafe cell, let offered = unsafe offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    let judge = unsafe Unmanaged<Judge>.fromOpaque(cell).takeUnretainedValue()
    let list = unsafe Array(UnsafeBufferPointer(start: offered, count: Int(offeredCount)))
    guard let range = judge.choose(from: list) else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    unsafe chosen?.pointee = offered + range.lowerBound
    unsafe chosenCount?.pointee = UInt8(range.count)
    return SSL_TLSEXT_ERR_OK
}

/// OpenSSL asks whether to trust the certificate it was shown. Zero refuses, and `bad_certificate` goes to the peer.
private let judgePeer: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { store, cell in
    guard let store = unsafe store, let cell = unsafe cell else { return 0 }
    let judge = unsafe Unmanaged<Judge>.fromOpaque(cell).takeUnretainedValue()
    if let fingerprint = unsafe shownFingerprint(store),
        judge.accepts(fingerprint, negotiated: unsafe negotiatedProtocol(store))
    {
        return 1
    }
    unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
    return 0
}

private func shownFingerprint(_ store: OpaquePointer) -> [UInt8]? {
    guard let certificate = unsafe X509_STORE_CTX_get0_cert(store),
        let key = unsafe X509_get0_pubkey(certificate)
    else { return nil }
    return try? unsafe Fingerprint.of(key)
}

private func negotiatedProtocol(_ store: OpaquePointer) -> [UInt8] {
    let index = SSL_get_ex_data_X509_STORE_CTX_idx()
    guard let ssl = unsafe X509_STORE_CTX_get_ex_data(store, index) else { return [] }
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    unsafe SSL_get0_alpn_selected(OpaquePointer(ssl), &name, &count)
    return unsafe Array(UnsafeBufferPointer(start: name, count: Int(count)))
}
