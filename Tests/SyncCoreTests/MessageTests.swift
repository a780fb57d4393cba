/// What the core tells people when something comes that it cannot use, or has to leave: each with its code, and over when the cause
/// is gone.
import Coordination
import SyncCore
import SyncModel
import Testing

struct MessageTests {
    /// A node that the peer has told of a file `x`, and has not sent it.
    private static func toldOfFile() throws -> (driver: Driver, content: ContentID) {
        var peer = PeerLog()
        return try toldOfFile(by: &peer)
    }

    private static func toldOfFile(by peer: inout PeerLog) throws -> (driver: Driver, content: ContentID) {
        let content = Driver.Item.file("text", inode: 5, modified: old).content
        peer.append(epoch: 1, path: "x", entry: Entry(content: content, mode: 0o644, modified: old))
        var driver = Driver.running()
        driver.greet()
        driver.receive(.log(peer.entries))
        driver.settle()
        let id: ContentID? = if case .file(let id, _) = content { id } else { nil }
        return (driver, try #require(id))
    }

    /// The peer has spoken of two changes, and sent the first.
    private static func toldOfMore() -> (driver: Driver, withheld: PeerLog) {
        var peer = PeerLog()
        for name in ["x", "y"] { peer.append(epoch: 1, path: name) }
        var driver = Driver.running()
        driver.greet(ownHead: peer.heads[1])
        driver.receive(.log([peer.entries[0]]))
        driver.settle()
        return (driver, peer)
    }

    private static let old = Timestamp(seconds: 1_700_000_000, nanoseconds: 5)

    @Test("log.newer: an entry of a made-up later program is left with its author, and our own go on") func laterEntry()
    {
        var peer = PeerLog()
        for name in ["x", "y"] { peer.append(epoch: 1, path: name) }
        // The first four bytes say what a reader must know.
        let later = [0x80, 0, 0, 0] + peer.entries[1].dropFirst(4)
        var driver = Driver.running(files: [place("a"): .file("text", inode: 5, modified: Self.old)])
        driver.greet()
        driver.receive(.log([peer.entries[0], later]))
        driver.settle()
        #expect(driver.alerts == [.logNewer] && driver.closings.isEmpty)
        #expect(driver.shelf.record?.importedHead == peer.heads[0])
        #expect(driver.acknowledgements.allSatisfy { $0.head.position <= peer.heads[0].position })
        #expect(driver.sentEntries.count == 1)

        // What takes its place is the present state of every path, or an upgrade and with it a new process.
        driver.receive(.rowsEnd(peer.heads[1]))
        driver.settle()
        #expect(driver.alerts.isEmpty)
    }

    @Test("log.corrupt: an entry that cannot be read closes the link; the alert goes with the next one")
    func brokenEntry() {
        var driver = Driver.running()
        driver.greet()
        driver.receive(.log([[1, 2, 3]]))
        driver.settle()
        #expect(driver.closings == [.logCorrupt] && driver.alerts == [.logCorrupt])
        driver.happen(.disconnected(Driver.link))
        driver.greet()
        #expect(driver.alerts.isEmpty)
    }

    @Test("log.missing: a peer that tells its rows instead of its log is told of once") func rowsInstead() {
        var driver = Driver.running()
        driver.greet()
        driver.receive(.rows([]))
        driver.receive(.rows([]))
        driver.settle()
        #expect(driver.notes == [.logMissing])
    }

    @Test(
        "content.changing, content.unavailable: what the peer cannot give now is waited for, with a reason",
        arguments: [true, false])
    func refusedContent(isChanging: Bool) throws {
        let (told, id) = try Self.toldOfFile()
        var driver = told
        driver.receive(isChanging ? .later(id) : .gone(id))
        driver.settle()
        let reason = driver.shelf.rows[place("x")]?.waiting?.reason
        #expect(reason == (isChanging ? .contentChanging : .contentUnavailable))
    }

    @Test("waiting.parent: what is to stand in a directory that is not there yet waits for it") func orphan() throws {
        var peer = PeerLog()
        let content = Driver.Item.file("text", inode: 5, modified: Self.old).content
        peer.append(epoch: 1, path: "d/x", entry: Entry(content: content, mode: 0o644, modified: Self.old))
        var driver = Driver.running()
        driver.greet()
        driver.receive(.log(peer.entries))
        driver.settle()
        #expect(driver.shelf.rows[place("d/x")]?.waiting?.reason == .waitingParent)
    }

    @Test(
        "I24, content.overdue: what the peer refuses for ten minutes becomes a warning, until it is overtaken",
        arguments: [true, false])
    func refusedForLong(isChanging: Bool) throws {
        var peer = PeerLog()
        let (told, id) = try Self.toldOfFile(by: &peer)
        var driver = told
        let start = driver.milliseconds
        var wishes = 0
        while driver.milliseconds < start + 599_000 {
            if driver.wishes > wishes {
                wishes = driver.wishes
                driver.receive(isChanging ? .later(id) : .gone(id))
                driver.settle()
            }
            #expect(driver.alerts.isEmpty, "after \(driver.milliseconds - start) ms")
            driver.sleep()
        }
        #expect(wishes >= 10)
        while driver.milliseconds < start + 700_000 {
            driver.receive(isChanging ? .later(id) : .gone(id))
            driver.settle()
            driver.sleep()
        }
        #expect(driver.alerts == [.contentOverdue])
        #expect(driver.shelf.rows[place("x")]?.waiting?.reason == (isChanging ? .contentChanging : .contentUnavailable))

        // It has been taken away there, which is seen at the next try.
        peer.append(epoch: 1, path: "x", isSeen: true)
        driver.receive(.log([peer.entries[1]]))
        let end = driver.milliseconds + 60_000
        while driver.milliseconds < end { driver.sleep() }
        #expect(driver.alerts.isEmpty)
    }

    @Test("I24, content.overdue: what was asked for and is not answered for ten minutes becomes a warning")
    func unanswered()
        throws
    {
        var peer = PeerLog()
        let (told, id) = try Self.toldOfFile(by: &peer)
        var driver = told
        let start = driver.milliseconds
        while driver.milliseconds < start + 590_000 {
            driver.sleep()
            #expect(driver.milliseconds >= start + 600_000 || driver.alerts.isEmpty)
        }
        while driver.milliseconds < start + 670_000 { driver.sleep() }
        #expect(driver.alerts == [.contentOverdue])
        // It has been taken away there, which is the answer as well.
        peer.append(epoch: 1, path: "x", isSeen: true)
        driver.receive(.log([peer.entries[1]]))
        driver.receive(.gone(id))
        let end = driver.milliseconds + 60_000
        while driver.milliseconds < end { driver.sleep() }
        #expect(driver.alerts.isEmpty)
    }

    @Test("I24, content.overdue: what a paused peer owes is no cause for a warning, and counts from when it goes on")
    func pausedPeer() throws {
        var peer = PeerLog()
        var driver = try Self.toldOfFile(by: &peer).driver
        driver.receive(.pausing(true))
        for _ in 0..<15 { driver.oversleep(100_000) }
        #expect(driver.alerts.isEmpty)
        driver.receive(.pausing(false))
        let end = driver.milliseconds + 590_000
        while driver.milliseconds < end {
            #expect(driver.milliseconds >= end || driver.alerts.isEmpty)
            driver.sleep()
        }
        while driver.milliseconds < end + 80_000 { driver.sleep() }
        #expect(driver.alerts == [.contentOverdue])
    }

    @Test("I24, content.overdue: a log of which the peer has spoken and that does not come is told of, without a file")
    func withheldLog() {
        let (told, peer) = Self.toldOfMore()
        var driver = told
        let start = driver.milliseconds
        while driver.milliseconds < start + 590_000 {
            #expect(driver.alerts.isEmpty)
            driver.sleep()
        }
        while driver.milliseconds < start + 670_000 { driver.sleep() }
        #expect(driver.alerts == [.contentOverdue])
        driver.receive(.log([peer.entries[1]]))
        driver.settle()
        #expect(driver.alerts.isEmpty)
    }

    @Test(
        "I24, content.stalled: a file that has not come for a day is serious, instead of a warning, until it is overtaken"
    )
    func stalledFile() throws {
        var peer = PeerLog()
        let (told, id) = try Self.toldOfFile(by: &peer)
        var driver = told
        let start = driver.milliseconds
        func refuse(until end: UInt64) {
            while driver.milliseconds < end {
                driver.receive(.later(id))
                driver.settle()
                driver.oversleep(50_000)
            }
        }
        refuse(until: start + 86_350_000)
        #expect(driver.alerts == [.contentOverdue])
        refuse(until: start + 86_700_000)
        #expect(driver.alerts == [.contentStalled])
        peer.append(epoch: 1, path: "x", isSeen: true)
        driver.receive(.log([peer.entries[1]]))
        let end = driver.milliseconds + 60_000
        while driver.milliseconds < end { driver.sleep() }
        #expect(driver.alerts.isEmpty)
    }

    @Test("I24, content.stalled: a log that has not come for a day is serious, until it comes") func stalledLog() {
        let (told, peer) = Self.toldOfMore()
        var driver = told
        let start = driver.milliseconds
        while driver.milliseconds < start + 86_350_000 { driver.oversleep(50_000) }
        #expect(driver.alerts == [.contentOverdue])
        while driver.milliseconds < start + 86_700_000 { driver.oversleep(50_000) }
        #expect(driver.alerts == [.contentStalled])
        driver.receive(.log([peer.entries[1]]))
        driver.settle()
        #expect(driver.alerts.isEmpty)
    }

    @Test(
        "peer.away, node.paused, peer.paused: what has been told of and not come yet is pending, with a reason",
        arguments: [MessageCode.peerAway, .nodePaused, .peerPaused])
    func notCome(reason: MessageCode) throws {
        var driver = try Self.toldOfFile().driver
        driver.stand(still: reason)
        let status = try #require(driver.statuses.last)
        #expect(status.pending.map(\.reason) == [reason] && status.pendingTotal == 1 && !status.inSync)
        #expect(status.toApply == 1 && status.toSend == 0)
    }

    @Test("waiting.content: what is on its way is pending as that, until it has come or is overtaken") func onItsWay()
        throws
    {
        var peer = PeerLog()
        let (told, id) = try Self.toldOfFile(by: &peer)
        var driver = told
        driver.stand(still: .waitingContent)
        let status = try #require(driver.statuses.last)
        #expect(status.pending.map(\.reason) == [.waitingContent] && status.pending.map(\.path) == [place("x")])
        peer.append(epoch: 1, path: "x", isSeen: true)
        driver.receive(.log([peer.entries[1]]))
        driver.receive(.gone(id))
        let end = driver.milliseconds + 60_000
        while driver.milliseconds < end { driver.sleep() }
        driver.stand(still: .waitingContent)
        #expect(driver.statuses.last?.pending == [])
    }

    @Test("node.halted: a peer that stands still is told of until it works again, however often it greets")
    func haltedPeer() {
        var driver = Driver.running()
        driver.greet()
        driver.receive(.halt(.diskFull))
        driver.settle()
        #expect(driver.alerts == [.nodeHalted])
        #expect(driver.facts(of: .nodeHalted)?.detail == "right says that it stands still: disk.full.")
        driver.happen(.disconnected(Driver.link))
        driver.greet()
        #expect(driver.alerts == [.nodeHalted])
        // For a reason that this program does not know.
        driver.receive(.halt(.nodeHalted))
        driver.settle()
        #expect(driver.alerts == [.nodeHalted])
        #expect(driver.facts(of: .nodeHalted)?.detail == "right says that it stands still.")
        driver.receive(.acknowledge(Acknowledgement(head: .none, isSettled: true)))
        driver.settle()
        #expect(driver.alerts.isEmpty && driver.closings.isEmpty)
    }

    @Test(
        "node.halted: whatever a peer gives for a reason, it raises no alert about this node",
        arguments: MessageCode.allCases)
    func haltedFor(reason: MessageCode) {
        var driver = Driver.running()
        driver.greet()
        driver.receive(.halt(reason))
        driver.settle()
        #expect(driver.alerts == [reason == .logForked ? .logForked : .nodeHalted])
        #expect((driver.shelf.record?.isForked == true) == (reason == .logForked))
    }

    @Test("log.forked: a fork stays one, whoever greets or acknowledges, until the pair is forgotten")
    func forkStays() throws {
        var driver = Driver.running()
        driver.greet()
        driver.receive(.halt(.logForked))
        driver.settle()
        driver.receive(.acknowledge(Acknowledgement(head: .none, isSettled: true)))
        driver.happen(.disconnected(Driver.link))
        driver.greet()
        driver.settle()
        #expect(driver.alerts == [.logForked] && driver.shelf.record?.isForked == true)
        // Neither does another start: only that the pair is forgotten ends it, as the cure says.
        var record = try #require(driver.shelf.record)
        #expect(Driver.running(record).alerts == [.logForked])
        record.forgetPeer()
        #expect(Driver.running(record).alerts.isEmpty)
    }

    @Test("node.halted: what needs the folder is refused while it is away") func haltedNode() {
        var driver = Driver.running(files: [place("a"): .file("text", inode: 5, modified: Self.old)])
        driver.root = .missing
        driver.happen(.command(CommandID(raw: 1), .rescan(.root)))
        driver.settle()
        driver.happen(.command(CommandID(raw: 2), .setAside(place("a"))))
        driver.settle()
        #expect(driver.refusals == [.nodeHalted])
    }

    @Test(
        "waiting.peer, peer.away, node.paused, peer.paused: what was written here is pending until the peer shows it",
        arguments: [MessageCode.waitingPeer, .peerAway, .nodePaused, .peerPaused])
    func notTaken(reason: MessageCode) throws {
        let mine = Driver.Item.file("mine", inode: 5, modified: Self.old)
        var driver = Driver.running(files: [place("a"): mine])
        driver.greet()
        driver.stand(still: reason)
        let status = try #require(driver.statuses.last)
        #expect(status.pending.map(\.path) == [place("a")] && status.pending.map(\.reason) == [reason])
        #expect(status.pendingTotal == 1 && status.toSend == 1 && status.toApply == 0 && !status.inSync)
    }

    @Test("a paused node tells nothing and gives nothing until it goes on, says so, and knows what is left")
    func pausing() throws {
        var driver = Driver.running(files: [:])
        driver.greet()
        driver.stand(still: .nodePaused)
        #expect(driver.sent.contains(.pausing(true)))
        let mine = Driver.Item.file("mine", inode: 5, modified: Self.old)
        driver.files = [place("a"): mine]
        driver.happen(.noticed([Notice(path: place("a"), kind: .closed)]))
        driver.settle()
        guard case .file(let content, _) = mine.content else { return }
        driver.receive(.want([content]))
        driver.settle()
        func isNews(_ frame: Frame) -> Bool {
            switch frame {
            case .log, .rows, .rowsEnd, .contents, .chunkList, .chunks, .gone, .later: true
            default: false
            }
        }
        #expect(driver.statuses.last?.toSend == 0 && !driver.sent.contains(where: isNews))
        #expect(driver.shelf.rows[place("a")]?.head(by: .own) != nil)
        driver.happen(.command(CommandID(raw: 3), .resume))
        driver.settle()
        #expect(
            driver.sent.contains(.pausing(false)) && driver.sent.contains { if case .log = $0 { true } else { false } })
        // (The store of the driver knows of no contents, so that is the answer to the wish.)
        #expect(driver.sent.contains(.gone(content)))
    }

