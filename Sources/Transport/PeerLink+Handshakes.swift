internal import Crypto
internal import EventLoop

/// Connections on their way to being a life: who may come in, how many at a time, and which of two is taken.
extension PeerLink {
    static let linkProtocol = "syncd/1"
    static let pairingProtocol = "syncd-pair/1"
    /// Spoken by nobody: what a node offers that has neither a peer nor an invitation, so that TLS can tell why.
    private static let noProtocol = "syncd-none"

    /// Strangers that may be in the middle of a handshake at the same time.
    private static let strangersMax = 8

    // MARK: In and out

    func accepted(_ stream: EventLoop.Stream) {
        guard !isShutDown else { return stream.close() }
        makeRoomForStranger()
        var protocols: [String] = []
        if pin != nil { protocols.append(Self.linkProtocol) }
        if withDesk(\.isOpen) == true { protocols.append(Self.pairingProtocol) }
        if protocols.isEmpty { protocols = [Self.noProtocol] }
        begin(stream, .server, protocols, dialled: nil, purpose: nil)
    }

    func dialled(_ stream: EventLoop.Stream, _ endpoint: Endpoint, for purpose: Handshake.Purpose) {
        guard !isShutDown else { return stream.close() }
        let name = purpose == .link ? Self.linkProtocol : Self.pairingProtocol
        begin(stream, .client, [name], dialled: endpoint, purpose: purpose)
    }

    /// The oldest gives way: whoever is honest is through in a moment, and whoever dawdles cannot keep others out.
    private func makeRoomForStranger() {
        let strangers = handshakes.filter { !$0.isDialled }
        guard strangers.count >= Self.strangersMax, let oldest = strangers.first else { return }
        handshakes.removeAll { $0 === oldest }
        oldest.drop()
    }

    private func begin(
        _ stream: EventLoop.Stream, _ role: TLSRole, _ protocols: [String], dialled: Endpoint?,
        purpose: Handshake.Purpose?
    ) {
        // Read when the handshake asks, not when it began: the pin may have changed meanwhile.
        let trust = { [weak self] (name: String) -> Trust in
            name == Self.pairingProtocol ? .unverified : self?.trusted ?? .pinned([])
        }
        do throws(CryptoError) {
            let secure = try SecureStream(
                loop: loop, stream: stream, farewells: farewells, role: role, identity: shown,
                protocols: protocols, trust: trust)
            let handshake = Handshake(
                loop: loop, stream: secure, dialled: dialled, purpose: purpose,
                patienceMilliseconds: settings.helloMilliseconds
            ) { [weak self] handshake, step in self?.advanced(handshake, step) }
            handshakes.append(handshake)
        } catch {
            failed(stream.peerAddress, dialled, purpose, .noTLS(error.reason))
        }
    }

    // MARK: Steps

    private func advanced(_ handshake: Handshake, _ step: Handshake.Step) {
        guard handshakes.contains(where: { $0 === handshake }) else { return }
        switch step {
        case .established: established(handshake)
        case .welcomed(let words):
            adopt(take(handshake), isDialled: true, words: words)
        case .declined:
            forget(handshake)
            resumeCalls(handshake.dialled, handshake.purpose, nil)
        case .failed(let rejection):
            forget(handshake)
            if rejection == .ourKeyRefused { ourKeyWasRefused() }
            failed(handshake.address, handshake.dialled, handshake.purpose, rejection)
        case .lost(let error):
            forget(handshake)
            if handshake.isDialled, handshake.purpose == .link { couldNotDial(error) }
            resumeCalls(handshake.dialled, handshake.purpose, nil)
        }
    }

    private func established(_ handshake: Handshake) {
        if handshake.stream.negotiatedProtocol == Self.pairingProtocol {
            let stream = take(handshake)
            withDesk { $0.admit(stream, dialled: handshake.dialled) }
        } else if !handshake.isDialled {
            decide(handshake)
        }
        // A link that we dialled waits for the peer's word.
    }

    /// The peer has connected to us and is who it should be: take this connection, or keep another.
    private func decide(_ handshake: Handshake) {
        let mayKeepOurOwn = mayKeepOurOwn(against: handshake)
        let ours = mayKeepOurOwn ? life.flatMap { $0.isDialled ? $0 : nil } : nil
        if let ours {
            // It cannot be connected to us if it dials. Unless the two just crossed, ours is dead and will be found so.
            ours.probe()
        } else if !mayKeepOurOwn || !isAwaitingWelcome {
            return adopt(take(handshake), isDialled: false, words: [])
        }
        forget(handshake)
        handshake.drop()
    }

    /// Of two connections made at once, the one dialled by the smaller key stays: of the keys that both ends have seen.
    private func mayKeepOurOwn(against handshake: Handshake) -> Bool {
        let stream = handshake.stream
        return stream.peerFingerprint.map { stream.ownFingerprint.lexicographicallyPrecedes($0) } ?? false
    }

    private var isAwaitingWelcome: Bool {
        handshakes.contains { $0.isDialled && $0.purpose == .link && $0.stream.isEstablished }
    }

    private func failed(
        _ address: String, _ dialled: Endpoint?, _ purpose: Handshake.Purpose?, _ rejection: LinkRejection
    ) {
        if purpose != .pairing { tellRejection(address, isDialled: dialled != nil, rejection) }
        resumeCalls(dialled, purpose, rejection)
    }

    private func resumeCalls(_ dialled: Endpoint?, _ purpose: Handshake.Purpose?, _ rejection: LinkRejection?) {
        guard !isShutDown, let dialled, let purpose else { return }
        switch purpose {
        case .link:
            if rejection != nil { caller?.forget(dialled) }
            if life == nil { caller?.resume() }
        case .pairing: withDesk { $0.callFailed(dialled, rejection) }
        }
    }

    private func take(_ handshake: Handshake) -> SecureStream {
        forget(handshake)
        return handshake.handOver()
    }

    private func forget(_ handshake: Handshake) {
        handshakes.removeAll { $0 === handshake }
    }
}
