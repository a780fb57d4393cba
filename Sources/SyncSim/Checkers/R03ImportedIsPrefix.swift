import SyncModel

/// Nobody holds more of a log than its author durably had.
package final class ImportedIsPrefix: StoreInvariant {
    package static let id = "R-03"
    package static let sentence =
        "What a node has imported of the peer's log is a prefix of what the peer has stored, entry for entry."

    /// Every head each node's own log ever durably had: an image that is put back may forget them, the peer need not.
    private var heads: [SortedMap<LogPosition, Digest>] = [[:], [:]]

    package init() {}

    package func see(_ act: StoreAct, _ court: inout Court) {
        for operation in act.batch.operations {
            switch operation {
            case .appendLog(let record): heads[act.machine][record.head.position] = record.head.chain
            case .putNode(let record):
                // The beginning of an epoch is something to have imported up to, when rows are sent for what was before it.
                if record.ownHead.position.seq == 0 {
                    heads[act.machine][record.ownHead.position] = record.ownHead.chain
                }
                if record.importedHead != act.store.node.importedHead {
                    judge(record.importedHead, on: act.machine, &court)
                }
            case .putRow, .dropRow, .relocate, .dropLog, .putIntent, .dropIntent, .putVersion, .dropVersion, .putChunks,
                .putChangeSet, .dropChangeSets:
                break
            }
        }
    }

    private func judge(_ head: LogHead, on machine: Int, _ court: inout Court) {
        if head.position == .none { return }
        guard let chain = heads[1 - machine][head.position] else {
            court.find(self, on: machine, "imported up to \(head.position), which the peer never stored")
            return
        }
        if chain != head.chain {
            court.find(self, on: machine, "imported another entry \(head.position) than the peer stored")
        }
    }
}
