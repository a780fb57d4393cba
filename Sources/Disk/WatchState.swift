/// The watcher's knowledge, and what each event does to it. Guarded by the lock of `Watcher`.
///
/// No event about a directory is believed further than that something happened to a name: the name is looked at, and
/// the number that the queue gives for what is found there says which directory it is. So it does not matter in which
/// order events and looks come, nor that a scan sets watches meanwhile. Every directory that is put in a place causes
/// an event there after it was put, and with it a look; what is at no place any more when all events are read has
/// left.
import Glibc
import SyncModel

struct WatchState {
    struct Slot {
        let parent: WatchNumber
        let name: [UInt8]
    }

    let folder: Folder
    private(set) var queue: any WatchQueue
    /// To begin anew with, in the place of a queue whose kernel gives no more watches.
    private var successor: Fanotify?
    private var hasSoughtSuccessor = false
    var table = WatchTable()
    var rules = IgnoreRules()
    var news = WatchNews()

    var isLimited = false
    var wasRefusedInScan = false
    /// The table cannot be trusted any more.
    var isLost = false

    /// Watches of directories that have left. Each removal is an event too: too many at once would fill the queue.
    var retired: Set<WatchNumber> = []
    static let retiredAtOnceMax = 1_024

    /// Names in directories that are not where the table says, and what happened in directories that are adrift.
    var unseen: [Slot] = []
    private var unplaced: [WatchEvent] = []

    /// More paths than this in directories that have just appeared are better found by a scan.
    static let listedMax = 32_768

    init(_ folder: Folder, _ queue: any WatchQueue) throws(FolderError) {
        self.folder = folder
        self.queue = queue
        do throws(Failure) {
            try watchRoot()
        } catch {
            throw FolderError(error, operation: "inotify_add_watch", subject: folder.path)
        }
    }

    private mutating func nextQueue() throws(Failure) -> any WatchQueue {
        if let successor = successor.take() { return successor }
        return queue is Fanotify ? try Fanotify(root: folder.root) : try Inotify()
    }

    /// The kernel gives no more watches.
    mutating func noteLimit() {
        guard !hasSoughtSuccessor else { return noteUnwatched() }
        hasSoughtSuccessor = true
        do throws(Failure) {
            successor = try Fanotify(root: folder.root)
            isLost = true
        } catch {
            noteUnwatched()
        }
    }

    var count: Int { table.count }

    private var lastFlush: UInt64 = 0
    private var wantedFlush: UInt64?

    mutating func requestFlush() -> UInt64 {
        lastFlush += 1
        wantedFlush = lastFlush
        return lastFlush
    }

    mutating func takeFlush() -> UInt64? { wantedFlush.take() }

    mutating func takeNews() -> WatchNews {
        defer { news = WatchNews() }
        return news
    }

    /// `next` has something to do.
    var needsAttention: Bool { !news.isEmpty || isLost }

    // MARK: Events

    /// Something is missing that an event on its way should bring.
    var isWaiting: Bool {
        isLost || !unseen.isEmpty || !unplaced.isEmpty || !table.adrift.isEmpty || !retired.isEmpty
    }

    mutating func take(_ events: [WatchEvent]) {
        for event in events where !isLost { take(event) }
        if !isLost { retry() }
        if isLost { startAnew() }
    }

    private mutating func take(_ event: WatchEvent) {
        if event.has(IN_Q_OVERFLOW) {
            isLost = true
            return
        }
        guard table.contains(event.watch) else { return }
        if event.has(IN_IGNORED) {
            release(event.watch)
            retired.remove(event.watch)
            return
        }
        if event.name.isEmpty {
            let isEnd = event.has(IN_DELETE_SELF) || event.has(IN_MOVE_SELF) || event.has(IN_UNMOUNT)
            // The folder itself is gone or elsewhere: looking at it will tell.
            if isEnd, event.watch == table.root { news.hasOverflowed = true }
            if isEnd { return }
        }
        guard let directory = table.path(of: event.watch) else {
            if table.isBeyond(event.watch) { return }
            if unplaced.count < WatchState.listedMax { unplaced.append(event) } else { isLost = true }
            return
        }
        guard !event.name.isEmpty else {
            if !directory.isRoot { news.note(directory, .touched) }
            return
        }
        guard let path = directory.child(event.name) else {
            // Deeper or longer than a path may be: the directory is what can be told of.
            if directory.mayRefuseChild { news.note(directory, .touched) }
            return
        }
        guard !path.isReserved else { return }
        news.note(path, event.kind)
        if event.has(IN_ISDIR), event.has(IN_DELETE), let watch = table.child(event.name, of: event.watch) {
            table.bury(watch, at: path).map { release($0) }
        }
        let isUnwatched = table.child(event.name, of: event.watch) == nil
        if event.has(IN_ISDIR), event.isAboutName || isUnwatched {
            look(Slot(parent: event.watch, name: event.name))
        }
    }

    /// What could not be placed before may be by now.
    private mutating func retry() {
        let slots = unseen
        unseen = []
        for slot in slots { look(slot) }
        let events = unplaced
        unplaced = []
        for event in events { take(event) }
    }

    /// No event comes any more. False if directories are still not where all events together say.
    mutating func settle() -> Bool {
        if !isLost { retry() }
        if isLost { startAnew() }
        for watch in table.adrift { release(watch) }
        for watch in table.leftBehind { release(watch) }
        // What was only told of those is told of nothing now.
        retry()
        unseen.removeAll { table.isRemoved($0.parent) }
        return !isWaiting
    }

    /// A fresh queue with nothing but the root in it. The old one goes with its events and its watches: to remove each
    /// of them would fill the queue again.
    mutating func startAnew() {
        isLost = false
        news.hasOverflowed = true
        table = WatchTable()
        retired = []
        unseen = []
        unplaced = []
        do throws(Failure) {
            queue = try nextQueue()
        } catch {
            // The old queue serves as well: what it says of watches that are not in the table is passed over.
        }
        do throws(Failure) {
            try watchRoot()
        } catch {
            noteUnwatched()
        }
    }
}