    @Test("log.rolled-back: a peer that was set back is told of") func setBack() {
        var driver = Driver.running()
        driver.greet()
        driver.receive(.rolledBack(LogPosition.none))
        driver.settle()
        #expect(driver.notes.contains(.logRolledBack))
    }

    @Test("waiting.children: what is missing and not judged yet is pending, with a reason") func notJudged() {
        let files = SortedMap(
            (0..<40).map { (place("a\($0)"), Driver.Item.file("\($0)", inode: 100 + $0, modified: Self.old)) })
        var driver = Driver.running(files: files)
        driver.files = [:]
        driver.happen(.noticed((0..<40).map { Notice(path: place("a\($0)"), kind: .gone) }))
        driver.settle()
        driver.happen(.command(CommandID(raw: 1), .status))
        driver.settle()
        let pending = driver.statuses.last?.pending ?? []
        #expect(pending.count == 40 && pending.allSatisfy { $0.reason == .waitingChildren })
    }

    @Test("path.permission: what may not be looked at is told of, and counts neither as gone nor as changed")
    func forbidden() {
        let path = place("a")
        var driver = Driver.running(files: [path: .file("text", inode: 5, modified: Self.old)])
        driver.faults[path] = .permission
        driver.happen(.command(CommandID(raw: 1), .rescan(.root)))
        driver.settle()
        #expect(driver.alerts == [.pathPermission])
        #expect(driver.shelf.rows[path]?.disk != nil && driver.shelf.log.count == 1)
        driver.faults[path] = nil
        driver.happen(.command(CommandID(raw: 2), .rescan(.root)))
        driver.settle()
        #expect(driver.alerts.isEmpty && driver.shelf.log.count == 1)
    }

