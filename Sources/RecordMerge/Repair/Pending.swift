/// References to records that nobody made yet. They take no place from anybody who is there; as far as there is room besides they
/// stand in the files as they were written, until whom they name comes, and is linked like any other.
import SyncModel

extension Repair {
    /// The edges of a live record that wait, in descending K.
    func pending(at record: Int, by slot: ModelIndex.Slot) -> [Int] {
        guard isLive(record) else { return [] }
        let edges = graph.edges(at: record, by: slot)
        var room = (slot.end.countMax ?? .max) - edges.count { isAccepted[$0] && graph.edges[$0].target != nil }
        var isNamed: SortedMap<Int, Bool> = [:]
        var pending: [Int] = []
        for number in edges where room > 0 {
            guard let partner = graph.edges[number].other(than: record) else {
                // Who wants nobody overrules what was wanted before.
                if isAccepted[number] { room -= 1 }
                continue
            }
            guard isPending(number, at: record, partner), isNamed.updateValue(true, forKey: partner) == nil else {
                continue
            }
            pending.append(number)
            room -= 1
        }
        return pending
    }

    /// What a clone wants is in its file only.
    private func isPending(_ number: Int, at record: Int, _ partner: Int) -> Bool {
        let edge = graph.edges[number]
        return graph.lives[partner] == .unknown && !isLive(partner)
            && (edge.insteadOf == nil || edge.owner == record && graph.clones.contains(key: record))
    }
}
