/// What a node must remember of itself besides its rows: one record, written with the rows it belongs to.
public struct NodeRecord: Hashable, Sendable {
    public var id: NodeID
    public var name: [UInt8]
    public var folder: FolderID
    public var peer: NodeID?
    public var peerName: [UInt8]

    /// The last entry of our own log.
    public var ownHead: LogHead
    /// Own entries up to here may have been forgotten.
    public var prunedThrough: LogHead
    /// The last entry of the peer's log that is stored here.
    public var importedHead: LogHead
    /// The last entry stored here of each earlier epoch of the peer's log, oldest first; the latest few only. Then a mark
    /// (`LogHead.mark`) of the epoch that rows stored here come from, while their end has not come.
    public var importedEpochs: [LogHead]
    /// The last own entry that the peer said it has stored.
    public var acknowledged: LogHead
    /// The last own entry that the peer said it has applied, together with everything before it.
    public var applied: LogPosition
    public var clock: HybridTime
    /// The latest time, by this node's own clock, at which this record was written (wall milliseconds).
    public var writtenMilliseconds: Int64?
    /// The last sign of life (wall milliseconds): what is younger than this at a power cut may be damaged.
    public var aliveMilliseconds: Int64
    /// Since when the clock has gone without a leap forward (wall milliseconds): what a version is older than that by, the leap may
    /// have made it.
    public var steadySince: Int64?
    /// Set by an orderly stop, cleared by the start.
    public var stoppedCleanly: Bool
    public var nextStage: UInt64
    public var nextVersion: UInt64
    public var isPaused: Bool
    /// The first comparison of two folders that had never met is done.
    public var initialImportDone: Bool
    public var held: HeldDeletes?
    public var isForked: Bool
    /// After a power cut, until the first whole scan is done: what was written here since (wall milliseconds) is distrusted.
    public var distrustSince: Int64?
    /// What the rules left out when that was over had not been looked at: since when it is distrusted still (wall milliseconds).
    public var distrustOfIgnored: Int64?
    /// The latest time told of before that cut (wall milliseconds): by a clock that has been put back over it, what bears an earlier one may
    /// be from before.
    public var toldBeforeCut: Int64?
    /// What the clock has shown since that cut, as long as anything is distrusted.
    public var clockShown: ClockShown?
    /// We were set back; the peer is to take over what we wrote after this, and has not confirmed it.
    public var rollbackCommon: LogPosition?
    /// What this node has written and does not know any more: a peer that was set back may come to show it again.
    public var lost: LostLog?
    /// The peer was set back; its entries after this are being written again in our name.
    public var adoptBeyond: LogPosition?
    /// The epoch it had begun after that, if it has told of it before: what it writes in it stands.
    public var adoptSparing: Epoch?
    /// The ignore rules (`IgnoreRules.digest`) that every row has been held against; nil while that goes on.
    public var rulesConsidered: Digest?
    /// Ignore files that rules leave out, perhaps their own: no row may tell of them, and whoever begins is to know them first. No more than
    /// `Limits.untoldRulesMax`.
    public var untoldRules: [Path]
    /// The format rules by which every row has been read; nil for none.
    public var formatsConsidered: Digest?
    /// What the programs of the other node understand, as it last said.
    public var peerFormats: [FormatSupport]
    /// What the change sets of records are kept for.
    public var setMarks: SetMarks

    /// What the wall clock has shown since the machine was started, up to when the record was written: one stretch for each time it was set (wall
    /// milliseconds), and how long the machine was up by then.
    public struct ClockShown: Hashable, Sendable {
        public var stretches: [ClosedRange<Int64>]
        public var monotonicMilliseconds: UInt64

        public init(stretches: [ClosedRange<Int64>], monotonicMilliseconds: UInt64) {
            self.stretches = stretches
            self.monotonicMilliseconds = monotonicMilliseconds
        }

