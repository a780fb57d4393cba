/// Identities as types, so that no id can be passed where another is meant.

/// A node: the SHA-256 of the public key that it was made with. A renewed key does not change it.
public struct NodeID: Hashable, Comparable, Sendable {
    public let digest: Digest

    public init(_ digest: Digest) {
        self.digest = digest
    }

    public static func < (left: NodeID, right: NodeID) -> Bool { left.digest < right.digest }
}

/// The marker written into a shared folder when it is set up.
public struct FolderID: Hashable, Sendable {
    public let digest: Digest

    public init(_ digest: Digest) {
        self.digest = digest
    }
}

/// The bytes of a file, whatever its path: the hash over its chunk list (see `ChunkList`).
public struct ContentID: Hashable, Comparable, Sendable {
    public let digest: Digest

    public init(_ digest: Digest) {
        self.digest = digest
    }

    public static func < (left: ContentID, right: ContentID) -> Bool { left.digest < right.digest }
}

/// A piece of work handed out by the core; its completion event carries the same number.
public struct JobID: Hashable, Comparable, Sendable {
    public let raw: UInt64

    public init(raw: UInt64) {
        self.raw = raw
    }

    public static func < (left: JobID, right: JobID) -> Bool { left.raw < right.raw }
}

/// Who of the two wrote something, as seen by the node that holds the record.
public enum Author: UInt8, Sendable {
    case own = 0
    case peer = 1

    /// The same author as the other node names it.
    public var flipped: Author { self == .own ? .peer : .own }
}
