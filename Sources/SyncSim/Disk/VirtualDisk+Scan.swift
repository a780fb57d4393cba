/// The scanner of the simulator: walks a part of the tree and joins it with the stored rows, difference by difference.
package import SyncModel

extension VirtualDisk {
    /// Compares everything below `request.directory` with the rows; `nextRow` gives the first row after a path, anywhere.
    ///
    /// What the rules ignore is neither looked into nor reported, except where a row still says that it is on disk: the
    /// core has to be told that this path is ignored now.
    package mutating func scan(_ request: ScanRequest, rules: IgnoreRules, nextRow: (Path) -> Row?) -> ScanChunk {
        var walk = TreeWalk(rules: rules)
        var differences: [Difference] = []
        var resume: Path?
        func row(after path: Path) -> Row? {
            nextRow(path).flatMap { $0.path.isBelow(request.directory) ? $0 : nil }
        }
        if walk.begin(request, on: &self) {
            var last = request.after ?? request.directory
            var entry = walk.next(on: &self)
            var known = row(after: last)
            while let path = [entry?.path, known?.path].compactMap({ $0 }).min() {
                if differences.count >= max(1, request.limit) {
                    resume = last
                    break
                }
                let found = entry.flatMap { $0.path == path ? $0.stat : nil }
                let stored = known.flatMap { $0.path == path ? $0 : nil }
                if let difference = difference(at: path, stored, found, walk, request) {
                    differences.append(difference)
                }
                if found != nil { entry = walk.next(on: &self) }
                if stored != nil { known = row(after: path) }
                last = path
            }
        }
        return ScanChunk(
            differences: differences, resume: resume, root: rootState(), unreadable: walk.unreadable,
            unsupported: walk.unsupported)
    }

    private func difference(
        at path: Path, _ row: Row?, _ stat: Stat?, _ walk: TreeWalk, _ request: ScanRequest
    ) -> Difference? {
        if stat == nil, let row {
            if path.isReserved || walk.hides(path) { return nil }
            let isDirectory = row.disk?.entry.content.isDirectory ?? false
            if walk.rules.isIgnored(path.bytes, isDirectory: isDirectory) { return newlyIgnored(row) }
        } else if row?.condition == .ignored {
            // The rules name it no longer, or the walk would not have come here: the core has to be told that too.
            return Difference(path: path, stat: stat)
        }
        return ScanJoin.difference(at: path, row: row, stat: stat, distrustSince: request.distrustSince)
    }

    /// A row that still says the path is on disk although the rules ignore it now.
    private func newlyIgnored(_ row: Row) -> Difference? {
        guard row.disk != nil, row.condition != .ignored, case .success(let stat) = stat(.tree(row.path)) else {
            return nil
        }
        return Difference(path: row.path, stat: stat)
    }
}

/// Visits what lies below a directory, in path order, without what the rules ignore and what is our own.
private struct TreeWalk {
    struct Entry {
        let path: Path
        let stat: Stat
    }

    private struct Level {
        let path: Path
        let entries: SortedMap<Name, InodeKey>
        /// The last name that was visited.
        var last: Name?

        var next: (key: Name, value: InodeKey)? { last.map { entries.first(after: $0) } ?? entries.first }
    }

    let rules: IgnoreRules
    /// Directories that could not be listed.
    private(set) var unreadable: [Path] = []
    /// Of that, what lies below another mount, or is one.
    private(set) var unsupported: [Path] = []
    private var levels: [Level] = []

    init(rules: IgnoreRules) {
        self.rules = rules
    }

    /// False if nothing can be said about what lies below the directory.
    mutating func begin(_ request: ScanRequest, on disk: inout VirtualDisk) -> Bool {
        let found = disk.find(request.directory)
        guard !request.directory.isReserved, case .success(let key) = found else {
            unreadable.append(request.directory)
            if case .failure(.crossDevice) = found { unsupported.append(request.directory) }
            return false
        }
        if let key { enter(key, request.directory, on: &disk) }
        if !unreadable.isEmpty { return false }
        if let after = request.after, after.isBelow(request.directory) { skip(to: after, on: &disk) }
        return true
    }

    mutating func next(on disk: inout VirtualDisk) -> Entry? {
        while let level = levels.last {
            guard let (name, key) = level.next else {
                levels.removeLast()
                continue
            }
            levels[levels.count - 1].last = name
            let path = level.path.appending(name)
            let stat = disk.inodes.stat(of: key)
            if path.isReserved || rules.isIgnored(path.bytes, isDirectory: stat.kind == .directory) { continue }
            enter(key, path, on: &disk)
            if disk.faults.covered.contains(path) { continue }
            return Entry(path: path, stat: stat)
        }
        return nil
    }

    /// True for what lies in a directory that could not be listed, and for one that something is mounted over.
    func hides(_ path: Path) -> Bool {
        unreadable.contains { path.isBelow($0) } || unsupported.contains(path)
    }

    /// If it is a directory, what is in it comes next.
    private mutating func enter(_ key: InodeKey, _ path: Path, on disk: inout VirtualDisk) {
        guard disk.inodes.isDirectory(key) else { return }
        if disk.faults.covered.contains(path) {
            unreadable.append(path)
            unsupported.append(path)
        } else if disk.obstacleToRead(path) != nil {
            unreadable.append(path)
        } else {
            levels.append(Level(path: path, entries: disk.inodes[key].entries))
        }
    }

    /// Goes to where an earlier walk has stopped, whether or not that path is still there.
    private mutating func skip(to path: Path, on disk: inout VirtualDisk) {
        guard let start = levels.last?.path else { return }
        let tail = start.isRoot ? path.bytes[...] : path.bytes[(start.bytes.count + 1)...]
        for component in tail.split(separator: 0x2F) {
            guard let level = levels.last, let name = Name(Array(component)) else { return }
            levels[levels.count - 1].last = name
            let below = level.path.appending(name)
            guard let key = level.entries[name], disk.inodes[key].isDirectory, !below.isReserved,
                !rules.isIgnored(below.bytes, isDirectory: true)
            else { return }
            let depth = levels.count
            enter(key, below, on: &disk)
            if levels.count == depth { return }
        }
    }
}
