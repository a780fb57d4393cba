/// The scanner: every difference between the folder and the rows, none twice, whatever the size of the pieces; and nothing
/// about what it could not see.
import SyncModel
import SyncSim
import Testing

@Suite("The virtual disk: scans") struct VirtualDiskScanTests {
    private typealias Rows = SortedMap<Path, Row>

    /// Rows that know the disk as it is.
    private func rows(of disk: VirtualDisk) -> Rows {
        var rows = Rows()
        for (path, _) in disk.tree() {
            guard let stat = disk.stat(path) else { continue }
            rows[path] = row(path, stat)
        }
        return rows
    }

    private func row(_ path: Path, _ stat: Stat) -> Row {
        var row = Row(path: path)
        let content: Content = stat.kind == .directory ? .directory : .file(ContentID(.zero), size: stat.size)
        row.disk = Row.DiskState(
            entry: Entry(content: content, mode: stat.mode, modified: stat.modified), stat: stat,
            origins: Origins(all: Origin(author: .own, position: .none, time: .zero)))
        return row
    }

    /// All chunks of a scan, put together.
    private func scan(
        _ disk: inout VirtualDisk, _ rows: Rows, below directory: Path = .root, limit: Int = 1_000,
        ignoring patterns: String = ""
    ) -> (differences: [Difference], unreadable: [Path], chunks: Int) {
        var rules = IgnoreRules()
        rules.setFile(directory: [], contents: utf8(patterns))
        var differences: [Difference] = []
        var unreadable: [Path] = []
        var chunks = 0
        var after: Path?
        repeat {
            let request = ScanRequest(directory: directory, after: after, limit: limit)
            let chunk = disk.scan(request, rules: rules) { rows.first(after: $0)?.value }
            #expect(chunk.differences.count <= limit)
            differences += chunk.differences
            unreadable += chunk.unreadable.filter { !unreadable.contains($0) }
            after = chunk.resume
            chunks += 1
        } while after != nil && chunks < 10_000
        return (differences, unreadable, chunks)
    }

    private func told(_ differences: [Difference]) -> String {
        differences.map { ($0.stat == nil ? "-" : "+") + "\($0.path)" }.joined(separator: " ")
    }

