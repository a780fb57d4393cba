/// Two nodes on one loop, with short patience, and what happened on each.
import Crypto
import EventLoop
import Testing
import Transport

/// One end of a link, with a record of its events.
final class TestNode {
    let key: IdentityKey
    let name: String
    private(set) var events: [LinkEvent] = []
    /// The life that goes on, if any.
    private(set) var life: UInt64?
    private(set) var lives = 0
    private(set) var frames: [[UInt8]] = []
    private(set) var sentBytes = 0
    /// After each event.
    var onEvent: ((LinkEvent) -> Void)?
    private(set) var link: PeerLink?
    private var lastLife: UInt64 = 0

    init(_ name: String, key: IdentityKey? = nil) throws {
        self.name = name
        self.key = try key ?? IdentityKey.generate()
    }

    func start(_ loop: Loop, pin: [UInt8]?, listen: Bool = true, _ adjust: (inout LinkSettings) -> Void = { _ in })
        throws
    {
        var settings = LinkSettings(listen: listen ? .tcp(host: "127.0.0.1", port: 0) : nil, peer: nil)
        settings.keepAliveMilliseconds = 40
        settings.deadMilliseconds = 400
        settings.helloMilliseconds = 2_000
        settings.reconnectFirstMilliseconds = 10
        settings.reconnectLastMilliseconds = 40
        settings.pairingMilliseconds = 15_000
        adjust(&settings)
        link = try PeerLink(loop: loop, identity: key, name: Array(name.utf8), pin: pin, settings: settings) { [self] in
            note($0)
        }
    }

    /// Ends the link and checks that nothing holds it any more.
    func stop(sourceLocation: SourceLocation = #_sourceLocation) {
        weak let ended = link
        link?.shutDown()
        link = nil
        onEvent = nil
        #expect(ended == nil, "somebody keeps the link of \(name)", sourceLocation: sourceLocation)
    }

    var endpoint: Endpoint { .tcp(host: "127.0.0.1", port: link?.boundPort ?? 0) }

    func send(_ frame: [UInt8]) { if let life { link?.send(life: life, frame: frame) } }

    var ends: [LinkEnd] {
        events.compactMap { if case .disconnected(_, let reason) = $0 { reason } else { nil } }
    }

    var rejections: [LinkRejection] {
        events.compactMap { if case .rejected(_, _, let reason) = $0 { reason } else { nil } }
    }

    var address: String? {
        for case .connected(_, let address) in events.reversed() { return address }
        return nil
    }

    /// Lives count up, never overlap, and nothing is told of one that is over.
    private func note(_ event: LinkEvent) {
        switch event {
        case .connected(let number, _):
            #expect(life == nil && number > lastLife)
            life = number
            lastLife = number
            lives += 1
        case .frame(let number, let frame):
            #expect(number == life)
            frames.append(frame)
        case .sent(let number, let bytes):
            #expect(number == life && bytes > 0)
            sentBytes += bytes
        case .disconnected(let number, _):
            #expect(number == life)
            life = nil
        case .rejected, .unreachable: break
        }
        if case .frame = event {} else { events.append(event) }
        onEvent?(event)
    }
}

