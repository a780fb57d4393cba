/// What the real disk adds to the meaning of a program: hostile names and targets, links and mounts in the way, full
/// disks, permissions, and the files that stay open until they are synced. What both disks share is in
/// `AgainstSimulatorTests`.
import Glibc
import SyncModel
import Testing

@testable import Disk

let stage = StageName(raw: 0xAB)
let staged = Place.stage(stage)

extension Folder {
    func run(_ operations: DiskOperation...) -> DiskResult { run([DiskProgram(operations)])[0] }

    func error(_ operations: DiskOperation...) -> DiskError? {
        run([DiskProgram(operations)])[0].failure?.error
    }
}

@Suite("programs on a real disk")
struct ProgramTests {
    @Test("a file is staged, finished and put in its place") func wholeWay() throws {
        let scratch = try Scratch()
        let bytes = [UInt8](repeating: 7, count: 300_000)
        let time = Timestamp(seconds: 1_700_000_000, nanoseconds: 123_456_789)
        let place = Place.tree(at("d/file"))
        let result = scratch.folder.run([
            DiskProgram([.createDirectory(.tree(at("d")), mode: 0o750)]),
            DiskProgram([
                .createFile(staged), .write(staged, offset: 0, bytes: bytes), .setMode(staged, 0o640),
                .setModified(staged, time), .syncFile(staged), .inspect(staged), .move(staged, to: place),
                .syncParent(place), .inspect(place),
            ]),
        ])
        #expect(result[0].failure == nil)
        #expect(result[1].failure == nil)
        let seen = result[1].inspected.compactMap(\.self)
        try #require(seen.count == 2)
        #expect(seen[1].isSameContent(as: seen[0]))
        #expect(seen[1].size == 300_000)
        #expect(seen[1].mode == 0o640)
        #expect(seen[1].modified == time)
        #expect(scratch.read("d/file") == bytes)
        #expect(scratch.folder.inspect([at("d/file")]) == Inspection(root: .healthy, results: [.found(seen[1])]))
    }

    @Test("an exchange swaps what was placed with what stood there") func exchange() throws {
        let scratch = try Scratch()
        try scratch.write("a", utf8("old"))
        let place = Place.tree(at("a"))
        let result = scratch.folder.run(
            .createFile(staged), .write(staged, offset: 0, bytes: utf8("new")), .exchange(staged, place),
            .inspect(staged),
            .move(staged, to: .version(VersionID(raw: 1))))
        #expect(result.failure == nil)
        #expect(scratch.read("a") == utf8("new"))
        #expect(scratch.read(".syncd/versions/v0000000000000001") == utf8("old"))
    }

    @Test("a directory of ours that somebody has removed is made again; without .syncd none is")
    func ownDirectoriesRemoved() throws {
        let scratch = try Scratch()
        let place = Place.tree(at("a"))
        let version = Place.version(VersionID(raw: 1))
        try scratch.write("a", utf8("old"))
        for name in ["stage", "versions", "quarantine"] { unsafe rmdir("\(scratch.path)/.syncd/\(name)") }
        let result = scratch.folder.run(
            .inspect(version), .createFile(staged), .write(staged, offset: 0, bytes: utf8("new")),
            .exchange(staged, place), .move(staged, to: version), .syncParent(version))
        #expect(result.failure == nil)
        #expect(result.inspected == [nil])
        #expect(scratch.read("a") == utf8("new"))
        #expect(scratch.read(".syncd/versions/v0000000000000001") == utf8("old"))
        #expect(scratch.tree()[at(".syncd/stage")] == .init(content: .directory, mode: 0o700))
        unsafe rename(scratch.path + "/.syncd", scratch.above + "/away")
        #expect(scratch.folder.error(.createFile(staged)) == .notFound)
        #expect(scratch.tree()[at(".syncd")] == nil)
    }

