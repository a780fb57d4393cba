import Disk
import Store
import SyncModel

/// What the shell asks of store and folder beside the core; answered after everything the core has given to the store.
extension NodeHost {
    /// What only the store can count.
    struct Tally: Sendable {
        var bytes: UInt64
        var conflicts: Int
    }

    /// A conflict copy, and what bears the name it was made of.
    struct ConflictRows: Sendable {
        let copy: Row
        let original: Row?
    }

    private static let conflictsMax = 10_000

    func tally(then: @escaping (Tally) -> Void) {
        question(
            { (store: Store) throws(StoreError) -> Tally in
                let conflicts = try NodeHost.rows(store, .conflictCopies(limit: NodeHost.conflictsMax)).count
                return Tally(bytes: try store.totals().bytes, conflicts: conflicts)
            }, then: then)
    }

    func conflicts(then: @escaping ([ConflictRows]) -> Void) {
        question(
            { (store: Store) throws(StoreError) -> [ConflictRows] in
                let copies = try NodeHost.rows(store, .conflictCopies(limit: NodeHost.conflictsMax))
                let paths = Set(copies.compactMap { ConflictName.parts(of: $0.path)?.original }).sorted()
                let originals = Dictionary(
                    try NodeHost.rows(store, .rows(paths)).map { ($0.path, $0) },
                    uniquingKeysWith: { first, _ in first })
                return copies.map { copy in
                    let original = ConflictName.parts(of: copy.path).flatMap { originals[$0.original] }
                    return ConflictRows(copy: copy, original: original)
                }
            }, then: then)
    }

    /// Everything that lies in quarantine.
    func quarantined(then: @escaping (Set<VersionID>) -> Void) {
        question(
            { (store: Store) throws(StoreError) -> Set<VersionID> in
                guard case .versions(let all) = try store.answer(.versions(nil, limit: .max)) else { return [] }
                return Set(all.filter(\.isQuarantined).map(\.id))
            }, then: then)
    }

    func row(at path: Path, then: @escaping (Row?) -> Void) {
        question(
            { (store: Store) throws(StoreError) -> Row? in try NodeHost.rows(store, .rows([path])).first }, then: then)
    }

    /// The latest own entries, oldest first; all that are kept if `count` is nil.
    func ownLog(last count: Int?, then: @escaping ([LogRecord]) -> Void) {
        question(
            { (store: Store) throws(StoreError) -> [LogRecord] in
                guard case .log(let records) = try store.answer(.log(after: .none, limit: .max)) else { return [] }
                return count.map { Array(records.suffix($0)) } ?? records
            }, then: then)
    }

    /// SHA-256 of what lies at these places now, as `sha256sum` tells it; nil where nothing can be read, and for
    /// what is too much to be read for an answer.
    func digests(of places: [Place], then: @escaping ([Digest?]) -> Void) {
        crew.digests(of: places, bytesMax: NodeHost.digestBytesMax, then: then)
    }

    private static let digestBytesMax: UInt64 = 256 << 20

    private static func rows(_ store: Store, _ query: StoreQuery) throws(StoreError) -> [Row] {
        guard case .rows(let rows) = try store.answer(query) else { return [] }
        return rows
    }
}
