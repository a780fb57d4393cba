import Crypto
import EventLoop
import Testing
import Transport

@Suite("the link") struct LinkTests {
    @Test("two paired nodes connect, and frames of every size go both ways unchanged") func frames() throws {
        try withNodes { loop, left, right in
            loop.run { left.life != nil && right.life != nil }
            let sizes = [0, 1, 255, 256, 4_095, 65_536, 100_000, (1 << 20) + 4]
            let plain = sizes.map { [UInt8](repeating: 7, count: $0) }
            let mixed = plain + sizes.map { noise($0, seed: UInt64($0)) }
            for frame in mixed { left.send(frame) }
            for frame in mixed.reversed() { right.send(frame) }
            let total = mixed.reduce(0) { $0 + $1.count }
            loop.run {
                left.sentBytes == total && right.sentBytes == total && left.frames.count + right.frames.count == 32
            }
            #expect(right.frames == mixed)
            #expect(left.frames == mixed.reversed())
            #expect(left.lives == 1 && right.lives == 1)
        }
    }

    @Test("compressible frames cost less on the wire than they are long") func compression() throws {
        try withNodes(dialling: false) { loop, left, right in
            let proxy = try Proxy(loop, to: right.endpoint)
            defer { proxy.close() }
            left.link?.setPeer(proxy.endpoint)
            loop.run { left.life != nil && right.life != nil }
            for _ in 0..<8 { left.send(Array(String(repeating: "a line of text\n", count: 20_000).utf8)) }
            loop.run { right.frames.count == 8 }
            #expect(proxy.bytes < 100_000)
            #expect(left.sentBytes == 8 * 300_000, "counted as the core counts them")
        }
    }

    @Test("a large volume arrives whole while memory stays bounded by the reader") func volume() throws {
        try withNodes { loop, left, right in
            loop.run { left.life != nil && right.life != nil }
            let frame = noise(256 << 10)
            let count = 160
            var given = 0
            // What a core does: keep 2 MiB under way.
            func feed() {
                while given < count, given * frame.count - left.sentBytes < 2 << 20 {
                    left.send(frame)
                    given += 1
                }
            }
            left.onEvent = { if case .sent = $0 { feed() } }
            feed()
            loop.run { right.frames.count == count }
            #expect(right.frames.allSatisfy { $0 == frame })
        }
    }

    @Test("a reader that pauses gets nothing more, holds the sender back, and misses nothing") func backPressure()
        throws
    {
        try withNodes { loop, left, right in
            loop.run { left.life != nil && right.life != nil }
            right.onEvent = { event in
                if case .frame(let life, _) = event, right.frames.count == 3 { right.link?.pauseReading(life: life) }
            }
            let frame = noise(512 << 10)
            for _ in 0..<48 { left.send(frame) }
            loop.run { right.frames.count == 3 }
            // Longer than it takes to count a silent peer as dead: neither side may think so.
            loop.run(forMilliseconds: 900)
            #expect(right.frames.count == 3)
            #expect(left.sentBytes < 47 * frame.count, "the kernel's buffers do not hold it all")
            #expect(left.lives == 1 && right.lives == 1 && left.life != nil && right.life != nil)
            right.onEvent = nil
            if let life = right.life { right.link?.resumeReading(life: life) }
            loop.run { right.frames.count == 48 }
            #expect(right.frames.allSatisfy { $0 == frame })
            #expect(left.lives == 1 && right.lives == 1)
        }
    }

    @Test("closing a life is told on both sides, and the nodes meet again") func closing() throws {
        try withNodes { loop, left, right in
            loop.run { left.life != nil && right.life != nil }
            let first = try #require(left.life)
            left.send([1, 2, 3])
            left.link?.close(life: first)
            left.link?.close(life: first)
            #expect(left.life == first, "told in a later turn")
            loop.run { left.lives == 2 && right.lives == 2 && left.life != nil && right.life != nil }
            #expect(left.ends == [.closedHere])
            #expect(right.ends == [.closedByPeer])
            left.link?.send(life: first, frame: [9])
            left.send([4])
            loop.run { right.frames.last == [4] }
            #expect(!right.frames.contains([9]), "a frame for a life that is over goes nowhere")
        }
    }

