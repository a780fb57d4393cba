/// What went over the link, for `status`: totals, and the rate over the last seconds.
struct Traffic {
    private(set) var bytesSent: UInt64 = 0
    private(set) var bytesReceived: UInt64 = 0
    /// Bytes of each of the last seconds, by monotonic second.
    private var seconds: [(second: UInt64, bytes: UInt64)] = []

    private static let windowSeconds: UInt64 = 5

    mutating func sent(_ count: Int, at monotonicMilliseconds: UInt64) {
        bytesSent += UInt64(count)
        note(UInt64(count), monotonicMilliseconds / 1_000)
    }

    mutating func received(_ count: Int, at monotonicMilliseconds: UInt64) {
        bytesReceived += UInt64(count)
        note(UInt64(count), monotonicMilliseconds / 1_000)
    }

    func bytesPerSecond(at monotonicMilliseconds: UInt64) -> Int {
        let now = monotonicMilliseconds / 1_000
        let recent = seconds.filter { $0.second + Traffic.windowSeconds > now }
        return Int(recent.reduce(0) { $0 + $1.bytes } / Traffic.windowSeconds)
    }

    private mutating func note(_ bytes: UInt64, _ second: UInt64) {
        if seconds.last?.second == second {
            seconds[seconds.count - 1].bytes += bytes
        } else {
            seconds.removeAll { $0.second + Traffic.windowSeconds <= second }
            seconds.append((second, bytes))
        }
    }
}
