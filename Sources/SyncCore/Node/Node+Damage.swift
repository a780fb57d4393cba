import SyncModel

/// After a power cut: whether what stands in the folder was made by somebody, or is what the cut has left. Only times, identities and what was
/// seen since can say so, and where they cannot it counts as damage: nothing is lost by asking the peer.
extension Node {
    /// Somebody was seen at work here, or took away a directory above.
    func isHandled(_ path: Path) -> Bool {
        var next: Path? = path
        while !watch.handled.isEmpty, let place = next {
            if watch.handled.contains(key: place) { return true }
            next = place.parent
        }
        return false
    }

    /// Somebody was seen writing by this very name.
    private func isWritten(_ path: Path) -> Bool { watch.handled[path] == .written }

    /// It was found empty since the machine is up, and its row says that it waits for its author: it counted as his save, and
    /// what was seen of him then another process does not know. (A file of records may wait so while nobody knows yet that it
    /// is damage.)
    mutating func recallEmptied(_ row: Row, _ stat: Stat) {
        guard let waiting = row.waiting, waiting.reason == .formatZeroLength, book(of: row.path) == nil,
            stat.kind == .file, stat.size == 0,
            watch.isSinceBoot(Timestamp(milliseconds: waiting.sinceMilliseconds))
        else { return }
        noteHandled(row.path, .written)
    }

    /// Not yet read since the power cut: what the file holds is anybody's guess until the first whole scan has seen it.
    func isUnread(_ row: Row) -> Bool {
        !incoming.initialScanDone && row.condition == .normal && row.disk?.entry.content.kind == .file && isSuspect(row)
    }

    /// After a power cut, content that changed while its time did not, or that is empty now, is what the cut left of the file.
    func isDamage(_ row: Row, found entry: Entry, _ shown: Stat, _ namesakes: Namesakes) -> Bool {
        guard let disk = row.disk else {
            return isBackEmpty(row, entry, shown, namesakes) || contentInDoubt(shown, at: row, namesakes) != nil
        }
        let (stat, isSwept) = (watch.asLeft(shown), watch.isSwept(shown))
        // Known damage is no version because its time or mode has changed. (Another file that holds the same is, if it was made
        // since the machine is up.)
        if entry.content == disk.entry.content {
            let isMade = !stat.isSameFile(as: disk.stat) && watch.isSinceBoot(stat.identity.birth)
            return row.condition == .damaged && !isMade
        }
        if isWrittenByAnotherName(stat, entry, row, namesakes) { return false }
        // (A directory or a link says nothing by its size.)
        let isEmptied = entry.content.kind == .file && entry.content.size == 0 && disk.entry.content.size > 0
        // Nothing at all is what a cut leaves: for that to be somebody's the clock must be beyond doubt, or he was seen.
        let isClockDoubted = watch.clockStretches.count > 1 || watch.mayBeTold(stat.changed)
        let isInDoubt = isEmptied && isClockDoubted && !isSeenMovedHere(stat, disk.stat, row, namesakes)
        guard isSuspect(row) || isHeeded(row) || isEmptied && isOfLastMoments(shown),
            !isHandled(row.path)
        else { return false }
        // (Recovery has touched its change time, or may have: only the time of the writing says that somebody was there.)
        let isWritten = watch.isSinceBoot(stat.modified) && !watch.mayBeTold(stat.modified)
        if isSwept, isWritten, !isEmptied, disk.stat.modified < stat.modified { return false }
        // (Of a file that was read in the breath of its last change the times may stand for one more, but not for nothing at all. A link is
        // not written to.)
        let isAmbiguous =
            disk.isRacy && disk.entry.content.kind == .file && stat.changed == disk.stat.changed && !isEmptied
        if isFromBefore(stat, disk.stat), !isAmbiguous { return true }
        // (Not by its bytes, if it was written at the very time that is known: somebody has only altered its mode or its names since. Nor if that
        // is no time of now and he may have given it just that since.)
        if !isEmptied, stat.modified != disk.stat.modified, !isGivenTime(stat, disk.stat),
            isFromBeforeItsBirth(stat, disk.stat), !isFormerDirectory(stat, at: row.path, disk.stat, namesakes)
        {
            return false
        }
        // What the row says was seen after the cut: whatever differs from it now was done since. (An older state of the same file
        // says that it was not: the clock was ahead before the cut. Where it was set since, that says nothing, unless what is known was told of
        // before the cut, and this process would have been told of somebody who wrote by the clock as it was set.)
        let isOvertaken = stat.isSameFile(as: disk.stat) && stat.changed < disk.stat.changed
        let isClockSet = watch.clockStretches.count > 1
        let isFormer = isOvertaken && (!isClockSet || isToldBeforeCut(row) && !watch.mayBeBeforeStart(stat.changed))
        // (Where the clock shows a time once more that it has shown before the cut, only what this process has found was.)
        let isToldTime =
            watch.mayBeTold(disk.stat.changed) && (isEmptied || watch.isFirstSinceCut && !isFoundSinceStart(row))
        let isSeenSince = watch.isSinceBoot(disk.stat.changed) && !isToldTime
        if isSeenSince, !isFormer, !isAsKnown(stat, elsewhereThan: row, namesakes) { return false }
        // The same file as of the same time with other bytes: nobody did that.
        if stat.isSameFile(as: disk.stat), stat.modified == disk.stat.modified { return true }
        // What was written or made since the machine is up again is somebody's. The change time alone says little by then:
        // it is altered by a rename as well, also by one of recovery's. (Known as of a time to come: the clock has been put back, and
        // nothing of now can be later than that.)
        guard watch.isHandledSinceBoot(shown), !isInDoubt,
            disk.stat.changed < stat.changed || isAhead(disk.stat.changed)
                || watch.wasBehind(disk.stat.changed, at: stat.changed, limits)
        else {
            return stat.changed <= disk.stat.changed || isEmptied
                || isBack(stat, isSwept, at: row.path, disk.stat, namesakes) || isOlder(stat, isSwept, disk)
                || isFormerDirectory(stat, at: row.path, disk.stat, namesakes)
        }
        if !isEmptied, isUnknown(stat, namesakes), isMovedAway(disk.stat, from: row) { return false }
        if !isEmptied, isNamedHere(stat, disk.stat, row), !mayBeRemains(stat, namesakes) { return false }
        let isNow = [stat.modified, stat.identity.birth].contains { watch.isSinceBoot($0) }
        let isNew = isNow && !wasTold(entry, at: row.path, stat)
        return !isNew && (stat.modified <= disk.stat.modified && !isMadeSince(stat, disk.stat) || isEmptied)
    }

