public import SyncModel

/// A wish to hold paths still, waiting or granted.
public struct Claim: Hashable, Sendable {
    public enum Mode: UInt8, CaseIterable, Hashable, Sendable {
        /// Programs on this node only.
        case local = 0
        /// Both nodes while they are connected.
        case pair = 1
        /// Both nodes, or not at all.
        case strict = 2
    }

    /// Given by whoever asks, and never twice by the same node in one process.
    public let id: UInt64
    /// At least one; each with all that is below it.
    public let paths: [Path]
    public let isRead: Bool
    public let mode: Mode
    /// For people: which program asks.
    public let holder: [UInt8]
    public let process: UInt32
    /// Whose program asks.
    public let node: Author
    public internal(set) var isHeld = false
    /// Since when it is held, or waits (wall milliseconds).
    public internal(set) var sinceMilliseconds: Int64 = 0

    public init(
        id: UInt64, paths: [Path], isRead: Bool, mode: Mode, holder: [UInt8], process: UInt32, node: Author = .own
    ) {
        self.id = id
        self.paths = paths
        self.isRead = isRead
        self.mode = mode
        self.holder = holder
        self.process = process
        self.node = node
    }

    /// What one node does for itself alone does not concern the other.
    func excludes(_ other: Claim) -> Bool {
        if isRead && other.isRead { return false }
        if node != other.node && (mode == .local || other.mode == .local) { return false }
        return paths.contains { path in other.paths.contains { Claim.meet(path, $0) } }
    }

    func covers(_ path: Path) -> Bool { paths.contains { Claim.meet(path, $0) } }

    private static func meet(_ first: Path, _ second: Path) -> Bool {
        first == second || first.isBelow(second) || second.isBelow(first)
    }
}

/// What is said to the arbiter about a claim of the sender.
public struct PeerClaim: Hashable, Sendable {
    public var id: UInt64
    public var isRead: Bool
    /// Granted already: the link was down, or has been since.
    public var isHeld: Bool
    public var process: UInt32
    public var holder: [UInt8]
    public var paths: [Path]

    public init(id: UInt64, isRead: Bool, isHeld: Bool, process: UInt32, holder: [UInt8], paths: [Path]) {
        self.id = id
        self.isRead = isRead
        self.isHeld = isHeld
        self.process = process
        self.holder = holder
        self.paths = paths
    }
}
