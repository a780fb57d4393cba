/// The scanner: every difference between the folder and the rows, none twice, whatever the size of the pieces; and
/// nothing about what it could not see.
import Glibc
import SyncModel
import SyncSim
import Testing

@testable import Disk

/// All chunks of a scan, put together.
struct WholeScan {
    var differences: [Difference] = []
    var unreadable: [Path] = []
    var unsupported: [Path] = []
    var chunks = 0

    var told: String {
        differences.map { ($0.stat == nil ? "-" : "+") + "\($0.path)" }.joined(separator: " ")
    }

    init(
        _ folder: Folder, _ rows: Rows = Rows(), below directory: Path = .root, limit: Int = 1_000,
        ignoring patterns: String = "", watcher: Watcher? = nil, page: Int = 3, between: () -> Void = {}
    ) {
        var rules = IgnoreRules()
        rules.setFile(directory: [], contents: utf8(patterns))
        var after: Path?
        repeat {
            let chunk = folder.scan(
                ScanRequest(directory: directory, after: after, limit: limit), rules: rules, watcher: watcher
            ) { rows.page(below: $0, after: $1, limit: page) }
            #expect(chunk.differences.count <= limit)
            #expect(chunk.root == .healthy)
            differences += chunk.differences
            unreadable += chunk.unreadable.filter { !unreadable.contains($0) }
            unsupported += chunk.unsupported.filter { !unsupported.contains($0) }
            after = chunk.resume
            chunks += 1
            between()
        } while after != nil && chunks < 10_000
    }
}

extension Scratch {
    /// Rows that know the folder as it is.
    func rows() -> Rows {
        Rows(WholeScan(folder).differences.map { ($0.path, Row($0.path, $0.stat ?? Row.nothing)) })
    }
}

extension Row {
    fileprivate static let nothing = Stat(
        identity: FileIdentity(device: 0, inode: 0, birth: .zero), kind: .special, mode: 0, size: 0, modified: .zero,
        changed: .zero)
}

@Suite("scans tell the differences and nothing else")
struct ScanTests {
    private func folder() throws -> Scratch {
        let scratch = try Scratch()
        for name in ["a", "d-x", "z"] { try scratch.write(name, utf8(name)) }
        for name in ["d", "d/e", "empty"] { try scratch.makeDirectory(name) }
        for name in ["d/e/f", "d/g"] { try scratch.write(name) }
        try scratch.symlink("link", to: "/etc")
        return scratch
    }

    @Test("everything is new to a node without rows, in path order, and our own directory is left out") func fresh()
        throws
    {
        let scratch = try folder()
        let scan = WholeScan(scratch.folder)
        #expect(scan.told == "+a +d +d/e +d/e/f +d/g +d-x +empty +link +z")
        #expect(scan.differences.map(\.path) == scan.differences.map(\.path).sorted())
        #expect(scan.unreadable.isEmpty)
    }

    @Test("a folder that has not changed has no difference") func same() throws {
        let scratch = try folder()
        #expect(WholeScan(scratch.folder, scratch.rows()).told == "")
    }

    @Test("what came, went and changed is told once, in chunks of any size", arguments: [1, 2, 3, 100])
    func changes(limit: Int) throws {
        let scratch = try folder()
        let rows = scratch.rows()
        try scratch.write("d/e/new")
        try scratch.unlink("a")
        scratch.removeTree("empty")
        try scratch.write("z", utf8("longer"))
        let watcher = try Watcher(folder: scratch.folder)
        for watcher in [nil, watcher] {
            let scan = WholeScan(scratch.folder, rows, limit: limit, watcher: watcher)
            #expect(scan.told == "-a +d/e +d/e/new -empty +z")
            #expect(scan.chunks >= 5 / limit)
        }
    }

    @Test("a part of the tree is scanned alone") func part() throws {
        let scratch = try folder()
        #expect(WholeScan(scratch.folder, below: at("d")).told == "+d/e +d/e/f +d/g")
        #expect(WholeScan(scratch.folder, scratch.rows(), below: at("none")).told == "")
        #expect(WholeScan(scratch.folder, below: at("a")).told == "")
        #expect(WholeScan(scratch.folder, below: at(".syncd")).unreadable == [at(".syncd")])
    }

    @Test("what lies below a directory that has become a symlink or a file is absent, never elsewhere") func replaced()
        throws
    {
        let scratch = try folder()
        let rows = scratch.rows()
        try scratch.rename("d", "moved")
        try scratch.symlink("d", to: "moved")
        let told = WholeScan(scratch.folder, rows).told
        #expect(told == "+d -d/e -d/e/f -d/g +moved +moved/e +moved/e/f +moved/g")
    }

