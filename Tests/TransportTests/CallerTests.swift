import EventLoop
import Testing

@testable import Transport

@Suite("dialling again and again") struct CallerTests {
    @Test("a peer known by a name that no longer resolves is found where it was last met") func remembered() throws {
        try withLoop { loop in
            let listener = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) { $0.close() }
            let last = Endpoint.tcp(host: "127.0.0.1", port: listener.boundPort ?? 0)
            let name = Endpoint.tcp(host: "no-such-host.invalid", port: 7_420)
            var met: [Endpoint] = []
            let caller = Caller(
                loop: loop, endpoint: name, settings: quick,
                onStream: { stream, dialled in
                    stream.close()
                    met.append(dialled)
                }, onFailure: { _ in })
            caller.remember(last)
            caller.resume()
            loop.run { met.count == 1 }
            #expect(met == [last])
            caller.resume()
            loop.run { met.count == 2 }
            caller.forget(last)
            caller.resume()
            loop.run(forMilliseconds: 100)
            #expect(met.count == 2, "nobody is dialled at an address where somebody else was met")
            caller.close()
            listener.close()
        }
    }

    @Test("a peer known by its address needs no memory") func numeric() throws {
        try withLoop { loop in
            let target = Endpoint.tcp(host: "127.0.0.1", port: 1)
            var failures = 0
            let caller = Caller(
                loop: loop, endpoint: target, settings: quick,
                onStream: { stream, _ in stream.close() }, onFailure: { _ in failures += 1 })
            caller.remember(.tcp(host: "127.0.0.1", port: 2))
            caller.resume()
            caller.resume()
            loop.run { failures >= 5 }
            caller.pause()
            let told = failures
            loop.run(forMilliseconds: 60)
            #expect(failures == told, "nobody is dialled while paused")
            caller.close()
        }
    }

    @Test("a link by name connects, and comes back after a cut") func byName() throws {
        try withNodes(dialling: false) { loop, left, right in
            left.link?.setPeer(.tcp(host: "localhost", port: right.link?.boundPort ?? 0))
            loop.run { left.life != nil && right.life != nil }
            #expect(left.address == "\(right.endpoint)")
            if let life = right.life { right.link?.close(life: life) }
            loop.run { left.lives == 2 && left.life != nil && right.life != nil }
        }
    }

    private var quick: LinkSettings {
        var settings = LinkSettings(listen: nil, peer: nil)
        settings.reconnectFirstMilliseconds = 5
        settings.reconnectLastMilliseconds = 20
        return settings
    }
}
