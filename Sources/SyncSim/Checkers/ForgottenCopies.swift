import SyncModel

/// What daemons were to copy, for it had lost a conflict, and know no more since they were set back. The other node has
/// had their word that they would: who changes there what has won tells that the loser has been seen, and cannot know
/// better until his node hears of the setback.
struct ForgottenCopies: Sendable {
    struct Copy: Hashable, Sendable {
        let path: Path
        let value: Value
        /// Where the log of its author tells of it.
        fileprivate let position: LogPosition
    }

    /// By the machine of the other node.
    private var copies: [[Copy]] = [[], []]

    /// The daemon that was to copy the value goes on from `row`; the node of the machine has `other` on record. True if
    /// that tells by now that the value has been seen. If it only counts as seen there, that is remembered.
    mutating func forget(_ value: Value, _ row: Row, other: Row, toldBy machine: Int) -> Bool {
        guard let stands = row.disk?.origins.content, stands.author == .own, let winner = other.head(by: .own) else {
            return false
        }
        if winner.seen.peer >= stands.position { return true }
        if !row.owesCopy, other.reflected.peer >= stands.position {
            copies[machine].append(Copy(path: row.path, value: value, position: stands.position))
        }
        return false
    }

    /// What the node of the machine tells in this batch that it has seen.
    func told(in batch: StoreBatch, by machine: Int) -> [Copy] {
        let waiting = copies[machine]
        if waiting.isEmpty { return [] }
        return batch.operations.flatMap { operation -> [Copy] in
            guard case .putRow(let row) = operation, let own = row.head(by: .own) else { return [] }
            return waiting.filter { $0.path == row.path && own.seen.peer >= $0.position }
        }
    }

    mutating func heardOfSetback(_ machine: Int) { copies[machine] = [] }
}
