/// What can stand at a path. Start reading the program here: `Entry`, then `Revision`, `Row` and the `Reconciler`.

/// The part of an entry that a decision may have to choose between.
public enum Content: Hashable, Sendable {
    case absent
    case directory
    case file(ContentID, size: UInt64)
    /// The target is opaque bytes; it is never followed.
    case symlink([UInt8])

    public var isAbsent: Bool { self == .absent }
    public var isDirectory: Bool { self == .directory }

    public var kind: FileKind? {
        switch self {
        case .absent: nil
        case .directory: .directory
        case .file: .file
        case .symlink: .symlink
        }
    }

    public var size: UInt64 {
        if case .file(_, let size) = self { return size }
        return 0
    }

    /// Of a symbolic link.
    public var target: [UInt8]? {
        if case .symlink(let target) = self { return target }
        return nil
    }
}

/// The synced state of a path: content, permission bits, modification time.
/// A deleted path keeps the mode and time it had, so that a revived directory comes back as it was.
public struct Entry: Hashable, Sendable {
    public var content: Content
    /// Permission bits only, masked by 0777. Symlinks have 0777 by definition.
    public var mode: UInt16
    public var modified: Timestamp

    public init(content: Content, mode: UInt16, modified: Timestamp) {
        self.content = content
        self.mode = mode & 0o777
        self.modified = modified
    }

    public static let absent = Entry(content: .absent, mode: 0, modified: .zero)

    public var isAbsent: Bool { content.isAbsent }

    /// Equal as far as a user can tell: two absent entries are the same whatever they remember.
    public func agrees(with other: Entry) -> Bool {
        content == other.content && (isAbsent || (mode == other.mode && modified == other.modified))
    }
}
