/// Setting a folder up, opening it, and seeing that its place is taken by something else.
import Glibc
import SyncModel
import Testing

@testable import Disk

@Suite("a folder is set up once, opened by one, and known again")
struct FolderTests {
    private func kind(_ body: () throws(FolderError) -> Void) -> FolderError.Kind? {
        do throws(FolderError) {
            try body()
            return nil
        } catch {
            return error.kind
        }
    }

    @Test("setting up makes the marker and our directories, all private") func create() throws {
        let scratch = try Scratch()
        let marker = try #require(scratch.read(".syncd/folder-id"))
        #expect(marker == utf8("\(scratch.id.digest.hex())\n"))
        let tree = scratch.tree()
        for name in [".syncd", ".syncd/stage", ".syncd/versions", ".syncd/quarantine"] {
            #expect(tree[at(name)] == .init(content: .directory, mode: 0o700))
        }
        #expect(tree.count == 5)
        #expect(try Folder.marker(at: utf8(scratch.path)) == scratch.id)
        #expect(scratch.folder.rootState == .healthy)
    }

    @Test("two folders never get the same id") func ids() throws {
        #expect(try Scratch().id != Scratch().id)
    }

    @Test("setting up again is refused, and the marker stays") func createTwice() throws {
        let above = try Scratch.makeTemporary()
        defer { Scratch.remove(above) }
        let id = try Folder.create(at: utf8(above))
        #expect(kind { () throws(FolderError) in _ = try Folder.create(at: utf8(above)) } == .alreadySetUp)
        #expect(try Folder.marker(at: utf8(above)) == id)
    }

