/// What statx tells of a file, before it becomes a `Stat` of the vocabulary.
import CLinux
import Glibc
import SyncModel

struct Status {
    /// As the kernel numbers it now; see `Device`.
    let device: UInt64
    let inode: UInt64
    let birth: Timestamp
    let kind: FileKind
    let mode: UInt16
    let size: UInt64
    let modified: Timestamp
    let changed: Timestamp
    /// What it takes on the disk: much less than `size` for a file with holes.
    let allocatedBytes: UInt64
    /// Another file system, or another part of this one, is mounted here.
    let isMountPoint: Bool

    static let mask = UInt32(STATX_BASIC_STATS) | UInt32(STATX_BTIME)

    init(_ found: statx) {
        device = UInt64(found.stx_dev_major) << 32 | UInt64(found.stx_dev_minor)
        inode = found.stx_ino
        birth = found.stx_mask & UInt32(STATX_BTIME) == 0 ? .zero : Timestamp(found.stx_btime)
        kind = FileKind(mode: found.stx_mode)
        mode = found.stx_mode & 0o7777
        size = found.stx_size
        modified = Timestamp(found.stx_mtime)
        changed = Timestamp(found.stx_ctime)
        // A file system in user space may say any number.
        allocatedBytes = min(found.stx_blocks, .max / 512) * 512
        isMountPoint = found.stx_attributes & UInt64(STATX_ATTR_MOUNT_ROOT) != 0
    }

    /// The same file of a file system that has been given another device number since.
    func isSameFile(asBefore other: Status) -> Bool {
        device != other.device && inode == other.inode && birth == other.birth && kind == other.kind
    }

    /// The same file, however it was reached.
    func isSameFile(as other: Status) -> Bool {
        device == other.device && inode == other.inode && birth == other.birth && kind == other.kind
    }
}

/// The file system of the folder, under a number that outlives a reboot where there is one. The kernel's own number is
/// given out in the order of mounting (btrfs, LVM): with it, every file of the folder could be a stranger after a
/// reboot.
struct Device {
    let raw: UInt64
    let shown: UInt64
    let isZFS: Bool
    /// A sync of the whole file system is known to be one of every file in it, and to tell of what failed.
    let syncsAsOne: Bool

    init(of root: borrowing Descriptor, _ status: Status) throws(Failure) {
        var id: UInt64 = 0
        var type: UInt64 = 0
        try checked(unsafe clinux_filesystem(root.raw, &id, &type))
        raw = status.device
        shown = id == 0 ? status.device : id
        isZFS = type == CLINUX_ZFS_MAGIC
        syncsAsOne = Device.syncingAsOne.contains(type)
    }

    private static let syncingAsOne: [UInt64] = [
        UInt64(EXT4_SUPER_MAGIC), UInt64(XFS_SUPER_MAGIC), UInt64(BTRFS_SUPER_MAGIC), UInt64(TMPFS_MAGIC),
    ]

    /// `crossDevice` for what belongs to the folder by its path only: the point where something else is mounted, or a
    /// btrfs subvolume. Nothing could be renamed between there and our own directory.
    func stat(_ status: Status) throws(Failure) -> Stat {
        if status.isMountPoint || (status.kind == .directory && status.device != raw) { throw Failure(errno: EXDEV) }
        return statOfRoot(status)
    }

    /// The root itself may be a mount point.
    func statOfRoot(_ status: Status) -> Stat {
        Stat(
            identity: FileIdentity(
                device: status.device == raw ? shown : status.device, inode: status.inode, birth: status.birth),
            kind: status.kind, mode: status.mode, size: status.size, modified: status.modified,
            changed: status.changed)
    }
}

extension FileKind {
    init(mode: UInt16) {
        switch UInt32(mode) & Glibc.S_IFMT {
        case Glibc.S_IFREG: self = .file
        case Glibc.S_IFDIR: self = .directory
        case Glibc.S_IFLNK: self = .symlink
        default: self = .special
        }
    }
}

extension Timestamp {
    init(_ time: statx_timestamp) {
        self.init(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }
}