    @Test("ignored paths are neither told nor looked into, and told once if a row has them on disk") func ignored()
        throws
    {
        let scratch = try folder()
        let rows = scratch.rows()
        #expect(WholeScan(scratch.folder, ignoring: "d/\nz").told == "+a +d-x +empty +link")
        var once = rows
        #expect(WholeScan(scratch.folder, once, ignoring: "d/").told == "+d +d/e +d/e/f +d/g")
        for path in [at("d"), at("d/e"), at("d/e/f"), at("d/g")] {
            var row = Row(path: path)
            row.condition = .ignored
            once[path] = row
        }
        #expect(WholeScan(scratch.folder, once, ignoring: "d/").told == "")
        #expect(WholeScan(scratch.folder, once).told == "+d +d/e +d/e/f +d/g")
    }

    @Test("an ignored directory gets no watch") func unwatchedIgnored() throws {
        let scratch = try folder()
        let watcher = try Watcher(folder: scratch.folder)
        _ = WholeScan(scratch.folder, ignoring: "d/", watcher: watcher)
        #expect(watcher.count == 2)
        _ = WholeScan(scratch.folder, watcher: watcher)
        #expect(watcher.count == 4)
    }

    @Test("a directory that may not be read is reported, and what it holds is unknown", .needsAnotherUser)
    func unreadable() throws {
        let scratch = try folder()
        let rows = scratch.rows()
        unsafe chmod(scratch.above, 0o755)
        for name in ["", "/.syncd", "/.syncd/folder-id", "/d"] {
            unsafe chown(scratch.path + name, Nobody.id, Nobody.id)
        }
        unsafe chmod(scratch.path + "/d/e", 0)
        try scratch.unlink("d/e/f")
        Nobody.act {
            let scan = WholeScan(scratch.folder, rows)
            #expect(scan.unreadable == [at("d/e")] && scan.unsupported.isEmpty)
            // Modes of what changed hands are told; nothing is said of d/e/f.
            #expect(!scan.told.contains("d/e/f"))
            #expect(!scan.told.contains("-"))
            for limit in 1...3 { #expect(!WholeScan(scratch.folder, rows, limit: limit).told.contains("d/e/f")) }
            #expect(scratch.folder.inspect([at("d/e/f")]).results == [.failed(.permission)])
            #expect(scratch.folder.hash([at("d/e/f")], chunking: .standard) == [.failed(.permission)])
        }
        unsafe chmod(scratch.path + "/d/e", 0o755)
        #expect(WholeScan(scratch.folder, rows).told.contains("-d/e/f"))
    }

    @Test("a file system mounted inside is unknown, not absent", .needsMounting)
    func mountInside() throws {
        let scratch = try folder()
        let rows = scratch.rows()
        let mount = try Mount(at: scratch.path + "/d")
        defer { mount.remove() }
        try scratch.write("d/inside")
        let scan = WholeScan(scratch.folder, rows)
        #expect(scan.told == "")
        #expect(scan.unreadable == [at("d")] && scan.unsupported == [at("d")])
        #expect(
            scratch.folder.inspect([at("d"), at("d/g")]).results == [.failed(.crossDevice), .failed(.crossDevice)])
        let place = Place.tree(at("d/inside"))
        #expect(scratch.folder.run([DiskProgram([.inspect(place)])])[0].failure?.error == .crossDevice)
        let moving = DiskProgram([.createFile(.stage(StageName(raw: 1))), .move(.stage(StageName(raw: 1)), to: place)])
        #expect(scratch.folder.run([moving])[0].failure == .init(index: 1, error: .crossDevice))
    }

    @Test("a root that is not there says nothing about its content") func rootGone() throws {
        let scratch = try folder()
        let rows = scratch.rows()
        unsafe rename(scratch.path, scratch.above + "/away")
        let request = ScanRequest(directory: .root, after: nil, limit: 9)
        for expected in [RootState.missing, .replaced] {
            let chunk = scratch.folder.scan(request, rules: IgnoreRules(), watcher: nil) {
                rows.page(below: $0, after: $1, limit: 9)
            }
            #expect(chunk == ScanChunk(differences: [], resume: nil, root: expected, unreadable: []))
            unsafe mkdir(scratch.path, 0o755)
        }
    }

    @Test("a store that cannot answer ends the chunk, and the next one goes on from there") func storeFails() throws {
        let scratch = try folder()
        let rows = scratch.rows()
        try scratch.unlink("z")
        var calls = 0
        let request = ScanRequest(directory: .root, after: nil, limit: 9)
        let chunk = scratch.folder.scan(request, rules: IgnoreRules(), watcher: nil) { directory, after in
            calls += 1
            return calls == 3 ? nil : rows.page(below: directory, after: after, limit: 2)
        }
        #expect(chunk.differences.isEmpty)
        let resume = try #require(chunk.resume)
        #expect(resume == at("d/e/f"))
        let rest = scratch.folder.scan(
            ScanRequest(directory: .root, after: resume, limit: 9), rules: IgnoreRules(), watcher: nil
        ) { rows.page(below: $0, after: $1, limit: 2) }
        #expect(rest.differences == [Difference(path: at("z"), stat: nil)])
    }

