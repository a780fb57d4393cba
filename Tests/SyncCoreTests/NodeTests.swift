/// The promises of a node that need no second one: driven by hand, event by event (`Driver`). What two nodes promise
/// together is the simulator's.
import SyncCore
import SyncModel
import Testing

struct NodeTests {
    private static let old = Timestamp(seconds: 1_700_000_000, nanoseconds: 5)

    private static func oneFile(_ text: String = "hello") -> SortedMap<Path, Driver.Item> {
        [place("a.txt"): .file(text, inode: 5, modified: old)]
    }

    // MARK: The first moments

    @Test("before it is started nothing makes a node do anything") func beforeStart() {
        var driver = Driver()
        for event: Event in [
            .noticed([Notice(path: place("a"), kind: .touched)]), .overflowed, .connected(Driver.link), .deadline,
            .received(Driver.link, [1, 2, 3]), .stored(JobID(raw: 1)), .loaded(JobID(raw: 1), []),
        ] {
            driver.happen(event)
        }
        #expect(driver.emitted.isEmpty)
    }

    @Test("a file that was here before anybody watched is logged once, as old as it says") func firstScan() throws {
        var driver = Driver.running(files: NodeTests.oneFile())
        let entry = try #require(driver.shelf.log.first)
        #expect(driver.shelf.log.count == 1 && entry.head.position.follows(.none))
        guard case .put(let path, let revision) = entry.change else {
            Issue.record("\(entry)")
            return
        }
        #expect(path == place("a.txt") && revision.entry.content == driver.files[path]?.content)
        #expect(revision.origin.time == HybridTime(wallMilliseconds: NodeTests.old.milliseconds))
        #expect(driver.shelf.record?.ownHead == entry.head)
        #expect(driver.shelf.rows[path]?.isUnsettled == false)

        driver.happen(.overflowed)
        driver.settle()
        #expect(driver.shelf.log.count == 1, "INV-07: looking again says nothing new")
    }

    @Test("status is answered while the disk is silent, and says that it is only starting") func earlyStatus() throws {
        var driver = Driver()
        driver.silence = .disk
        driver.happen(Driver.start())
        driver.happen(.command(CommandID(raw: 9), .status))
        #expect(driver.statuses.isEmpty)
        driver.settle()
        let status = try #require(driver.statuses.first)
        #expect(driver.statuses.count == 1)
        #expect(status.state == .starting && !status.inSync && !status.isConnected && status.toApply == 0)
    }

    @Test("a node is not in sync with nobody, however quiet it is") func alone() throws {
        var driver = Driver.running(files: NodeTests.oneFile())
        driver.happen(.command(CommandID(raw: 1), .status))
        driver.settle()
        let status = try #require(driver.statuses.last)
        #expect(status.files == 1 && status.toSend == 1 && !status.inSync && status.state == .waiting)
    }

    @Test("a large file that was changed a moment ago is read once, when times can tell") func freshAndLarge() {
        for (size, reads) in [(Limits().readTwiceBytesMax, [0, 1]), (Limits().readTwiceBytesMax - 1, [1, 2])] {
            var driver = Driver.running()
            let path = place("large")
            let now = Timestamp(milliseconds: Driver.wallStart + Int64(driver.milliseconds))
            driver.files[path] = .file("large", inode: 7, modified: now).enlarged(to: size)
            driver.happen(.noticed([Notice(path: path, kind: .closed)]))
            driver.settle()
            #expect(driver.reads(of: path) == reads[0])
            for _ in 0..<3 { driver.sleep() }
            #expect(driver.reads(of: path) == reads[1])
            #expect(driver.shelf.log.count == 1)
        }
    }

    @Test("what cannot be looked at is tried again more and more rarely, and at once when somebody tells of it")
    func failingLooks() {
        var driver = Driver.running()
        let (path, notice) = (place("mount"), Notice(path: place("mount"), kind: .touched))
        driver.faults[path] = .crossDevice
        driver.happen(.noticed([notice]))
        driver.settle()
        let begun = driver.milliseconds
        while driver.milliseconds < begun + 600_000 { driver.sleep() }
        // 0.5 s, 1 s, 2 s and so on up to a minute: ten minutes are 7 tries and then 9.
        #expect((10...20).contains(driver.looks(at: path)))

        driver.faults[path] = nil
        driver.files[path] = .file("text", inode: 9, modified: NodeTests.old)
        driver.happen(.noticed([notice]))
        driver.settle()
        #expect(driver.shelf.log.count == 1)
    }

    // MARK: INV-24: a folder that is not ours

    @Test(
        "INV-24: an unhealthy root at the start stops everything but looking at it",
        arguments: [RootState.missing, .replaced, .unmarked])
    func unhealthyRoot(root: RootState) {
        var driver = Driver()
        driver.root = root
        driver.files = NodeTests.oneFile()
        driver.happen(Driver.start())
        driver.settle()
        driver.happen(.noticed([Notice(path: place("a.txt"), kind: .gone)]))
        driver.happen(.overflowed)
        driver.settle()
        for _ in 0..<20 { driver.sleep() }
        #expect(driver.folderWork.isEmpty && driver.shelf.log.isEmpty)
        #expect(driver.alerts == [root == .replaced ? .rootReplaced : .rootMissing])
        #expect(driver.node.phase == .recovering)

        driver.root = .healthy
        driver.sleep()
        #expect(driver.alerts.isEmpty && driver.node.phase == .running && driver.shelf.log.count == 1)
    }

