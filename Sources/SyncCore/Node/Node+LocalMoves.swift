import SyncModel

/// A directory that turned up under a new name.
struct LocalMove: Hashable, Sendable {
    let from: Path
    let to: Path
    let stat: Stat
    /// The rows that were found again below the new name.
    var found = SubtreeSummary.Contents()
}

/// A directory that was renamed here as a whole: one entry in the log, if everything below it is found again in its new
/// place and nothing else has been found below the old name since; else path by path.
extension Node {
    /// A directory that is new here and gone there, by identity, may have moved. Returns the paths it takes care of.
    mutating func startRelocations(
        _ looks: [Look], _ looked: SortedMap<Path, Stat?>, rows: RowMap, namesakes: Namesakes
    ) -> SortedMap<Path, Bool> {
        var handled = SortedMap<Path, Bool>()
        for look in looks {
            guard let stat = look.stat, stat.kind == .directory, rows[look.path]?.disk == nil, !apply.touches(look.path)
            else { continue }
            if watch.unmoved.removeValue(forKey: look.path) == stat.identity || concernsRecords(look.path) { continue }
            let source = namesakes[stat.identity].first { other in
                // What is ignored says nothing any more, however often it is looked at.
                other.disk?.entry.content.isDirectory == true && other.condition != .ignored
            }
            guard let source, source.path != look.path, !concernsRecords(source.path), !apply.touches(source.path),
                !isBelowOrIn(source.path, handled),
                !isTakenBack(source, stat)
            else { continue }
            if let seen = looked[source.path] {
                // Looked at in the same breath: it is elsewhere now unless it stands there still.
                if seen?.identity == stat.identity { continue }
            } else if source.condition != .missing {
                self.look(at: source.path)
                self.look(at: look.path)
                handled[look.path] = true
                continue
            }
            handled[look.path] = true
            handled[source.path] = true
            enqueue(.verifyMove(LocalMove(from: source.path, to: look.path, stat: stat), after: nil))
            watch.observing += 1
            watch.movesInDoubt += 1
            watch.leftNames[source.path] = true
        }
        return handled
    }

    /// Whatever comes of the move, all that is there is looked at once it has been settled.
    func isBelowLeftName(_ path: Path) -> Bool {
        !watch.leftNames.isEmpty && path.parents.contains { watch.leftNames.contains(key: $0) }
    }

    /// A power cut has undone the rename that gave the directory its name: one of somebody's would have changed its change time.
    private func isTakenBack(_ row: Row, _ found: Stat) -> Bool {
        guard let known = row.disk?.stat, isSuspect(row), !isHandled(row.path) else { return false }
        return found.changed <= known.changed
    }

    /// What was taken out of the directory before it moved must not be logged as moved with it: every row below is looked for
    /// in its new place.
    mutating func verifyMove(_ move: LocalMove, _ answers: inout Answers, into effects: inout Effects) {
        let rows = answers.rows()
        let next = rows.count == limits.batchPathsMax ? rows.last?.path : nil
        let live = rows.filter { $0.disk != nil }
        var move = move
        for row in live { move.found.count(row, below: move.from) }
        let paths = live.compactMap { $0.path.rebased(from: move.from, to: move.to) }
        guard paths.count == live.count else {
            takeMoveApart(move)
            return
        }
        effects.add(.inspect(newJob(.moveCheck(move, live, next: next)), paths.isEmpty ? [move.to] : paths))
    }

    mutating func finishMoveCheck(_ move: LocalMove, _ rows: [Row], next: Path?, _ inspection: Inspection) {
        let known = rows.isEmpty ? [move.stat] : rows.compactMap { $0.disk?.stat }
        let isWhole =
            inspection.root == .healthy
            && zip(known, inspection.results).allSatisfy { known, result in
                // A file may have been edited since, in whatever way: the scan that follows finds that, as it would in place.
                guard case .found(let stat) = result else { return false }
                return stat.kind == .directory ? stat.identity == known.identity : known.kind != .directory
            }
        if isWhole {
            enqueue(next.map { .verifyMove(move, after: $0) } ?? .relocateLocally(move))
        } else {
            takeMoveApart(move)
        }
    }

