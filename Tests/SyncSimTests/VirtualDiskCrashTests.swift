/// Power cuts: what was synced is always there afterwards, what was not is sometimes gone. The first half of each promise
/// is worth nothing without the second, so every model has controls that must bite.
import SyncCore
import SyncModel
import SyncSim
import Testing

@Suite("The virtual disk: power cuts") struct VirtualDiskCrashTests {
    private func tree(_ text: String) -> Place { .tree(at(text)) }

    /// The same disk after many power cuts of one model.
    private func outcomes(
        _ disk: VirtualDisk, _ model: CrashModel, count: Int = 200
    ) -> [VirtualDisk] {
        var random = SeededRandom(seed: 99, stream: UInt64(model.rawValue))
        return (0..<count).map { _ in
            var image = disk
            image.powerCut(model: model, random: &random)
            return image
        }
    }

    private func sketches(_ disk: VirtualDisk, _ model: CrashModel) -> Set<String> {
        Set(outcomes(disk, model).map(\.sketch))
    }

    @Test("INV-09: an un-synced exchange is there whole or not at all", arguments: CrashModel.allCases)
    func exchangeIsAtomic(model: CrashModel) {
        var disk = VirtualDisk.sketched("d/ d/doc=old")
        disk.stage(stage1, "new")
        _ = disk.run(DiskProgram([.syncFile(stage1), .syncParent(stage1)]), now: ms(3))
        _ = disk.run(DiskProgram([.exchange(stage1, tree("d/doc"))]), now: ms(4))
        let seen = Set(outcomes(disk, model).map { $0.sketch + " " + $0.ownSketch })
        let whole: Set = [
            "d/ d/doc=old quarantine/ stage/ stage/s1=new versions/".withoutDirectories,
            "d/ d/doc=new quarantine/ stage/ stage/s1=old versions/".withoutDirectories,
        ]
        #expect(Set(seen.map(\.withoutDirectories)).isSubset(of: whole))
        if model != .zeroLength { #expect(Set(seen.map(\.withoutDirectories)) == whole, "both must be seen") }

        // Then the displaced file goes on to the versions; it never gets lost on the way.
        _ = disk.run(DiskProgram([.move(stage1, to: version1)]), now: ms(5))
        for image in outcomes(disk, model) {
            let contents = image.allContents().compactMap(\.entry.bytes)
            #expect(contents.contains(utf8("old")) && contents.contains(utf8("new")))
        }
        _ = disk.run(DiskProgram([.syncParent(tree("d/doc"))]), now: ms(6))
        for image in outcomes(disk, model) {
            #expect(image.sketch == "d/ d/doc=new")
            #expect(image.allContents().contains { $0.entry.bytes == utf8("old") })
        }
    }

    @Test("a rename is never half lost, into whatever directory it goes", arguments: CrashModel.allCases)
    func renameIsAtomic(model: CrashModel) {
        var disk = VirtualDisk.sketched("a=1 d/ d/sub/ d/sub/b=2")
        disk.mkdir(at("new"), now: ms(3))
        disk.rename(at("a"), to: at("new/a"), now: ms(3))
        disk.rename(at("d/sub"), to: at("new/sub"), now: ms(3))
        disk.rename(at("new"), to: at("newer"), now: ms(3))
        disk.rmdir(at("d"), now: ms(3))
        for image in outcomes(disk, model) {
            let contents = image.allContents().filter { $0.area == .tree }.compactMap(\.entry.bytes)
            #expect(contents.contains([0x31]) && contents.contains([0x32]), "\(image.sketch)")
        }
    }

    @Test("directories moved into each other never make a ring", arguments: CrashModel.allCases)
    func noRing(model: CrashModel) {
        var disk = VirtualDisk.sketched("a/ a/1=x b/ b/2=y")
        disk.rename(at("a"), to: at("b/a"), now: ms(3))
        disk.rename(at("b/a"), to: at("a"), now: ms(3))
        disk.rename(at("b"), to: at("a/b"), now: ms(3))
        for image in outcomes(disk, model) {
            #expect(
                image.allContents().compactMap(\.entry.bytes).filter { $0.count == 1 }.count == 2, "\(image.sketch)")
        }
    }

    @Test("a name given to another file never takes the first one with it", arguments: CrashModel.allCases)
    func namesGivenAgain(model: CrashModel) {
        var disk = VirtualDisk.sketched("a=1 d/")
        disk.rename(at("a"), to: at("b"), now: ms(3))
        disk.writeFile(at("a"), utf8("2"), now: ms(3))
        #expect(outcomes(disk, model).allSatisfy { $0.allContents().contains { $0.entry.bytes == utf8("1") } })

        // There and back again, and only the directory in between is synced.
        disk = VirtualDisk.sketched("a=1 d/")
        disk.rename(at("a"), to: at("d/a"), now: ms(3))
        disk.rename(at("d/a"), to: at("a"), now: ms(3))
        #expect(disk.syncDirectory(at("d")) == nil)
        #expect(sketches(disk, model) == ["a=1 d/"])
        disk.syncEverything()
        #expect(disk.durableSketch == "a=1 d/")
    }

