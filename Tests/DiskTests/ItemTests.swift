import Glibc
import SyncModel
import Testing

@testable import Disk

@Suite("items: whole documents of an application")
struct ItemTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func item(_ name: String) throws -> Item { try #require(Item(path: scratch.bytes(Array(name.utf8)))) }

    private var names: [String] {
        Scratch.names(in: Array(scratch.path.utf8)).map { String(decoding: $0, as: UTF8.self) }
            .filter { ![".", "..", ".syncd"].contains($0) }.sorted()
    }

    @Test("what was created is read again, file or package, and nothing temporary stays")
    func roundTrip() throws {
        let package: [Path: [UInt8]] = [
            try #require(Path("a")): [1], try #require(Path("b")): [], try #require(Path("c/d/e")): [2],
            try #require(Path("c/f")): [3],
        ]
        for (name, contents) in [
            ("file", Item.Contents.file([1, 2, 3])), ("empty", .file([])), ("p", .package(package)),
        ] {
            try item(name).create(contents)
            #expect(try item(name).read() == .contents(contents))
        }
        #expect(names == ["empty", "file", "p"])
    }

    @Test("L5: creating over something fails without touching it")
    func creatingOver() throws {
        try item("a").create(.file([1]))
        #expect(throws: Item.Failure.self) { try item("a").create(.file([2])) }
        #expect(throws: Item.Failure.self) { try item("a").create(.package([:])) }
        #expect(try item("a").read() == .contents(.file([1])) && names == ["a"])
    }

    @Test("what was expected is replaced; what somebody else has put there is not")
    func replacing() throws {
        try item("a").create(.file([1]))
        #expect(try item("a").replace(.file([1]), with: .file([2])) == .done)
        #expect(try item("a").replace(.file([1]), with: .file([3])) == .raced)
        #expect(try item("a").read() == .contents(.file([2])) && names == ["a"])
        #expect(try item("a").replace(.file([2]), with: .package([:])) == .done)
        #expect(try item("a").replace(.package([:]), with: .file([4])) == .done)
        #expect(try item("a").read() == .contents(.file([4])) && names == ["a"])
    }