    @Test(
        "path.permission, path.unsupported: what stays so for some seconds is a warning until it is over",
        arguments: [DiskError.permission, .unsupported])
    func refusedByTheDisk(error: DiskError) {
        let path = place("a")
        let code: MessageCode = error == .permission ? .pathPermission : .pathUnsupported
        var driver = Driver.running()
        driver.files[path] = .file("text", inode: 5, modified: Self.old)
        driver.unreadable[path] = error
        driver.happen(.noticed([Notice(path: path, kind: .closed)]))
        driver.settle()
        #expect(driver.alerts.isEmpty && driver.shelf.rows[path]?.waiting?.reason == code)
        let begun = driver.milliseconds
        while driver.milliseconds < begun + 20_000 { driver.sleep() }
        #expect(driver.alerts == [code])
        driver.unreadable[path] = nil
        while driver.milliseconds < begun + 120_000 { driver.sleep() }
        #expect(driver.alerts.isEmpty && driver.shelf.log.count == 1)
    }

    @Test("peer.incompatible: a strict lock of which the other node says nothing is refused") func deafPeer() {
        var driver = Driver.running()
        driver.greet()
        let claim = Claim(
            id: 1, accesses: [Access](holding: [place("a")], isRead: false), mode: .strict, holder: [], process: 1)
        driver.happen(.command(CommandID(raw: 1), .claim(claim, timeoutMilliseconds: nil)))
        driver.settle()
        for _ in 0..<50 where !driver.refusals.contains(.peerIncompatible) { driver.sleep() }
        #expect(driver.refusals == [.peerIncompatible])
    }

