/// The virtual disk obeys the same contract as the real one: each operation of DiskProgram.swift with each way it can fail,
/// the calls of users' programs, what the watcher hears, and how the daemon reads.
/// Scans are in VirtualDiskScanTests, power cuts in VirtualDiskCrashTests.
import SyncCore
import SyncModel
import SyncSim
import Testing

func at(_ text: String) -> Path {
    guard let path = Path(text) else { preconditionFailure("\(text) is no path") }
    return path
}

func ms(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

let folder = FolderID(SHA256.digest(of: utf8("the folder")))
let stage1 = Place.stage(StageName(raw: 1))
let stage2 = Place.stage(StageName(raw: 2))
let version1 = Place.version(VersionID(raw: 1))
let version2 = Place.version(VersionID(raw: 2))

extension VirtualDisk {
    /// `name/` a directory, `name=bytes` a file, `name->target` a symlink, `name|` a FIFO; everything is synced.
    static func sketched(_ sketch: String) -> VirtualDisk {
        var disk = VirtualDisk(device: 1, folder: folder, now: ms(0))
        for word in sketch.split(separator: " ") {
            if let equals = word.firstIndex(of: "=") {
                disk.writeFile(
                    at(String(word[..<equals])), utf8(String(word[word.index(after: equals)...])), now: ms(1))
            } else if word.hasSuffix("/") {
                disk.mkdir(at(String(word.dropLast())), now: ms(1))
            } else if word.hasSuffix("|") {
                disk.mkfifo(at(String(word.dropLast())), now: ms(1))
            } else if let arrow = word.firstIndex(of: ">") {
                disk.symlink(
                    at(String(word[..<word.index(before: arrow)])),
                    target: utf8(String(word[word.index(after: arrow)...])), now: ms(1))
            }
        }
        disk.syncEverything()
        return disk
    }

    var sketch: String { VirtualDisk.sketch(tree().map { ($0.0, $0.1) }) }
    var durableSketch: String { VirtualDisk.sketch(durableTree()) }

    /// Our own files: stage, versions and quarantine.
    var ownSketch: String {
        VirtualDisk.sketch(
            allContents().filter { $0.area != .tree && $0.area != .own }.map { ($0.path, $0.entry) }
        ).replacing(".syncd/", with: "").replacing("000000000000000", with: "")
    }

    static func sketch(_ entries: [(Path, VirtualEntry)]) -> String {
        entries.map { path, entry in
            switch entry.content {
            case .file(let content): "\(path)=" + String(decoding: content.bytes, as: UTF8.self)
            case .directory: "\(path)/"
            case .symlink(let target): "\(path)->" + String(decoding: target, as: UTF8.self)
            case .special: "\(path)|"
            }
        }.joined(separator: " ")
    }

    mutating func stage(_ place: Place, _ text: String) {
        _ = run(DiskProgram([.createFile(place), .write(place, offset: 0, bytes: utf8(text))]), now: ms(2))
    }
}

extension String {
    fileprivate func replacing(_ old: String, with new: String) -> String {
        var rest = self[...]
        var result = ""
        while !rest.isEmpty {
            if rest.hasPrefix(old) {
                result += new
                rest = rest.dropFirst(old.count)
            } else {
                result.append(rest.removeFirst())
            }
        }
        return result
    }
}

@Suite("The virtual disk: operations of the daemon") struct VirtualDiskOperationTests {
    /// `g` is a file, `d` a directory with a file, `e` an empty one, `l` a symlink to `d`, `p` a FIFO; one file is staged,
    /// one version is kept.
    private func prepared() -> VirtualDisk {
        var disk = VirtualDisk.sketched("d/ d/f=one e/ g=two l->d p|")
        disk.stage(stage1, "new")
        disk.stage(version1, "old")
        return disk
    }

    private struct Case {
        let operation: DiskOperation
        let outcome: OperationOutcome
        /// Only what is different afterwards, as (before, after) words of the sketch.
        var changes: [(String, String)] = []
        var line = #line

        init(
            _ operation: DiskOperation, _ outcome: OperationOutcome, _ changes: [(String, String)] = [],
            line: Int = #line
        ) {
            self.operation = operation
            self.outcome = outcome
            self.changes = changes
            self.line = line
        }
    }

    private func check(_ cases: [Case], on prepared: VirtualDisk) {
        for row in cases {
            var disk = prepared
            let before = words(disk)
            #expect(disk.perform(row.operation, now: ms(5)) == row.outcome, "line \(row.line): \(row.operation)")
            let after = words(disk)
            let gone = before.filter { !after.contains($0) }
            let come = after.filter { !before.contains($0) }
            #expect(gone == row.changes.map(\.0).filter { !$0.isEmpty }.sorted(), "line \(row.line): what is gone")
            #expect(come == row.changes.map(\.1).filter { !$0.isEmpty }.sorted(), "line \(row.line): what is new")
        }
    }

    private func words(_ disk: VirtualDisk) -> [String] {
        (disk.sketch + " " + disk.ownSketch).split(separator: " ").map(String.init).sorted()
    }

    private func tree(_ text: String) -> Place { .tree(at(text)) }

    @Test("making things: free names only, in directories that are there, never through a symlink") func making() {
        check(
            [
                Case(.createFile(tree("d/new")), .done, [("", "d/new=")]),
                Case(.createFile(stage2), .done, [("", "stage/s2=")]),
                Case(.createFile(version2), .done, [("", "versions/v2=")]),
                Case(.createFile(.quarantine(VersionID(raw: 15))), .done, [("", "quarantine/qf=")]),
                Case(.createFile(stage1), .failed(.exists)),
                Case(.createFile(tree("g")), .failed(.exists)),
                Case(.createFile(tree("d")), .failed(.exists)),
                Case(.createFile(tree("none/x")), .failed(.notFound)),
                Case(.createFile(tree("g/x")), .failed(.notDirectory)),
                Case(.createFile(tree("l/x")), .failed(.notDirectory)),
                Case(.createFile(tree("l/x/y")), .failed(.notDirectory)),
                Case(.createFile(tree(".syncd/stage/x")), .failed(.unsupported)),
                Case(.createFile(.tree(.root)), .failed(.busy)),
                Case(.createDirectory(tree("d/sub"), mode: 0o750), .done, [("", "d/sub/")]),
                Case(.createDirectory(tree("e"), mode: 0o750), .failed(.exists)),
                Case(.createDirectory(tree("none/x"), mode: 0o750), .failed(.notFound)),
                Case(.createDirectory(stage2, mode: 0o700), .done, [("", "stage/s2/")]),
                Case(.createSymlink(tree("d/m"), target: utf8("../g")), .done, [("", "d/m->../g")]),
                Case(.createSymlink(tree("l"), target: utf8("g")), .failed(.exists)),
                Case(.createSymlink(tree("m"), target: []), .failed(.notFound)),
                Case(
                    .createSymlink(tree("m"), target: [UInt8](repeating: 0x61, count: Limits.symlinkBytesMax + 1)),
                    .failed(.nameTooLong)),
            ], on: prepared())
    }

    @Test("modes are those asked for; a new file is private") func modes() throws {
        var disk = prepared()
        _ = disk.perform(.createFile(stage2), now: ms(5))
        _ = disk.perform(.createDirectory(tree("n"), mode: 0o4751), now: ms(5))
        _ = disk.perform(.setMode(tree("g"), 0o640), now: ms(6))
        guard case .success(.some(let staged)) = disk.stat(stage2) else {
            Issue.record("the staged file is not there")
            return
        }
        #expect(staged.mode == 0o600)
        #expect(try #require(disk.stat(at("n"))).mode == 0o751)
        #expect(try #require(disk.stat(at("g"))).mode == 0o640)
        #expect(try #require(disk.stat(at("l"))).mode == 0o777)
        #expect(disk.perform(.setMode(tree("l"), 0o600), now: ms(6)) == .failed(.unsupported))
        #expect(disk.perform(.setMode(tree("none"), 0o600), now: ms(6)) == .failed(.notFound))
    }

    @Test("writing, cutting and copying") func filling() {
        let one = SHA256.digest(of: utf8("one"))
        check(
            [
                Case(.write(stage1, offset: 1, bytes: utf8("ot")), .done, [("stage/s1=new", "stage/s1=not")]),
                Case(.write(stage1, offset: 3, bytes: utf8("er")), .done, [("stage/s1=new", "stage/s1=newer")]),
                Case(.write(stage1, offset: 4, bytes: utf8("!")), .done, [("stage/s1=new", "stage/s1=new\0!")]),
                Case(.write(stage2, offset: 0, bytes: utf8("x")), .failed(.notFound)),
                Case(.write(tree("d"), offset: 0, bytes: utf8("x")), .failed(.isDirectory)),
                Case(.write(tree("l"), offset: 0, bytes: utf8("x")), .failed(.unsupported)),
                Case(.write(tree("p"), offset: 0, bytes: utf8("x")), .failed(.unsupported)),
                Case(.write(stage1, offset: .max, bytes: utf8("xyz")), .failed(.unsupported)),
                Case(.truncate(stage1, size: 1), .done, [("stage/s1=new", "stage/s1=n")]),
                Case(.truncate(stage1, size: 4), .done, [("stage/s1=new", "stage/s1=new\0")]),
                Case(.truncate(tree("d"), size: 0), .failed(.isDirectory)),
                Case(.truncate(stage2, size: 0), .failed(.notFound)),
                Case(
                    .copy(from: tree("d/f"), offset: 0, length: 3, to: stage1, at: 3, digest: one), .done,
                    [("stage/s1=new", "stage/s1=newone")]),
                // The bytes are there, the digest says that they are the wrong ones.
                Case(
                    .copy(from: tree("g"), offset: 0, length: 3, to: stage1, at: 3, digest: one), .failed(.mismatch),
                    [("stage/s1=new", "stage/s1=newtwo")]),
                Case(
                    .copy(
                        from: tree("d/f"), offset: 1, length: 3, to: stage1, at: 3,
                        digest: SHA256.digest(of: utf8("ne"))),
                    .failed(.mismatch), [("stage/s1=new", "stage/s1=newne")]),
                Case(
                    .copy(from: tree("none"), offset: 0, length: 3, to: stage1, at: 0, digest: one), .failed(.notFound)),
                Case(
                    .copy(from: tree("d"), offset: 0, length: 3, to: stage1, at: 0, digest: one), .failed(.isDirectory)),
                Case(
                    .copy(from: tree("p"), offset: 0, length: 3, to: stage1, at: 0, digest: one), .failed(.unsupported)),
                Case(
                    .copy(from: tree("d/f"), offset: 0, length: 3, to: stage2, at: 0, digest: one), .failed(.notFound)),
            ], on: prepared())
    }

    @Test("exchange needs both, and swaps them whatever they are") func exchanging() {
        check(
            [
                Case(
                    .exchange(stage1, tree("g")), .done,
                    [("stage/s1=new", "stage/s1=two"), ("g=two", "g=new")]),
                Case(.exchange(tree("g"), tree("e")), .done, [("g=two", "g/"), ("e/", "e=two")]),
                Case(.exchange(tree("d/f"), tree("l")), .done, [("d/f=one", "d/f->d"), ("l->d", "l=one")]),
                Case(.exchange(tree("g"), tree("g")), .done),
                Case(.exchange(stage2, tree("g")), .failed(.notFound)),
                Case(.exchange(tree("g"), stage2), .failed(.notFound)),
                Case(.exchange(tree("g"), tree("none/x")), .failed(.notFound)),
                Case(.exchange(tree("g"), tree("g/x")), .failed(.notDirectory)),
                Case(.exchange(tree("d"), tree("d/f")), .failed(.unsupported)),
                Case(.exchange(tree("d/f"), tree("d")), .failed(.unsupported)),
            ], on: prepared())
    }

    @Test("move never replaces anything, and a directory never goes into itself") func moving() {
        check(
            [
                Case(.move(stage1, to: tree("d/n")), .done, [("stage/s1=new", "d/n=new")]),
                Case(.move(tree("g"), to: version2), .done, [("g=two", "versions/v2=two")]),
                Case(.move(tree("d"), to: tree("e/d")), .done, [("d/", "e/d/"), ("d/f=one", "e/d/f=one")]),
                Case(.move(stage1, to: tree("g")), .failed(.exists)),
                Case(.move(tree("g"), to: tree("g")), .failed(.exists)),
                Case(.move(stage2, to: tree("n")), .failed(.notFound)),
                Case(.move(stage1, to: tree("none/n")), .failed(.notFound)),
                Case(.move(stage1, to: tree("l/n")), .failed(.notDirectory)),
                Case(.move(tree("d"), to: tree("d/n")), .failed(.unsupported)),
            ], on: prepared())
    }

    @Test("taking away: empty directories, and only our own files") func removing() {
        check(
            [
                Case(.removeDirectory(tree("e")), .done, [("e/", "")]),
                Case(.removeDirectory(tree("d")), .failed(.notEmpty)),
                Case(.removeDirectory(tree("g")), .failed(.notDirectory)),
                Case(.removeDirectory(tree("l")), .failed(.notDirectory)),
                Case(.removeDirectory(tree("none")), .failed(.notFound)),
                Case(.removeDirectory(.tree(.root)), .failed(.busy)),
                Case(.discard(stage1), .done, [("stage/s1=new", "")]),
                Case(.discard(version1), .done, [("versions/v1=old", "")]),
                Case(.discard(stage2), .failed(.notFound)),
                Case(.discard(tree("g")), .failed(.unsupported)),
            ], on: prepared())
    }

    @Test("expectations hold for what is untouched, and for nothing else") func expecting() throws {
        var disk = prepared()
        let g = try #require(disk.stat(at("g")))
        var renamed = g
        renamed.changed = ms(99)
        var otherSize = g
        otherSize.size += 1
        let otherFile = try #require(disk.stat(at("d/f")))
        check(
            [
                Case(.expect(tree("g"), g), .done),
                Case(.expect(tree("g"), renamed), .failed(.mismatch)),
                Case(.expect(tree("none"), g), .failed(.mismatch)),
                Case(.expect(tree("none/x"), g), .failed(.mismatch)),
                Case(.expectContent(tree("g"), renamed), .done),
                Case(.expectContent(tree("g"), otherSize), .failed(.mismatch)),
                Case(.expectContent(tree("g"), otherFile), .failed(.mismatch)),
                Case(.expectAbsent(tree("none")), .done),
                Case(.expectAbsent(tree("none/x")), .done),
                Case(.expectAbsent(tree("g/x")), .done),
                Case(.expectAbsent(tree("g")), .failed(.mismatch)),
                Case(.inspect(tree("g")), .inspected(g)),
                Case(.inspect(tree("none")), .inspected(nil)),
                Case(.inspect(tree("none/x")), .inspected(nil)),
            ], on: disk)
        // A rename alters the change time, so it breaks `expect` and not `expectContent`.
        #expect(disk.perform(.move(tree("g"), to: tree("h")), now: ms(6)) == .done)
        #expect(disk.perform(.expect(tree("h"), g), now: ms(6)) == .failed(.mismatch))
        #expect(disk.perform(.expectContent(tree("h"), g), now: ms(6)) == .done)
    }

    @Test("a program stops at its first failure and undoes nothing") func programs() throws {
        var disk = prepared()
        let before = try #require(disk.stat(at("g")))
        let result = disk.run(
            DiskProgram([
                .inspect(tree("g")), .inspect(tree("none")), .exchange(stage1, tree("g")), .discard(tree("g")),
                .inspect(stage1),
            ]), now: ms(5))
        #expect(result == DiskResult(inspected: [before, nil], failure: .init(index: 3, error: .unsupported)))
        #expect(disk.readFile(at("g")) == utf8("new"))

        // The cursor stops where the world stops it.
        var run = ProgramRun(DiskProgram([.exchange(stage1, tree("g")), .inspect(stage1)]))
        run.advance(on: &disk, now: ms(6))
        #expect(!run.isFinished && run.result.inspected.isEmpty)
        disk.writeFile(at("g"), utf8("user"), now: ms(7))
        run.advance(on: &disk, now: ms(8))
        run.advance(on: &disk, now: ms(9))
        #expect(run.isFinished && run.result.inspected.count == 1 && run.result.failure == nil)
    }

    @Test("times: a write stamps both, chmod and utimes the change time, names their directory") func times() throws {
        var disk = prepared()
        func stat(_ text: String) throws -> Stat { try #require(disk.stat(at(text))) }
        _ = disk.perform(.setModified(tree("g"), ms(-7)), now: ms(10))
        #expect(try stat("g").modified == ms(-7) && stat("g").changed == ms(10))
        _ = disk.perform(.setMode(tree("g"), 0o600), now: ms(11))
        #expect(try stat("g").modified == ms(-7) && stat("g").changed == ms(11))
        _ = disk.perform(.write(tree("g"), offset: 0, bytes: [1]), now: ms(12))
        #expect(try stat("g").modified == ms(12) && stat("g").changed == ms(12))
        _ = disk.perform(.move(tree("g"), to: tree("d/g")), now: ms(13))
        #expect(try stat("d/g").modified == ms(12) && stat("d/g").changed == ms(13))
        #expect(try stat("d").modified == ms(13) && stat("d").changed == ms(13))
        #expect(try #require(disk.stat(Path.root)).modified == ms(13))
        _ = disk.perform(.exchange(tree("d/g"), tree("e")), now: ms(14))
        #expect(try stat("e").modified == ms(12) && stat("e").changed == ms(14))
        #expect(try stat("d").modified == ms(14))
        disk.mkdir(at("d/g/in"), now: ms(15))
        #expect(try stat("d/g").modified == ms(15) && stat("d").modified == ms(14))
        disk.rmdir(at("d/g/in"), now: ms(16))
        #expect(try stat("d/g").modified == ms(16))
        #expect(try stat("e").identity == FileIdentity(device: 1, inode: stat("e").identity.inode, birth: ms(1)))
    }

    @Test("coarse clocks make two writes of one moment look alike") func coarse() throws {
        var disk = prepared()
        disk.faults.stampNanoseconds = 10_000_000
        disk.writeFile(at("g"), utf8("aaa"), now: ms(1_003))
        let first = try #require(disk.stat(at("g")))
        disk.writeFile(at("g"), utf8("bbb"), now: ms(1_009))
        #expect(try #require(disk.stat(at("g"))).isUntouched(since: first))
        disk.writeFile(at("g"), utf8("ccc"), now: ms(1_010))
        #expect(try !#require(disk.stat(at("g"))).isUntouched(since: first))
        disk.setTimes(at("g"), modified: ms(4_321), now: ms(1_020))
        #expect(try #require(disk.stat(at("g"))).modified == ms(4_321))
        disk.faults.storedNanoseconds = 1_000_000_000
        disk.setTimes(at("g"), modified: ms(4_321), now: ms(1_999))
        #expect(try #require(disk.stat(at("g"))).modified == ms(4_000))
        #expect(try #require(disk.stat(at("g"))).changed == ms(1_000))
    }
}

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

@Suite("The virtual disk: users' programs") struct VirtualDiskUserTests {
    @Test("the calls of POSIX with their refusals") func calls() {
        var disk = VirtualDisk.sketched("d/ d/f=one e/ g=two l->d")
        #expect(disk.rename(at("g"), to: at("d/f"), now: ms(2)) == nil)
        #expect(disk.sketch == "d/ d/f=two e/ l->d")
        #expect(disk.rename(at("d/f"), to: at("e"), now: ms(2)) == .isDirectory)
        #expect(disk.rename(at("e"), to: at("d/f"), now: ms(2)) == .notDirectory)
        #expect(disk.rename(at("e"), to: at("d"), now: ms(2)) == .notEmpty)
        #expect(disk.rename(at("d"), to: at("d/x"), now: ms(2)) == .unsupported)
        #expect(disk.rename(at("none"), to: at("x"), now: ms(2)) == .notFound)
        #expect(disk.rename(at("d"), to: at("e"), now: ms(2)) == nil)
        #expect(disk.sketch == "e/ e/f=two l->d")
        #expect(disk.link(at("e/f"), at("h"), now: ms(2)) == nil)
        #expect(disk.link(at("e"), at("i"), now: ms(2)) == .permission)
        #expect(disk.link(at("e/f"), at("h"), now: ms(2)) == .exists)
        disk.writeFile(at("h"), utf8("both"), now: ms(3))
        #expect(disk.sketch == "e/ e/f=both h=both l->d")
        #expect(disk.rename(at("h"), to: at("e/f"), now: ms(3)) == nil)
        #expect(disk.sketch == "e/ e/f=both h=both l->d", "two names of one file: rename does nothing")
        #expect(disk.unlink(at("e"), now: ms(3)) == .isDirectory)
        #expect(disk.rmdir(at("e"), now: ms(3)) == .notEmpty)
        #expect(disk.rmdir(at("h"), now: ms(3)) == .notDirectory)
        #expect(disk.unlink(at("h"), now: ms(3)) == nil)
        #expect(disk.mkdir(at("e"), now: ms(3)) == .exists)
        #expect(disk.mkdir(at("l/x"), now: ms(3)) == .notDirectory)
        #expect(disk.writeFile(at("e"), [1], now: ms(3)) == .isDirectory)
        #expect(disk.chmod(at("e/f"), 0o600, now: ms(3)) == nil && disk.chmod(at("l"), 0, now: ms(3)) == .unsupported)
        #expect(disk.kind(at("l")) == .symlink && disk.kind(at("e")) == .directory && !disk.exists(at("h")))
        #expect(disk.list(at("e")).map(\.bytes) == [utf8("f")])
        #expect(disk.removeTree(at("e"), now: ms(4)) == nil)
        #expect(disk.sketch == "l->d")
    }

    @Test("a late writer goes on writing to the file that was displaced") func lateWriter() throws {
        var disk = VirtualDisk.sketched("doc=draft")
        guard case .success(let handle) = disk.open(at("doc"), now: ms(2)) else {
            Issue.record("not opened")
            return
        }
        disk.stage(stage1, "from peer")
        _ = disk.run(
            DiskProgram([.exchange(stage1, .tree(at("doc"))), .move(stage1, to: version1)]), now: ms(3))
        #expect(disk.write(handle, at: 0, utf8("DRAFT"), now: ms(4)) == nil)
        #expect(disk.sketch == "doc=from peer")
        #expect(disk.ownSketch.contains("v1=DRAFT"))
        #expect(disk.path(of: handle) == at(".syncd/versions/v0000000000000001"))
        // Even when its last name goes.
        _ = disk.perform(.discard(version1), now: ms(5))
        #expect(disk.write(handle, at: 5, utf8("!"), now: ms(6)) == nil && disk.path(of: handle) == nil)
        disk.close(handle)
        #expect(disk.write(handle, at: 0, [1], now: ms(7)) == .notFound)
    }

    @Test("open makes, cuts and refuses as asked") func opening() {
        var disk = VirtualDisk.sketched("d/ g=two l->g p|")
        #expect(disk.open(at("none"), now: ms(2)) == .failure(.notFound))
        #expect(disk.open(at("none/x"), create: true, now: ms(2)) == .failure(.notFound))
        #expect(disk.open(at("d"), now: ms(2)) == .failure(.isDirectory))
        #expect(disk.open(at("l"), now: ms(2)) == .failure(.unsupported))
        #expect(disk.open(at("p"), now: ms(2)) == .failure(.unsupported))
        guard case .success(let made) = disk.open(at("n"), create: true, now: ms(2)),
            case .success(let cut) = disk.open(at("g"), truncate: true, now: ms(2))
        else {
            Issue.record("not opened")
            return
        }
        #expect(disk.sketch == "d/ g= l->g n= p|")
        disk.write(cut, at: 2, utf8("x"), now: ms(3))
        disk.truncate(made, to: 1, now: ms(3))
        #expect(disk.sketch == "d/ g=\0\0x l->g n=\0 p|")
    }

    @Test("an image is a copy: what happens later happens to one of them") func images() {
        var disk = VirtualDisk.sketched("d/ d/f=one")
        let image = disk
        disk.writeFile(at("d/f"), utf8("two"), now: ms(2))
        disk.writeFile(at("new"), utf8("x"), now: ms(2))
        #expect(image.sketch == "d/ d/f=one")
        disk = image
        #expect(disk.sketch == "d/ d/f=one")
    }
}

@Suite("The virtual disk: what the watcher hears") struct VirtualDiskNoticeTests {
    private func heard(_ disk: inout VirtualDisk) -> String {
        let (notices, overflowed) = disk.takeNotices()
        return notices.map { "\($0.kind) \($0.path)" }.joined(separator: ", ") + (overflowed ? " OVERFLOW" : "")
    }

    @Test("each change is heard under the name it has, in order") func changes() {
        var disk = VirtualDisk.sketched("d/ d/f=one g=two")
        disk.writeFile(at("g"), utf8("nobody listens"), now: ms(2))
        #expect(!disk.hasNotices)
        disk.startWatching()
        disk.writeFile(at("g"), utf8("x"), now: ms(2))
        #expect(heard(&disk) == "writing g, touched g")
        disk.writeFile(at("n"), utf8("x"), now: ms(2))
        #expect(heard(&disk) == "touched n, writing n, touched n")
        disk.chmod(at("g"), 0o600, now: ms(2))
        disk.chmod(at("g"), 0o644, now: ms(2))
        #expect(heard(&disk) == "touched g", "equal notices in a row melt into one")
        disk.rename(at("g"), to: at("d/g"), now: ms(2))
        disk.unlink(at("d/f"), now: ms(2))
        disk.link(at("d/g"), at("h"), now: ms(2))
        disk.symlink(at("l"), target: [1], now: ms(2))
        disk.mkfifo(at("p"), now: ms(2))
        #expect(heard(&disk) == "gone g, touched d/g, gone d/f, touched h, touched l, touched p")
        disk.stage(stage1, "new")
        #expect(heard(&disk) == "", "our own directory is not watched")
        _ = disk.run(
            DiskProgram([
                .exchange(stage1, .tree(at("h"))), .syncParent(.tree(at("h"))), .move(stage1, to: version1),
                .move(.tree(at("n")), to: version2), .setModified(.tree(at("h")), ms(1)),
            ]), now: ms(3))
        #expect(heard(&disk) == "touched h, gone n, touched h")
    }

    @Test("an open file is heard while it is written and when it is closed, wherever it went") func handles() {
        var disk = VirtualDisk.sketched("d/ g=two")
        disk.startWatching()
        guard case .success(let handle) = disk.open(at("g"), now: ms(2)) else {
            Issue.record("not opened")
            return
        }
        disk.write(handle, at: 0, [1], now: ms(2))
        disk.rename(at("g"), to: at("d/g"), now: ms(2))
        disk.write(handle, at: 0, [2], now: ms(2))
        disk.rename(at("d"), to: at("c"), now: ms(2))
        disk.close(handle)
        #expect(heard(&disk) == "writing g, gone g, touched d/g, writing d/g, gone d, touched c, touched c/g")
    }

    @Test("a new directory is deaf until its own notice has been read") func newDirectories() {
        var disk = VirtualDisk.sketched("")
        disk.startWatching()
        disk.mkdir(at("d"), now: ms(2))
        disk.writeFile(at("d/early"), [1], now: ms(2))
        #expect(heard(&disk) == "touched d")
        disk.writeFile(at("d/late"), [1], now: ms(2))
        #expect(heard(&disk) == "touched d/late, writing d/late, touched d/late")
        // Made in our own directory and moved here: one notice, its children come without.
        _ = disk.perform(.createDirectory(stage1, mode: 0o755), now: ms(3))
        _ = disk.perform(.move(stage1, to: .tree(at("e"))), now: ms(3))
        disk.mkdir(at("e/in"), now: ms(3))
        #expect(heard(&disk) == "touched e")
        disk.mkdir(at("e/in/deep"), now: ms(3))
        #expect(heard(&disk) == "touched e/in/deep")
    }

    @Test("the queue is bounded; what does not fit is only said to have been") func overflow() {
        var disk = VirtualDisk.sketched("")
        disk.faults.noticesMax = 4
        disk.startWatching()
        for number in 0..<10 { disk.mkdir(at("d\(number)"), now: ms(2)) }
        #expect(heard(&disk) == "touched d0, touched d1, touched d2, touched d3 OVERFLOW")
        #expect(!disk.hasNotices)
        disk.mkdir(at("d9/sub"), now: ms(2))
        #expect(heard(&disk) == "touched d9/sub", "after an overflow everything is watched anew")
    }

    @Test("death ends the watch") func death() {
        var disk = VirtualDisk.sketched("g=1")
        disk.startWatching()
        disk.unlink(at("g"), now: ms(2))
        disk.kill()
        disk.mkdir(at("d"), now: ms(2))
        #expect(!disk.hasNotices)
        disk.startWatching()
        disk.mkdir(at("d/e"), now: ms(2))
        #expect(heard(&disk) == "touched d/e")
    }
}

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
        #expect(disk.stagedFiles().isEmpty)
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
