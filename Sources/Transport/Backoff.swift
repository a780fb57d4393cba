internal import Crypto

/// How far apart attempts to connect begin: twice as far each time, up to a limit.
///
/// Measured from start to start, because an attempt that timed out has waited already. The jitter only shortens: two
/// nodes that lost each other at the same moment do not dial in step, and the limit is kept.
struct Backoff {
    private let firstMilliseconds: UInt64
    private let lastMilliseconds: UInt64
    private var nextMilliseconds: UInt64

    init(firstMilliseconds: UInt64, lastMilliseconds: UInt64) {
        self.firstMilliseconds = firstMilliseconds
        self.lastMilliseconds = max(firstMilliseconds, lastMilliseconds)
        nextMilliseconds = firstMilliseconds
    }

    mutating func reset() { nextMilliseconds = firstMilliseconds }

    /// From the start of the last attempt to the start of the next.
    mutating func next() -> UInt64 {
        let interval = nextMilliseconds
        nextMilliseconds = min(lastMilliseconds, interval * 2)
        let chance = UInt64(Secure.random(1).first ?? 0)
        return interval - interval * chance / (255 * 3)
    }
}
