/// What scans ask of the watcher: a watch for each directory before it is listed.
import SyncModel

extension WatchState {
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
        look(Slot(parent: parent, name: name.bytes), lists: isPartly)
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

    mutating func watchRoot() throws(Failure) {
        table.setRoot(try queue.add(folder.root, isRoot: true), try folder.root.status())
    }
}
