public import SyncModel

/// A wish to have items for oneself, or among readers. All of its accesses are granted together or not at all.
public struct ClaimRequest: Hashable, Sendable {
    /// Given by whoever asks, and never twice.
    public let id: ClaimID
    /// Whose connection ends it.
    public let client: ClientID
    /// On which node it is asked for. What one node does for itself alone does not concern the other, and which of its claims exclude
    /// each other the other node sees to itself.
    public let node: Author
    public let isShared: Bool
    /// Claims of one purpose never wait for each other. Without one a claim stands for itself.
    public let purpose: String?
    /// For people, where there is no purpose.
    public let name: String?
    public var accesses: [Access]
    /// Given up after so long.
    public let patienceMilliseconds: UInt64?
    /// Taken away after so long if somebody waits for it.
    public let holdMilliseconds: UInt64?

    public init(
        id: ClaimID, client: ClientID, node: Author = .own, isShared: Bool = true, purpose: String? = nil,
        name: String? = nil, accesses: [Access], patienceMilliseconds: UInt64? = nil, holdMilliseconds: UInt64? = nil
    ) {
        self.id = id
        self.client = client
        self.node = node
        self.isShared = isShared
        self.purpose = purpose
        self.name = name
        self.accesses = accesses
        self.patienceMilliseconds = patienceMilliseconds
        self.holdMilliseconds = holdMilliseconds
    }

    /// Two nodes may have the same word for what two programs do.
    var agent: Agent { purpose.map { .purpose($0, of: node) } ?? .claim(id) }

    func excludes(_ other: ClaimRequest) -> Bool {
        guard agent != other.agent, node == other.node ? node == .own : isShared && other.isShared else { return false }
        return accesses.contains { access in other.accesses.contains { access.excludes($0) } }
    }
}

/// Something of one purpose waits for something of another.
public struct Wait: Hashable, Sendable {
    public let purpose: String
    public let awaited: String

    public init(_ purpose: String, for awaited: String) {
        self.purpose = purpose
        self.awaited = awaited
    }
}

/// Who waits and is waited for: everything of one purpose is one.
enum Agent: Hashable {
    case purpose(String, of: Author)
    case claim(ClaimID)
    case presenter(PresenterID)
}

/// Why a claim was not granted, or a grant was taken away.
public enum ClaimRefusal: Error, Hashable, Sendable {
    /// Its own time was over; who is in its way, and since when.
    case timedOut(holder: ClientID?, purpose: String?, heldMilliseconds: UInt64)
    /// Granting nobody would have ended it: the purposes that waited for each other in a circle.
    case wouldDeadlock([String])
    /// Somebody who shows the item could not save it or let go of it.
    case presenterFailed(String)
    case withdrawn
    case tooMany
}

/// The right to do what was asked, until it is given back.
public struct Grant: Hashable, Sendable {
    public let claim: ClaimID
    /// Where the items are now: they may have been renamed meanwhile.
    public let paths: [Path]
    /// Higher than that of every grant before it.
    public let fence: UInt64
}

/// What a writer did that others must know of when his grant ends.
public enum Deed: Hashable, Sendable {
    case changed(Path)
    case moved(Path, to: Path)
    case deleted(Path)
}