    @Test("a directory is never found in two places: INV-18", arguments: CrashModel.allCases)
    func directoriesAreInOnePlace(model: CrashModel) {
        var disk = VirtualDisk.sketched("a/ a/1=x b/")
        disk.rename(at("a"), to: at("b/a"), now: ms(3))
        #expect(sketches(disk, model).isSubset(of: ["a/ a/1=x b/", "b/ b/a/ b/a/1=x"]))
        #expect(disk.syncDirectory(at("b")) == nil)
        #expect(disk.durableSketch == "b/ b/a/ b/a/1=x")
        #expect(sketches(disk, model) == ["b/ b/a/ b/a/1=x"])
    }

    @Test("control: a file that was not synced may be missing, empty, torn or whole") func strictLosesData() {
        var disk = VirtualDisk.sketched("keep=1")
        let bytes = [UInt8](repeating: 0x41, count: 10_000)
        disk.writeFile(at("f"), bytes, now: ms(3))
        let seen = outcomes(disk, .strict).map { image -> String in
            guard let left = image.allContents().first(where: { $0.path == at("f") })?.entry.bytes else {
                return "missing"
            }
            if left.isEmpty { return "empty" }
            if left == bytes { return "whole" }
            return left.contains(0) ? "zeros" : "short"
        }
        #expect(Set(seen) == ["missing", "empty", "whole", "zeros", "short"])
    }

    @Test("control: cutting a file and writing the same again puts its synced bytes at risk") func rewritingIsARisk() {
        var disk = VirtualDisk.sketched("")
        let bytes = [UInt8](repeating: 0x41, count: 6_000)
        disk.writeFile(at("f"), bytes, now: ms(3))
        disk.syncEverything()
        #expect(disk.isSettled(at("f")))
        disk.writeFile(at("f"), bytes, now: ms(4))
        #expect(!disk.isSettled(at("f")))
        let left = outcomes(disk, .strict).compactMap { $0.tree().first?.1.bytes }
        #expect(left.count == 200 && left.contains([]) && left.contains(bytes))
        #expect(left.contains { $0.count == 6_000 && $0.contains(0) })
        #expect(sketches(disk, .zeroLength) == ["f="])
    }

    @Test("control: overwriting in place tears at sectors, and only where it wrote") func strictTears() {
        var disk = VirtualDisk.sketched("")
        let old = [UInt8](repeating: 0x6F, count: 8_192)
        disk.writeFile(at("f"), old, now: ms(3))
        disk.syncEverything()
        guard case .success(let handle) = disk.open(at("f"), now: ms(4)) else {
            Issue.record("not opened")
            return
        }
        disk.write(handle, at: 1_000, [UInt8](repeating: 0x6E, count: 2_000), now: ms(4))
        var mixtures = 0
        for image in outcomes(disk, .strict) {
            guard let left = image.allContents().first(where: { $0.path == at("f") })?.entry.bytes else {
                Issue.record("a synced name is gone")
                continue
            }
            #expect(left.count == old.count)
            #expect(left[..<1_000].allSatisfy { $0 == 0x6F } && left[3_000...].allSatisfy { $0 == 0x6F })
            let new = left.count { $0 == 0x6E }
            #expect(left.allSatisfy { $0 == 0x6E || $0 == 0x6F })
            if new > 0 && new < 2_000 { mixtures += 1 }
        }
        #expect(mixtures > 20)
    }

