/// What the watcher has to tell, gathered until it is told.
public import SyncModel

public struct WatchNews: Hashable, Sendable {
    /// One for each path, in the order of their first mention, each with the last that happened there; what was closed
    /// stays so whatever touches it.
    public internal(set) var notices: [Notice] = []
    /// Changes may have gone unnoticed: everything has to be compared. After a loss of events only the root is
    /// watched; the scan watches each directory again before it lists it.
    public internal(set) var hasOverflowed = false
    /// A directory could not be watched (fs.inotify.max_user_watches). `Watcher.isLimited` says whether that is still
    /// so.
    public internal(set) var limitReached = false
    /// Everything that had happened when this flush was asked for (`Watcher.requestFlush`) is told by now.
    public internal(set) var flushed: UInt64?
    /// `Watcher.interrupt` was called.
    public internal(set) var isInterrupted = false

    private var places: [Path: Int] = [:]

    public init() {}

    var isEmpty: Bool { notices.isEmpty && !hasOverflowed && !limitReached && flushed == nil && !isInterrupted }

    mutating func note(_ path: Path, _ kind: Notice.Kind) {
        let notice = Notice(path: path, kind: kind)
        if let place = places[path] {
            if kind == .touched, notices[place].kind == .closed { return }
            notices[place] = notice
        } else {
            places[path] = notices.count
            notices.append(notice)
        }
    }
}