    @Test("names of any bytes, up to 255 of them") func oddNames() throws {
        let scratch = try Scratch()
        for name in [[0xFF], utf8("a\nb"), [UInt8](repeating: 0x80, count: 255)] {
            let place = Place.tree(try #require(Path(name)))
            #expect(scratch.folder.error(.createFile(staged), .move(staged, to: place), .syncParent(place)) == nil)
            #expect(scratch.folder.error(.move(place, to: staged), .discard(staged)) == nil)
        }
    }

    @Test("the deepest path there may be") func deepest() throws {
        let scratch = try Scratch()
        var path = Path.root
        for _ in 0..<Limits.pathDepthMax {
            path = try #require(Path(path.isRoot ? utf8("dir") : path.bytes + utf8("/dir")))
            #expect(scratch.folder.error(.createDirectory(.tree(path), mode: 0o755)) == nil)
        }
        #expect(scratch.folder.error(.inspect(.tree(path)), .syncFile(.tree(path)), .syncParent(.tree(path))) == nil)
    }

    @Test("a symlink's target is opaque, and one that C would cut short is refused") func symlinks() throws {
        let scratch = try Scratch()
        let place = Place.tree(at("l"))
        let target = [UInt8](repeating: 0x2F, count: Limits.symlinkBytesMax)
        #expect(scratch.folder.error(.createSymlink(place, target: target), .syncFile(place)) == nil)
        #expect(
            scratch.folder.hash([at("l")], chunking: .standard).first.map { outcome in
                if case .content(.symlink(target), _, _) = outcome { true } else { false }
            } == true)
        let other = Place.tree(at("m"))
        #expect(scratch.folder.error(.createSymlink(other, target: target + [0x61])) == .nameTooLong)
        #expect(scratch.folder.error(.createSymlink(other, target: [0x61, 0, 0x62])) == .unsupported)
        #expect(scratch.folder.error(.expectAbsent(other)) == nil)
    }

