/// How the tests of what lives on a loop wait for it.
import EventLoop

extension Loop {
    /// False if it does not come to that within twenty seconds.
    func run(until holds: @escaping () -> Bool) -> Bool {
        let limit = Timer(loop: self)
        limit.start(afterMilliseconds: 20_000) { self.stop() }
        let look = Timer(loop: self)
        func lookAgain() {
            look.start(afterMilliseconds: 5) { if holds() { self.stop() } else { lookAgain() } }
        }
        lookAgain()
        run()
        limit.close()
        look.close()
        return holds()
    }
}
