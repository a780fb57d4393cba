/// Visits what lies below a directory, in path order, without what the rules ignore and what is our own.
///
/// Only the listings on the way down are held, never the tree. A walk can be put aside between two chunks of a scan:
/// the directories of a million files are then not listed anew for every chunk.
import SyncModel

struct ScanWalk: Sendable {
    /// Where a walk takes place. It is handed in with every step: a walk that was put aside must not keep the folder
    /// open.
    struct Ground {
        let folder: Folder
        let watcher: Watcher?
        let rules: IgnoreRules
    }

    struct Entry: Sendable {
        let path: Path
        let stat: Stat
    }

    private struct Level: Sendable {
        let path: Path
        let depth: Int
        let directory: OpenFile
        let listing: Listing
        var next = 0
    }

    /// What could not be read: unknown, not absent.
    private(set) var unreadable: [Path] = []
    /// Of that, what no right to read would help with.
    private(set) var unsupported: [Path] = []
    private var levels: [Level] = []
    /// Visited already, and not yet compared.
    private var pending: Entry?

    /// False if nothing can be said about what lies below the directory.
    mutating func begin(_ request: ScanRequest, on ground: Ground) -> Bool {
        if request.directory.isReserved {
            unreadable.append(request.directory)
            return false
        }
        do throws(Failure) {
            let isContinued = request.after != nil
            try enter(
                try ground.folder.openDirectory(request.directory, .list), request.directory, skips: isContinued,
                on: ground)
        } catch {
            // Nothing is below what is not there or is no directory.
            if error.isAbsence { return true }
            note(error, at: request.directory)
            return false
        }
        if let after = request.after, after.isBelow(request.directory) { skip(to: after, on: ground) }
        return true
    }

    mutating func next(on ground: Ground) -> Entry? {
        if let entry = pending {
            pending = nil
            return entry
        }
        while var level = levels.popLast() {
            guard level.next < level.listing.indices.upperBound else {
                ground.watcher?.cover(level.path, level.directory.status)
                continue
            }
            let index = level.next
            level.next += 1
            let name = Array(level.listing.name(at: index))
            let isDirectory = level.listing.isDirectory(at: index)
            let directory = level.directory
            let status = { () throws(Failure) in try level.listing.status(at: index, in: directory.descriptor) }
            let path = child(name, of: level)
            let found = path.flatMap { visit($0, isDirectory, status, on: ground) }
            levels.append(level)
            guard let path, let found else { continue }
            if found.kind == .directory { enter(name, path, from: directory, skips: false, on: ground) }
            return Entry(path: path, stat: found)
        }
        return nil
    }

    mutating func putBack(_ entry: Entry?) {
        pending = entry
    }

    /// True for what lies in a directory that could not be listed, and for what could not be looked at itself.
    func hides(_ path: Path) -> Bool {
        unreadable.contains { path == $0 || path.isBelow($0) }
    }

    mutating func hide(_ path: Path, _ error: Failure) {
        unreadable.append(path)
        if error.error == .crossDevice { unsupported.append(path) }
    }

    // MARK: Between two chunks

    /// Forgets what has been told, but for what hides the paths that come next.
    mutating func rest(at path: Path) {
        unreadable.removeAll { !(path == $0 || path.isBelow($0)) }
        unsupported.removeAll { !(path == $0 || path.isBelow($0)) }
    }

    /// Whether every listing is still that of the directory which its path leads to.
    func isInPlace(on ground: Ground) -> Bool {
        levels.allSatisfy { level in
            do throws(Failure) {
                return try ground.folder.openDirectory(level.path, .way).status().isSameFile(as: level.directory.status)
            } catch {
                return false
            }
        }
    }

    // MARK: Steps

    /// What stands there, if it is to be compared.
    private mutating func visit(
        _ path: Path, _ isDirectory: Bool?, _ status: () throws(Failure) -> Status, on ground: Ground
    ) -> Stat? {
        if path.isReserved { return nil }
        if let isDirectory, ground.rules.isIgnored(path.bytes, isDirectory: isDirectory) { return nil }
        do throws(Failure) {
            let stat = try ground.folder.device.stat(try status())
            // The listing did not know, or it has become something else since.
            if isDirectory != (stat.kind == .directory),
                ground.rules.isIgnored(path.bytes, isDirectory: stat.kind == .directory)
            {
                return nil
            }
            return stat
        } catch {
            note(error, at: path)
            return nil
        }
    }

    /// Nil for what is deeper or longer than a path may be. Nothing can be said of it, so the directory counts as
    /// unreadable.
    private mutating func child(_ name: [UInt8], of level: Level) -> Path? {
        if level.depth < Limits.pathDepthMax, level.path.bytes.count + 1 + name.count <= Limits.pathBytesMax,
            let name = Name(name)
        {
            return level.path.appending(name)
        }
        if unreadable.last != level.path {
            unreadable.append(level.path)
            unsupported.append(level.path)
        }
        return nil
    }

    private mutating func note(_ error: Failure, at path: Path) {
        if !error.isAbsence { hide(path, error) }
    }

    private mutating func enter(
        _ name: [UInt8], _ path: Path, from parent: OpenFile, skips: Bool, on ground: Ground
    ) {
        do throws(Failure) {
            try enter(try parent.descriptor.openChild(CName(name), .list), path, skips: skips, on: ground)
        } catch {
            // Gone since it was looked at: whoever compares what was below looks for itself.
            note(error, at: path)
        }
    }

    /// Watched first, then listed: what comes in between is told by the watcher. So is what the walk is going to skip,
    /// should the directory be a new one.
    private mutating func enter(
        _ directory: consuming Descriptor, _ path: Path, skips: Bool, on ground: Ground
    ) throws(Failure) {
        let directory = try OpenFile(directory)
        ground.watcher?.arm(path, directory.status, isPartly: skips)
        let listing = try Listing(of: directory.descriptor)
        levels.append(Level(path: path, depth: path.depth, directory: directory, listing: listing))
    }

    /// Goes to where an earlier walk has stopped, whether or not that path is still there.
    private mutating func skip(to path: Path, on ground: Ground) {
        guard let start = levels.last?.path else { return }
        let tail = start.isRoot ? path.bytes[...] : path.bytes[(start.bytes.count + 1)...]
        for component in tail.split(separator: 0x2F) {
            let name = Array(component)
            guard let level = levels.last else { return }
            let next = level.listing.firstIndex(after: name)
            levels[levels.count - 1].next = next
            guard next > 0, level.listing.name(at: next - 1).elementsEqual(name),
                level.listing.isDirectory(at: next - 1) ?? true, let below = child(name, of: level), !below.isReserved,
                !ground.rules.isIgnored(below.bytes, isDirectory: true)
            else { return }
            let depth = levels.count
            enter(name, below, from: level.directory, skips: true, on: ground)
            if levels.count == depth { return }
        }
    }
}
