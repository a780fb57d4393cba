import SyncModel

/// A directory that should go, or make room for a file, is not empty: whether it goes later, or is kept and written anew.
extension Node {
    /// A directory that should go is not empty: because of files that will go too, or of files its deleter had not seen.
    mutating func explainNotEmpty(
        _ path: Path, sawLive: Bool, _ answers: inout Answers, into effects: inout Effects
    ) {
        guard let old = answers.rows().first, let disk = old.disk, disk.entry.content.isDirectory, old.needsApply,
            !rulesAreChanging
        else { return }
        let below = answers.rows()
        let ruleFiles = answers.rows()
        // (What is ignored is not looked at and may have gone long ago. If it is there, it is when all else is gone.)
        let live = below.filter { $0.disk != nil && $0.condition != .ignored }
        let isOverdue = old.waiting.map { patiences(of: $0) >= 1 } ?? false
        if live.contains(where: { isReasonToStay($0, isOverdue) }) {
            keep(directory: old, into: &effects)
        } else if below.count == limits.batchPathsMax, let last = below.last {
            enqueue(.explainNotEmpty(path, after: last.path, sawLive: sawLive || !live.isEmpty))
        } else if live.isEmpty, !sawLive {
            // Nothing we know of. A scan may find it; what even a scan passes over (ignored, special) keeps its directory.
            if (old.waiting?.tries ?? 0) <= 2 {
                rescan(path)
            } else if isOverdue || !ruleFiles.contains(where: { $0.condition != .ignored && $0.needsApply }) {
                keep(directory: old, into: &effects)
            }
            // Else a rule file is still to be changed, and what it leaves out may be free to go with the directory by then.
        }
        // Otherwise its children are on their way out; the next round tries again.
    }

    /// What counts as ignored is not certain: a rule file may have gone with the directory it kept.
    private var rulesAreChanging: Bool {
        !watch.rulesAreLoaded || watch.rulesBeingRead > 0 || record.rulesConsidered == nil
    }

    /// What the deleter had in his own folder has gone there with the directory, and he is about to tell of it: word of
    /// a directory may come before word of what was in it.
    private func isReasonToStay(_ row: Row, _ isOverdue: Bool) -> Bool {
        if row.isUnsettled && resolution(of: row).entry.isAbsent { return false }
        // (What he has told of himself he has seen, whatever of ours he built it on; and who has only changed the mode or the time of it
        // here keeps nothing by that.)
        let content = row.head(by: .own)?.origins.content
        let own = content?.author == .own ? content?.position ?? .none : .none
        return isOverdue || own > record.applied
    }

    private mutating func keep(directory row: Row, into effects: inout Effects) {
        if let copy = copyOfLost(row) {
            enqueue(.reassertBeside(row.path, copy: copy))
        } else {
            reassert(row, into: &effects)
        }
    }

    /// Where the file goes on whose place a power cut gave back to a directory, if whoever has it would take the directory
    /// for something that its author put there knowingly.
    private func copyOfLost(_ row: Row) -> Path? {
        let lost = resolution(of: row)
        let origin = lost.origins.content
        guard row.condition == .damaged, !lost.entry.isAbsent, !lost.entry.content.isDirectory,
            origin.author == .own || row.reflected.covers(origin)
        else { return nil }
        return copyName(for: row.path, losing: lost.entry.content, of: origin)
    }

    /// The file is fetched to the name of its copy first: once the directory is told of, the peer puts it out of the folder.
    mutating func reassert(
        _ path: Path, beside copy: Path, _ answers: inout Answers, into effects: inout Effects
    ) {
        guard let old = answers.rows().first, old.disk?.entry.content.isDirectory == true, copyOfLost(old) == copy
        else { return }
        let known = answers.rows().first
        let lost = resolution(of: old).entry
        if let known, !known.heads.isEmpty || known.disk != nil {
            let isOnItsWay =
                known.disk == nil && known.condition != .ignored && resolution(of: known).entry.content == lost.content
            if !isOnItsWay { reassert(old, into: &effects) }
            return
        }
        guard !watch.rules.isIgnored(copy.bytes, isDirectory: false) else {
            reassert(old, into: &effects)
            return
        }
        var batch = Batch()
        var row = known ?? Row(path: copy)
        revise(&row, to: lost, stat: nil, in: &batch)
        row.condition = .damaged
        put(row, replacing: known, in: &batch, into: &effects)
        store(&batch, into: &effects)
    }

