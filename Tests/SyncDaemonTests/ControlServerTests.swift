import ControlProtocol
import EventLoop
import Glibc
import SyncModel
import Testing

@testable import SyncDaemon

@Suite("the control socket") struct ControlServerTests {
    @Test("people without a right are told so, hold little, and keep nobody out") func strangers() throws {
        let path = Array("/tmp/syncd-test-\(getpid())-control".utf8)
        let loop = try Loop()
        var right = ControlServer.Right.nothing
        let server = try ControlServer(
            loop: loop, path: path, rights: { _ in right },
            answer: { call, client in Asker(call: call, client: client).refuse(ControlError(.controlPermission)) })
        var streams: [EventLoop.Stream] = []
        var (said, ended) = ([UInt8](), 0)
        func connect() {
            _ = Dialer(loop: loop, endpoint: .unix(path: path), timeoutMilliseconds: 5_000) { result in
                guard case .success(let stream) = result else { return }
                streams.append(stream)
                stream.onRead = { said += $0 }
                stream.onEnd = { _ in ended += 1 }
                stream.startReading()
            }
        }
        // The seventeenth of them is one too many; who has a right gets in all the same.
        for _ in 0..<17 { connect() }
        try #require(loop.run { streams.count == 17 && ended == 1 })
        right = .read
        connect()
        try #require(loop.run { streams.count == 18 })
        streams[17].write(ControlCall(id: .number(1), request: .version).bytes)
        try #require(loop.run { !said.isEmpty } && ended == 1)
        // A line without an end is not waited for, and one question is the last.
        streams[1].write([UInt8](repeating: 0x20, count: 64 << 10))
        streams[2].write(ControlCall(id: .number(2), request: .version).bytes)
        #expect(loop.run { ended == 3 })
        for stream in streams { stream.close() }
        server.close()
        try loop.close()
    }
}
