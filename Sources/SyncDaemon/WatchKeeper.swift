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
    /// What was told last.
    private var isLimited: Bool?
    private var isListening = false
    private var isClosed = false

    init(_ watcher: Watcher, worker: WorkerPool, post: @escaping (Event) -> Void) {
        self.watcher = watcher
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
        watcher.interrupt()
    }

    private func listen() {
        let watcher = watcher
        worker.run({ watcher.next() }) { [self] news in
            guard !isClosed else { return }
            if news.hasOverflowed { post(.overflowed) }
            if !news.notices.isEmpty { post(.noticed(news.notices)) }
            noteLimit()
            listen()
        }
    }

    private func noteLimit() {
        let isLimited = watcher.isLimited
        guard isLimited != self.isLimited else { return }
        self.isLimited = isLimited
        onLimit(isLimited)
    }
}