    @Test("a cut connection is told, and the nodes meet again") func cut() throws {
        try withNodes(dialling: false) { loop, left, right in
            let proxy = try Proxy(loop, to: right.endpoint)
            defer { proxy.close() }
            left.link?.setPeer(proxy.endpoint)
            loop.run { left.life != nil && right.life != nil }
            for _ in 0..<3 {
                let lives = left.lives
                proxy.cut()
                loop.run { left.lives > lives && left.life != nil && right.life != nil }
            }
            #expect(left.ends.count == 3)
            for end in left.ends + right.ends {
                switch end {
                case .cut, .failed, .replaced: break
                default: Issue.record("ended with: \(end)")
                }
            }
        }
    }

    @Test("a peer that falls silent is noticed in time, and so is its return") func halfOpen() throws {
        try withNodes(dialling: false) { loop, left, right in
            let proxy = try Proxy(loop, to: right.endpoint)
            defer { proxy.close() }
            left.link?.setPeer(proxy.endpoint)
            loop.run { left.life != nil && right.life != nil }
            loop.run(forMilliseconds: 600)
            #expect(left.lives == 1 && right.lives == 1, "an idle link stays")
            proxy.mode = .swallowing
            let awake = Awake(loop)
            loop.run { left.life == nil && right.life == nil }
            awake.close()
            #expect(Clock.monotonicMilliseconds() >= proxy.passedMilliseconds + 400, "neither gives up too early")
            #expect(awake.ticksInARow < 70)
            guard case .silent = left.ends.first, case .silent = right.ends.first else {
                Issue.record("ended with: \(left.ends) \(right.ends)")
                return
            }
            proxy.mode = .passing
            proxy.cut()
            loop.run { left.life != nil && right.life != nil }
        }
    }

    @Test("a loop that stood still does not take its peer for dead") func standstill() throws {
        try withNodes { loop, left, right in
            loop.run { left.life != nil && right.life != nil }
            // Both nodes live on this loop: it sleeps longer than both wait for one another.
            let end = Clock.monotonicMilliseconds() + 1_600
            while Clock.monotonicMilliseconds() < end {}
            loop.run(forMilliseconds: 200)
            #expect(left.lives == 1 && right.lives == 1 && left.life != nil && right.life != nil)
        }
    }

    @Test("an idle link says little") func idle() throws {
        try withNodes(
            adjust: {
                $0.keepAliveMilliseconds = 100
                $0.deadMilliseconds = 1_000
            }, dialling: false
        ) { loop, left, right in
            let proxy = try Proxy(loop, to: right.endpoint)
            defer { proxy.close() }
            left.link?.setPeer(proxy.endpoint)
            loop.run { left.life != nil && right.life != nil }
            let (before, begun) = (proxy.bytes, Clock.monotonicMilliseconds())
            let awake = Awake(loop)
            loop.run { awake.ticks >= 100 }
            awake.close()
            // One keep-alive and one answer, 27 bytes each, about every 100 ms.
            let rounds = Int(Clock.monotonicMilliseconds() - begun) / 100
            #expect(proxy.bytes - before > 5 * 54)
            #expect(proxy.bytes - before < (rounds * 2 + 5) * 54)
        }
    }

    @Test("the rate limit is kept, and a keep-alive gets through beside it") func rateLimit() throws {
        try withNodes(adjust: { $0.rateLimitBytesPerSecond = 400_000 }) { loop, left, right in
            loop.run { left.life != nil && right.life != nil }
            let frame = noise(100_000)
            let start = Clock.monotonicMilliseconds()
            let limited = Awake(loop)
            for _ in 0..<8 { left.send(frame) }
            loop.run { right.frames.count == 8 }
            limited.close()
            // 800,000 bytes, of which a quarter of a second's worth may go at once.
            #expect(Clock.monotonicMilliseconds() - start > 1_600)
            #expect(limited.ticks < 350)
            #expect(left.lives == 1 && right.lives == 1)
            left.link?.setRateLimit(bytesPerSecond: 0)
            let unlimited = Awake(loop)
            for _ in 0..<8 { left.send(frame) }
            loop.run { right.frames.count == 16 }
            unlimited.close()
            #expect(unlimited.ticks < 100)
        }
    }