    @Test("C6: the mark of a package is none of its contents, and stays when they are replaced")
    func markedPackage() throws {
        let (one, two) = (try #require(Path("a")), try #require(Path("b/.syncd-package")))
        try item("p").create(.package([one: [1], two: [2]]))
        #expect(Item.package(around: scratch.bytes(Array("p/a".utf8))) == nil)
        try item("p/.syncd-package").create(.file([7]))
        #expect(try item("p").read() == .contents(.package([one: [1], two: [2]])))
        #expect(try item("p").replace(.package([one: [1], two: [2]]), with: .package([one: [3]])) == .done)
        #expect(try item("p").read() == .contents(.package([one: [3]])))
        #expect(try item("p/.syncd-package").read() == .contents(.file([7])))
        #expect(try item("p").remove(.package([one: [3]])) == .done)
        #expect(names == [])
    }

    @Test("C6: the outermost marked directory is the package, and what lies around a synced folder is none")
    func aroundPackages() throws {
        // (The scratch is a folder of syncd: `.syncd` lies in it.)
        let base = scratch.bytes(Array("s".utf8))
        try item("s").create(.package([#require(Path("a/b/c/d")): [1], #require(Path("folder/.syncd/x")): [2]]))
        func around(_ path: String) -> [UInt8]? { Item.package(around: base + Array(path.utf8)) }
        #expect(around("/a/b/c/d") == nil)
        try item("s/a/b/.syncd-package").create(.file([]))
        #expect(around("/a/b/c/d") == base + Array("/a/b".utf8))
        #expect(around("/a/b/nothing/there") == base + Array("/a/b".utf8))
        #expect(around("/a/b") == nil)
        try item("s/.syncd-package").create(.file([]))
        #expect(around("/a/b/c/d") == base && around("/a/b") == base)
        try item("s/folder/.syncd-package").create(.file([]))
        #expect(around("/folder/file") == nil)
    }

    @Test("the mode of what is replaced stays")
    func mode() throws {
        try item("a").create(.file([1]))
        try scratch.setMode("a", 0o640)
        #expect(try item("a").replace(.file([1]), with: .file([2])) == .done)
        #expect(Scratch.status(scratch.bytes(Array("a".utf8)))?.st_mode == 0o100640)
    }

    @Test(
        "owner, access and attributes of what is replaced stay, also of a package; a file in the place of a package has its own"
    )
    func attributes() throws {
        let package: [Path: [UInt8]] = [try #require(Path("a")): [1], try #require(Path("b/c")): [2]]
        for (name, old, new) in [
            ("file", Item.Contents.file([1]), Item.Contents.file([2])), ("p", .package(package), .package([:])),
        ] {
            try item(name).create(old)
            try scratch.setMode(name, 0o750)
            let path = scratch.bytes(Array(name.utf8))
            if geteuid() == 0 { #expect(unsafe chown(String(decoding: path, as: UTF8.self), 65_534, 65_534) == 0) }
            let (mark, value) = (Array("user.syncd.test".utf8), [UInt8](0...255))
            let hasAttributes = (try? Self.opened(path).setAttribute(mark, value)) != nil
            #expect(try item(name).replace(old, with: new) == .done)
            let status = try #require(Scratch.status(path))
            #expect(status.st_mode & 0o7777 == 0o750)
            if geteuid() == 0 { #expect(status.st_uid == 65_534 && status.st_gid == 65_534) }
            if hasAttributes {
                #expect(try Self.opened(path).attributeNames().contains(mark))
                #expect(try Self.opened(path).attribute(mark) == value)
            }
        }
        #expect(try item("p").replace(.package([:]), with: .file([1])) == .done)
        #expect(Scratch.status(scratch.bytes(Array("p".utf8)))?.st_mode == 0o100644)
    }

    private static func opened(_ path: [UInt8]) throws -> Descriptor { try Folder.open(path, flags: O_RDONLY) }

    @Test("what is removed is gone; what is not there cannot be removed, replaced or read")
    func absent() throws {
        try item("a").create(.file([1]))
        #expect(try item("a").remove(.file([2])) == .raced)
        #expect(try item("a").read() == .contents(.file([1])))
        #expect(names == ["a"])
        #expect(try item("a").remove(.file([1])) == .done)
        #expect(names == [])
        let absence = Item.Failure(error: .notFound, errno: 2)
        #expect(throws: absence) { try item("a").remove(.file([1])) }
        #expect(throws: absence) { try item("a").read() }
        #expect(throws: absence) { try item("a").replace(.file([]), with: .file([])) }
    }

    @Test("who saves over what stood there for a moment, or removes it, loses nothing", arguments: [true, false])
    func savedMeanwhile(replaces: Bool) throws {
        // To compare what was displaced takes so long that somebody else gets in between the two exchanges.
        let theirs = [UInt8](repeating: 2, count: 64 << 20)
        try item("a").create(.file(theirs))
        try item("later").create(.file([3]))
        let (directory, path) = (scratch.path, scratch.path + "/a")
        let first = ItemTests.inode(path)
        let somebody = try Background {
            while ItemTests.inode(path) == first {}
            // So that nothing is lost by this if it comes too late.
            guard replaces else {
                _ = unsafe rename(path, directory + "/taken")
                return
            }
            guard let parent = try? ItemTests.opened(Array(directory.utf8)) else { return }
            try? parent.rename(CName(Array("later".utf8)), to: parent, CName(Array("a".utf8)), .exchange)
        }
        #expect(try item("a").replace(.file([1]), with: .file([4])) == .raced)
        // If it came too late, this ends its waiting.
        if ItemTests.inode(path) == first { _ = unsafe rename(path, directory + "/kept") }
        somebody.join()
        let kept = try names.compactMap { name -> [UInt8]? in
            if case .contents(.file(let bytes)) = try item(name).read() { bytes } else { nil }
        }
        #expect(kept.contains(theirs) && kept.contains([3]))
    }

    private static func inode(_ path: String) -> UInt64 {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    @Test(
        "L2: a package with directories is replaced and removed whole; what cannot be written is not there afterwards")
    func nested() throws {
        let deep = Array(repeating: "d", count: Item.levelsMax).joined(separator: "/")
        let package: [Path: [UInt8]] = [try #require(Path("a/b/c")): [1], try #require(Path("a.x")): [2]]
        try item("p").create(.package(package))
        #expect(try item("p").replace(.package([:]), with: .package([:])) == .raced)
        #expect(try item("p").replace(.package(package), with: .package([try #require(Path("z/y")): [3]])) == .done)
        #expect(names == ["p"])
        for wrong in [[deep + "/x"], ["a", "a/b"]] {
            let files = try Dictionary(uniqueKeysWithValues: wrong.map { (try #require(Path($0)), [UInt8(1)]) })
            #expect(throws: Item.Failure.self) { try item("q").create(.package(files)) }
        }
        #expect(names == ["p"])
        let there = try item("p").read()
        guard case .contents(let contents) = there else { return #expect(Bool(false), "\(there)") }
        #expect(try item("p").remove(contents) == .done)
        #expect(names == [])
    }

    @Test("a symlink, a FIFO and a directory with one that is empty are no items; too much is not read")
    func refusals() throws {
        try scratch.makeDirectory("d")
        try scratch.makeDirectory("d/e")
        try scratch.symlink("l", to: "d")
        try scratch.makeFIFO("f")
        for name in ["d", "f", "l"] { #expect(throws: Item.Failure.self) { try item(name).read() } }
        try item("big").create(.file([UInt8](repeating: 7, count: 100)))
        #expect(try item("big").read(bytesMax: 99) == .tooLarge)
        #expect(try item("big").read(bytesMax: 100) != .tooLarge)
        for path in ["", "/", "a/..", "a\0b"] { #expect(Item(path: Array(path.utf8)) == nil) }
    }

    @Test("M7: a listing has the regular files that are not hidden, in byte order")
    func listing() throws {
        for name in ["b", "a", ".hidden", "c.txt"] { try item(name).create(.file([])) }
        try item("p").create(.package([:]))
        try scratch.symlink("link", to: "a")
        #expect(
            try Item.regularFiles(in: scratch.bytes([])).map { String(decoding: $0.bytes, as: UTF8.self) } == [
                "a", "b", "c.txt",
            ])
    }

    private func lock(_ paths: [[UInt8]], isRead: Bool, except had: [[UInt8]] = []) throws -> PathLock? {
        try PathLock.tryLock(paths.map { .init(path: $0, coversContents: true) }, isRead: isRead, except: had)
    }

    @Test("a lock on a path keeps others away until it ends; readers share")
    func pathLocks() throws {
        let paths = [scratch.bytes([1]), scratch.bytes([2])]
        var first = try lock(paths, isRead: false)
        #expect(first != nil)
        #expect(try lock([paths[1]], isRead: true) == nil)
        #expect(try lock([scratch.bytes([3])], isRead: false) != nil)
        first = nil
        let readers = [try lock(paths, isRead: true), try lock(paths, isRead: true)]
        #expect(readers.allSatisfy { $0 != nil })
        #expect(try lock([paths[0]], isRead: false) == nil)
        withExtendedLifetime(readers) {}
    }

    @Test("the file with the locks is touched by each of them, so that nobody who cleans /tmp takes it away")
    func touchedLocks() throws {
        let file = "/tmp/.synckit-locks"
        _ = try lock([scratch.bytes([1])], isRead: true)
        let old = timespec(tv_sec: 1_000_000_000, tv_nsec: 0)
        // If another user has made it, it is not ours to make older.
        guard unsafe utimensat(AT_FDCWD, file, [old, old], 0) == 0 else { return }
        _ = try lock([scratch.bytes([1])], isRead: true)
        var status = stat()
        #expect(unsafe stat(file, &status) == 0 && status.st_mtim.tv_sec > old.tv_sec)
    }

    @Test("a lock on a directory is one on all that is below it; what lies side by side in it is not in the way")
    func directoryLocks() throws {
        let above = scratch.bytes([1])
        let (one, two) = (above + Array("/d/one".utf8), above + Array("/two".utf8))
        for (isRead, readsBelow) in [(false, false), (false, true), (true, false), (true, true)] {
            let whole = try lock([above], isRead: isRead)
            #expect(whole != nil)
            #expect((try lock([one], isRead: readsBelow) != nil) == (isRead && readsBelow))
            #expect(try lock([above + [0x78]], isRead: false) != nil, "only its name begins like that")
        }
        let within = [try lock([one], isRead: false), try lock([two], isRead: false)]
        #expect(within.allSatisfy { $0 != nil })
        #expect(try lock([above], isRead: true) == nil)
        #expect(try lock([above], isRead: false, except: [one]) == nil)
        #expect(try lock([above], isRead: false, except: [one, two]) != nil)
        withExtendedLifetime(within) {}
    }
}
