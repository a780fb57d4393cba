package import SyncModel

/// How the judge looks at one path of a virtual disk: past all faults, without a trace. Whole trees are in `+Contents`.
extension VirtualDisk {
    /// What stands at a place, in the folder's own file system as it is mounted now.
    package func value(at place: Place) -> Value { value(at: VirtualDisk.path(of: place)) }

    package func value(at path: Path) -> Value {
        guard let key = key(at: path) else { return .absent }
        return inodes.look(at: key) { $0.value }
    }

    /// What stands at a path together with its stat; nil for nothing.
    package func peek(_ path: Path) -> (value: Value, stat: Stat)? {
        guard let key = key(at: path) else { return nil }
        return inodes.look(at: key) { ($0.value, $0.stat) }
    }

    /// The disk as if the folder were in its place: a disaster strikes it wherever it is.
    package var atHome: VirtualDisk {
        var disk = self
        disk.mount()
        return disk
    }

    /// Its bytes or its name have not reached the disk. (Not where somebody has written to it since, or a sync of it has failed.)
    package func mayBeLost(_ version: KeptVersion) -> Bool {
        let path = VirtualDisk.path(of: version.place)
        guard let stat = peekStat(path), stat.isSameContent(as: version.stat) else { return false }
        return !isSettled(path, orSpoilt: true)
    }

    /// Without looking at bytes.
    package func peekStat(_ path: Path) -> Stat? { key(at: path).map { inodes.stat(of: $0) } }

    package func peekBytes(_ path: Path) -> [UInt8]? {
        guard let key = key(at: path), inodes[key].kind == .file else { return nil }
        return inodes[key].now.content.bytes
    }

    package func peekTarget(_ path: Path) -> [UInt8]? {
        guard let key = key(at: path), inodes[key].kind == .symlink else { return nil }
        return inodes[key].target
    }

    /// Everything below a directory, in path order, the directory itself left out.
    package func values(below directory: Path) -> SortedMap<Path, Value> {
        var result: SortedMap<Path, Value> = [:]
        if let key = key(at: directory) { collect(key, directory, into: &result) }
        return result
    }

    /// A directory that is out of its place, and everything in it, as if it stood at `path`.
    package func directoryValues(at place: Place, as path: Path) -> SortedMap<Path, Value> {
        guard let key = key(at: VirtualDisk.path(of: place)), inodes[key].isDirectory else { return [:] }
        var result: SortedMap<Path, Value> = [path: .directory]
        collect(key, path, into: &result)
        return result
    }

    /// The whole synced tree, `.syncd` left out.
    package var treeValues: SortedMap<Path, Value> { values(below: .root) }

    /// All names that the file at a path has, our own directories included: writing to one changes them all.
    package func names(ofFileAt path: Path) -> [Path] {
        guard let key = key(at: path), [.file, .symlink].contains(inodes[key].kind) else { return [path] }
        let names = inodes[key].links.compactMap { link in
            self.path(of: link.directory).map { $0.appending(link.name) }
        }
        return names.isEmpty ? [path] : names.sorted()
    }

    /// Every name an open file has now, our own directories included; none if it is gone but for the handle.
    package func names(ofOpen handle: Handle) -> [Path] {
        guard let file = handles[handle] else { return [] }
        return inodes[file.inode].links.compactMap { link in
            self.path(of: link.directory).map { $0.appending(link.name) }
        }.sorted()
    }

    /// Values on stable storage that no power cut can take from their path: nothing un-synced is done to them.
    package var safeValues: SortedMap<Path, Value> {
        var result: SortedMap<Path, Value> = [:]
        for (path, entry) in durableTree() {
            let value = Value(entry)
            // The same value may stand here in another file that has not reached the disk.
            if value == self.value(at: path), isSettled(path) { result[path] = value }
        }
        return result
    }

    /// The values that exist anywhere on this machine, set aside or not.
    package var allValues: [Value] { allContents().map { Value($0.entry) } }

    private func key(at path: Path) -> InodeKey? {
        guard var current = root else { return nil }
        var start = 0
        while start < path.bytes.count {
            let end = path.endOfName(from: start)
            guard let next = inodes.child(of: current, path, start..<end) else { return nil }
            current = next
            start = end + 1
        }
        return current
    }

    private func collect(_ key: InodeKey, _ path: Path, into result: inout SortedMap<Path, Value>) {
        for (name, child) in inodes[key].entries {
            let below = path.appending(name)
            if below.isReserved { continue }
            let value = inodes.look(at: child) { $0.value }
            result.append(value, forKey: below)
            if value == .directory { collect(child, below, into: &result) }
        }
    }
}

extension Inode {
    @inline(__always)
    fileprivate var value: Value {
        switch kind {
        case .file: .file(now.content.bytes)
        case .directory: .directory
        case .symlink: .symlink(to: target)
        case .special: .special
        }
    }
}

extension Value {
    package init(_ entry: VirtualEntry) {
        switch entry.content {
        case .file(let content): self = .file(content.bytes)
        case .directory: self = .directory
        case .symlink(let target): self = .symlink(to: target)
        case .special: self = .special
        }
    }
}
