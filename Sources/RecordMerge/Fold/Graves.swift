/// Which records are dead for good: no restore and no link can bring back what they held, because all that is still to
/// come is too late for it (`RecordView.retentionMilliseconds`), and nothing that is there already would do so under
/// other circumstances.
import SyncModel

struct Graves {
    /// Of the stable part of a history; see `Compaction`.
    private let fold: Fold
    /// By the numbers of the fold.
    private(set) var isGone: [Bool]

    /// One record wants another.
    private struct Tie {
        let owner: Int
        let target: Int
        let write: Write
    }

    init(_ fold: Fold, whole: Graph) {
        self.fold = fold
        isGone = Array(repeating: false, count: fold.records.count)
        for (number, id) in fold.records.enumerated() {
            isGone[number] = whole.fold.number(of: id).map { whole.lives[$0] == .dead } == true && isOver(number)
        }
        for tie in ties() {
            for end in [tie.owner, tie.target] where isGone[end] && isUnknown(tie.write, toDeletersOf: end) {
                isGone[end] = false
            }
        }
        spareCompanions()
    }

    /// Its deletes stand, and whatever is still to come is too late for each of them.
    private func isOver(_ record: Int) -> Bool {
        let now = fold.history.changes.last?.time.wallMilliseconds ?? 0
        let deletes = fold.states[record].standingDeletes(in: fold.history)
        return !deletes.isEmpty && !fold.states[record].lives.isEmpty
            && deletes.allSatisfy { delete in
                let time = fold.history.changes[Int(delete.change)].time.wallMilliseconds
                return time + RecordView.retentionMilliseconds <= now
            }
    }

    private func ties() -> [Tie] {
        fold.states.enumerated().flatMap { owner, state -> [Tie] in
            let links = state.links.flatMap(\.heads).compactMap { head in
                head.value.target.map { Tie(owner: owner, target: $0, write: head.write) }
            }
            let edges = state.edges.flatMap { key, heads in
                heads.filter { $0.order != nil }.map { Tie(owner: owner, target: key.target, write: $0.write) }
            }
            return links + edges
        }
    }

    private func isUnknown(_ write: Write, toDeletersOf record: Int) -> Bool {
        fold.states[record].standingDeletes(in: fold.history).allSatisfy { !fold.history.saw($0, write) }
    }

    /// Whoever died together with one that is there, or may come back, comes back with it where that needs him, if only by a
    /// link that is still to be made. (Once is enough: whoever is spared died of nothing that the others had not died of.)
    private mutating func spareCompanions() {
        let deletes = fold.states.map { state in state.standingDeletes(in: fold.history).map(\.change) }
        let there = SortedMap(deletes.indices.filter { !isGone[$0] }.flatMap { deletes[$0] }.map { ($0, true) })
        let companions = deletes.indices.filter { record in
            isGone[record] && deletes[record].allSatisfy { there.contains(key: $0) }
        }
        for record in companions { isGone[record] = false }
    }
}
