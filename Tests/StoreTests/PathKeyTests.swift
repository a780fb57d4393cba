/// The keys of paths: their order and their ranges are those of `Path`.
import SyncModel
import Testing

@testable import Store

@Suite("The key of a path")
struct PathKeyTests {
    @Test("any two keys are in the order of their paths, and each leads back to its path", arguments: 0..<8)
    func order(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed), stream: "keys")
        let paths = (0..<400).compactMap { _ in random.drawPath() } + [.root]
        for left in paths {
            let key = PathKey.bytes(of: left)
            #expect(PathKey.path(of: key) == left)
            let right = random.pick(paths, or: .root)
            #expect((left < right) == key.lexicographicallyPrecedes(PathKey.bytes(of: right)))
        }
    }

    @Test("the range below a directory holds what is below it and nothing else", arguments: 0..<8)
    func below(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed), stream: "ranges")
        let longest = Path([UInt8](repeating: 0xFF, count: Limits.nameBytesMax))
        let paths = (0..<400).compactMap { _ in random.drawPath() } + [.root] + [longest].compactMap { $0 }
        for path in paths {
            let directory = random.pick(paths, or: .root)
            let (key, range) = (PathKey.bytes(of: path), PathKey.below(directory))
            let isIn = !key.lexicographicallyPrecedes(range.from) && key.lexicographicallyPrecedes(range.upTo)
            #expect(isIn == path.isBelow(directory), "\(path) below \(directory)")
        }
    }

    @Test("what no path is written as is refused") func refused() {
        for key in [[0], [0x61, 0], [0, 0x61], [0x61, 0, 0, 0x61], [0x61, 0x2F], [0x2E], [0x2E, 0x2E]] as [[UInt8]] {
            #expect(PathKey.path(of: key) == nil)
        }
    }
}

extension SeededRandom {
    /// Few different bytes, those next to the slash and the ends of the range among them, so that paths meet.
    fileprivate mutating func drawPath() -> Path? {
        let parts = (0...below(3)).map { _ in
            (0...below(3)).map { _ in pick([0x01, 0x2D, 0x30, 0x61, 0xFF] as [UInt8], or: 0x61) }
        }
        return Path(Array(parts.joined(separator: [0x2F])))
    }
}
