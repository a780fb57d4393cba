import SyncCore
import SyncModel

/// Sees the other node's changes come in, and tells when all that came can be seen in the folder or waits for a reason.
struct ImportWatch {
    /// Changes that have come and are not all in the folder yet.
    struct Running {
        let firstSeq: UInt64
        var lastSeq: UInt64
        let sinceMilliseconds: UInt64
        var quarantined = 0
    }

    /// What has become of them.
    struct Finished: Equatable {
        let firstSeq: UInt64
        let lastSeq: UInt64
        let applied: Int
        let held: Int
        let repaired: Int
        let quarantined: Int
        let milliseconds: Int
    }

    private(set) var head: LogPosition
    private(set) var running: Running?
    /// What repair had done by the end of the last import. (Change sets come before the entries that go with them.)
    private var repairs = RepairCount()

    /// `head` is the last entry of the other node that had come before.
    init(head: LogPosition) {
        self.head = head
    }

    /// A batch is durable. True if an import begins with it.
    mutating func note(_ batch: StoreBatch, atMilliseconds now: UInt64) -> Bool {
        var isBegun = false
        for operation in batch.operations {
            if case .putNode(let node) = operation, node.importedHead.position != head {
                isBegun = note(node.importedHead.position, now) || isBegun
            }
            if case .putVersion(let version) = operation, version.isOfDamage { running?.quarantined += 1 }
        }
        return isBegun
    }

    private mutating func note(_ new: LogPosition, _ now: UInt64) -> Bool {
        let old = head
        head = new
        // Set back: the other node's log begins again, and what it has is read once more.
        guard new > old else { return false }
        if running != nil {
            running?.lastSeq = new.seq
            return false
        }
        let first = new.epoch == old.epoch ? old.seq + 1 : 1
        running = Running(firstSeq: min(first, new.seq), lastSeq: new.seq, sinceMilliseconds: now)
        return true
    }

    /// Nobody can say any more what becomes of it.
    mutating func abandon() { running = nil }

    /// Nil while something is still on its way into the folder.
    mutating func finish(_ status: Status, atMilliseconds now: UInt64) -> Finished? {
        let isShown = status.toApply == 0 && status.recordsAreMatched
        guard let running, isShown || status.state == .waiting || status.state == .halted else { return nil }
        self.running = nil
        let news = status.importRepairs - repairs
        repairs = status.importRepairs
        let entries = running.lastSeq >= running.firstSeq ? running.lastSeq - running.firstSeq + 1 : 0
        let held = status.toApply
        return Finished(
            firstSeq: running.firstSeq, lastSeq: running.lastSeq, applied: max(0, Int(clamping: entries) - held),
            held: held, repaired: news.repaired, quarantined: running.quarantined + news.quarantined,
            milliseconds: Int(clamping: now - running.sinceMilliseconds))
    }
}
