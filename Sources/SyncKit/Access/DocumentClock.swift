/// The time that limits and pauses are measured by; tests bring one of their own.
public protocol DocumentClock: Sendable {
    /// Never goes back.
    var milliseconds: UInt64 { get }
    /// Returns at that time, or throws because the task was cancelled.
    func sleep(until milliseconds: UInt64) async throws
}

public func makeSystemClock() -> any DocumentClock { SystemClock() }

private struct SystemClock: DocumentClock {
    /// Set when it is first asked for.
    private static let start = ContinuousClock.now

    var milliseconds: UInt64 {
        // Before the time of now: who asked first would otherwise be told of a time before the start, and the process would end.
        let start = SystemClock.start
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return UInt64(seconds) * 1_000 + UInt64(attoseconds / 1_000_000_000_000_000)
    }

    func sleep(until milliseconds: UInt64) async throws {
        let now = self.milliseconds
        guard milliseconds > now else { return }
        try await Task.sleep(for: .milliseconds(milliseconds - now), tolerance: .zero, clock: .continuous)
    }
}
