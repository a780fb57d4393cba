import EventLoop
import Glibc
import Testing

@Suite("the loop") struct LoopTests {
    @Test("a loop without anything to wait for ends by itself") func emptyLoopEnds() throws {
        let loop = try Loop()
        var turns = 0
        loop.onTurn = {
            turns += 1
            return false
        }
        loop.run()
        #expect(turns == 1)
        try loop.close()
    }

    @Test("onTurn that left work is called again without waiting") func workLeft() throws {
        try withLoop { loop in
            let never = Timer(loop: loop)
            never.start(afterMilliseconds: 3_600_000) {}
            var turns = 0
            loop.onTurn = {
                turns += 1
                guard turns < 1_000 else {
                    never.close()
                    loop.stop()
                    return false
                }
                return true
            }
            loop.run()
        }
    }

    @Test("onTurn comes after the callbacks of the turn") func order() throws {
        try withLoop { loop in
            var happened: [String] = []
            let timer = Timer(loop: loop)
            timer.start(afterMilliseconds: 1) { happened.append("timer") }
            loop.onTurn = {
                if happened.last == "timer" {
                    happened.append("turn")
                    timer.close()
                    loop.stop()
                }
                return false
            }
            loop.run()
            #expect(happened == ["timer", "turn"])
        }
    }

    @Test("stop before run makes run return at once, and the loop can run again") func stopFirst() throws {
        let loop = try Loop()
        var turns = 0
        loop.onTurn = {
            turns += 1
            return false
        }
        loop.stop()
        loop.run()
        #expect(turns == 0)
        loop.run()
        #expect(turns == 1)
        try loop.close()
    }

    @Test("close ends what others left open, and its kinds are named before") func closesLeftovers() throws {
        let loop = try Loop()
        let timer = Timer(loop: loop)
        timer.start(afterMilliseconds: 0) { Issue.record("fired after the loop was closed") }
        let mailbox = try Mailbox<Int>(loop: loop) { _ in Issue.record("received after the loop was closed") }
        let pool = try WorkerPool(loop: loop, name: "test", threads: 2)
        pool.run({ 1 }, then: { _ in Issue.record("told after the loop was closed") })
        mailbox.post(1)
        #expect(loop.openHandles == ["poll", "poll", "timer"])
        try loop.close()
        mailbox.post(2)
        mailbox.close()
    }

    @Test("an action that was put off does not outlive the loop") func deferredWorkIsDropped() throws {
        weak var dropped: EventLoop.Stream?
        try withDirectory { path in
            let loop = try Loop()
            let listener = try Listener(loop: loop, endpoint: .unix(path: Array("\(path)/socket".utf8))) { stream in
                dropped = stream
                stream.write([1]) { _ in Issue.record("told after the loop was closed") }
                loop.stop()
            }
            _ = Dialer(loop: loop, endpoint: .unix(path: Array("\(path)/socket".utf8)), timeoutMilliseconds: 1_000) {
                if case .success(let stream) = $0 { stream.close() }
            }
            loop.run()
            listener.close()
            try loop.close()
        }
        #expect(dropped == nil)
    }

    @Test("the clocks run") func clocks() {
        let first = Clock.monotonicMilliseconds()
        #expect(first > 0)
        #expect(Clock.monotonicMilliseconds() >= first)
        #expect(Clock.wallMilliseconds() > 1_600_000_000_000)
    }

    @Test("an error names the operation, the cause in words and the symbol") func errorText() {
        let error = LoopError(operation: "connect to beta:7420", code: LoopError.connectionRefused)
        #expect(error.name == "ECONNREFUSED")
        #expect("\(error)" == "connect to beta:7420: connection refused (ECONNREFUSED)")
        #expect("\(LoopError(operation: "x", code: -9_999))".contains("9999"))
    }

    @Test("a call from another thread stops the program") func otherThread() async {
        await #expect(processExitsWith: .failure) {
            let loop = try Loop()
            nonisolated(unsafe) let elsewhere = loop
            var thread = pthread_t()
            unsafe withUnsafeTemporaryAllocation(of: Loop.self, capacity: 1) { place in
                unsafe place.initializeElement(at: 0, to: elsewhere)
                unsafe pthread_create(
                    &thread, nil,
                    { place in
                        unsafe place?.assumingMemoryBound(to: Loop.self).pointee.stop()
                        return nil
                    }, place.baseAddress)
                _ = pthread_join(thread, nil)
            }
            exit(0)
        }
    }

    @Test("a signal to the process arrives on the loop") func signals() throws {
        try withLoop { loop in
            var watch: SignalWatch?
            watch = try SignalWatch(loop: loop, signal: SIGUSR1) {
                watch?.close()
                loop.stop()
            }
            kill(getpid(), SIGUSR1)
            loop.run()
        }
    }

    @Test("a signal that cannot be watched is an error") func badSignal() throws {
        let loop = try Loop()
        #expect(throws: LoopError.self) { try SignalWatch(loop: loop, signal: SIGKILL) {} }
        try loop.close()
    }

    @Test("the machine's name is one that an endpoint can carry, or none") func machineName() throws {
        guard let name = Machine.name() else { return }
        #expect(try Endpoint.parse("\(name):7420") == .tcp(host: name, port: 7_420))
    }
}
