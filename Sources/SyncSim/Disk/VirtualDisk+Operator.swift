/// What befalls the machine and its folder as a whole. An image of the disk is a copy of the value.
package import SyncModel

extension VirtualDisk {
    /// The daemon dies, by signal or by its own end. What it wrote stays; its watches and unread notices are gone.
    package mutating func kill() {
        stopWatching()
    }

    /// What is found at the folder's path while its file system is not mounted.
    package enum MountPoint: Sendable {
        case emptyDirectory
        case nothing
    }

    /// The folder's file system goes away with all that is on it, until `mount`.
    package mutating func unmount(leaving: MountPoint) {
        switch leaving {
        case .emptyDirectory: root = mountPoint
        case .nothing: root = nil
        }
    }

    /// The folder is back in its place.
    package mutating func mount() {
        root = home
    }

    package var isMounted: Bool { root == home }

    /// The files of an image have been copied into the folder: nobody who has a file open has one of these, and what is opened from
    /// now on has a handle that was given to nobody before.
    mutating func becomeCopy(besides before: VirtualDisk) {
        for handle in handles.keys { close(handle) }
        nextHandle = before.nextHandle
    }

    /// A daemon has its folder open: what it does there it does in that very directory. Returns what stands in its place.
    mutating func enterOpenFolder() -> InodeKey? {
        let there = root
        root = home
        return there
    }

    mutating func leaveOpenFolder(to there: InodeKey?) {
        root = there
    }

    /// Another folder stands in the place of ours, with the marker of another set-up or with none; `mount` undoes it.
    package mutating func replaceRoot(marker: FolderID?, now: Timestamp) {
        let other = makeInode(.directory, mode: 0o755, in: home, now: now)
        if let marker { layOut(marker: marker, in: other, now: now) }
        root = other
    }

    package mutating func removeMarker(now: Timestamp) {
        unlink(VirtualDisk.ownPath.appending(VirtualDisk.markerName), now: now)
    }

    /// Every entry of the folder goes, only our own directory stays.
    package mutating func emptyRoot(now: Timestamp) {
        for name in list(.root) where name != VirtualDisk.ownName { removeTree(Path.root.appending(name), now: now) }
    }
}