    /// Made after what is known had been put here, whatever times it was given: no cut brings that back.
    private func isMadeSince(_ stat: Stat, _ known: Stat) -> Bool {
        !stat.isSameFile(as: known) && stat.identity.birth > known.changed
    }

    /// What is known was written here and told of before the cut, by the logical clock, which nobody sets, and nothing has been done to the file
    /// after it was written: its times are of before the cut as well, whatever the clock has shown since. (What is told of while the clock
    /// is behind bears the last time of before it.)
    private func isToldBeforeCut(_ row: Row) -> Bool {
        guard let cut = watch.toldBeforeCut, let disk = row.disk, disk.stat.modified == disk.stat.changed,
            !isFoundSinceStart(row)
        else { return false }
        return [disk.origins.content, disk.origins.time].allSatisfy { origin in
            origin.author == .own && Int64(clamping: origin.time.wallMilliseconds) <= cut
        }
    }

    mutating func recallTold(_ log: [LogRecord]) {
        guard record.distrustSince != nil else { return }
        for case .put(let path, let revision) in log.map(\.change) {
            let entry = revision.entry
            if entry.content.kind == .file { watch.toldStates[path, default: []].append(entry) }
            if entry.content.isDirectory { watch.toldDirectories[path, default: []].append(entry.modified) }
        }
    }

    /// Written at the very time at which the same was written that had been told of before the cut: the clock shows that time once more, and this
    /// is an earlier state of the file. (A coarse stamp may come again.)
    private func wasTold(_ entry: Entry, at path: Path, _ stat: Stat) -> Bool {
        !stat.isCoarse
            && watch.toldStates[path]?.contains { $0.content == entry.content && $0.modified == entry.modified } == true
    }

