import SyncModel

/// The apply protocol: from ready tasks to a folder that shows what is wanted, without a moment in which a crash or a user's
/// save could lose anything.
///
/// Per batch: intents are stored → one disk job exchanges or moves each file into place and looks at what came out → what was
/// not expected goes back → directories are synced → one store batch: rows, versions, log, minus intents. Only then is
/// anything acknowledged. Displaced content is in `versions/` or under the name of a conflict copy before the rows say so.
struct ApplyState: Sendable {
    var batch: RunningBatch?
    /// Paths of tasks that are being prepared or run, and the directories above them whose time they change.
    var writing = SortedMap<Path, Bool>()
    /// Places a restored version is on its way to, and files on their way out because a person said so.
    var restoring = SortedMap<Path, Bool>()
    /// The versions that are on their way there.
    var givingBack = SortedMap<VersionID, Bool>()
    /// Both ends of a directory move that is being carried out: everything below is on the move.
    var moving: [Path] = []
    /// Files that will be renamed by a task of another path.
    var adopted = SortedMap<Path, Bool>()
    /// Rows that have to be told why they wait.
    var blocked = SortedMap<Path, MessageCode>()
    /// Names for conflict copies that turned out to be taken.
    var occupied = SortedMap<Path, Bool>()
    /// Displaced files to look at once more, in order of time.
    var late = Deque<LateLook>()
    /// Looks at them that are under way, with what follows of each: a start may find hundreds.
    var lateLooks = 0
    static let lateLooksMax = 8
    /// A process that did not stop in order has put them there: a sync of theirs may have failed, and then no later one tells that something is not on the disk.
    var unsyncedVersions = SortedMap<VersionID, Bool>()
    /// The batch is being prepared or committed by a transaction.
    var isTransacting = false

    /// A content refused more often than this is taken for lost.
    static let triesForLost = 4
    /// Who never had it waits so many times as long for somebody who knows better.
    static let patiencesForLost: Int64 = 8

    var isIdle: Bool { batch == nil && !isTransacting && blocked.isEmpty }

    func touches(_ path: Path) -> Bool {
        writing.contains(key: path) || adopted.contains(key: path) || restoring.contains(key: path)
            || moving.contains { path == $0 || path.isBelow($0) }
    }

    func touchesBelow(_ directory: Path) -> Bool {
        writing.contains { $0.key == directory || $0.key.isBelow(directory) }
            || adopted.contains { $0.key == directory || $0.key.isBelow(directory) }
    }
}

/// One batch on its way through the disk.
struct RunningBatch: Sendable {
    /// How far our own log had come when it was decided: only what stands behind that was told while it ran.
    let begunAt: LogPosition
    var items: [AppliedItem] = []
    /// What the path of each item is to become.
    private(set) var wanted = SortedMap<Path, Entry>()
    /// Directories of this batch that take a file's place.
    private(set) var exchanged: [Path] = []
    /// Directories below the root whose names change, with the time they are to keep.
    var parents = SortedMap<Path, Timestamp>()
    var parentStats = SortedMap<Path, Stat>()
    /// The directories whose times are being put back, in the order of their programs.
    var timed: [(path: Path, identity: FileIdentity, time: Timestamp)] = []
    /// What is being synced behind them, each by a program of its own.
    var syncs: [DiskOperation] = []
    /// Items whose undo program runs, by index.
    var undoing: [Int] = []
    /// Items of those whose undo program runs again without looking first.
    var undoingBlindly: [Int] = []
    /// Items of which what was put back gives way to a save over ours, with what that left in the tree.
    var givingWay: [(index: Int, back: Stat)] = []
    /// Items of which a stranger's file is on its way from the stage into the tree.
    var rescuing: [Int] = []
    /// How often the disk has failed to put something back, or to make a directory for it.
    var rescues = 0
    static let rescuesMax = 4

    init(begunAt: LogPosition) { self.begunAt = begunAt }

    mutating func add(_ item: AppliedItem) {
        items.append(item)
        wanted[item.task.path] = item.wanted.entry
        if case .replaceByDirectory = item.step { exchanged.append(item.task.path) }
    }
}

