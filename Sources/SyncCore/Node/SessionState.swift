import SyncModel

/// The link: who the peer is, where each log stands, what is acknowledged.
///
/// After `Hello` each side sends its log from where the other one is. A peer that is too far behind gets the rows instead;
/// a peer that knows more of our log than we do proves that we were set back (`Node+Rollback`).
struct SessionState: Sendable {
    var link: LinkID?
    /// The peer's hello has been answered for; frames other than hello may flow.
    var isLive = false
    /// Since when what it says is taken in (monotonic milliseconds).
    var liveSince: UInt64 = 0
    var hasHello = false
    var peerTellsChanges = false
    var peerRenewsKeys = false
    /// Until when the peer may greet: from our own hello on.
    var helloDeadline: UInt64?
    /// The other node has greeted, in no version that is spoken here.
    var isDisjoint = false
    var outboundBytes = 0
    /// Frames that came before the greeting was weighed.
    var early = Deque<Frame>()

    /// Whole frames that came before this node had said its own hello: while it was recovering, or still stored what the last link brought.
    var held = Deque<[UInt8]>()
    static let earlyMax = 64

    /// Our log has been handed to the link up to here.
    var sentThrough = LogPosition.none
    /// Heads sent and not yet acknowledged, oldest first.
    var unacknowledged = Deque<LogHead>()
    var isReadingLog = false
    /// The log may be sent: the greeting, rows or a renumbering before it are done.
    var maySendLog = false
    /// Rows are being sent instead of the log.
    var rows: SendingRows?

    struct SendingRows: Sendable {
        let through: LogHead
        var after: Path?
        var isReading = false
        /// Frames that the peer has not said to have taken in.
        var untaken = 0
    }

    /// The peer tells its rows instead of its log, and somebody has been told so.
    var toldOfRows = false

    var lastAcknowledgement: Acknowledgement?
    /// It said that all is shown here but what the peer is to tell of.
    var saidSettledButForOwed = false
    /// The peer shows all we have, and nothing waits there.
    var peerIsSettled = false
    var asksToExpand: LogPosition?
    /// Directory moves that the peer wants to be told path by path, and that wait in the lane.
    var expansions = 0
    var toldRollback = false
    /// What was last said of this node, and what the other has said of itself.
    var saidPaused = false
    var peerIsPaused = false
    /// How many deletes wait for a person here, as the other was last told, and there, as it has told.
    var peerHeedsHolds = false
    var saidHeld = 0
    var peerHeld = 0
    /// The epochs of the peer's log when the hellos were written: where it was, and how far we said to know it.
    var peerEpoch = Epoch.none
    var claimedEpoch = Epoch.none

    /// The peer reads for which purpose a claim is made.
    var peerReadsPurposes = false
    var peerReadsWaits = false

    // Records (`Node+RecordLink`)
    /// The peer can take change sets.
    var peerKeepsRecords = false
    var peerReadsLocks = false
    /// It has the same models.
    var sharesRecords = false
    var peerModels: [RecordsHello.Model] = []
    var saidRecords = false
    /// Its last change set when it said so, and of our own the last it had, was sent and has said to have stored.
    var peerSets: LogPosition?
    var setsSent: LogPosition?
    var setsTaken: LogPosition?
    /// Sets of the peer's own after this may be unknown to it.
    var giveBackAfter: LogPosition?
    var isReadingSets = false
    var incomingSet = SetAssembly()
    var setsComing: [StoredChangeSet] = []
    var isTakingSets = false
    var setsAcknowledged = LogPosition.none
    /// Whatever the peer still makes has seen so much of our own; and what we have told it of that.
    var setsShown = LogPosition.none
    var setsShownToPeer = LogPosition.none
    /// The last of our own sets that it had when it said so. We have asked for what we have lost of them.
    var peerKnows = LogPosition.none
    var askedForLost = false
    /// Of its own sets, which a set-back node gets back, what has come; and the last of them, which is stored with what follows from it.
    var givenBack = SortedMap<LogPosition, Bool>()
    var lastLost: StoredChangeSet?

    /// How far the peer has forgotten, its own sets and ours. It wants what is left here, and how far that has been told; what
    /// is left there is wanted, and has come so far.
    var peerForgot = SetHeads()
    var peerWantsBase = false
    var baseGoing: BaseGoing?
    var askedForBase = false
    var baseComing: BaseComing?

    // Formats (`Node+FormatAlarms`)
    var peerTellsFormats = false
    var saidFormats = false

    static let recordsFeature = Array("records".utf8)
}
