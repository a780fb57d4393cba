import SyncModel

/// What a look has found is held against the row: still the same, to be read, or gone.
extension Node {
    mutating func observe(
        _ looks: [Look], _ source: LookSource, _ answers: inout Answers, into effects: inout Effects
    ) {
        watch.observing -= 1
        var rows = answers.rowsByPath()
        let looks = withoutNewRules(upToDate(looks, source), source, rows, into: &effects)
        let namesakes = Namesakes(answers.rows())
        var batch = Batch()
        var absent: [Path] = []
        var replaced: [Path] = []
        var former: [FileIdentity] = []
        let looked = SortedMap(looks.map { ($0.path, $0.stat) })

        let moved = startRelocations(looks, looked, rows: rows, namesakes: namesakes)
        for look in looks {
            noteSpecial(look)
            // Where nothing is known to be there was nothing to move.
            let isNothing = look.stat == nil && rows[look.path]?.disk == nil
            if !isNothing, isBelowOrIn(look.path, moved) || isBelowLeftName(look.path) { continue }
            let old = rows[look.path]
            if apply.touches(look.path) {
                if look.stat == nil { noteGoneMeanwhile(old) }
                self.look(afterBatch: look.path)
                continue
            }
            var row = old ?? Row(path: look.path)
            let wasClosed = watch.closed.removeValue(forKey: look.path) != nil
            let wasWritten = watch.noticed[look.path].map { $0 != 0 } ?? false
            let isLeftOut = look.stat.map {
                watch.rules.isIgnored(look.path.bytes, isDirectory: $0.kind == .directory)
            }
            if look.stat == nil || isLeftOut == true && hasMadeRoom(look) { forgetRules(of: row, into: &effects) }
            if look.stat?.kind != .directory || isLeftOut == true { watch.goneMeanwhile[look.path] = nil }
            if look.stat.map({ $0.kind != .file || $0.size != 0 }) ?? true { watch.emptied[look.path] = nil }
            if isLeftOut != false, isIgnored(row) {
                // Another name of the same file may be synced, and nobody tells of that one.
                if let stat = look.stat, stat.kind == .file { lookAtNamesakes(of: look.path, stat, namesakes) }
                noteLost(&row, look.stat)
                ignore(&row)
            } else if let stat = look.stat, stat.kind != .special, isLeftOut == false {
                found(
                    stat, at: &row, wasClosed: wasClosed, wasWritten: wasWritten, namesakes: namesakes, in: &batch)
                if old?.condition == .ignored, stat.kind == .file, staysLeftOut(row) { row.condition = .ignored }
            } else {
                // What cannot be synced, or what the rules leave out while they do not leave out what was or is to be here,
                // only stands in its way.
                if let stat = look.stat, stat.kind == .special, isLeftOut == false {
                    reportSpecial(look.path, into: &effects)
                    // Made after what is known had been put here: no cut took that.
                    if let disk = row.disk, stat.identity.birth > disk.stat.changed { noteHandled(row.path) }
                }
                // What is being read may have been there a moment ago.
                if watch.hashing.contains(key: look.path) { watch.hashing[look.path] = false }
                if vanished(&row) {
                    absent.append(row.path)
                    if old?.condition != .missing {
                        noteMissed(row.path, besides: looked)
                        if row.disk?.entry.content.isDirectory == true { lookAtRules(below: row.path) }
                    }
                } else if source != .scan, row.disk == nil, row.condition == .normal,
                    old?.disk?.entry.content.isDirectory == true
                {
                    // It was to go, but what its deleter had not seen has gone with it, and nobody tells of that.
                    replaced.append(look.path)
                }
            }
            if !row.needsApply && row.condition == .normal && look.stat == nil { endWait(of: &row) }
            put(row, replacing: old, in: &batch, into: &effects)
            let isDirectory = look.stat?.kind == .directory
            if isDirectory, old?.disk == nil { watch.noteHome(of: look.path) }
            let wasHome = watch.leaveHome(look.path, isDirectory: isDirectory) && old?.disk == nil
            if wasHome || look.stat != nil && !isDirectory && old?.disk?.entry.content.isDirectory == true {
                replaced.append(look.path)
            }
            rows[look.path] = row
            let wasAwaited = plan.afterLook.removeValue(forKey: look.path) != nil
            former += formerFiles(of: look, old)
            if isNews(row, old) { plan.resting[row.path] = nil }
            if row.needsApply && (wasAwaited || row != old) { plan.want(row.path) }
        }
        for path in replaced { flag(below: path) }
        if !former.isEmpty { enqueue(.namesakes(former)) }
        if !batch.isEmpty { store(&batch, into: &effects) }
        for path in absent where rows[path]?.disk?.entry.content.isDirectory == true && source != .scan {
            // Below a directory that went with its parent, everything is being looked at already.
            if let parent = path.parent, let above = looked[parent], above == nil { continue }
            flag(below: path)
        }
        guard source != .scan else { return }
        // One file that is gone may be the first seen of a whole directory: they are to be judged together.
        for path in absent {
            if let parent = path.parent, looked[parent] == nil { look(at: parent) }
        }
        deletes.note(absent)
        if !absent.isEmpty { deletes.latest = now.monotonicMilliseconds }
    }

