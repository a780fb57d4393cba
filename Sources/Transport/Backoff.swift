internal import Crypto

/// How far apart attempts to connect begin.
///
/// While nobody answers they become rarer slowly: an outage is seen to be over after a fiftieth of its length, so a short one
/// costs nobody any time and a long one costs nothing. Who answers and is not taken is called with pauses twice as long each
/// time, because then both have work with it.
///
/// Measured from start to start, because an attempt that timed out has waited already. The jitter only shortens: two
/// nodes that lost each other at the same moment do not dial in step, and the limit is kept.
struct Backoff {
    private let firstMilliseconds: UInt64
    private let lastMilliseconds: UInt64
    /// In 1/50 of a millisecond, so that even a short pause grows.
    private var nextFiftieths: UInt64

    init(firstMilliseconds: UInt64, lastMilliseconds: UInt64) {
        self.firstMilliseconds = firstMilliseconds
        self.lastMilliseconds = max(firstMilliseconds, lastMilliseconds)
        nextFiftieths = firstMilliseconds * 50
    }

    mutating func reset() { nextFiftieths = firstMilliseconds * 50 }

    /// From the start of the last attempt to the start of the next, if nobody answers.
    mutating func next() -> UInt64 {
        let interval = nextFiftieths / 50
        grow(by: interval)
        let chance = UInt64(Secure.random(1).first ?? 0)
        return interval - interval * chance / (255 * 3)
    }

    /// Somebody answered, and nothing came of it.
    mutating func double() { grow(by: nextFiftieths) }

    private mutating func grow(by fiftieths: UInt64) {
        nextFiftieths = min(lastMilliseconds * 50, nextFiftieths + fiftieths)
    }
}
