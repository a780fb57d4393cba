/// Tells what happens in the folder, by a raw inotify queue; by fanotify where the folder is a file system of its own or the
/// kernel gives no more watches, and it is permitted. What it says is never more than a hint, and it misses
/// nothing without saying so.
///
/// Directories are watched when a scan reaches them (`Folder.scan`) or when they appear under one that is watched.
/// What a mapping of a file into memory changes, nobody tells; the hourly scan finds it.
import CLinux
import Glibc
import SyncModel
import Synchronization

public final class Watcher: Sendable {
    private let state: Mutex<WatchState>
    /// Ends a wait: for an interruption, or for news that a scan has made.
    private let bell: Descriptor
    private let isInterrupted = Atomic(false)

    /// How long an event may be on its way that belongs to one that is read, and how often that is waited for.
    private static let graceMilliseconds: Int32 = 2
    private static let gracesMax = 25
    /// Reads before what was gathered is told.
    private static let readsMax = 64

    /// Watches the root. Everything below is watched as a scan reaches it.
    public convenience init(folder: Folder) throws(FolderError) {
        // Where the folder is a file system of its own, there is nothing on it that does not concern us.
        try self.init(folder: folder, isWhole: folder.isMountPoint)
    }

    /// `isWhole`: by its file system, where that is permitted.
    convenience init(folder: Folder, isWhole: Bool) throws(FolderError) {
        let queue = try step("inotify_init1", folder.path) { () throws(Failure) in
            try Watcher.makeQueue(folder, isWhole: isWhole)
        }
        try self.init(folder: folder, queue: queue)
    }

    init(folder: Folder, queue: any WatchQueue) throws(FolderError) {
        state = Mutex(try WatchState(folder, queue))
        bell = try step("eventfd", folder.path) { () throws(Failure) in
            Descriptor(owning: try checked(clinux_eventfd()))
        }
    }

    private static func makeQueue(_ folder: Folder, isWhole: Bool) throws(Failure) -> any WatchQueue {
        guard isWhole else { return try Inotify() }
        do throws(Failure) {
            return try Fanotify(root: folder.root)
        } catch {
            return try Inotify()
        }
    }

    /// Blocks until there is news or an interruption. For one thread at a time.
    public func next() -> WatchNews {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let (queue, isWaiting) = state.withLock { ($0.queue, $0.isWaiting) }
            queue.wait(orFor: bell, milliseconds: isWaiting ? Watcher.graceMilliseconds : nil)
            bell.silence()
            let flush = state.withLock { $0.takeFlush() }
            gather(&buffer)
            var news = state.withLock { $0.takeNews() }
            news.flushed = flush
            news.isInterrupted = isInterrupted.exchange(false, ordering: .acquiringAndReleasing)
            if !news.isEmpty { return news }
        }
    }

    /// Ends the `next()` that is running, or the next one. From any thread.
    public func interrupt() {
        isInterrupted.store(true, ordering: .releasing)
        bell.ring()
    }

    /// Asks for a sign when everything is told that has happened up to this moment: the kernel queues what a call does
    /// before the call returns, so one look at the whole queue is enough. `next` gives the number back.
    public func requestFlush() -> UInt64 {
        let number = state.withLock { $0.requestFlush() }
        bell.ring()
        return number
    }

    /// Directories that are watched now.
    public var count: Int { state.withLock { $0.count } }

    /// Some directories are not watched, because the kernel has given us all the watches it will (fs.inotify.
    /// max_user_watches): scans have to come more often. Ends when a scan of the whole folder could watch everything.
    public var isLimited: Bool { state.withLock { $0.isLimited } }

    /// Reads until nothing more comes and nothing is open.
    private func gather(_ buffer: inout [UInt8]) {
        var graces = 0
        for _ in 0..<Watcher.readsMax {
            let queue = state.withLock { state in
                state.retire()
                return state.queue
            }
            do throws(Failure) {
                let events = try queue.events(&buffer)
                if !events.isEmpty {
                    state.withLock { $0.take(events) }
                    continue
                }
            } catch {
                return state.withLock { $0.startAnew() }
            }
            if !state.withLock({ $0.isWaiting }) { return }
            if queue.wait(milliseconds: Watcher.graceMilliseconds) { continue }
            if state.withLock({ $0.settle() }) { return }
            graces += 1
            if graces == Watcher.gracesMax { return state.withLock { $0.startAnew() } }
        }
    }

    // MARK: For scans

    func beginScan(_ request: ScanRequest, _ rules: IgnoreRules) {
        state.withLock { $0.beginScan(request, rules) }
    }

    func endScan(_ request: ScanRequest) {
        state.withLock { $0.endScan(request) }
    }

    /// Watches a directory that is about to be listed. `isPartly`: the scan skips what comes first in it.
    func arm(_ path: Path, _ status: Status, isPartly: Bool) {
        let needsAttention = state.withLock { state in
            state.arm(path, status, isPartly: isPartly)
            return state.needsAttention
        }
        if needsAttention { bell.ring() }
    }

    /// The scan has gone through the directory.
    func cover(_ path: Path, _ status: Status) {
        state.withLock { $0.cover(path, status) }
    }
}

extension Descriptor {
    fileprivate borrowing func ring() {
        var one: UInt64 = 1
        // It can only fail when it rings already.
        _ = unsafe Glibc.write(raw, &one, 8)
    }

    fileprivate borrowing func silence() {
        var count: UInt64 = 0
        _ = unsafe Glibc.read(raw, &count, 8)
    }
}
