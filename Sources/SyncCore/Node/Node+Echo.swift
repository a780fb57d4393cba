import SyncModel

/// What we put into the folder comes back as a notice. The look that follows it finds what the row says, and comparing the two
/// would mean to load the row again, for every file that is applied.
struct EchoState: Sendable {
    /// What the rows of paths that were applied a moment ago say of the disk: settled, and the same since.
    private var left = SortedMap<Path, Stat>()

    static let pathsMax = 4_096

    var count: Int { left.count }

    subscript(path: Path) -> Stat? { left[path] }

    mutating func expect(_ stat: Stat, at path: Path) {
        if left.count >= EchoState.pathsMax { left.removeAll() }
        left[path] = stat
    }

    /// The row says something else from here on.
    mutating func forget(_ path: Path) { left[path] = nil }

    mutating func forgetAll() { left.removeAll() }
}

extension Node {
    /// Rows of a batch that is done, as they are stored.
    mutating func expectEchoes(of rows: RowMap) {
        guard record.distrustSince == nil else { return }
        for (path, row) in rows.rows {
            // (The rules may have come to cover it while it was put there, which the look is to find out.)
            guard let disk = row.disk, !disk.isRacy, row.condition == .normal, !row.isUnsettled, !isIgnored(row)
            else { continue }
            echoes.expect(disk.stat, at: path)
        }
    }

    /// The look found what the row says, and nothing else waits for it.
    func isEcho(_ look: Look) -> Bool {
        let path = look.path
        guard let stat = look.stat, let left = echoes[path], stat.isUntouched(since: left) else { return false }
        return watch.isUnconcerned(by: path) && !apply.touches(path) && !plan.afterLook.contains(key: path)
            && !plan.resting.contains(key: path)
    }
}

extension WatchState {
    /// Nothing is known of the path that a look at it would settle.
    fileprivate func isUnconcerned(by path: Path) -> Bool {
        let isKnown =
            closed.contains(key: path) || noticed.contains(key: path) || former.contains(key: path)
            || emptied.contains(key: path) || hashing.contains(key: path) || homes.contains(key: path)
            || sinceInspection?.contains(key: path) == true || goneMeanwhile.contains(key: path)
        return !isKnown
    }
}
