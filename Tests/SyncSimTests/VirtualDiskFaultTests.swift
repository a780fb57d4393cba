/// What a disk does that is full, failing, denied, held, read-only or not there at all.
import SyncCore
import SyncModel
import SyncSim
import Testing

@Suite("The virtual disk: faults") struct VirtualDiskFaultTests {
    private func tree(_ text: String) -> Place { .tree(at(text)) }

    @Test("a full disk refuses what needs room, and takes it when somebody has made some") func full() {
        var disk = VirtualDisk.sketched("big=0123456789 small=x")
        disk.faults.capacityBytes = disk.usedBytes + 4
        #expect(disk.perform(.createFile(stage1), now: ms(2)) == .failed(.noSpace))
        #expect(disk.mkdir(at("d"), now: ms(2)) == .noSpace)
        #expect(disk.symlink(at("l"), target: [1], now: ms(2)) == .noSpace)
        #expect(disk.perform(.write(tree("small"), offset: 1, bytes: utf8("12345")), now: ms(2)) == .failed(.noSpace))
        #expect(disk.perform(.write(tree("small"), offset: 1, bytes: utf8("1234")), now: ms(2)) == .done)
        // What has room already may be written again.
        #expect(disk.perform(.write(tree("small"), offset: 0, bytes: utf8("abcde")), now: ms(2)) == .done)
        #expect(disk.perform(.truncate(tree("small"), size: 1 << 40), now: ms(2)) == .done)
        #expect(disk.unlink(at("big"), now: ms(3)) == nil)
        #expect(disk.perform(.createFile(stage1), now: ms(2)) == .done)
        #expect(disk.perform(.write(stage1, offset: 0, bytes: utf8("0123456789")), now: ms(2)) == .done)
        #expect(disk.perform(.write(stage1, offset: 10, bytes: utf8("x")), now: ms(2)) == .failed(.noSpace))
    }

    @Test("room is kept by an open handle until it is closed") func roomOfOpenFiles() {
        var disk = VirtualDisk.sketched("big=0123456789")
        guard case .success(let handle) = disk.open(at("big"), now: ms(2)) else {
            Issue.record("not opened")
            return
        }
        let used = disk.usedBytes
        disk.unlink(at("big"), now: ms(2))
        #expect(disk.usedBytes == used)
        disk.close(handle)
        #expect(disk.usedBytes < used)
    }

    @Test("a read-only disk can be looked at") func readOnly() {
        var disk = VirtualDisk.sketched("d/ g=two")
        disk.stage(stage1, "new")
        disk.faults.isReadOnly = true
        let changes: [DiskOperation] = [
            .createFile(stage2), .createDirectory(tree("n"), mode: 0o755), .createSymlink(tree("n"), target: [1]),
            .write(stage1, offset: 0, bytes: [1]), .truncate(stage1, size: 0), .setMode(tree("g"), 0o600),
            .setModified(tree("g"), ms(3)), .exchange(stage1, tree("g")), .move(stage1, to: tree("n")),
            .removeDirectory(tree("d")), .discard(stage1),
        ]
        for change in changes { #expect(disk.perform(change, now: ms(3)) == .failed(.readOnly), "\(change)") }
        #expect(disk.writeFile(at("g"), [1], now: ms(3)) == .readOnly)
        #expect(disk.rename(at("g"), to: at("h"), now: ms(3)) == .readOnly)
        #expect(disk.unlink(at("g"), now: ms(3)) == .readOnly)
        #expect(disk.link(at("g"), at("h"), now: ms(3)) == .readOnly)
        #expect(disk.sketch == "d/ g=two" && disk.ownSketch.contains("s1=new"))
        #expect(disk.readFile(at("g")) == utf8("two"))
        #expect(disk.perform(.syncFile(stage1), now: ms(3)) == .done)
    }

    @Test("what is denied or held is left alone; below a denied directory nothing can be seen") func deniedAndBusy() {
        var disk = VirtualDisk.sketched("d/ d/f=one g=two h=three")
        disk.stage(stage1, "new")
        disk.faults.permissionDenied = [at("d"), at("g")]
        disk.faults.busy = [at("h")]
        #expect(disk.perform(.exchange(stage1, tree("g")), now: ms(3)) == .failed(.permission))
        #expect(disk.perform(.move(tree("g"), to: version1), now: ms(3)) == .failed(.permission))
        #expect(disk.perform(.createFile(tree("d/n")), now: ms(3)) == .failed(.permission))
        #expect(disk.perform(.inspect(tree("d/f")), now: ms(3)) == .failed(.permission))
        #expect(disk.perform(.expectAbsent(tree("d/n")), now: ms(3)) == .failed(.permission))
        #expect(disk.perform(.exchange(stage1, tree("h")), now: ms(3)) == .failed(.busy))
        #expect(disk.perform(.move(tree("h"), to: version1), now: ms(3)) == .failed(.busy))
        #expect(disk.rename(at("g"), to: at("n"), now: ms(3)) == .permission)
        #expect(disk.readFile(at("g")) == nil && disk.readFile(at("h")) == utf8("three"))
        #expect(disk.hash(at("g"), chunking: .standard) == .failed(.permission))
        let look = disk.inspect([at("g"), at("d/f"), at("none")])
        #expect(look.results[1] == .failed(.permission) && look.results[2] == .absent)
        if case .found = look.results[0] {} else { Issue.record("the directory still shows a denied file") }
        disk.faults.permissionDenied = []
        #expect(disk.perform(.exchange(stage1, tree("g")), now: ms(3)) == .done)
    }

    @Test("reading and writing fail by path, for a while, or by chance, and only so") func inputOutput() {
        var disk = VirtualDisk.sketched("d/ d/f=one g=two")
        disk.stage(stage1, "new")
        disk.faults.writeErrors = FaultChance(next: 1)
        #expect(disk.perform(.write(stage1, offset: 0, bytes: [1]), now: ms(3)) == .failed(.inputOutput))
        #expect(disk.perform(.write(stage1, offset: 0, bytes: [1]), now: ms(3)) == .done)
        disk.faults.writeErrors = FaultChance(paths: [at(".syncd/stage/s0000000000000001")])
        #expect(disk.perform(.write(stage1, offset: 0, bytes: [1]), now: ms(3)) == .failed(.inputOutput))
        #expect(disk.perform(.write(tree("g"), offset: 0, bytes: utf8("T")), now: ms(3)) == .done)
        disk.faults.readErrors = FaultChance(paths: [at("d"), at("g")])
        #expect(disk.hash(at("g"), chunking: .standard) == .failed(.inputOutput))
        #expect(
            disk.read(ReadRequest(place: tree("g"), expected: nil, offset: 0, length: 9)) == .failed(.inputOutput))
        #expect(disk.inspect([at("d/f")]).results == [.failed(.inputOutput)])
        disk.faults.readErrors = FaultChance(perMille: 300)
        disk.faults.random = SeededRandom(seed: 7)
        let answers = (0..<1_000).map { _ in disk.inspect([at("g")]).results == [.failed(.inputOutput)] }
        #expect((200..<400).contains(answers.count { $0 }))
        disk.faults.readErrors = FaultChance(next: 1)
        #expect(disk.inspect([at("g")]).results == [.failed(.inputOutput)])
        #expect(disk.inspect([at("g")]).results != [.failed(.inputOutput)])
    }