    /// Path by path, and from what is there by now. (What lay in the directory was left to the move when it was seen missing,
    /// and the directory may be known as deleted by now: no look at it would tell any more. Nor if it is back and was never
    /// marked missing itself.)
    private mutating func takeMoveApart(_ move: LocalMove) {
        watch.observing -= 1
        watch.movesInDoubt -= 1
        watch.leftNames[move.from] = nil
        if watch.unmoved.count < WatchState.youngMax { watch.unmoved[move.to] = move.stat.identity }
        // (What was new in it was left to the move as well, and no row tells of that.)
        if watch.goneMeanwhile.count < limits.notedPathsMax { watch.goneMeanwhile[move.from] = true }
        look(at: move.from)
        look(at: move.to)
        flag(below: move.from, mayBeBack: true)
    }

    /// A directory was renamed here: one entry in the log if everything below it is settled, else path by path.
    mutating func relocateLocally(_ local: LocalMove, _ answers: inout Answers, into effects: inout Effects) {
        let (from, to) = (local.from, local.to)
        let rows = answers.rowsByPath()
        let source = answers.summary()
        let target = answers.summary()
        var found = local.found
        if let row = rows[from] { found.count(row, below: from) }
        // A row that came since was seen at the old name: it belongs to another directory there.
        guard let row = rows[from], row.disk?.stat.identity == local.stat.identity, source.unsettled == 0,
            source.contents == found, source.entangled == 0, row.heads.count == 1, !row.needsApply,
            target.contents.liveRows == 0, target.unsettled == 0, rows[to]?.isUnsettled != true,
            rows[to]?.disk == nil, !apply.touchesBelow(from), !apply.touchesBelow(to), !to.isBelow(from),
            !from.isBelow(to), incoming.isIdle
        else {
            takeMoveApart(local)
            return
        }
        watch.observing -= 1
        watch.movesInDoubt -= 1
        watch.leftNames[from] = nil
        var batch = Batch()
        let position = nextPosition()
        let time = clock.tick(wallMilliseconds: now.wallMilliseconds)
        let move = Relocation(
            from: from, to: to, origin: Origin(author: .own, position: position, time: time),
            seenPeer: record.importedHead.position, summary: source.contents)
        append(.relocate(move), at: position, time, in: &batch)
        relocateRows(move, hasLeftOut: source.hasLeftOut, in: &batch, into: &effects)
        if source.hasLeftOut { counts.mustRecount = true }
        counts.unsettled -= source.missing
        // (How many files these were is not known.)
        if source.missing > 0, record.held != nil { deletes.mustRecount = true }
        if row.condition == .missing { deletes.forget(from) }
        store(&batch, into: &effects)
        reloadAllRules()
        // The rename told nothing about what is inside, nor about the directory's own time.
        rescan(to)
        look(at: to)
        look(at: from)
        plan.want(to)
    }

    /// All that is known of a directory is known at its new place from the end of this batch on. (A scan meets the rows as they are stored.)
    mutating func relocateRows(
        _ move: Relocation, hasLeftOut: Bool = true, in batch: inout Batch, into effects: inout Effects
    ) {
        var stored = move
        // The rules may not cover the new name of what they have left out, and what a power cut has made of that is
        // nobody's doing there either.
        if hasLeftOut { stored.distrustOfIgnored = record.distrustOfIgnored }
        batch.add(.relocate(stored))
        // What is being read by the old name was opened before: found there once more, it would be told as made anew.
        watch.leave(move.from)
        stores.marksNext = true
        noteMoved(move.from, to: move.to, into: &effects)
        echoes.forgetAll()
        records.releaseTouches(below: move.from)
        renameConflicts(from: move.from, to: move.to, into: &effects)
    }
}

extension SubtreeSummary {
    /// Some of it the rules leave out: without that, both numbers are the same.
    var hasLeftOut: Bool { contents.liveRows != UInt64(truncatingIfNeeded: files &+ directories) }
}
