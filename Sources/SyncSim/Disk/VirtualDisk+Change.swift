/// The steps from which every change to the virtual disk is made. Each does one thing to the state that programs see, and
/// notes what has to be synced for it.
import SyncModel

extension VirtualDisk {
    /// What an inode takes on the disk besides its data.
    static let inodeBytes: UInt64 = 256

    func hasRoom(for bytes: UInt64) -> Bool {
        guard let capacity = faults.capacityBytes else { return true }
        return usedBytes + bytes <= capacity
    }

    /// An inode without a name; `enter` gives it one.
    mutating func makeInode(
        _ kind: FileKind, mode: UInt16, in directory: InodeKey, target: [UInt8] = [], now: Timestamp
    ) -> InodeKey {
        let key = nextKey
        nextKey = nextKey.next
        var number = key.rawValue
        if faults.reusesInodes, let lowest = freeNumbers.first {
            number = lowest
            freeNumbers.removeFirst()
        }
        let stamp = faults.stamp(now)
        let state = Inode.State(mode: mode & 0o777, modified: stamp, changed: stamp)
        let inode = Inode(
            number: number, device: inodes[directory].device, birth: stamp, kind: kind, target: target, now: state,
            safe: state)
        inodes.add(inode, key)
        usedBytes += VirtualDisk.inodeBytes
        return key
    }

    @discardableResult
    mutating func makeDirectory(_ name: Name, in directory: InodeKey, mode: UInt16, now: Timestamp) -> InodeKey {
        let key = makeInode(.directory, mode: mode, in: directory, now: now)
        enter(key, name, in: directory, now: now)
        return key
    }

    /// A first or a further name for an inode.
    mutating func enter(_ key: InodeKey, _ name: Name, in directory: InodeKey, now: Timestamp) {
        let isNew = inodes[key].links.isEmpty
        set(name, in: directory, to: key)
        bump(directory, now)
        if !isNew { touch(key, now) }
        record(
            .plain, [.init(directory: directory, name: name, inode: key)], objects: [key], now: now,
            made: isNew && inodes[key].isDirectory ? key : nil)
    }

    mutating func removeName(_ slot: Slot, now: Timestamp) {
        guard let key = slot.inode else { return }
        clear(slot.name, in: slot.directory)
        bump(slot.directory, now)
        touch(key, now)
        record(
            .plain, [.init(directory: slot.directory, name: slot.name, inode: nil)], objects: [key], now: now,
            removed: inodes[key].isDirectory ? key : nil)
        release(key)
    }

    /// rename(2): what stood at the target loses that name.
    mutating func rename(_ source: Slot, to target: Slot, now: Timestamp) {
        guard let key = source.inode else { return }
        noteRename(of: key)
        let replaced = target.inode
        if replaced != nil { clear(target.name, in: target.directory) }
        clear(source.name, in: source.directory)
        set(target.name, in: target.directory, to: key)
        moveHandles(of: key, from: source, to: target)
        bump(source.directory, now)
        bump(target.directory, now)
        touch(key, now)
        if let replaced { touch(replaced, now) }
        record(
            .rename,
            [
                .init(directory: target.directory, name: target.name, inode: key),
                .init(directory: source.directory, name: source.name, inode: nil),
            ],
            objects: [key] + (replaced.map { [$0] } ?? []), now: now,
            removed: replaced.flatMap { inodes[$0].isDirectory ? $0 : nil },
            reparents: inodes[key].isDirectory && source.directory != target.directory)
        if let replaced { release(replaced) }
    }

    mutating func exchange(_ left: Slot, _ right: Slot, now: Timestamp) {
        guard let first = left.inode, let second = right.inode, first != second else { return }
        noteRename(of: first)
        noteRename(of: second)
        clear(left.name, in: left.directory)
        clear(right.name, in: right.directory)
        set(left.name, in: left.directory, to: second)
        set(right.name, in: right.directory, to: first)
        moveHandles(of: first, from: left, to: right)
        moveHandles(of: second, from: right, to: left)
        bump(left.directory, now)
        bump(right.directory, now)
        touch(first, now)
        touch(second, now)
        record(
            .exchange,
            [
                .init(directory: left.directory, name: left.name, inode: second),
                .init(directory: right.directory, name: right.name, inode: first),
            ],
            objects: [first, second], now: now,
            reparents: left.directory != right.directory && (inodes[first].isDirectory || inodes[second].isDirectory))
    }

    mutating func put(_ bytes: [UInt8], at offset: UInt64, in key: InodeKey, now: Timestamp) {
        let stamp = faults.stamp(now)
        var added: UInt64 = 0
        change(key) { inode in
            added = inode.now.content.unallocated(at: offset, count: bytes.count)
            inode.now.content.write(bytes, at: offset)
            inode.now.modified = stamp
            inode.now.changed = stamp
            inode.unsynced?.dirty.insert(offset..<(offset + UInt64(bytes.count)))
        }
        usedBytes += added
    }

