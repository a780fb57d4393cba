import Coordination
import RecordMerge
import SyncModel

/// Who holds which files still, who waits for them, and who shows them: the machine of `Coordination`, and around it what is between the
/// nodes and what the node itself writes.
///
/// For claims of both nodes the one with the smaller key is the arbiter: the other asks it first, and only then itself. In this order
/// the two nodes cannot wait for each other. Nothing that syncd does to keep files safe depends on any of this.
struct ClaimDesk: Sendable {
    struct Entry: Sendable {
        var claim: Claim
        /// To be answered when it is granted.
        var command: CommandID?
        /// Monotonic milliseconds: given up then.
        var deadline: UInt64?
        /// There is no time to wait, but the arbiter is asked: until then its word may be on its way.
        var answerDue: UInt64?
        var arbiter = Arbiter.notNeeded
        /// Of the peer, held when the link was lost: it ends then at the latest.
        var leaseEnds: UInt64?
        /// The machine knows of it.
        var isQueued = false
        /// It was granted, or held for a time, while the other node could not be asked, or did not answer.
        var isApart = false

        /// What the arbiter on the other node has said.
        enum Arbiter: Sendable {
            case notNeeded
            case toAsk
            /// Not heard of it yet; since when.
            case asked(UInt64)
            case waits
            /// It was not heard of for so long that the claim goes on without its word. It may be granted there all the same.
            case silent
            case granted
            /// Without a link nobody can be asked. With the next one it is told of, or asked for.
            case alone

            var isOver: Bool {
                switch self {
                case .notNeeded, .silent, .granted, .alone: true
                case .toAsk, .asked, .waits: false
                }
            }
        }
    }

    /// What the node has claimed for what it is to write itself.
    struct Writing: Sendable {
        let claim: ClaimID
        var isGranted: Bool
    }

    /// What is done once its claim is granted, and not as a task of the plan.
    enum Order: Sendable {
        case restore(CommandID, KeptVersion)
        case setAside(CommandID)
        /// The entry of the peer's log that tells of it.
        case relocate(LogPosition)

        /// Whose it is; nil if nobody has asked for it.
        var command: CommandID? {
            switch self {
            case .restore(let id, _), .setAside(let id): id
            case .relocate: nil
            }
        }
    }

    /// A lock for both nodes that is over: what was saved under it may be found only now.
    struct Past: Sendable {
        let claim: Claim
        let isApart: Bool
        let endedMilliseconds: Int64
    }

    struct Arrival: Sendable {
        let identity: FileIdentity
        let path: Path
    }

    /// As the machine knows them, in order of arrival.
    var entries = SortedMap<ClaimID, Entry>()
    /// By the path of the task, or by what is being written where there is none.
    var writings = SortedMap<Path, Writing>()
    /// Of these, what is to be done then; by the path as well.
    var orders = SortedMap<Path, Order>()
    var machine = Coordinator(asking: .others)
    /// What the machine has said and is being heeded.
    var words: [Coordinator.Effect] = []
    /// What has become of files while somebody shows something, to be told.
    var sights: [Node.Sight] = []
    /// Files that came to a name lately: one that goes from another may be one of them.
    var arrivals: [Arrival] = []
    private var past: [Past] = []
    /// When the last link of this process was lost (monotonic milliseconds).
    var lostLinkAt: UInt64?
    /// Of an arbiter that has just begun: until then the other may hold what the process before this one granted, and has not told of it yet.
    var forgetsUntil: UInt64?
    /// Who waits here for whom, as the arbiter was last told.
    var toldWaits: [PeerWait] = []
    private var lastKey = ClaimID(0)

    /// Nobody claims or shows anything.
    var isEmpty: Bool { entries.isEmpty && machine.isEmpty }

    /// Longer than a peer that has heard nothing holds on to what it was granted.
    static let leaseMilliseconds: UInt64 = 16_500
    /// A program that knows of no claims says nothing. By then a link that is dead has been seen to be.
    static let silenceMilliseconds: UInt64 = 9_000
    /// For a question and its answer over a slow link.
    static let answerMilliseconds: UInt64 = 1_000
    /// On a link that has just come up each node tells at once of what it holds.
    static let tellingMilliseconds: UInt64 = 2_000
    static let entriesMax = 4_096
    /// Paths that may wait for their turn among programs while what they are to become is kept ready.
    static let writingsMax = 64
    static let arrivalsMax = 64
    private static let pastMax = 64
    /// The time of a file is that of the kernel's last tick; and what has gone has no time.
    private static let slackMilliseconds: Int64 = 20
    private static let goneMilliseconds: Int64 = 2_000
    private static let peerClient = ClientID(UInt64.max)