    /// Answers overtake each other: what was learnt of a path after a look at it was asked for may be newer than the look.
    /// Such a path is looked at again.
    private mutating func upToDate(_ looks: [Look], _ source: LookSource) -> [Look] {
        let newer: SortedMap<Path, Bool>
        switch source {
        case .inspection:
            newer = watch.sinceInspection ?? SortedMap()
            endInspection()
            if watch.isInspectionLost {
                watch.isInspectionLost = false
                for look in looks { self.look(at: look.path) }
            }
            for look in looks { watch.sinceScan?[look.path] = true }
            if watch.sinceScan.map({ $0.count > limits.notedPathsMax }) == true {
                watch.sinceScan = SortedMap()
                watch.isScanTainted = true
            }
        case .scan:
            newer = watch.sinceScan ?? SortedMap()
            watch.sinceScan = nil
        }
        if newer.isEmpty { return looks }
        return looks.filter { look in
            var path = look.path
            var isOld = newer.contains(key: path)
            // With a directory that is back again everything in it may be back.
            while !isOld, source == .scan, look.stat == nil, let above = path.parent, !above.isRoot {
                path = above
                isOld = newer.contains(key: path)
            }
            if isOld { self.look(at: look.path) }
            return !isOld
        }
    }

    /// What lay below a directory that is gone is gone with it; nobody tells of each.
    mutating func flag(below path: Path, mayBeBack: Bool = false) {
        deletes.flagging += 1
        enqueue(.flagBelow(path, after: nil, mayBeBack: mayBeBack))
    }

    func isBelowOrIn<Value>(_ path: Path, _ set: SortedMap<Path, Value>) -> Bool {
        if set.isEmpty { return false }
        return set.contains { entry in path == entry.key || path.isBelow(entry.key) }
    }

    /// More than the change time, which our own exchange and back alters too: a path that rests must not wake itself.
    private func isNews(_ row: Row, _ old: Row?) -> Bool {
        guard var before = old, let changed = row.disk?.stat.changed, before.disk != nil else { return row != old }
        before.disk?.stat.changed = changed
        return row != before
    }

    /// Something stands at the path.
    mutating func found(
        _ stat: Stat, at row: inout Row, wasClosed: Bool, wasWritten: Bool, namesakes: Namesakes, in batch: inout Batch
    ) {
        if row.condition == .ignored { heed(&row) }
        if stat.kind == .file { records.noteThere(row.path) }
        if !watch.leftOut.isEmpty { watch.leftOut[row.path] = nil }
        if !watch.strangers.isEmpty { recognise(stat, at: &row) }
        // What has come back with it nobody tells.
        if watch.goneMeanwhile.removeValue(forKey: row.path) != nil, stat.kind == .directory { rescan(row.path) }
        if stat.kind == .directory {
            lookAtMissed(in: row.path)
            noteStirred(stat, row.path)
        }
        if stat.kind != .directory {
            noteRenamed(stat, to: row.path, namesakes)
            lookAtNamesakes(of: row.path, stat, namesakes)
            noteUnwritten(stat, by: row, namesakes)
        }
        // A clock that was put back comes by the same coarse stamp once more: whoever writes then shows in no time. (Nor to the next process,
        // if this one ends before it has read that.)
        let mayBeRewritten =
            wasWritten && stat.kind == .file && stat.isCoarse && row.disk?.isStill(stat) == true
        if mayBeRewritten { row.disk?.isRacy = true }
        if let disk = row.disk, disk.isStill(stat) {
            records.forgetTouch(row.path)
            watch.emptied[row.path] = nil
            if !row.needsApply && row.condition == .normal { endWait(of: &row) }
            if row.condition == .missing {
                revived(&row)
                // What was marked missing with it may be back as well, and nobody tells.
                if stat.kind == .directory { rescan(row.path) }
            }
            // (It may not have been readable when it was to be told of.)
            if isUntold(row) { takeBackFinding(of: &row) }
            if stat.kind != .file { watch.heeded[row.path] = nil }
            guard stat.kind == .file, row.condition == .normal else { return }
            // The times may have reached the disk before the bytes did.
            let isDoubted =
                isSuspect(row) || isHeeded(row) || watch.unwritten[row.path] == stat.identity
            if isDoubted || wasClosed && mayBeMapped(disk, stat) { watch.toHash[row.path] = true }
            return
        }
        guard stat.kind == .directory else {
            if isJustEmptied(stat, row) { return }
            if watch.hashing[row.path] == true, !wasClosed, !mayBeRewritten {
                watch.seenWhileHashing[row.path] = stat
            } else if isFreshAndLarge(stat) {
                readAgain(row.path, stat)
            } else {
                watch.toHash[row.path] = true
            }
            return
        }
        // (A directory from here on.)
        if watch.hashing.contains(key: row.path) { watch.hashing[row.path] = false }
        let isNew = row.disk?.stat.isSameFile(as: stat) != true || row.condition == .missing
        noteArrival(of: stat, at: row, namesakes)
        revised(&row, showing: .directory, stat: stat, namesakes: namesakes, in: &batch)
        if isNew {
            rescan(row.path)
            noteYoung(row.path)
            // What goes into it may have waited for it.
            plan.madeProgress = true
        }
    }

