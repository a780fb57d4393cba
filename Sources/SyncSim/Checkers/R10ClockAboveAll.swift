import SyncModel

/// What happens later is stamped later, or an old state wins over the new one.
///
/// The one entry that may be stamped in the past is the first of its path: a file that was there before anybody watched is
/// as old as it says, and there is nothing at its path that it could have seen. An entry that takes over a peer's lost one
/// says the same again and keeps its stamp.
package final class ClockAboveAll: StoreInvariant {
    package static let id = "R-10"
    package static let sentence = """
        Every entry a node writes is stamped later than everything it has seen at its path, and the stored clock is never behind an \
        entry in the store, also after a restart or a restored image.
        """

    /// The latest stamp that each store holds.
    private var highest: [HybridTime] = [.zero, .zero]

    package init() {}

    package func see(_ turn: ProcessTurn, _ court: inout Court) { lookAt(turn.store, of: turn.machine) }

    package func see(_ act: OperatorAct, _ court: inout Court) { lookAt(act.store, of: act.machine) }

    package func see(_ act: StoreAct, _ court: inout Court) {
        let renumbered = renumberedRows(act.batch)
        for operation in act.batch.operations {
            switch operation {
            case .appendLog(let record):
                if case .put(let path, let revision) = record.change {
                    judge(revision, on: (renumbered ?? act.store.rows)[path], act, &court)
                }
                highest[act.machine] = max(highest[act.machine], record.time)
            case .putRow(let row):
                for head in row.heads { highest[act.machine] = max(highest[act.machine], head.origin.time) }
            case .putNode, .dropRow, .relocate, .dropLog, .putIntent, .dropIntent, .putVersion, .dropVersion,
                .putChunks, .putChangeSet, .dropChangeSets:
                break
            }
        }
        let clock = act.batch.operations.reduce(act.store.node.clock) { clock, operation in
            if case .putNode(let record) = operation { record.clock } else { clock }
        }
        if clock < highest[act.machine] {
            court.find(
                self, on: act.machine,
                "the stored clock stands at \(clock.raw), the store holds an entry of \(highest[act.machine].raw)")
        }
    }

    /// A log that is written anew under new numbers is made on rows with new numbers: old ones cannot be compared with it.
    private func renumberedRows(_ batch: StoreBatch) -> SortedMap<Path, Row>? {
        let isAnew = batch.operations.contains { operation in
            if case .dropLog(let position) = operation { position.epoch == Epoch(raw: .max) } else { false }
        }
        guard isAnew else { return nil }
        return SortedMap(
            batch.operations.compactMap { operation in
                if case .putRow(let row) = operation { (row.path, row) } else { nil }
            })
    }

    private func judge(_ revision: Revision, on row: Row?, _ act: StoreAct, _ court: inout Court) {
        guard let row else { return }
        for head in row.heads where revision.seen.covers(head.origin) && head.origin != revision.origin {
            if head.origin.time < revision.origin.time { continue }
            if head.origin.time == revision.origin.time, head.entry.agrees(with: revision.entry) { continue }
            court.find(
                self, on: act.machine,
                "an entry for \(row.path) is stamped \(revision.origin.time.raw), it was made on one of \(head.origin.time.raw)"
            )
        }
    }

    private func lookAt(_ store: VirtualStore, of machine: Int) {
        highest[machine] = .zero
        for record in store.log.values { highest[machine] = max(highest[machine], record.time) }
        for row in store.rows.values {
            for head in row.heads { highest[machine] = max(highest[machine], head.origin.time) }
        }
    }
}
