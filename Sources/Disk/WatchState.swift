/// The watcher's knowledge, and what each event does to it. Guarded by the lock of `Watcher`.
///
/// No event about a directory is believed further than that something happened to a name: the name is looked at, and
/// the number that inotify gives for what is found there says which directory it is. So it does not matter in which
/// order events and looks come, nor that a scan sets watches meanwhile. Every directory that is put in a place causes
/// an event there after it was put, and with it a look; what is at no place any more when all events are read has
/// left.
import Glibc
import SyncModel

struct WatchState {
    private struct Slot {
        let parent: WatchNumber
        let name: [UInt8]
    }

    private let folder: Folder
    private(set) var inotify: Inotify
    private var table = WatchTable()
    private var rules = IgnoreRules()
    private var news = WatchNews()

    private(set) var isLimited = false
    private var wasRefusedInScan = false
    /// The table cannot be trusted any more.
    private var isLost = false

    /// Watches of directories that have left. Each removal is an event too: too many at once would fill the queue.
    private var retired: Set<WatchNumber> = []
    private static let retiredAtOnceMax = 1_024

    /// Names in directories that are not where the table says, and what happened in directories that are adrift.
    private var unseen: [Slot] = []
    private var unplaced: [WatchEvent] = []

    /// More paths than this in directories that have just appeared are better found by a scan.
    private static let listedMax = 32_768

    init(_ folder: Folder) throws(FolderError) {
        self.folder = folder
        inotify = try step("inotify_init1", folder.path) { () throws(Failure) in try Inotify() }
        do throws(Failure) {
            try watchRoot()
        } catch {
            throw FolderError(error, operation: "inotify_add_watch", subject: folder.path)
        }
    }

    var count: Int { table.count }

    mutating func takeNews() -> WatchNews {
        defer { news = WatchNews() }
        return news
    }

    var hasNews: Bool { !news.isEmpty }

    // MARK: Events