    /// The same file with the same content, as of an earlier change: a power cut has taken back what was done to its time or its
    /// permission bits since. That is no change of anybody's: they are to be set once more. (It may have left the file a second name in the stage,
    /// and who takes that away alters the change time, but neither of these.)
    mutating func takesBack(_ row: inout Row, _ entry: Entry, _ stat: Stat, isRacy: Bool) -> Bool {
        let left = watch.isAltered(stat) ? stat : watch.asLeft(stat)
        guard var disk = row.disk, row.condition == .normal, disk.entry.content == entry.content, isSuspect(row),
            !isHandled(row.path), left.changed < disk.stat.changed, isFromBefore(left, disk.stat)
        else { return false }
        let known = disk.origins
        var reflected = row.reflected
        for (isLost, origin) in [
            (entry.mode != disk.entry.mode, known.mode), (entry.modified != disk.entry.modified, known.time),
        ] where isLost && reflected.covers(origin) {
            reflected[origin.author] = origin.author == known.content.author ? known.content.position : .none
        }
        guard reflected.covers(known.content), !reflected.covers(row.version) else { return false }
        if entry.mode != disk.entry.mode { disk.origins.mode = known.content }
        if entry.modified != disk.entry.modified { disk.origins.time = known.content }
        row.reflected = reflected
        row.disk = Row.DiskState(
            entry: entry, stat: stat, origins: disk.origins, isRacy: isRacy, isUnwritten: disk.isUnwritten(as: stat))
        plan.want(row.path)
        return true
    }

    /// The very file that is known here, and it holds what it was known to hold by another name before the cut. (Not long before, by a name
    /// that the rules have left out since: what is known here is later then, if the clock was not put back.)
    private func isWrittenByAnotherName(
        _ stat: Stat, _ entry: Entry, _ row: Row, _ namesakes: Namesakes
    ) -> Bool {
        guard stat.kind == .file, let known = row.disk?.stat, known.identity == stat.identity else { return false }
        return namesakes[stat.identity].contains { other in
            guard let disk = other.disk, other.path != row.path, other.condition == .normal else { return false }
            return disk.entry.content == entry.content && !mayBeFoundSinceCut(other)
                && (disk.stat.changed >= known.changed || watch.clockStretches.count > 1)
        }
    }

    /// Last changed so shortly before the cut that nothing of what was written may have reached the disk, however long ago that was
    /// that the file was known.
    private func isOfLastMoments(_ stat: Stat) -> Bool {
        guard let since = record.distrustSince else { return false }
        return stat.changed.milliseconds >= since && !watch.isSinceBoot(stat.changed)
    }

    /// One cut has emptied it and it was taken away then; another gives it back. Or nobody had read it before the cut, which has left nothing
    /// of it, and the other node has something to be there.
    private func isBackEmpty(_ row: Row, _ entry: Entry, _ stat: Stat, _ namesakes: Namesakes) -> Bool {
        guard record.distrustSince != nil, !isHandled(row.path), entry.content.kind == .file, entry.content.size == 0,
            !watch.isChangedSinceBoot(stat)
        else { return false }
        if row.condition == .damaged || isEmptiedAsKnown(stat, at: row, namesakes) { return true }
        let wanted = resolution(of: row).entry.content
        return row.condition == .normal && wanted.kind == .file && wanted.size > 0 && isOfLastMoments(stat)
    }

    /// It is known by another name, as of this very change time, and with something in it: it has come here with its directory, and nobody has
    /// written to it. (Where something has been before, the cut may have taken back that it got the other name.)
    private func isEmptiedAsKnown(_ stat: Stat, at row: Row, _ namesakes: Namesakes) -> Bool {
        guard stat.kind == .file, stat.size == 0, stat.identity.isUnique, isOfLastMoments(stat), row.heads.isEmpty
        else { return false }
        if let stray = watch.strays[stat.identity], stray.path != row.path {
            return stray.content.size > 0 && stray.changed == stat.changed
        }
        return namesakes[stat.identity].contains { other in
            guard other.path != row.path, let known = other.disk?.stat else { return false }
            return known.size > 0 && known.changed == stat.changed
        }
    }

