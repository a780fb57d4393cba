/// Programs that ask for a lock and have no time to wait for it: they get what nobody has.
import Coordination
import SyncCore
import SyncModel
import Testing

struct ClaimTests {
    private static let claim = Claim(
        id: 1, accesses: [Access](holding: [place("a")], isRead: false), mode: .pair, holder: [], process: 1)

    private static let asking = Event.command(CommandID(raw: 1), .claim(claim, timeoutMilliseconds: 0))

    /// The node that is asked by the other, or the one that asks it.
    private static func record(isArbiter: Bool) -> NodeRecord {
        guard isArbiter != (Driver.own < Driver.peer) else { return Driver.record }
        var record = NodeRecord(id: Driver.peer, name: Array("left".utf8), folder: FolderID(.zero))
        record.peer = Driver.own
        return record
    }

    /// The link has been up for a while, and the arbiter has answered that it does not grant it yet.
    private static func waitingForArbiter() -> Driver {
        var driver = Driver.running(record(isArbiter: false))
        driver.greet()
        driver.oversleep(3_000)
        driver.happen(asking)
        driver.receive(.claimAnswer(1, isGranted: false))
        driver.settle()
        return driver
    }

    private static func isGranted(by driver: Driver) -> Bool {
        driver.emitted.contains { if case .answer(_, .claims) = $0 { true } else { false } }
    }

    private static func isRefused(by driver: Driver) -> Bool {
        driver.emitted.contains { if case .answer(_, .claimRefused) = $0 { true } else { false } }
    }

    @Test("what the other node may have held is waited out once, not by whoever asks first", arguments: [true, false])
    func alone(isArbiter: Bool) {
        var driver = Driver.running(Self.record(isArbiter: isArbiter))
        driver.oversleep(20_000)
        driver.happen(Self.asking)
        driver.settle()
        #expect(Self.isGranted(by: driver))
    }

    @Test("on a link that is up the arbiter is asked, and its word is waited for") func asked() {
        var driver = Self.waitingForArbiter()
        #expect(!Self.isGranted(by: driver) && !Self.isRefused(by: driver))
        driver.receive(.claimAnswer(1, isGranted: true))
        driver.settle()
        #expect(Self.isGranted(by: driver))
    }

    @Test("an arbiter that was set back grants nothing before it has taken in what the other holds") func setBack() {
        var driver = Driver.running(Self.record(isArbiter: true))
        driver.happen(.command(CommandID(raw: 1), .claim(Self.claim, timeoutMilliseconds: nil)))
        driver.silence = .stores
        driver.greet(known: [.mark(of: Epoch(number: 9, nonce: 1))])
        let held = PeerClaim(id: 9, isRead: false, isHeld: true, process: 1, holder: [], paths: [place("a")])
        driver.receive(.claim(held))
        driver.oversleep(20_000)
        #expect(!Self.isGranted(by: driver))
        driver.silence = []
        driver.settle()
        driver.oversleep(3_000)
        #expect(!Self.isGranted(by: driver) && driver.sent.contains(.rolledBack(.none)))
        driver.receive(.releaseClaim(9))
        driver.settle()
        #expect(Self.isGranted(by: driver))
    }

    @Test("an arbiter that does not grant it at once has somebody who has it") func refused() {
        var driver = Self.waitingForArbiter()
        driver.oversleep(1_000)
        #expect(Self.isRefused(by: driver) && !Self.isGranted(by: driver))
    }
}
