internal import CLibuv

/// The one place that knows how a libuv handle lives and dies, and the only one that casts its pointers.
///
/// libuv links the address of a handle into its queues, so the handle has heap memory of its own, never a stored
/// property. From a successful initialisation until libuv's close callback the handle's `data` retains this cell, and
/// the cell's closures retain the owner: an owner may be dropped at any time without leaving libuv a dangling pointer.
/// `open → closing → closed` runs one way; nothing is delivered unless `open`.
@safe final class HandleCell {
    let loop: Loop
    private let memory: UnsafeMutableRawPointer
    private var phase = Phase.closed
    /// What happened on the handle, as libuv's number for it: a status, a signal or a count of bytes read.
    var onEvent: ((Int) -> Void)?
    /// The owner's own clearing up. Runs once, when closing begins, whoever asked for it.
    var onClose: (() -> Void)?

    /// A descriptor of ours that libuv polls: it stays open as long as libuv knows it.
    var polled: WakeCounter?

    private enum Phase { case open, closing, closed }

    /// `prepare` is the `uv_…_init` of the kind, which writes into the memory it is given.
    init(
        _ kind: uv_handle_type, in loop: Loop, _ operation: String, prepare: (HandleCell) -> Int32
    ) throws(LoopError) {
        loop.assertOnThread()
        self.loop = loop
        unsafe memory = .allocate(byteCount: uv_handle_size(kind), alignment: 16)
        let answer = prepare(self)
        guard answer >= 0 else {
            unsafe memory.deallocate()
            throw LoopError(operation: operation, code: answer)
        }
        phase = .open
        // The loop owns the cell from here to `handleClosed`, which takes this reference back.
        unsafe uv_handle_set_data(handle, Unmanaged.passRetained(self).toOpaque())
    }

    deinit {
        precondition(phase == .closed, "a libuv handle was dropped before its close callback")
    }

    var isOpen: Bool { phase == .open }

    /// Stops deliveries now and frees the handle in a later turn. May be called again.
    func close() {
        loop.assertOnThread()
        guard phase == .open else { return }
        phase = .closing
        let clearUp = onClose
        onEvent = nil
        onClose = nil
        clearUp?()
        unsafe uv_close(handle) { handle in unsafe HandleCell.handleClosed(handle) }
    }

    // Called by libuv. Each takes the address libuv knows and finds the cell behind it.

    static func deliver(_ value: Int, to handle: UnsafeMutableRawPointer?) {
        guard let cell = unsafe cell(of: handle), cell.isOpen else { return }
        cell.onEvent?(value)
    }

    static func cell(of handle: UnsafeMutableRawPointer?) -> HandleCell? {
        guard let handle = unsafe handle?.assumingMemoryBound(to: uv_handle_t.self),
            let data = unsafe uv_handle_get_data(handle)
        else { return nil }
        return unsafe Unmanaged<HandleCell>.fromOpaque(data).takeUnretainedValue()
    }

    private static func handleClosed(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
        guard let handle = unsafe handle, let data = unsafe uv_handle_get_data(handle) else { return }
        let cell = unsafe Unmanaged<HandleCell>.fromOpaque(data).takeRetainedValue()
        cell.phase = .closed
        unsafe cell.memory.deallocate()
    }

    // libuv's structs begin with the fields of the more general one, so a pointer to one is a pointer to the other.
    // The memory has the size libuv wants for the kind; Swift never reads it.

    var handle: UnsafeMutablePointer<uv_handle_t> { unsafe memory.assumingMemoryBound(to: uv_handle_t.self) }
    var stream: UnsafeMutablePointer<uv_stream_t> { unsafe memory.assumingMemoryBound(to: uv_stream_t.self) }
    var tcp: UnsafeMutablePointer<uv_tcp_t> { unsafe memory.assumingMemoryBound(to: uv_tcp_t.self) }
    var pipe: UnsafeMutablePointer<uv_pipe_t> { unsafe memory.assumingMemoryBound(to: uv_pipe_t.self) }
    var timer: UnsafeMutablePointer<uv_timer_t> { unsafe memory.assumingMemoryBound(to: uv_timer_t.self) }
    var poll: UnsafeMutablePointer<uv_poll_t> { unsafe memory.assumingMemoryBound(to: uv_poll_t.self) }
    var signal: UnsafeMutablePointer<uv_signal_t> { unsafe memory.assumingMemoryBound(to: uv_signal_t.self) }
}
