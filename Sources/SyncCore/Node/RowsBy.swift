import SyncModel

/// Rows of one answer, looked up by something else than their path. To go through all of them for each of a batch would be
/// square work.
struct RowsBy<Key: Comparable & Sendable>: Sendable {
    private var rows = SortedMap<Key, [Row]>()

    /// A row without a key is in none of the answers.
    init(_ list: [Row], key: (Row) -> Key?) {
        for row in list {
            if let key = key(row) { rows[key, default: []].append(row) }
        }
    }

    /// In the order of the list.
    subscript(key: Key) -> [Row] { rows[key] ?? [] }
}

/// Rows that show the same file: other names of it, or names it had.
typealias Namesakes = RowsBy<FileIdentity>

extension Namesakes {
    init(_ rows: [Row]) {
        self.init(rows) { $0.disk?.stat.identity }
    }
}

/// Rows whose disk holds a content.
typealias Holders = RowsBy<ContentID>

extension Holders {
    init(_ rows: [Row]) {
        self.init(rows) { row in
            guard case .file(let id, _)? = row.disk?.entry.content else { return nil }
            return id
        }
    }
}
