/// What the oracle says of texts that two people wrote at once. How two texts are joined is not asked here but in
/// `LineMergeTests`.
import SyncModel

@testable import RecordMerge

extension Oracle {
    /// Nil unless there are two heads of one record and something that both had seen.
    func joined(_ ids: [String], _ name: PropertyName) -> JSONText? {
        let writes = valid(ids).filter { if case .set(name, _) = $0.action { true } else { false } }
        let heads = valueHeads(ids, name)
        guard heads.count == 2, Set(writes.map(\.record)).count == 1, isByLines(heads[0].record, name),
            let before = writes.last(where: { saw(heads[0], $0) && saw(heads[1], $0) }),
            let base = text(before), let one = text(heads[0]), let other = text(heads[1])
        else { return nil }
        return LineMerge.merged(base: base, one, other).flatMap { JSONText.string($0) }
    }

    private func isByLines(_ id: RecordID, _ name: PropertyName) -> Bool {
        model.entity(id.entity)?.field(name)?.merge == .lines
    }

    private func text(_ act: Act) -> [UInt8]? {
        if case .set(_, let value) = act.action { value?.string } else { nil }
    }
}
