import SyncModel

/// What was read becomes a revision of our own log, unless it is what the row wants already, damage, or held back.
extension Node {
    mutating func takeHashes(_ results: [HashedPath], _ answers: inout Answers, into effects: inout Effects) {
        watch.observing -= 1
        let rows = answers.rowsByPath()
        let namesakes = Namesakes(answers.rows())
        let kept = keptContents(of: results, &answers)
        var batch = Batch()
        var former: [FileIdentity] = []
        for result in results {
            if waitsForHeader(result, rows[result.path], into: &effects) { continue }
            let isOutOfDate = watch.hashing.removeValue(forKey: result.path) == false
            if let seen = watch.seenWhileHashing.removeValue(forKey: result.path), !result.shows(seen) {
                watch.toHash[result.path] = true
            }
            if watch.afterReading.removeValue(forKey: result.path) != nil { look(at: result.path) }
            if apply.touches(result.path) {
                watch.deferred[result.path] = true
                continue
            }
            // (The rules may have come to cover it since it was looked at, or the directory above has turned up elsewhere: then the row
            // speaks of what has moved with that, and what is read here belongs to another.)
            if isOutOfDate || isBelowLeftName(result.path)
                || watch.rules.isIgnored(result.path.bytes, isDirectory: false)
            {
                if case .content(let content, _, let stat) = result.outcome { noteStray(stat, content, result.path) }
                look(at: result.path)
                continue
            }
            watch.sinceScan?[result.path] = true
            watch.emptied[result.path] = nil
            let old = rows[result.path]
            var row = old ?? Row(path: result.path)
            if row.condition == .ignored, isHeeded(row) { heed(&row) }
            switch result.outcome {
            case .content(.directory, _, _), .absent:
                look(at: row.path)
            case .content(let content, let list, let stat):
                if case .file(let id, _) = content { batch.add(.putChunks(id, list)) }
                recallEmptied(row, stat)
                if !row.needsApply, !waitsSinceBefore(row) { endWait(of: &row) }
                if row.disk == nil { watch.noteHome(of: row.path) }
                // (Not all that is read has been looked at before.)
                if stat.kind == .file { lookAtNamesakes(of: row.path, stat, namesakes) }
                former += formerFiles(of: Look(path: row.path, stat: stat), old)
                revised(
                    &row, showing: content, stat: stat, isRacy: result.isRacy, namesakes: namesakes,
                    kept: kept[row.path] ?? [], in: &batch)
                noteFormat(&row)
                watch.heeded[row.path] = nil
            case .changing:
                wait(&row, .contentChanging)
                watch.changing[row.path] = now.monotonicMilliseconds + limits.changingRetryMilliseconds
            case .failed(let error):
                wait(&row, Node.reason(for: error))
                let pause = limits.retryPause(afterTries: row.waiting?.tries ?? 1)
                watch.changing[row.path] = now.monotonicMilliseconds + pause
            }
            put(row, replacing: old, in: &batch, into: &effects)
            if row.isUnsettled { plan.want(row.path) }
        }
        if !former.isEmpty { enqueue(.namesakes(former)) }
        if !batch.isEmpty { store(&batch, into: &effects) }
    }

    /// Once a change would show in its times.
    mutating func readAgain(_ path: Path, _ stat: Stat) {
        let pause = min(limits.racyMilliseconds, UInt64(stat.grainMilliseconds) + Node.racyMarginMilliseconds)
        watch.changing[path] = now.monotonicMilliseconds + pause
    }

    private static let racyMarginMilliseconds: UInt64 = 20

