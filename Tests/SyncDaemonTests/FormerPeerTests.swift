/// Partners that a node was told to forget.
import Testing

@testable import SyncDaemon

@Suite("partners of before") struct FormerPeerTests {
    private func former(_ number: UInt8, keys: Int) -> FormerPeer {
        FormerPeer(
            name: Array(repeating: number, count: Int(number)),
            keys: (0..<keys).map { [UInt8](repeating: UInt8($0), count: KnownPeer.fingerprintBytes) },
            versionsBefore: UInt64(number) << 40)
    }

    @Test("what is written down is what is read") func roundTrip() {
        for formers in [[], [former(1, keys: 0)], [former(3, keys: 10), former(64, keys: 1)]] {
            #expect(FormerPeer.decoded(FormerPeer.encoded(formers)) == formers)
        }
    }

    @Test("bytes that are cut tell of those before the cut, and never of another") func cut() {
        let formers = [former(3, keys: 2), former(4, keys: 1)]
        let bytes = FormerPeer.encoded(formers)
        for count in 0..<bytes.count {
            let read = FormerPeer.decoded(Array(bytes.prefix(count)))
            #expect(read == Array(formers.prefix(read.count)))
        }
        #expect(FormerPeer.decoded([2] + bytes.dropFirst()).isEmpty)
    }

    @Test("of many the latest are remembered") func many() {
        let formers = (0..<40).map { former(UInt8($0), keys: 1) }
        #expect(FormerPeer.remembered(formers) == Array(formers.suffix(FormerPeer.rememberedMax)))
    }
}
