internal import EventLoop

/// Connections that this side has ended and that still have a moment to hear why.
///
/// A socket closed over unread bytes resets the connection, and the peer may lose our last words with it. So what still
/// comes is thrown away for a moment; not for long, and not for many at once, because strangers end up here too.
final class Farewells {
    private let loop: Loop
    private var waiting: [ObjectIdentifier: Farewell] = [:]

    private static let milliseconds: UInt64 = 1_000
    private static let countMax = 16

    private struct Farewell {
        let stream: EventLoop.Stream
        let patience: Timer
    }

    init(loop: Loop) {
        self.loop = loop
    }

    /// Takes the stream over, with everything that is to be written on it already given to it.
    func bid(to stream: EventLoop.Stream) {
        guard waiting.count < Self.countMax else { return stream.close() }
        let farewell = Farewell(stream: stream, patience: Timer(loop: loop))
        waiting[ObjectIdentifier(stream)] = farewell
        stream.onRead = { _ in }
        stream.onEnd = { [weak self, weak stream] _ in if let stream { self?.end(stream) } }
        stream.startReading()
        stream.finishWriting()
        farewell.patience.start(afterMilliseconds: Self.milliseconds) { [weak self, weak stream] in
            if let stream { self?.end(stream) }
        }
    }

    /// For the end of the process.
    func endAll() {
        for farewell in waiting.values { end(farewell.stream) }
    }

    private func end(_ stream: EventLoop.Stream) {
        guard let farewell = waiting.removeValue(forKey: ObjectIdentifier(stream)) else { return }
        farewell.patience.close()
        farewell.stream.close()
    }
}
