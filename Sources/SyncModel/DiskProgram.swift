/// Disk work as data: short lists of operations that a worker runs with system calls and the simulator on a virtual disk.
///
/// Operations run in order and stop at the first failure; nothing is undone. Programs of one job run one after the other and
/// independently: a failed one does not stop its siblings. A crash may fall between any two operations.

/// Where an operation works. Everything but `tree` lies in the folder's own `.syncd`, on the same file system.
public enum Place: Hashable, Sendable {
    case tree(Path)
    case stage(StageName)
    case version(VersionID)
    case quarantine(VersionID)
}

/// A temporary file of ours in `.syncd/stage`; written as `s` and 16 hexadecimal digits.
public struct StageName: Hashable, Comparable, Sendable {
    public let raw: UInt64

    public init(raw: UInt64) {
        self.raw = raw
    }

    public static func < (left: StageName, right: StageName) -> Bool { left.raw < right.raw }
}

/// A kept earlier version; the name of its file in `.syncd/versions` or `.syncd/quarantine`.
public struct VersionID: Hashable, Comparable, Sendable {
    public let raw: UInt64

    public init(raw: UInt64) {
        self.raw = raw
    }

    public static func < (left: VersionID, right: VersionID) -> Bool { left.raw < right.raw }
}

public enum DiskOperation: Hashable, Sendable {
    /// Creates an empty file that must not exist; mode 0600.
    case createFile(Place)
    case write(Place, offset: UInt64, bytes: [UInt8])
    /// Copies a piece of a file we have. Fails with `.mismatch` unless the copied bytes hash to `digest`; without one they are whatever is
    /// there, and blocks of zeros are left out.
    case copy(from: Place, offset: UInt64, length: UInt64, to: Place, at: UInt64, digest: Digest?)
    /// Sets the length; a hole where nothing was written.
    case truncate(Place, size: UInt64)
    case createDirectory(Place, mode: UInt16)
    case createSymlink(Place, target: [UInt8])
    case setMode(Place, UInt16)
    case setModified(Place, Timestamp)
    /// Content and inode to stable storage. A failure is final for the file: nothing written to it may be believed.
    case syncFile(Place)
    /// The names in the directory that holds `place` to stable storage.
    case syncParent(Place)
    /// Goes on only if nothing is there.
    case expectAbsent(Place)
    /// Goes on only if what is there is untouched since `stat`.
    case expect(Place, Stat)
    /// As `expect`, but forgives the change time, which a rename alters.
    case expectContent(Place, Stat)
    /// Goes on only if this very file or directory is there, whatever was done to it. (Of what kind it is has to be said as well:
    /// where births are coarse, a file may get the identity of a directory that has just gone.)
    case expectIdentity(Place, FileIdentity, FileKind)
    /// Goes on only if nobody writes to the file or holds a lock on it; fails with `.busy`. Where that cannot be told, it goes on.
    case expectUnheld(Place)
    /// Reports what is there.
    case inspect(Place)
    /// Swaps two existing names (renameat2 EXCHANGE).
    case exchange(Place, Place)
    /// Gives a file a new name that must be free (renameat2 NOREPLACE).
    case move(Place, to: Place)
    /// Removes an empty directory.
    case removeDirectory(Place)
    /// Removes a file or empty directory of our own in the stage, or a version past its retention. Never a place in the tree.
    case discard(Place)

    public var isSync: Bool {
        if case .syncFile = self { return true }
        if case .syncParent = self { return true }
        return false
    }
}

public struct DiskProgram: Hashable, Sendable {
    public var operations: [DiskOperation]

    public init(_ operations: [DiskOperation] = []) {
        self.operations = operations
    }
}

/// The world's failures, by meaning.
public enum DiskError: UInt8, Hashable, Sendable {
    case notFound
    case exists
    case notEmpty
    case notDirectory
    case isDirectory
    case noSpace
    case inputOutput
    case readOnly
    case busy
    case permission
    case nameTooLong
    case crossDevice
    /// An `expect…` or a digest did not hold.
    case mismatch
    case unsupported
}

public struct DiskResult: Hashable, Sendable {
    /// What the `inspect` operations saw, in their order; nil where nothing was.
    public var inspected: [Stat?]
    /// The operation that failed, by index, and how. Nil if the program ran to its end.
    public var failure: Failure?

    public struct Failure: Hashable, Sendable {
        public let index: Int
        public let error: DiskError

        public init(index: Int, error: DiskError) {
            self.index = index
            self.error = error
        }
    }

    public init(inspected: [Stat?] = [], failure: Failure? = nil) {
        self.inspected = inspected
        self.failure = failure
    }
}
