/// All that a view says of one record: what changes together when its component is repaired anew.
import SyncModel

struct RecordFacts: Hashable {
    var live: RecordView.Record?
    var quarantined: RecordView.Quarantined?
    var dropped: RecordView.Quarantined?
    var alias: RecordID?
    var rival: RecordView.Rival?
    var clone: RecordID?
    var isDead = false
    var isUnknown = false
    var isRepaired = false
    var isRevived = false
    var outlivedDelete: UInt64?
    var concurrent: [RecordView.ConcurrentWrite] = []

    /// What the record holds, wherever it is.
    var record: RecordView.Record? { live ?? quarantined?.record ?? dropped?.record }
}

extension RecordView {
    func facts(of id: RecordID) -> RecordFacts {
        RecordFacts(
            live: live[id], quarantined: quarantine[id], dropped: dropped[id], alias: aliases[id],
            rival: rivals[id],
            clone: clones[id],
            isDead: deadRecords.contains(key: id), isUnknown: unknownRecords.contains(key: id),
            isRepaired: repairedRecords.contains(key: id), isRevived: revivedRecords.contains(key: id),
            outlivedDelete: outlivedDeletes[id],
            concurrent: concurrentWrites[id] ?? [])
    }

    mutating func put(_ facts: RecordFacts, at id: RecordID) {
        live[id] = facts.live
        quarantine[id] = facts.quarantined
        dropped[id] = facts.dropped
        aliases[id] = facts.alias
        rivals[id] = facts.rival
        clones[id] = facts.clone
        deadRecords[id] = facts.isDead ? true : nil
        unknownRecords[id] = facts.isUnknown ? true : nil
        repairedRecords[id] = facts.isRepaired ? true : nil
        revivedRecords[id] = facts.isRevived ? true : nil
        outlivedDeletes[id] = facts.outlivedDelete
        put(facts.concurrent, at: id)
    }

    mutating func put(_ writes: [ConcurrentWrite], at id: RecordID) {
        concurrentWrites[id] = writes.isEmpty ? nil : writes
    }
}
