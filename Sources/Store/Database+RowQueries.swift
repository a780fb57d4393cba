/// Questions about rows of the base.
import SyncModel

extension Database {
    func row(at path: Path) throws(StoreError) -> Row? {
        try row(key: PathKey.bytes(of: path))
    }

    func row(key: [UInt8]) throws(StoreError) -> Row? {
        if let known = recentRows.row(key: key) { return known }
        let row = try connection.first(.row, .bytes(key)) { statement throws(StoreError) in
            // By the key that was asked for (see `AskedKeys`).
            try Database.row(statement.bytes(1), key: key)
        }
        recentRows.keep(row, key: key)
        return row
    }

    func rows(at paths: [Path]) throws(StoreError) -> [Row] {
        var found: [Row] = []
        var last: Path?
        for path in paths.sorted() where path != last {
            last = path
            if let row = try row(at: path) { found.append(row) }
        }
        return found
    }

    func rows(below directory: Path, after: Path?, limit: Int) throws(StoreError) -> [Row] {
        let range = PathKey.below(directory)
        var from = range.from
        // A zero more is the next key there can be.
        if let after, after > directory { from = PathKey.bytes(of: after) + [0] }
        let asked = AskedKeys(from: from, upTo: range.upTo)
        return try rows(.rowsFrom, .bytes(from), .bytes(range.upTo), .limit(limit), asked: asked)
    }

    /// Goes from child to child: what lies below one is stepped over, however much it is.
    func children(of directory: Path, after: Path?, limit: Int) throws(StoreError) -> [Row] {
        let range = PathKey.below(directory)
        var from = range.from
        if let after, after > directory { from = Database.next(after: PathKey.bytes(of: after), in: directory) }
        var found: [Row] = []
        while found.count < limit {
            var deeper: [UInt8]?
            var asked = AskedKeys(from: from, upTo: range.upTo)
            try connection.each(.rowsFrom, [.bytes(from), .bytes(range.upTo), .limit(limit)]) {
                statement throws(StoreError) in
                let row = try Database.row(in: statement, &asked)
                if row.path.parent == directory { found.append(row) } else { deeper = PathKey.bytes(of: row.path) }
                return deeper == nil && found.count < limit
            }
            guard let deeper else { return found }
            from = Database.next(after: deeper, in: directory)
        }
        return found
    }

    /// The first key behind the child of `directory` that `key` is, or is below, and everything below that child.
    private static func next(after key: [UInt8], in directory: Path) -> [UInt8] {
        let start = directory.isRoot ? 0 : directory.bytes.count + 1
        return key.prefix(start) + key.dropFirst(start).prefix { $0 != 0 } + [1]
    }

    func unsettledRows(cursor: Path?, ascending: Bool, limit: Int) throws(StoreError) -> [Row] {
        guard let cursor else {
            let asked = AskedKeys(ascending: ascending)
            return try rows(ascending ? .unsettledFrom : .unsettledLast, .limit(limit), asked: asked)
        }
        let key = PathKey.bytes(of: cursor)
        let asked = ascending ? AskedKeys(from: key + [0]) : AskedKeys(upTo: key, ascending: false)
        return try rows(ascending ? .unsettledAfter : .unsettledBefore, .limit(limit), .bytes(key), asked: asked)
    }

    func rows(with identities: [FileIdentity]) throws(StoreError) -> [Row] {
        var found: [Row] = []
        for identity in identities {
            let sameInode = try rows(.rowsOfInode, .integer(Int64(bitPattern: identity.inode)))
            found += sameInode.filter { $0.disk?.stat.identity == identity }
        }
        return Database.inOrder(found)
    }

    func rows(guardedAfter path: Path?, limit: Int) throws(StoreError) -> [Row] {
        // A zero more is the next key there can be.
        let from = path.map { PathKey.bytes(of: $0) + [0] } ?? []
        return try rows(.guardedFrom, .bytes(from), .limit(limit), asked: AskedKeys(from: from))
    }

    func rows(holding contents: [ContentID]) throws(StoreError) -> [Row] {
        var found: [Row] = []
        for content in contents {
            if let row = try holder(content.searchKey, orLeftOut: true, where: { $0 == content }) {
                found.append(row)
            }
        }
        return Database.inOrder(found)
    }

    /// The first row, in path order, whose disk holds a content with this search key that `isWanted`; if there is none, the first that the
    /// rules leave out.
    func holder(
        _ searchKey: Int64, orLeftOut takesLeftOut: Bool = false, where isWanted: (ContentID) -> Bool
    ) throws(StoreError) -> Row? {
        var found: Row?
        var leftOut: Row?
        var asked = AskedKeys()
        try connection.each(.rowsOfContent, [.integer(searchKey)]) { statement throws(StoreError) in
            let row = try Database.row(in: statement, &asked)
            if let held = row.heldContent {
                if isWanted(held) { found = row }
            } else if takesLeftOut, leftOut == nil, let shown = row.shownContent, isWanted(shown) {
                leftOut = row
            }
            return found == nil
        }
        return found ?? leftOut
    }

    /// All rows that a statement answers with.
    func rows(_ sql: SQL, _ values: Value..., asked: AskedKeys = AskedKeys()) throws(StoreError) -> [Row] {
        var found: [Row] = []
        var asked = asked
        try connection.each(sql, values) { statement throws(StoreError) in
            found.append(try Database.row(in: statement, &asked))
            return true
        }
        return found
    }

    private static func inOrder(_ rows: [Row]) -> [Row] {
        var ordered: [Row] = []
        for row in rows.sorted(by: { $0.path < $1.path }) where row.path != ordered.last?.path { ordered.append(row) }
        return ordered
    }

    static func row(in statement: Statement, _ asked: inout AskedKeys) throws(StoreError) -> Row {
        let key = statement.bytes(0)
        try asked.take(key)
        return try row(statement.bytes(1), key: key)
    }

    private static func row(_ sealed: [UInt8], key: [UInt8]) throws(StoreError) -> Row {
        try decoded("a row") { () throws(BlobError) in try RowCodec.decode(sealed, key: key) }
    }
}

/// The keys that an answer may have, each once and in order. The sum of a row says that it is that of its key, not that it was asked for:
/// where a page is damaged SQLite may come out at another, and whoever goes on after the last row of an answer may never come to an end.
struct AskedKeys {
    private let from: [UInt8]
    private let upTo: [UInt8]?
    private let isAscending: Bool
    private var last: [UInt8]?

    init(from: [UInt8] = [], upTo: [UInt8]? = nil, ascending: Bool = true) {
        self.from = from
        self.upTo = upTo
        isAscending = ascending
    }

    mutating func take(_ key: [UInt8]) throws(StoreError) {
        let isAsked = !key.lexicographicallyPrecedes(from) && upTo.map { key.lexicographicallyPrecedes($0) } ?? true
        let isNext =
            last.map { isAscending ? $0.lexicographicallyPrecedes(key) : key.lexicographicallyPrecedes($0) } ?? true
        guard isAsked, isNext else { throw .damaged(StoreFault("read rows", "a row is not where it belongs")) }
        last = key
    }
}