    /// The same file as of the same times or of an earlier one: nobody's write does that, whatever the clock showed before
    /// the cut, unless it was set back since, or before the machine was up.
    private func isFromBefore(_ stat: Stat, _ known: Stat) -> Bool {
        guard stat.isSameFile(as: known), !isFromBeforeItsBirth(stat, known) else { return false }
        if stat.changed == known.changed { return stat.modified == known.modified }
        return stat.changed < known.changed && watch.clockStretches.count < 2 && !watch.isHandledSinceBoot(stat)
    }

    /// As of a time before it was made, where something is known as of a later one: the clock has been put back since that was known, so this is no
    /// earlier state. (Where stamps are coarse, and the number may have been another file's, the time must be one of now.)
    private func isFromBeforeItsBirth(_ stat: Stat, _ known: Stat) -> Bool {
        let birth = stat.identity.birth
        guard stat.identity.isUnique || watch.isHandledSinceBoot(stat) else { return false }
        return stat.changed < birth && known.changed >= birth
    }

    /// Somebody has altered what is known of the file since the machine is up, and it shows no more of that than another time of writing, at which
    /// nobody has written to it since.
    private func isGivenTime(_ stat: Stat, _ known: Stat) -> Bool {
        stat.isSameFile(as: known) && stat.mode == known.mode && watch.isChangedSinceBoot(stat)
            && !watch.isSinceBoot(stat.modified)
    }

    /// Both from before the cut, and the change time says nothing: the clock was ahead when that was made, and may have gone forth
    /// and back, or it is recovery's. Only the times of the writing say which is older, if both were written here.
    private func isOlder(_ stat: Stat, _ isSwept: Bool, _ known: Row.DiskState) -> Bool {
        guard isAhead(stat.changed) || isSwept, known.origins.time.author == .own else { return false }
        return stat.isSameFile(as: known.stat) && stat.modified < known.stat.modified
    }

    private func isAhead(_ time: Timestamp) -> Bool {
        time.milliseconds > now.wallMilliseconds + Int64(clamping: limits.clockSkewMilliseconds)
    }

    /// Another file from before the cut. If it is older and no other path is known to have it, an editor had put it aside, and
    /// the cut has taken that back, but not what it did to the change time of the file. (One that was made after what is known
    /// had come is somebody's, and has been given its time: so do programs that copy.) If another path is known to have it,
    /// as of this very change time, only a cut can have given it this name: a person's rename changes that. One that is known
    /// nowhere and was in the stage as well is what we had put here before: the cut has taken back all that came after. (What this
    /// process has found elsewhere was not known before the cut: a rename that the cut has left half done leaves both names.)
    private func isBack(
        _ stat: Stat, _ isSwept: Bool, at path: Path, _ known: Stat, _ namesakes: Namesakes
    ) -> Bool {
        guard !stat.isSameFile(as: known) else { return false }
        var changes = namesakes[stat.identity].compactMap { other in
            let isRead = isFoundSinceStart(other) || watch.strays[stat.identity]?.path == other.path
            return other.path == path || isRead ? nil : other.disk?.stat.changed
        }
        // Where it was known may have been found empty by now. (A coarse stamp may stand for both, that change and its renaming.)
        if let stray = watch.strays[stat.identity], stray.path != path,
            stray.changed != stat.changed || !stat.isCoarse
        {
            changes.append(stray.changed)
        }
        guard changes.isEmpty else { return changes.contains(stat.changed) }
        let isGivenOlder = stat.kind == .file && isMadeSince(stat, known)
        return stat.modified < known.modified && !isGivenOlder || isSwept
    }

    /// A directory that was made before what is known came here, or was told of here, and no row says that it is
    /// anywhere else: it had made room for that. Whoever puts one there alters its change time alone; both times are
    /// those of what went into it last, or from it, before it was gone for good. (They may be from before it was made:
    /// the clock had been put back by then.)
    private func isFormerDirectory(_ stat: Stat, at path: Path, _ known: Stat, _ namesakes: Namesakes) -> Bool {
        guard stat.kind == .directory, known.kind != .directory, stat.modified == stat.changed,
            stat.identity.isUnique, isUnknown(stat, namesakes), !watch.isHandledSinceBoot(stat)
        else { return false }
        return stat.identity.birth < known.changed || wasToldDirectory(stat, at: path)
    }

