/// Random lives of a disk, cut off at random: what its successful syncs have promised is kept by an account of its own, which
/// knows nothing of how the disk works, and has to be found after every power cut.
import SyncModel
import SyncSim
import Testing

@Suite("The virtual disk: promises") struct VirtualDiskPromiseTests {
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

    @Test("killing the daemon loses nothing at all") func killLosesNothing() {
        for seed in 0..<20 {
            var life = DiskLife(seed: UInt64(seed) + 9_000)
            for _ in 0..<40 { life.act() }
            let before = life.disk.allContents()
            life.disk.kill()
            #expect(life.disk.allContents() == before)
        }
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
                guard let parent = content.path.parent, let name = content.path.name,
                    let directory = directories[parent]
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
