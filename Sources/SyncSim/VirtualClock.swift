package import SyncModel

/// The clocks of one machine. True time is `World.now`; a machine sees it through drift, steps and freezes.
///
/// The wall clock may be anything. The monotonic one only drifts and never goes back; it begins anew at each boot.
package struct VirtualClock: Sendable {
    /// True time 0 on an honest wall clock (June 2025).
    package static let epochMilliseconds: Int64 = 1_750_000_000_000

    /// What the wall clock is ahead of true time, drift apart.
    package private(set) var offset: Int64
    package private(set) var driftPerMillion: Int
    /// Where the wall clock stands still; nil while it runs.
    package private(set) var frozenAt: Int64?
    /// Somebody has set it since the machine was started: what was stamped since then cannot be told by its times.
    package private(set) var wasSet = false
    private var booted: Int64
    private var monotonicBase: UInt64

    package init(offset: Int64 = 0, driftPerMillion: Int = 0) {
        self.offset = offset
        self.driftPerMillion = driftPerMillion
        booted = 0
        monotonicBase = 5_000
    }

    package func moment(at now: Int64) -> Moment {
        Moment(monotonicMilliseconds: monotonic(at: now), wallMilliseconds: wall(at: now))
    }

    package func wall(at now: Int64) -> Int64 {
        frozenAt ?? running(at: now)
    }

    package func monotonic(at now: Int64) -> UInt64 {
        let passed = max(0, now - booted)
        return monotonicBase + UInt64(passed + drift(over: passed))
    }

    /// The first true moment at which the monotonic clock shows at least `milliseconds`.
    package func moment(whenMonotonicIs milliseconds: UInt64, notBefore now: Int64) -> Int64 {
        let current = monotonic(at: now)
        guard milliseconds > current else { return now }
        let distance = Int64(min(milliseconds - current, 1 << 40))
        // A guess that is never too late, then the few steps that rounding may have cost.
        var guess = max(now + 1, now + distance * 1_000_000 / Int64(1_000_000 + driftPerMillion) - 2)
        while monotonic(at: guess) < milliseconds { guess += 1 }
        return guess
    }

    package mutating func step(by milliseconds: Int64) {
        wasSet = true
        offset += milliseconds
        if let frozen = frozenAt { frozenAt = frozen + milliseconds }
    }

    package mutating func freeze(at now: Int64) {
        frozenAt = frozenAt ?? running(at: now)
    }

    /// The wall clock goes on from where it stood: it stays behind by as long as it was frozen.
    package mutating func thaw(at now: Int64) {
        guard let frozen = frozenAt else { return }
        wasSet = true
        frozenAt = nil
        offset += frozen - running(at: now)
    }

    /// Somebody set the clock right and it keeps time from now on.
    package mutating func correct(at now: Int64) {
        let monotonic = monotonic(at: now)
        if wall(at: now) != VirtualClock.epochMilliseconds + now { wasSet = true }
        frozenAt = nil
        offset = 0
        driftPerMillion = 0
        booted = now
        monotonicBase = monotonic
    }

    package mutating func reboot(at now: Int64) {
        booted = now
        monotonicBase = 0
        wasSet = false
    }

    private func running(at now: Int64) -> Int64 {
        VirtualClock.epochMilliseconds + now + offset + drift(over: now)
    }

    private func drift(over milliseconds: Int64) -> Int64 {
        milliseconds * Int64(driftPerMillion) / 1_000_000
    }
}
