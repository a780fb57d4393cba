public import Coordination
public import SyncModel

/// A wish to hold files still, waiting or granted.
public struct Claim: Hashable, Sendable {
    public enum Mode: UInt8, CaseIterable, Hashable, Sendable {
        /// Programs on this node only.
        case local = 0
        /// Both nodes while they are connected.
        case pair = 1
        /// Both nodes, or not at all.
        case strict = 2
    }

    /// As the node names it whose program asks. (The machine on each node has a `ClaimID` of its own for it.)
    public struct ID: NumberedID {
        public let number: UInt64

        public init(_ number: UInt64) { self.number = number }
    }

    /// What the node writes under itself, as no client.
    public static let nodePurpose = "syncd"

    /// Given by whoever asks, and never twice by the same node in one process.
    public let id: ID
    /// The connection it was made over.
    public let client: ClientID
    /// At least one. Once it is held: where the items are by now.
    public internal(set) var accesses: [Access]
    /// Claims of one purpose never wait for each other.
    public let purpose: String?
    public let mode: Mode
    /// Taken away after so long if somebody waits for it.
    public let holdMilliseconds: UInt64?
    /// For people: which program asks.
    public let holder: [UInt8]
    public let process: UInt32
    /// Whose program asks.
    public let node: Author
    public internal(set) var isHeld = false
    /// Since when it is held, or waits (wall milliseconds).
    public internal(set) var sinceMilliseconds: Int64 = 0
    /// Higher than that of every grant before it on this node.
    public internal(set) var fence: UInt64 = 0

    public init(
        id: ID, client: ClientID = 0, accesses: [Access], purpose: String? = nil, mode: Mode,
        holdMilliseconds: UInt64? = nil, holder: [UInt8], process: UInt32, node: Author = .own
    ) {
        self.id = id
        self.client = client
        self.accesses = accesses
        self.purpose = purpose
        self.mode = mode
        self.holdMilliseconds = holdMilliseconds
        self.holder = holder
        self.process = process
        self.node = node
    }

    public var paths: [Path] { accesses.map(\.path) }
    public var isRead: Bool { accesses.allSatisfy(\.isRead) }

    /// For people.
    var name: String {
        // (A lock without a command has no process any more.)
        let number = process == 0 && !holder.isEmpty ? nil : "process \(process)"
        let words = [holder.isEmpty ? nil : String(decoding: holder, as: UTF8.self), number].compactMap(\.self)
        return words.joined(separator: ", ") + (node == .own ? "" : " on the other node")
    }

    func covers(_ path: Path) -> Bool { accesses.contains { $0.meets(path) || $0.path.isBelow(path) } }
}

extension [Access] {
    /// Paths held still with all that is below them, as they are.
    public init(holding paths: [Path], isRead: Bool) {
        self = paths.map { Access($0, isRead ? .read(savesFirst: false) : .write(.update), coversContents: true) }
    }
}

/// What is said to the arbiter about who waits for whom on the sender's node, where it cannot see that.
public struct PeerWait: Hashable, Sendable {
    public var purpose: [UInt8]
    public var awaited: [UInt8]

    public init(purpose: [UInt8], awaited: [UInt8]) {
        self.purpose = purpose
        self.awaited = awaited
    }
}

/// What is said to the arbiter about a claim of the sender.
public struct PeerClaim: Hashable, Sendable {
    public var id: Claim.ID
    public var isRead: Bool
    /// Granted already: the link was down, or has been since.
    public var isHeld: Bool
    public var process: UInt32
    public var holder: [UInt8]
    public var paths: [Path]
    /// Empty: it stands for itself, or the sender's program does not say.
    public var purpose: [UInt8]

    public init(
        id: Claim.ID, isRead: Bool, isHeld: Bool, process: UInt32, holder: [UInt8], paths: [Path], purpose: [UInt8] = []
    ) {
        self.id = id
        self.isRead = isRead
        self.isHeld = isHeld
        self.process = process
        self.holder = holder
        self.paths = paths
        self.purpose = purpose
    }
}
