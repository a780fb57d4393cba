/// What one save changed: it takes effect whole or not at all.
public import SyncModel

/// One of the two nodes, named alike on both: `first` has the smaller key.
public enum Party: UInt8, Hashable, Comparable, Sendable {
    case first = 0
    case second = 1

    public var other: Party { self == .first ? .second : .first }

    public static func < (left: Party, right: Party) -> Bool { left.rawValue < right.rawValue }
}

/// How much of each node's log somebody had applied.
public struct Applied: Hashable, Sendable {
    public var first: LogPosition
    public var second: LogPosition

    public static let none = Applied(first: .none, second: .none)

    public init(first: LogPosition, second: LogPosition) {
        self.first = first
        self.second = second
    }

    public subscript(party: Party) -> LogPosition {
        get { party == .first ? first : second }
        set {
            switch party {
            case .first: first = newValue
            case .second: second = newValue
            }
        }
    }
}

public struct ChangeSet: Hashable, Sendable {
    public let author: Party
    /// In the author's log. With the author it is the identity of the set.
    public let position: LogPosition
    public let time: HybridTime
    /// What the author had applied when it was made.
    public let seen: Applied
    public let operations: [Operation]
    /// The files that were saved, as they were saved.
    public let files: [SavedFile]

    public struct SavedFile: Hashable, Sendable {
        public let path: Path
        public let content: ContentID

        public init(path: Path, content: ContentID) {
            self.path = path
            self.content = content
        }
    }

    public init(
        author: Party, position: LogPosition, time: HybridTime, seen: Applied, operations: [Operation],
        files: [SavedFile] = []
    ) {
        self.author = author
        self.position = position
        self.time = time
        self.seen = seen
        self.operations = operations
        self.files = files
    }

    /// True if the author knew the other set. An author always knows what it wrote before.
    public func hasSeen(_ other: ChangeSet) -> Bool {
        author == other.author ? position > other.position : seen[other.author] >= other.position
    }

    /// The total order K between sets: later causes come later, because clocks never run behind what they saw.
    public func precedes(_ other: ChangeSet) -> Bool {
        if time != other.time { return time < other.time }
        if author != other.author { return author < other.author }
        return position < other.position
    }
}