    @Test("no way leads through a symlink, wherever it points") func throughLinks() throws {
        let scratch = try Scratch()
        for name in ["/outside", "/outside/stage"] { unsafe mkdir(scratch.above + name, 0o755) }
        for name in ["real", "real/stage"] { try scratch.makeDirectory(name) }
        for (name, target) in [
            ("in", "real"), ("out", "../outside"), ("far", scratch.above + "/outside"), ("own", ".syncd"),
        ] {
            try scratch.symlink(name, to: target)
            // A link that is the directory itself, and one on the way to it.
            for place in [Place.tree(at("\(name)/f")), Place.tree(at("\(name)/stage/f"))] {
                #expect(scratch.folder.error(.createFile(place)) == .notDirectory)
                #expect(scratch.folder.error(.createDirectory(place, mode: 0o755)) == .notDirectory)
                #expect(scratch.folder.error(.expectAbsent(place)) == nil)
                #expect(scratch.folder.error(.createFile(staged), .move(staged, to: place)) == .notDirectory)
                #expect(scratch.folder.error(.discard(staged)) == nil)
            }
            #expect(scratch.folder.error(.write(.tree(at(name)), offset: 0, bytes: [1])) == .unsupported)
            #expect(scratch.folder.error(.setMode(.tree(at(name)), 0o777)) == .unsupported)
            #expect(scratch.folder.error(.setModified(.tree(at(name)), .zero)) == nil)
            #expect(
                scratch.folder.read([ReadRequest(place: .tree(at(name)), expected: nil, offset: 0, length: 9)]) == [
                    .failed(.unsupported)
                ])
        }
        #expect(Scratch.names(in: utf8(scratch.above + "/outside")) == [utf8("stage")])
        #expect(Scratch.names(in: utf8(scratch.above + "/outside/stage")) == [])
        #expect(Scratch.status(utf8(scratch.above + "/outside"))?.st_mtim.tv_sec != 0)
    }

    @Test("our own directory is out of bounds for the tree") func reserved() throws {
        let scratch = try Scratch()
        for name in [".syncd", ".syncd/folder-id", ".syncd/stage/x"] {
            let place = Place.tree(at(name))
            #expect(scratch.folder.error(.inspect(place)) == .unsupported)
            #expect(scratch.folder.error(.exchange(place, .tree(at("a")))) == .unsupported)
            #expect(scratch.folder.error(.write(place, offset: 0, bytes: [1])) == .unsupported)
            #expect(scratch.folder.inspect([at(name)]).results == [.failed(.unsupported)])
            #expect(scratch.folder.hash([at(name)], chunking: .standard) == [.failed(.unsupported)])
        }
        #expect(
            scratch.folder.error(
                .createDirectory(.tree(at("d")), mode: 0o755), .createDirectory(.tree(at("d/.syncd")), mode: 0o755))
                == nil)
    }

    @Test("FIFOs, sockets and devices are looked at and never opened") func specials() throws {
        let scratch = try Scratch()
        try scratch.makeFIFO("fifo")
        var names = ["fifo"]
        if unsafe mknod(scratch.path + "/device", S_IFCHR | 0o600, 5 << 8) == 0 { names.append("device") }
        for name in names {
            let place = Place.tree(at(name))
            let looked = scratch.folder.run(.inspect(place))
            #expect(looked.inspected.first??.kind == .special)
            #expect(scratch.folder.error(.write(place, offset: 0, bytes: [1])) == .unsupported)
            #expect(scratch.folder.error(.truncate(place, size: 0)) == .unsupported)
            #expect(scratch.folder.error(.syncFile(place)) == .unsupported)
            let copying = DiskOperation.copy(from: place, offset: 0, length: 1, to: place, at: 0, digest: .zero)
            #expect(scratch.folder.error(copying) == .unsupported)
            #expect(scratch.folder.hash([at(name)], chunking: .standard) == [.failed(.unsupported)])
            #expect(
                scratch.folder.read([ReadRequest(place: place, expected: nil, offset: 0, length: 1)]) == [
                    .failed(.unsupported)
                ])
            #expect(scratch.folder.error(.move(place, to: staged), .discard(staged)) == nil)
        }
    }

    @Test("absurd offsets, sizes and times are refused, not obeyed") func absurd() throws {
        let scratch = try Scratch()
        #expect(scratch.folder.error(.createFile(staged)) == nil)
        for offset in [UInt64.max, UInt64(Int64.max), 1 << 44] {
            #expect(scratch.folder.error(.write(staged, offset: offset, bytes: [1])) == .unsupported)
            #expect(scratch.folder.error(.truncate(staged, size: offset + (offset == 1 << 44 ? 1 : 0))) == .unsupported)
            let copying = DiskOperation.copy(
                from: staged, offset: offset, length: .max, to: staged, at: 0, digest: .zero)
            #expect(scratch.folder.error(copying) != nil)
            let request = ReadRequest(place: staged, expected: nil, offset: offset, length: .max)
            #expect(scratch.folder.read([request]) == [.bytes([])])
            let negative = ReadRequest(place: staged, expected: nil, offset: 0, length: -1)
            #expect(scratch.folder.read([negative]) == [.bytes([])])
        }
        // UTIME_NOW, UTIME_OMIT and what is no part of a second.
        for nanoseconds: UInt32 in [0x3FFF_FFFF, 0x3FFF_FFFE, 1_000_000_000, .max] {
            let time = Timestamp(seconds: 5, nanoseconds: nanoseconds)
            #expect(scratch.folder.error(.setModified(staged, time)) == .unsupported)
        }
        for seconds in [Int64.min, -1, 0, 1 << 33, Int64.max] {
            #expect(scratch.folder.error(.setModified(staged, Timestamp(seconds: seconds, nanoseconds: 1))) == nil)
        }
    }

    @Test("a copy is of the bytes that were asked for, or fails") func copies() throws {
        let scratch = try Scratch()
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        try scratch.write("a", bytes)
        let digest = SHA256.digest(of: Array(bytes[1_234..<2_501_234]))
        let copying = DiskOperation.copy(
            from: .tree(at("a")), offset: 1_234, length: 2_500_000, to: staged, at: 5, digest: digest)
        #expect(scratch.folder.error(.createFile(staged), copying) == nil)
        #expect(
            scratch.read(".syncd/stage/s00000000000000ab") == [UInt8](repeating: 0, count: 5) + bytes[1_234..<2_501_234]
        )
        let wrong = DiskOperation.copy(
            from: .tree(at("a")), offset: 0, length: 2_500_000, to: staged, at: 5, digest: digest)
        #expect(scratch.folder.error(wrong) == .mismatch)
        let beyond = DiskOperation.copy(
            from: .tree(at("a")), offset: 2_999_999, length: 2, to: staged, at: 0,
            digest: SHA256.digest(of: Array(bytes[2_999_999...])))
        #expect(scratch.folder.error(beyond) == .mismatch)
    }

    @Test("a directory keeps what makes it one of its group; a file keeps nobody's rights") func specialBits() throws {
        let scratch = try Scratch()
        try scratch.makeDirectory("d")
        try scratch.setMode("d", 0o2775)
        try scratch.write("f")
        try scratch.setMode("f", 0o4755)
        #expect(scratch.folder.error(.setMode(.tree(at("d")), 0o700), .setMode(.tree(at("f")), 0o700)) == nil)
        #expect(Scratch.status(scratch.bytes(utf8("d"))).map { $0.st_mode & 0o7777 } == 0o2700)
        #expect(Scratch.status(scratch.bytes(utf8("f"))).map { $0.st_mode & 0o7777 } == 0o700)
    }

    @Test("modes are exact, whatever an inherited access list or the umask would make of them") func exactModes() throws
    {
        let scratch = try Scratch()
        let place = Place.tree(at("d"))
        for mode: UInt16 in [0o777, 0o000, 0o707, 0o531] {
            let result = scratch.folder.run(
                .createDirectory(place, mode: mode), .inspect(place), .removeDirectory(place))
            #expect(result.failure == nil)
            #expect(result.inspected.first??.mode == mode)
        }
    }
}
