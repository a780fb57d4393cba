internal import CLibuv

/// One connection, over TCP or a unix socket, made by `Listener` or `Dialer`.
///
/// Reading happens only on demand (`startReading`), so a reader that is full simply stops and the kernel holds the
/// sender back. Writing never blocks: what the kernel does not take at once waits here, and `pendingBytes` tells how
/// much.
public final class Stream {
    /// Bytes from the other side, in order, at most 64 KiB at a time.
    public var onRead: (([UInt8]) -> Void)?
    /// The stream is over: nil when the other side finished, or what went wrong while reading or writing. Called at
    /// most once, and never after `close()`. The stream stays open until `close()`, so that what is left can still be
    /// written.
    public var onEnd: ((LoopError?) -> Void)?
    /// Who is on the other side: `192.0.2.7:4711`, `[2001:db8::7]:4711`, or `unix`.
    public private(set) var peerAddress = "unix"

    let cell: HandleCell
    private let isTCP: Bool
    private var hasEnded = false
    /// Requests that libuv has not answered yet.
    private var writesUnderWay = 0

    init(loop: Loop, isTCP: Bool) throws(LoopError) {
        self.isTCP = isTCP
        cell = try HandleCell(isTCP ? UV_TCP : UV_NAMED_PIPE, in: loop, "make a socket") {
            unsafe isTCP ? uv_tcp_init(loop.memory, $0.tcp) : uv_pipe_init(loop.memory, $0.pipe, 0)
        }
        cell.onEvent = { [self] count in received(count) }
        cell.onClose = { [self] in
            onRead = nil
            onEnd = nil
        }
    }

    /// Once the socket is connected: answers leave at once instead of waiting to be bundled, and the peer gets its
    /// name.
    func connectionMade() {
        guard isTCP else { return }
        // Refused only for a connection that has just broken, which the first read will tell.
        unsafe uv_tcp_nodelay(cell.tcp, 1)
        peerAddress = unsafe SocketAddress { unsafe uv_tcp_getpeername(cell.tcp, $0, $1) }?.text ?? "unknown"
    }

    // MARK: Reading

    public func startReading() {
        cell.loop.assertOnThread()
        guard cell.isOpen, !hasEnded else { return }
        let answer = unsafe uv_read_start(
            cell.stream,
            { handle, _, buffer in
                guard let loop = unsafe HandleCell.cell(of: handle)?.loop else { return }
                unsafe buffer?.pointee = uv_buf_t(
                    base: loop.readBuffer.baseAddress?.assumingMemoryBound(to: CChar.self), len: loop.readBuffer.count)
            },
            { handle, count, _ in unsafe HandleCell.deliver(count, to: handle) })
        // Asking twice is no error of the connection.
        guard answer != 0, answer != UV_EALREADY.rawValue else { return }
        endLater(LoopError(operation: "read from \(peerAddress)", code: answer))
    }

    public func stopReading() {
        cell.loop.assertOnThread()
        guard cell.isOpen else { return }
        unsafe uv_read_stop(cell.stream)
    }

    private func received(_ count: Int) {
        switch count {
        case 0: break  // Nothing to read after all; not the end.
        case 1...:
            guard let onRead else { return }
            onRead(unsafe [UInt8](UnsafeRawBufferPointer(rebasing: cell.loop.readBuffer[..<count])))
        case Int(UV_EOF.rawValue): end(nil)
        default: end(LoopError(operation: "read from \(peerAddress)", code: Int32(truncatingIfNeeded: count)))
        }
    }

    // MARK: Writing

    /// `then` is called when the kernel has taken all of the bytes, or with the reason why it will not. Writes are
    /// told in the order in which they were asked for.
    public func write(_ bytes: [UInt8], then: ((LoopError?) -> Void)? = nil) {
        cell.loop.assertOnThread()
        guard cell.isOpen else { return }
        // Neither bytes nor their completions may overtake one another.
        guard writesUnderWay == 0 else { return submit(bytes[...], then) }
        let taken = writeAtOnce(bytes)
        guard taken == bytes.count else { return submit(bytes[taken...], then) }
        guard then != nil else { return }
        writesUnderWay += 1
        cell.loop.doLater { [self] in finishWrite(nil, then) }
    }

    /// Most writes fit into the kernel's buffer; those need neither a copy nor a request.
    private func writeAtOnce(_ bytes: [UInt8]) -> Int {
        let taken = unsafe bytes.withUnsafeBytes { bytes in
            var buffer = unsafe uv_buf_t(lending: bytes)
            return unsafe uv_try_write(cell.stream, &buffer, 1)
        }
        // An error is not looked at: the request that follows meets it too, and has a way to tell it.
        return max(0, Int(taken))
    }

    private func submit(_ bytes: ArraySlice<UInt8>, _ then: ((LoopError?) -> Void)?) {
        let request = WriteRequest(bytes) { [self] answer in
            finishWrite(answer == 0 ? nil : LoopError(operation: "write to \(peerAddress)", code: answer), then)
        }
        writesUnderWay += 1
        let answer = request.submit(to: cell)
        guard answer != 0 else { return }
        let error = LoopError(operation: "write to \(peerAddress)", code: answer)
        cell.loop.doLater { [self] in finishWrite(error, then) }
    }

    private func finishWrite(_ error: LoopError?, _ then: ((LoopError?) -> Void)?) {
        writesUnderWay -= 1
        guard cell.isOpen else { return }
        then?(error)
        if let error { end(error) }
    }

    /// Bytes written and not yet taken by the kernel.
    public var pendingBytes: Int {
        cell.loop.assertOnThread()
        return cell.isOpen ? unsafe uv_stream_get_write_queue_size(cell.stream) : 0
    }

    /// Tells the other side, after everything pending, that nothing more will come. Reading goes on.
    public func finishWriting() {
        cell.loop.assertOnThread()
        guard cell.isOpen else { return }
        // A refusal means that the connection is already broken, which reading and writing tell.
        _ = ShutdownRequest().submit(to: cell)
    }

    // MARK: The end

    /// At once, with what is pending. Nothing is called back any more.
    public func close() { cell.close() }

    private func endLater(_ error: LoopError) {
        cell.loop.doLater { [self] in end(error) }
    }

    private func end(_ error: LoopError?) {
        guard cell.isOpen, !hasEnded else { return }
        hasEnded = true
        unsafe uv_read_stop(cell.stream)
        onEnd?(error)
    }
}