    /// Told of here before the cut as of this very time: what is known came later, whatever the clock showed by then.
    private func wasToldDirectory(_ stat: Stat, at path: Path) -> Bool {
        !stat.isCoarse && watch.toldDirectories[path]?.contains(stat.modified) == true
    }

    /// By this process, or by an earlier one of this boot: a later one than the first cannot tell what that has found.
    private func mayBeFoundSinceCut(_ row: Row) -> Bool {
        !watch.isFirstSinceCut && row.disk?.origins.content.author == .own || isFoundSinceStart(row)
    }

    private func isFoundSinceStart(_ row: Row) -> Bool {
        guard epochHasBegun, let origin = row.disk?.origins.content else { return false }
        return origin.author == .own && origin.position.epoch == record.ownHead.position.epoch
    }

    /// A whole file that is known by another name has been given this one since the machine is up again: as old as it
    /// was, but a person put it here.
    func isRenamed(_ entry: Entry, _ stat: Stat, to row: Row, _ namesakes: Namesakes) -> Bool {
        let isPutHere = isPutHere(stat, row, namesakes)
        // (Not where a person has given it one of its names, and it is as of that very change: the cut has taken that name back.)
        let isTakenBack = namesakes[stat.identity].contains { other in
            other.path != row.path && other.disk?.isPlaced == false && other.disk?.stat.changed == stat.changed
        }
        let isAnother =
            row.disk?.stat.identity != stat.identity && (stat.isCoarse || !isTakenBack) && !hasArrived(row.path, .byCut)
            && !hadThisName(stat, entry, row)
        // (A second name that somebody has given since to the very file that is known here shows what the cut has left of it: that he has taken
        // that name away, or what had it before, is no change of the file. What he has written by it is.)
        let isKnownHere = row.disk?.stat.identity == stat.identity
        let hasCome = { (other: Path, isPlaced: Bool, isFound: Bool) in
            isPutHere || isAnother && isPlaced || (isKnownHere && isFound ? isWritten(other) : isHandled(other))
        }
        if let stray = watch.strays[stat.identity], stray.path != row.path, stray.content == entry.content,
            hasCome(stray.path, stray.isPlaced, stray.isFound)
        {
            return true
        }
        return namesakes[stat.identity].contains { other in
            other.path != row.path && other.condition != .damaged && other.disk?.entry.content == entry.content
                && hasCome(other.path, other.disk?.isPlaced == true, mayBeFoundSinceCut(other))
        }
    }

    /// Told of here before, by a name that had been given it besides, and nothing was done to it since something else has come to its place: the cut
    /// has given that name back.
    private func hadThisName(_ stat: Stat, _ entry: Entry, _ row: Row) -> Bool {
        row.disk.map { stat.changed <= $0.stat.changed } == true && wasTold(entry, at: row.path, stat)
    }

    /// No row says what it was before.
    private func isUnknown(_ stat: Stat, _ namesakes: Namesakes) -> Bool {
        watch.strays[stat.identity] == nil && namesakes[stat.identity].isEmpty
    }

    /// The file that is known here has been given another name since the machine is up: no cut has put another in its place after that.
    private func isMovedAway(_ known: Stat, from row: Row) -> Bool {
        watch.renamed[known.identity].map { $0 != row.path } ?? false
    }

    /// Another file than the one that is known here, and somebody has given it this name since the machine is up: a notice told of that, or the
    /// directory bears the time of its change. (Whoever alters only the mode or the owner of what a cut has given back alters no directory.)
    private func isNamedHere(_ stat: Stat, _ known: Stat, _ row: Row) -> Bool {
        guard !stat.isSameFile(as: known), watch.isChangedSinceBoot(stat) else { return false }
        if watch.named.contains(key: row.path) { return true }
        let stirred = row.path.parent.flatMap { watch.stirred[$0] }
        return stirred.map { abs($0.milliseconds - stat.changed.milliseconds) < Node.tickMilliseconds } ?? false
    }

    private static let tickMilliseconds: Int64 = 10

