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
        let rest = bytes.forEachWord { mix($0) }
        mix(rest)
        mix(UInt64(bytes.count))
    }

    /// A line for readers. Its text is not part of the hash; mix in what it is made of.
    package mutating func tell(_ line: @autoclosure () -> String) {
        if isKept { lines.append(line()) }
    }
}

extension [UInt8] {
    /// Each eight of them as one number, and, returned, what is left at the end.
    @inline(__always)
    func forEachWord(_ take: (UInt64) -> Void) -> UInt64 {
        let bytes = span
        var offset = 0
        while bytes.count &- offset >= 8 {
            // (Written out, so that it is one load.)
            let upper =
                UInt64(bytes[offset]) &<< 56 | UInt64(bytes[offset &+ 1]) &<< 48 | UInt64(bytes[offset &+ 2]) &<< 40
                | UInt64(bytes[offset &+ 3]) &<< 32
            let lower =
                UInt64(bytes[offset &+ 4]) &<< 24 | UInt64(bytes[offset &+ 5]) &<< 16
                | UInt64(bytes[offset &+ 6]) &<< 8 | UInt64(bytes[offset &+ 7])
            take(upper | lower)
            offset &+= 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest &<< 8 | UInt64(bytes[offset])
            offset &+= 1
        }
        return rest
    }
}