    /// "I have a reason to keep this": the state on disk is written anew, concurrent to the decision against it.
    private mutating func reassert(_ old: Row, into effects: inout Effects) {
        guard let disk = old.disk else { return }
        var batch = Batch()
        var row = old
        revise(&row, to: disk.entry, stat: disk.stat, isReasserted: true, in: &batch)
        put(row, replacing: old, in: &batch, into: &effects)
        store(&batch, into: &effects)
    }

    /// A directory that stands here against the peer's delete for what was in it, and for nothing else: it was told anew as it was. Who makes or
    /// changes one gives it a mode or a time of his own. One that was moved here says so: if it had been here before, the peer may have seen those.
    func isKept(_ row: Row) -> Bool {
        guard row.condition == .normal, row.heads.count == 2, let theirs = row.head(by: .peer), theirs.entry.isAbsent,
            let own = row.head(by: .own), own.entry.content.isDirectory, own.movedFrom == nil,
            theirs.seen.covers(own.origins.mode)
        else { return false }
        let (told, origins) = (own.origin.position, own.origins)
        return origins.content.position == told && origins.mode.position != told && origins.time.position != told
    }

    /// Nothing but the time of a directory that is kept is found to be another, and that had been changed before it was
    /// kept, or is what a power cut has left. Nobody says by it that the directory is to stay for itself.
    func isStillKept(_ row: Row, as entry: Entry, _ stat: Stat) -> Bool {
        guard isKept(row), let kept = row.head(by: .own)?.origin.time, let disk = row.disk,
            stat.isSameFile(as: disk.stat), entry.content == disk.entry.content, entry.mode == disk.entry.mode
        else { return false }
        let isFromBefore = stat.modified.milliseconds <= Int64(clamping: kept.wallMilliseconds)
        return isFromBefore || isGivenBack(stat, at: row)
    }

    /// Its time is told of as a change that has not seen the peer's delete, and then once more that it is kept: by that
    /// its row says why it stands.
    mutating func keepOn(_ row: inout Row, as entry: Entry, _ stat: Stat, in batch: inout Batch) {
        guard let seen = row.head(by: .own)?.seen.peer else { return }
        for isReasserted in [false, true] {
            row.coverOwnHead()
            let known = VersionVector(own: row.reflected.own, peer: seen)
            revise(&row, to: entry, stat: stat, isReasserted: isReasserted, seeing: known, in: &batch)
        }
    }

    /// The peer has taken something out of a directory that may have been kept here against his delete. Word of that comes before word of what
    /// was in it: if nothing is left that anybody wants, he had seen it all, and the directory goes after all.
    mutating func letGo(_ path: Path, _ answers: inout Answers, into effects: inout Effects) {
        let old = answers.rows().first
        let below = answers.rows()
        guard let old, let disk = old.disk, disk.entry.content.isDirectory, isKept(old), !apply.touches(path),
            below.allSatisfy({ $0.disk == nil && resolution(of: $0).entry.isAbsent })
        else { return }
        if below.count == limits.batchPathsMax, let last = below.last {
            return enqueue(.letGo(path, after: last.path))
        }
        var batch = Batch()
        var row = old
        var gone = disk.entry
        gone.content = .absent
        revise(&row, to: gone, stat: nil, in: &batch)
        // It stands there until it is removed like any other that should go: somebody may put something into it just now.
        row.disk = disk
        row.reflected = old.reflected
        put(row, replacing: old, in: &batch, into: &effects)
        plan.want(path)
        store(&batch, into: &effects)
    }
}
