/// The file system of one simulated machine, with the shared folder on it.
///
/// It is there twice: as programs see it, and as a power cut would leave it. `VirtualDisk+Durability` carries state from the
/// first to the second, `VirtualDisk+Crash` throws the difference away in the ways real file systems do.
/// The daemon works through `VirtualDisk+Program`, `+Look`, `+Scan` and `HashRun`, people's programs through `+Users`,
/// the operator through `+Operator`; checkers look through `+Contents`. A copy of the value is an image of the disk.
///
/// This file holds the state and the few steps from which all of them are made: find a name, make an inode, change a name.
import SyncCore
package import SyncModel

package struct VirtualDisk: Sendable {
    package var faults = DiskFaults()
    /// The kernel's own clock, set by the world as its time goes on. The age of un-synced state is measured with it, so
    /// that a step of the wall clock neither keeps nor hurries it.
    package var uptimeMilliseconds: UInt64 = 0

    var inodes = InodeTable()
    /// Where the path of the shared folder leads; nil if nowhere.
    var root: InodeKey?
    /// The root directory that was set up, also while something else stands in its place.
    let home: InodeKey
    /// What is found while the file system of the folder is not mounted.
    let mountPoint: InodeKey
    /// What this folder was set up with; the marker says the same on the disk.
    let folder: FolderID

    var journal = NameJournal()
    /// Numbers every change, so that an ordering file system can lose a tail of them.
    var sequence: UInt64 = 0
    /// Everything up to here was on stable storage after the last sync, on a file system that keeps order.
    var syncedSequence: UInt64 = 0

    var handles = SortedMap<Handle, OpenFile>()
    var nextHandle: UInt64 = 1
    var nextKey: InodeKey = 1
    var freeNumbers: [UInt64] = []
    package private(set) var usedBytes: UInt64 = 0

    var notices: [Notice] = []
    var noticesOverflowed = false
    var isWatching = false

    /// A file that a program has open. Handles outlive every name of the file.
    package struct Handle: Hashable, Comparable, Sendable {
        let raw: UInt64

        package static func < (left: Handle, right: Handle) -> Bool { left.raw < right.raw }
    }

    struct OpenFile: Sendable {
        let inode: InodeKey
        /// The name it was opened by, wherever that has moved since: notices about the file carry it.
        var link: Inode.Link
    }

    /// A fresh disk with an empty folder that carries its marker, all of it on stable storage.
    package init(device: UInt64, folder: FolderID, now: Timestamp) {
        self.folder = folder
        home = 1
        mountPoint = 2
        root = 1
        nextKey = 3
        for (key, device) in [(home, device), (mountPoint, device + 1)] {
            let state = Inode.State(mode: 0o755, modified: now, changed: now)
            let inode = Inode(
                number: key, device: device, birth: now, kind: .directory, target: [], now: state, safe: state)
            inodes.add(inode, key)
        }
        layOut(marker: folder, in: home, now: now)
        syncEverything()
    }

    /// The daemon's own directory below a root.
    mutating func layOut(marker: FolderID, in root: InodeKey, now: Timestamp) {
        let own = makeDirectory(.known(".syncd"), in: root, mode: 0o700, now: now)
        let file = makeInode(.file, mode: 0o600, in: own, now: now)
        enter(file, .known("folder-id"), in: own, now: now)
        put(marker.digest.bytes, at: 0, in: file, now: now)
        for name in ["quarantine", "stage", "versions"] {
            makeDirectory(.known(name), in: own, mode: 0o700, now: now)
        }
    }
}

extension Name {
    /// For names that stand in this program: a mistake in one of them stops it at once.
    static func known(_ text: String) -> Name {
        guard let name = Name(text) else { preconditionFailure("\(text) is no name: correct it where it is written") }
        return name
    }
}

// Finding
extension VirtualDisk {
    /// A name in a directory that is there, whether or not the name is.
    struct Slot {
        let directory: InodeKey
        let name: Name
        /// From the root; begins with `.syncd` for our own files.
        let path: Path
        let inode: InodeKey?
    }

    /// The place a path names. The root itself has no name and is no slot.
    func slot(_ path: Path) -> DiskReply<Slot> {
        guard let root else { return .failure(.notFound) }
        guard !path.isRoot else { return .failure(.busy) }
        var directory = root
        var start = 0
        let bytes = path.bytes
        while true {
            var end = start
            while end < bytes.count, bytes[end] != 0x2F { end += 1 }
            guard let name = Name(Array(bytes[start..<end])) else { return .failure(.notFound) }
            let found = inodes[directory].entries[name]
            if end == bytes.count { return .success(Slot(directory: directory, name: name, path: path, inode: found)) }
            guard let found else { return .failure(.notFound) }
            // A symlink is never followed, so it is no directory either.
            guard inodes[found].isDirectory else { return .failure(.notDirectory) }
            if let denied = denial(at: path, upTo: end) { return .failure(denied) }
            directory = found
            start = end + 1
        }
    }

    /// Why nothing behind this leading part of a path can be reached.
    private func denial(at path: Path, upTo end: Int) -> DiskError? {
        if !faults.permissionDenied.isEmpty,
            faults.permissionDenied.contains(where: { $0.bytes.elementsEqual(path.bytes[..<end]) })
        {
            return .permission
        }
        if !faults.readErrors.paths.isEmpty,
            faults.readErrors.paths.contains(where: { $0.bytes.elementsEqual(path.bytes[..<end]) })
        {
            return .inputOutput
        }
        return nil
    }

    /// The inode at a path, the root included; nil if nothing is there.
    func find(_ path: Path) -> DiskReply<InodeKey?> {
        if path.isRoot { return .success(root) }
        switch slot(path) {
        case .success(let slot): return .success(slot.inode)
        case .failure(.notFound), .failure(.notDirectory): return .success(nil)
        case .failure(let error): return .failure(error)
        }
    }

    /// From the root; nil if the directory is not reached from there.
    func path(of directory: InodeKey) -> Path? {
        var names: [Name] = []
        var current = directory
        while current != root {
            guard let link = inodes[current].links.first else { return nil }
            names.append(link.name)
            current = link.directory
        }
        var path = Path.root
        for name in names.reversed() { path = path.appending(name) }
        return path
    }

    /// True if `key` is `ancestor` or lies in it.
    func isWithin(_ key: InodeKey, _ ancestor: InodeKey) -> Bool {
        var current = key
        while current != ancestor {
            guard let link = inodes[current].links.first else { return false }
            current = link.directory
        }
        return true
    }
}

// Changing. Each of these does one thing to the state that programs see, and notes what is to be synced for it.
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
        nextKey += 1
        var number = key
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
        guard !handles.contains(where: { $0.value.inode == key }) else { return }
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
        for number in 1..<nextKey {
            if next == taken.count || taken[next] != number { freeNumbers.append(number) }
            while next < taken.count, taken[next] == number { next += 1 }
        }
    }
}