    /// The sync of the file has failed by another name of it: what is not on the disk there is not here.
    private mutating func noteUnwritten(_ stat: Stat, by row: Row, _ namesakes: Namesakes) {
        guard row.disk?.isUnwritten(as: stat) != true,
            namesakes[stat.identity].contains(where: { $0.path != row.path && $0.disk?.isUnwritten == true })
        else { return }
        noteUnwritten(row.path, stat)
    }

    /// Read now, it would be read twice. Waiting until times can tell costs less.
    private func isFreshAndLarge(_ stat: Stat) -> Bool {
        stat.kind == .file && stat.size >= limits.readTwiceBytesMax
            && stat.isFresh(during: now.wallMilliseconds...now.wallMilliseconds)
    }

    /// Whoever has mapped a file changes its times only with the first write to a page that is clean: until the kernel has
    /// written that down, what follows leaves no trace but the close. What came from the peer was synced before it was put
    /// there, so that every write to it shows; and it is we who close it.
    private func mayBeMapped(_ disk: Row.DiskState, _ stat: Stat) -> Bool {
        disk.origins.content.author == .own
            && now.wallMilliseconds - stat.changed.milliseconds < Int64(clamping: limits.writebackMilliseconds)
    }

    /// A write through one name of a hard link, ours or a user's, is told of for that name only. A name that is still to be
    /// read is not asked again: two that are both out of date would send looks to each other without end. What is being read
    /// may be from before the write.
    mutating func lookAtNamesakes(of path: Path, _ stat: Stat, _ namesakes: Namesakes) {
        let others = namesakes[stat.identity].filter { other in
            guard let known = other.disk?.stat, other.path != path else { return false }
            return !stat.isUntouched(since: known)
        }
        guard !others.isEmpty, watch.askedNamesakes[path] != stat else { return }
        if watch.askedNamesakes.count >= WatchState.youngMax { watch.askedNamesakes.removeAll() }
        watch.askedNamesakes[path] = stat
        for other in others where !apply.touches(other.path) {
            if watch.hashing.contains(key: other.path) {
                watch.afterReading[other.path] = true
            } else if !watch.toHash.contains(key: other.path) {
                look(at: other.path)
            }
        }
    }

    /// Files that may have been written by this name and are not to be seen under it: the one that has just lost it and, if
    /// there was a notice, all that had it before.
    mutating func formerFiles(of look: Look, _ row: Row?) -> [FileIdentity] {
        let (path, shown) = (look.path, look.stat?.identity)
        let noticed = watch.noticed.removeValue(forKey: path)
        let lost = row?.disk.flatMap { $0.stat.kind == .file && $0.stat.identity != shown ? $0.stat.identity : nil }
        let known = watch.former[path]
        if let noticed { searchForWritten(at: look, noticed) }
        guard known != nil || lost != nil else { return [] }
        var former = (known ?? []).filter { $0 != shown }
        var asked = noticed != nil ? former : []
        if let lost, !former.contains(lost) {
            if former.count == WatchState.formerMax { former.removeFirst() }
            former.append(lost)
            asked.append(lost)
        }
        if watch.former.count >= WatchState.youngMax { watch.former.removeAll() }
        watch.former[path] = former.isEmpty ? nil : former
        return asked
    }