    @Test("what a crash has left of a set-up is completed") func createAfterCrash() throws {
        let above = try Scratch.makeTemporary()
        defer { Scratch.remove(above) }
        unsafe mkdir(above + "/.syncd", 0o700)
        unsafe mkdir(above + "/.syncd/stage", 0o700)
        for name in ["folder-id.new", "stage/probe-1"] {
            unsafe close(open("\(above)/.syncd/\(name)", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
        }
        #expect(kind { () throws(FolderError) in _ = try Folder.marker(at: utf8(above)) } == .notSetUp)
        let id = try Folder.create(at: utf8(above))
        #expect(try Folder(path: utf8(above), id: id).rootState == .healthy)
    }

    @Test("what is no folder of ours says why") func refusals() throws {
        let scratch = try Scratch()
        let other = FolderID(Digest(words: (1, 2, 3, 4)))
        let id = scratch.id
        func opening(_ path: String, _ id: FolderID) -> FolderError.Kind? {
            kind { () throws(FolderError) in _ = try Folder(path: utf8(path), id: id) }
        }
        #expect(opening(scratch.path, other) == .replaced)
        #expect(opening(scratch.path + "/none", id) == .missing)
        #expect(opening("", id) == .missing)
        try scratch.write("file")
        #expect(opening(scratch.path + "/file", id) == .notDirectory)
        #expect(opening(scratch.above, id) == .notSetUp)
        try scratch.write(".syncd/folder-id", utf8("\(id.digest.hex())"))
        #expect(opening(scratch.path, id) == .damaged)
        try scratch.write(".syncd/folder-id", utf8("\(id.digest.hex().uppercased())\n"))
        #expect(opening(scratch.path, id) == .damaged)
        try scratch.write(".syncd/folder-id", [UInt8](repeating: 0x61, count: 100_000))
        #expect(opening(scratch.path, id) == .damaged)
        try scratch.unlink(".syncd/folder-id")
        try scratch.symlink(".syncd/folder-id", to: "/etc/hostname")
        #expect(opening(scratch.path, id) == .unsupported)
        try scratch.rename(".syncd", "moved")
        try scratch.symlink(".syncd", to: "moved")
        #expect(opening(scratch.path, id) == .damaged)
    }

    @Test("an error names the call, the path and the number") func wording() throws {
        do throws(FolderError) {
            _ = try Folder.marker(at: utf8("/tmp/syncd-test-none"))
            Issue.record("there is no such folder")
        } catch {
            #expect(
                error
                    == FolderError(
                        kind: .missing, operation: "openat2", subject: utf8("/tmp/syncd-test-none"), errno: ENOENT))
        }
    }

    @Test("a second one is told that the folder is in use, until the first lets go") func lock() throws {
        let above = try Scratch.makeTemporary()
        defer { Scratch.remove(above) }
        let id = try Folder.create(at: utf8(above))
        var first: Folder? = try Folder(path: utf8(above), id: id)
        #expect(first?.rootState == .healthy)
        #expect(kind { () throws(FolderError) in _ = try Folder(path: utf8(above), id: id) } == .inUse)
        first = nil
        #expect(kind { () throws(FolderError) in _ = try Folder(path: utf8(above), id: id) } == nil)
    }

    @Test("our directories that were removed are made again at the next start") func completes() throws {
        let above = try Scratch.makeTemporary()
        defer { Scratch.remove(above) }
        let id = try Folder.create(at: utf8(above))
        unsafe rmdir(above + "/.syncd/versions")
        _ = try Folder(path: utf8(above), id: id)
        #expect(Scratch.status(utf8(above + "/.syncd/versions")) != nil)
    }

    @Test("a root reached through a symlink is the same root") func symlinkedRoot() throws {
        let above = try Scratch.makeTemporary()
        defer { Scratch.remove(above) }
        unsafe mkdir(above + "/real", 0o755)
        unsafe mkdir(above + "/other", 0o755)
        unsafe symlink("real", above + "/link")
        let id = try Folder.create(at: utf8(above + "/link"))
        let folder = try Folder(path: utf8(above + "/link"), id: id)
        #expect(folder.rootState == .healthy)
        unsafe unlink(above + "/link")
        #expect(folder.rootState == .missing)
        unsafe symlink("other", above + "/link")
        #expect(folder.rootState == .replaced)
    }

    @Test("a root that goes away, is replaced or loses its marker is seen, and seen when it is back") func rootStates()
        throws
    {
        let scratch = try Scratch()
        let away = scratch.above + "/away"
        unsafe rename(scratch.path, away)
        #expect(scratch.folder.lastRootState == .healthy)
        #expect(scratch.folder.rootState == .missing && scratch.folder.rootTrouble == .absent)
        #expect(scratch.folder.lastRootState == .missing)
        unsafe mkdir(scratch.path, 0o755)
        #expect(scratch.folder.rootState == .replaced && scratch.folder.rootTrouble == .otherDirectory)
        #expect(scratch.folder.inspect([at("a")]).root == .replaced)
        unsafe rmdir(scratch.path)
        unsafe rename(away, scratch.path)
        #expect(scratch.folder.rootState == .healthy)
        try scratch.rename(".syncd/folder-id", "aside")
        #expect(scratch.folder.rootState == .unmarked && scratch.folder.rootTrouble == .unmarked)
        try scratch.write(".syncd/folder-id", utf8("\(FolderID(.zero).digest.hex())\n"))
        #expect(scratch.folder.rootState == .replaced && scratch.folder.rootTrouble == .otherMark)
        try scratch.write(".syncd/folder-id", [])
        #expect(scratch.folder.rootState == .replaced && scratch.folder.rootTrouble == .damagedMark)
        try scratch.rename("aside", ".syncd/folder-id")
        #expect(scratch.folder.rootState == .healthy && scratch.folder.rootTrouble == nil)
    }

    @Test("a root that may not be looked into is not told to be gone", .needsAnotherUser)
    func closedRoot() throws {
        let scratch = try Scratch()
        unsafe chmod(scratch.above, 0o755)
        unsafe chmod(scratch.path, 0)
        Nobody.act { #expect(scratch.folder.rootState == .unmarked && scratch.folder.rootTrouble == .closed) }
        unsafe chmod(scratch.path, 0o755)
        unsafe chmod(scratch.above, 0)
        Nobody.act { #expect(scratch.folder.rootState == .missing && scratch.folder.rootTrouble == .unreachable) }
        unsafe chmod(scratch.above, 0o755)
        #expect(scratch.folder.rootState == .healthy)
    }

    @Test("what is done while the root is away is done in the folder, never in what took its place") func rootAway()
        throws
    {
        let scratch = try Scratch()
        unsafe rename(scratch.path, scratch.above + "/away")
        unsafe mkdir(scratch.path, 0o755)
        let place = Place.tree(at("a"))
        #expect(scratch.folder.run([DiskProgram([.createFile(place)])]) == [DiskResult()])
        #expect(Scratch.names(in: utf8(scratch.path)) == [])
        #expect(Scratch.status(utf8(scratch.above + "/away/a")) != nil)
    }

    @Test("the room that is left is told") func space() throws {
        let space = try Scratch().folder.space()
        #expect(space.totalBytes > 0)
        #expect(space.freeBytes <= space.totalBytes)
    }
}
