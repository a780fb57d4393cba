/// The virtual disk obeys the contract of DiskProgram.swift: each operation, with each way it can fail. And the little
/// language in which all tests of the disk are written.
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
        var disk = prepared()
        disk.mkdir(at(".syncd/stage/s0000000000000002"), now: ms(4))
        disk.mkdir(at(".syncd/stage/s0000000000000003"), now: ms(4))
        disk.mkdir(at(".syncd/stage/s0000000000000003/in"), now: ms(4))
        check(
            [
                Case(.discard(stage2), .done, [("stage/s2/", "")]),
                Case(.discard(.stage(StageName(raw: 3))), .failed(.notEmpty)),
            ], on: disk)
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
                Case(.expectIdentity(tree("g"), g.identity, .file), .done),
                Case(.expectIdentity(tree("g"), g.identity, .directory), .failed(.mismatch)),
                Case(.expectIdentity(tree("g"), otherFile.identity, .file), .failed(.mismatch)),
                Case(.expectIdentity(tree("none"), g.identity, .file), .failed(.mismatch)),
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
        // And a write breaks both, and makes no other file of it.
        disk.writeFile(at("h"), utf8("own"), now: ms(7))
        #expect(disk.perform(.expectContent(tree("h"), g), now: ms(8)) == .failed(.mismatch))
        #expect(disk.perform(.expectIdentity(tree("h"), g.identity, .file), now: ms(8)) == .done)
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