    /// A notice told that another file was given this name, and no row knows that one: whatever the clock shows, it is not
    /// what a cut has left of something known.
    private func isSeenMovedHere(_ stat: Stat, _ known: Stat, _ row: Row, _ namesakes: Namesakes) -> Bool {
        !stat.isSameFile(as: known) && watch.named.contains(key: row.path) && isUnknown(stat, namesakes)
    }

    /// It is known by another name, and by its times was not written to since. (Where births are coarse it may be another, unless it has that
    /// very time.)
    private func mayBeRemains(_ stat: Stat, _ namesakes: Namesakes) -> Bool {
        let known = namesakes[stat.identity].compactMap(\.disk?.stat.modified)
        return (known + [watch.strays[stat.identity]?.modified].compactMap { $0 }).contains { time in
            stat.identity.isUnique ? stat.modified <= time : stat.modified == time
        }
    }

    /// Something was put into the directory, or taken from it.
    mutating func noteStirred(_ stat: Stat, _ path: Path) {
        guard record.distrustSince != nil, watch.isSinceBoot(stat.modified),
            watch.stirred.count < limits.notedPathsMax
        else { return }
        watch.stirred[path] = stat.modified
    }

    mutating func noteRenamed(_ stat: Stat, to path: Path, _ namesakes: Namesakes) {
        guard record.distrustSince != nil, stat.kind == .file, watch.isChangedSinceBoot(stat),
            watch.renamed.count < limits.notedPathsMax
        else { return }
        let isKnownElsewhere = namesakes[stat.identity].contains { $0.path != path && isSuspect($0) }
        if isKnownElsewhere { watch.renamed[stat.identity] = path }
    }

    /// (The very file that is known here was not put here since: what the cut has left of it has all its names.)
    private func isPutHere(_ stat: Stat, _ row: Row, _ namesakes: Namesakes) -> Bool {
        guard row.disk?.stat.identity != stat.identity else { return false }
        return watch.isChangedSinceBoot(stat) && !isAsKnown(stat, elsewhereThan: row, namesakes)
            || hasArrived(row.path, .byPerson)
    }

    /// The clock has been put back with the cut, so that a change that looks like one of now may be from before it: where another file was
    /// known, this one is known by another name as of that very change, which a rename of somebody's would have altered.
    private func isAsKnown(_ stat: Stat, elsewhereThan row: Row, _ namesakes: Namesakes) -> Bool {
        guard let known = row.disk?.stat, !stat.isSameFile(as: known), watch.mayBeTold(stat.changed), !stat.isCoarse,
            !hasArrived(row.path, .byPerson)
        else { return false }
        if let stray = watch.strays[stat.identity], stray.path != row.path { return stray.changed == stat.changed }
        return namesakes[stat.identity].contains { other in
            other.path != row.path && !mayBeFoundSinceCut(other) && other.disk?.stat.changed == stat.changed
        }
    }

    /// What a power cut has left of a file that is known by another name has been put here by a person: the content that file had.
    /// What stood here before is nothing that he wants back. (Where births are coarse, another file may have had the identity.)
    func contentOfRemains(_ stat: Stat, at row: Row, _ namesakes: Namesakes) -> Content? {
        guard stat.kind == .file, stat.identity.isUnique,
            isPutHere(stat, row, namesakes) || row.disk == nil && isEmptiedAsKnown(stat, at: row, namesakes),
            book(of: row.path) == nil, !hasHeader(row.path), !isHeldBack(row.path)
        else { return nil }
        if let stray = watch.strays[stat.identity], stray.path != row.path, stray.content.kind == .file {
            return stray.content
        }
        let other = namesakes[stat.identity].first { other in
            other.path != row.path && isSuspect(other) && other.disk?.entry.content.kind == .file
        }
        return other.map { $0.condition == .damaged ? resolution(of: $0).entry.content : $0.disk?.entry.content }
            ?? contentInDoubt(stat, at: row, namesakes)
    }

