/// Every bound of the program that is not a user's setting, named with its unit, in one place.
///
/// Those the simulator shrinks at random are stored properties of `Limits`; those that are part of a format
/// or of Linux are static.
public struct Limits: Sendable, Equatable {
    public static let nameBytesMax = 255
    public static let pathBytesMax = 4_096
    public static let pathDepthMax = 128
    public static let symlinkBytesMax = 4_095
    public static let frameBytesMax = 1 << 20
    /// No honest chunk is longer; a chunk must fit a frame.
    public static let chunkBytesMax: UInt32 = 512 << 10
    /// A file of 16 TiB in smallest chunks would not fit one list; lists travel in pages of this many chunks.
    public static let chunksPerPageMax = 8_192
    public static let fileBytesMax: UInt64 = 1 << 44
    public static let ignoreFileBytesMax = 1 << 20
    /// Ignore files that are left out themselves and known over a restart: they are written with every batch.
    public static let untoldRulesMax = 100
    public static let epochsRememberedMax = 64
    public static let nodeNameBytesMax = 64
    /// Of the version that a program says of itself.
    public static let programBytesMax = 64
    public static let featureCountMax = 64
    /// A record document beyond this is not merged. Offsets into one have 32 bits.
    public static let jsonBytesMax = 64 << 20
    public static let jsonDepthMax = 128
    /// A change set with its files: room for the largest document and the operations that make it.
    public static let changeSetBytesMax = 256 << 20
    public static let modelsMax = 64
    public static let formatsMax = 256
    public static let holderBytesMax = 256
    /// Of one lock.
    public static let claimedPathsMax = 1_024
    /// Of who waits for whom on one node, as the other is told.
    public static let claimWaitsMax = 64
    /// Of all of them together: they travel in one frame.
    public static let claimedBytesMax = 512 << 10
    /// Copies that people are told of: the alerts of a start and the list of conflicts are about the same ones.
    public static let conflictCopiesMax = 10_000

    /// Paths looked at together: one inspect, one load, one store.
    public var batchPathsMax = 256
    /// Differences a scan reports at a time.
    public var scanChunkMax = 512
    /// Log records sent in one frame at most.
    public var logRecordsPerFrameMax = 256
    /// Log records in flight to the core that are not yet stored.
    public var importRecordsMax = 2_048
    /// Acknowledged log records kept for `syncctl log`.
    public var logRecordsKept = 10_000
    /// Rows being brought to their target at the same time.
    public var applyTasksMax = 1_024
    /// Content bytes asked for and not yet received.
    public var wantedBytesMax = 8 << 20
    /// Contents that have come and are not on the disk yet: with so much of them nothing more is asked for.
    public var heldBytesMax = 16 << 20
    /// Bytes handed to the link and not yet written out.
    public var outboundBytesMax = 4 << 20
    /// Versions of one path, the latest, among which a content is looked for.
    public var versionsSearchedMax = 256
    /// Versions kept in the last moments of a process that the next one looks at once more for late writers.
    public var lateLooksMax = 65_536
    /// Raw change events noted before the core prefers a rescan.
    public var notedPathsMax = 65_536
    /// Bytes of content per read request and per content frame.
    public var contentFrameBytesMax = 512 << 10

    /// Quiet time before a file that keeps changing is looked at again.
    public var changingRetryMilliseconds: UInt64 = 250
    /// A file read in the same breath in which it was changed is read once more after this at the latest; earlier where
    /// stamps are finer (`Stat.grainMilliseconds`).
    public var racyMilliseconds: UInt64 = 2_100
    /// A file smaller than this is not waited for: reading it twice takes no longer.
    public var readTwiceBytesMax: UInt64 = 8 << 20
    /// First and longest pause before something that failed is tried again.
    public var retryFirstMilliseconds: UInt64 = 500
    public var retryLastMilliseconds: UInt64 = 60_000
    /// A displaced file is looked at once more this long after it was displaced.
    public var lateWriterMilliseconds: UInt64 = 10_000
    /// A version is kept this long however much room there is too little of.
    public var youngVersionMilliseconds: Int64 = 600_000
    /// The notice of a new directory comes within this, or not at all.
    public var youngMilliseconds: UInt64 = 60_000
    /// Deletes within this window are judged together by the fuse.
    public var fuseWindowMilliseconds: UInt64 = 10_000
    /// After so many deletes in so short a time the next wait until no more have come for a while, to be judged together.
    public var deleteBurstFiles = 8
    public var deleteBurstMilliseconds: UInt64 = 250
    public var deleteQuietMilliseconds: UInt64 = 50
    /// A delete waits this long at most for files being read that might turn out to be the same file moved.
    public var deletePatienceMilliseconds: UInt64 = 2_000
    /// A content that its author says it no longer has is given up after this, if nothing newer has come.
    public var lostPatienceMilliseconds: UInt64 = 120_000
    /// What this node may not read or write for so long, or cannot store, is told of.
    public var permissionPatienceMilliseconds: UInt64 = 5_000
    /// What does not come for so long, though the peer is there, is told of.
    public var overdueMilliseconds: UInt64 = 600_000
    /// And for so long: it will hardly come by itself any more.
    public var stalledMilliseconds: UInt64 = 86_400_000
    public var rescanMilliseconds: UInt64 = 3_600_000
    /// Record files that are saved with no more than this between them are one save, as long as the whole does not take longer
    /// than the patience.
    public var saveQuietMilliseconds: UInt64 = 300
    public var savePatienceMilliseconds: UInt64 = 2_000
    /// A save that breaks the rules of its model waits this long for the rest of it before anybody is told.
    public var invalidPatienceMilliseconds: UInt64 = 5_000
    /// A guarded file that is found empty or corrupt may be in the middle of a save for so long.
    public var brokenPatienceMilliseconds: UInt64 = 2_000
    /// A guarded file that goes may come back, as another, within this: it was saved then and not deleted.
    public var guardedDeleteMilliseconds: UInt64 = 1_000
    /// So many change sets of records more than are needed are held in memory at least.
    public var setsForgottenMin = 256
    public var deadPeerMilliseconds: UInt64 = 4_500
    public var helloMilliseconds: UInt64 = 10_000
    public var clockSkewMilliseconds: UInt64 = 2_000
    /// While the clocks differ, the peer is asked for its time this often.
    public var clockAskMilliseconds: UInt64 = 5_000
    /// Rows and names younger than this at a power cut may not have reached the disk.
    public var writebackMilliseconds: UInt64 = 120_000

    public var chunking = ChunkerParameters.standard

    public init() {}

    /// The pause before the next try of what has failed so often in a row.
    public func retryPause(afterTries tries: Int) -> UInt64 {
        var pause = retryFirstMilliseconds
        for _ in 1..<max(1, tries) where pause < retryLastMilliseconds { pause *= 2 }
        return min(pause, retryLastMilliseconds)
    }
}
