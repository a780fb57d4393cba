/// How the daemon reads: whole files to name them, pieces to serve them, its own stage to clear it.
import SyncCore
import SyncModel
import SyncSim
import Testing

@Suite("The virtual disk: reading") struct VirtualDiskReadingTests {
    private let small = ChunkerParameters(average: 16)

    @Test("a hash names what was there from the first look to the last") func hashing() throws {
        let bytes = SeededBytes.make(1_000)
        var disk = VirtualDisk.sketched("d/ l->target p|")
        disk.writeFile(at("f"), bytes, now: ms(2))
        let stat = try #require(disk.stat(at("f")))
        let chunks = ContentHasher.chunks(of: bytes, small)
        #expect(
            disk.hash(at("f"), chunking: small)
                == .content(.file(ContentID(chunks.contentID), size: 1_000), chunks, stat))
        #expect(
            disk.hash(at("l"), chunking: small)
                == .content(.symlink(utf8("target")), ChunkList(), try #require(disk.stat(at("l")))))
        #expect(
            disk.hash(at("d"), chunking: small)
                == .content(.directory, ChunkList(), try #require(disk.stat(at("d")))))
        #expect(disk.hash(at("none"), chunking: small) == .absent)
        #expect(disk.hash(at("f/x"), chunking: small) == .absent)
        #expect(disk.hash(at("p"), chunking: small) == .failed(.unsupported))
        #expect(disk.hash(at(".syncd/folder-id"), chunking: small) == .failed(.unsupported))
    }

    @Test("whatever happens to the file in the middle, the hash says so") func changing() {
        let changes: [(String, (inout VirtualDisk) -> Void)] = [
            ("write", { $0.writeFile(at("f"), utf8("BBBB"), now: ms(9)) }),
            ("truncate", { $0.writeFile(at("f"), [], now: ms(9)) }),
            ("chmod", { $0.chmod(at("f"), 0o600, now: ms(9)) }),
            ("rename", { $0.rename(at("f"), to: at("g"), now: ms(9)) }),
            ("replace", { $0.rename(at("other"), to: at("f"), now: ms(9)) }),
            ("unlink", { $0.unlink(at("f"), now: ms(9)) }),
        ]
        for (name, change) in changes {
            var disk = VirtualDisk.sketched("f=aaaa other=cccc")
            var run = HashRun(at("f"), chunking: small)
            run.start(on: &disk)
            change(&disk)
            #expect(run.finish(on: &disk) == .changing, "\(name)")
        }
    }

    @Test("on a coarse clock a torn read is possible, and it is torn") func torn() {
        var disk = VirtualDisk.sketched("")
        disk.faults.stampNanoseconds = 1_000_000_000
        disk.writeFile(at("f"), utf8("aaaa"), now: ms(5))
        var run = HashRun(at("f"), chunking: small)
        run.start(on: &disk)
        disk.writeFile(at("f"), utf8("bbbb"), now: ms(6))
        guard case .content(.file(let id, _), _, _) = run.finish(on: &disk) else {
            Issue.record("the stat should not have told of the write")
            return
        }
        #expect(id.digest == ContentHasher.chunks(of: utf8("aabb"), small).contentID)
    }

    @Test("pieces are read from the file that is expected, and from no other") func pieces() throws {
        var disk = VirtualDisk.sketched("d/ f=0123456789")
        let stat = try #require(disk.stat(at("f")))
        func read(_ offset: UInt64, _ length: Int, expecting expected: Stat?) -> ReadOutcome {
            disk.read(ReadRequest(place: .tree(at("f")), expected: expected, offset: offset, length: length))
        }
        #expect(read(2, 3, expecting: stat) == .bytes(utf8("234")))
        #expect(read(8, 9, expecting: stat) == .bytes(utf8("89")))
        #expect(read(10, 9, expecting: stat) == .bytes([]))
        #expect(read(.max, 9, expecting: nil) == .bytes([]))
        disk.chmod(at("f"), 0o600, now: ms(9))
        #expect(read(2, 3, expecting: stat) == .failed(.mismatch))
        #expect(read(2, 3, expecting: nil) == .bytes(utf8("234")))
        disk.unlink(at("f"), now: ms(9))
        #expect(read(2, 3, expecting: stat) == .failed(.notFound))
        #expect(
            disk.read(ReadRequest(place: .tree(at("d")), expected: nil, offset: 0, length: 1)) == .failed(.isDirectory))
        disk.stage(version1, "old")
        #expect(disk.read(ReadRequest(place: version1, expected: nil, offset: 1, length: 9)) == .bytes(utf8("ld")))
    }

    @Test("the stage lists what bears a stage name") func staged() {
        var disk = VirtualDisk.sketched("")
        let none = disk.stagedFiles()
        #expect(none.isEmpty)
        disk.stage(.stage(StageName(raw: 0xABC)), "x")
        disk.stage(stage1, "y")
        _ = disk.perform(.createDirectory(.stage(StageName(raw: .max)), mode: 0o700), now: ms(2))
        disk.writeFile(at(".syncd/stage/litter"), [1], now: ms(2))
        disk.writeFile(at(".syncd/stage/s00000000000000GG"), [1], now: ms(2))
        let listed = disk.stagedFiles()
        #expect(listed.map(\.name) == [StageName(raw: 1), StageName(raw: 0xABC), StageName(raw: .max)])
        #expect(listed.map(\.stat.kind) == [.file, .file, .directory])
    }
}

enum SeededBytes {
    static func make(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var random = SeededRandom(seed: seed)
        return random.bytes(count)
    }
}