    /// The rules left it out by another name when the distrust ended, and somebody has given it this new one since, but has not written to it:
    /// that it is empty is in doubt here as it was there. What that name held.
    private func contentInDoubt(_ stat: Stat, at row: Row, _ namesakes: Namesakes) -> Content? {
        guard let since = record.distrustOfIgnored, stat.kind == .file, stat.size == 0, stat.identity.isUnique,
            watch.isChangedSinceBoot(stat), !watch.isSinceBoot(stat.modified), row.disk == nil, row.heads.isEmpty,
            book(of: row.path) == nil, !hasHeader(row.path), !isHeldBack(row.path)
        else { return nil }
        let other = namesakes[stat.identity].first { other in
            guard other.path != row.path, other.condition == .ignored, !isWritten(other.path), let disk = other.disk
            else { return false }
            return disk.entry.content.kind == .file && disk.entry.content.size > 0 && disk.isYounger(than: since)
                && stat.modified <= disk.stat.modified
        }
        return other?.disk?.entry.content
    }

    mutating func noteArrival(of stat: Stat, at row: Row, _ namesakes: Namesakes) {
        guard record.distrustSince != nil, row.disk?.stat.identity != stat.identity,
            watch.arrived.count < limits.notedPathsMax
        else { return }
        let isMoved = isMovedSinceKnown(stat, to: row, namesakes)
        if watch.isChangedSinceBoot(stat) || isMoved == true, !isOnlyStirred(stat, row.path) {
            watch.arrived[row.path] = .byPerson
        } else if isMoved == false, !stat.isCoarse {
            watch.arrived[row.path] = .byCut
        }
    }

    /// The change time of a directory is that of what was put into it since the machine is up, or taken from it, and nobody has put anything
    /// into the one above it: its name is as the cut has left it.
    private func isOnlyStirred(_ stat: Stat, _ path: Path) -> Bool {
        stat.kind == .directory && stat.modified == stat.changed && watch.isSinceBoot(stat.changed)
            && !watch.named.contains(key: path) && path.parent.map { watch.stirred[$0] == nil } ?? true
    }

    /// A directory that is known elsewhere (nil if it is not), and was moved later than that, however many cuts there were since: a cut that takes
    /// a move back leaves it with an earlier time, or with the one it is known with.
    private func isMovedSinceKnown(_ stat: Stat, to row: Row, _ namesakes: Namesakes) -> Bool? {
        guard stat.kind == .directory else { return nil }
        if let stray = watch.strays[stat.identity], stray.path != row.path, stray.content.isDirectory {
            return stray.changed < stat.changed
        }
        let known = namesakes[stat.identity].filter { $0.path != row.path }.compactMap(\.disk?.stat)
        let changes = known.filter { $0.kind == .directory }.map(\.changed)
        return changes.isEmpty ? nil : changes.contains { $0 < stat.changed }
    }

    /// With a directory above.
    private func hasArrived(_ path: Path, _ arrival: WatchState.Arrival) -> Bool {
        if watch.arrived.isEmpty { return false }
        return sequence(first: path, next: \.parent).contains { watch.arrived[$0] == arrival }
    }

    mutating func noteStray(
        _ stat: Stat, _ content: Content, _ path: Path, isPlaced: Bool = false, isFound: Bool = false
    ) {
        guard record.distrustSince != nil, watch.strays.count < limits.notedPathsMax,
            watch.strays[stat.identity]?.path != path
        else { return }
        watch.strays[stat.identity] = WatchState.Stray(
            path: path, content: content, changed: stat.changed, modified: stat.modified, isPlaced: isPlaced,
            isFound: isFound)
    }

    /// What is known there. (Of what a cut has left the content that it had.)
    mutating func noteStray(of row: Row) {
        guard let disk = row.disk else { return }
        let content = row.condition == .damaged ? resolution(of: row).entry.content : disk.entry.content
        noteStray(disk.stat, content, row.path, isPlaced: disk.isPlaced, isFound: mayBeFoundSinceCut(row))
    }
}

extension Row.DiskState {
    /// A file that we have put there for the peer, and its name was synced before that was on record: no cut takes it from there. (Where the clock
    /// stands still, or stamps are coarse, its change time does not say that a person has moved it since.)
    fileprivate var isPlaced: Bool {
        stat.kind == .file && [origins.content, origins.mode, origins.time].allSatisfy { $0.author == .peer }
    }
}
