/// Rows of the base: how they change, and what hangs on a change.
import SyncModel

extension Database {
    func put(_ row: Row) throws(StoreError) {
        let key = PathKey.bytes(of: row.path)
        try put(row, key: key, replacing: try self.row(key: key))
    }

    private func put(_ row: Row, key: [UInt8], replacing replaced: Row?) throws(StoreError) {
        try write(row, key: key, replacing: replaced)
        recentRows.keep(row, key: key)
        note(row, replacing: replaced)
    }

    private func write(_ row: Row, key: [UInt8], replacing replaced: Row?) throws(StoreError) {
        let sealed = Value.bytes(RowCodec.encode(row, key: key))
        let marks = Marks(of: row)
        if let replaced, Marks(of: replaced) == marks {
            try connection.run(.changeRow, .bytes(key), sealed)
        } else {
            // To replace a row by another is twice the work of changing it.
            try connection.run(
                replaced == nil ? .putRow : .changeMarkedRow, .bytes(key), sealed, Value(marks.inode),
                Value(marks.content), Value(mark: marks.isUnsettled), Value(mark: marks.isIgnoreFile),
                Value(mark: marks.isConflictCopy), Value(mark: marks.isGuarded))
        }
    }

    func dropRow(_ path: Path) throws(StoreError) {
        let key = PathKey.bytes(of: path)
        guard let dropped = try row(key: key) else { return }
        try connection.run(.dropRow, .bytes(key))
        recentRows.keep(nil, key: key)
        note(nil, replacing: dropped)
    }

    /// Both halves of every row are computed from the rows as they were. That can be done page by page where neither
    /// place is in the other: a new path is then written by one old row only, and no old row is read again.
    func relocate(_ relocation: Relocation) throws(StoreError) {
        let (from, to) = (relocation.from, relocation.to)
        let isApart = from != to && !from.isBelow(to) && !to.isBelow(from)
        let isFree = isApart ? try isUnknown(to) : false
        var page = try rows(at: [from])
        page += try rows(below: from, after: nil, limit: isApart ? Database.rowsPerPage : .max)
        while let last = page.last {
            if isFree {
                try relocateToNothing(page, relocation)
            } else {
                try relocate(page, relocation, isApart: isApart)
            }
            page = isApart ? try rows(below: from, after: last.path, limit: Database.rowsPerPage) : []
        }
    }

    private func isUnknown(_ place: Path) throws(StoreError) -> Bool {
        if try row(at: place) != nil { return false }
        return try rows(below: place, after: nil, limit: 1).isEmpty
    }

    /// Nothing is known of the new place, as nearly always. So many rows are not remembered: they would drive out all others.
    private func relocateToNothing(_ rows: [Row], _ relocation: Relocation) throws(StoreError) {
        for row in rows {
            guard let (old, new) = relocation.applied(to: row, replacing: nil) else { continue }
            let (from, to) = (PathKey.bytes(of: old.path), PathKey.bytes(of: new.path))
            try write(old, key: from, replacing: row)
            try write(new, key: to, replacing: nil)
            recentRows.forget(key: from)
            recentRows.forget(key: to)
            noteSums(old, replacing: row)
            noteSums(new, replacing: nil)
            // It only changes its place.
            if row.heldContent != new.heldContent { noteContents(new, replacing: row) }
        }
        try settleContents()
    }

    private func relocate(_ rows: [Row], _ relocation: Relocation, isApart: Bool) throws(StoreError) {
        var changed: [(row: Row, replaced: Row?)] = []
        for row in rows {
            guard let target = row.path.rebased(from: relocation.from, to: relocation.to) else { continue }
            let there = try self.row(at: target)
            guard let (old, new) = relocation.applied(to: row, replacing: there) else { continue }
            changed.append((old, row))
            changed.append((new, there))
        }
        for (row, replaced) in changed {
            // Where one place is in the other, a row of this page may have been replaced by another of it.
            if isApart { try put(row, key: PathKey.bytes(of: row.path), replacing: replaced) } else { try put(row) }
        }
        // Here and not at the end of the batch, so that what is remembered does not grow with the directory.
        try settleContents()
    }

    /// What a changed row changes elsewhere is done at the end of the batch: most of it comes back in the same one.
    private func note(_ row: Row?, replacing old: Row?) {
        noteSums(row, replacing: old)
        noteContents(row, replacing: old)
    }

    private func noteSums(_ row: Row?, replacing old: Row?) {
        guard let path = row?.path ?? old?.path else { return }
        for directory in Database.summed(path) {
            pending.sums[directory, default: SumsChange(of: directory)].replace(old, by: row)
        }
    }

    private func noteContents(_ row: Row?, replacing old: Row?) {
        let (left, held) = (old?.heldContent, row?.heldContent)
        guard left != held else { return }
        if let left { pending.contents[left] = .unknown }
        if let held { pending.contents[held] = .held }
    }

    private static let rowsPerPage = 256
}

/// What a row is looked for by: the columns beside it.
private struct Marks: Equatable {
    let inode: Int64?
    let content: Int64?
    let isUnsettled: Bool
    let isIgnoreFile: Bool
    let isConflictCopy: Bool
    let isGuarded: Bool

    init(of row: Row) {
        let disk = row.disk
        inode = disk.map { Int64(bitPattern: $0.stat.identity.inode) }
        content = row.shownContent?.searchKey
        isUnsettled = row.isUnsettled
        isIgnoreFile = disk != nil && row.path.name?.bytes == IgnoreRules.fileName
        isConflictCopy = disk != nil && ConflictName.isConflictCopy(row.path)
        isGuarded = row.format != nil
    }
}

extension Row {
    /// The content that can be read at this path; what is missing, damaged or ignored is not looked after any more.
    var heldContent: ContentID? { condition == .normal ? shownContent : nil }

    /// The content that stands at this path, be it that the rules leave it out.
    var shownContent: ContentID? {
        guard condition == .normal || condition == .ignored, case .file(let id, _) = disk?.entry.content else {
            return nil
        }
        return id
    }
}

extension ContentID {
    /// What the index of contents holds: a quarter of the digest. Whatever it finds is compared in full.
    var searchKey: Int64 { Int64(bitPattern: digest.words.0) }
}
