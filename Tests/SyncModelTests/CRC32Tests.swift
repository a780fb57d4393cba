import SyncModel
import Testing

/// Against the published check value, and against the sum made bit by bit.
struct CRC32Tests {
    @Test("the published check value") func published() {
        #expect(CRC32.checksum(Array("123456789".utf8)[...]) == 0xCBF4_3926)
        #expect(CRC32.checksum([]) == 0)
    }

    @Test("any length, from any offset, in one piece or two") func pieces() {
        var random = SeededRandom(seed: 1)
        let bytes = (0..<80).map { _ in UInt8(random.below(256)) }
        for length in 0...64 {
            let start = length % 13
            let part = bytes[start..<start + length]
            let expected = bitByBit(part)
            #expect(CRC32.checksum(part) == expected)
            let middle = start + length / 3
            let first = CRC32.checksum(part[start..<middle])
            #expect(CRC32.checksum(part[middle...], after: first) == expected)
        }
    }

    private func bitByBit(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var value = UInt32.max
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
        }
        return ~value
    }
}
