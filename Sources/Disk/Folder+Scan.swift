/// Compares a part of the tree with the stored rows, a chunk at a time. Only differences are told.
public import SyncModel

extension Folder {
    /// `rows` gives the next stored rows strictly below a directory and after a path, in path order: none if there are
    /// no more, nil if the store cannot say, which ends the chunk where it stands. It is called on this thread.
    ///
    /// Each directory is watched before it is listed. A chunk may end with a `resume` before its limit is reached.
    public func scan(
        _ request: ScanRequest, rules: IgnoreRules, watcher: Watcher?,
        rows: (_ directory: Path, _ after: Path?) -> [Row]?
    ) -> ScanChunk {
        let root = rootState
        guard root == .healthy else {
            return ScanChunk(differences: [], resume: request.after, root: root, unreadable: [])
        }
        watcher?.beginScan(request, rules)
        let ground = ScanWalk.Ground(folder: self, watcher: watcher, rules: rules)
        var join = ScanChunkJoin(request, ground)
        join.run(keptWalk(request, ground), rows: rows)
        if let resume = join.resume {
            keep(join.walk, request, resume: resume, ground)
        } else {
            watcher?.endScan(request)
        }
        return ScanChunk(
            differences: join.differences, resume: join.resume, root: rootState, unreadable: join.walk.unreadable,
            unsupported: join.walk.unsupported)
    }

    private func keptWalk(_ request: ScanRequest, _ ground: ScanWalk.Ground) -> ScanWalk? {
        walks.take(request, ground.rules).flatMap { $0.isInPlace(on: ground) ? $0 : nil }
    }

    /// What changes in a directory after it was listed is told by the watcher, or the listing must not be used later.
    private func keep(_ walk: ScanWalk, _ request: ScanRequest, resume: Path, _ ground: ScanWalk.Ground) {
        guard let watcher = ground.watcher, !watcher.isLimited else { return }
        walks.keep(walk, of: request.directory, resume: resume, ground.rules)
    }
}
