import SyncCore
import SyncModel
import Testing

@testable import SyncDaemon

@Suite("a peer that sends more than is taken in") struct FloodTests {
    @Test("R-09: it is held back by frames or by bytes, and let go when little is left") func gate() {
        var gate = FloodGate()
        #expect(!gate.follow(.init(frames: FloodGate.framesMax, bytes: FloodGate.bytesMax)) && !gate.isClosed)
        for most in [
            FloodGate.Unread(frames: FloodGate.framesMax + 1, bytes: 0),
            FloodGate.Unread(frames: 1, bytes: FloodGate.bytesMax + 1),
        ] {
            #expect(gate.follow(most) && gate.isClosed)
            #expect(!gate.follow(most) && gate.isClosed)
            #expect(!gate.follow(.init(frames: FloodGate.framesMax / 2, bytes: 0)) && gate.isClosed)
            #expect(gate.follow(.init(frames: 3, bytes: 3)) && !gate.isClosed)
        }
    }

    @Test("what the core has not seen is counted until it has") func unread() {
        let driver = NodeDriver()
        driver.post(.received(LinkID(raw: 1), [1, 2, 3]))
        #expect(driver.unread == .init(), "nobody is there to take it")
        let record = NodeRecord(id: NodeID(.zero), name: [0x61], folder: FolderID(.zero))
        driver.start(
            Start(
                node: record, settings: Settings(), limits: Limits(), program: [], nonce: 1, powerWasLost: false))
        for size in 1...3 { driver.post(.received(LinkID(raw: 1), [UInt8](repeating: 0, count: size))) }
        #expect(driver.unread == .init(frames: 3, bytes: 6))
        while driver.turn() {}
        #expect(driver.unread == .init())
        driver.post(.received(LinkID(raw: 1), [1]))
        driver.retire()
        #expect(driver.unread == .init())
    }
}
