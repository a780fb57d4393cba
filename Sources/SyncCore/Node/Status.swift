public import SyncModel

/// What the node says of itself: the answer to `Command.status`. Nothing that is not in sync is left out.
public struct Status: Hashable, Sendable {
    public enum FolderState: UInt8, Hashable, Sendable {
        case starting, scanning, syncing, inSync, waiting, paused, halted
    }

    public struct Pending: Hashable, Sendable {
        public let path: Path
        public let reason: MessageCode
        public let sinceMilliseconds: Int64

        public init(path: Path, reason: MessageCode, sinceMilliseconds: Int64) {
            self.path = path
            self.reason = reason
            self.sinceMilliseconds = sinceMilliseconds
        }
    }

    public var state: FolderState = .starting
    public var inSync = false
    public var isConnected = false
    /// The other node sends and shows nothing until a person lets it go on.
    public var peerIsPaused = false
    /// So many deletes wait for a person on the other node.
    public var peerHeldDeletes = 0
    /// All there is to do here is done, and the other node has not said that it is through.
    public var peerWaits = false
    public var peerName: [UInt8] = []
    /// It takes a new key of this node.
    public var peerRenewsKeys = false
    /// The version of the program on the other node, as it said when it last connected; empty before.
    public var peerProgram: [UInt8] = []
    /// The two folders have been compared whole since they first met.
    public var initialImportDone = false
    public var files = 0
    public var directories = 0
    /// Own log entries the peer has not applied.
    public var toSend: UInt64 = 0
    /// Paths here that do not show yet what is known.
    public var toApply = 0
    /// Of the paths that this node does not show yet the first ones, and those of the first changes that the other node does not
    /// show, in path order.
    public var pending: [Pending] = []
    /// How many there are in all: exact, but for changes beyond those that are listed.
    public var pendingTotal = 0
    /// Paths here that cannot be synced and are in nobody's way: pipes, sockets, devices. So many as are listed (`leftSpecialsMax`) of
    /// those that were met first, in path order.
    public var leftOut: [Path] = []
    public var alerts: [Alert] = []
    /// Records in quarantine about which somebody is to decide, and how many groups they make.
    public var quarantinedRecords = 0
    public var contests = 0
    /// What the peer's change sets have made repair do since this process began.
    public var importRepairs = RepairCount()
    /// The rows say what the change sets so far come to; what is left to do for it is in `toApply`.
    public var recordsAreMatched = true
    /// Change sets that wait for a model or a program that can read them. An alert names the file, model or program.
    public var heldSets = 0
    public var heldDeletes: NodeRecord.HeldDeletes?
    /// Claims that are granted.
    public var locks = 0

    public init() {}
}

/// How many records came into quarantine, and how many repair has put elsewhere than what was written would have them.
public struct RepairCount: Hashable, Sendable {
    public var quarantined = 0
    public var repaired = 0

    public init(quarantined: Int = 0, repaired: Int = 0) {
        self.quarantined = quarantined
        self.repaired = repaired
    }

    public static func += (count: inout RepairCount, more: RepairCount) {
        count.quarantined += more.quarantined
        count.repaired += more.repaired
    }

    public static func - (count: RepairCount, less: RepairCount) -> RepairCount {
        RepairCount(quarantined: count.quarantined - less.quarantined, repaired: count.repaired - less.repaired)
    }
}