    @Test("more than may wait ends the life instead of the memory") func overflow() throws {
        try withNodes(adjust: { $0.outboundBytesMax = 8 << 20 }) { loop, left, right in
            loop.run { left.life != nil && right.life != nil }
            if let life = right.life { right.link?.pauseReading(life: life) }
            for _ in 0..<40 { left.send(noise(1 << 20)) }
            loop.run { left.ends.count == 1 }
            #expect(left.ends == [.overflow])
        }
    }

    @Test("after shutDown nothing is told and nothing is left") func shutDown() throws {
        try withNodes { loop, left, right in
            loop.run { left.life != nil && right.life != nil }
            for _ in 0..<4 { left.send(noise(1 << 20)) }
            left.link?.shutDown()
            left.link?.shutDown()
            let events = left.events.count
            loop.run { right.life == nil }
            #expect(left.events.count == events)
            if let life = left.life { left.link?.send(life: life, frame: [1]) }
            left.link?.setPin([1])
            left.link?.setPeer(nil)
            loop.run(forMilliseconds: 30)
            #expect(left.events.count == events)
        }
    }

    @Test("nobody at the peer's address is told once, with the reason, until it changes") func unreachable() throws {
        try withNodes(dialling: false) { loop, left, right in
            let target = right.endpoint
            right.link?.shutDown()
            let begun = Clock.monotonicMilliseconds()
            left.link?.setPeer(target)
            loop.run { !left.events.isEmpty }
            loop.run(forMilliseconds: 300)
            #expect(left.events.count == 1)
            guard case .unreachable(let reason, let since) = left.events.first else {
                Issue.record("\(left.events)")
                return
            }
            #expect(reason.code == LoopError.connectionRefused)
            #expect(reason.operation == "connect to \(target)")
            #expect(since >= begun && since <= Clock.monotonicMilliseconds())
        }
    }

    @Test("a new pin ends the life and lets nobody else in") func newPin() throws {
        try withNodes { loop, left, right in
            loop.run { left.life != nil && right.life != nil }
            right.link?.setPin(try IdentityKey.generate().fingerprint)
            loop.run { right.ends.count == 1 && !left.rejections.isEmpty }
            #expect(right.ends == [.unpaired])
            #expect(left.rejections == [.ourKeyRefused])
            #expect(right.rejections == [.wrongKey(fingerprint: left.key.fingerprint)])
            right.link?.setPin(left.key.fingerprint)
            #expect(right.link?.heardMilliseconds == nil, "what was heard of another is nothing of this one")
            loop.run { left.life != nil && right.life != nil }
        }
    }

    @Test("a frame that follows the first words at once is not lost") func firstWords() throws {
        try withNodes { loop, left, right in
            right.onEvent = { if case .connected = $0 { right.send([1, 2, 3]) } }
            left.onEvent = { if case .connected = $0 { left.send([4, 5, 6]) } }
            loop.run { left.frames == [[1, 2, 3]] && right.frames == [[4, 5, 6]] }
        }
    }

    @Test(
        "whatever is told may be answered at once, by closing, by changing the peer or by shutting down",
        arguments: 0..<12)
    func answeredAtOnce(number: Int) throws {
        try withNodes(dialling: false) { loop, left, right in
            var isAnswered = false
            left.onEvent = { event in
                guard !isAnswered, Self.kind(of: event) == number / 3 else { return }
                isAnswered = true
                switch number % 3 {
                case 0: left.link?.shutDown()
                case 1: left.link?.setPin(nil)
                default: if let life = left.life { left.link?.close(life: life) }
                }
            }
            right.onEvent = { if case .connected(let life, _) = $0, right.lives == 2 { right.link?.close(life: life) } }
            left.link?.setPeer(right.endpoint)
            loop.run { left.life != nil || isAnswered }
            left.send(noise(300_000))
            right.send(noise(300_000))
            loop.run { left.frames.count == 1 || isAnswered }
            if let life = right.life { right.link?.close(life: life) }
            loop.run { isAnswered }
            let events = left.events.count
            loop.run(forMilliseconds: 40)
            if number % 3 == 0 { #expect(left.events.count == events) }
        }
    }

    private static func kind(of event: LinkEvent) -> Int? {
        switch event {
        case .connected: 0
        case .frame: 1
        case .sent: 2
        case .disconnected: 3
        case .rejected, .unreachable: nil
        }
    }
}
