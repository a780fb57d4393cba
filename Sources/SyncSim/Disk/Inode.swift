/// One file, directory or symlink of the virtual disk, twice: as programs see it now, and as a power cut would leave it.
import SyncModel

/// The disk's own name for an inode: given once and never again, unlike the inode number that programs see.
struct InodeKey: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    let rawValue: UInt64

    init(_ rawValue: UInt64) { self.rawValue = rawValue }
    init(integerLiteral value: UInt64) { self.init(value) }

    var next: InodeKey { InodeKey(rawValue + 1) }
    var description: String { "\(rawValue)" }

    static func < (left: InodeKey, right: InodeKey) -> Bool { left.rawValue < right.rawValue }
}

struct Inode: Sendable {
    /// What `stat` reports.
    let number: UInt64
    let device: UInt64
    let birth: Timestamp
    let kind: FileKind
    /// Of a symlink.
    let target: [UInt8]

    var now: State
    var safe: State
    /// How `now` differs from `safe`; nil if the kernel has nothing left to write for this inode.
    var unsynced: Unsynced?
    /// A failed fsync has dropped pages: what `safe` lacks is never written again unless it is written anew.
    var hasLostPages = false
    /// Programs can not reach it any more; only a crash could bring it back.
    var isFreed = false

    /// Of a directory: the names as seen now and the names on stable storage.
    var entries = SortedMap<Name, InodeKey>()
    var safeEntries = SortedMap<Name, InodeKey>()
    /// Of a directory: the watcher reports what happens to its entries.
    var isWatched = false

    /// The names of this inode as seen now.
    var links: [Link] = []
    /// How many names it has on stable storage.
    var safeLinkCount = 0

    /// All that syncing an inode makes durable. Names belong to directories.
    struct State: Sendable {
        var mode: UInt16
        var modified: Timestamp
        var changed: Timestamp
        var content = SparseBytes()
    }

    struct Link: Hashable, Sendable {
        let directory: InodeKey
        let name: Name
    }

    struct Unsynced: Sendable {
        /// The kernel's uptime when the first of these changes was made.
        let sinceMilliseconds: UInt64
        /// The place of the last of them in the order of all changes to the disk.
        var sequence: UInt64
        /// The smallest length the file has had meanwhile: synced bytes beyond it are no longer promised.
        var lowSize: UInt64
        var dirty = ByteRanges()
        var atRename: AtRename?
    }

    /// What an ordering file system has written before the last rename of the file.
    struct AtRename: Sendable {
        let sequence: UInt64
        let state: State
        /// The smallest length of the file since then.
        var lowSize: UInt64
    }

    var isDirectory: Bool { kind == .directory }

    @inline(__always) var stat: Stat { stat(of: now) }

    @inline(__always)
    func stat(of state: State) -> Stat {
        Stat(
            identity: FileIdentity(device: device, inode: number, birth: birth), kind: kind, mode: state.mode,
            size: size(of: state), modified: state.modified, changed: state.changed)
    }

    @inline(__always)
    private func size(of state: State) -> UInt64 {
        switch kind {
        case .file: state.content.size
        case .symlink: UInt64(target.count)
        // What Linux says of a small one; nobody may depend on it.
        case .directory: 4_096
        case .special: 0
        }
    }

    /// What a sync would make durable now.
    var syncable: State {
        var copy = self
        copy.makeSafe()
        return copy.safe
    }

    /// Brings everything written since the last sync to stable storage, pages that were dropped excepted.
    mutating func makeSafe() {
        guard let unsynced else { return }
        if hasLostPages {
            settle(unsynced, keepingPages: true)
        } else {
            safe = now
        }
        self.unsynced = nil
    }

    mutating func noteLength(_ size: UInt64) {
        guard var unsynced else { return }
        unsynced.lowSize = min(unsynced.lowSize, size)
        unsynced.dirty.clip(to: size)
        if let low = unsynced.atRename?.lowSize { unsynced.atRename?.lowSize = min(low, size) }
        self.unsynced = unsynced
    }

    /// What a failed fsync does: the inode itself is written, the pages are marked clean without having been.
    mutating func dropPages() {
        guard let unsynced else { return }
        settle(unsynced, keepingPages: false)
        hasLostPages = true
        self.unsynced = nil
    }

    private mutating func settle(_ unsynced: Unsynced, keepingPages: Bool) {
        var content = safe.content
        content.truncate(to: min(unsynced.lowSize, content.size))
        content.truncate(to: now.content.size)
        if keepingPages {
            for range in unsynced.dirty.ranges { content.adopt(range, of: now.content) }
        }
        safe = now
        safe.content = content
    }
}
