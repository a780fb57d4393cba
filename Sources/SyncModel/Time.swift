/// Time as the core sees it: handed in with each event, never read.

/// The moment of an event: a monotonic clock for pauses, a wall clock for names and for the logical clock.
public struct Moment: Hashable, Sendable {
    /// Since the machine was started.
    public let monotonicMilliseconds: UInt64
    public let wallMilliseconds: Int64

    public init(monotonicMilliseconds: UInt64, wallMilliseconds: Int64) {
        self.monotonicMilliseconds = monotonicMilliseconds
        self.wallMilliseconds = wallMilliseconds
    }

    /// When a wait is over. People may name any time; one beyond what can be counted never ends.
    public static func end(of milliseconds: UInt64, after start: UInt64) -> UInt64? {
        let (end, isNever) = start.addingReportingOverflow(milliseconds)
        return isNever ? nil : end
    }
}

/// A file time to the nanosecond, as `statx` gives it.
public struct Timestamp: Hashable, Comparable, Sendable {
    public let seconds: Int64
    public let nanoseconds: UInt32

    public static let zero = Timestamp(seconds: 0, nanoseconds: 0)

    public init(seconds: Int64, nanoseconds: UInt32) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    public init(milliseconds: Int64) {
        let seconds = milliseconds / 1_000 - (milliseconds % 1_000 < 0 ? 1 : 0)
        self.seconds = seconds
        nanoseconds = UInt32(truncatingIfNeeded: milliseconds &- seconds &* 1_000) &* 1_000_000
    }

    /// Milliseconds since 1970, held within what an `Int64` can say.
    public var milliseconds: Int64 {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carried) = product.addingReportingOverflow(Int64(nanoseconds / 1_000_000))
        return carried ? .max : sum
    }

    /// True if a file that was given `time` may show this instead: many file systems keep less than nanoseconds, some
    /// only every other second.
    public func mayStand(for time: Timestamp) -> Bool {
        if self == time { return true }
        if nanoseconds == 0 && seconds == time.seconds & ~1 { return true }
        let grains: [UInt32] = [100, 1_000, 1_000_000, 10_000_000, 1_000_000_000]
        return seconds == time.seconds && grains.contains { nanoseconds == time.nanoseconds / $0 * $0 }
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

/// A hybrid logical time: 48 bits of wall milliseconds, 16 bits of counter. Later causes come earlier in this order.
public struct HybridTime: Hashable, Comparable, Sendable {
    public let raw: UInt64

    public static let zero = HybridTime(raw: 0)
    public static let wallMillisecondsMax: UInt64 = (1 << 48) - 1

    public init(raw: UInt64) {
        self.raw = raw
    }

    /// A wall time before 1970 counts as 1970, one beyond 48 bits as the last there is.
    public init(wallMilliseconds: Int64, counter: UInt16 = 0) {
        let wall = wallMilliseconds <= 0 ? 0 : min(UInt64(wallMilliseconds), HybridTime.wallMillisecondsMax)
        raw = wall << 16 | UInt64(counter)
    }

    public var wallMilliseconds: UInt64 { raw >> 16 }

    /// The one right after it; the last there is has none.
    public var next: HybridTime { HybridTime(raw: raw == .max ? .max : raw + 1) }

    public static func < (left: HybridTime, right: HybridTime) -> Bool { left.raw < right.raw }
}

/// The node's logical clock: never behind anything it has stamped or seen.
public struct HybridClock: Hashable, Sendable {
    public private(set) var last: HybridTime

    /// How far ahead of our wall clock a peer's time may drag us, so that one broken clock cannot use up the 48 bits.
    public static let leadMillisecondsMax: UInt64 = 100 * 366 * 86_400_000

    public init(last: HybridTime = .zero) {
        self.last = last
    }

    /// The stamp for something that happens now.
    public mutating func tick(wallMilliseconds: Int64) -> HybridTime {
        let wall = HybridTime(wallMilliseconds: wallMilliseconds)
        last = wall > last ? wall : last.next
        return last
    }

    public mutating func witness(_ time: HybridTime) {
        if time > last { last = time }
    }
}