    /// Something is missing that an event on its way should bring.
    var isWaiting: Bool { !unseen.isEmpty || !unplaced.isEmpty || !table.adrift.isEmpty || !retired.isEmpty }

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
            return
        }
        guard let directory = table.path(of: event.watch) else {
            if table.isBeyond(event.watch) { return }
            if unplaced.count < WatchState.listedMax { unplaced.append(event) } else { isLost = true }
            return
        }
        guard let path = directory.child(event.name), !path.isReserved else { return }
        news.note(path, event.kind)
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
        // What was only told of those is told of nothing now.
        retry()
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
            inotify = try Inotify()
        } catch {
            // The old queue serves as well: what it says of watches that are not in the table is passed over.
        }
        do throws(Failure) {
            try watchRoot()
        } catch {
            noteUnwatched()
        }
    }

    // MARK: Looking at names

    /// Sets the table right about a name, and about everything below if a directory has appeared there; but not below
    /// one that a scan is about to list.
    private mutating func look(_ slot: Slot, scanned: Status? = nil) {
        var open = [slot]
        var listed = 0
        while let slot = open.popLast(), !isLost {
            do throws(Failure) {
                guard let (watch, directory) = try see(slot), !table.isCovered(watch) else { continue }
                if let scanned, scanned.isSameFile(as: directory.status) { continue }
                table.cover(watch)
                let names = try list(directory, watch, &listed)
                open += names.map { Slot(parent: watch, name: $0) }
            } catch {
                // A directory that may not be read is told by the scan. Anything else will pass.
                if error.error != .permission && !error.isAbsence { news.hasOverflowed = true }
            }
        }
    }

    /// The directory that bears the name now, and is watched.
    private mutating func see(_ slot: Slot) throws(Failure) -> (WatchNumber, OpenFile)? {
        if !table.contains(slot.parent) { return nil }
        if table.isBeyond(slot.parent) { return nil }
        guard let parent = table.path(of: slot.parent), let above = try directory(of: slot.parent, at: parent) else {
            unseen.append(slot)
            return nil
        }
        guard let path = parent.child(slot.name), !path.isReserved else { return nil }
        guard !rules.isIgnored(path.bytes, isDirectory: true), let found = try directory(slot.name, in: above),
            let watch = try watch(found)
        else {
            table.clear(slot.name, in: slot.parent)
            return nil
        }
        isLost = !table.place(watch, found.status, slot.name, in: slot.parent)
        return isLost ? nil : (watch, found)
    }

    /// A directory of the table; nil if its path leads elsewhere by now.
    private func directory(of watch: WatchNumber, at path: Path) throws(Failure) -> OpenFile? {
        do throws(Failure) {
            let found = try OpenFile(try folder.openDirectory(path, .way))
            return table.identity(of: watch)?.isSameFile(as: found.status) == true ? found : nil
        } catch {
            if error.isAbsence || error.error == .crossDevice { return nil }
            throw error
        }
    }

    /// Nil if there is no directory of ours under the name.
    private func directory(_ name: [UInt8], in above: OpenFile) throws(Failure) -> OpenFile? {
        do throws(Failure) {
            let found = try OpenFile(try above.descriptor.openChild(CName(name), .way))
            return found.status.device == folder.device.raw ? found : nil
        } catch {
            if error.isAbsence || error.error == .crossDevice { return nil }
            throw error
        }
    }

    /// Nil if the kernel refuses, or the directory went while it was looked at.
    private mutating func watch(_ directory: OpenFile) throws(Failure) -> WatchNumber? {
        do throws(Failure) {
            let watch = try inotify.add(directory.descriptor, isRoot: false)
            // It may have come back before its watch was gone.
            retired.remove(watch)
            return watch
        } catch {
            if error.errno == ENOSPC || error.errno == ENOMEM {
                noteUnwatched()
                return nil
            }
            if error.isAbsence { return nil }
            throw error
        }
    }

    private mutating func noteUnwatched() {
        news.limitReached = true
        isLimited = true
        wasRefusedInScan = true
    }

    /// What is in a directory that has just got its watch was there before it. The names that may be directories.
    private mutating func list(
        _ directory: OpenFile, _ watch: WatchNumber, _ listed: inout Int
    ) throws(Failure) -> [[UInt8]] {
        guard let path = table.path(of: watch) else { return [] }
        let listing = try Listing(of: try directory.descriptor.openChild(.current, .list))
        var directories: [[UInt8]] = []
        for index in listing.indices {
            let name = Array(listing.name(at: index))
            guard let child = path.child(name) else { continue }
            if listing.isDirectory(at: index) ?? true { directories.append(name) }
            listed += 1
            if listed > WatchState.listedMax { news.hasOverflowed = true } else { news.note(child, .touched) }
        }
        return directories
    }

    private mutating func release(_ watch: WatchNumber) {
        retired.formUnion(table.remove(watch))
    }

    /// Before the queue is read: there is room for what this writes.
    mutating func retire() {
        for watch in retired.prefix(WatchState.retiredAtOnceMax) {
            inotify.remove(watch)
            retired.remove(watch)
        }
    }

    // MARK: What scans ask for

    mutating func beginScan(_ request: ScanRequest, _ rules: IgnoreRules) {
        self.rules = rules
        if request.directory.isRoot, request.after == nil { wasRefusedInScan = false }
    }

    mutating func endScan(_ request: ScanRequest) {
        if request.directory.isRoot { isLimited = wasRefusedInScan }
    }

    /// Watches a directory that a scan has opened and is about to list, or to list in part.
    mutating func arm(_ path: Path, _ status: Status, isPartly: Bool) {
        guard let name = path.name, let above = path.parent else {
            _ = watch(at: path)
            return
        }
        guard let parent = watch(at: above) else { return }
        if let known = table.child(name.bytes, of: parent), table.identity(of: known)?.isSameFile(as: status) == true {
            return
        }
        look(Slot(parent: parent, name: name.bytes), scanned: isPartly ? nil : status)
    }

    /// A scan has been in all directories of this one. Until then it cannot be moved without being listed, because the
    /// scan would look for them under the old name.
    mutating func cover(_ path: Path, _ status: Status) {
        var watch = table.root
        for component in path.bytes.split(separator: 0x2F) {
            watch = watch.flatMap { table.child(Array(component), of: $0) }
        }
        guard let watch, table.identity(of: watch)?.isSameFile(as: status) == true else { return }
        table.cover(watch)
    }

    /// The watch of a directory, set where it is missing on the way.
    private mutating func watch(at path: Path) -> WatchNumber? {
        if table.root == nil {
            do throws(Failure) {
                try watchRoot()
            } catch {
                noteUnwatched()
            }
        }
        guard var watch = table.root else { return nil }
        for component in path.bytes.split(separator: 0x2F) {
            let name = Array(component)
            if table.child(name, of: watch) == nil { look(Slot(parent: watch, name: name)) }
            guard let next = table.child(name, of: watch) else { return nil }
            watch = next
        }
        return watch
    }

    private mutating func watchRoot() throws(Failure) {
        table.setRoot(try inotify.add(folder.root, isRoot: true), try folder.root.status())
    }
}

extension Path {
    /// Nil if it is no path within the limits.
    fileprivate func child(_ name: [UInt8]) -> Path? {
        Path(isRoot ? name : bytes + [0x2F] + name)
    }
}
