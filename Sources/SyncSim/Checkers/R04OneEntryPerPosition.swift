import SyncModel

/// A position is used once, whatever is restored from wherever.
package final class OneEntryPerPosition: StoreInvariant {
    package static let id = "R-04"
    package static let sentence =
        "No node ever writes two different entries with the same epoch and number, also not after an image was put back."

    private var written: [SortedMap<LogPosition, Digest>] = [[:], [:]]

    package init() {}

    package func see(_ act: StoreAct, _ court: inout Court) {
        for operation in act.batch.operations {
            guard case .appendLog(let record) = operation else { continue }
            let (position, chain) = (record.head.position, record.head.chain)
            if let earlier = written[act.machine].updateValue(chain, forKey: position), earlier != chain {
                court.find(self, on: act.machine, "a second, different entry at \(position)")
            }
        }
    }
}
