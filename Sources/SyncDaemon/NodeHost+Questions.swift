import Disk
import Store
import SyncModel

/// What the shell asks of store and folder beside the core; answered after everything the core has given to the store.
extension NodeHost {
    /// What only the store can count.
    struct Tally: Sendable {
        var bytes: UInt64 = 0
        var conflicts = 0
    }

    private static let conflictsMax = 10_000

    func tally(then: @escaping (Tally) -> Void) {
        query({ (store: Store) throws(StoreError) -> Tally in
            let conflicts = try NodeHost.rows(store, .conflictCopies(limit: NodeHost.conflictsMax)).count
            return Tally(bytes: try store.totals().bytes, conflicts: conflicts)
        }) { then($0 ?? Tally()) }
    }

    func conflictCopies(then: @escaping ([Row]) -> Void) {
        query({ (store: Store) throws(StoreError) -> [Row] in
            try NodeHost.rows(store, .conflictCopies(limit: NodeHost.conflictsMax))
        }) { then($0 ?? []) }
    }

    /// Everything that lies in quarantine.
    func quarantined(then: @escaping (Set<VersionID>) -> Void) {
        query({ (store: Store) throws(StoreError) -> Set<VersionID> in
            guard case .versions(let all) = try store.answer(.versions(nil, limit: .max)) else { return [] }
            return Set(all.filter(\.isQuarantined).map(\.id))
        }) { then($0 ?? []) }
    }

    func row(at path: Path, then: @escaping (Row?) -> Void) {
        query({ (store: Store) throws(StoreError) -> Row? in try NodeHost.rows(store, .rows([path])).first }) {
            then($0 ?? nil)
        }
    }

    /// The latest own entries, oldest first; all that are kept if `count` is nil.
    func ownLog(last count: Int?, then: @escaping ([LogRecord]) -> Void) {
        query({ (store: Store) throws(StoreError) -> [LogRecord] in
            guard case .log(let records) = try store.answer(.log(after: .none, limit: .max)) else { return [] }
            return count.map { Array(records.suffix($0)) } ?? records
        }) { then($0 ?? []) }
    }

    private static func rows(_ store: Store, _ query: StoreQuery) throws(StoreError) -> [Row] {
        guard case .rows(let rows) = try store.answer(query) else { return [] }
        return rows
    }
}
