/// A mass deletion that waits for a person on one node, as the other node sees it.
import SyncCore
import SyncModel
import Testing

struct HeldThereTests {
    private static let all = files(100)

    private static func files(_ count: Int) -> SortedMap<Path, Driver.Item> {
        SortedMap((0..<count).map { number in (place("a\(number)"), item(UInt64(number))) })
    }

    private static func remove(_ numbers: Range<Int>, in driver: inout Driver) {
        for number in numbers { driver.files[place("a\(number)")] = nil }
        driver.notice([numbers.map { Notice(path: place("a\($0)"), kind: .gone) }])
    }

    private static func approve(_ driver: inout Driver) {
        driver.happen(.command(CommandID(raw: 2), .approve))
        driver.settle()
    }

    private static func item(_ number: UInt64) -> Driver.Item {
        .file("\(number)", inode: 100 + number, modified: Timestamp(seconds: 1_700_000_000, nanoseconds: 5))
    }

    /// With a folder of these files, and a peer that offers this.
    private static func greeted(_ features: [[UInt8]], files: SortedMap<Path, Driver.Item> = [:]) -> Driver {
        var driver = Driver.running(files: files)
        driver.greet(features: features)
        return driver
    }

    private static func status(of driver: inout Driver) throws -> Status {
        driver.happen(.command(CommandID(raw: 1), .status))
        driver.settle()
        return try #require(driver.statuses.last)
    }

    private static func held(by driver: Driver) -> [UInt32] {
        driver.sent.compactMap { if case .holding(let files) = $0 { files } else { nil } }
    }

    @Test("INV-24: a node whose peer holds deletions is not in sync, says how many, and is again when they are let go")
    func told()
        throws
    {
        var driver = Self.greeted([Hello.heldDeletes])
        driver.receive(.acknowledge(Acknowledgement(head: .none, isSettled: true)))
        driver.settle()
        #expect(try Self.status(of: &driver).inSync)
        driver.receive(.holding(files: 80))
        var status = try Self.status(of: &driver)
        #expect(!status.inSync && status.peerHeldDeletes == 80 && status.state == .waiting)
        driver.receive(.holding(files: 0))
        status = try Self.status(of: &driver)
        #expect(status.inSync && status.peerHeldDeletes == 0 && status.state == .inSync)
        // What was said on one connection is not so for ever.
        driver.receive(.holding(files: 80))
        driver.happen(.disconnected(Driver.link))
        driver.greet()
        driver.receive(.acknowledge(Acknowledgement(head: .none, isSettled: true)))
        #expect(try Self.status(of: &driver).peerHeldDeletes == 0)
    }

    @Test("a node whose peer is not through waits and says so, before and after a new link") func waitsThere() throws {
        var driver = Self.greeted([])
        for _ in 0..<2 {
            driver.receive(.acknowledge(Acknowledgement(head: .none, isSettled: true)))
            #expect(try Self.status(of: &driver).inSync)
            driver.receive(.acknowledge(Acknowledgement(head: .none, isSettled: false)))
            for isNew in [false, true] {
                if isNew {
                    driver.happen(.disconnected(Driver.link))
                    driver.greet()
                }
                let status = try Self.status(of: &driver)
                #expect(!status.inSync && status.peerWaits && status.state == .waiting && status.pending.isEmpty)
            }
        }
    }

