/// What stands in the folder, against what was known of it: absence that is none, and what no look was asked for.
import SyncCore
import SyncModel
import Testing

@Suite("Looks") struct LookTests {
    private static let old = Timestamp(seconds: 1_700_000_000, nanoseconds: 5)
    private let file = Driver.Item.file("hello", inode: 5, modified: old)

    private func directory(_ inode: UInt64) -> Driver.Item {
        Driver.Item(
            stat: Stat(
                identity: FileIdentity(device: 1, inode: inode, birth: .zero), kind: .directory, mode: 0o755, size: 0,
                modified: LookTests.old, changed: LookTests.old), content: .directory)
    }

    private func tell(_ path: String, _ kind: Notice.Kind = .touched) -> Event {
        .noticed([Notice(path: place(path), kind: kind)])
    }

    @Test("INV-25: what is back before it is marked missing in the store is found by a scan")
    func backBeforeItIsMarked() {
        var driver = Driver.running(files: [place("a"): file])
        let other = Driver.Item.file("other", inode: 6, modified: LookTests.old)
        driver.files = [place("b"): other]
        driver.silence = .stores
        driver.happen(.noticed([Notice(path: place("a"), kind: .gone), Notice(path: place("b"), kind: .touched)]))
        // What is being read may be the same file elsewhere: until that is known nothing is deleted.
        driver.settleLooks()
        driver.files = [place("a"): file, place("b"): other]
        // Nobody tells that it is back.
        driver.happen(.overflowed)
        driver.settleLooks()
        driver.silence = []
        driver.settle()
        for _ in 0..<10 { driver.sleep() }
        #expect(driver.shelf.log.count == 2 && driver.shelf.rows[place("a")]?.condition == .normal)
    }

    @Test("INV-25: what was seen missing while its directory was elsewhere is looked at when that was no move")
    func thereAndBack() {
        var driver = Driver.running(files: [place("d"): directory(7), place("d/a"): file])
        driver.happen(tell("d"))
        driver.settle()
        let logged = driver.shelf.log.count
        driver.silence = .disk
        driver.happen(tell("d/a", .gone))
        driver.happen(tell("x"))
        let there: SortedMap<Path, Driver.Item> = [place("d"): directory(7), place("d/a"): file]
        driver.files = [place("x"): directory(7), place("x/a"): file]
        // The look at all of them finds the directory under its new name, and the one that makes sure of it nothing any more.
        while let index = driver.waiting.firstIndex(where: { if case .inspect = $0 { true } else { false } }) {
            driver.answer(at: index)
            driver.settle()
            let isAsked = driver.waiting.contains { effect in
                if case .inspect(_, let paths) = effect { paths.contains(place("x/a")) } else { false }
            }
            if isAsked { driver.files = there }
        }
        driver.silence = []
        driver.settle()
        for _ in 0..<10 { driver.sleep() }
        #expect(driver.shelf.log.count == logged && driver.shelf.rows[place("d/a")]?.condition == .normal)
    }

    @Test("INV-11: a directory that was to go and has gone takes along what its deleter had not seen")
    func goneWithIt() {
        let before = Driver.running(files: [place("d"): directory(7), place("d/a"): file])
        var shelf = before.shelf
        var record = shelf.record ?? Driver.record
        record.isPaused = true
        guard var row = shelf.rows[place("d")] else { return }
        var gone = row.heads[0]
        gone.origin = Origin(
            author: .peer, position: LogPosition(epoch: Epoch(number: 1, nonce: 3), seq: 1),
            time: HybridTime(wallMilliseconds: Driver.wallStart))
        gone.seen = row.version
        gone.entry.content = .absent
        gone.origins = Origins(all: gone.origin)
        row.join(gone)
        shelf.perform(StoreBatch([.putRow(row), .putNode(record)]))
        var driver = Driver.running(record, files: before.files, shelf: shelf)
        let logged = driver.shelf.log.count
        driver.files = [:]
        driver.happen(tell("d", .gone))
        driver.settle()
        for _ in 0..<5 { driver.sleep() }
        #expect(driver.shelf.log.count == logged + 1 && driver.shelf.rows[place("d/a")]?.disk == nil)
    }

    @Test("B34: what a power cut gives back is damage, though a clock gone wild has dated its last change later")
    func olderByItsOwnTime() {
        let ahead = Timestamp(seconds: 3_000_000_000, nanoseconds: 5)
        let later = Timestamp(seconds: 3_000_000_009, nanoseconds: 5)
        let known = Driver.Item.file("the new one", inode: 5, modified: ahead)
        let before = Driver.running(files: [place("a"): known])
        let earlier = Driver.Item.file("the older", inode: 5, modified: LookTests.old)
        let driver = Driver.running(
            before.shelf.record ?? Driver.record, files: [place("a"): earlier.renamed(at: later.milliseconds)],
            shelf: before.shelf, powerWasLost: true)
        #expect(driver.shelf.log.count == 1 && driver.shelf.rows[place("a")]?.condition == .damaged)
    }
}

extension Driver {
    /// Answers looks and what may be answered of the store, and reads nothing.
    fileprivate mutating func settleLooks() {
        while let index = answerable.first(where: { if case .hash = waiting[$0] { false } else { true } }) {
            answer(at: index)
        }
    }
}