    @Test("INV-24 INV-25: a root that goes away takes nothing with it", arguments: [RootState.missing, .unmarked])
    func rootGoes(root: RootState) {
        var driver = Driver.running(files: NodeTests.oneFile())
        let files = driver.files
        driver.root = root
        driver.files = [:]
        driver.happen(.noticed([Notice(path: place("a.txt"), kind: .gone)]))
        driver.happen(.overflowed)
        driver.settle()
        for _ in 0..<10 { driver.sleep() }
        #expect(driver.shelf.log.count == 1 && driver.alerts == [.rootMissing])

        driver.root = .healthy
        driver.files = files
        for _ in 0..<3 { driver.sleep() }
        #expect(driver.shelf.log.count == 1 && driver.alerts.isEmpty)
        #expect(driver.shelf.rows[place("a.txt")]?.isUnsettled == false)
    }

    // MARK: INV-24: a rename is no loss

    /// How the two halves of a rename are told.
    enum Halves: CaseIterable {
        case together
        case goneFirst
        case foundFirst
    }

    private static func crowd() -> SortedMap<Path, Driver.Item> {
        SortedMap((0..<100).map { (place("a\($0)"), .file("text \($0)", inode: 100 + $0, modified: old)) })
    }

    private static func rename(_ numbers: Range<Int>, in driver: inout Driver, told halves: Halves) {
        var (gone, found): ([Notice], [Notice]) = ([], [])
        for number in numbers {
            let (from, to) = (place("a\(number)"), place("b\(number)"))
            driver.files[to] = driver.files.removeValue(forKey: from)?.renamed(at: Driver.wallStart)
            gone.append(Notice(path: from, kind: .gone))
            found.append(Notice(path: to, kind: .touched))
        }
        switch halves {
        case .together: driver.notice([gone + found])
        case .goneFirst: driver.notice([gone, found])
        case .foundFirst: driver.notice([found, gone])
        }
    }

    private static func remove(_ names: [String], in driver: inout Driver) {
        for name in names { driver.files[place(name)] = nil }
        driver.notice([names.map { Notice(path: place($0), kind: .gone) }])
    }

    @Test("INV-24: renames do not count as deletes, however their halves are told", arguments: Halves.allCases)
    func renamesAndDeletes(halves: Halves) {
        var driver = Driver.running(files: NodeTests.crowd())
        NodeTests.rename(0..<40, in: &driver, told: halves)
        NodeTests.remove((40..<80).map { "a\($0)" }, in: &driver)
        #expect(driver.alerts.isEmpty && driver.shelf.record?.held == nil)
        #expect((0..<80).allSatisfy { driver.shelf.rows[place("a\($0)")]?.disk == nil })
        #expect((0..<40).allSatisfy { driver.shelf.rows[place("b\($0)")]?.isUnsettled == false })
    }

    @Test("INV-24: what is held is let go as soon as it is known to have been renamed", arguments: Halves.allCases)
    func renamesOnly(halves: Halves) {
        var driver = Driver.running(files: NodeTests.crowd())
        NodeTests.rename(0..<60, in: &driver, told: halves)
        #expect(driver.alerts.isEmpty && driver.shelf.record?.held == nil)
        #expect((0..<60).allSatisfy { driver.shelf.rows[place("a\($0)")]?.disk == nil })
    }

    @Test("INV-24: what was renamed and then removed is lost all the same", arguments: Halves.allCases)
    func renamedAndRemoved(halves: Halves) {
        var driver = Driver.running(files: NodeTests.crowd())
        NodeTests.rename(0..<60, in: &driver, told: halves)
        NodeTests.remove((0..<60).map { "b\($0)" }, in: &driver)
        #expect(driver.alerts == [.fuseDeletes])
        #expect((0..<60).allSatisfy { driver.shelf.rows[place("b\($0)")]?.condition == .missing })
    }

    @Test("INV-24: a few that were renamed do not let go the rest of what is held") func renamedAmongHeld() {
        var driver = Driver.running(files: NodeTests.crowd())
        NodeTests.remove((0..<60).map { "a\($0)" }, in: &driver)
        #expect(driver.alerts == [.fuseDeletes])
        NodeTests.rename(60..<70, in: &driver, told: .together)
        #expect(driver.alerts == [.fuseDeletes])
        #expect((0..<60).allSatisfy { driver.shelf.rows[place("a\($0)")]?.condition == .missing })
    }

    @Test("R-12: when more is held, the alert is about more; it stays one") func heldGrows() {
        var driver = Driver.running(files: NodeTests.crowd())
        NodeTests.remove((0..<60).map { "a\($0)" }, in: &driver)
        #expect(driver.facts(of: .fuseDeletes)?.size == 60)
        NodeTests.remove((60..<75).map { "a\($0)" }, in: &driver)
        let facts = driver.facts(of: .fuseDeletes)
        #expect(facts?.size == 75 && facts?.detail == "75 files are held." && driver.alerts == [.fuseDeletes])
        #expect(driver.shelf.record?.held?.files == 75)
    }

