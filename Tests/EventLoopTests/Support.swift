/// A loop for one test: bounded in time, and checked for leaks at its end.
import EventLoop
import Glibc
import Testing

/// `body` sets the scene and calls `run()`, which ends when somebody stops the loop. Whatever is still open after that
/// was forgotten by the test or by the code under test.
func withLoop(
    seconds: UInt64 = 20, sourceLocation: SourceLocation = #_sourceLocation, _ body: (Loop) throws -> Void
) throws {
    let loop = try Loop()
    let patience = Timer(loop: loop)
    patience.start(afterMilliseconds: seconds * 1_000) {
        Issue.record("nothing more happened for \(seconds) s", sourceLocation: sourceLocation)
        loop.stop()
    }
    var failure: (any Error)?
    do {
        try body(loop)
    } catch {
        failure = error
    }
    patience.close()
    if failure == nil { #expect(loop.openHandles == [], sourceLocation: sourceLocation) }
    try loop.close()
    if let failure { throw failure }
}

/// A directory of the test's own, removed with what is in it.
func withDirectory(_ body: (_ path: String) throws -> Void) throws {
    var template = Array("/tmp/syncd-test-XXXXXX".utf8CString)
    try #require(unsafe mkdtemp(&template) != nil)
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer {
        for name in ["socket", "file", "notify"] { unsafe unlink("\(path)/\(name)") }
        unsafe rmdir(path)
    }
    try body(path)
}

/// A listener and a dialler on one loop; `body` gets both ends of the connection.
func withConnection(
    _ endpoint: Endpoint = .tcp(host: "127.0.0.1", port: 0), mode: UInt16? = nil,
    _ body: @escaping (_ loop: Loop, _ near: EventLoop.Stream, _ far: EventLoop.Stream) -> Void
) throws {
    try withLoop { loop in
        var near: EventLoop.Stream?
        var far: EventLoop.Stream?
        var listener: Listener?
        func meet() {
            guard let near, let far else { return }
            listener?.close()
            body(loop, near, far)
        }
        let made = try Listener(loop: loop, endpoint: endpoint, mode: mode) {
            far = $0
            meet()
        }
        listener = made
        var target = endpoint
        if case .tcp(let host, _) = endpoint { target = .tcp(host: host, port: made.boundPort ?? 0) }
        _ = Dialer(loop: loop, endpoint: target, timeoutMilliseconds: 5_000) { result in
            guard case .success(let stream) = result else {
                Issue.record("\(result)")
                return loop.stop()
            }
            near = stream
            meet()
        }
        loop.run()
    }
}

/// Bytes in which a lost or doubled piece shows.
func pattern(_ count: Int) -> [UInt8] {
    let block = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + block.count)
    while bytes.count < count { bytes += block }
    return Array(bytes.prefix(count))
}
