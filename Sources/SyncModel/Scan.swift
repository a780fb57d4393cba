/// The meeting of a folder listing with the stored rows: only differences go on to the core.
/// The scanner of the daemon and the simulator's both use `ScanJoin`, so that they cannot disagree.

/// What an inspection of the root itself found. Anything but `healthy` stops all work before a delete can come of it.
public enum RootState: UInt8, Hashable, Sendable {
    case healthy = 0
    case missing = 1
    /// Another file system, another inode or another marker than the one this folder was set up with.
    case replaced = 2
    case unmarked = 3

    /// What people are told of it.
    public var code: MessageCode? {
        switch self {
        case .healthy: nil
        case .missing, .unmarked: .rootMissing
        case .replaced: .rootReplaced
        }
    }
}

public struct ScanRequest: Hashable, Sendable {
    public let directory: Path
    /// Continue after this path; nil to start with the first entry below `directory`.
    public let after: Path?
    /// At most so many differences in one answer.
    public let limit: Int
    /// After a power cut: files younger than this (wall milliseconds) are reported even if their times say that nothing
    /// happened, because times may reach the disk before the bytes do.
    public let distrustSince: Int64?

    public init(directory: Path, after: Path?, limit: Int, distrustSince: Int64? = nil) {
        self.directory = directory
        self.after = after
        self.limit = limit
        self.distrustSince = distrustSince
    }
}

public struct ScanChunk: Hashable, Sendable {
    public let differences: [Difference]
    /// Where the next request continues; nil when everything below the directory has been compared.
    public let resume: Path?
    /// The root at the end of this chunk.
    public let root: RootState
    /// Directories that could not be read: everything below is unknown, not absent.
    public let unreadable: [Path]
    /// Those of them for which nobody's right to read is missing: another disk is mounted there, or what is in them is deeper or
    /// longer than a path may be.
    public let unsupported: [Path]

    public init(
        differences: [Difference], resume: Path?, root: RootState, unreadable: [Path], unsupported: [Path] = []
    ) {
        self.differences = differences
        self.resume = resume
        self.root = root
        self.unreadable = unreadable
        self.unsupported = unsupported
    }
}

/// A path whose disk state is not what its row says.
public struct Difference: Hashable, Sendable {
    public let path: Path
    /// What is there now; nil for nothing.
    public let stat: Stat?

    public init(path: Path, stat: Stat?) {
        self.path = path
        self.stat = stat
    }
}

public enum ScanJoin {
    /// The difference at one path, if there is one.
    public static func difference(at path: Path, row: Row?, stat: Stat?, distrustSince: Int64? = nil) -> Difference? {
        switch (row?.disk, stat) {
        case (nil, nil):
            return nil
        case (nil, .some):
            // A row without a disk state may still know the path; anything standing there is news.
            return Difference(path: path, stat: stat)
        case (.some, nil):
            return Difference(path: path, stat: nil)
        case (.some(let known), .some(let found)):
            let isDoubted = distrustSince.map { found.kind == .file && known.isYounger(than: $0) } ?? false
            if known.isStill(found) && row?.condition == .normal && !isDoubted { return nil }
            return Difference(path: path, stat: found)
        }
    }
}