    /// Somebody writes by this name, but nothing stands there, or something that has not been changed for a while, or was made
    /// only after that was told: he has another file open, which may have gone from the name before it was looked at, or before
    /// this process began. If it has another name it is found beside this one.
    private mutating func searchForWritten(at look: Look, _ noticed: Int64) {
        guard let parent = look.path.parent else { return }
        let earliest = noticed - Int64(clamping: limits.changingRetryMilliseconds)
        // (What was changed in a time to come was changed before the clock was put back.)
        let latest = max(earliest, now.wallMilliseconds + Int64(clamping: limits.clockSkewMilliseconds))
        // (A name that was given since changes only the one time.)
        if let stat = look.stat {
            let isMadeSince = stat.identity.birth.milliseconds > noticed
            let isWritten =
                !isMadeSince
                && [stat.modified, stat.identity.birth].contains {
                    (earliest...latest).contains($0.milliseconds)
                }
            if stat.kind != .file || isWritten && (earliest...latest).contains(stat.changed.milliseconds) { return }
        }
        watch.toSearch[parent] = true
    }

    /// The other names of such files. What is not on the disk of a file that has made room by one name is not there by another.
    mutating func lookAtNamesakes(_ answers: inout Answers, areUnwritten: Bool) {
        for row in answers.rows() where row.condition != .missing {
            if !areUnwritten {
                if watch.survivors.count >= WatchState.youngMax { watch.survivors.removeAll() }
                watch.survivors[row.path] = true
            } else if let stat = row.disk?.stat {
                noteUnwritten(row.path, stat)
            }
            look(at: row.path)
        }
    }

    mutating func noteYoung(_ directory: Path) {
        let time = now.monotonicMilliseconds
        if watch.young.count >= WatchState.youngMax { watch.young.removeAll { _, due in due <= time } }
        guard watch.young.count < WatchState.youngMax else { return }
        watch.young[directory] = time + limits.youngMilliseconds
    }

    /// An empty file is the first half of many a save: it is believed when it has been empty for a while.
    private mutating func isJustEmptied(_ stat: Stat, _ row: Row) -> Bool {
        guard stat.kind == .file, stat.size == 0, row.disk?.entry.content.size != 0 || row.disk == nil else {
            watch.emptied[row.path] = nil
            return false
        }
        if let seen = watch.emptied[row.path], seen.stat == stat {
            guard seen.atMilliseconds + limits.changingRetryMilliseconds > now.monotonicMilliseconds else {
                watch.emptied[row.path] = nil
                return false
            }
        } else {
            watch.emptied[row.path] = WatchState.Emptied(stat: stat, atMilliseconds: now.monotonicMilliseconds)
        }
        watch.changing[row.path] = now.monotonicMilliseconds + limits.changingRetryMilliseconds
        return true
    }

    private mutating func noteGoneMeanwhile(_ row: Row?) {
        guard let row, row.disk?.entry.content.isDirectory == true, watch.goneMeanwhile.count < limits.notedPathsMax
        else { return }
        watch.goneMeanwhile[row.path] = true
    }

    /// Perhaps with the directory it was in, which may be back by the time it is looked at itself, unless that was seen there at the same time.
    private mutating func noteMissed(_ path: Path, besides looked: SortedMap<Path, Stat?>) {
        guard path.depth > 1, path.parent.flatMap({ looked[$0] ?? nil }) == nil else { return }
        if watch.missed.count >= WatchState.youngMax { watch.missed.removeAll() }
        watch.missed[path] = true
    }

    /// The directory stands there, which says nothing of when it came: what was missed in it before is looked at once more.
    private mutating func lookAtMissed(in directory: Path) {
        if watch.missed.isEmpty { return }
        for path in watch.missed.paths(in: directory) where path.parent == directory {
            watch.missed[path] = nil
            look(at: path)
        }
    }

