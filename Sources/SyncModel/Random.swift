/// Chance that can be replayed: every draw in the core, the simulator and the tests comes from a seed handed in. The
/// algorithms are written out here, and nothing conforms to `RandomNumberGenerator`: the standard library's
/// `shuffled(using:)` or `random(in:using:)` may change with the toolchain, and a seed in a bug report must replay for
/// years.

/// The plain counter generator that turns one number into many unrelated ones: it seeds `SeededRandom` and fills
/// constant tables (see `Chunker`).
public struct SplitMix64: Sendable {
    @usableFromInline var state: UInt64

    @inlinable public init(seed: UInt64) {
        state = seed
    }

    @inlinable public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed &>> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed &>> 31)
    }
}

/// xoshiro256** seeded by SplitMix64. Same seed, same draws, on every machine and in every build.
public struct SeededRandom: Sendable {
    @usableFromInline var s0: UInt64
    @usableFromInline var s1: UInt64
    @usableFromInline var s2: UInt64
    @usableFromInline var s3: UInt64

    public init(seed: UInt64) {
        var filler = SplitMix64(seed: seed)
        s0 = filler.next()
        s1 = filler.next()
        s2 = filler.next()
        s3 = filler.next()
    }

    /// An independent stream of the same seed: one concern drawing more often does not move the draws of another.
    public init(seed: UInt64, stream: UInt64) {
        var ofStream = SplitMix64(seed: stream ^ 0x7379_6E63_6473_7472)
        self.init(seed: seed ^ ofStream.next())
    }

    /// The same, with the concern's name as the stream: `SeededRandom(seed: seed, stream: "network")`.
    public init(seed: UInt64, stream name: String) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        self.init(seed: seed, stream: hash)
    }

    @inlinable public mutating func next() -> UInt64 {
        let product = s1 &* 5
        let result = ((product &<< 7) | (product &>> 57)) &* 9
        let shifted = s1 &<< 17
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= shifted
        s3 = (s3 &<< 45) | (s3 &>> 19)
        return result
    }

    /// 0 ..< bound. The bias is below bound / 2^64, far under anything a run could notice.
    @inlinable public mutating func below(_ bound: Int) -> Int {
        precondition(bound > 0, "nothing is below \(bound): ask for a number below a positive bound")
        return Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    @inlinable public mutating func range(_ bounds: ClosedRange<Int>) -> Int {
        // Wrapping arithmetic on the bit patterns: a range wider than Int.max is fine too.
        let width = UInt64(bitPattern: Int64(bounds.upperBound)) &- UInt64(bitPattern: Int64(bounds.lowerBound)) &+ 1
        let offset = width == 0 ? next() : next().multipliedFullWidth(by: width).high
        return bounds.lowerBound &+ Int(truncatingIfNeeded: offset)
    }

    @inlinable public mutating func chance(percent: Int) -> Bool {
        below(100) < percent
    }

    @inlinable public mutating func chance(perMille: Int) -> Bool {
        below(1000) < perMille
    }

    /// One element, or nil when there is none. An empty collection costs no draw.
    @inlinable public mutating func pick<C: RandomAccessCollection>(_ choices: C) -> C.Element? {
        guard !choices.isEmpty else { return nil }
        return choices[choices.index(choices.startIndex, offsetBy: below(choices.count))]
    }

    public mutating func bytes(_ count: Int) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count)
        while result.count < count {
            var word = next()
            for _ in 0..<min(8, count - result.count) {
                result.append(UInt8(truncatingIfNeeded: word))
                word &>>= 8
            }
        }
        return result
    }

    /// Fisher–Yates from the end.
    @inlinable public mutating func shuffle<T>(_ array: inout [T]) {
        var last = array.count - 1
        while last > 0 {
            array.swapAt(last, below(last + 1))
            last -= 1
        }
    }
}