    @Test("between two chunks anything may happen: nothing that stands is told to be absent") func between() throws {
        let scratch = try folder()
        let rows = scratch.rows()
        let watcher = try Watcher(folder: scratch.folder)
        var turn = 0
        let scan = WholeScan(scratch.folder, rows, limit: 1, watcher: watcher) {
            turn += 1
            // Another directory under the same name each time, with the same files.
            scratch.removeTree("d")
            unsafe mkdir(scratch.path + "/d", 0o755)
            unsafe mkdir(scratch.path + "/d/e", 0o755)
            for name in ["d/g", "d/e/f"] {
                unsafe close(open("\(scratch.path)/\(name)", O_CREAT | O_WRONLY | O_CLOEXEC, 0o644))
            }
            unsafe close(open("\(scratch.path)/a\(turn)", O_CREAT | O_WRONLY | O_CLOEXEC, 0o644))
        }
        #expect(!scan.told.contains("-d/"))
    }

    @Test("a directory that has made way for another between two chunks is listed anew") func replacedBetween() throws {
        let scratch = try folder()
        let rows = scratch.rows()
        try scratch.unlink("a")
        let watcher = try Watcher(folder: scratch.folder)
        var isFirst = true
        let scan = WholeScan(scratch.folder, rows, limit: 1, watcher: watcher) {
            // Once, when the scan has come to d and stopped at its first difference; the old one keeps its files.
            if isFirst {
                do { try scratch.setMode("d/e/f", 0o600) } catch { Issue.record("\(error)") }
            } else if Scratch.status(utf8(scratch.above + "/old")) == nil {
                unsafe rename(scratch.path + "/d", scratch.above + "/old")
                unsafe mkdir(scratch.path + "/d", 0o755)
            }
            isFirst = false
        }
        #expect(scan.told.contains("-d/g"))
    }

    @Test("a directory that is replaced while it is being scanned is not told to be empty") func replacedMeanwhile()
        throws
    {
        let scratch = try folder()
        let rows = scratch.rows()
        let request = ScanRequest(directory: .root, after: nil, limit: 99)
        let chunk = scratch.folder.scan(request, rules: IgnoreRules(), watcher: nil) { directory, after in
            if after == at("d") {
                unsafe rename(scratch.path + "/d", scratch.above + "/old")
                for name in ["d", "d/e"] { unsafe mkdir(scratch.path + "/" + name, 0o755) }
                for name in ["d/g", "d/e/f"] {
                    unsafe close(open("\(scratch.path)/\(name)", O_CREAT | O_WRONLY | O_CLOEXEC, 0o644))
                }
                Scratch.remove(scratch.above + "/old")
            }
            return rows.page(below: directory, after: after, limit: 1)
        }
        #expect(!chunk.differences.contains { $0.stat == nil })
        #expect(chunk.differences.contains { $0.path == at("d/g") })
    }

    @Test("a directory deeper or longer than a path may be is reported once") func tooDeep() throws {
        let scratch = try Scratch()
        var path = ""
        for _ in 0..<Limits.pathDepthMax {
            path += path.isEmpty ? "d" : "/d"
            try scratch.makeDirectory(path)
        }
        let whole = WholeScan(scratch.folder)
        #expect(whole.differences.count == Limits.pathDepthMax)
        #expect(whole.unreadable.isEmpty)
        try scratch.write(path + "/deeper")
        let deeper = WholeScan(scratch.folder)
        #expect(deeper.unreadable == [at(path)] && deeper.unsupported == [at(path)])
    }

    @Test("names of any bytes are told as they are") func oddNames() throws {
        let scratch = try Scratch()
        let names: [[UInt8]] = [
            [0xFF, 0xFE], utf8("new\nline"), utf8("\u{1b}[31m"), [UInt8](repeating: 0x61, count: 255), utf8("é"),
            utf8("e\u{301}"), utf8(" "), utf8("-rf"), utf8("..."), utf8(".syncdx"),
        ]
        for name in names { try scratch.write(bytes: name) }
        let paths = WholeScan(scratch.folder).differences.map(\.path.bytes)
        #expect(Set(paths) == Set(names))
        #expect(paths.count == names.count)
    }

    @Test("an interrupted scan answers at once and says where it stopped") func interrupted() throws {
        let scratch = try folder()
        scratch.folder.interrupt()
        let chunk = scratch.folder.scan(
            ScanRequest(directory: .root, after: at("a"), limit: 9), rules: IgnoreRules(), watcher: nil
        ) { _, _ in [] }
        #expect(chunk.differences.isEmpty)
        #expect(chunk.resume == at("a"))
    }
}
