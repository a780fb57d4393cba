/// The story of a run: a 64-bit hash over everything that happened, and the lines themselves when somebody will read them.
///
/// Two runs of a seed must give the same hash in any process, build and hash seed. Numbers are mixed in without making
/// text of them, so that a trace that nobody reads costs little.
package struct Trace: Sendable {
    package private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    package private(set) var lines: [String] = []
    package let isKept: Bool

    package init(isKept: Bool = false) {
        self.isKept = isKept
    }

    package mutating func mix(_ value: UInt64) {
        hash = (hash ^ value) &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash >> 29
    }

    package mutating func mix(_ value: Int) {
        mix(UInt64(bitPattern: Int64(value)))
    }

    package mutating func mix(_ bytes: [UInt8]) {
        var word: UInt64 = 0
        var filled = 0
        for byte in bytes {
            word = word << 8 | UInt64(byte)
            filled += 1
            if filled == 8 {
                mix(word)
                word = 0
                filled = 0
            }
        }
        mix(word)
        mix(UInt64(bytes.count))
    }

    /// A line for readers. Its text is not part of the hash; mix in what it is made of.
    package mutating func tell(_ line: @autoclosure () -> String) {
        if isKept { lines.append(line()) }
    }
}
