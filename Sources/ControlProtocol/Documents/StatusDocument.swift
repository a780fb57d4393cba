public import SyncModel

/// `status --json`: what the node says of itself. Nothing that is not in sync is left out. See `StatusDocument+Text` for
/// how it is written.
public struct StatusDocument: Hashable, Sendable {
    public struct Node: Hashable, Sendable {
        public var name: [UInt8]
        public var id: NodeID
        /// The version of the daemon.
        public var program: String
        public var uptimeSeconds: Int
        /// What its public key is known by; the id stays when that is renewed.
        public var key: String?
        /// While that is renewed: the key that it will show, once the other node has taken it.
        public var nextKey: String?
        /// And after that, until the other node has been seen to accept the new one: the key it showed before.
        public var formerKey: String?

        public init(
            name: [UInt8], id: NodeID, program: String, uptimeSeconds: Int, key: String? = nil, nextKey: String? = nil,
            formerKey: String? = nil
        ) {
            self.name = name
            self.id = id
            self.program = program
            self.uptimeSeconds = uptimeSeconds
            self.key = key
            self.nextKey = nextKey
            self.formerKey = formerKey
        }
    }

    public struct Peer: Hashable, Sendable {
        public var name: [UInt8]
        public var id: NodeID
        public var isConnected: Bool
        /// It sends nothing and shows nothing new until a person lets it go on.
        public var isPaused: Bool
        /// So many deletes wait there for a person.
        public var heldDeletes: Int
        /// It has not said that it is through, and nothing else is left to do here.
        public var waits: Bool
        public var address: String?
        public var program: String?
        /// Own changes the peer has not applied.
        public var toSend: Int
        /// Paths here that do not show yet what is known.
        public var toApply: Int
        public var lastContactMilliseconds: Int64?
        /// The key that this node accepts of it.
        public var key: String?
        /// The key that it is about to use, and is accepted as well until it does.
        public var nextKey: String?

        public init(
            name: [UInt8], id: NodeID, isConnected: Bool, isPaused: Bool = false, heldDeletes: Int = 0,
            waits: Bool = false, address: String? = nil,
            program: String? = nil,
            toSend: Int = 0, toApply: Int = 0, lastContactMilliseconds: Int64? = nil,
            key: String? = nil, nextKey: String? = nil
        ) {
            self.name = name
            self.id = id
            self.isConnected = isConnected
            self.isPaused = isPaused
            self.heldDeletes = heldDeletes
            self.waits = waits
            self.address = address
            self.program = program
            self.toSend = toSend
            self.toApply = toApply
            self.lastContactMilliseconds = lastContactMilliseconds
            self.key = key
            self.nextKey = nextKey
        }
    }

    public enum FolderState: String, CaseIterable, Hashable, Sendable {
        case starting, scanning, syncing
        case inSync = "in-sync"
        case waiting, paused, halted
    }

    public struct Folder: Hashable, Sendable {
        /// Absolute.
        public var path: [UInt8]
        public var state: FolderState
        public var files: Int
        public var directories: Int
        public var bytes: Int
        /// Why the node as a whole stands still: it is halted, or paired with nobody.
        public var reason: CodeText?

        public init(
            path: [UInt8], state: FolderState, files: Int, directories: Int, bytes: Int, reason: CodeText? = nil
        ) {
            self.path = path
            self.state = state
            self.files = files
            self.directories = directories
            self.bytes = bytes
            self.reason = reason
        }
    }

    /// A path that is not in sync, and why.
    public struct Pending: Hashable, Sendable {
        public var path: [UInt8]
        public var reason: CodeText
        public var sinceMilliseconds: Int64

        public init(path: [UInt8], reason: CodeText, sinceMilliseconds: Int64) {
            self.path = path
            self.reason = reason
            self.sinceMilliseconds = sinceMilliseconds
        }
    }

    /// What lies in the folder and cannot be synced, and why. The two folders are in sync without it.
    public struct LeftOut: Hashable, Sendable {
        public var path: [UInt8]
        public var reason: CodeText

        public init(path: [UInt8], reason: CodeText) {
            self.path = path
            self.reason = reason
        }
    }

    /// Open ones.
    public struct AlertCounts: Hashable, Sendable {
        public var serious: Int
        public var warning: Int
        public var info: Int

        public init(serious: Int = 0, warning: Int = 0, info: Int = 0) {
            self.serious = serious
            self.warning = warning
            self.info = info
        }
    }

    public struct Progress: Hashable, Sendable {
        public static let idle = Progress(phase: "idle")

        /// `idle`, or a word for what is being done.
        public var phase: String
        /// Of `total`, in units of the phase; a total of 0 is not known.
        public var done: Int
        public var total: Int
        public var bytesPerSecond: Int

        public init(phase: String, done: Int = 0, total: Int = 0, bytesPerSecond: Int = 0) {
            self.phase = phase
            self.done = done
            self.total = total
            self.bytesPerSecond = bytesPerSecond
        }
    }

    /// A mass deletion that waits for `approve` or `reject`.
    public struct HeldDeletes: Hashable, Sendable {
        public var id: String
        public var files: Int
        public var sinceMilliseconds: Int64

        public init(id: String, files: Int, sinceMilliseconds: Int64) {
            self.id = id
            self.files = files
            self.sinceMilliseconds = sinceMilliseconds
        }
    }

    public var node: Node
    /// Nil before pairing.
    public var peer: Peer?
    public var folder: Folder
    public var inSync: Bool
    /// The first ones in path order.
    public var pending: [Pending]
    /// How many there are in all.
    public var pendingTotal: Int
    public var alerts: AlertCounts
    public var conflicts: Int
    public var quarantined: Int
    /// Change sets that wait for an upgrade or a person, held deletes among them; each has its alert.
    public var held: Int
    public var locks: Int
    public var progress: Progress
    public var heldDeletes: HeldDeletes?
    /// So many as are listed of those that were met first, in path order.
    public var leftOut: [LeftOut]

    /// `pendingTotal` is the number of `pending` unless it is given.
    public init(
        node: Node, peer: Peer?, folder: Folder, inSync: Bool, pending: [Pending] = [], pendingTotal: Int? = nil,
        alerts: AlertCounts = AlertCounts(), conflicts: Int = 0, quarantined: Int = 0, held: Int = 0, locks: Int = 0,
        progress: Progress = .idle, heldDeletes: HeldDeletes? = nil, leftOut: [LeftOut] = []
    ) {
        self.node = node
        self.peer = peer
        self.folder = folder
        self.inSync = inSync
        self.pending = pending
        self.pendingTotal = pendingTotal ?? pending.count
        self.alerts = alerts
        self.conflicts = conflicts
        self.quarantined = quarantined
        self.held = held
        self.locks = locks
        self.progress = progress
        self.heldDeletes = heldDeletes
        self.leftOut = leftOut
    }

    /// Something waits for a person.
    public var needsAttention: Bool {
        alerts.serious + alerts.warning + conflicts + quarantined + held > 0
    }

    /// What `syncctl status` exits with: 0 all is well, 1 a person is needed, 2 it is not in sync yet.
    public var exitCode: Int32 {
        if needsAttention { return 1 }
        return inSync ? 0 : 2
    }
}