struct AppliedItem: Sendable {
    let task: PlanState.Errand
    /// What this batch decided, from the row as it was when the batch was made.
    let wanted: Resolution
    let step: Reconciler.Step
    let intent: Intent
    let displaced: Intent.Displaced?
    let program: DiskProgram
    /// From this operation on the tree has changed.
    let turningPoint: Int
    let undo: DiskProgram?
    /// What the rename of another path's file applies there.
    var sourceVersion = VersionVector.none
    var outcome = Outcome.running
    /// Where a stranger's file was put that ended up in our stage.
    var rescuedTo: Path?
    /// That file, or what else was to go back from there, if it was seen.
    var inStage: Stat?
    /// Something is still in the stage that only the next restart can sort out.
    var keepsIntent = false
    /// What we have put there stands there and cannot be taken back; what made room is in the stage, or beside it.
    var isInPlace = false
    /// A directory that was to be made and then, because that could not be finished, to be removed; neither could be done.
    var standing: Stat?
    /// A file that has its new name and could not be given the old one again.
    var stranded: Stat?
    /// What is to go back to its name finds no directory there any more.
    var needsParents = false
    /// What came out of its place has been seen to be what was expected there.
    var isAsExpected = false
    /// A file that stood in the tree before could not be synced.
    var isUnwritten = false
    /// So many operations of its program were done before one failed.
    var performed = 0
    /// What was to take its place is in the stage, like this, and can take it later.
    var leftAgain: Stat?

    enum Outcome: Sendable {
        case running
        /// With what its program inspected.
        case done([Stat?])
        case failed(DiskError)
        /// Somebody changed the file in the very moment; it is back where it was.
        case raced

        var isDone: Bool { if case .done = self { true } else { false } }
    }

    /// A directory that could not be finished, and is gone again (known once its undoing has been judged).
    var isUnmade: Bool { step == .makeDirectory && !outcome.isDone && standing == nil && !keepsIntent }

    /// What has to make room goes on in the tree.
    var makesCopy: Bool { if case .conflictCopy? = displaced { true } else { false } }

    /// From this operation on the program only looks at what it has done.
    var lastLook: Int {
        let isLook = { (operation: DiskOperation) in if case .inspect = operation { true } else { false } }
        return (program.operations.lastIndex { !isLook($0) } ?? -1) + 1
    }

    /// What our program has put in its place, as it was before: staged, or under another name; or what it has given another mode or time
    /// where it stands. Not known by what it has become, it would be a person's once the peer has told of something newer.
    var source: Stat? { task.stage?.stat ?? task.adoptedFrom?.stat ?? (step == .adjust ? task.stat : nil) }

    /// The file or link that got another mode or time where it stands, as it is since: its other names have got them as well.
    var adjusted: Stat? { step == .adjust ? left.flatMap { $0.kind == .directory ? nil : $0 } : nil }

    /// The file that did, or got another name.
    var retimed: Stat? {
        guard step == .adjust || task.adoptedFrom != nil else { return nil }
        return left.flatMap { $0.kind == .file ? $0 : nil }
    }

    private var left: Stat? {
        guard case .done(let stats) = outcome else { return nil }
        return stats.first ?? nil
    }

    /// The file of which a version is kept.
    var keptFile: FileIdentity? {
        guard outcome.isDone, let stat = intent.version?.stat, stat.kind == .file, stat.size > 0 else { return nil }
        return stat.identity
    }

    /// What puts back what could not be finished. A file that goes back to its name gets back there what it has been given for the other: the
    /// process may end before anything is on record, and the next would take it for a person's.
    var takingBack: DiskProgram? {
        guard let undo, let (path, before) = task.adoptedFrom else { return undo }
        let isTimed = program.operations.prefix(performed).contains { operation in
            if case .setModified = operation { true } else { false }
        }
        var timed = before
        timed.modified = wanted.entry.modified
        guard isTimed, timed.modified != before.modified || wanted.entry.mode != before.mode else { return undo }
        let there = Place.tree(path)
        return DiskProgram(
            undo.operations + [
                .expectContent(there, timed), .setMode(there, before.mode), .setModified(there, before.modified),
            ])
    }

    /// The path that holds nothing any more once it is done.
    var emptied: Path? { step.isRemoval ? task.path : task.adoptedFrom?.path }

    /// All rows this item reads or writes.
    var paths: [Path] {
        var paths = [task.path]
        if let from = task.adoptedFrom?.path { paths.append(from) }
        if case .conflictCopy(let copy)? = displaced { paths.append(copy) }
        return paths
    }
}