    @Test("fuse.approved, fuse.rejected: what a person decided about held deletes is told", arguments: [true, false])
    func decided(isApproved: Bool) {
        let files = SortedMap(
            (0..<100).map { (place("a\($0)"), Driver.Item.file("\($0)", inode: 100 + $0, modified: Self.old)) })
        var driver = Driver.running(files: files)
        driver.files = SortedMap(files.filter { $0.value.stat.identity.inode >= 180 })
        driver.notice([(0..<80).map { Notice(path: place("a\($0)"), kind: .gone) }])
        #expect(driver.alerts == [.fuseDeletes])
        driver.happen(.command(CommandID(raw: 1), isApproved ? .approve : .reject))
        driver.settle()
        #expect(driver.alerts.isEmpty && driver.notes == [isApproved ? .fuseApproved : .fuseRejected])
    }

    @Test("a decision about held deletes is answered when all that comes of it is stored", arguments: [true, false])
    func decidedForGood(isApproved: Bool) {
        let files = SortedMap(
            (0..<100).map { (place("a\($0)"), Driver.Item.file("\($0)", inode: 100 + $0, modified: Self.old)) })
        var limits = Limits()
        limits.batchPathsMax = 16
        var driver = Driver.running(files: files, limits: limits)
        driver.files = SortedMap(files.filter { $0.value.stat.identity.inode >= 180 })
        driver.notice([(0..<80).map { Notice(path: place("a\($0)"), kind: .gone) }])
        #expect(driver.alerts == [.fuseDeletes])
        driver.happen(.command(CommandID(raw: 1), isApproved ? .approve : .reject))
        while !isDone(driver), let index = driver.answerable.first { driver.answer(at: index) }
        #expect(isDone(driver) && !driver.shelf.rows.contains { $0.value.condition == .missing })
        let isLogged = driver.shelf.log.count == 180
        #expect(isLogged == isApproved)
    }

    private func isDone(_ driver: Driver) -> Bool {
        driver.emitted.contains { if case .answer(_, .done) = $0 { true } else { false } }
    }
}