    mutating func cut(_ key: InodeKey, to size: UInt64, now: Timestamp) {
        let stamp = faults.stamp(now)
        var freed: UInt64 = 0
        change(key) { inode in
            let before = inode.now.content.allocatedBytes
            inode.now.content.truncate(to: size)
            freed = before - inode.now.content.allocatedBytes
            inode.now.modified = stamp
            inode.now.changed = stamp
            inode.noteLength(size)
        }
        usedBytes -= freed
    }

    mutating func setMode(_ key: InodeKey, _ mode: UInt16, now: Timestamp) {
        let stamp = faults.stamp(now)
        change(key) { inode in
            inode.now.mode = mode & 0o777
            inode.now.changed = stamp
        }
    }

    mutating func setModified(_ key: InodeKey, _ time: Timestamp, now: Timestamp) {
        let (stored, stamp) = (faults.stored(time), faults.stamp(now))
        change(key) { inode in
            inode.now.modified = stored
            inode.now.changed = stamp
        }
    }

    /// An inode that neither a name nor a handle nor a crash can lead to any more is gone.
    mutating func release(_ key: InodeKey) {
        guard inodes.contains(key), inodes[key].links.isEmpty, key != home, key != mountPoint, key != root else {
            return
        }
        guard !isOpen(key) else { return }
        if !inodes[key].isFreed {
            inodes[key].isFreed = true
            usedBytes -= VirtualDisk.inodeBytes + inodes[key].now.content.allocatedBytes
            if faults.reusesInodes {
                let number = inodes[key].number
                freeNumbers.insert(number, at: freeNumbers.firstIndex { $0 > number } ?? freeNumbers.count)
            }
        }
        if inodes[key].safeLinkCount == 0, !journal.mentions(key) { inodes.remove(key) }
    }
}

// The steps of those steps.
extension VirtualDisk {
    private mutating func set(_ name: Name, in directory: InodeKey, to key: InodeKey) {
        inodes[directory].entries[name] = key
        inodes[key].links.append(Inode.Link(directory: directory, name: name))
    }

    private mutating func clear(_ name: Name, in directory: InodeKey) {
        guard let key = inodes[directory].entries[name] else { return }
        inodes[directory].entries[name] = nil
        inodes.update(key) { inode in
            inode.links.removeAll { $0.directory == directory && $0.name == name }
        }
    }

    /// A change to an inode that a sync of this inode will make durable.
    private mutating func change(_ key: InodeKey, _ body: (inout Inode) -> Void) {
        sequence += 1
        let (sequence, uptime) = (sequence, uptimeMilliseconds)
        inodes.update(key) { inode in
            if inode.unsynced == nil {
                inode.unsynced = Inode.Unsynced(
                    sinceMilliseconds: uptime, sequence: sequence, lowSize: inode.now.content.size)
            }
            inode.unsynced?.sequence = sequence
            body(&inode)
        }
    }

    private mutating func bump(_ directory: InodeKey, _ now: Timestamp) {
        let stamp = faults.stamp(now)
        change(directory) { inode in
            inode.now.modified = stamp
            inode.now.changed = stamp
        }
    }

    private mutating func touch(_ key: InodeKey, _ now: Timestamp) {
        let stamp = faults.stamp(now)
        change(key) { $0.now.changed = stamp }
    }

    /// Before a rename of a file with un-synced data: ordering file systems write that data first.
    private mutating func noteRename(of key: InodeKey) {
        let sequence = sequence
        inodes.update(key) { inode in
            guard inode.kind == .file, var unsynced = inode.unsynced else { return }
            unsynced.atRename = Inode.AtRename(
                sequence: sequence, state: inode.syncable, lowSize: inode.now.content.size)
            inode.unsynced = unsynced
        }
    }

    private mutating func moveHandles(of key: InodeKey, from source: Slot, to target: Slot) {
        guard !handles.isEmpty else { return }
        let old = Inode.Link(directory: source.directory, name: source.name)
        let new = Inode.Link(directory: target.directory, name: target.name)
        for (handle, file) in handles where file.inode == key && file.link == old {
            handles.update(handle) { $0.link = new }
        }
    }

    private mutating func record(
        _ kind: NameOperation.Kind, _ changes: [NameOperation.Change], objects: [InodeKey], now: Timestamp,
        made: InodeKey? = nil, removed: InodeKey? = nil, reparents: Bool = false
    ) {
        sequence += 1
        journal.append(
            NameOperation(
                sequence: sequence, uptimeMilliseconds: uptimeMilliseconds, stamp: faults.stamp(now), kind: kind,
                changes: changes, objects: objects.map { .init(key: $0, number: inodes[$0].number) }, made: made,
                removed: removed, reparents: reparents))
    }

    /// After a crash: counts anew what stands on the disk.
    mutating func recount() {
        usedBytes = 0
        for key in inodes.keys where key != home && key != mountPoint {
            usedBytes += VirtualDisk.inodeBytes + inodes[key].now.content.allocatedBytes
        }
        freeNumbers = []
        guard faults.reusesInodes else { return }
        let taken = inodes.keys.map { inodes[$0].number }.sorted()
        var next = 0
        for number in 1..<nextKey.rawValue {
            if next == taken.count || taken[next] != number { freeNumbers.append(number) }
            while next < taken.count, taken[next] == number { next += 1 }
        }
    }
}
