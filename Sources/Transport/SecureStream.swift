internal import Crypto
internal import EventLoop

/// One connection with TLS on it: pumps bytes between the socket and the session, and knows how a connection ends.
///
/// Until the peer is authenticated only OpenSSL sees its bytes, and no more than `unprovenBytesMax` of them.
final class SecureStream {
    /// The handshake is over and the peer is whom the session trusts.
    var onEstablished: (() -> Void)?
    /// What the peer said, decrypted.
    var onPlain: (([UInt8]) -> Void)?
    /// Once, unless `close` came first.
    var onEnd: ((Ending) -> Void)?

    enum Ending {
        /// With a goodbye.
        case orderly
        /// The stream ended without one.
        case cut
        case network(LoopError)
        case security(CryptoError)
        /// More bytes than any handshake has.
        case flood
        /// What TLS answers to it is not read: each wish for another key is answered by the library, whether or not there is room.
        case unread
    }

    /// Of the key that this side has shown.
    let ownFingerprint: [UInt8]
    private let loop: Loop
    private let farewells: Farewells
    private let stream: EventLoop.Stream
    private let session: TLSSession
    private var isOpen = true
    private var isReading = true
    private var unprovenBytes = 0

    /// A handshake of two Ed25519 certificates takes about 2 KiB.
    private static let unprovenBytesMax = 64 << 10
    /// Several times what the link lets wait.
    private static let unreadBytesMax = 1 << 20

    /// Takes the stream over, also when it throws.
    init(
        loop: Loop, stream: EventLoop.Stream, farewells: Farewells, role: TLSRole, identity: IdentityKey,
        protocols: [String], trust: @escaping (String) -> Trust
    ) throws(CryptoError) {
        self.loop = loop
        self.farewells = farewells
        self.stream = stream
        ownFingerprint = identity.fingerprint
        do throws(CryptoError) {
            session = try TLSSession(role: role, key: identity, protocols: protocols, trust: trust)
        } catch {
            stream.close()
            throw error
        }
        stream.onRead = { [self] in received($0) }
        stream.onEnd = { [self] in streamEnded($0) }
        flush()
        stream.startReading()
    }

    var address: String { stream.peerAddress }
    var isEstablished: Bool { session.isEstablished }
    var negotiatedProtocol: String? { session.negotiatedProtocol }
    var peerFingerprint: [UInt8]? { session.peerFingerprint }
    /// Encrypted and not yet taken by the kernel.
    var pendingBytes: Int { stream.pendingBytes }

    func exportKey(label: String, length: Int) throws(CryptoError) -> [UInt8] {
        try session.exportKey(label: label, length: length)
    }

    // MARK: Reading

    func pauseReading() {
        isReading = false
        stream.stopReading()
    }

    func resumeReading() {
        guard isOpen else { return }
        isReading = true
        stream.startReading()
    }

    private func received(_ bytes: [UInt8]) {
        guard isOpen else { return }
        let wasEstablished = session.isEstablished
        var failure: CryptoError?
        do throws(CryptoError) { try session.receive(bytes) } catch { failure = error }
        // Also after an error: the alert in there tells the peer why.
        flush()
        if !wasEstablished {
            unprovenBytes += bytes.count
            if session.isEstablished { onEstablished?() } else if unprovenBytes > Self.unprovenBytesMax { end(.flood) }
        }
        deliverPlain()
        guard isOpen else { return }
        if let failure { return end(.security(failure)) }
        if stream.pendingBytes > Self.unreadBytesMax { return end(.unread) }
        if session.isPeerClosed { end(.orderly) }
    }

    private func deliverPlain() {
        guard isOpen else { return }
        let plain = session.readPlain()
        if !plain.isEmpty { onPlain?(plain) }
    }

    // MARK: Writing

    /// `then` is called when the kernel has it; if that never happens, the connection ends instead.
    func write(_ plain: [UInt8], then: (() -> Void)? = nil) {
        guard isOpen else { return }
        do throws(CryptoError) {
            try session.writePlain(plain)
            flush(then: then)
        } catch {
            loop.doLater { [self] in end(.security(error)) }
        }
    }

    private func flush(then: (() -> Void)? = nil) {
        let cipher = session.takeOutgoing()
        guard !cipher.isEmpty else { return }
        stream.write(cipher) { error in if error == nil { then?() } }
    }

    // MARK: The end

    private func streamEnded(_ error: LoopError?) {
        if let error { return end(.network(error)) }
        end(session.isPeerClosed ? .orderly : .cut)
    }

    private func end(_ ending: Ending) {
        guard isOpen else { return }
        let told = onEnd
        switch ending {
        case .cut, .network, .unread: abandon()
        case .orderly, .security, .flood: close()
        }
        told?(ending)
    }

    /// Says goodbye and lets go. Nothing is called back any more.
    func close() {
        guard isOpen else { return }
        forget()
        session.close()
        flush()
        farewells.bid(to: stream)
    }

    /// At once, without a word.
    func abandon() {
        guard isOpen else { return }
        forget()
        stream.close()
    }

    private func forget() {
        isOpen = false
        onEstablished = nil
        onPlain = nil
        onEnd = nil
    }
}
