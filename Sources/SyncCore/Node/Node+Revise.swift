import SyncModel

/// What is new in our own log.
extension Node {
    mutating func nextPosition() -> LogPosition {
        if epochHasBegun {
            return LogPosition(epoch: record.ownHead.position.epoch, seq: record.ownHead.position.seq + 1)
        }
        epochHasBegun = true
        let number = record.ownHead.position.epoch.number &+ 1
        return LogPosition(epoch: Epoch(number: number, nonce: nonce), seq: 1)
    }

    /// Appends a change of ours to the log.
    mutating func append(
        _ change: LogRecord.Change, at position: LogPosition, _ time: HybridTime, in batch: inout Batch
    ) {
        let written = LogCodec.write(
            change, at: position, time: time, after: record.ownHead, node: record.id, digest: digest)
        logTail.append(written.bytes, as: written.record.head, after: record.ownHead.position)
        record.ownHead = written.record.head
        batch.add(.appendLog(written.record))
    }

    /// Records that this node's folder now shows `entry` at the row's path, and logs it as a change of ours.
    /// `isReasserted` claims the content anew although it is the same: others may have decided against it.
    mutating func revise(
        _ row: inout Row, to entry: Entry, stat: Stat?, movedFrom: Path? = nil, movedTo: Path? = nil,
        isReasserted: Bool = false, seeing seen: VersionVector? = nil, in batch: inout Batch
    ) {
        let position = nextPosition()
        let isFirst = row.reflected == .none && row.head(by: .own) == nil && !isReasserted
        let tick = clock.tick(wallMilliseconds: now.wallMilliseconds)
        let lost = takenBack(of: row)
        row.coverOwnHead()
        if seen == nil, let earlier = unreadConflict(row) { row.reflected.peer = min(row.reflected.peer, earlier) }
        let seen = seen ?? self.seen(by: entry, at: row)
        // A file that was here before anybody watched is as old as it says: the newer one keeps the name. (One that was made since
        // was made now, whatever the clock has shown meanwhile: a power cut may take it back.)
        let isFound = isFirst && isUnseen(row.path) || isGivenBack(stat, at: row)
        let time = isFound && row.disk == nil && !entry.isAbsent ? min(tick, age(of: entry, on: row, seen)) : tick
        let origin = Origin(author: .own, position: position, time: time)
        var origins = Origins(all: origin)
        if let disk = row.disk, !entry.isAbsent, !disk.entry.isAbsent {
            if disk.entry.content == entry.content {
                if !isReasserted {
                    origins.content = disk.origins.content
                } else if row.owesCopy, row.condition == .normal {
                    // What has lost and is told anew before its copy is made is no later by that.
                    origins.content.time = disk.origins.content.time
                }
            }
            if disk.entry.mode == entry.mode, lost.map({ $0.mode == entry.mode }) ?? true {
                origins.mode = disk.origins.mode
            }
            if disk.entry.modified == entry.modified, lost.map({ $0.modified == entry.modified }) ?? true {
                origins.time = disk.origins.time
            }
        }
        // What is said to come from a change that has not been seen is ours from here on: nobody believes the other.
        func own(_ from: Origin) -> Origin { from.author == .peer && from.position > seen.peer ? origin : from }
        origins = Origins(content: own(origins.content), mode: own(origins.mode), time: own(origins.time))
        let revision = Revision(
            origin: origin, seen: seen, entry: entry, origins: origins, movedFrom: movedFrom,
            movedTo: movedTo)
        row.join(revision)
        let isOwed = row.owesCopy && row.disk?.entry.content == entry.content
        row.reflected = row.reflected.joined(with: seen)
        row.reflected.own = position
        // Nothing has been read anew: what times could not tell before, they cannot tell now.
        let known = row.disk
        row.disk = stat.map { Row.DiskState(entry: entry, stat: $0, origins: origins) }
        row.disk?.isRacy = known.map { $0.isRacy && $0.stat == stat } ?? false
        row.disk?.isUnwritten = known?.isUnwritten(as: stat) ?? false
        row.condition = .normal
        endWait(of: &row)
        // What came from the peer before this was known may have won already.
        row.owesCopy = false
        row.owesCopy = isOwed || losesUnseen(row)
        if row.format?.isOf(entry) == true { row.format?.isGivenUp = false }
        append(.put(row.path, revision), at: position, time, in: &batch)
        if row.isUnsettled { plan.want(row.path) }
    }

