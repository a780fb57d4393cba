import SyncModel

/// What happens later is stamped later, or an old state wins over the new one.
package final class ClockAboveAll: Invariant {
    package static let id = "R-10"
    package static let sentence = """
        Every entry a node writes is stamped later than every entry it had stored or imported before, also after a restart or a \
        restored image.
        """

    /// The latest stamp that each store holds.
    private var highest: [HybridTime] = [.zero, .zero]

    package init() {}

    package func see(_ turn: ProcessTurn, _ court: inout Court) { lookAt(turn.store, of: turn.machine) }

    package func see(_ act: OperatorAct, _ court: inout Court) { lookAt(act.store, of: act.machine) }

    package func see(_ act: StoreAct, _ court: inout Court) {
        for operation in act.batch.operations {
            switch operation {
            case .appendLog(let record):
                if record.time <= highest[act.machine] {
                    court.find(
                        self, on: act.machine,
                        "entry \(record.head.position) is stamped \(record.time.raw), the store already held \(highest[act.machine].raw)")
                }
                highest[act.machine] = max(highest[act.machine], record.time)
            case .putNode(let record):
                if record.clock < highest[act.machine] {
                    court.find(
                        self, on: act.machine,
                        "the stored clock stands at \(record.clock.raw), the store holds an entry of \(highest[act.machine].raw)")
                }
            case .putRow, .dropRow, .relocate, .dropLog, .putIntent, .dropIntent, .putVersion, .dropVersion, .putChunks:
                break
            }
        }
        // Within one batch the rows come with the entries that made them: they bind what is written after it.
        for operation in act.batch.operations {
            if case .putRow(let row) = operation { witness(row, of: act.machine) }
        }
    }

    private func lookAt(_ store: VirtualStore, of machine: Int) {
        highest[machine] = store.log.last?.value.time ?? .zero
        for row in store.rows.values { witness(row, of: machine) }
    }

    private func witness(_ row: Row, of machine: Int) {
        for head in row.heads { highest[machine] = max(highest[machine], head.origin.time) }
    }
}
