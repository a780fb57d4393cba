/// Whom a state is about, whatever key that node has.
import SyncModel
import Testing

@testable import SyncDaemon

@Suite("the other node and its keys") struct KnownPeerTests {
    private func key(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: KnownPeer.fingerprintBytes) }

    @Test("a fresh state takes any node, and is about the first from then on") func first() {
        var peer = KnownPeer()
        #expect(!peer.isStranger(key(1)) && peer.nodeID == nil)
        peer = peer.paired(by: key(1))
        #expect(peer.pin == key(1) && peer.rowsID == key(1) && peer.id == nil)
        #expect(peer.isStranger(key(2)) && !peer.isStranger(key(1)))
    }

    @Test("a node that renews its key stays who it is, and is known by each key it had") func renewed() {
        var peer = KnownPeer().paired(by: key(1))
        peer.next = key(2)
        #expect(!peer.isStranger(key(2)))
        peer = peer.paired(by: key(2))
        #expect(peer.pin == key(2) && peer.last == key(2) && peer.next == nil)
        #expect(peer.nodeID?.digest.bytes == key(1))
        peer.next = key(3)
        peer = peer.paired(by: key(3))
        #expect(peer.nodeID?.digest.bytes == key(1))
        #expect(peer.earlier == [key(1), key(2)])
        // It comes back from a backup, and is paired by a person.
        peer.pin = nil
        #expect(peer.nodeID == nil && !peer.isStranger(key(1)) && peer.isStranger(key(9)))
        peer = peer.paired(by: key(1))
        #expect(peer.pin == key(1) && peer.earlier == [key(2), key(3)] && peer.rowsID == key(1))
    }

    @Test("of many keys the latest are remembered") func many() {
        var peer = KnownPeer()
        for number in 0..<40 { peer = peer.paired(by: key(UInt8(number))) }
        #expect(peer.earlier == (31..<39).map { key(UInt8($0)) })
        #expect(peer.rowsID == key(0))
    }
}
