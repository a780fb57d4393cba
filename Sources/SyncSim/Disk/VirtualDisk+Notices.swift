/// The watcher: a bounded queue of notices, filled as inotify fills it.
///
/// Watches belong to directories. One that was just made or moved here has none until its notice has been read, so what
/// happens in it meanwhile is told by nobody: the reader has to look for itself.
package import SyncModel

extension VirtualDisk {
    /// The daemon begins to watch the tree as it is.
    package mutating func startWatching() {
        stopWatching()
        isWatching = true
        if let root { watch(root) }
    }

    /// Of the daemon's death: watches and unread notices go with their descriptor.
    mutating func stopWatching() {
        isWatching = false
        notices = []
        noticesOverflowed = false
        for key in inodes.keys where inodes[key].isWatched { inodes[key].isWatched = false }
        forgetRemovedDirectories()
    }

    private mutating func forgetRemovedDirectories() {
        for (handle, file) in handles where file.removedDirectory != nil { handles[handle]?.removedDirectory = nil }
    }

    /// Reads the queue, and sets watches on the directories that it tells of. After an overflow all of the tree is watched
    /// anew. (In the folder that the daemon has open, be it out of sight.)
    package mutating func takeNotices() -> (notices: [Notice], overflowed: Bool) {
        let there = enterOpenFolder()
        defer { leaveOpenFolder(to: there) }
        let taken = (notices: notices, overflowed: noticesOverflowed)
        notices = []
        noticesOverflowed = false
        if taken.overflowed, let root {
            forgetRemovedDirectories()
            watch(root)
        } else {
            for notice in taken.notices where notice.kind == .touched {
                if case .success(.some(let key)) = find(notice.path), inodes[key].isDirectory { watch(key) }
            }
        }
        return taken
    }

    package var hasNotices: Bool { noticesOverflowed || !notices.isEmpty }

    mutating func watch(_ directory: InodeKey) {
        var open = [directory]
        while let key = open.popLast() {
            inodes[key].isWatched = true
            for (name, child) in inodes[key].entries where inodes[child].isDirectory {
                if key != root || name != VirtualDisk.ownName { open.append(child) }
            }
        }
    }

    mutating func notice(_ kind: Notice.Kind, _ slot: Slot) {
        notice(kind, slot.path, in: slot.directory)
    }

    /// About an open file, under the name it was opened by, whoever has that name by now: inotify goes on telling of a
    /// file that was unlinked or replaced, unless it is asked not to (`IN_EXCL_UNLINK`), and does so if its directory is removed as well.
    mutating func noticeOpen(_ kind: Notice.Kind, _ file: OpenFile) {
        if let directory = file.removedDirectory {
            notice(kind, directory.appending(file.link.name))
        } else if isWatching, let directory = path(of: file.link.directory) {
            notice(kind, directory.appending(file.link.name), in: file.link.directory)
        }
    }

    /// Before it is.
    mutating func noteRemoval(ofDirectory key: InodeKey, at path: Path) {
        guard isWatching, inodes[key].isWatched else { return }
        for (handle, file) in handles where file.link.directory == key { handles[handle]?.removedDirectory = path }
    }

    private mutating func notice(_ kind: Notice.Kind, _ path: Path, in directory: InodeKey) {
        if isWatching, inodes[directory].isWatched { notice(kind, path) }
    }

    private mutating func notice(_ kind: Notice.Kind, _ path: Path) {
        if path.isReserved { return }
        let notice = Notice(path: path, kind: kind)
        // inotify melts two equal notices into one if they follow each other.
        if notices.last == notice { return }
        if notices.count >= faults.noticesMax {
            noticesOverflowed = true
        } else {
            notices.append(notice)
        }
    }
}