    /// Nothing (that we sync) stands at the path. True if it was there before.
    private mutating func vanished(_ row: inout Row) -> Bool {
        forgetFinding(at: row.path)
        watch.goneMeanwhile[row.path] = nil
        guard let disk = row.disk else {
            let isInDoubt = record.distrustSince != nil || record.distrustOfIgnored != nil
            records.forgetTouch(row.path)
            if row.condition == .ignored { row.condition = isInDoubt && wasDamaged(row) ? .damaged : .normal }
            if waitsForAuthor(row) { plan.want(row.path) }
            if row.heads.isEmpty || row.waiting?.reason == .contentChanging || waitsForAuthor(row) { row.waiting = nil }
            return false
        }
        // The rules do not cover it any more, and this look at it may be the last before the row is held against them.
        if row.condition == .ignored {
            heed(&row)
            noteLetGo(row)
        }
        if row.needsApply && row.condition == .normal && resolution(of: row).entry.isAbsent {
            // Wanted gone, and gone: by our own hand before a crash, or by a user's who wanted the same, or who gave it another name.
            noteStray(of: row)
            noteDeparted(disk)
            row.disk = nil
            row.reflected = row.version
            row.waiting = nil
            row.owesCopy = false
            return false
        }
        let wasLeftOut = watch.leftOut.removeValue(forKey: row.path) != nil && watch.rulesAreRemains
        if wasLeftOut || isSuspect(row), !isHandled(row.path) {
            noteStray(of: row)
            row.disk = nil
            row.condition = .damaged
            row.waiting = nil
            plan.want(row.path)
            return false
        }
        if row.condition == .damaged {
            row.disk = nil
            plan.want(row.path)
            return false
        }
        // Where its content went before it came back says nothing any more.
        if row.condition != .missing { deletes.movedTo[row.path] = nil }
        deletes.noteMissing(row.path, isNew: row.condition != .missing)
        row.condition = .missing
        if book(of: row.path) != nil { records.holdTouch(row.path) }
        return true
    }

    /// After a power cut: what the rules leave out and was not there when it was looked at, before anybody was seen at
    /// work there. The row says so from here on, also to a later process: when they let go of it, it is damaged. (Who does
    /// something there meanwhile has not taken it away.)
    private mutating func noteLost(_ row: inout Row, _ found: Stat?) {
        if found != nil {
            watch.leftOut[row.path] = nil
        } else if isSuspect(row), !isHandled(row.path), !standsInTheWay(row) {
            noteStray(of: row)
            row.disk = nil
            watch.leftOut[row.path] = nil
        }
    }

    mutating func revived(_ row: inout Row) {
        row.condition = .normal
        takeBackFinding(of: &row)
        endHoldingBack(&row)
        plan.madeProgress = true
        plan.want(row.path)
    }

    /// For `status`, which lists what is left out.
    private mutating func noteSpecial(_ look: Look) {
        let path = look.path
        if look.stat?.kind == .special, !watch.rules.isIgnored(path.bytes, isDirectory: false) {
            if watch.leftSpecials.count < WatchState.leftSpecialsMax { watch.leftSpecials[path] = true }
            if watch.leftSpecials.contains(key: path) { watch.scan?.specials[path] = true }
        } else if look.stat?.kind == .directory {
            // (That says nothing of what is in it.)
            watch.leftSpecials[path] = nil
        } else {
            // What is below a path comes right after it, and nearly every look finds nothing there.
            while let known = watch.leftSpecials.first(from: path)?.key, known == path || known.isBelow(path) {
                watch.leftSpecials.removeValue(forKey: known)
            }
        }
    }

    /// Nobody tells of one that went from where nobody watches, or that a rule names by now: what a scan has not met is gone.
    mutating func forgetSpecials(notIn scan: WatchState.Scan) {
        guard !watch.leftSpecials.isEmpty else { return }
        watch.leftSpecials.removeAll { path, _ in
            (scan.isWhole || path.isBelow(scan.directory)) && !scan.specials.contains(key: path)
        }
    }

    private mutating func reportSpecial(_ path: Path, into effects: inout Effects) {
        guard watch.specials.count < 1_024, !watch.specials.contains(key: path) else { return }
        watch.specials[path] = true
        effects.add(.report(.note(Note(code: .pathSpecial, subject: path.bytes))))
    }

    /// After a power cut: this path was new enough that the machine may not have written it down, or was to be read once more.
    func isSuspect(_ row: Row) -> Bool {
        guard let since = record.distrustSince, let disk = row.disk, isUnseen(row.path) else { return false }
        return disk.isRacy || disk.isYounger(than: since)
    }

    /// Nobody has looked there yet in this process, or what was found has not been read.
    func isUnseen(_ path: Path) -> Bool { watch.unseen.map { isBelowOrIn(path, $0) } ?? true }

    // MARK: Everything below a directory that is gone

    /// Each is looked at before it is believed: another directory may stand in the place of the one that went.
    mutating func flagBelow(
        _ directory: Path, mayBeBack: Bool, _ answers: inout Answers, into effects: inout Effects
    ) {
        let rows = answers.rows()
        for row in rows where row.disk != nil && (mayBeBack || row.condition != .missing) { look(at: row.path) }
        if rows.count == limits.batchPathsMax, let last = rows.last {
            enqueue(.flagBelow(directory, after: last.path, mayBeBack: mayBeBack))
        } else {
            deletes.flagging -= 1
        }
    }
}
