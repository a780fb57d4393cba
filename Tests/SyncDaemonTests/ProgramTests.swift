import CLibuv
import SyncModel
import Testing

@testable import EventLoop
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

    @Test("program.fault: a loop that cannot be closed is told of in the journal, with what libuv says")
    func loopIsHeld() throws {
        var said = ""
        let journal = Journal(level: .problems, hasPriorities: false) { said += $0 }
        let whole = try Loop()
        whole.end(telling: journal)
        #expect(said.isEmpty)

        // libuv ends its turns when it is told to, also those in which what is being closed would be let go.
        let loop = try Loop()
        let timer = Timer(loop: loop)
        timer.close()
        unsafe uv_stop(loop.memory)
        loop.end(telling: journal)
        #expect(said.contains("program.fault: close the event loop, which still holds: timer"))

        try loop.close()
    }
}