/// A bounded loop; `body` sets the scene and calls `run`. At the end everything of the nodes must be gone.
func withLoop(
    seconds: UInt64 = 30, sourceLocation: SourceLocation = #_sourceLocation, _ body: (Loop) throws -> Void
) throws {
    let loop = try Loop()
    let patience = Timer(loop: loop)
    patience.start(afterMilliseconds: seconds * 1_000) {
        Issue.record("nothing more happened for \(seconds) s", sourceLocation: sourceLocation)
        loop.stop()
    }
    var failure: (any Error)?
    do { try body(loop) } catch { failure = error }
    patience.close()
    if failure == nil { #expect(loop.openHandles == [], sourceLocation: sourceLocation) }
    try loop.close()
    if let failure { throw failure }
}

/// Two paired nodes; `left` dials `right` unless told otherwise. They are shut down at the end.
func withNodes(
    sourceLocation: SourceLocation = #_sourceLocation, adjust: (inout LinkSettings) -> Void = { _ in },
    dialling: Bool = true, _ body: (Loop, _ left: TestNode, _ right: TestNode) throws -> Void
) throws {
    try withLoop(sourceLocation: sourceLocation) { loop in
        let left = try TestNode("left")
        let right = try TestNode("right")
        try left.start(loop, pin: right.key.fingerprint, adjust)
        try right.start(loop, pin: left.key.fingerprint, adjust)
        defer {
            left.stop(sourceLocation: sourceLocation)
            right.stop(sourceLocation: sourceLocation)
        }
        if dialling { left.link?.setPeer(right.endpoint) }
        try body(loop, left, right)
    }
}

extension Loop {
    /// Turns until the condition holds. Conditions change only by events, so it is asked after every turn.
    func run(until condition: @escaping () -> Bool) {
        let earlier = onTurn
        onTurn = { [unowned self] in
            let more = earlier?() ?? false
            if condition() { stop() }
            return more
        }
        run()
        onTurn = earlier
    }

    func run(forMilliseconds milliseconds: UInt64) {
        let timer = Timer(loop: self)
        timer.start(afterMilliseconds: milliseconds) { [unowned self] in stop() }
        run()
        timer.close()
    }
}

/// How long a loop has been awake, in tens of milliseconds. An upper bound of a time must be in these: the clock also counts what a
/// busy machine takes away.
final class Awake {
    private let timer: Timer
    private var latest = Clock.monotonicMilliseconds()
    private(set) var ticks = 0
    /// Since it last stood still: whoever waits for a silent peer begins anew then.
    private(set) var ticksInARow = 0

    init(_ loop: Loop) {
        timer = Timer(loop: loop)
        wait()
    }

    func close() { timer.close() }

    private func wait() {
        timer.start(afterMilliseconds: 10) { [unowned self] in
            let now = Clock.monotonicMilliseconds()
            ticks += 1
            ticksInARow = now > latest + 60 ? 0 : ticksInARow + 1
            latest = now
            wait()
        }
    }
}

/// Stands between two nodes and does what networks do: nothing, cut, or swallow.
final class Proxy {
    enum Mode { case passing, swallowing, refusing }

    private let loop: Loop
    private let target: Endpoint
    private var listener: Listener?
    private var streams: [EventLoop.Stream] = []
    private var dialers: [Dialer] = []
    private(set) var connections = 0
    private(set) var bytes = 0
    /// When the last bytes were passed on.
    private(set) var passedMilliseconds: UInt64 = 0
    var mode = Mode.passing
    /// Told of each connection, before anything is done with it, by its number.
    var onConnection: (Int) -> Void = { _ in }

    init(_ loop: Loop, to target: Endpoint) throws {
        self.loop = loop
        self.target = target
        listener = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) { [self] in accept($0) }
    }

    var endpoint: Endpoint { .tcp(host: "127.0.0.1", port: listener?.boundPort ?? 0) }

    /// Both sides see the end at once.
    func cut() {
        for stream in streams { stream.close() }
        streams = []
    }

    func close() {
        cut()
        for dialer in dialers { dialer.cancel() }
        dialers = []
        listener?.close()
        listener = nil
    }

    private func accept(_ near: EventLoop.Stream) {
        connections += 1
        onConnection(connections)
        streams.append(near)
        guard mode != .refusing else { return near.close() }
        dialers.append(
            Dialer(loop: loop, endpoint: target, timeoutMilliseconds: 1_000) { [self] result in
                guard case .success(let far) = result else { return near.close() }
                streams.append(far)
                join(near, far)
                join(far, near)
            })
    }

    private func join(_ from: EventLoop.Stream, _ to: EventLoop.Stream) {
        from.onRead = { [self] read in
            bytes += read.count
            guard mode == .passing else { return }
            passedMilliseconds = Clock.monotonicMilliseconds()
            to.write(read)
        }
        from.onEnd = { [self] _ in
            guard mode == .passing else { return }
            from.close()
            to.close()
        }
        from.startReading()
    }
}

/// Bytes that do not compress.
func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        var state = seed
        for index in 0..<count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            unsafe buffer[index] = UInt8(truncatingIfNeeded: (state ^ state >> 29) >> 24)
        }
        filled = count
    }
}
