import EventLoop
import Testing

@Suite("timers") struct TimerTests {
    @Test("a timer fires once, and never early") func once() throws {
        try withLoop { loop in
            let timer = Timer(loop: loop)
            let end = Timer(loop: loop)
            let start = Clock.monotonicMilliseconds()
            var fired = 0
            timer.start(afterMilliseconds: 20) {
                fired += 1
                #expect(Clock.monotonicMilliseconds() >= start + 20)
                #expect(!timer.isRunning)
            }
            #expect(timer.isRunning)
            end.start(afterMilliseconds: 60) {
                #expect(fired == 1)
                timer.close()
                end.close()
                loop.stop()
            }
            loop.run()
        }
    }

    @Test("starting again replaces time and action, also from inside the action") func restart() throws {
        try withLoop { loop in
            let timer = Timer(loop: loop)
            timer.start(afterMilliseconds: 5) { Issue.record("the replaced action ran") }
            timer.start(afterMilliseconds: 10) {
                timer.start(afterMilliseconds: 0) {
                    timer.close()
                    loop.stop()
                }
            }
            loop.run()
        }
    }

    @Test("a stopped timer does not fire, and a closed one cannot be started") func stopped() throws {
        try withLoop { loop in
            let stopped = Timer(loop: loop)
            stopped.start(afterMilliseconds: 0) { Issue.record("fired although stopped") }
            stopped.stop()
            let closed = Timer(loop: loop)
            closed.close()
            closed.close()
            closed.start(afterMilliseconds: 0) { Issue.record("fired although closed") }
            closed.stop()
            let end = Timer(loop: loop)
            end.start(afterMilliseconds: 10) {
                stopped.close()
                end.close()
                loop.stop()
            }
            loop.run()
        }
    }

    @Test("a delay beyond the range of the clock waits for ever instead of firing at once") func longDelay() throws {
        try withLoop { loop in
            let long = Timer(loop: loop)
            long.start(afterMilliseconds: .max) { Issue.record("fired at once") }
            let end = Timer(loop: loop)
            end.start(afterMilliseconds: 5) {
                long.close()
                end.close()
                loop.stop()
            }
            loop.run()
        }
    }

    @Test("a closed timer is freed with what its action held") func freed() throws {
        final class Held {}
        weak var held: Held?
        try withLoop { loop in
            let timer = Timer(loop: loop)
            let value = Held()
            held = value
            timer.start(afterMilliseconds: 1_000) { _ = value }
            timer.close()
        }
        #expect(held == nil)
    }
}