    @Test("R-12: a file that is held is counted once, however often it is looked at, or is back and goes again")
    func heldOnce() {
        var driver = Driver.running(files: NodeTests.crowd())
        let names = (0..<60).map { "a\($0)" }
        NodeTests.remove(names, in: &driver)
        NodeTests.remove(names, in: &driver)
        #expect(driver.shelf.record?.held?.files == 60)
        driver.files[place("a3")] = NodeTests.crowd()[place("a3")]
        driver.notice([[Notice(path: place("a3"), kind: .touched)]])
        #expect(driver.shelf.rows[place("a3")]?.condition == .normal)
        NodeTests.remove(["a3"], in: &driver)
        #expect(driver.shelf.record?.held?.files == 60 && driver.facts(of: .fuseDeletes)?.size == 60)
        #expect(driver.facts(of: .fuseDeletes)?.detail == "60 files are held.")
    }

    /// A hundred files in a directory of their own, each known as the file it is whatever becomes of it.
    private static func fullDirectory() -> SortedMap<Path, Driver.Item> {
        var files = SortedMap(
            (0..<100).map { number -> (Path, Driver.Item) in
                (
                    place("many/\(number)"),
                    .file("text \(number)", inode: 100 + number, modified: old, bornNanoseconds: 7)
                )
            })
        files[place("many")] = .directory(inode: 5, changed: old)
        files[place("to")] = .directory(inode: 6, changed: old)
        return files
    }

    /// Every file of the directory is edited and has another name then.
    private static func editAndMove(in driver: inout Driver) -> (gone: [Notice], found: [Notice]) {
        var (gone, found): ([Notice], [Notice]) = ([], [])
        for number in 0..<100 {
            let (from, to) = (place("many/\(number)"), place("to/\(number)"))
            driver.files[to] = driver.files.removeValue(forKey: from)?.edited("again \(number)", at: Driver.wallStart)
            gone.append(Notice(path: from, kind: .gone))
            found.append(Notice(path: to, kind: .touched))
        }
        return (gone, found)
    }

    @Test(
        "INV-24: a directory whose files were edited, moved and believed gone a moment ago holds nothing when it goes")
    func emptyDirectoryAfterMoves() {
        var driver = Driver.running(files: NodeTests.fullDirectory())
        let (gone, found) = NodeTests.editAndMove(in: &driver)
        driver.notice([gone + found])
        #expect(driver.alerts.isEmpty)
        driver.files[place("many")] = nil
        // Of what a scan finds missing, no file is asked about where there is none.
        driver.happen(.overflowed)
        driver.settle()
        #expect(driver.alerts.isEmpty && driver.shelf.record?.held == nil)
        #expect(driver.shelf.rows[place("many")]?.disk == nil)
    }

    @Test("INV-24: nobody is alarmed as long as what could explain it is being read, but for a file that is never read")
    func slowReading() {
        for isReadInTime in [true, false] {
            var driver = Driver.running(files: NodeTests.fullDirectory())
            let (gone, found) = NodeTests.editAndMove(in: &driver)
            driver.silence = .reading
            driver.happen(.noticed(gone + found))
            driver.settle()
            let end = driver.milliseconds + (isReadInTime ? 8_000 : 20_000)
            while driver.milliseconds < end { driver.sleep() }
            #expect(driver.alerts == (isReadInTime ? [] : [.fuseDeletes]))
            driver.silence = []
            driver.settle()
            for _ in 0..<5 { driver.sleep() }
            #expect(driver.alerts.isEmpty && driver.shelf.record?.held == nil)
            #expect((0..<100).allSatisfy { driver.shelf.rows[place("many/\($0)")]?.disk == nil })
        }
    }

    @Test("INV-24: what is held is let go when it turns up elsewhere, edited") func heldAndEdited() {
        var driver = Driver.running(files: NodeTests.fullDirectory())
        let (gone, found) = NodeTests.editAndMove(in: &driver)
        driver.notice([gone])
        #expect(driver.alerts == [.fuseDeletes])
        driver.notice([found])
        #expect(driver.alerts.isEmpty && driver.shelf.record?.held == nil)
        #expect((0..<100).allSatisfy { driver.shelf.rows[place("many/\($0)")]?.disk == nil })
        // None of it was lost, so all that is deleted next is what goes now.
        for number in 0..<40 { driver.files[place("to/\(number)")] = nil }
        driver.notice([(0..<40).map { Notice(path: place("to/\($0)"), kind: .gone) }])
        #expect(driver.alerts.isEmpty && driver.shelf.record?.held == nil)
    }

