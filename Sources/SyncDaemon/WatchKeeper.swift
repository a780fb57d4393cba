import Disk
import EventLoop
import SyncCore
import SyncModel

/// Carries the watcher's news to the core. A thread of its own waits for them.
final class WatchKeeper {
    private let watcher: Watcher
    private let worker: WorkerPool
    private let post: (Event) -> Void
    /// The kernel watches no more directories for us, or does again.
    var onLimit: (Bool) -> Void = { _ in }
    var onOverflow: () -> Void = {}
    /// When an overflow was told of last: a busy folder overflows many times in a row.
    private var toldMilliseconds: UInt64?
    private static let tellPauseMilliseconds: UInt64 = 60_000
    /// What was told last.
    private var isLimited: Bool?
    private var isListening = false
    private var isClosed = false
    /// Who wants to know what has happened up to now.
    private var flushes: [(number: UInt64, then: () -> Void)] = []
    private let patience: Timer

    /// A disk that hangs must not keep people waiting for the answer that it hangs.
    private static let flushMillisecondsMax: UInt64 = 500

    init(_ watcher: Watcher, loop: Loop, worker: WorkerPool, post: @escaping (Event) -> Void) {
        self.watcher = watcher
        patience = Timer(loop: loop)
        self.worker = worker
        self.post = post
    }

    /// Harmless when it listens already.
    func begin() {
        guard !isListening else { return }
        isListening = true
        listen()
    }

    /// Ends the waiting thread; afterwards `worker` can be closed.
    func close() {
        isClosed = true
        flushes = []
        patience.close()
        watcher.interrupt()
    }

    private func listen() {
        let watcher = watcher
        worker.run({ watcher.next() }) { [self] news in
            guard !isClosed else { return }
            if news.hasOverflowed {
                post(.overflowed)
                tellOverflow()
            }
            if !news.notices.isEmpty { post(.noticed(news.notices)) }
            noteLimit()
            listen()
            if let flushed = news.flushed { endFlushes(through: flushed) }
        }
    }

    /// Runs `then` when everything that happened before this call has been told to the core.
    func flush(then: @escaping () -> Void) {
        guard isListening, !isClosed else { return then() }
        flushes.append((watcher.requestFlush(), then))
        guard !patience.isRunning else { return }
        patience.start(afterMilliseconds: WatchKeeper.flushMillisecondsMax) { [unowned self] in
            endFlushes(through: .max)
        }
    }

    private func endFlushes(through number: UInt64) {
        let due = flushes.filter { $0.number <= number }
        flushes.removeAll { $0.number <= number }
        if flushes.isEmpty { patience.stop() }
        for flush in due { flush.then() }
    }

    private func tellOverflow() {
        let now = Clock.monotonicMilliseconds()
        if let told = toldMilliseconds, now < told + WatchKeeper.tellPauseMilliseconds { return }
        toldMilliseconds = now
        onOverflow()
    }

    /// A scan finds and loses watches without any news.
    func noteLimit() {
        let isLimited = watcher.isLimited
        guard isLimited != self.isLimited else { return }
        self.isLimited = isLimited
        onLimit(isLimited)
    }
}
