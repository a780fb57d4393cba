internal import CLibuv
internal import Glibc

/// One event loop on one thread: sockets, timers, signals and what worker threads send back.
///
/// Nothing here is `Sendable` but the mailbox: the compiler keeps every other object on the thread that made the loop,
/// and each public entry checks it once more, because C code cannot be seen by the compiler. A turn is: poll;
/// callbacks note what happened; `onTurn` acts on it; poll again. No closure is ever called from inside the call that
/// asked for it, and none after its object was closed.
///
/// Start reading at `HandleCell` for how libuv's handles live; `Stream`, `Listener` and `Dialer` for connections;
/// `WorkerPool` and `Mailbox` for the two doors between threads.
@safe public final class Loop {
    /// Called before every poll, after all callbacks. Returns true when it left work for the next turn: the loop then
    /// looks at its sockets without waiting and comes back.
    public var onTurn: (() -> Bool)?

    /// Owned from `init` to `close`.
    let memory: UnsafeMutablePointer<uv_loop_t>
    /// Lent to libuv for one read at a time; what it holds is copied out before the next.
    let readBuffer: UnsafeMutableRawBufferPointer
    private let thread = pthread_self()
    private var phase = Phase.idle
    private var isStopping = false
    private var later: [() -> Void] = []

    private enum Phase { case idle, running, closed }

    /// Bytes taken from one socket at a time: whole TLS records, and small enough to stay in the processor's cache.
    private static let readBufferBytes = 64 << 10

    /// Of the libuv that is in use.
    public static var libraryVersion: String { unsafe String(cString: uv_version_string()) }

    public init() throws(LoopError) {
        // A peer that goes away is an error of the write, not the end of the process.
        Glibc.signal(SIGPIPE, SIG_IGN)
        unsafe memory = .allocate(capacity: 1)
        unsafe readBuffer = .allocate(byteCount: Self.readBufferBytes, alignment: 16)
        let answer = unsafe uv_loop_init(memory)
        guard answer == 0 else {
            phase = .closed
            free()
            throw LoopError(operation: "make an event loop", code: answer)
        }
    }

    deinit {
        precondition(phase == .closed, "a Loop was dropped without close()")
    }

    /// Runs turns until `stop()`, or until no open handle is left and nothing could ever happen again.
    public func run() {
        assertOnThread()
        precondition(phase == .idle, "run() inside run(), or after close()")
        phase = .running
        defer {
            phase = .idle
            isStopping = false
        }
        while !isStopping {
            performLater()
            let moreIsWaiting = (onTurn?() ?? false) || !later.isEmpty
            if isStopping { return }
            if !moreIsWaiting, unsafe uv_loop_alive(memory) == 0 { return }
            unsafe uv_run(memory, moreIsWaiting ? UV_RUN_NOWAIT : UV_RUN_ONCE)
        }
    }

    /// Ends `run()` after the present turn; a `run()` not yet begun returns at once.
    public func stop() {
        assertOnThread()
        isStopping = true
    }

    /// The kinds of the handles that nobody has closed yet, sorted. What a test expects to be empty at its end.
    public var openHandles: [String] {
        assertOnThread()
        return allCells().filter(\.isOpen).map(\.kindName).sorted()
    }

    /// Closes every handle, waits for libuv to let go of them, and frees the loop. An error names what libuv still
    /// holds.
    public func close() throws(LoopError) {
        assertOnThread()
        precondition(phase != .running, "close() inside run(): call stop() and close after run() has returned")
        guard phase == .idle else { return }
        onTurn = nil
        later = []
        for cell in allCells() { cell.close() }
        unsafe uv_run(memory, UV_RUN_DEFAULT)
        // Closing a handle may have queued a completion; its stream is gone, so nobody waits for it.
        later = []
        let answer = unsafe uv_loop_close(memory)
        guard answer == 0 else {
            let held = allCells().map(\.kindName).sorted().joined(separator: ", ")
            throw LoopError(operation: "close the event loop, which still holds: \(held)", code: answer)
        }
        phase = .closed
        free()
    }

    /// Runs an action at the end of this turn's callbacks, before `onTurn`: how a result that is already there is told
    /// without calling back from inside the request.
    public func doLater(_ action: @escaping () -> Void) {
        assertOnThread()
        later.append(action)
    }

    /// For everything that is built on the loop and called from outside.
    public func assertOnThread() {
        precondition(pthread_equal(thread, pthread_self()) != 0, "the event loop was called from another thread")
    }

    private func performLater() {
        let actions = later
        later = []
        for action in actions { action() }
    }

    private func allCells() -> [HandleCell] {
        var cells: [HandleCell] = []
        unsafe withUnsafeMutablePointer(to: &cells) { collected in
            unsafe uv_walk(
                memory,
                { handle, list in
                    guard let cell = unsafe HandleCell.cell(of: handle) else { return }
                    unsafe list?.assumingMemoryBound(to: [HandleCell].self).pointee.append(cell)
                }, collected)
        }
        return cells
    }

    private func free() {
        unsafe memory.deallocate()
        unsafe readBuffer.deallocate()
    }
}

extension HandleCell {
    fileprivate var kindName: String {
        guard let name = unsafe uv_handle_type_name(uv_handle_get_type(handle)) else { return "handle" }
        return unsafe String(cString: name)
    }
}
