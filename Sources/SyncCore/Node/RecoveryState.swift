import SyncModel

/// The start of a process: finish or undo what the last one left in the middle, then look at everything once.
///
/// Nothing in the stage is thrown away before its intent has been read, and nothing is done before the root is known to be ours.
struct RecoveryState: Sendable {
    var intents: [Intent]?
    var staged: [StagedFile]?
    var isListing = false
    var isLooking = false
    /// Nothing is known of what lies in the stage: the state is new, or was wiped.
    var isFirstStart = false
    /// The process before this one did not stop in order.
    var isAfterCrash = false
    /// Temporary files of ours were in the stage that nothing tells of.
    var hasSwept = false
    /// Looks that failed are taken again, and when: an intent that cannot be dealt with now keeps a file out of the history
    /// until the next start.
    var looks = 0
    var lookAt: UInt64 = 0
    static let looksMax = 5
    /// What the looks have shown, and which of them are to be taken again.
    var seen: [DiskResult] = []
    var unseen: [Int] = []
    var isRenumbering = false
    /// Store operations of a renumbering that is not complete yet.
    var renumbered: [StoreOperation] = []
    var findings = Findings()

    /// What recovery found and did.
    struct Findings: Sendable {
        /// Intents that are dealt with, unless a program of theirs fails.
        var done = SortedMap<StageName, Bool>()
        /// The intent each repair belongs to; nil for what is only swept.
        var owners: [StageName?] = []
        /// The repairs that belong to an intent come first.
        var repairs: [DiskProgram] = []
        var versions: [KeptVersion] = []
        var looks: [Path] = []
        var rescued: [Path] = []
        /// Directories that come back out of the stage. The watch was set on what stood in the tree when this process began, so it may not
        /// be on them before the first notice of them has been read.
        var returned: [Path] = []
        /// What the last process put in its place without getting to say so.
        var placed: [Placed] = []
        /// What it had made ready for a place that is not free.
        var left: [Left] = []
        /// What it had made, or begun to make, and nothing tells of.
        var spares: [StagedFile] = []
        /// What it took away.
        var taken: [Taken] = []
        /// Directories that it moved for the peer, and that cannot be taken back.
        var leftThere: [LeftThere] = []
        /// Versions that are back in the tree.
        var givenBack: [VersionID] = []

        func isToBePlaced(_ stage: StageName) -> Bool { placed.contains { $0.stage == stage } }
    }

    struct Taken: Sendable {
        let path: Path
        /// Nil for a directory.
        let identity: FileIdentity?
        /// Where the peer's move has taken it.
        var moved: Moved?
        /// It is back, in this directory: only if that is the one into which the move had taken it, it was taken there.
        var directory: FileIdentity?
    }

    struct Moved: Sendable {
        let path: Path
        let stat: Stat
        let shown: Intent.Shown
    }

    struct Placed: Sendable {
        let path: Path
        let entry: Entry
        let stat: Stat
        let shown: Intent.Shown
        /// What had to make room stands there, under the name of a conflict copy.
        var copy: Copy?
        /// Where it still lies, if a repair is to put it there.
        var stage: StageName?
        /// It stood there before, and the last process may have ended with its sync, which may have failed.
        var mayBeUnwritten = false
    }

    struct LeftThere: Sendable {
        let move: Relocation
        let identity: FileIdentity
    }

    struct Left: Sendable {
        let path: Path
        let staged: PlanState.Staged
    }

    struct Copy: Sendable {
        let path: Path
        let stat: Stat
    }
}