    @Test("inode numbers are new each time, unless the file system gives freed ones again") func inodeNumbers() throws {
        for reuses in [false, true] {
            var disk = VirtualDisk.sketched("keep=1")
            disk.faults.reusesInodes = reuses
            disk.writeFile(at("a"), utf8("1"), now: ms(5))
            let first = try #require(disk.stat(at("a"))).identity
            disk.unlink(at("a"), now: ms(6))
            disk.writeFile(at("b"), utf8("2"), now: ms(7))
            let second = try #require(disk.stat(at("b"))).identity
            #expect((first.inode == second.inode) == reuses)
            #expect(first != second, "the birth time tells them apart")
        }
    }

    @Test("the root: mounted, gone, replaced, unmarked, emptied") func roots() {
        let fresh = VirtualDisk.sketched("d/ d/f=one g=two")
        #expect(fresh.rootState() == .healthy)

        var disk = fresh
        disk.unmount(leaving: .nothing)
        #expect(disk.rootState() == .missing && disk.tree().isEmpty && !disk.isMounted)
        #expect(disk.perform(.createFile(.tree(at("x"))), now: ms(3)) == .failed(.notFound))
        #expect(disk.writeFile(at("x"), [1], now: ms(3)) == .notFound)
        #expect(disk.inspect([at("g")]) == Inspection(root: .missing, results: [.absent]))
        #expect(disk.allContents().contains { $0.path == at("d/f") }, "unmounted is not lost")
        disk.mount()
        #expect(disk.rootState() == .healthy && disk.sketch == fresh.sketch)

        disk.unmount(leaving: .emptyDirectory)
        #expect(disk.rootState() == .replaced && disk.tree().isEmpty)
        #expect(disk.perform(.createFile(stage1), now: ms(3)) == .failed(.notFound))
        disk.writeFile(at("stray"), utf8("s"), now: ms(3))
        #expect(disk.strayContents().map { $0.0 } == [at("stray")])
        disk.mount()
        #expect(disk.sketch == fresh.sketch)

        let other = FolderID(SHA256.digest(of: utf8("another")))
        for marker in [other, folder, nil] {
            disk = fresh
            disk.replaceRoot(marker: marker, now: ms(3))
            #expect(disk.rootState() == .replaced && disk.tree().isEmpty)
        }
        disk.mount()
        #expect(disk.sketch == fresh.sketch)

        disk = fresh
        disk.removeMarker(now: ms(3))
        #expect(disk.rootState() == .unmarked && disk.sketch == fresh.sketch)
        disk = fresh
        disk.writeFile(at(".syncd/folder-id"), other.digest.bytes, now: ms(3))
        #expect(disk.rootState() == .replaced)

        disk = fresh
        disk.emptyRoot(now: ms(3))
        #expect(disk.rootState() == .healthy && disk.tree().isEmpty)
    }
}
