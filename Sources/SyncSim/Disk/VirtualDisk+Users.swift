/// What people's programs do with the folder: the calls they make, with the results of POSIX. Nil is success.
/// Each change is told to the watcher.
import SyncCore
package import SyncModel

// Open files
extension VirtualDisk {
    /// For writing. The handle stays with the file through renames and removals.
    package mutating func open(
        _ path: Path, create: Bool = false, truncate: Bool = false, now: Timestamp
    ) -> DiskReply<Handle> {
        switch slot(path) {
        case .failure(let error): return .failure(error)
        case .success(let slot):
            var found = slot.inode
            if found == nil {
                guard create else { return .failure(.notFound) }
                if let error = make(.file, slot, mode: 0o644, target: [], now: now) { return .failure(error) }
                found = inodes[slot.directory].entries[slot.name]
            }
            guard let key = found else { return .failure(.notFound) }
            if let error = refusalToWrite(key, at: path, end: 0) { return .failure(error) }
            let handle = Handle(raw: nextHandle)
            nextHandle += 1
            handles[handle] = OpenFile(inode: key, link: .init(directory: slot.directory, name: slot.name))
            if truncate, slot.inode != nil {
                cut(key, to: 0, now: now)
                notice(.writing, slot)
            }
            return .success(handle)
        }
    }

    @discardableResult
    package mutating func write(_ handle: Handle, at offset: UInt64, _ bytes: [UInt8], now: Timestamp) -> DiskError? {
        guard let file = handles[handle] else { return .notFound }
        if let error = fill(file.inode, at: name(of: file), bytes, offset: offset, now: now) { return error }
        if !bytes.isEmpty { noticeOpen(.writing, file) }
        return nil
    }

    @discardableResult
    package mutating func truncate(_ handle: Handle, to size: UInt64, now: Timestamp) -> DiskError? {
        guard let file = handles[handle] else { return .notFound }
        if let error = refusalToWrite(file.inode, at: name(of: file), end: size) { return error }
        cut(file.inode, to: size, now: now)
        noticeOpen(.writing, file)
        return nil
    }

    /// A person who is told that it failed saves again. Pages that are dropped for good are known to the one who asked
    /// and to nobody else: a power cut long after takes them without a trace in any stat, and no daemon could tell.
    @discardableResult
    package mutating func sync(_ handle: Handle) -> DiskError? {
        guard let file = handles[handle] else { return .notFound }
        return syncInode(file.inode, at: name(of: file), keepingPages: true)
    }

    package mutating func close(_ handle: Handle) {
        guard let file = handles.removeValue(forKey: handle) else { return }
        noticeOpen(seesWriters ? .closed : .touched, file)
        release(file.inode)
    }

    func isOpen(_ key: InodeKey) -> Bool { handles.contains { $0.value.inode == key } }

    /// Where an open file is now; nil if it has no name in the folder any more.
    package func path(of handle: Handle) -> Path? {
        guard let file = handles[handle], inodes[file.inode].links.contains(file.link) else { return nil }
        return path(of: file.link.directory).map { $0.appending(file.link.name) }
    }

    /// For faults that are set by path; an open file without a name is hit by none of them.
    private func name(of file: OpenFile) -> Path {
        path(of: file.link.directory).map { $0.appending(file.link.name) } ?? .root
    }
}

// Files and names
extension VirtualDisk {
    /// Truncates and writes in place, as `echo >` does.
    @discardableResult
    package mutating func writeFile(_ path: Path, _ bytes: [UInt8], now: Timestamp) -> DiskError? {
        switch open(path, create: true, truncate: true, now: now) {
        case .failure(let error): return error
        case .success(let handle):
            let error = write(handle, at: 0, bytes, now: now)
            close(handle)
            return error
        }
    }

    /// rename(2): replaces what is at the target, if it may.
    @discardableResult
    package mutating func rename(_ source: Path, to target: Path, now: Timestamp) -> DiskError? {
        onExisting(source) { disk, from, key in
            let to: Slot
            switch disk.slot(target) {
            case .failure(let error): return error
            case .success(let slot): to = slot
            }
            let isDirectory = disk.inodes[key].isDirectory
            if disk.isWithin(to.directory, key) { return .unsupported }
            if let replaced = to.inode {
                if replaced == key { return nil }
                let other = disk.inodes[replaced]
                if isDirectory != other.isDirectory { return isDirectory ? .notDirectory : .isDirectory }
                if !other.entries.isEmpty { return .notEmpty }
            }
            if let error = disk.obstacle(to: source) ?? disk.obstacle(to: target) { return error }
            disk.rename(from, to: to, now: now)
            disk.notice(.gone, from)
            disk.notice(.touched, to)
            return nil
        }
    }