    @Test("INV-24: what is held is let go when every file of it is back, and only directories are missing")
    func heldDirectories() {
        var files = NodeTests.fullDirectory()
        files[place("empty")] = .directory(inode: 7, changed: NodeTests.old)
        var driver = Driver.running(files: files)
        driver.files = [place("to"): .directory(inode: 6, changed: NodeTests.old)]
        driver.happen(.overflowed)
        driver.settle()
        #expect(!driver.alerts.isEmpty)
        files[place("empty")] = nil
        driver.files = files
        driver.happen(.overflowed)
        driver.settle()
        #expect(driver.alerts.isEmpty && driver.shelf.record?.held == nil)
        #expect((0..<100).allSatisfy { driver.shelf.rows[place("many/\($0)")]?.isUnsettled == false })
        #expect(driver.shelf.rows[place("empty")]?.disk == nil)
    }

    // MARK: Durable before promised

    @Test("R-01: our log is neither named nor sent before it is stored") func ownLogIsDurable() {
        var driver = Driver.running()
        driver.files = NodeTests.oneFile()
        driver.silence = .stores
        driver.happen(.noticed([Notice(path: place("a.txt"), kind: .touched)]))
        driver.settle()
        driver.greet()
        #expect(driver.hellos.map(\.ownHead) == [.none])
        #expect(driver.sentEntries.isEmpty && driver.shelf.log.isEmpty)

        driver.silence = []
        driver.settle()
        #expect(driver.shelf.log.count == 1)
        #expect(driver.sentEntries == driver.shelf.log.map(LogCodec.encode))
        driver.happen(.disconnected(Driver.link))
        driver.greet()
        #expect(driver.hellos.last?.ownHead == driver.shelf.log.last?.head)
    }

    @Test("an entry is sent without being read back; what was sent over a link that is gone is read once")
    func ownLogIsNotReadBack() {
        var driver = Driver.running(files: NodeTests.oneFile())
        driver.greet()
        driver.settle()
        let reads = driver.logReads
        #expect(driver.sentEntries.count == 1)
        for number in 0..<3 {
            driver.files[place("new\(number)")] = .file("text", inode: UInt64(50 + number), modified: NodeTests.old)
            driver.happen(.noticed([Notice(path: place("new\(number)"), kind: .closed)]))
            driver.settle()
        }
        #expect(driver.sentEntries == driver.shelf.log.map(LogCodec.encode) && driver.sentEntries.count == 4)
        #expect(driver.logReads == reads)

        // Over the next link it starts where that peer is.
        driver.happen(.disconnected(Driver.link))
        driver.greet(known: [driver.shelf.log[1].head])
        driver.settle()
        #expect(driver.sentEntries.suffix(2) == driver.shelf.log.suffix(2).map(LogCodec.encode)[...])
        #expect(driver.sentEntries.count == 6 && driver.logReads == reads + 1)
    }

    @Test("R-01 R-03: the peer's log is acknowledged only when it is stored") func importIsDurable() {
        var peer = PeerLog()
        for name in ["x", "y"] { peer.append(epoch: 1, path: name) }
        var driver = Driver.running()
        driver.greet()
        driver.silence = .stores
        driver.receive(.log(peer.entries))
        driver.settle()
        #expect(driver.acknowledgements.allSatisfy { $0.head == .none })
        driver.happen(.disconnected(Driver.link))
        driver.happen(.connected(LinkID(raw: 2)))
        #expect(driver.hellos.last?.known == [])

        driver.happen(.disconnected(LinkID(raw: 2)))
        driver.silence = []
        driver.settle()
        driver.greet()
        #expect(driver.hellos.last?.known == [peer.heads[1]])
        #expect(driver.shelf.record?.importedHead == peer.heads[1])
        #expect(driver.broken.isEmpty, "\(driver.broken)")
    }

    @Test("an acknowledgement follows what was stored, and says so when the folder shows it") func acknowledges() {
        var peer = PeerLog()
        peer.append(epoch: 1, path: "x")
        var driver = Driver.running()
        driver.greet()
        driver.receive(.log(peer.entries))
        driver.settle()
        #expect(driver.acknowledgements.last == Acknowledgement(head: peer.heads[0], isSettled: true))
    }

    @Test("what is dated more than a century ahead waits for the clocks with an alert, and the link stays")
    func centuryAhead() {
        let year: Int64 = 366 * 86_400_000
        var peer = PeerLog()
        peer.append(epoch: 1, path: "x")
        peer.append(epoch: 1, path: "y", aheadMilliseconds: 101 * year)
        var driver = Driver.running()
        driver.greet()
        driver.receive(.log(peer.entries))
        driver.settle()
        #expect(driver.alerts == [.clockSkew] && driver.closings.isEmpty)
        #expect(driver.acknowledgements.last?.head == peer.heads[0])
        let detail = driver.facts(of: .clockSkew)?.detail
        #expect(detail == "Changes of right are dated 2128-02-03, though the clocks agree.")

        driver.clockLead = 2 * year
        driver.happen(.deadline)
        #expect(driver.closings == [.clockSkew], "what was passed over comes again on the next link")
        driver.greet(known: [], ownHead: peer.heads[1])
        driver.receive(.log(Array(peer.entries.dropFirst())))
        driver.settle()
        #expect(driver.acknowledgements.last?.head == peer.heads[1])
    }

