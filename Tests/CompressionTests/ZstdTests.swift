import Compression
import Testing

@Suite("zstd") struct ZstdTests {
    @Test("text shrinks and comes back") func roundTrip() throws {
        let text = Array(String(repeating: "the same line again and again\n", count: 5_000).utf8)
        let packed = try #require(Zstd.compress(text))
        #expect(packed.count < text.count / 10)
        #expect(try Zstd.decompress(packed, limit: text.count) == text)
    }

    @Test("what does not shrink by a sixteenth is left as it is") func doesNotPay() {
        var state: UInt64 = 1
        let noise = (0..<100_000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        #expect(Zstd.compress(noise) == nil)
        for tiny in [[], [1], [1, 2, 3]] as [[UInt8]] { #expect(Zstd.compress(tiny) == nil) }
        // Half of it noise: clearly worth it.
        #expect(Zstd.compress(noise + [UInt8](repeating: 0, count: 100_000)) != nil)
    }

    @Test("a frame larger than the limit is refused by its size alone") func limit() throws {
        let zeroes = [UInt8](repeating: 0, count: 1 << 20)
        let bomb = try #require(Zstd.compress(zeroes))
        #expect(bomb.count < 200)
        #expect(try Zstd.decompress(bomb, limit: 1 << 20) == zeroes)
        #expect(throws: ZstdError.tooLarge(size: 1 << 20, limit: (1 << 20) - 1)) {
            try Zstd.decompress(bomb, limit: (1 << 20) - 1)
        }
    }

    @Test("a frame that claims 2^60 bytes costs nothing") func claims() {
        // Magic number, a header with an 8-byte size and no window, then nothing.
        let header: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0xE0] + [0, 0, 0, 0, 0, 0, 0, 0x10]
        #expect(throws: ZstdError.tooLarge(size: 1 << 60, limit: 4 << 20)) {
            try Zstd.decompress(header, limit: 4 << 20)
        }
    }

    @Test("frames without a size, two frames, and frames with a tail are refused") func notOneFrame() throws {
        let packed = try #require(Zstd.compress([UInt8](repeating: 7, count: 1_000)))
        for bad in [packed + packed, packed + [0], Array(packed.dropLast()), [], [1, 2, 3]] {
            #expect(throws: ZstdError.self) { try Zstd.decompress(bad, limit: 1 << 20) }
        }
        // One raw block "x", window in place of a size.
        let sizeless: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58, 0x09, 0x00, 0x00, 0x78]
        #expect(throws: ZstdError.self) { try Zstd.decompress(sizeless, limit: 1 << 20) }
        // A skippable frame is a frame of zero bytes to zstd; ours are never skippable.
        let skippable: [UInt8] = [0x50, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 1, 2]
        #expect((try? Zstd.decompress(skippable, limit: 10)) ?? [] == [])
    }

    @Test("any single damaged byte is refused or changes only content") func damage() throws {
        let text = Array(String(repeating: "abcdefgh-", count: 200).utf8)
        let packed = try #require(Zstd.compress(text))
        for index in packed.indices {
            for bit in 0..<8 {
                var bad = packed
                bad[index] ^= 1 << bit
                if let plain = try? Zstd.decompress(bad, limit: text.count) { #expect(plain.count <= text.count) }
            }
        }
    }

    @Test("every error says what is wrong") func wording() {
        #expect("\(ZstdError.tooLarge(size: 5, limit: 4))" == "zstd: 5 bytes of content, and at most 4 are allowed")
    }
}