    /// What we had said last, if a power cut has taken some of it back. What it has left of mode and time is of no change that is known by
    /// then: whoever goes on from there says it anew, or the two nodes would hold two values of one change.
    /// (Of what is damaged, whoever had said it: the row names the changes that it was known by, and what is told is what the cut has left.)
    private func takenBack(of row: Row) -> Entry? {
        if row.condition == .damaged { return resolution(of: row).entry }
        guard let own = row.head(by: .own) else { return nil }
        let isShown = [own.origin, own.origins.mode, own.origins.time].allSatisfy { row.reflected.covers($0) }
        return isShown ? nil : own.entry
    }

    /// What the other node saved at once with a save of this one, which keeps its own by the clock: its header is read there, not here,
    /// and until it has had its say it may be newer. Who deletes or saves here has not seen it. The last of the other log that was.
    /// (So it is with what won here and the peer has not taken in: it may only hear of what overtook that, as if its own had been seen,
    /// and would make no copy of it. An earlier state of the peer's that has won here overtakes no later one.)
    func unreadConflict(_ row: Row) -> LogPosition? {
        guard let own = winner(at: row) else { return nil }
        let isUnread = hasHeader(row.path) && own.origin.position > record.applied
        let isUntold = own.origin.position > record.acknowledged.position
        return isUnread || isUntold ? own.seen.peer : nil
    }

    /// Ours, that has won over something else of the peer's and stands here. (Where a save is held back against what has won, that may be
    /// the peer's: it was shown here, and whoever saved had it before him.)
    func winner(at row: Row) -> Revision? {
        guard row.heads.count == 2, let own = row.head(by: .own), let theirs = row.head(by: .peer)?.entry.content,
            [.file, .symlink].contains(theirs.kind), theirs != row.disk?.entry.content, book(of: row.path) == nil,
            row.disk?.origins.content.author != .peer, resolution(of: row).entry.content == own.entry.content
        else { return nil }
        return own
    }

    /// Later than what it takes the place of, be it its removal.
    private func age(of entry: Entry, on row: Row, _ seen: VersionVector) -> HybridTime {
        let past = row.heads.filter { seen.covers($0.origin) }.map(\.origin.time).max()
        let age = HybridTime(wallMilliseconds: entry.modified.milliseconds)
        return past.map { max(age, $0.next) } ?? age
    }

    /// What a power cut has taken back may be the removal that is on record: nobody has put this here since.
    func isGivenBack(_ stat: Stat?, at row: Row) -> Bool {
        guard record.distrustSince != nil, let stat else { return false }
        return !watch.isChangedSinceBoot(stat) && !isHandled(row.path)
    }

    /// Who takes away a directory, or puts something else in its place, has seen it, also if the peer made it and not all of it
    /// was applied here: it may be there without its time. So has who writes over a file of which the peer has made the same, and who takes away
    /// one that this node has renamed for the peer and could neither finish nor take back.
    private func seen(by entry: Entry, at row: Row) -> VersionVector {
        var seen = row.reflected
        guard let made = contentReplaced(by: entry, at: row) else { return seen }
        seen[made.author] = max(seen[made.author], made.position)
        return seen
    }

    private func contentReplaced(by entry: Entry, at row: Row) -> Origin? {
        guard let disk = row.disk else { return nil }
        if disk.entry.content.isDirectory {
            let isOurs = row.head(by: .own)?.entry.content.isDirectory == true
            let wanted = resolution(of: row)
            let isGone = !isOurs && wanted.entry.content.isDirectory && !entry.content.isDirectory
            return isGone ? wanted.origins.content : nil
        }
        // (The content that is known to come from him is his: only its mode or its time is not applied yet.)
        if entry.isAbsent, row.condition == .missing, !row.owesCopy, disk.origins.content.author == .peer,
            row.head(by: .peer)?.origins.content == disk.origins.content
        {
            return disk.origins.content
        }
        // (A delete would take the peer's file with it, and his may be there for another reason. So may what he has made once more after
        // something that was not shown here, as far as is known: after a setback that may be what is found.)
        guard !entry.isAbsent, entry.content != disk.entry.content, row.condition == .normal, !row.owesCopy,
            let theirs = row.head(by: .peer), theirs.entry.content == disk.entry.content,
            theirs.origins.content.author == .peer,
            row.reflected.peer == .none || row.reflected.covers(theirs.seen)
        else { return nil }
        return theirs.origins.content
    }

    func resolution(of row: Row) -> Resolution { reconciler.resolution(of: row) }
}
