import Glibc

/// When the program stops itself over a broken invariant of its own, the seed that did it must be known: a trap ends the
/// process, and with it all other seeds. Each thread keeps the seed it is running, and a signal handler says it. That seed
/// run alone ends in the toolchain's own backtrace.
enum Crash {
    /// Runs a seed whose trap, should it come, is announced.
    static func announcing<Result>(seed: UInt64, _ body: () -> Result) -> Result {
        // The value itself is the number, one more so that seed 0 is not "none". Nothing is pointed at.
        unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: seed &+ 1)))
        defer { pthread_setspecific(key, nil) }
        return body()
    }

    static func install() {
        for signal in [SIGILL, SIGTRAP, SIGSEGV, SIGABRT, SIGBUS] {
            var action = sigaction()
            unsafe action.__sigaction_handler.sa_handler = { signal in Crash.say(signal) }
            // Once only: when the handler returns, the trap strikes again and ends the process.
            action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
            unsafe sigaction(signal, &action, nil)
        }
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    /// Only calls that a signal handler may make: no memory is taken but on the stack.
    private static func say(_ signal: Int32) {
        guard let value = unsafe pthread_getspecific(key) else { return }
        var number = UInt64(UInt(bitPattern: value)) &- 1
        var digits = [24 of UInt8](repeating: 0x0A)
        var start = 23
        repeat {
            start -= 1
            digits[start] = UInt8(0x30 + number % 10)
            number /= 10
        } while number > 0
        let words: StaticString = "\nsyncsim: the program stopped itself in syncsim --seed "
        unsafe write(STDERR_FILENO, words.utf8Start, words.utf8CodeUnitCount)
        unsafe digits.span.withUnsafeBytes { bytes in
            unsafe _ = write(STDERR_FILENO, bytes.baseAddress?.advanced(by: start), 24 - start)
        }
    }
}