    /// Compares what was found with what the row says, and records a change of ours if there is one.
    mutating func revised(
        _ row: inout Row, showing content: Content, stat: Stat, isRacy: Bool = false, namesakes: Namesakes,
        kept: [ContentID] = [], in batch: inout Batch
    ) {
        var entry = Entry(content: content, mode: stat.mode, modified: stat.modified)
        if case .symlink = content { entry.mode = 0o777 }
        if let disk = row.disk, disk.entry.content.kind == content.kind {
            // A file system may keep less than we asked for; unchanged on disk means unchanged.
            if stat.modified == disk.stat.modified { entry.modified = disk.entry.modified }
            if stat.mode == disk.stat.mode { entry.mode = disk.entry.mode }
        }
        if isRacy { readAgain(row.path, stat) }
        // A file seen missing and found again as another file was made anew, whatever it holds: whoever deletes the old one
        // elsewhere has not seen this one.
        let isPutOver = isPutOver(row, content, stat, namesakes)
        let isMadeAnew =
            row.condition == .missing && stat.kind != .directory && row.disk?.stat.identity != stat.identity
            || isPutOver
        if let disk = row.disk, disk.stat.identity != stat.identity { noteDeparted(disk) }
        if let disk = row.disk, disk.entry == entry, !isMadeAnew {
            // (As it was known before the cut: what is seen of it now may be half of a rename.)
            if disk.stat.changed != stat.changed { noteStray(of: row) }
            let hasFailed = watch.unwritten.removeValue(forKey: row.path) == stat.identity
            row.disk?.isUnwritten = hasFailed || disk.isUnwritten(as: stat)
            row.disk?.stat = stat
            row.disk?.isRacy = isRacy
            endHoldingBack(&row)
            // (Of what waited there nothing is left, where somebody has put back the file with its time.)
            takeBackFinding(of: &row)
            // Put back by a person, as it was told of last: that says nothing for what is saved next.
            if disk.stat.identity != stat.identity { formats.insisted[row.path] = nil }
            if row.condition == .missing { revived(&row) }
            return
        }
        if isDamage(row, found: entry, stat, namesakes), !isRenamed(entry, stat, to: row, namesakes) {
            if row.condition != .damaged { row.waiting = nil }
            // (Read before anybody knew that something is to be there, it waits for its author like a save, and would keep that away.)
            takeBackFinding(at: row.path)
            if row.path.name?.bytes == IgnoreRules.fileName { watch.rulesAreRemains = true }
            if let content = contentOfRemains(stat, at: row, namesakes), content != row.disk?.entry.content {
                let whole = Entry(content: content, mode: entry.mode, modified: entry.modified)
                revise(&row, to: whole, stat: stat, in: &batch)
                cancel(row.path)
            }
            row.condition = .damaged
            let origins = row.disk?.origins ?? Resolution.nothing.origins
            row.disk = Row.DiskState(entry: entry, stat: stat, origins: origins, isRacy: isRacy)
            plan.want(row.path)
            return
        }
        let wanted = resolution(of: row)
        // (In the middle of a past that we have lost it is only the same by chance.)
        let isChance = isRecalling && stat.kind != .directory
        if row.needsApply, wanted.entry.agrees(with: entry), !isPutOver, !isChance {
            let isUnwritten = row.disk?.isUnwritten(as: stat) ?? false
            row.disk = Row.DiskState(
                entry: wanted.entry, stat: stat, origins: wanted.origins, isRacy: isRacy, isUnwritten: isUnwritten)
            row.reflected = row.version
            noteFound(&row)
            row.condition = .normal
            row.waiting = nil
            row.owesCopy = false
            // (What waited for its author here is what the other node has as well: it stands in the way of nothing.)
            if records.waiting.contains(key: row.path) { takeBackFinding(at: row.path) }
            return
        }
        if holdsBack(&row, content) { return }
        if leaveToRecords(&row, entry, stat, isRacy: isRacy) { return }
        if holdsDowngrade(&row, entry, stat, isRacy: isRacy, kept, in: &batch) { return }
        if takesBack(&row, entry, stat, isRacy: isRacy) { return }
        let source = namesakes[stat.identity].first { other in
            other.path != row.path && other.condition == .missing && other.disk?.entry.content == content
        }
        if let source { deletes.movedTo[source.path] = row.path }
        noteTurnedUp(stat.identity, entry.content, at: row.path, namesakes)
        if let disk = row.disk, disk.stat.identity != stat.identity { noteStray(of: row) }
        let isReasserted = isMadeAnew || row.condition == .damaged
        if source == nil, isStillKept(row, as: entry, stat) {
            keepOn(&row, as: entry, stat, in: &batch)
        } else {
            revise(&row, to: entry, stat: stat, movedFrom: source?.path, isReasserted: isReasserted, in: &batch)
        }
        row.disk?.isRacy = isRacy
        if watch.unwritten.removeValue(forKey: row.path) == stat.identity { row.disk?.isUnwritten = true }
        cancel(row.path)
    }

    /// Another file than the one that is known here, and it is known by another name: a person has put it over that one. Whoever takes away the
    /// old one elsewhere has not seen this one, though it holds the same. (After a power cut either name may be of before.)
    private func isPutOver(_ row: Row, _ content: Content, _ stat: Stat, _ namesakes: Namesakes) -> Bool {
        guard let disk = row.disk, row.condition == .normal, disk.stat.identity != stat.identity,
            stat.kind != .directory, book(of: row.path) == nil, !isSuspect(row) || isHandled(row.path)
        else { return false }
        // (What we are putting in its place has no row yet that says so.)
        return watch.departed[stat.identity] == content
            || namesakes[stat.identity].contains { $0.path != row.path && $0.disk?.entry.content == content }
            || apply.batch?.items.contains { $0.task.stage?.stat.identity == stat.identity } == true
    }

    /// It may have got another name that is looked at, or read, only when no row says any more that it had this one.
    mutating func noteDeparted(_ disk: Row.DiskState) {
        if watch.departed.count >= WatchState.youngMax { watch.departed.removeAll() }
        watch.departed[disk.stat.identity] = disk.entry.content
    }

    mutating func wait(_ row: inout Row, _ reason: MessageCode) {
        let before = row.waiting.flatMap { $0.reason == reason ? $0 : nil }
        // Since a time to come: the clock has been put back. It waits from now at the latest, or patience would never end.
        let since = min(before?.sinceMilliseconds ?? now.wallMilliseconds, now.wallMilliseconds)
        row.waiting = Row.Waiting(reason: reason, sinceMilliseconds: since, tries: (before?.tries ?? 0) + 1)
    }

    static func reason(for error: DiskError) -> MessageCode {
        switch error {
        case .noSpace: .diskFull
        case .inputOutput, .readOnly: .diskError
        case .permission: .pathPermission
        case .busy: .pathBusy
        case .nameTooLong, .unsupported, .crossDevice: .pathUnsupported
        case .notFound, .notDirectory: .waitingParent
        case .notEmpty: .waitingChildren
        case .exists, .isDirectory, .mismatch: .pathBusy
        }
    }
}
