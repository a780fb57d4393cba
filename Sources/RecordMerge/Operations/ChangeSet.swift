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

/// What a reader must know to judge a change set; whoever lacks it holds the set as it is.
public struct Needs: Hashable, Sendable {
    public let model: [UInt8]
    public let modelVersion: Int
    /// Numbers of features of the log.
    public let features: [UInt32]

    /// Its author's model did not read what he saved: who can read it makes of the files what the save means.
    public static let unreadSaves: UInt32 = 1

    public static let none = Needs(model: [], modelVersion: 0)

    public init(model: [UInt8], modelVersion: Int, features: [UInt32] = []) {
        self.model = model
        self.modelVersion = modelVersion
        self.features = features
    }
}

/// The lock that a file was saved under.
public struct SaveLock: Hashable, Sendable {
    /// Higher than that of every lock that the author's node had granted before.
    public let fence: UInt64
    /// While it was held, or before it was granted, the other node could not be asked: it may have granted one as well.
    public let isApart: Bool

    public init(fence: UInt64, isApart: Bool) {
        self.fence = fence
        self.isApart = isApart
    }
}

/// What stood in the place of a file that its author's model does not read: whoever can read it makes of both what the save
/// means (`ChangeSet.reading`).
public struct Overwritten: Hashable, Sendable {
    /// Nil if there was no file.
    public let bytes: [UInt8]?

    public init(bytes: [UInt8]?) {
        self.bytes = bytes
    }
}

public struct ChangeSet: Hashable, Sendable {
    public let author: Party
    /// In the author's log. With the author it is the identity of the set.
    public let position: LogPosition
    public let time: HybridTime
    /// What the author had applied when it was made.
    public let seen: Applied
    public let needs: Needs
    public let operations: [Operation]
    /// The files that were saved, as they were saved. Each path once.
    public let files: [SavedFile]
    /// Of each operation its number in the set as it was made. Empty while none is missing.
    let numbers: [UInt32]

    public struct SavedFile: Hashable, Sendable {
        public let path: Path
        /// Nil if the file was deleted.
        public let content: ContentID?
        /// Nil if the file was deleted.
        public let bytes: [UInt8]?
        /// Permission bits; of a deleted file those that it had.
        public let mode: UInt16
        public let modified: Timestamp
        /// Nil if it was saved under none that concerns both nodes.
        public private(set) var lock: SaveLock?
        /// Nil for what its author could read.
        public private(set) var overwritten: Overwritten?

        public init(path: Path, content: ContentID, bytes: [UInt8], mode: UInt16, modified: Timestamp) {
            self.init(path, content, bytes, mode, modified)
        }

        public init(deleted path: Path, mode: UInt16, modified: Timestamp) {
            self.init(path, nil, nil, mode, modified)
        }

        public func saved(under lock: SaveLock?) -> SavedFile {
            var file = self
            file.lock = lock
            return file
        }

        /// Its author's model does not read it.
        public func unread(over overwritten: Overwritten) -> SavedFile {
            var file = self
            file.overwritten = overwritten
            return file
        }

        /// What the save means is told by operations.
        var read: SavedFile {
            var file = self
            file.overwritten = nil
            return file
        }

        private init(_ path: Path, _ content: ContentID?, _ bytes: [UInt8]?, _ mode: UInt16, _ modified: Timestamp) {
            self.path = path
            self.content = content
            self.bytes = bytes
            self.mode = mode & 0o777
            self.modified = modified
        }
    }

    public init(
        author: Party, position: LogPosition, time: HybridTime, seen: Applied, operations: [Operation],
        files: [SavedFile] = [], needs: Needs = .none
    ) {
        self.author = author
        self.position = position
        self.time = time
        self.seen = seen
        self.needs = needs
        self.operations = operations
        self.files = files
        numbers = []
    }

    /// What is left of a set: these of its operations, by their numbers in ascending order, and these files.
    init(_ set: ChangeSet, keeping kept: [(number: UInt32, operation: Operation)], files: [SavedFile]) {
        author = set.author
        position = set.position
        time = set.time
        seen = set.seen
        needs = set.needs
        operations = kept.map(\.operation)
        self.files = files
        let isWhole = kept.enumerated().allSatisfy { $0.offset == $0.element.number }
        numbers = isWhole ? [] : kept.map(\.number)
    }

    /// Its author did not know what it says: its operations tell which records it is about, and no more.
    public var isUnread: Bool { needs.features.contains(Needs.unreadSaves) }

    /// In the set as it was made.
    func number(of place: Int) -> UInt32 {
        numbers.isEmpty ? UInt32(truncatingIfNeeded: place) : numbers[place]
    }

    /// Files that both were saved under a lock for both nodes, though neither author knew of the other: while the nodes were apart each of
    /// them granted one.
    public func splitLocks(with other: ChangeSet) -> [Path] {
        guard author != other.author, !hasSeen(other), !other.hasSeen(self) else { return [] }
        return files.filter { file in
            guard let lock = file.lock else { return false }
            return other.files.contains {
                $0.path == file.path && ($0.lock.map { $0.isApart || lock.isApart } ?? false)
            }
        }
        .map(\.path)
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
