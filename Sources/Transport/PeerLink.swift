public import Crypto
public import EventLoop

/// The link to exactly one peer: dials it, accepts it, proves that it is the right one, and keeps one connection alive.
///
/// Whoever may dial does; the first connection that both take is the life of the link. The side that accepts a
/// connection decides whether to take it and says so with its first record, and the side that dialled waits for that.
/// When both dial at once, the connection dialled by the node with the smaller key stays; otherwise a newer connection
/// from the peer replaces an older one, because the peer would not have made it if the older one still worked.
///
/// Everything belongs to the loop thread. Events come in later turns, never from inside a call, and none after
/// `shutDown`. Pairing is in `PeerLink+Pairing`, connections on their way to being a life in `PeerLink+Handshakes`.
public final class PeerLink {
    let loop: Loop
    var identity: IdentityKey
    /// Where this node changes its key: the one before, and the one that comes (`PeerLink+Keys`).
    var former: IdentityKey?
    var next: IdentityKey?
    var showsFormer = false
    var settings: LinkSettings
    /// SHA-256 of the peer's public key; nil before pairing.
    var pin: [UInt8]?
    /// Of the key that the peer is about to use instead.
    var nextPin: [UInt8]?
    /// The peer has a new key, with this fingerprint. It is told so only after `settle(true)`: once that is written down.
    public var onNewKey: ((_ fingerprint: [UInt8], _ settle: @escaping (_ isStored: Bool) -> Void) -> Void)?
    /// In which it is offered, while it is being written down.
    var lifeOfNewKey: UInt64?
    /// What the peer says to the new key of this node: it has written it down, or could not.
    public var onNewKeyAnswered: ((_ fingerprint: [UInt8], _ isTaken: Bool) -> Void)?
    var handshakes: [Handshake] = []
    var caller: Caller?
    let farewells: Farewells
    private(set) var life: LinkLife? { willSet { lastHeard = heardMilliseconds } }
    /// By the last life that is over, if it was one with the peer of now.
    private var lastHeard: UInt64?
    private var listener: Listener?
    private var lastLife: UInt64 = 0
    private var rejections = RejectionLog()
    private var unreachable: (code: Int32, sinceMilliseconds: UInt64)?
    private var onEvent: ((LinkEvent) -> Void)?
    private var desk: PairingDesk?

    /// `name` is what this node calls itself, told to the other while pairing. Listens and dials from here on; without
    /// a pin only for pairing.
    public init(
        loop: Loop, identity: IdentityKey, name: [UInt8], pin: [UInt8]?, settings: LinkSettings,
        onEvent: @escaping (LinkEvent) -> Void
    ) throws(LoopError) {
        self.loop = loop
        self.identity = identity
        self.pin = pin
        self.settings = settings
        self.onEvent = onEvent
        farewells = Farewells(loop: loop)
        desk = PairingDesk(loop: loop, key: identity, name: name, settings: settings) { [weak self] stream, endpoint in
            self?.dialled(stream, endpoint, for: .pairing)
        }
        if let endpoint = settings.listen {
            listener = try Listener(loop: loop, endpoint: endpoint) { [weak self] stream in
                guard let self else { return stream.close() }
                accepted(stream)
            }
        }
        restartCaller()
    }

    var isShutDown: Bool { onEvent == nil }

    /// Alive until `shutDown`.
    func withDesk<Value>(_ use: (PairingDesk) -> Value) -> Value? { desk.map(use) }

    /// The port that is listened on, when there is one.
    public var boundPort: UInt16? { listener?.boundPort }

    /// When the peer was last heard of, if only to say that it is there (monotonic). Nil if it never was.
    public var heardMilliseconds: UInt64? { life?.heardMilliseconds ?? lastHeard }

    // MARK: The life

    /// `frame` as the core wrote it. `.sent` tells when it is out. Nothing happens when that life is over.
    public func send(life number: UInt64, frame: [UInt8]) { current(number)?.send(frame: frame) }

    /// No frame comes until `resumeReading`; the peer is held back.
    public func pauseReading(life number: UInt64) { current(number)?.pauseReading() }

    public func resumeReading(life number: UInt64) { current(number)?.resumeReading() }

    /// Ends the life; `.disconnected` follows in a later turn, and no frame before it.
    public func close(life number: UInt64) {
        guard current(number) != nil else { return }
        endLater(.closedHere)
    }

    private func current(_ number: UInt64) -> LinkLife? {
        loop.assertOnThread()
        return life?.number == number ? life : nil
    }

