/// One TLS 1.3 session without a socket: bytes of the network go in and come out, and so does what they mean.
/// The rules it keeps are in `TLSContext`, the decisions about the peer in `Judge`.
import COpenSSL

/// Belongs to one thread, the loop's. After everything that may speak (`init`, `receive`, `writePlain`, `close`) send
/// what `takeOutgoing` has; also after an error, because the alert that tells the peer why is in there.
public final class TLSSession {
    /// The peer has been authenticated, and plain bytes may flow.
    ///
    /// A client is established before the server has looked at its key (TLS 1.3 has no answer to the last flight), so
    /// a refusal may still come. Let the server speak first, and count a dialled link as up when its first bytes are
    /// here.
    public private(set) var isEstablished = false
    /// What both agreed on; nil until established.
    public private(set) var negotiatedProtocol: String?
    /// SHA-256 of the peer's SubjectPublicKeyInfo; nil until established.
    public private(set) var peerFingerprint: [UInt8]?
    /// The peer has said that nothing more will come. A stream that ends without it was cut.
    public private(set) var isPeerClosed = false

    /// Declared before what it points to, so that it is freed first.
    private let ssl: SSLHandle
    private let wire: Wire
    private let judge: Judge
    private var plain: [UInt8] = []
    /// The most that OpenSSL may hold of a record that is not whole yet.
    private var carriedBytesMax = 0
    private(set) var renewal: KeyRenewal
    private var isClosed = false
    private var failure: CryptoError?

    public convenience init(
        role: TLSRole, key: IdentityKey, protocols: [String], trust: Trust
    ) throws(CryptoError) {
        try self.init(role: role, key: key, protocols: protocols) { _ in trust }
    }

    /// `trust` is asked once, during the handshake, with the protocol that was agreed on. It may not use the session.
    public convenience init(
        role: TLSRole, key: IdentityKey, protocols: [String], trust: @escaping (_ protocol: String) -> Trust
    ) throws(CryptoError) {
        try self.init(role: role, key: key, protocols: protocols, renewal: KeyRenewal(), trust: trust)
    }

    init(
        role: TLSRole, key: IdentityKey, protocols: [String], renewal: KeyRenewal,
        trust: @escaping (_ protocol: String) -> Trust
    ) throws(CryptoError) {
        wire = Wire()
        judge = Judge(protocols: protocols, trust: trust)
        self.renewal = renewal
        ssl = try SSLHandle(context: .make(role: role, key: key, judge: judge), wire: wire, role: role)
        if role == .client { try note(shakeHands()) }
    }

    /// Bytes from the network, as many as there are. They are decrypted at once; what was whole before an error can
    /// still be read. After an error the session is dead: this and `writePlain` throw the same error for ever.
    public func receive(_ cipher: [UInt8]) throws(CryptoError) {
        if let failure { throw failure }
        guard !cipher.isEmpty, !isPeerClosed else { return }
        let room = carriedBytesMax + cipher.count
        let problem = wire.lending(cipher) {
            if !isEstablished, let problem = shakeHands() { return CryptoError?.some(problem) }
            return isEstablished ? decrypt(room: room) : nil
        }
        carriedBytesMax = min(room, TLSSession.recordBytesMax)
        try note(problem)
    }

    /// Everything that has been decrypted and not been read yet.
    public func readPlain() -> [UInt8] {
        let read = plain
        plain = []
        return read
    }

    public func writePlain(_ bytes: [UInt8]) throws(CryptoError) {
        try writePlain(bytes.span)
    }

    /// Encrypts in records of 16 KiB. How much may wait in `takeOutgoing` is the caller's to limit. 64 KiB at a time is
    /// twice as fast as 1 MiB: an array of that size comes from the kernel each time, a page at a time.
    public func writePlain(_ bytes: borrowing Span<UInt8>) throws(CryptoError) {
        if let failure { throw failure }
        let operation = "writing over TLS"
        guard isEstablished, !isClosed else {
            throw CryptoError(.closed, operation, isClosed ? "this side has closed" : "the handshake is not over")
        }
        guard !bytes.isEmpty else { return }
        let count = bytes.count
        let records = (count - 1) / TLSSession.recordPlainBytes + 1
        wire.expectOutgoing(count + records * TLSSession.recordOverheadBytes)
        ErrorQueue.clear()
        if renewal.isDue(after: records), !ssl.renewKey() { try note(ErrorQueue.failure(operation)) }
        if ssl.write(bytes) != count { try note(ErrorQueue.failure(operation)) }
    }

