/// Somebody swaps a directory for a symlink to another place while programs run: nothing may happen in that other place
/// (INV-23, R-11).
import Glibc
import SyncModel
import SyncSim
import Testing

@testable import Disk

@Suite("no race leads out of the folder", .serialized)
struct SymlinkRaceTests {
    @Test("ten thousand attempts on a directory that is now and then a symlink to outside")
    func swapped() throws {
        let scratch = try Scratch(in: Scratch.fastDirectory)
        let outside = scratch.above + "/outside"
        for name in ["", "/sub"] { unsafe mkdir(outside + name, 0o755) }
        for name in ["precious", "f", "sub/precious", "sub/f"] {
            unsafe close(open("\(outside)/\(name)", O_CREAT | O_WRONLY | O_CLOEXEC, 0o644))
        }
        let before = [fingerprint(outside), fingerprint(outside + "/sub")]
        for name in ["d", "d/sub"] { try scratch.makeDirectory(name) }
        try scratch.symlink("link", to: outside)
        let isOver = Flag()
        let attacker = try Background {
            let (one, other) = (Place.tree(at("d")), Place.tree(at("link")))
            while !isOver.isSet { _ = scratch.folder.run([DiskProgram([.exchange(one, other)])]) }
        }
        var random = SeededRandom(seed: 1)
        var (reached, refused) = (0, 0)
        for number in 0..<10_000 {
            let stage = Place.stage(StageName(raw: UInt64(number)))
            let inside = Place.tree(at(["d/f", "d/sub/f", "d/precious", "d/sub/precious"][number % 4]))
            let result = scratch.folder.run([program(random.below(8), inside, stage)])[0]
            if result.failure == nil { reached += 1 }
            if result.failure?.error == .notDirectory { refused += 1 }
            _ = scratch.folder.hash([at("d/sub/f")], chunking: .standard)
        }
        isOver.set()
        attacker.join()
        #expect([fingerprint(outside), fingerprint(outside + "/sub")] == before)
        // Both states were met, or nothing was tried.
        #expect(reached > 100)
        #expect(refused > 100)
    }

    private func program(_ choice: Int, _ inside: Place, _ stage: Place) -> DiskProgram {
        switch choice {
        case 0: DiskProgram([.createFile(inside)])
        case 1: DiskProgram([.createFile(stage), .move(stage, to: inside)])
        case 2: DiskProgram([.createFile(stage), .exchange(stage, inside)])
        case 3: DiskProgram([.write(inside, offset: 0, bytes: [1]), .truncate(inside, size: 3)])
        case 4: DiskProgram([.setMode(inside, 0o600), .setModified(inside, .zero)])
        case 5: DiskProgram([.createDirectory(inside, mode: 0o700), .removeDirectory(inside)])
        case 6: DiskProgram([.move(inside, to: stage), .discard(stage)])
        default: DiskProgram([.createSymlink(inside, target: [0x78]), .syncParent(inside)])
        }
    }

    private func fingerprint(_ directory: String) -> [String] {
        Scratch.names(in: utf8(directory)).map { name in
            let status = Scratch.status(utf8(directory + "/") + name)
            let times = status.map {
                "\($0.st_ctim.tv_sec).\($0.st_ctim.tv_nsec) \($0.st_size) \($0.st_mode) \($0.st_ino)"
            }
            return "\(name) \(times ?? "")"
        }.sorted() + [Scratch.status(utf8(directory)).map { "\($0.st_ctim.tv_sec).\($0.st_ctim.tv_nsec)" } ?? ""]
    }
}
