import SyncCore
import SyncModel
import Testing

@testable import SyncDaemon

@Suite("imports as they are told") struct ImportWatchTests {
    private static let epoch = Epoch(number: 3, nonce: 7)

    private static func batch(_ seq: UInt64, epoch: Epoch = epoch) -> StoreBatch {
        var node = NodeRecord(id: NodeID(.zero), name: [], folder: FolderID(.zero))
        node.importedHead = LogHead(position: LogPosition(epoch: epoch, seq: seq), chain: .zero)
        return StoreBatch([.putNode(node)])
    }

    private static func status(toApply: Int, _ state: Status.FolderState = .syncing) -> Status {
        var status = Status()
        status.toApply = toApply
        status.state = state
        return status
    }

    @Test("an import is over when all that came is in the folder, or waits for a reason") func course() {
        var watch = ImportWatch(head: LogPosition(epoch: Self.epoch, seq: 4))
        let early = watch.finish(Self.status(toApply: 0), atMilliseconds: 0)
        #expect(early == nil)
        let isBegun = watch.note(Self.batch(7), atMilliseconds: 100)
        let isBegunAgain = watch.note(Self.batch(9), atMilliseconds: 120)
        #expect(isBegun && !isBegunAgain, "it goes on")
        let unfinished = watch.finish(Self.status(toApply: 2), atMilliseconds: 130)
        #expect(unfinished == nil)
        let done = watch.finish(Self.status(toApply: 2, .waiting), atMilliseconds: 150)
        #expect(
            done == .init(firstSeq: 5, lastSeq: 9, applied: 3, held: 2, quarantined: 0, milliseconds: 50))
        let again = watch.finish(Self.status(toApply: 0), atMilliseconds: 160)
        #expect(again == nil, "it is told once")
    }

    @Test("a new epoch begins at 1, and a log that was set back is no import") func epochs() {
        var watch = ImportWatch(head: LogPosition(epoch: Self.epoch, seq: 4))
        let isBegun = watch.note(Self.batch(2, epoch: Epoch(number: 4, nonce: 1)), atMilliseconds: 0)
        #expect(isBegun)
        #expect(watch.running?.firstSeq == 1 && watch.running?.lastSeq == 2)
        _ = watch.finish(Self.status(toApply: 0), atMilliseconds: 0)
        let isImport = watch.note(Self.batch(1), atMilliseconds: 0)
        #expect(!isImport)
        #expect(watch.running == nil && watch.head.seq == 1)
    }
}