    @discardableResult
    package mutating func link(_ source: Path, _ target: Path, now: Timestamp) -> DiskError? {
        onExisting(source) { disk, _, key in
            if disk.inodes[key].isDirectory { return .permission }
            return disk.onVacant(target) { disk, slot in
                if let error = disk.obstacle(to: target) { return error }
                disk.enter(key, slot.name, in: slot.directory, now: now)
                disk.notice(.touched, slot)
                return nil
            }
        }
    }

    @discardableResult
    package mutating func unlink(_ path: Path, now: Timestamp) -> DiskError? {
        onExisting(path) { disk, slot, key in
            if disk.inodes[key].isDirectory { return .isDirectory }
            if let error = disk.obstacle(to: path) { return error }
            disk.removeName(slot, now: now)
            disk.notice(.gone, slot)
            return nil
        }
    }

    @discardableResult
    package mutating func mkdir(_ path: Path, mode: UInt16 = 0o755, now: Timestamp) -> DiskError? {
        onVacant(path) { $0.make(.directory, $1, mode: mode, target: [], now: now) }
    }

    @discardableResult
    package mutating func rmdir(_ path: Path, now: Timestamp) -> DiskError? {
        onExisting(path) { $0.removeDirectory($1, $2, now: now) }
    }

    @discardableResult
    package mutating func symlink(_ path: Path, target: [UInt8], now: Timestamp) -> DiskError? {
        if target.isEmpty { return .notFound }
        if target.count > Limits.symlinkBytesMax { return .nameTooLong }
        return onVacant(path) { $0.make(.symlink, $1, mode: 0o777, target: target, now: now) }
    }

    @discardableResult
    package mutating func mkfifo(_ path: Path, now: Timestamp) -> DiskError? {
        onVacant(path) { $0.make(.special, $1, mode: 0o644, target: [], now: now) }
    }

    @discardableResult
    package mutating func chmod(_ path: Path, _ mode: UInt16, now: Timestamp) -> DiskError? {
        onExisting(path) { disk, slot, key in
            if let error = disk.obstacle(to: path) { return error }
            if disk.inodes[key].kind == .symlink { return .unsupported }
            disk.setMode(key, mode, now: now)
            disk.notice(.touched, slot)
            return nil
        }
    }

    @discardableResult
    package mutating func setTimes(_ path: Path, modified: Timestamp, now: Timestamp) -> DiskError? {
        onExisting(path) { disk, slot, key in
            if let error = disk.obstacle(to: path) { return error }
            disk.setModified(key, modified, now: now)
            disk.notice(.touched, slot)
            return nil
        }
    }

    /// `rm -r`: from the inside out; goes on where one removal fails, and tells of the first failure.
    @discardableResult
    package mutating func removeTree(_ path: Path, now: Timestamp) -> DiskError? {
        guard kind(path) == .directory else { return unlink(path, now: now) }
        var failure: DiskError?
        for name in list(path) {
            let error = removeTree(path.appending(name), now: now)
            failure = failure ?? error
        }
        let error = rmdir(path, now: now)
        return failure ?? error
    }

    /// `fsync` of a directory.
    @discardableResult
    package mutating func syncDirectory(_ path: Path) -> DiskError? {
        guard case .success(.some(let key)) = find(path) else { return .notFound }
        return inodes[key].isDirectory ? syncDirectory(key, at: path) : .notDirectory
    }
}

// Looking
extension VirtualDisk {
    /// Nil if there is no file that can be read.
    package mutating func readFile(_ path: Path) -> [UInt8]? {
        guard case .success(.some(let key)) = find(path), inodes[key].kind == .file, obstacleToRead(path) == nil else {
            return nil
        }
        return inodes[key].now.content.bytes
    }

    /// The names in a directory, in order; none if it is not one.
    package func list(_ path: Path) -> [Name] {
        guard case .success(.some(let key)) = find(path) else { return [] }
        return inodes[key].entries.map { $0.key }
    }

    package func kind(_ path: Path) -> FileKind? {
        guard case .success(.some(let key)) = find(path) else { return nil }
        return inodes[key].kind
    }

    package func exists(_ path: Path) -> Bool { kind(path) != nil }

    /// As `stat` of the daemon, for any path.
    package func stat(_ path: Path) -> Stat? {
        guard case .success(.some(let key)) = find(path) else { return nil }
        return inodes[key].stat
    }
}

extension VirtualDisk {
    private mutating func onExisting(
        _ path: Path, _ body: (inout VirtualDisk, Slot, InodeKey) -> DiskError?
    ) -> DiskError? {
        switch slot(path) {
        case .failure(let error): return error
        case .success(let slot):
            guard let key = slot.inode else { return .notFound }
            return body(&self, slot, key)
        }
    }

    private mutating func onVacant(_ path: Path, _ body: (inout VirtualDisk, Slot) -> DiskError?) -> DiskError? {
        switch slot(path) {
        case .failure(let error): return error
        case .success(let slot): return slot.inode == nil ? body(&self, slot) : .exists
        }
    }
}
