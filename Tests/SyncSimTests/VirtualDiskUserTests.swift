/// What people's programs do with the folder, and what the watcher hears of it.
import SyncCore
import SyncModel
import SyncSim
import Testing

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

    @Test("an image is a copy: a hundred images of 40 files, used for six thousand operations, leave each other alone")
    func images() {
        var disk = VirtualDisk.sketched("d/")
        for number in 0..<40 { disk.writeFile(at("d/f\(number)"), SeededBytes.make(500), now: ms(1)) }
        disk.syncEverything()
        let before = disk.allContents()
        for round in 0..<100 {
            var image = disk
            for step in 0..<10 {
                let place = Place.tree(at("d/f\((round + step) % 40)"))
                let result = image.run(
                    DiskProgram([
                        .createFile(stage1), .write(stage1, offset: 0, bytes: utf8("x")), .syncFile(stage1),
                        .exchange(stage1, place), .syncParent(place), .discard(stage1),
                    ]), now: ms(2))
                #expect(result == DiskResult())
            }
            #expect(image.tree().count { $0.1.bytes == utf8("x") } == 10)
        }
        #expect(disk.allContents() == before)
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

    @Test("an open file is heard by the name it was opened by, also when that is gone or another file's")
    func handlesWithoutNames() {
        var disk = VirtualDisk.sketched("g=two n=new")
        disk.link(at("g"), at("h"), now: ms(1))
        disk.startWatching()
        guard case .success(let handle) = disk.open(at("g"), now: ms(2)) else {
            Issue.record("not opened")
            return
        }
        disk.rename(at("n"), to: at("g"), now: ms(2))
        disk.write(handle, at: 0, [1], now: ms(2))
        disk.unlink(at("g"), now: ms(2))
        disk.unlink(at("h"), now: ms(2))
        disk.close(handle)
        #expect(heard(&disk) == "gone n, touched g, writing g, gone g, gone h, touched g")
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
