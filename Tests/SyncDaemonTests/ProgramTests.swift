import SyncModel
import Testing

@testable import SyncDaemon

struct ProgramTests {
    @Test("a frame has one checksum, however it is made: any length, from any offset") func checksums() {
        var random = SeededRandom(seed: 1)
        let bytes = (0..<70_000).map { _ in UInt8(random.below(256)) }
        for length in [0, 1, 15, 16, 63, 64, 65, 79, 80, 127, 128, 1_000, 65_535, 65_536] + Array(100..<200) {
            let start = length % 19
            let part = bytes[start..<start + length]
            #expect(Program.checksum(of: part) == CRC32.checksum(part), "\(length) bytes from \(start)")
        }
    }
}