    @Test("nothing has changed, nothing is told; our own directory is not looked into") func same() {
        var disk = VirtualDisk.sketched("a=1 d/ d/e/ d/e/f=2 d-x=3")
        disk.stage(stage1, "new")
        let rows = rows(of: disk)
        #expect(scan(&disk, rows).differences.isEmpty)
        #expect(
            told(scan(&disk, Rows()).differences) == "+a +d +d/e +d/e/f +d-x", "a directory comes before what is in it")
    }

    @Test("written, replaced, new, gone, and a directory that became a file") func changes() {
        var disk = VirtualDisk.sketched("a=1 b=2 c=3 d/ d/e=4 d/f=5")
        let rows = rows(of: disk)
        disk.writeFile(at("a"), utf8("x"), now: ms(9))
        disk.unlink(at("b"), now: ms(9))
        disk.rename(at("c"), to: at("n"), now: ms(9))
        disk.removeTree(at("d"), now: ms(9))
        disk.writeFile(at("d"), utf8("x"), now: ms(9))
        #expect(told(scan(&disk, rows).differences) == "+a -b -c +d -d/e -d/f +n")
    }

    @Test("only what lies below the directory is compared, and its own absence is the absence of all of it")
    func parts() {
        var disk = VirtualDisk.sketched("a=1 d/ d/e=4 d-=5 z=6")
        #expect(told(scan(&disk, Rows(), below: at("d")).differences) == "+d/e")
        let rows = rows(of: disk)
        disk.removeTree(at("d"), now: ms(9))
        disk.unlink(at("z"), now: ms(9))
        #expect(told(scan(&disk, rows, below: at("d")).differences) == "-d/e")
    }

    @Test("what could not be read is unknown: INV-25, no absence without evidence") func unreadable() {
        for denied in [true, false] {
            var disk = VirtualDisk.sketched("a=1 d/ d/e/ d/e/f=2 d/g=3 z=4")
            let rows = rows(of: disk)
            disk.removeTree(at("d/e"), now: ms(9))
            disk.unlink(at("z"), now: ms(9))
            if denied {
                disk.faults.permissionDenied = [at("d")]
            } else {
                disk.faults.readErrors = FaultChance(paths: [at("d")])
            }
            let whole = scan(&disk, rows)
            #expect(told(whole.differences) == "+d -z", "the directory itself has changed, and that can be seen")
            #expect(whole.unreadable == [at("d")])
            for directory in [at("d"), at("d/e")] {
                let part = scan(&disk, rows, below: directory)
                #expect(part.differences.isEmpty && part.unreadable == [directory])
            }
            disk.faults.permissionDenied = []
            disk.faults.readErrors = FaultChance(next: 1)
            let blind = scan(&disk, rows)
            #expect(blind.differences.isEmpty && blind.unreadable == [.root])
            #expect(told(scan(&disk, rows).differences) == "+d -d/e -d/e/f -z")
        }
    }

    @Test("a directory that cannot be read any more when the scan goes on is unknown from there on")
    func suddenlyUnreadable() {
        var disk = VirtualDisk.sketched("d/ d/a=1 d/z=2 e=3")
        let rows = rows(of: disk)
        disk.removeTree(at("d/z"), now: ms(9))
        disk.unlink(at("e"), now: ms(9))
        disk.writeFile(at("d/a"), utf8("x"), now: ms(9))
        func piece(after: Path?, limit: Int) -> ScanChunk {
            disk.scan(ScanRequest(directory: .root, after: after, limit: limit), rules: IgnoreRules()) {
                rows.first(after: $0)?.value
            }
        }
        let first = piece(after: nil, limit: 2)
        #expect(told(first.differences) == "+d +d/a" && first.resume == at("d/a"))
        disk.faults.permissionDenied = [at("d")]
        let second = piece(after: first.resume, limit: 2)
        #expect(told(second.differences) == "-e" && second.unreadable == [at("d")] && second.resume == nil)
    }

    @Test("the root is looked at when the piece is done") func root() {
        var disk = VirtualDisk.sketched("a=1")
        let rows = rows(of: disk)
        let request = ScanRequest(directory: .root, after: nil, limit: 9)
        #expect(disk.scan(request, rules: IgnoreRules()) { rows.first(after: $0)?.value }.root == .healthy)
        disk.unmount(leaving: .emptyDirectory)
        let chunk = disk.scan(request, rules: IgnoreRules()) { rows.first(after: $0)?.value }
        #expect(chunk.root == .replaced && told(chunk.differences) == "-a", "the core must not believe this")
        disk.unmount(leaving: .nothing)
        #expect(disk.scan(request, rules: IgnoreRules()) { rows.first(after: $0)?.value }.root == .missing)
    }

    @Test("ignored paths are not seen, but a row that still shows one is told") func ignored() {
        var disk = VirtualDisk.sketched("a.tmp=1 b=2 cache/ cache/x=3 d/ d/c.tmp=4")
        let patterns = "*.tmp\ncache/\n"
        #expect(told(scan(&disk, Rows(), ignoring: patterns).differences) == "+b +d")
        var rows = rows(of: disk)
        #expect(
            told(scan(&disk, rows, ignoring: patterns).differences) == "+a.tmp +cache +cache/x +d/c.tmp",
            "they have become ignored")
        disk.unlink(at("a.tmp"), now: ms(9))
        #expect(told(scan(&disk, rows, ignoring: patterns).differences) == "-a.tmp +cache +cache/x +d/c.tmp")
        // The core has marked them.
        for text in ["a.tmp", "cache", "cache/x", "d/c.tmp"] {
            rows[at(text)]?.condition = .ignored
            if text == "d/c.tmp" { rows[at(text)]?.disk = nil }
        }
        rows[at("d")] = disk.stat(at("d")).map { row(at("d"), $0) }
        #expect(scan(&disk, rows, ignoring: patterns).differences.isEmpty)
        disk.writeFile(at("d/c.tmp"), utf8("new"), now: ms(10))
        #expect(scan(&disk, rows, ignoring: patterns).differences.isEmpty)
        // And when the rules no longer name them, they are news.
        #expect(told(scan(&disk, rows, ignoring: "").differences) == "-a.tmp +cache +cache/x +d/c.tmp")
    }

    @Test("a row without a disk state is no difference while nothing is there") func forgotten() {
        var disk = VirtualDisk.sketched("")
        var rows = Rows()
        rows[at("gone")] = Row(path: at("gone"))
        #expect(scan(&disk, rows).differences.isEmpty)
        disk.writeFile(at("gone"), utf8("back"), now: ms(2))
        #expect(told(scan(&disk, rows).differences) == "+gone")
        rows[at("gone")] = disk.stat(at("gone")).map { row(at("gone"), $0) }
        rows[at("gone")]?.condition = .damaged
        #expect(told(scan(&disk, rows).differences) == "+gone", "a row that is not normal is looked at again")
    }

    @Test("the pieces of a scan make the whole, whatever their size, and agree with a join done the simple way")
    func pieces() {
        var random = SeededRandom(seed: 11)
        for round in 0..<150 {
            var disk = VirtualDisk.sketched("")
            var world = RandomTree(seed: UInt64(round))
            for _ in 0..<60 { world.change(&disk) }
            var rows = rows(of: disk)
            for _ in 0..<25 { world.change(&disk) }
            for (path, _) in rows where random.chance(percent: 10) { rows[path] = Row(path: path) }

            let denied =
                random.chance(percent: 30) ? disk.tree().filter { $0.1.content == .directory }.map { $0.0 } : []
            disk.faults.permissionDenied = random.pick(denied).map { [$0] } ?? []
            let hidden = disk.faults.permissionDenied
            var paths = rows.map { $0.key }
            paths += disk.tree().map { $0.0 }.filter { rows[$0] == nil }
            let expected = paths.sorted().compactMap { path -> Difference? in
                if hidden.contains(where: { path.isBelow($0) }) { return nil }
                return ScanJoin.difference(at: path, row: rows[path], stat: disk.stat(path))
            }
            for limit in [1, 2, 3, 7, 1_000] {
                let found = scan(&disk, rows, limit: limit)
                #expect(found.differences == expected, "round \(round), pieces of \(limit)")
                #expect(found.unreadable == hidden)
                #expect(found.chunks <= expected.count / limit + 1)
            }
        }
    }
}

/// Somebody who works in a folder of a few names on three levels, without an aim.
struct RandomTree {
    private var random: SeededRandom
    private var clock: Int64 = 100

    init(seed: UInt64) {
        random = SeededRandom(seed: seed, stream: "tree")
    }

    mutating func path() -> Path {
        let names = ["a", "b", "b-", "c", "d.x"]
        var path = Path.root
        for _ in 0...random.below(3) {
            if let name = random.pick(names).flatMap({ Name($0) }) { path = path.appending(name) }
        }
        return path
    }

    mutating func change(_ disk: inout VirtualDisk) {
        clock += 1
        let now = ms(clock)
        switch random.below(9) {
        case 0, 1: disk.writeFile(path(), random.bytes(random.below(40)), now: now)
        case 2, 3: disk.mkdir(path(), now: now)
        case 4: disk.rename(path(), to: path(), now: now)
        case 5: disk.unlink(path(), now: now)
        case 6: disk.symlink(path(), target: utf8("a"), now: now)
        case 7: disk.chmod(path(), UInt16(random.below(512)), now: now)
        case 8 where random.chance(percent: 20): disk.removeTree(path(), now: now)
        default: disk.rmdir(path(), now: now)
        }
    }
}
