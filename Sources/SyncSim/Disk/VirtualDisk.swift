/// The file system of one simulated machine, with the shared folder on it.
///
/// It is there twice: as programs see it, and as a power cut would leave it. `VirtualDisk+Durability` carries state from the
/// first to the second, `VirtualDisk+Crash` throws the difference away in the ways real file systems do.
/// The daemon works through `VirtualDisk+Program`, `+Look`, `+Scan` and `HashRun`, people's programs through `+Users`,
/// the operator through `+Operator`; checkers look through `+Contents`. A copy of the value is an image of the disk.
///
/// This file holds the state and finds names; the few steps from which every change is made are in `+Change`.
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
    /// What the marker of the folder that was set up says.
    let marker: SparseBytes

    var journal = NameJournal()
    /// Numbers every change, so that an ordering file system can lose a tail of them.
    var sequence: UInt64 = 0
    /// Everything up to here was on stable storage after the last sync, on a file system that keeps order.
    var syncedSequence: UInt64 = 0

    var handles = SortedMap<Handle, OpenFile>()
    var nextHandle: UInt64 = 1
    var nextKey: InodeKey = 1
    var freeNumbers: [UInt64] = []
    package internal(set) var usedBytes: UInt64 = 0

    /// The kernel tells who has a file open for writing, and when it is closed.
    package var seesWriters = false

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
        /// Where its directory was when somebody removed it, if it was watched: the watch goes on as long as the file is open.
        var removedDirectory: Path?
    }

    /// A fresh disk with an empty folder that carries its marker, all of it on stable storage.
    package init(device: UInt64, folder: FolderID, now: Timestamp) {
        marker = SparseBytes(folder.digest.bytes)
        home = 1
        mountPoint = 2
        root = 1
        nextKey = 3
        for (key, device) in [(home, device), (mountPoint, device + 1)] {
            let state = Inode.State(mode: 0o755, modified: now, changed: now)
            let inode = Inode(
                number: key.rawValue, device: device, birth: now, kind: .directory, target: [], now: state, safe: state)
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
        walk(path).map { directory, start, inode in
            guard let name = Name(Array(path.bytes[start...])) else {
                preconditionFailure("\(path) ends in no name")
            }
            return Slot(directory: directory, name: name, path: path, inode: inode)
        }
    }

    /// The directory, where the last name begins, and what has it.
    private func walk(_ path: Path) -> DiskReply<(directory: InodeKey, start: Int, inode: InodeKey?)> {
        guard let root else { return .failure(.notFound) }
        guard !path.isRoot else { return .failure(.busy) }
        var directory = root
        var start = 0
        while true {
            let end = path.endOfName(from: start)
            let found = inodes.child(of: directory, path, start..<end)
            if end == path.bytes.count { return .success((directory, start, found)) }
            guard let found else { return .failure(.notFound) }
            // A symlink is never followed, so it is no directory either.
            guard inodes.isDirectory(found) else { return .failure(.notDirectory) }
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
        if !faults.covered.isEmpty, faults.covered.contains(where: { $0.bytes.elementsEqual(path.bytes[..<end]) }) {
            return .crossDevice
        }
        return nil
    }

    /// The inode at a path, the root included; nil if nothing is there.
    func find(_ path: Path) -> DiskReply<InodeKey?> {
        if path.isRoot { return .success(root) }
        switch walk(path) {
        case .success(let end): return .success(end.inode)
        case .failure(.notFound), .failure(.notDirectory): return .success(nil)
        case .failure(let error): return .failure(error)
        }
    }

    /// From the root; nil if the directory is not reached from there.
    func path(of directory: InodeKey) -> Path? {
        var names: [Name] = []
        var current = directory
        while current != root {
            guard inodes.contains(current), let link = inodes[current].links.first else { return nil }
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

extension Path {
    /// Of the name that begins here.
    func endOfName(from start: Int) -> Int {
        var end = start
        while end < bytes.count, bytes[end] != 0x2F { end += 1 }
        return end
    }
}

extension Name {
    /// Below 0 if it comes before the name that is this part of a path, 0 if it is that, and above if it comes after.
    func order(beside path: [UInt8], in part: Range<Int>) -> Int {
        for index in 0..<min(bytes.count, part.count) {
            let (own, other) = (bytes[index], path[part.lowerBound + index])
            if own != other { return own < other ? -1 : 1 }
        }
        return bytes.count - part.count
    }
}
