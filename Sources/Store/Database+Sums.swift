/// Summaries of directories: looked up where they are kept (see `Sums`), counted where not.
import SyncModel

extension Database {
    func totals() throws(StoreError) -> StoreTotals {
        let sums = try sums(of: .root)
        return StoreTotals(files: sums.summary.files, directories: sums.summary.directories, bytes: sums.bytes)
    }

    func summary(of directory: Path) throws(StoreError) -> SubtreeSummary {
        guard directory.depth <= 1 else { return try counted(directory).summary }
        let sums = try sums(of: directory)
        if sums.isStale {
            staleAsked.insert(directory)
            return try counted(directory).summary
        }
        // The directory itself is not in its sums; the root's are over every row there is.
        var summary = sums.summary
        if !directory.isRoot, let row = try row(at: directory) { summary.count(row, below: directory) }
        return summary
    }

    /// The directories in whose sums a path is counted.
    static func summed(_ path: Path) -> [Path] {
        guard let top = path.top, top != path else { return [.root] }
        return [.root, top]
    }

    /// At the end of a batch: what it changed, and the latest positions that somebody asked for in vain.
    func settleSums() throws(StoreError) {
        for (directory, change) in pending.sums {
            var sums = try sums(of: directory)
            change.apply(to: &sums)
            try put(sums, of: directory)
        }
        for directory in staleAsked { try put(try counted(directory, withItself: directory.isRoot), of: directory) }
        staleAsked = []
    }

    private func sums(of directory: Path) throws(StoreError) -> Sums {
        let key = PathKey.bytes(of: directory)
        guard let sealed = try connection.first(.sums, .bytes(key), read: { $0.bytes(0) }) else { return Sums() }
        return try decoded("the sums") { () throws(BlobError) in try SumsCodec.decode(sealed, key: key) }
    }

    private func put(_ sums: Sums, of directory: Path) throws(StoreError) {
        let key = PathKey.bytes(of: directory)
        try connection.run(.putSums, .bytes(key), .bytes(SumsCodec.encode(sums, key: key)))
    }

    private func counted(_ directory: Path, withItself: Bool = true) throws(StoreError) -> Sums {
        var sums = Sums()
        if withItself, let row = try row(at: directory) { sums.count(row, below: directory) }
        let range = PathKey.below(directory)
        var asked = AskedKeys(from: range.from, upTo: range.upTo)
        try connection.each(.rowsFrom, [.bytes(range.from), .bytes(range.upTo), .limit(.max)]) {
            statement throws(StoreError) in
            sums.count(try Database.row(in: statement, &asked), below: directory)
            return true
        }
        return sums
    }
}
