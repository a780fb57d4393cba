import SyncCore
import SyncModel

/// The log has no holes and no page can be exchanged.
package final class DenseLog: StoreInvariant {
    package static let id = "R-02"
    package static let sentence =
        "A node's own log is dense in each epoch, its hash chain verifies, and it ends at the head the node knows."

    package init() {}

    package func see(_ act: StoreAct, _ court: inout Court) {
        var end = act.store.log.last?.value.head
        var known = act.store.node.ownHead
        var last = end ?? known
        for operation in act.batch.operations {
            switch operation {
            case .appendLog(let record):
                judge(record, after: last, of: act.store.node.id, on: act.machine, &court)
                last = record.head
                end = last
            case .dropLog(let through): if let dropped = end, dropped.position <= through { end = nil }
            case .putNode(let node): known = node.ownHead
            case .putRow, .dropRow, .relocate, .putIntent, .dropIntent, .putVersion, .dropVersion, .putChunks,
                .putChangeSet, .dropChangeSets:
                break
            }
        }
        if let end, end != known {
            court.find(self, on: act.machine, "the log ends at \(end.position), the node says \(known.position)")
        }
    }

    package func see(_ sight: Sight, _ court: inout Court) {
        for (index, machine) in sight.machines.enumerated() {
            var last = machine.store.node.prunedThrough
            for record in machine.store.log.values {
                judge(record, after: last, of: machine.store.node.id, on: index, &court)
                last = record.head
            }
            if last != machine.store.node.ownHead {
                court.find(
                    self, on: index,
                    "the log ends at \(last.position), the node says \(machine.store.node.ownHead.position)")
            }
        }
    }

    private func judge(_ record: LogRecord, after last: LogHead, of node: NodeID, on machine: Int, _ court: inout Court)
    {
        let position = record.head.position
        if !position.follows(last.position) {
            court.find(self, on: machine, "log entry \(position) does not follow \(last.position)")
            return
        }
        let chain = LogCodec.chain(of: LogCodec.encode(record), at: position, after: last, node: node)
        if chain != record.head.chain { court.find(self, on: machine, "the hash chain breaks at \(position)") }
    }
}
