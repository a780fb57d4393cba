internal import CLibuv

/// One attempt to connect: resolves the name, tries its addresses one after another, and gives up when the time is
/// over.
///
/// The time that is left is divided among the addresses that are left, so a dead first address cannot use it up.
public final class Dialer {
    private let loop: Loop
    private let operation: String
    private let deadline: UInt64
    private let attemptMilliseconds: UInt64
    private let timer: Timer
    private var then: ((Result<Stream, LoopError>) -> Void)?
    private var question: Mailbox<Resolver.Answer>?
    private var addresses: ArraySlice<SocketAddress> = []
    private var stream: Stream?
    private var lastError: LoopError?

    /// `then` is called once, in a later turn, unless `cancel()` comes first. The stream is the caller's from then on.
    /// `attemptMilliseconds` bounds the wait for each address, apart from the time a name server takes.
    public init(
        loop: Loop, endpoint: Endpoint, timeoutMilliseconds: UInt64, attemptMilliseconds: UInt64 = .max,
        then: @escaping (Result<Stream, LoopError>) -> Void
    ) {
        self.loop = loop
        self.then = then
        self.attemptMilliseconds = attemptMilliseconds
        operation = "connect to \(endpoint)"
        deadline = Clock.monotonicMilliseconds() &+ timeoutMilliseconds
        timer = Timer(loop: loop)
        timer.start(afterMilliseconds: timeoutMilliseconds) { [self] in fail(LoopError.timedOut) }
        switch endpoint {
        case .tcp(let host, let port): resolve(host, port)
        case .unix(let path): connect(path)
        }
    }

    /// Also fine after the end, and more than once.
    public func cancel() {
        loop.assertOnThread()
        then = nil
        clearUp()
        stream?.close()
        stream = nil
    }

    private func resolve(_ host: String, _ port: UInt16) {
        if let address = SocketAddress(numeric: host, port: port) {
            addresses = [address]
            return tryNext()
        }
        do throws(LoopError) {
            question = try Resolver.resolve(host: host, port: port, loop: loop) { [self] answer in
                question?.close()
                question = nil
                switch answer {
                case .success(let found):
                    addresses = found[...]
                    tryNext()
                case .failure(let error): finish(.failure(LoopError(operation: operation, code: error.code)))
                }
            }
        } catch {
            failLater(error.code)
        }
    }

    private func tryNext() {
        stream?.close()
        stream = nil
        guard let address = addresses.popFirst() else {
            return failLater(lastError?.code ?? LoopError.unknownHost)
        }
        let left = deadline - min(deadline, Clock.monotonicMilliseconds())
        let share = min(left / UInt64(addresses.count + 1), attemptMilliseconds)
        timer.start(afterMilliseconds: share) { [self] in attemptFailed(LoopError.timedOut) }
        do throws(LoopError) {
            let attempt = try Stream(loop: loop, isTCP: true)
            stream = attempt
            let request = ConnectRequest { [self] status in attemptEnded(attempt, status) }
            try LoopError.check(request.submit(to: attempt.cell, address: address), operation)
        } catch {
            loop.doLater { [self] in attemptFailed(error.code) }
        }
    }

    private func connect(_ path: [UInt8]) {
        do throws(LoopError) {
            try UnixSocket.checkLength(of: path, operation)
            let attempt = try Stream(loop: loop, isTCP: false)
            stream = attempt
            ConnectRequest { [self] status in attemptEnded(attempt, status) }.submit(to: attempt.cell, path: path)
        } catch {
            failLater(error.code)
        }
    }

    private func attemptEnded(_ attempt: Stream, _ status: Int32) {
        // An attempt that was given up is answered too, when its socket closes.
        guard attempt === stream else { return }
        guard status == 0 else { return attemptFailed(status) }
        attempt.connectionMade()
        stream = nil
        finish(.success(attempt))
    }

    private func attemptFailed(_ code: Int32) {
        guard then != nil else { return }
        lastError = LoopError(operation: operation, code: code)
        tryNext()
    }

    private func failLater(_ code: Int32) {
        loop.doLater { [self] in fail(code) }
    }

    private func fail(_ code: Int32) {
        stream?.close()
        stream = nil
        finish(.failure(LoopError(operation: operation, code: code)))
    }

    private func finish(_ result: Result<Stream, LoopError>) {
        let then = then
        self.then = nil
        clearUp()
        then?(result)
    }

    private func clearUp() {
        timer.close()
        question?.close()
        question = nil
        addresses = []
    }
}
