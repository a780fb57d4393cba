public import SyncModel

/// What a program wants to do with one item.
public struct Access: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Whoever shows the item is asked to save it first, unless the reader takes what is there.
        case read(savesFirst: Bool)
        case write(Writing)
    }

    public enum Writing: UInt8, CaseIterable, Hashable, Sendable {
        case update
        case deleting
        case moving
        /// Another item takes its place. It is not followed if it has been renamed while the claim waited.
        case replacing
        /// Whoever shows the item is asked to save it first.
        case merging
        /// Nothing of the content: readers are not in its way, and nobody is asked.
        case metadata
    }

    public var path: Path
    public let kind: Kind
    /// With all that is below it. Always so for what deletes, moves or replaces, and for a package.
    public let coversContents: Bool

    public init(_ path: Path, _ kind: Kind, coversContents: Bool = false) {
        self.path = path
        self.kind = kind
        self.coversContents = coversContents || kind.concernsContents
    }

    public var isRead: Bool {
        switch kind {
        case .read: true
        case .write: false
        }
    }

    func excludes(_ other: Access) -> Bool {
        guard meets(other.path) || other.meets(path) else { return false }
        switch (kind, other.kind) {
        case (.read, .read): return false
        case (.read, .write(.metadata)), (.write(.metadata), .read): return false
        case (.read, .write), (.write, .read), (.write, .write): return true
        }
    }

    /// What stands there is the item, or within what it covers.
    public func meets(_ other: Path) -> Bool { path == other || coversContents && other.isBelow(path) }
}

extension Access.Kind {
    fileprivate var concernsContents: Bool {
        switch self {
        case .write(.deleting), .write(.moving), .write(.replacing): true
        case .read, .write(.update), .write(.merging), .write(.metadata): false
        }
    }
}
