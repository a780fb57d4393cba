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

    @Test("R-01: what was synced survives every power cut, in random lives of many steps") func syncedSurvives() {
        var cuts = 0
        for seed in 0..<150 {
            var life = DiskLife(seed: UInt64(seed))
            for _ in 0..<40 {
                life.act()
                guard life.random.chance(percent: 10) else { continue }
                cuts += 1
                for model in CrashModel.allCases {
                    var image = life.disk
                    image.powerCut(model: model, random: &life.random)
                    let broken = life.promises.broken(by: image)
                    #expect(broken.isEmpty, "seed \(seed), \(model): \(broken.joined(separator: "; "))")
                    #expect(image.isSynced)
                    // Sometimes life goes on from there: a recovery may be interrupted too.
                    if life.random.chance(percent: 10) { life.continueOn(image) }
                }
            }
        }
        #expect(cuts > 500)
    }

    @Test("what the durable layer shows and nobody changes is there after every power cut") func durableLayer() {
        var checked = 0
        for seed in 0..<60 {
            var life = DiskLife(seed: UInt64(seed) + 5_000)
            for _ in 0..<40 { life.act() }
            let settled = life.disk.allContents(.durable).filter { life.disk.isSettled($0.path) }
            checked += settled.count
            for model in CrashModel.allCases {
                var image = life.disk
                image.powerCut(model: model, random: &life.random)
                let left = image.allContents()
                for content in settled {
                    let there = left.first { $0.path == content.path }
                    #expect(there?.entry.content == content.entry.content, "seed \(seed), \(model): \(content.path)")
                }
            }
        }
        #expect(checked > 300, "the promises must be about something")
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

    @Test("killing the daemon loses nothing at all") func killLosesNothing() {
        for seed in 0..<20 {
            var life = DiskLife(seed: UInt64(seed) + 9_000)
            for _ in 0..<40 { life.act() }
            let before = life.disk.allContents()
            life.disk.kill()
            #expect(life.disk.allContents() == before)
        }
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

    @Test("ordered: what is left of the names is what they were at one moment") func orderedIsAPrefix() {
        for seed in 0..<60 {
            var life = DiskLife(seed: UInt64(seed) + 20_000)
            var moments = [life.survey.names]
            for _ in 0..<30 {
                life.act()
                moments.append(life.survey.names)
            }
            for _ in 0..<10 {
                var image = life.disk
                image.powerCut(model: .ordered, random: &life.random)
                #expect(moments.contains(DiskLife.Survey(image).names), "seed \(seed)")
            }
        }
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

    @Test("with reused numbers two files never share one after a power cut", arguments: CrashModel.allCases)
    func reusedNumbers(model: CrashModel) throws {
        for seed in 0..<60 {
            var life = DiskLife(seed: UInt64(seed) + 30_000)
            life.disk.faults.reusesInodes = true
            for _ in 0..<40 { life.actWithoutPromises() }
            for _ in 0..<5 {
                var image = life.disk
                image.powerCut(model: model, random: &life.random)
                var births = SortedMap<UInt64, Timestamp>()
                for content in image.allContents() {
                    let identity = try #require(image.stat(content.path)).identity
                    if let other = births.updateValue(identity.birth, forKey: identity.inode) {
                        #expect(other == identity.birth, "seed \(seed): inode \(identity.inode) twice")
                    }
                }
            }
        }
    }

    @Test("a folder of 40 files, a thousand operations and images of them are cheap") func cheap() {
        var disk = VirtualDisk.sketched("d/")
        for number in 0..<40 { disk.writeFile(at("d/f\(number)"), SeededBytes.make(500), now: ms(1)) }
        disk.syncEverything()
        let clock = ContinuousClock()
        let spent = clock.measure {
            for round in 0..<100 {
                var image = disk
                for step in 0..<10 {
                    let place = tree("d/f\((round + step) % 40)")
                    _ = image.run(
                        DiskProgram([
                            .createFile(stage1), .write(stage1, offset: 0, bytes: utf8("x")), .syncFile(stage1),
                            .exchange(stage1, place), .syncParent(place), .discard(stage1),
                        ]), now: ms(2))
                }
            }
        }
        // 6,000 operations on 100 images. A debug build takes a tenth of this.
        #expect(spent < .seconds(5), "\(spent)")
    }
}

extension String {
    /// Without the words for directories, which say nothing about what may be lost.
    fileprivate var withoutDirectories: String {
        split(separator: " ").filter { !$0.hasSuffix("/") || !$0.contains("stage") && !$0.contains("versions") }
            .filter { $0 != "quarantine/" }.joined(separator: " ")
    }
}

/// What has been promised by successful syncs and not been changed since, kept apart from the disk's own bookkeeping.
struct Promises {
    struct Key: Hashable, Comparable {
        let directory: UInt64
        let name: Name

        static func < (left: Key, right: Key) -> Bool { (left.directory, left.name) < (right.directory, right.name) }
    }

    struct Content {
        /// Nil where the byte has been written since the last sync.
        var bytes: [UInt8?]
        /// Not written, cut or lengthened since then.
        var isWhole = true
        var mode: UInt16?
        var modified: Timestamp?
    }

    /// Names in their synced directories; nil for a name that was taken away.
    var names = SortedMap<Key, UInt64?>()
    var contents = SortedMap<UInt64, Content>()
    /// Inodes that had a promised path and have not lost their last name: they must be somewhere.
    var somewhere: [UInt64] = []

    mutating func changed(_ before: SortedMap<Key, UInt64>, _ after: SortedMap<Key, UInt64>) {
        for (key, inode) in before where after[key] != inode { names[key] = nil }
        for (key, inode) in after where before[key] != inode { names[key] = nil }
        let alive = after.map { $0.value }
        somewhere.removeAll { !alive.contains($0) }
    }

    mutating func syncedDirectory(
        _ directory: UInt64, _ current: SortedMap<Key, UInt64>, _ everNamed: [Key], root: UInt64
    ) {
        for key in everNamed where key.directory == directory { names[key] = .some(current[key]) }
        for inode in reachable(from: root) where !somewhere.contains(inode) { somewhere.append(inode) }
    }

    /// Inodes with a path of which every name is promised.
    private func reachable(from root: UInt64) -> [UInt64] {
        var found = [root]
        var next = 0
        while next < found.count {
            for (key, inode) in names where key.directory == found[next] {
                if let inode, !found.contains(inode) { found.append(inode) }
            }
            next += 1
        }
        return found
    }

    /// The promises that this disk does not keep.
    func broken(by disk: VirtualDisk) -> [String] {
        var complaints: [String] = []
        let found = DiskLife.Survey(disk).names
        var present: [UInt64] = disk.stat(Path.root).map { [$0.identity.inode] } ?? []
        present += found.map { $0.value }
        for (key, inode) in names where present.contains(key.directory) && found[key] != inode {
            complaints.append(
                "name \(Path.escape(key.name.bytes)) in \(key.directory) should be \(inode as Any), is \(found[key] as Any)"
            )
        }
        for inode in somewhere where !present.contains(inode) { complaints.append("inode \(inode) is nowhere") }
        for stored in disk.allContents() {
            guard let promised = contents[stored.stat.identity.inode] else { continue }
            let bytes = stored.entry.bytes ?? []
            for (index, byte) in promised.bytes.enumerated() {
                guard let byte else { continue }
                if index >= bytes.count || bytes[index] != byte {
                    complaints.append("\(stored.path) differs at \(index)")
                    break
                }
            }
            if let mode = promised.mode, stored.entry.mode != mode {
                complaints.append("\(stored.path) has another mode")
            }
            if let time = promised.modified, stored.entry.modified != time {
                complaints.append("\(stored.path) has another time")
            }
        }
        return complaints
    }
}

/// A disk that is used at random by the daemon and by a user, with an account of what they were promised.
struct DiskLife {
    var disk: VirtualDisk
    var promises = Promises()
    var random: SeededRandom
    private var clock: Int64 = 100
    private(set) var survey: Survey
    /// Every name there ever was, so that one taken away can be promised to stay away.
    private var everNamed = SortedMap<Promises.Key, Bool>()

    init(seed: UInt64) {
        random = SeededRandom(seed: seed, stream: "life")
        disk = VirtualDisk.sketched("a=1 b/ b/c=22 d/")
        survey = Survey(disk)
        continueOn(disk)
    }

    /// After a power cut everything that is there has been on the disk.
    mutating func continueOn(_ image: VirtualDisk) {
        disk = image
        promises = Promises()
        survey = Survey(disk)
        for (key, _) in survey.names { everNamed[key] = true }
        for content in disk.allContents() { synced(content.path, content.entry) }
        if let root = disk.stat(Path.root) { syncedDirectory(root.identity.inode) }
        for (inode, stat) in survey.stats where stat.kind == .directory { syncedDirectory(inode) }
    }

    /// Who stands where, and how: what can be seen of a disk without reading it.
    struct Survey {
        var names = SortedMap<Promises.Key, UInt64>()
        var stats = SortedMap<UInt64, Stat>()

        init(_ disk: VirtualDisk) {
            var directories: [Path: UInt64] = [:]  // lookup only
            directories[.root] = disk.stat(Path.root)?.identity.inode
            for content in disk.allContents() {
                guard let parent = content.path.parent, let name = content.path.name, let directory = directories[parent]
                else { continue }
                let inode = content.stat.identity.inode
                names[Promises.Key(directory: directory, name: name)] = inode
                stats[inode] = content.stat
                if content.stat.kind == .directory { directories[content.path] = inode }
            }
        }
    }

    private mutating func path() -> Path {
        if random.chance(percent: 25) { return at(".syncd/stage/s000000000000000\(random.below(3))") }
        var path = Path.root
        for _ in 0...random.below(3) {
            if let name = random.pick(["a", "b", "c", "d"]).flatMap({ Name($0) }) { path = path.appending(name) }
        }
        return path
    }

    private func place(_ path: Path) -> Place {
        guard path.isReserved, let last = path.bytes.last else { return .tree(path) }
        return .stage(StageName(raw: UInt64(last - 0x30)))
    }

    mutating func actWithoutPromises() {
        clock += 1
        disk.uptimeMilliseconds += 1_000
        step()
    }

    mutating func act() {
        let before = survey
        actWithoutPromises()
        survey = Survey(disk)
        for (key, _) in survey.names { everNamed[key] = true }
        promises.changed(before.names, survey.names)
        forget(before.stats)
        if let path = syncedFile, let entry = disk.allContents().first(where: { $0.path == path })?.entry {
            synced(path, entry)
        }
        if let directory = syncedDirectoryInode { syncedDirectory(directory) }
    }

    /// What the last step did.
    private var syncedFile: Path?
    private var syncedDirectoryInode: UInt64?

    private var written: (path: Path, change: Written)?

    private enum Written {
        case anew
        case patched(Range<Int>)
        case cut(Int)
    }

    private mutating func step() {
        syncedFile = nil
        syncedDirectoryInode = nil
        written = nil
        let now = ms(clock)
        let (one, two) = (path(), path())
        switch random.below(16) {
        case 0, 1: if disk.writeFile(one, random.bytes(random.below(2_000)), now: now) == nil { written = (one, .anew) }
        case 2: patch(one, now: now)
        case 3: disk.mkdir(one, now: now)
        case 4: disk.rename(one, to: two, now: now)
        case 5: _ = disk.perform(.exchange(place(one), place(two)), now: now)
        case 6: _ = disk.perform(.move(place(one), to: place(two)), now: now)
        case 7: random.chance(percent: 50) ? drop(disk.unlink(one, now: now)) : drop(disk.rmdir(one, now: now))
        case 8: disk.link(one, two, now: now)
        case 9: random.chance(percent: 50) ? drop(disk.chmod(one, 0o600, now: now)) : cut(one, now: now)
        case 10: disk.setTimes(one, modified: ms(Int64(random.below(100_000))), now: now)
        case 11: if random.chance(percent: 30) { disk.writeBack(olderThan: UInt64(random.below(30_000))) }
        case 12, 13:
            if disk.perform(.syncFile(place(one)), now: now) == .done {
                if disk.kind(one) == .directory {
                    syncedDirectoryInode = disk.stat(one)?.identity.inode
                } else {
                    syncedFile = one
                }
            }
        default:
            if disk.perform(.syncParent(place(one)), now: now) == .done {
                syncedDirectoryInode = one.parent.flatMap { disk.stat($0) }?.identity.inode
            }
        }
    }

    private func drop(_ result: DiskError?) {}

    private mutating func patch(_ path: Path, now: Timestamp) {
        guard case .success(let handle) = disk.open(path, now: now) else { return }
        let offset = random.below(2_500)
        let bytes = random.bytes(random.below(700))
        if disk.write(handle, at: UInt64(offset), bytes, now: now) == nil {
            written = (path, .patched(offset..<(offset + bytes.count)))
        }
        disk.close(handle)
    }

    private mutating func cut(_ path: Path, now: Timestamp) {
        guard case .success(let handle) = disk.open(path, now: now) else { return }
        let size = random.below(2_500)
        if disk.truncate(handle, to: UInt64(size), now: now) == nil { written = (path, .cut(size)) }
        disk.close(handle)
    }

    /// What the last step has done to contents, modes and times is promised no longer.
    private mutating func forget(_ before: SortedMap<UInt64, Stat>) {
        for (inode, new) in survey.stats {
            guard let old = before[inode] else { continue }
            if old.mode != new.mode { promises.contents.update(inode) { $0.mode = nil } }
            if old.modified != new.modified { promises.contents.update(inode) { $0.modified = nil } }
        }
        guard let written, let inode = disk.stat(written.path)?.identity.inode else { return }
        promises.contents.update(inode) { promised in
            promised.isWhole = false
            switch written.change {
            case .anew: promised.bytes = []
            case .patched(let range):
                for index in range.clamped(to: promised.bytes.indices) { promised.bytes[index] = nil }
            case .cut(let size): promised.bytes = Array(promised.bytes.prefix(size))
            }
        }
    }

    private mutating func synced(_ path: Path, _ entry: VirtualEntry) {
        guard let stat = disk.stat(path) else { return }
        promises.contents[stat.identity.inode] = Promises.Content(
            bytes: entry.bytes ?? [], mode: entry.mode, modified: entry.modified)
    }

    private mutating func syncedDirectory(_ inode: UInt64) {
        guard let root = disk.stat(Path.root) else { return }
        promises.syncedDirectory(inode, survey.names, everNamed.map { $0.key }, root: root.identity.inode)
    }
}