    mutating func newKey() -> ClaimID {
        lastKey = lastKey.next
        return lastKey
    }

    func key(of id: Claim.ID, _ node: Author) -> ClaimID? {
        entries.first { $0.value.claim.id == id && $0.value.claim.node == node }?.key
    }

    func request(_ id: ClaimID, _ entry: Entry, at now: UInt64) -> ClaimRequest {
        let claim = entry.claim
        return ClaimRequest(
            id: id, client: claim.node == .own ? claim.client : ClaimDesk.peerClient, node: claim.node,
            isShared: claim.mode != .local, purpose: claim.purpose, name: claim.purpose == nil ? claim.name : nil,
            accesses: claim.accesses,
            patienceMilliseconds: entry.deadline.map { $0 > now ? $0 - now : 0 },
            holdMilliseconds: claim.holdMilliseconds)
    }

    /// What the node itself does is of no concern to the other: that has its own folder.
    func request(toWrite accesses: [Access], _ id: ClaimID) -> ClaimRequest {
        ClaimRequest(id: id, client: 0, isShared: false, purpose: Claim.nodePurpose, accesses: accesses)
    }

    /// What is to be done there waits for its turn.
    func isWaiting(toDoAt path: Path) -> Bool {
        orders.contains(key: path) && writings[path]?.isGranted != true
    }

    /// A program of this node holds the path still.
    func holds(_ path: Path) -> Bool {
        guard !entries.isEmpty else { return false }
        return machine.isHeldAgainst(request(toWrite: [Access(path, .write(.replacing))], 0))
    }

    /// A program that holds the path now has saved there. `written` is when it was last changed; nil if it is gone.
    func isSavedUnderClaim(_ path: Path, _ written: Int64?) -> Bool {
        entries.contains { _, entry in
            entry.claim.mayWrite(path)
                && written.map { $0 >= entry.claim.sinceMilliseconds - ClaimDesk.slackMilliseconds } ?? true
        }
    }

    mutating func notePast(_ entry: Entry, at now: Int64) {
        guard entry.claim.mode != .local, !entry.claim.isRead else { return }
        past.append(Past(claim: entry.claim, isApart: entry.isApart, endedMilliseconds: now))
        past.removeFirst(max(0, past.count - ClaimDesk.pastMax))
    }

    /// What a file was saved under, if it is a lock for both nodes. `written` is when it was last changed; nil if it is gone.
    func lock(over path: Path, written: Int64?, at now: Int64) -> SaveLock? {
        func isSaved(under claim: Claim, until end: Int64) -> Bool {
            guard claim.mode != .local, claim.mayWrite(path) else { return false }
            guard let written else { return end + ClaimDesk.goneMilliseconds >= now }
            return (claim.sinceMilliseconds - ClaimDesk.slackMilliseconds...max(claim.sinceMilliseconds, end))
                .contains(written)
        }
        let held = entries.first { isSaved(under: $0.value.claim, until: now) }
        if let entry = held?.value { return SaveLock(fence: entry.claim.fence, isApart: entry.isApart) }
        return past.last { isSaved(under: $0.claim, until: $0.endedMilliseconds) }
            .map { SaveLock(fence: $0.claim.fence, isApart: $0.isApart) }
    }

    /// The next time at which something is to be done without anybody's doing.
    func nextDue(isConnected: Bool, forgettingEnds: UInt64?) -> UInt64? {
        var due = machine.nextDue
        func consider(_ time: UInt64?) { if let time { due = min(due ?? time, time) } }
        for (_, entry) in entries {
            consider(entry.leaseEnds)
            guard !entry.isQueued else { continue }
            consider(entry.deadline.map { isConnected ? max($0, entry.answerDue ?? 0) : $0 })
            if entry.arbiter.isOver { consider(forgettingEnds) }
            switch entry.arbiter {
            case .asked(let since): consider(since + ClaimDesk.silenceMilliseconds)
            case .toAsk: if !isConnected { consider(lostLinkAt.map { $0 + ClaimDesk.leaseMilliseconds }) }
            case .notNeeded, .waits, .silent, .granted, .alone: break
            }
        }
        return due
    }
}

extension Claim {
    /// A program of this node holds the path to write to it.
    fileprivate func mayWrite(_ path: Path) -> Bool {
        isHeld && node == .own && accesses.contains { !$0.isRead && $0.meets(path) }
    }
}