    @Test(
        "INV-24: what is held here is told to a peer that heeds it, and to no other; that it is over comes after the deletes"
    )
    func tells() throws {
        for features in [[Hello.heldDeletes], [Hello.changedLists]] {
            var driver = Self.greeted(features, files: Self.all)
            driver.files = SortedMap(Self.all.filter { $0.value.stat.identity.inode >= 180 })
            driver.notice([(0..<80).map { Notice(path: place("a\($0)"), kind: .gone) }])
            driver.settle()
            let held = try #require(try Self.status(of: &driver).heldDeletes)
            #expect(Self.held(by: driver) == (features == [Hello.heldDeletes] ? [UInt32(held.files)] : []))
            let before = driver.sent.count
            driver.happen(.command(CommandID(raw: 3), .approve))
            driver.settle()
            #expect(try Self.status(of: &driver).heldDeletes == nil)
            let after = driver.sent.dropFirst(before)
            let isLog = { (frame: Frame) in if case .log = frame { true } else { false } }
            #expect(after.contains(where: isLog))
            guard features == [Hello.heldDeletes] else {
                #expect(Self.held(by: driver) == [])
                continue
            }
            #expect(Self.held(by: driver).last == 0)
            let over = try #require(after.lastIndex(of: .holding(files: 0)))
            #expect(try #require(after.lastIndex(where: isLog)) < over)
        }
    }

    @Test("INV-24: a person's consent holds for what was missing when he gave it, not for what goes meanwhile")
    func goneSince() throws {
        var driver = Driver.running(files: Self.files(150))
        Self.remove(0..<80, in: &driver)
        #expect(driver.alerts == [.fuseDeletes])
        let before = driver.shelf.log.count
        driver.silence = .loads
        Self.remove(80..<140, in: &driver)
        driver.happen(.command(CommandID(raw: 2), .approve))
        driver.silence = []
        driver.settle()
        for _ in 0..<5 { driver.sleep() }
        #expect(driver.shelf.log.count == before + 80)
        #expect(driver.alerts == [.fuseDeletes])
        #expect(try Self.status(of: &driver).heldDeletes?.files == 60)
        Self.approve(&driver)
        #expect(driver.shelf.log.count == before + 140 && driver.alerts.isEmpty)
    }

    @Test("who decides while the node stops hears that it does, and what is held stays held", arguments: [true, false])
    func stopping(approves: Bool) {
        var driver = Driver.running(files: Self.files(150))
        Self.remove(0..<80, in: &driver)
        #expect(driver.alerts == [.fuseDeletes])
        let before = driver.shelf.log.count
        driver.happen(.stopRequested)
        driver.happen(.command(CommandID(raw: 2), approves ? .approve : .reject))
        driver.settle()
        #expect(driver.refusals == [.nodeStopped] && driver.endings == [.stopped])
        #expect(driver.shelf.record?.held != nil && driver.shelf.log.count == before)
    }

    @Test("INV-24: what a person has agreed to does not count with what goes next; what went without his consent does")
    func goneAfter() throws {
        var driver = Driver.running(files: Self.files(150))
        let before = driver.shelf.log.count
        Self.remove(0..<80, in: &driver)
        Self.approve(&driver)
        Self.remove(80..<81, in: &driver)
        #expect(driver.shelf.log.count == before + 81 && driver.alerts.isEmpty)
        Self.remove(81..<131, in: &driver)
        #expect(driver.shelf.log.count == before + 81 && driver.alerts == [.fuseDeletes])
        #expect(try Self.status(of: &driver).heldDeletes?.files == 50)
    }

    @Test("INV-24: what was believed before a person was asked counts with what goes after he has agreed to the rest")
    func goneBefore() throws {
        for isTooMuch in [false, true] {
            var driver = Driver.running(files: Self.files(120))
            let before = driver.shelf.log.count
            Self.remove(0..<5, in: &driver)
            #expect(driver.shelf.log.count == before + 5)
            Self.remove(5..<65, in: &driver)
            #expect(try Self.status(of: &driver).heldDeletes?.files == 60)
            Self.approve(&driver)
            #expect(driver.shelf.log.count == before + 65 && driver.alerts.isEmpty)
            Self.remove(65..<(isTooMuch ? 111 : 110), in: &driver)
            #expect(driver.alerts == (isTooMuch ? [.fuseDeletes] : []))
            #expect(driver.shelf.log.count == before + (isTooMuch ? 65 : 110))
        }
    }
}
