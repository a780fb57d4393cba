/// Which of the 256 bytes a pattern takes at one place.
public struct ByteSet: Hashable, Sendable {
    private var words: SIMD4<UInt64> = [0, 0, 0, 0]

    public init() {}

    public init(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { insert(byte) }
    }

    public func contains(_ byte: UInt8) -> Bool {
        words[Int(byte >> 6)] & (1 << UInt64(byte & 63)) != 0
    }

    public mutating func insert(_ byte: UInt8) {
        words[Int(byte >> 6)] |= 1 << UInt64(byte & 63)
    }

    public mutating func insert(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { insert(byte) }
    }

    public mutating func formUnion(_ other: ByteSet) {
        words |= other.words
    }

    public mutating func invert() {
        words = ~words
    }

    public var inverted: ByteSet {
        var other = self
        other.invert()
        return other
    }
}
