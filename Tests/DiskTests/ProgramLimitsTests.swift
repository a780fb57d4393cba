/// Programs where the world is not kind to them: permissions, full and read-only disks, failed syncs, files that stay
/// open.
import Glibc
import SyncModel
import Synchronization
import Testing

@testable import Disk

@Suite("programs on a disk that refuses")
struct ProgramLimitsTests {
    @Test("a staged file stays open until it is synced, moved or thrown away, and no longer") func pins() throws {
        let scratch = try Scratch()
        let write = DiskOperation.write(staged, offset: 0, bytes: [1])
        #expect(scratch.folder.error(.createFile(staged), write) == nil)
        #expect(scratch.folder.pins.count == 1)
        #expect(scratch.folder.error(.syncFile(staged)) == nil)
        #expect(scratch.folder.pins.count == 0)
        #expect(scratch.folder.error(write) == nil)
        #expect(scratch.folder.pins.count == 1)
        #expect(scratch.folder.error(.move(staged, to: .tree(at("a")))) == nil)
        #expect(scratch.folder.pins.count == 0)
        #expect(scratch.folder.error(.createFile(staged), .discard(staged)) == nil)
        #expect(scratch.folder.pins.count == 0)
        for number in 0..<UInt64(StagePins.countMax + 20) {
            let place = Place.stage(StageName(raw: 1_000 + number))
            #expect(scratch.folder.error(.createFile(place), .write(place, offset: 0, bytes: [1])) == nil)
        }
        #expect(scratch.folder.pins.count == StagePins.countMax)
    }

    @Test("a file that somebody else puts under a stage's name is not the one that was open") func pinOfAnother() throws
    {
        let scratch = try Scratch()
        #expect(scratch.folder.error(.createFile(staged), .write(staged, offset: 0, bytes: [1])) == nil)
        try scratch.write("other", utf8("other"))
        try scratch.rename("other", ".syncd/stage/s00000000000000ab")
        #expect(scratch.folder.error(.write(staged, offset: 0, bytes: [0x4F]), .syncFile(staged)) == nil)
        #expect(scratch.read(".syncd/stage/s00000000000000ab") == utf8("Other"))
    }

    @Test("after a failed sync a staged file can only be thrown away") func poisoned() throws {
        let scratch = try Scratch()
        #expect(scratch.folder.error(.createFile(staged)) == nil)
        scratch.folder.pins.poison(stage)
        #expect(scratch.folder.error(.syncFile(staged)) == .inputOutput)
        #expect(scratch.folder.error(.move(staged, to: .tree(at("a")))) == .inputOutput)
        #expect(scratch.folder.error(.discard(staged)) == nil)
        #expect(scratch.folder.error(.createFile(staged), .syncFile(staged)) == nil)
    }

    @Test("what many programs sync at their ends is told to each for itself", arguments: [true, false])
    func syncedTogether(isTrusted: Bool) throws {
        let scratch = try Scratch()
        scratch.folder.mayTrustCommonSync.withLock { $0 = isTrusted }
        let places = (0..<8).map { Place.stage(StageName(raw: 100 + $0)) }
        let making = places.map { place in
            DiskProgram([.createFile(place), .write(place, offset: 0, bytes: [1]), .syncFile(place), .inspect(place)])
        }
        let missing = Place.stage(StageName(raw: 99))
        let made = scratch.folder.run(making + [DiskProgram([.syncFile(missing), .inspect(missing)])])
        #expect(made.prefix(8).allSatisfy { $0.failure == nil && $0.inspected.first??.size == 1 })
        #expect(made.last?.failure == .init(index: 0, error: .notFound))
        #expect(scratch.folder.pins.count == 0)

        scratch.folder.pins.poison(StageName(raw: 103))
        let again = scratch.folder.run(places.map { DiskProgram([.syncFile($0), .syncParent($0)]) })
        #expect(again.map(\.failure?.error) == (0..<8).map { $0 == 3 ? .inputOutput : nil })
    }

    @Test("a staged file of mode 000 is written and synced by an ordinary user", .needsAnotherUser)
    func modeZero() throws {
        let scratch = try Scratch()
        scratch.give(to: Nobody.id)
        Nobody.act {
            let result = scratch.folder.run(
                .createFile(staged), .setMode(staged, 0), .write(staged, offset: 0, bytes: [1]), .syncFile(staged),
                .inspect(staged), .move(staged, to: .tree(at("a"))), .syncFile(.tree(at("a"))))
            #expect(result.failure == nil)
            #expect(result.inspected.first??.mode == 0)
            #expect(scratch.folder.hash([at("a")], chunking: .standard) == [.failed(.permission)])
        }
    }

    @Test("an ordinary user's read-only directories can be put in their place", .needsAnotherUser)
    func readOnlyDirectories() throws {
        let scratch = try Scratch()
        scratch.give(to: Nobody.id)
        let (a, b) = (Place.tree(at("a")), Place.tree(at("b/c")))
        Nobody.act {
            let result = scratch.folder.run(
                .createDirectory(staged, mode: 0o555), .createDirectory(.tree(at("b")), mode: 0o755),
                .move(staged, to: a),
                .inspect(a), .createDirectory(b, mode: 0o500), .exchange(a, b), .inspect(a), .inspect(b))
            #expect(result.failure == nil)
            #expect(result.inspected.map { $0?.mode } == [0o555, 0o500, 0o555])
            // Without a right that can be lent it stays what it is.
            #expect(scratch.folder.error(.createFile(.tree(at("a/x")))) == .permission)
        }
    }

