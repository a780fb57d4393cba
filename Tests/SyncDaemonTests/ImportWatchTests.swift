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
            done == .init(firstSeq: 5, lastSeq: 9, applied: 3, held: 2, repaired: 0, quarantined: 0, milliseconds: 50))
        let again = watch.finish(Self.status(toApply: 0), atMilliseconds: 160)
        #expect(again == nil, "it is told once")
    }

    @Test("what repair did with the records that came is told once, after their files can be seen") func repairs() {
        var watch = ImportWatch(head: LogPosition(epoch: Self.epoch, seq: 4))
        _ = watch.note(Self.batch(5), atMilliseconds: 0)
        var status = Self.status(toApply: 0)
        status.importRepairs = RepairCount(quarantined: 1, repaired: 2)
        status.recordsAreMatched = false
        let early = watch.finish(status, atMilliseconds: 5)
        #expect(early == nil)
        status.recordsAreMatched = true
        let done = watch.finish(status, atMilliseconds: 10)
        #expect(done?.repaired == 2 && done?.quarantined == 1)
        _ = watch.note(Self.batch(6), atMilliseconds: 20)
        let next = watch.finish(status, atMilliseconds: 30)
        #expect(next?.repaired == 0 && next?.quarantined == 0)
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
