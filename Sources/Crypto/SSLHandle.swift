/// The `SSL` object of OpenSSL: every call that `TLSSession` makes of it, with its answer as a value.
import COpenSSL

@safe struct SSLHandle: ~Copyable {
    enum Outcome {
        case done
        /// Nothing more can be done with the bytes that are here.
        case needsMore
        /// The peer has closed in good order.
        case closed
        /// The reason is in the error queue.
        case failed
    }

    private let raw: OpaquePointer

    init(context: consuming TLSContext, wire: Wire, role: TLSRole) throws(CryptoError) {
        let operation = "starting TLS"
        guard let raw = unsafe SSL_new(context.raw) else { throw ErrorQueue.failure(operation) }
        guard let bio = unsafe wire.makeBIO() else {
            unsafe SSL_free(raw)
            throw ErrorQueue.failure(operation)
        }
        // One reference serves both directions.
        unsafe SSL_set_bio(raw, bio, bio)
        switch role {
        case .client: unsafe SSL_set_connect_state(raw)
        case .server: unsafe SSL_set_accept_state(raw)
        }
        unsafe self.raw = raw
    }

    deinit {
        unsafe SSL_free(raw)
    }

    borrowing func shakeHands() -> Outcome {
        outcome(of: unsafe SSL_do_handshake(raw))
    }

    borrowing func read(into room: UnsafeMutableBufferPointer<UInt8>) -> (Outcome, Int) {
        var count = 0
        let result = unsafe SSL_read_ex(raw, room.baseAddress, room.count, &count)
        return result == 1 ? (.done, count) : (outcome(of: result), 0)
    }

    /// How many bytes OpenSSL took: all of them, unless it failed, because a `Wire` is never full.
    borrowing func write(_ bytes: borrowing Span<UInt8>) -> Int {
        var count = 0
        let result = unsafe bytes.withUnsafeBytes { unsafe SSL_write_ex(raw, $0.baseAddress, $0.count, &count) }
        return result == 1 ? count : 0
    }

    /// The next write goes out under a new key.
    borrowing func renewKey() -> Bool {
        unsafe SSL_key_update(raw, SSL_KEY_UPDATE_NOT_REQUESTED) == 1
    }

    borrowing func export(label: String, length: Int) -> [UInt8]? {
        let label = Array(label.utf8)
        var isDone = false
        let key = unsafe [UInt8](unsafeUninitializedCapacity: length) { room, count in
            isDone = unsafe label.withUnsafeBytes { label in
                unsafe SSL_export_keying_material(
                    raw, room.baseAddress, length, label.baseAddress, label.count, nil, 0, 0) == 1
            }
            count = isDone ? length : 0
        }
        return isDone ? key : nil
    }

    borrowing func sayGoodbye() {
        // The answer only tells whether the peer has closed too.
        _ = unsafe SSL_shutdown(raw)
    }

    private borrowing func outcome(of result: Int32) -> Outcome {
        if result == 1 { return .done }
        return switch unsafe SSL_get_error(raw, result) {
        case SSL_ERROR_WANT_READ: .needsMore
        case SSL_ERROR_ZERO_RETURN: .closed
        default: .failed
        }
    }
}
