import SyncModel

/// What to do next: rows that want something become tasks, as many as may be under way at once.
///
/// Fresh wishes are planned at once. When there are more than fit, or after a restart, rounds go through all unsettled rows:
/// ascending, so that directories come before what is in them, then descending, so that they are removed after it. Contents
/// that a round had no room for are filled in later from where the room ended: rounds for each of them would be square work.
struct PlanState: Sendable {
    struct Errand: Sendable {
        let path: Path
        let step: Reconciler.Step
        let wanted: Resolution
        /// The disk as it was when this was decided.
        let stat: Stat?
        var content: ContentID?
        /// What stands there now, a list of whose chunks is known.
        var base: ContentID?
        var stage: Staged?
        /// The path whose file is renamed instead of being copied.
        var adoptedFrom: (path: Path, stat: Stat)?
        /// Where what is displaced goes on as a conflict copy, if it does.
        var copy: Path?
        /// What the header of the staged file says, if the file is guarded.
        var format: FormatMark?
        /// What stands there, as the disk has shown since that was read.
        var confirmed: Stat?
        /// Others that want the same content, to be planned again when this one is done.
        var followers: [Path] = []
        var state: State

        enum State: UInt8, Sendable {
            case locating, fetching
            /// The header of the staged file is being read, or what stands there is looked at against it.
            case examined
            case ready
            /// It is not its turn yet among programs that hold or show the file.
            case claiming
            case running
        }
    }

    /// A finished temporary file of ours.
    struct Staged: Sendable {
        let name: StageName
        let stat: Stat
        /// What it is made of, to be stored with the row; nil for what has no content.
        let chunks: ChunkList?
        /// The state it was finished with; mode and time may have changed since.
        let entry: Entry
        /// It was to take its place before, and its intent is still there.
        var isLeft = false
    }

    enum Round: Sendable {
        case none
        case ascending(after: Path?)
        case descending(before: Path?)
        /// Only until there is no room again.
        case filling(after: Path)
    }

    var tasks = SortedMap<Path, Errand>()
    /// Paths that may want something, to be planned next.
    var fresh = SortedMap<Path, Bool>()
    /// Paths to be planned once the look at them has been taken.
    var afterLook = SortedMap<Path, Bool>()
    /// Paths that failed a moment ago.
    var resting = SortedMap<Path, Bool>()
    /// Paths to be planned once the batch that touches them is done.
    var afterBatch = SortedMap<Path, Bool>()
    /// Rules that have left their old name in a move, to be planned once all of that has been told.
    var afterMove = SortedMap<Path, Bool>()
    /// There were more paths than tasks may be; to be planned when there are fewer tasks than this.
    var overfullAt: Int?
    /// The first path, in their order, whose content had no room.
    var crowdedOut: Path?
    var round = Round.none
    var roundIsWanted = false
    /// A path became free in this round that others may have waited for.
    var madeProgress = false
    var someWait = false
    var isPlanning = false
    /// Tasks whose content may be here already.
    var toLocate: [WantedContent] = []
    var isLocating = false
    /// Temporary files nobody needs any more.
    var abandoned: [StageName] = []
    /// Those that the last process left, by the paths that want them.
    var left = SortedMap<Path, Staged>()
    var spares = SpareState()

    var isIdle: Bool {
        guard case .none = round else { return false }
        guard crowdedOut == nil, toLocate.isEmpty, !isLocating, spares.isIdle else { return false }
        return tasks.isEmpty && fresh.isEmpty && !roundIsWanted && !isPlanning
    }

    static let freshMax = 4_096

    mutating func want(_ path: Path) {
        if fresh.count < PlanState.freshMax { fresh[path] = true } else { roundIsWanted = true }
    }

    mutating func startRound() { roundIsWanted = true }

    /// Paths that had to wait need wait no more. Where none waits, nothing is gone through.
    mutating func endRest(of isOver: (Path) -> Bool) {
        let over = resting.filter { isOver($0.key) }.map(\.key)
        for path in over { resting[path] = nil }
        if !over.isEmpty || someWait || resting.count >= PlanState.freshMax { startRound() }
    }
}

/// A path and the content it is to have.
struct WantedContent: Hashable, Sendable {
    let path: Path
    let content: ContentID
    /// It may be among the versions of its path: a private copy of a guarded file, or the peer has said that it has it no more.
    let mayBeKept: Bool
    /// The peer has said that it cannot give it now; it may be here, in a file that the rules leave out.
    let mayBeLeftOut: Bool
    /// Nothing has failed with it yet. What the rules leave out is not looked at, so that a rename of it that has failed would go on failing.
    let isUntried: Bool
}
