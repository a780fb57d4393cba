/// What a disk tells about a path without reading its content.

public enum FileKind: UInt8, Sendable {
    case file = 1
    case directory = 2
    case symlink = 3
    /// FIFO, socket or device: reported once, never opened, never synced.
    case special = 4
}

/// A file as such, whatever it is called: survives a rename, not a re-creation.
public struct FileIdentity: Hashable, Comparable, Sendable {
    public let device: UInt64
    public let inode: UInt64
    public let birth: Timestamp

    public init(device: UInt64, inode: UInt64, birth: Timestamp) {
        self.device = device
        self.inode = inode
        self.birth = birth
    }

    /// No other file can ever have it: births are known, and so finely that an inode is not used again within one of their steps.
    public var isUnique: Bool { birth.nanoseconds % 10_000_000 != 0 }

    public static func < (left: FileIdentity, right: FileIdentity) -> Bool {
        (left.device, left.inode, left.birth) < (right.device, right.inode, right.birth)
    }
}

public struct Stat: Hashable, Sendable {
    public var identity: FileIdentity
    public var kind: FileKind
    public var mode: UInt16
    public var size: UInt64
    public var modified: Timestamp
    public var changed: Timestamp

    public init(
        identity: FileIdentity, kind: FileKind, mode: UInt16, size: UInt64, modified: Timestamp, changed: Timestamp
    ) {
        self.identity = identity
        self.kind = kind
        self.mode = mode & 0o777
        self.size = size
        self.modified = modified
        self.changed = changed
    }

    /// True if nothing has touched the file between the two looks. A directory's size is its own affair.
    public func isUntouched(since other: Stat) -> Bool {
        isSameContent(as: other) && changed == other.changed && mode == other.mode
    }

    /// True if at a look some time in `wallMilliseconds` the file was so freshly changed that one more change after it might
    /// not show in its times. A file system that stamps whole seconds or hundredths is told by its digits.
    public func isFresh(during wallMilliseconds: ClosedRange<Int64>) -> Bool {
        let (first, isBefore) = wallMilliseconds.lowerBound.subtractingReportingOverflow(grainMilliseconds)
        let (last, isAfter) = wallMilliseconds.upperBound.addingReportingOverflow(grainMilliseconds)
        return !isBefore && !isAfter && first < changed.milliseconds && changed.milliseconds < last
    }

    /// How long two changes may carry the same stamp, generously: ticks of the kernel are 10 ms at most.
    public var grainMilliseconds: Int64 { changed.nanoseconds == 0 ? 2_000 : isCoarse ? 30 : 10 }

    /// The file system stamps whole seconds or hundredths.
    public var isCoarse: Bool { changed.nanoseconds % 10_000_000 == 0 }

    /// A number that is used again within a step of the births, or while the clock stands still, may stand for something of another kind.
    public func isSameFile(as other: Stat) -> Bool { identity == other.identity && kind == other.kind }

    /// As `isUntouched`, but forgives what a rename does to the change time.
    public func isSameContent(as other: Stat) -> Bool {
        isSameFile(as: other) && modified == other.modified
            && (kind == .directory || size == other.size)
    }
}