    @Test("clock.skew says whose clock is ahead and by how much, and is more than was seen when it is ten times that")
    func clocksApart() {
        var driver = Driver.running()
        driver.clockLead = -3_600_000
        driver.greet()
        let first = driver.facts(of: .clockSkew)
        #expect(first?.detail == "The clock of right is 60 min ahead of that of left." && first?.size == 4)
        driver.clockLead = 0
        driver.receive(.pong(wallMilliseconds: Driver.wallStart - 2 * 86_400_000))
        let second = driver.facts(of: .clockSkew)
        #expect(second?.detail == "The clock of left is 2 days ahead of that of right." && second?.size == 6)
        driver.receive(.pong(wallMilliseconds: Driver.wallStart + Int64(driver.milliseconds)))
        #expect(driver.alerts.isEmpty)
    }

    @Test("a hello names the last stored entry of each epoch of the peer, also when they come together")
    func epochs() {
        var peer = PeerLog()
        for name in ["x", "y"] { peer.append(epoch: 1, path: name) }
        for name in ["z", "x"] { peer.append(epoch: 2, path: name) }
        var driver = Driver.running()
        driver.greet()
        driver.receive(.log(peer.entries))
        driver.settle()
        driver.happen(.disconnected(Driver.link))
        driver.happen(.connected(LinkID(raw: 2)))
        driver.settle()
        #expect(driver.hellos.last?.known == [peer.heads[1], peer.heads[3]])
    }

