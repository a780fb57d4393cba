internal import CLibuv

/// One thing asked of a stream. libuv answers exactly once when it has taken the request, also while the stream is
/// being closed; until then the request keeps itself and its bytes alive. A request that was refused is never
/// answered.
@safe final class WriteRequest {
    private let request: UnsafeMutablePointer<uv_write_t>
    private let bytes: UnsafeMutableRawBufferPointer
    private let finished: (Int32) -> Void

    init(_ source: ArraySlice<UInt8>, finished: @escaping (Int32) -> Void) {
        unsafe request = .allocate(capacity: 1)
        unsafe bytes = .allocate(byteCount: source.count, alignment: 1)
        self.finished = finished
        unsafe bytes.copyBytes(from: source)
    }

    deinit {
        unsafe bytes.deallocate()
        unsafe request.deallocate()
    }

    /// 0, or why libuv refused it.
    func submit(to cell: HandleCell) -> Int32 {
        let reference = unsafe Unmanaged.passRetained(self)
        unsafe request.pointee.data = unsafe reference.toOpaque()
        var buffer = unsafe uv_buf_t(lending: UnsafeRawBufferPointer(bytes))
        let answer = unsafe uv_write(request, cell.stream, &buffer, 1) { request, status in
            guard let data = unsafe request?.pointee.data else { return }
            unsafe Unmanaged<WriteRequest>.fromOpaque(data).takeRetainedValue().finished(status)
        }
        if answer != 0 { unsafe reference.release() }
        return answer
    }
}

@safe final class ConnectRequest {
    private let request: UnsafeMutablePointer<uv_connect_t>
    private let finished: (Int32) -> Void

    init(finished: @escaping (Int32) -> Void) {
        unsafe request = .allocate(capacity: 1)
        self.finished = finished
    }

    deinit { unsafe request.deallocate() }

    func submit(to cell: HandleCell, address: SocketAddress) -> Int32 {
        let reference = unsafe retainForAnswer()
        let answer = unsafe address.withPointer { unsafe uv_tcp_connect(request, cell.tcp, $0, Self.answered) }
        if answer != 0 { unsafe reference.release() }
        return answer
    }

    /// libuv tells every failure of this call through the answer.
    func submit(to cell: HandleCell, path: [UInt8]) {
        _ = unsafe retainForAnswer()
        let name = path.map(CChar.init(bitPattern:)) + [0]
        unsafe uv_pipe_connect(request, cell.pipe, name, Self.answered)
    }

    private func retainForAnswer() -> Unmanaged<ConnectRequest> {
        let reference = unsafe Unmanaged.passRetained(self)
        unsafe request.pointee.data = unsafe reference.toOpaque()
        return unsafe reference
    }

    private static let answered: uv_connect_cb = { request, status in
        guard let data = unsafe request?.pointee.data else { return }
        unsafe Unmanaged<ConnectRequest>.fromOpaque(data).takeRetainedValue().finished(status)
    }
}

/// Half-closing a stream. Its answer is of no interest; only its memory must last until then.
@safe final class ShutdownRequest {
    private let request: UnsafeMutablePointer<uv_shutdown_t>

    init() { unsafe request = .allocate(capacity: 1) }

    deinit { unsafe request.deallocate() }

    func submit(to cell: HandleCell) -> Int32 {
        let reference = unsafe Unmanaged.passRetained(self)
        unsafe request.pointee.data = unsafe reference.toOpaque()
        let answer = unsafe uv_shutdown(request, cell.stream) { request, _ in
            guard let data = unsafe request?.pointee.data else { return }
            unsafe Unmanaged<ShutdownRequest>.fromOpaque(data).release()
        }
        if answer != 0 { unsafe reference.release() }
        return answer
    }
}

extension uv_buf_t {
    /// libuv declares the bytes of every buffer as writable; those of a write it only reads.
    init(lending bytes: UnsafeRawBufferPointer) {
        let start = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        unsafe self.init(base: start?.assumingMemoryBound(to: CChar.self), len: bytes.count)
    }
}