        /// As far as who looks at it for the first time can know.
        public init(at now: Moment) {
            let boot = now.wallMilliseconds - Int64(clamping: now.monotonicMilliseconds)
            stretches = [min(boot, now.wallMilliseconds)...now.wallMilliseconds]
            monotonicMilliseconds = now.monotonicMilliseconds
        }
    }

    /// How far change sets are kept for what they come to only (`dropChangeSets`), and what the peer relies on for its own part.
    public struct SetMarks: Hashable, Sendable {
        public static let none = SetMarks(own: .none, peer: .none, promised: .none)

        /// Of this node's sets up to here, and of the peer's, less may be left than there was.
        public var own: LogPosition
        public var peer: LogPosition
        /// Whatever this node still makes will have seen the peer's sets up to here.
        public var promised: LogPosition

        public init(own: LogPosition, peer: LogPosition, promised: LogPosition) {
            self.own = own
            self.peer = peer
            self.promised = promised
        }
    }

    /// A stretch of the own log: what comes after a position, and before an epoch.
    public struct LostLog: Hashable, Sendable {
        public var after: LogPosition
        public var before: Epoch

        public init(after: LogPosition, before: Epoch) {
            self.after = after
            self.before = before
        }
    }

    /// A mass deletion that waits for a person.
    public struct HeldDeletes: Hashable, Sendable {
        public var id: UInt64
        public var files: Int
        public var sinceMilliseconds: Int64

        public init(id: UInt64, files: Int, sinceMilliseconds: Int64) {
            self.id = id
            self.files = files
            self.sinceMilliseconds = sinceMilliseconds
        }
    }

    public init(id: NodeID, name: [UInt8], folder: FolderID) {
        self.id = id
        self.name = name
        self.folder = folder
        peer = nil
        peerName = []
        ownHead = .none
        prunedThrough = .none
        importedHead = .none
        importedEpochs = []
        acknowledged = .none
        applied = .none
        clock = .zero
        writtenMilliseconds = nil
        aliveMilliseconds = 0
        steadySince = nil
        stoppedCleanly = true
        nextStage = 1
        nextVersion = 1
        isPaused = false
        initialImportDone = false
        held = nil
        isForked = false
        distrustSince = nil
        distrustOfIgnored = nil
        toldBeforeCut = nil
        clockShown = nil
        rollbackCommon = nil
        lost = nil
        adoptBeyond = nil
        adoptSparing = nil
        rulesConsidered = nil
        untoldRules = []
        formatsConsidered = nil
        peerFormats = []
        setMarks = .none
    }

    /// The node is to have another partner, and its rows and its log are gone. It stays who it is, in the folder it has, and gives no number twice:
    /// neither of an epoch (the first entry begins the next one), nor of what lies in `.syncd`.
    public mutating func forgetPeer() {
        var after = NodeRecord(id: id, name: name, folder: folder)
        after.ownHead = LogHead(position: LogPosition(epoch: ownHead.position.epoch, seq: 0), chain: .zero)
        after.clock = clock
        after.writtenMilliseconds = writtenMilliseconds
        after.aliveMilliseconds = aliveMilliseconds
        after.steadySince = steadySince
        after.stoppedCleanly = stoppedCleanly
        after.nextStage = nextStage
        after.nextVersion = nextVersion
        after.isPaused = isPaused
        after.untoldRules = untoldRules
        self = after
    }

    /// The machine went down, and is up again `now`: what was written from a while before the last sign of life on may be damaged.
    public mutating func distrust(_ limits: Limits, at now: Moment) {
        let since = aliveMilliseconds - Int64(clamping: limits.writebackMilliseconds)
        distrustSince = min(distrustSince ?? since, since)
        // (What is told follows the peer's clock where that is ahead, and no file here bears its time.)
        toldBeforeCut = min(Int64(clamping: clock.wallMilliseconds), writtenMilliseconds ?? .max)
        clockShown = ClockShown(at: now)
    }

    public mutating func endDistrust() {
        distrustSince = nil
        toldBeforeCut = nil
    }
}