    @Test("a hello marks the epoch of rows whose end has not come, and whoever has lost that epoch begins a later one")
    func epochOfRows() {
        let epoch = Epoch(number: 2, nonce: 3)
        let origin = Origin(author: .own, position: LogPosition(epoch: epoch, seq: 4), time: .zero)
        let revision = Revision(origin: origin, seen: .none, entry: .absent, origins: Origins(all: origin))
        var driver = Driver.running()
        driver.greet()
        driver.receive(.rows([RowState(path: place("x"), revision: revision)]))
        driver.settle()
        driver.happen(.disconnected(Driver.link))
        driver.greet()
        #expect(driver.hellos.last?.known == [.mark(of: epoch)])
        driver.receive(.rowsEnd(LogHead(position: LogPosition(epoch: epoch, seq: 0), chain: .zero)))
        driver.settle()
        driver.happen(.disconnected(Driver.link))
        driver.greet()
        #expect(driver.hellos.last?.known.contains(where: \.isMark) == false && driver.broken.isEmpty)

        var lost = Driver.running(files: NodeTests.oneFile())
        let own = lost.shelf.record?.ownHead.position.epoch ?? .none
        lost.greet(known: [.mark(of: Epoch(number: own.number, nonce: own.number &+ 1))])
        #expect(lost.sent.contains(.rolledBack(.none)))
        #expect(lost.shelf.record?.ownHead.position.epoch.number == own.number + 1)

        let present = lost.shelf.record?.ownHead.position.epoch ?? .none
        lost.happen(.disconnected(Driver.link))
        lost.greet(known: [.mark(of: present)])
        lost.settle()
        let count = lost.sent.count
        lost.happen(.disconnected(Driver.link))
        lost.greet(known: [.mark(of: own)])
        #expect(
            lost.sent.dropFirst(count).contains(.rolledBack(.none)),
            "a peer that was set back as well has the rows of the lost epoch")
        #expect(lost.shelf.record?.ownHead.position.epoch.number == own.number + 2)
    }

    @Test("R-01: whatever answers first, whenever the link breaks, only what is stored is promised", arguments: 1...60)
    func anyOrder(seed: UInt64) {
        var (driver, peer) = NodeTests.wander(seed: seed)
        #expect(driver.broken.isEmpty, "\(driver.broken.prefix(3))")
        // Nothing but the silence of a peer ends a link here.
        #expect(!driver.hellos.isEmpty && driver.closings.allSatisfy { $0 == .peerAway }, "\(driver.closings)")

        // Left in peace, it takes in and sends what there is.
        driver.happen(.stopRequested)
        driver.settle()
        var later = Driver.running(driver.shelf.record ?? Driver.record, files: driver.files, shelf: driver.shelf)
        later.greet()
        let known = later.hellos.last?.known.last
        peer.dropEntries(through: known)
        later.receive(.log(peer.entries))
        later.settle()
        #expect(later.shelf.record?.importedHead == peer.heads.last && later.broken.isEmpty)
        #expect(later.sentEntries == later.shelf.log.map(LogCodec.encode))
        #expect(later.shelf.rows.allSatisfy { !$0.value.isUnsettled })
    }

    @Test("who greets while this node still stores what the last link brought is answered after this node's own hello")
    func greetsFirst() throws {
        var peer = PeerLog()
        peer.append(epoch: 1, path: "x")
        var driver = Driver.running(files: NodeTests.oneFile())
        driver.greet()
        driver.silence = .stores
        driver.receive(.log(peer.entries))
        driver.settle()
        driver.happen(.disconnected(Driver.link))
        let hellos = driver.hellos.count
        let sent = driver.sent.count
        driver.greet(ownHead: peer.heads[0])
        #expect(driver.sent.count == sent, "nothing is said before the hello")
        driver.silence = []
        driver.settle()
        #expect(driver.hellos.count == hellos + 1)
        #expect(driver.hellos.last?.known == [peer.heads[0]])
        driver.receive(.acknowledge(Acknowledgement(head: driver.shelf.log[0].head, isSettled: true)))
        driver.settle()
        #expect(driver.closings.isEmpty && driver.alerts.isEmpty && driver.broken.isEmpty)
    }

    @Test("a stop is marked clean before the process ends, and only then") func stop() {
        var driver = Driver.running(files: NodeTests.oneFile())
        driver.silence = .stores
        driver.happen(.stopRequested)
        driver.settle()
        #expect(driver.endings.isEmpty && driver.shelf.record?.stoppedCleanly != true)
        driver.silence = []
        driver.settle()
        #expect(driver.endings == [.stopped] && driver.shelf.record?.stoppedCleanly == true)
    }

    // MARK: The end

    @Test("a store that cannot be written ends the node, and nothing is said after that") func storeFails() throws {
        var driver = Driver.running()
        driver.files = NodeTests.oneFile()
        driver.greet()
        driver.silence = .stores
        driver.happen(.noticed([Notice(path: place("a.txt"), kind: .touched)]))
        driver.settle()
        let job = try #require(
            driver.waiting.compactMap { effect -> JobID? in
                if case .store(let job, _) = effect { return job }
                return nil
            }.first)
        driver.happen(.storeFailed(job))
        #expect(driver.endings == [.storeFailed] && driver.sentEntries.isEmpty)
        let count = driver.emitted.count
        for event: Event in [
            .stored(job), .deadline, .overflowed, .stopRequested, .disconnected(Driver.link), Driver.start(),
            .command(CommandID(raw: 1), .status), .received(Driver.link, FrameCodec.encode(.ping)),
        ] {
            driver.happen(event)
        }
        #expect(driver.emitted.count == count)
    }

    // MARK: The link

    @Test(
        "R-11: what is no frame closes the link with an alert, and nothing of it is used",
        arguments: [
            [], [0], [0, 0, 0, 5, 14, 0, 0, 0, 0], FrameCodec.encode(.ping).dropLast() + [0],
            Array(FrameCodec.encode(.ping).dropLast()), FrameCodec.encode(.ping) + [0],
            [UInt8](repeating: 0xFF, count: 2_000),
        ] as [[UInt8]])
    func garbage(bytes: [UInt8]) {
        for isGreeted in [false, true] {
            var driver = Driver.running()
            if isGreeted { driver.greet() } else { driver.happen(.connected(Driver.link)) }
            driver.settle()
            driver.happen(.received(Driver.link, bytes))
            driver.settle()
            #expect(driver.closings == [.peerProtocolViolation])
            #expect(driver.alerts == [.peerProtocolViolation])
            let count = driver.sent.count
            driver.receive(.ping)
            #expect(driver.sent.count == count, "the link is closed: nothing more is answered")
        }
    }

    @Test("the alert goes when the peer behaves again") func behavesAgain() {
        var driver = Driver.running()
        driver.greet()
        driver.happen(.received(Driver.link, [1]))
        driver.happen(.disconnected(Driver.link))
        #expect(driver.alerts == [.peerProtocolViolation])
        driver.greet()
        #expect(driver.alerts.isEmpty)
    }

    @Test("frames before a hello, and a second hello, are no way to talk") func outOfTurn() {
        var early = Driver.running()
        early.happen(.connected(Driver.link))
        early.settle()
        early.receive(.ping)
        #expect(early.closings == [.peerProtocolViolation])
        var twice = Driver.running()
        twice.greet()
        #expect(twice.closings.isEmpty)
        twice.receive(.hello(Driver.hello()))
        #expect(twice.closings == [.peerProtocolViolation])
    }

    @Test("entries that do not follow, of another node or changed on the way are refused, with all behind them")
    func wrongEntries() {
        var peer = PeerLog()
        for name in ["x", "y", "z"] { peer.append(epoch: 1, path: name) }
        for entries in [[peer.entries[1]], [peer.entries[0], peer.entries[2]], [[1, 2, 3]]] {
            var driver = Driver.running()
            driver.greet()
            driver.receive(.log(entries))
            driver.settle()
            #expect(driver.closings == [entries[0].count > 3 ? .peerProtocolViolation : .logCorrupt])
            let imported = driver.shelf.record?.importedHead ?? LogHead.none
            #expect([LogHead.none, peer.heads[0]].contains(imported))
        }
    }

    @Test("R-04: a peer that knows another entry at one of our positions is a fork: both stop, nothing is overwritten")
    func fork() throws {
        var driver = Driver.running(files: NodeTests.oneFile())
        let head = try #require(driver.shelf.log.last?.head)
        driver.greet(known: [LogHead(position: head.position, chain: .zero)])
        #expect(driver.alerts.contains(.logForked) && driver.sent.contains(.halt(.logForked)))
        #expect(driver.sentEntries.isEmpty && driver.shelf.record?.isForked == true)
        driver.files = NodeTests.oneFile("changed")
        driver.happen(.noticed([Notice(path: place("a.txt"), kind: .touched)]))
        driver.settle()
        #expect(driver.shelf.log.count == 1)
    }

    @Test("a frame of a later program is skipped, a ping is answered") func unknownFrames() {
        var driver = Driver.running()
        driver.greet()
        for type: UInt8 in [0, 99, 100, 255] { driver.receive(.unknown(type)) }
        #expect(driver.closings.isEmpty)
        driver.receive(.ping)
        let isAnswered = driver.sent.contains { frame in
            if case .pong = frame { return true }
            return false
        }
        #expect(isAnswered)
    }

    @Test("peers of other versions stay connected quietly, with an alert on both") func disjoint() throws {
        var driver = Driver.running(files: NodeTests.oneFile())
        driver.happen(.connected(Driver.link))
        driver.settle()
        driver.receive(.hello(Driver.hello(versions: (2, 3))))
        driver.settle()
        #expect(driver.alerts == [.wireDisjoint] && driver.closings.isEmpty && driver.sentEntries.isEmpty)
        #expect(driver.sent.count == 1, "only our hello")
        #expect(
            driver.facts(of: .wireDisjoint)?.detail
                == "right speaks versions 2 to 3, left version 1: left is the older one.")
        driver.happen(.command(CommandID(raw: 9), .status))
        driver.settle()
        let status = try #require(driver.statuses.last)
        #expect(status.peerName == Array("right".utf8) && !status.isConnected && !status.inSync)
        #expect(Set(status.pending.map(\.reason)) == [.wireDisjoint])
        // What it sends in its own version is not for us, and nobody waits for a greeting any more.
        driver.receive(.unknown(99))
        for _ in 0..<20 { driver.sleep() }
        #expect(driver.alerts == [.wireDisjoint] && driver.closings.isEmpty)
        // The other node is upgraded, or goes back.
        driver.happen(.disconnected(Driver.link))
        driver.greet()
        #expect(!driver.alerts.contains(.wireDisjoint) && driver.closings.isEmpty)
    }

    @Test("a peer that says nothing is let go") func silentPeer() {
        var driver = Driver.running()
        driver.happen(.connected(Driver.link))
        driver.settle()
        for _ in 0..<20 where driver.closings.isEmpty { driver.sleep() }
        #expect(driver.closings == [.peerAway])
    }

    // MARK: Kept versions

    /// 600 versions of 10 bytes, one kept each second up to the start; every third is in quarantine.
    private static func manyVersions(inQuarantine reason: MessageCode = .itemQuarantined) -> Shelf {
        var shelf = Shelf()
        let file = Driver.Item.file("0123456789", inode: 9, modified: .zero)
        for number in 0..<600 {
            let id = VersionID(raw: UInt64(number))
            shelf.versions[id] = KeptVersion(
                id: id, path: place("a.txt"), entry: Entry(content: file.content, mode: 0o644, modified: .zero),
                stat: file.stat, author: .own, keptMilliseconds: Driver.wallStart - Int64(600 - number) * 1_000,
                reason: number % 3 == 0 ? reason : .versionKept, isQuarantined: number % 3 == 0)
        }
        return shelf
    }

    /// After so many hours of a node that had been there for `days`, and went down so long before its start as `away` says. Its
    /// clock leaps just after.
    private static func numbersLeft(
        after settings: Settings, days: Int64 = 400, away: Int64 = 1_000, leap: Int64 = 0, hours: UInt64 = 1,
        inQuarantine reason: MessageCode = .itemQuarantined
    ) -> [UInt64] {
        var record = Driver.record
        record.aliveMilliseconds = Driver.wallStart - away
        record.steadySince = Driver.wallStart - days * 86_400_000
        var driver = Driver.running(record, shelf: manyVersions(inQuarantine: reason), settings: settings)
        driver.clockLead += leap
        let end = driver.milliseconds + hours * Limits().rescanMilliseconds + 1_000
        while driver.milliseconds < end { driver.sleep() }
        return driver.shelf.versions.map(\.key.raw)
    }

    @Test("R-16: versions go by their age, however many there are, and what is in quarantine stays") func pruneByAge() {
        var settings = Settings()
        settings.keepVersionsMilliseconds = 3_600_000 + 300_000
        let left = NodeTests.numbersLeft(after: settings)
        #expect(left == (0..<600).filter { $0 % 3 == 0 || $0 > 300 })
    }

    @Test("records that are in quarantine stay there; what nobody needs there but as a version goes by its age")
    func pruneQuarantine() {
        var settings = Settings()
        settings.keepVersionsMilliseconds = 3_600_000 + 300_000
        let records = NodeTests.numbersLeft(after: settings, inQuarantine: .conflictSlot)
        #expect(records == (0..<600).filter { $0 % 3 == 0 || $0 > 300 })
        let released = NodeTests.numbersLeft(after: settings, inQuarantine: .versionKept)
        #expect(released == (0..<600).filter { $0 > 300 })
    }

    @Test("a clock that leaps forward, or was put forward while the machine was off, makes no version old")
    func pruneAfterLeap() {
        var settings = Settings()
        settings.keepVersionsMilliseconds = 3_600_000 + 300_000
        #expect(NodeTests.numbersLeft(after: settings, days: 0).count == 600, "the node is too young to know")
        #expect(NodeTests.numbersLeft(after: settings, away: 1_000_000).count == 600, "it was away for too long")
        #expect(NodeTests.numbersLeft(after: settings, leap: 86_400_000).count == 600)
        #expect(NodeTests.numbersLeft(after: settings, leap: 86_400_000, hours: 2).count == 200, "two hours later")
    }

    @Test("R-16: the oldest go as long as all take more room than allowed", arguments: [0, 1_000, 3_995, 4_000])
    func pruneBySize(bytes: UInt64) {
        var settings = Settings()
        settings.keepVersionsBytes = bytes
        let left = NodeTests.numbersLeft(after: settings).filter { $0 % 3 != 0 }
        #expect(left == (0..<600).filter { $0 % 3 != 0 }.suffix(Int(bytes / 10)))
    }

    @Test("a version that was kept just now stays, however little room there may be") func pruneYoung() {
        var settings = Settings()
        settings.keepVersionsBytes = 0
        var shelf = Shelf()
        for (id, kept) in NodeTests.manyVersions().versions.prefix(9) {
            let young = Driver.wallStart + Int64(Limits().rescanMilliseconds) - 60_000
            shelf.versions[id] = KeptVersion(
                id: id, path: kept.path, entry: kept.entry, stat: kept.stat, author: .own, keptMilliseconds: young,
                reason: .versionKept)
        }
        var driver = Driver.running(shelf: shelf, settings: settings)
        let end = driver.milliseconds + Limits().rescanMilliseconds + 1_000
        while driver.milliseconds < end { driver.sleep() }
        #expect(driver.shelf.versions.count == 9)
    }

    // MARK: INV-20

    @Test("INV-20: the same events give the same effects, to the last byte", arguments: 1...20)
    func deterministic(seed: UInt64) {
        let (driver, _) = NodeTests.wander(seed: seed)
        var (first, second) = (Node(), Node())
        for (event, moment) in driver.events {
            var (here, there) = (Effects(), Effects())
            first.step(event, at: moment, into: &here)
            second.step(event, at: moment, into: &there)
            let (left, right) = ("\(here.list)", "\(there.list)")
            if left != right {
                Issue.record("\(event): \(left) or \(right)")
                return
            }
        }
        #expect(driver.events.count > 100)
    }

    // MARK: A node on its way

    /// Files that come and change, a link that breaks, a peer that sends its log bit by bit, a disk and a store that answer
    /// when they please.
    private static func wander(seed: UInt64) -> (Driver, PeerLog) {
        var random = SeededRandom(seed: seed)
        var peer = PeerLog()
        for number in 0..<12 { peer.append(epoch: UInt32(1 + number / 4), path: "p\(number % 5)") }
        var driver = Driver()
        driver.files = oneFile()
        driver.happen(Driver.start())
        var link: UInt64 = 0
        var isGreeted = false
        var next = 0
        for _ in 0..<400 {
            switch random.below(12) {
            case 0:
                let name = "f\(random.below(4))"
                let time = Timestamp(seconds: 1_795_000_000 + Int64(random.below(100)), nanoseconds: 0)
                driver.files[place(name)] = .file("\(random.below(9))", inode: 10 + random.next() % 4, modified: time)
                driver.happen(.noticed([Notice(path: place(name), kind: .touched)]))
            case 1 where random.chance(percent: 40):
                if link > 0 { driver.happen(.disconnected(LinkID(raw: link))) }
                link += 1
                isGreeted = false
                driver.happen(.connected(LinkID(raw: link)))
            case 2, 3:
                guard link > 0 else { continue }
                if !isGreeted {
                    // As an honest peer: what it has of our log is what was sent to it and is stored here.
                    let frame = Frame.hello(Driver.hello(ownHead: peer.heads.last ?? .none))
                    guard let hello = driver.hello(on: LinkID(raw: link)) else { continue }
                    next = peer.heads.firstIndex { $0 == hello.known.last }.map { $0 + 1 } ?? 0
                    driver.happen(.received(LinkID(raw: link), FrameCodec.encode(frame)))
                    isGreeted = true
                } else if next < peer.entries.count {
                    let end = min(peer.entries.count, next + 1 + random.below(3))
                    let frame = Frame.log(Array(peer.entries[next..<end]))
                    driver.happen(.received(LinkID(raw: link), FrameCodec.encode(frame)))
                    next = end
                }
            case 4 where random.chance(percent: 20): driver.sleepWithoutAnswers()
            case 5 where random.chance(percent: 20): driver.happen(.command(CommandID(raw: 1), .status))
            case 6 where random.chance(percent: 10): driver.happen(.overflowed)
            default: if let index = random.pick(driver.answerable) { driver.answer(at: index) }
            }
        }
        driver.settle()
        return (driver, peer)
    }
}
