internal import EventLoop

/// Dials one peer again and again until somebody answers.
///
/// A peer known by name is dialled by name and, beside it, at the address at which it was last met: after an outage the
/// name server may come back later than the peer. Whoever answers first is handed on, and nothing is dialled until
/// `resume`.
final class Caller {
    let endpoint: Endpoint
    private let loop: Loop
    private let settings: LinkSettings
    private let onStream: (EventLoop.Stream, Endpoint) -> Void
    private let onFailure: (LoopError) -> Void
    private var lines: [Line] = []
    private var isActive = false

    /// `onFailure` is told of each failed attempt at `endpoint` itself.
    init(
        loop: Loop, endpoint: Endpoint, settings: LinkSettings,
        onStream: @escaping (EventLoop.Stream, _ dialled: Endpoint) -> Void,
        onFailure: @escaping (LoopError) -> Void
    ) {
        self.loop = loop
        self.endpoint = endpoint
        self.settings = settings
        self.onStream = onStream
        self.onFailure = onFailure
        lines = [makeLine(endpoint)]
    }

    /// Dials as soon as the back-off allows, which is at once the first time.
    func resume() {
        guard !isActive else { return }
        isActive = true
        for line in lines { line.schedule() }
    }

    /// Until `resume`. What is being dialled is given up.
    func pause() {
        isActive = false
        for line in lines { line.hold() }
    }

    /// For good.
    func close() {
        isActive = false
        for line in lines { line.close() }
        lines = []
    }

    /// The peer was there: the next loss of it is a new one.
    func resetBackoff() {
        for line in lines { line.backoff.reset() }
    }

    /// Remembers where the peer was met. Only useful, and only done, when `endpoint` is a name.
    func remember(_ address: Endpoint) {
        guard endpoint.isName, lines.count == 1 else { return }
        lines.append(makeLine(address))
    }

    /// Somebody else answered there: ask only for the name from now on.
    func forget(_ address: Endpoint) {
        guard address != endpoint else { return }
        for line in lines where line.endpoint == address { line.close() }
        lines.removeAll { $0.endpoint == address }
    }

    private func makeLine(_ target: Endpoint) -> Line {
        Line(loop: loop, endpoint: target, settings: settings) { [weak self] result in
            guard let self, isActive else {
                if case .success(let stream) = result { stream.close() }
                return
            }
            switch result {
            case .success(let stream):
                pause()
                onStream(stream, target)
            case .failure(let error):
                if target == endpoint { onFailure(error) }
            }
        }
    }
}

/// One endpoint, dialled over and over with growing pauses.
private final class Line {
    let endpoint: Endpoint
    var backoff: Backoff
    private let loop: Loop
    private let dialMilliseconds: UInt64
    private let timer: Timer
    private let onResult: (Result<EventLoop.Stream, LoopError>) -> Void
    /// Oldest first. Where packets are lost without a word an attempt asks again only after a second, which a new one does at
    /// once: the next begins before the last has given up. The oldest has all the time it may take, however far the peer is.
    private var attempts: [(number: UInt64, dialer: Dialer)] = []
    private var lastAttempt: UInt64 = 0
    private var notBefore: UInt64 = 0

    /// How long the name service may take. Its own patience is five seconds for each server.
    private static let resolveMilliseconds: UInt64 = 15_000
    private static let attemptsMax = 4

    init(
        loop: Loop, endpoint: Endpoint, settings: LinkSettings,
        onResult: @escaping (Result<EventLoop.Stream, LoopError>) -> Void
    ) {
        self.loop = loop
        self.endpoint = endpoint
        self.onResult = onResult
        dialMilliseconds = settings.dialMilliseconds
        backoff = Backoff(
            firstMilliseconds: settings.reconnectFirstMilliseconds, lastMilliseconds: settings.reconnectLastMilliseconds
        )
        timer = Timer(loop: loop)
    }

    func schedule() {
        let now = Clock.monotonicMilliseconds()
        timer.start(afterMilliseconds: notBefore - min(now, notBefore)) { [weak self] in self?.dial() }
    }

    func hold() {
        timer.stop()
        for attempt in attempts { attempt.dialer.cancel() }
        attempts = []
    }

    func close() {
        hold()
        timer.close()
    }

    private func dial() {
        notBefore = Clock.monotonicMilliseconds() + backoff.next()
        // A name server is asked once at a time, and not as often as a neighbour.
        if endpoint.isName { backoff.double() }
        let patience = endpoint.isName ? Self.resolveMilliseconds : dialMilliseconds
        if attempts.count == Self.attemptsMax { attempts.remove(at: 1).dialer.cancel() }
        lastAttempt += 1
        let number = lastAttempt
        let dialer = Dialer(
            loop: loop, endpoint: endpoint, timeoutMilliseconds: patience, attemptMilliseconds: dialMilliseconds
        ) { [weak self] result in self?.ended(number, result) }
        attempts.append((number, dialer))
        if !endpoint.isName { schedule() }
    }

    private func ended(_ number: UInt64, _ result: Result<EventLoop.Stream, LoopError>) {
        attempts.removeAll { $0.number == number }
        switch result {
        case .success:
            hold()
            backoff.double()
        case .failure: if !timer.isRunning { schedule() }
        }
        onResult(result)
    }
}