    @Test("a disk that is full says so, and what was there is still there", .needsMounting)
    func full() throws {
        let above = try Scratch.makeTemporary()
        defer { Scratch.remove(above) }
        let mount = try Mount(at: above, options: "size=1m,nr_inodes=40")
        defer { mount.remove() }
        let scratch = try Scratch(in: above)
        try scratch.write("a", utf8("old"))
        let big = [UInt8](repeating: 1, count: 2 << 20)
        #expect(scratch.folder.error(.createFile(staged), .write(staged, offset: 0, bytes: big)) == .noSpace)
        #expect(scratch.folder.error(.discard(staged)) == nil)
        var error: DiskError?
        var number: UInt64 = 0
        while error == nil && number < 100 {
            error = scratch.folder.error(.createFile(.stage(StageName(raw: number))))
            number += 1
        }
        #expect(error == .noSpace)
        #expect(scratch.read("a") == utf8("old"))
        #expect(scratch.folder.rootState == .healthy)
    }

    @Test("nothing is staged that touches the reserve, and names still go", .needsMounting)
    func reserve() throws {
        let above = try Scratch.makeTemporary()
        defer { Scratch.remove(above) }
        let mount = try Mount(at: above)
        defer { mount.remove() }
        let scratch = try Scratch(in: above)
        try scratch.write("a", utf8("old"))
        let free = try scratch.folder.space().freeBytes
        scratch.folder.setReserve { total in
            #expect(total == 1 << 20)
            return free - 100_000
        }
        func write(_ bytes: Int) -> DiskError? {
            scratch.folder.error(
                .write(staged, offset: 0, bytes: [UInt8](repeating: 1, count: bytes)), .syncFile(staged))
        }
        #expect(scratch.folder.error(.createFile(staged)) == nil)
        #expect(write(100_001) == .noSpace)
        #expect(write(90_000) == nil)
        #expect(write(20_000) == .noSpace)
        #expect(scratch.folder.error(.move(.tree(at("a")), to: .tree(at("b")))) == nil)
        scratch.folder.setReserve { _ in .max }
        #expect(scratch.folder.error(.createFile(.stage(StageName(raw: 77)))) == .noSpace)
        #expect(scratch.folder.error(.discard(staged)) == nil)
    }

    @Test("a read-only file system says so", .needsMounting)
    func readOnly() throws {
        let above = try Scratch.makeTemporary()
        defer { Scratch.remove(above) }
        let mount = try Mount(at: above)
        defer { mount.remove() }
        let scratch = try Scratch(in: above)
        try scratch.write("a")
        try mount.makeReadOnly()
        #expect(scratch.folder.error(.createFile(staged)) == .readOnly)
        #expect(scratch.folder.error(.setMode(.tree(at("a")), 0)) == .readOnly)
        #expect(scratch.folder.error(.move(.tree(at("a")), to: .tree(at("b")))) == .readOnly)
        #expect(scratch.folder.inspect([at("a")]).root == .healthy)
    }

    @Test("what lies in the stage is listed by name, and what is not ours there is left out") func stageListing() throws
    {
        let scratch = try Scratch()
        let names: [UInt64] = [3, 1, .max]
        for name in names { #expect(scratch.folder.error(.createFile(.stage(StageName(raw: name)))) == nil) }
        #expect(scratch.folder.error(.createDirectory(.stage(StageName(raw: 2)), mode: 0o755)) == nil)
        for name in ["s", "s000000000000000G", "s00000000000000AA", "t0000000000000001", "s00000000000000011"] {
            try scratch.write(".syncd/stage/\(name)")
        }
        let listed = try scratch.folder.stagedFiles()
        #expect(listed.map(\.name.raw) == [1, 2, 3, .max])
        #expect(listed.map(\.stat.kind) == [.file, .directory, .file, .file])
        try scratch.rename(".syncd/stage", "aside")
        #expect(throws: FolderError.self) { try scratch.folder.stagedFiles() }
    }

    @Test("no descriptor is left open by anything that succeeds or fails") func descriptors() throws {
        let scratch = try Scratch()
        try scratch.write("a", utf8("1"))
        try scratch.makeFIFO("fifo")
        func everything() {
            let paths = ["a", "none", "fifo", "a/b", ".syncd"].map { at($0) }
            _ = scratch.folder.inspect(paths)
            _ = scratch.folder.hash(paths, chunking: .standard)
            _ = WholeScan(scratch.folder)
            for path in paths {
                _ = scratch.folder.error(.createFile(.tree(path)))
                _ = scratch.folder.error(.syncFile(.tree(path)), .syncParent(.tree(path)))
                _ = scratch.folder.error(
                    .createFile(staged), .exchange(staged, .tree(path)), .exchange(staged, .tree(path)))
                _ = scratch.folder.error(.discard(staged))
                _ = scratch.folder.read([ReadRequest(place: .tree(path), expected: nil, offset: 0, length: 1)])
            }
        }
        everything()
        let before = scratch.descriptors
        for _ in 0..<20 { everything() }
        #expect(scratch.descriptors == before)
    }
}

extension Scratch {
    /// The folder and all in it becomes that of an ordinary user.
    func give(to user: uid_t) {
        unsafe chmod(above, 0o755)
        unsafe chown(path, user, user)
        for path in tree().keys {
            _ = unsafe with(path.bytes) { unsafe lchown($0, user, user) }
        }
    }

    /// How many of this process's descriptors lead into this test's directory.
    var descriptors: Int {
        Scratch.names(in: utf8("/proc/self/fd")).count { name in
            var target = [CChar](repeating: 0, count: 4_096)
            let count = unsafe CName(utf8("/proc/self/fd/") + name).withPointer { unsafe readlink($0, &target, 4_096) }
            return target.prefix(max(0, count)).map { UInt8(bitPattern: $0) }.starts(with: utf8(above))
        }
    }
}
