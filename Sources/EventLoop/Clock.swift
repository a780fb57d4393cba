internal import Glibc

/// The two clocks of the machine. The pure core reads neither: the shell reads them once a turn and hands the times in.
public enum Clock {
    /// Counts from the boot of the machine, through suspension too, and never steps: deadlines and leases live on it.
    public static func monotonicMilliseconds() -> UInt64 {
        UInt64(clamping: milliseconds(of: CLOCK_BOOTTIME))
    }

    /// Since 1970. People and time services set it, so it may step either way.
    public static func wallMilliseconds() -> Int64 {
        milliseconds(of: CLOCK_REALTIME)
    }

    /// The one systemd compares messages by: it stands still while the machine is suspended.
    static func serviceMicroseconds() -> Int64 {
        let now = time(of: CLOCK_MONOTONIC)
        return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000
    }

    private static func milliseconds(of clock: clockid_t) -> Int64 {
        let now = time(of: clock)
        return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
    }

    private static func time(of clock: clockid_t) -> timespec {
        var now = timespec()
        let answer = unsafe clock_gettime(clock, &now)
        precondition(answer == 0, "clock \(clock) exists on every Linux this program runs on")
        return now
    }
}