    /// Makes an authenticated connection the life of the link. `words` are what the peer has said already.
    func adopt(_ stream: SecureStream, isDialled: Bool, words: [UInt8]) {
        life?.finish(.replaced)
        // Whoever was told of the end may have changed his mind about the peer.
        guard !isShutDown, isPeer(stream.peerFingerprint) else { return stream.close() }
        for handshake in handshakes where handshake.isDialled && handshake.purpose == .link { handshake.drop() }
        handshakes.removeAll { $0.isDialled && $0.purpose == .link }
        caller?.pause()
        lastLife += 1
        let number = lastLife
        let life = LinkLife(
            number: number, loop: loop, stream: stream, isDialled: isDialled, settings: settings
        ) { [weak self] in self?.happened($0, inLife: number) }
        self.life = life
        unreachable = nil
        rejections = RejectionLog()
        desk?.linkIsUp()
        if !isDialled { life.sendKeepAlive() }
        if isDialled, let address = try? Endpoint.parse(stream.address) { caller?.remember(address) }
        tell(.connected(life: number, address: stream.address))
        if self.life === life { offerNewestKey() }
        // A life that was closed while its beginning was told hears nothing.
        if !words.isEmpty, self.life === life { life.heard(words) }
    }

    private func happened(_ happening: LinkLife.Happening, inLife number: UInt64) {
        switch happening {
        case .frame(let frame): tell(.frame(life: number, frame))
        case .sent(let bytes): tell(.sent(life: number, bytes: bytes))
        case .newKey(let payload): weigh(newKey: payload, inLife: number)
        case .newKeyAnswered(let fingerprint, let isTaken): newKeyWasAnswered(fingerprint, isTaken: isTaken)
        case .ended(let reason):
            if let life, life.begunMilliseconds + settings.deadMilliseconds <= Clock.monotonicMilliseconds() {
                // A life that ends at once is dialled again with growing pauses, or two nodes could be busy with
                // nothing else.
                caller?.resetBackoff()
            }
            life = nil
            tell(.disconnected(life: number, reason: reason))
            if pin != nil { caller?.resume() }
        }
    }

    /// Ends the life without calling back from inside the caller's call.
    func endLater(_ reason: LinkEnd) {
        guard let ending = life else { return }
        ending.pauseReading()
        loop.doLater { ending.finish(reason) }
    }

    // MARK: Changes while running

    /// After pairing, or nil to forget the peer: a life with another one ends. Dials at once.
    public func setPin(_ pin: [UInt8]?) {
        loop.assertOnThread()
        guard pin != self.pin, !isShutDown else { return }
        self.pin = pin
        nextPin = nil
        lastHeard = nil
        for handshake in handshakes where handshake.purpose != .pairing { handshake.drop() }
        handshakes.removeAll { $0.purpose != .pairing }
        rejections = RejectionLog()
        endLater(.unpaired)
        restartCaller()
    }

    /// Where to dial from now on; a life that works goes on.
    public func setPeer(_ peer: Endpoint?) {
        loop.assertOnThread()
        guard peer != settings.peer, !isShutDown else { return }
        settings.peer = peer
        for handshake in handshakes where handshake.isDialled && handshake.purpose == .link { handshake.drop() }
        handshakes.removeAll { $0.isDialled && $0.purpose == .link }
        restartCaller()
    }

    /// 0 for no limit.
    public func setRateLimit(bytesPerSecond: UInt64) {
        loop.assertOnThread()
        settings.rateLimitBytesPerSecond = bytesPerSecond
        life?.setRateLimit(bytesPerSecond: bytesPerSecond)
    }

    private func restartCaller() {
        caller?.close()
        caller = nil
        unreachable = nil
        guard pin != nil, let peer = settings.peer else { return }
        let made = Caller(
            loop: loop, endpoint: peer, settings: settings,
            onStream: { [weak self] stream, dialled in
                guard let self else { return stream.close() }
                self.dialled(stream, dialled, for: .link)
            },
            onFailure: { [weak self] in self?.couldNotDial($0) })
        caller = made
        if life == nil { made.resume() }
    }

    func couldNotDial(_ error: LoopError) {
        guard unreachable?.code != error.code else { return }
        let since = unreachable?.sinceMilliseconds ?? Clock.monotonicMilliseconds()
        unreachable = (error.code, since)
        tell(.unreachable(reason: error, sinceMilliseconds: since))
    }

    // MARK: Telling

    func tell(_ event: LinkEvent) { onEvent?(event) }

    func tellRejection(_ address: String, isDialled: Bool, _ reason: LinkRejection) {
        let now = Clock.monotonicMilliseconds()
        guard rejections.shouldTell(address, isDialled: isDialled, reason, nowMilliseconds: now) else { return }
        tell(.rejected(address: address, isDialled: isDialled, reason: reason))
    }

    /// Closes everything, says goodbye to the peer, and tells nothing any more.
    public func shutDown() {
        loop.assertOnThread()
        onEvent = nil
        onNewKey = nil
        onNewKeyAnswered = nil
        listener?.close()
        listener = nil
        caller?.close()
        caller = nil
        for handshake in handshakes { handshake.drop() }
        handshakes = []
        desk?.shutDown()
        desk = nil
        life?.finish(.closedHere)
        life = nil
        farewells.endAll()
    }
}
