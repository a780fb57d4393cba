import EventLoop
import SyncCore

/// Everybody who wants to know how things stand: those who ask once, those who watch, those who wait for something.
/// While there is anybody, the core is asked again and again, never twice at a time; without them it is left alone.
final class StatusBoard {
    /// Gets each status; false once it has enough.
    typealias Listener = (Status) -> Bool

    private let ask: (@escaping (Answer) -> Void) -> Void
    private let timer: Timer
    private var listeners: [UInt64: Listener] = [:]
    private var lastListener: UInt64 = 0
    private var isAsking = false

    private static let pauseMilliseconds: UInt64 = 50

    init(loop: Loop, ask: @escaping (@escaping (Answer) -> Void) -> Void) {
        self.ask = ask
        timer = Timer(loop: loop)
    }

    /// The listener is told the state as it is after this call, and then what becomes of it.
    @discardableResult
    func add(_ listener: @escaping Listener) -> UInt64 {
        lastListener += 1
        listeners[lastListener] = listener
        look()
        return lastListener
    }

    func remove(_ id: UInt64) {
        listeners[id] = nil
    }

    func close() {
        listeners = [:]
        timer.close()
    }

    private func look() {
        guard !isAsking, !listeners.isEmpty else { return }
        isAsking = true
        // Who comes while the core is asked may have come because of something that happened after the question.
        let asked = lastListener
        ask { [self] answer in
            isAsking = false
            if case .status(let status) = answer { tell(status, upTo: asked) }
            guard !listeners.isEmpty else { return }
            if lastListener > asked { return look() }
            timer.start(afterMilliseconds: StatusBoard.pauseMilliseconds) { [self] in look() }
        }
    }

    private func tell(_ status: Status, upTo asked: UInt64) {
        for id in listeners.keys.sorted() where id <= asked {
            // One of those before may have ended what it waits for.
            guard let listener = listeners[id] else { continue }
            if !listener(status) { remove(id) }
        }
    }
}
