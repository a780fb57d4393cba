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
            answer: { $0.refuse(ControlError(.controlPermission)) })
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

    @Test("who may only look has so many requests under way and no more, and each that is answered makes room")
    func crowded() throws {
        let path = Array("/tmp/syncd-test-\(getpid())-crowd".utf8)
        let loop = try Loop()
        var held: [Asker] = []
        let server = try ControlServer(
            loop: loop, path: path, rights: { _ in .read }, answer: { held.append($0) })
        var stream: EventLoop.Stream?
        var said: [UInt8] = []
        _ = Dialer(loop: loop, endpoint: .unix(path: path), timeoutMilliseconds: 5_000) { result in
            guard case .success(let made) = result else { return }
            stream = made
            made.onRead = { said += $0 }
            made.startReading()
        }
        try #require(loop.run { stream != nil })
        func ask(_ number: Int) {
            let request = ControlRequest.wait(for: .connected, timeoutMilliseconds: nil)
            stream?.write(ControlCall(id: .number(Int64(number)), request: request).bytes)
        }
        let most = ControlClient.requestsOfReaderMax
        for number in 1...(most + 1) { ask(number) }
        try #require(loop.run { held.count == most && !said.isEmpty })
        #expect(String(decoding: said, as: UTF8.self).contains("request.refused"))
        held.removeFirst().finish(DoneDocument())
        ask(most + 2)
        #expect(loop.run { held.count == most })
        #expect(held.last?.call.id == .number(Int64(most + 2)))
        // The end of the connection ends what waits, however much it is.
        var ended = 0
        for asker in held { asker.client.whenOver { ended += 1 } }
        stream?.close()
        #expect(loop.run { ended == most })
        held = []
        server.close()
        try loop.close()
    }
}