    @Test("control: names that were not synced are lost one by one, in any order") func strictLosesNames() {
        var disk = VirtualDisk.sketched("x=1 y=2")
        disk.rename(at("x"), to: at("x2"), now: ms(3))
        disk.rename(at("y"), to: at("y2"), now: ms(3))
        #expect(sketches(disk, .strict) == ["x=1 y=2", "x2=1 y=2", "x=1 y2=2", "x2=1 y2=2"])
        #expect(sketches(disk, .ordered) == ["x=1 y=2", "x2=1 y=2", "x2=1 y2=2"])
        #expect(sketches(disk, .zeroLength) == ["x2=1 y2=2"])
        #expect(
            sketches(disk, .siblings) == [
                "x=1 y=2", "x2=1 y=2", "x=1 y2=2", "x2=1 y2=2", "x=1 x2=1 y=2", "x=1 x2=1 y2=2", "x=1 y=2 y2=2",
                "x2=1 y=2 y2=2", "x=1 x2=1 y=2 y2=2",
            ])
        disk.unlink(at("x2"), now: ms(4))
        #expect(sketches(disk, .strict).contains("x=1 y2=2"), "an unlink that was not synced comes undone")
    }

    @Test("syncing a file does not sync its name; syncing its parent does, if the parent itself is synced")
    func namesNeedTheirDirectory() {
        var disk = VirtualDisk.sketched("")
        disk.stage(stage1, "new")
        _ = disk.run(DiskProgram([.syncFile(stage1), .syncParent(stage1)]), now: ms(3))
        disk.mkdir(at("d"), now: ms(4))
        _ = disk.run(DiskProgram([.move(stage1, to: tree("d/f")), .syncParent(tree("d/f"))]), now: ms(5))
        // Nobody has synced the root: the new directory may be gone, but then the file is still staged.
        let seen = Set(outcomes(disk, .strict).map { "\($0.sketch)|" + $0.ownSketch.withoutDirectories })
        #expect(seen == ["d/ d/f=new|", "|stage/s1=new"])
        _ = disk.run(DiskProgram([.syncParent(tree("d"))]), now: ms(6))
        #expect(sketches(disk, .strict) == ["d/ d/f=new"])
    }

    @Test("control: in a new directory that was not synced, synced names go with it") func ancestorsMatter() {
        var disk = VirtualDisk.sketched("")
        disk.mkdir(at("d"), now: ms(3))
        disk.mkdir(at("d/e"), now: ms(3))
        disk.writeFile(at("d/e/f"), utf8("1"), now: ms(3))
        _ = disk.run(DiskProgram([.syncFile(tree("d/e/f")), .syncParent(tree("d/e/f"))]), now: ms(4))
        #expect(sketches(disk, .strict) == ["", "d/", "d/ d/e/ d/e/f=1"])
        #expect(disk.syncDirectory(.root) == nil)
        #expect(sketches(disk, .strict) == ["d/", "d/ d/e/ d/e/f=1"])
        #expect(disk.syncDirectory(at("d")) == nil)
        #expect(sketches(disk, .strict) == ["d/ d/e/ d/e/f=1"])
    }

    @Test("a synced file does not carry the renames of its siblings") func siblingsAreNotCarried() {
        var disk = VirtualDisk.sketched("a=1 b=2 d/")
        disk.rename(at("a"), to: at("d/a"), now: ms(3))
        disk.writeFile(at("b"), utf8("3"), now: ms(3))
        #expect(disk.perform(.syncFile(tree("b")), now: ms(3)) == .done)
        #expect(sketches(disk, .siblings) == ["a=1 b=3 d/", "b=3 d/ d/a=1", "a=1 b=3 d/ d/a=1"])
        // The new name is synced with its directory; the old one is still the other directory's affair.
        #expect(disk.syncDirectory(at("d")) == nil)
        #expect(sketches(disk, .siblings) == ["b=3 d/ d/a=1", "a=1 b=3 d/ d/a=1"])
        #expect(sketches(disk, .strict) == ["b=3 d/ d/a=1"])
        #expect(disk.durableSketch == "a=1 b=3 d/ d/a=1")
        #expect(disk.syncDirectory(.root) == nil)
        #expect(sketches(disk, .siblings) == ["b=3 d/ d/a=1"])
    }

    @Test("zero-length: a replacement by rename keeps its name and loses its content") func zeroLength() {
        var disk = VirtualDisk.sketched("doc=old")
        disk.writeFile(at("tmp"), utf8("new"), now: ms(3))
        disk.rename(at("tmp"), to: at("doc"), now: ms(3))
        #expect(sketches(disk, .zeroLength) == ["doc="])
        // On ext4 the data is written before the rename.
        #expect(sketches(disk, .ordered).isSubset(of: ["doc=old", "doc=old tmp=", "doc=old tmp=new", "doc=new"]))
        #expect(sketches(disk, .ordered).isSuperset(of: ["doc=old", "doc=new"]))
        #expect(sketches(disk, .strict).isSuperset(of: ["doc=old", "doc=", "doc=new"]))
        _ = disk.perform(.syncFile(tree("doc")), now: ms(4))
        #expect(sketches(disk, .zeroLength) == ["doc=new"])
        #expect(sketches(disk, .strict) == ["doc=old", "doc=old tmp=new", "doc=new"])
    }

    @Test("a failed fsync drops the pages: the second one succeeds, and the data is gone after the power cut")
    func failedSync() throws {
        var disk = VirtualDisk.sketched("")
        disk.stage(stage1, "new")
        #expect(disk.perform(.syncParent(stage1), now: ms(3)) == .done)
        disk.faults.failedSyncs = FaultChance(next: 1)
        #expect(disk.perform(.syncFile(stage1), now: ms(3)) == .failed(.inputOutput))
        #expect(disk.perform(.syncFile(stage1), now: ms(3)) == .done)
        #expect(disk.read(.init(place: stage1, expected: nil, offset: 0, length: 9)) == .bytes(utf8("new")))
        for model in CrashModel.allCases {
            for image in outcomes(disk, model, count: 20) {
                let left = try #require(image.allContents().first { $0.area == .stage })
                #expect(left.entry.bytes != utf8("new"), "\(model)")
            }
        }
        // What is written anew and synced is there, what was lost stays lost.
        _ = disk.perform(.write(stage1, offset: 1, bytes: utf8("o")), now: ms(4))
        #expect(disk.perform(.syncFile(stage1), now: ms(4)) == .done)
        for image in outcomes(disk, .strict, count: 20) {
            #expect(try #require(image.allContents().first { $0.area == .stage }).entry.bytes == [0, 0x6F, 0])
        }
        _ = disk.perform(.truncate(stage1, size: 0), now: ms(5))
        _ = disk.perform(.write(stage1, offset: 0, bytes: utf8("all")), now: ms(5))
        #expect(disk.perform(.syncFile(stage1), now: ms(5)) == .done)
        #expect(outcomes(disk, .strict, count: 20).allSatisfy { $0.ownSketch.contains("stage/s1=all") })
    }

    @Test("a failed fsync of a directory leaves its names as un-synced as they were") func failedDirectorySync() {
        var disk = VirtualDisk.sketched("a=1")
        disk.rename(at("a"), to: at("b"), now: ms(3))
        disk.faults.failedSyncs = FaultChance(paths: [.root])
        #expect(disk.perform(.syncParent(tree("b")), now: ms(3)) == .failed(.inputOutput))
        #expect(sketches(disk, .strict) == ["a=1", "b=1"])
        disk.faults.failedSyncs = FaultChance()
        #expect(disk.perform(.syncParent(tree("b")), now: ms(3)) == .done)
        #expect(sketches(disk, .strict) == ["b=1"])
    }

    @Test("the kernel writes by itself what is old enough") func writeBack() {
        var disk = VirtualDisk.sketched("")
        disk.uptimeMilliseconds = 1_000
        disk.writeFile(at("a"), utf8("1"), now: ms(3))
        disk.uptimeMilliseconds = 20_000
        disk.writeFile(at("b"), utf8("2"), now: ms(-50_000))
        disk.uptimeMilliseconds = 31_000
        disk.writeBack(olderThan: 30_000)
        #expect(disk.durableSketch == "a=1")
        #expect(outcomes(disk, .strict).allSatisfy { $0.sketch.hasPrefix("a=1") })
        #expect(!disk.isSynced)
        disk.uptimeMilliseconds = 50_000
        disk.writeBack(olderThan: 30_000)
        #expect(disk.isSynced && disk.durableSketch == "a=1 b=2")
    }

    @Test("times follow their data, unless the disk is told otherwise") func timesAndData() throws {
        var disk = VirtualDisk.sketched("")
        disk.writeFile(at("f"), [UInt8](repeating: 1, count: 4_096), now: ms(3))
        disk.syncEverything()
        disk.writeFile(at("f"), [UInt8](repeating: 2, count: 4_096), now: ms(9))
        func silent(_ image: VirtualDisk) throws -> Bool {
            let file = try #require(image.tree().first).1
            return file.modified == ms(3) && file.bytes != [UInt8](repeating: 1, count: 4_096)
        }
        #expect(try !outcomes(disk, .strict).contains(where: silent))
        disk.faults.timesMayTrailData = true
        #expect(try outcomes(disk, .strict).contains(where: silent))
    }

    @Test("handles, watches and freed inodes do not outlive the power") func memoryIsLost() {
        var disk = VirtualDisk.sketched("a=1 b=2")
        disk.startWatching()
        guard case .success(let handle) = disk.open(at("a"), now: ms(3)) else {
            Issue.record("not opened")
            return
        }
        disk.unlink(at("a"), now: ms(3))
        disk.syncDirectory(.root)
        var random = SeededRandom(seed: 3)
        let used = disk.usedBytes
        disk.powerCut(model: .strict, random: &random)
        #expect(disk.write(handle, at: 0, [1], now: ms(4)) == .notFound)
        #expect(!disk.hasNotices && disk.sketch == "b=2" && disk.usedBytes < used)
        disk.mkdir(at("d"), now: ms(5))
        #expect(!disk.hasNotices)
    }
}

extension String {
    /// Without the words for directories, which say nothing about what may be lost.
    fileprivate var withoutDirectories: String {
        split(separator: " ").filter { !$0.hasSuffix("/") || !$0.contains("stage") && !$0.contains("versions") }
            .filter { $0 != "quarantine/" }.joined(separator: " ")
    }
}