    /// What is to be sent to the peer now.
    public func takeOutgoing() -> [UInt8] {
        wire.takeOutgoing()
    }

    public var outgoingCount: Int { wire.outgoing.count }

    /// A secret that only the two ends of this session can know (RFC 8446, section 7.5), equal on both.
    public func exportKey(label: String, length: Int) throws(CryptoError) -> [UInt8] {
        precondition((1...1_024).contains(length), "asked for a key of \(length) bytes")
        let operation = "deriving a key"
        guard isEstablished else { throw CryptoError(.closed, operation, "the handshake is not over") }
        ErrorQueue.clear()
        guard let key = ssl.export(label: label, length: length) else { throw ErrorQueue.failure(operation) }
        return key
    }

    /// Says that nothing more will come from this side. The peer may still write.
    public func close() {
        guard isEstablished, !isClosed, failure == nil else { return }
        isClosed = true
        ErrorQueue.clear()
        ssl.sayGoodbye()
        ErrorQueue.clear()
    }
}

extension TLSSession {
    /// RFC 8446, section 5: what a record holds at most, what wraps it here, and what a peer may wrap it in.
    private static let recordPlainBytes = 16 << 10
    private static let recordOverheadBytes = 5 + 1 + 16
    private static let recordBytesMax = 5 + recordPlainBytes + 256

    private func note(_ problem: CryptoError?) throws(CryptoError) {
        guard let problem else { return }
        failure = problem
        throw problem
    }

    private func shakeHands() -> CryptoError? {
        ErrorQueue.clear()
        switch ssl.shakeHands() {
        case .done:
            guard case .trusted(let fingerprint, let name) = judge.verdict else {
                return CryptoError(.badTraffic, "the TLS handshake", "it ended without proof of the peer's key")
            }
            peerFingerprint = fingerprint
            negotiatedProtocol = name
            isEstablished = true
            return nil
        case .needsMore: return nil
        case .closed: return CryptoError(.closed, "the TLS handshake", "the peer left in the middle of it")
        case .failed: return judge.verdict.refusal ?? ErrorQueue.traffic("the TLS handshake")
        }
    }

    /// Decrypts what is lent to the wire. Plain bytes are never more than those that carried them, so `room` suffices;
    /// should it not, there is another round.
    private func decrypt(room: Int) -> CryptoError? {
        ErrorQueue.clear()
        while true {
            var outcome = SSLHandle.Outcome.done
            let fresh = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                while outcome == .done, count < buffer.count {
                    let (step, read) = unsafe ssl.read(into: UnsafeMutableBufferPointer(rebasing: buffer[count...]))
                    outcome = step
                    count += read
                }
            }
            if plain.isEmpty { plain = fresh } else { plain += fresh }
            switch outcome {
            case .done: continue
            case .needsMore: return nil
            case .closed:
                isPeerClosed = true
                return nil
            case .failed: return ErrorQueue.traffic("reading over TLS")
            }
        }
    }
}

/// When to change the key this side writes with. One AES-GCM key is good for 2^24.5 full records (RFC 8446, section
/// 5.5), 360 GiB; a link may live for months, and OpenSSL 3.0 leaves it to us.
struct KeyRenewal {
    var recordsMax = 1 << 22
    private(set) var recordsUnderKey = 0
    private(set) var renewals = 0

    init(recordsMax: Int = 1 << 22) {
        self.recordsMax = recordsMax
    }

    /// Counts records that are about to be written; true if they need a new key first.
    mutating func isDue(after records: Int) -> Bool {
        recordsUnderKey += records
        guard recordsUnderKey > recordsMax else { return false }
        recordsUnderKey = records
        renewals += 1
        return true
    }
}
