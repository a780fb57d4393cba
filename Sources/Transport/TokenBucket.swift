/// Holds sending down to a rate: bytes may go while the bucket has some, and it fills with time.
struct TokenBucket {
    /// 0 for no limit.
    let bytesPerSecond: UInt64
    private var available: Double
    private var lastMilliseconds: UInt64

    /// A quarter of a second's worth, so that the rate is kept on the scale in which people watch it; never less than
    /// one TLS record, or a slow rate would be all overhead.
    private var capacity: Double { max(Double(bytesPerSecond) / 4, 16_384) }

    init(bytesPerSecond: UInt64, nowMilliseconds: UInt64) {
        self.bytesPerSecond = bytesPerSecond
        available = 0
        lastMilliseconds = nowMilliseconds
        available = capacity
    }

    /// How many bytes may go now.
    mutating func allowance(nowMilliseconds: UInt64) -> Int {
        guard bytesPerSecond > 0 else { return .max }
        let elapsed = nowMilliseconds - min(lastMilliseconds, nowMilliseconds)
        lastMilliseconds = nowMilliseconds
        available = min(capacity, available + Double(elapsed) * Double(bytesPerSecond) / 1_000)
        return max(0, Int(available))
    }

    mutating func spend(_ bytes: Int) {
        available -= Double(bytes)
    }

    /// How long until `bytes`, or as many as the bucket holds, may go.
    func waitMilliseconds(for bytes: Int) -> UInt64 {
        guard bytesPerSecond > 0 else { return 0 }
        let missing = min(Double(bytes), capacity) - available
        return missing <= 0 ? 0 : UInt64((missing * 1_000 / Double(bytesPerSecond)).rounded(.up))
    }
}
