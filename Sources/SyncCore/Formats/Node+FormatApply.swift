import RecordMerge
import SyncModel

/// What comes from the other node over a guarded file: its header is read in the stage, before anything is replaced. If it is a
/// downgrade the other state goes beside it as a conflict copy, and this node says in its log that what it has stays.
extension Node {
    /// A staged file of a guarded path is not ready before its header has been read.
    mutating func readStagedHeader(of path: Path, into effects: inout Effects) {
        guard let rule = headerRule(of: path), let stage = plan.tasks[path]?.stage,
            case .file(_, let size) = stage.entry.content
        else { return }
        let request = ParseRequest(
            place: .stage(stage.name), expected: stage.stat, length: rule.bytesNeeded(of: size),
            parser: .header(rule, size: size))
        plan.tasks.update(path) { $0.state = .examined }
        effects.add(.parse(newJob(.readingStagedHeader(path, stage.name)), request))
    }

    mutating func finishReadingStagedHeader(
        of path: Path, _ name: StageName, _ outcome: ParseOutcome<Parsed>, into effects: inout Effects
    ) {
        guard let task = plan.tasks[path], task.state == .examined, let stage = task.stage, stage.name == name,
            case .file(let content, _) = stage.entry.content
        else { return }
        notePoison(outcome, at: path, into: &effects)
        if case .failed(let error) = outcome {
            if error == .mismatch { discardLeft(of: path, into: &effects) }
            return fail(path, error, into: &effects)
        }
        let read = headerRule(of: path)?.mark(of: content, header: outcome)
        if case .parsed = outcome {
            formats.faults[path] = read?.fault.map { FormatState.Fault(content: content, facts: $0) }
        }
        plan.tasks.update(path) { task in
            task.format = read?.0
            task.state = .ready
        }
    }

    private enum Verdict {
        case apply
        /// What stands there has not been read yet.
        case unread
        case downgrade
        /// What stands there is the same, and was to make room already.
        case downgradeAlike
    }

    /// Who deletes a file and has seen what this node has of it gives up its format as well, unless he puts it back. Where a save is held
    /// back that is what it is held against. (What stays all the same, as this node has told it anew since, nobody has given up.)
    func noteDeletion(by revision: Revision, of old: Row?, _ row: inout Row) {
        guard let format = row.format else { return }
        if format.isOf(revision.entry) { row.format?.isGivenUp = false }
        let held = isHeldSave(row) ? old?.heads.first { format.isOf($0.entry) }?.origins.content : nil
        guard revision.entry.isAbsent, !format.isOf(resolution(of: row).entry),
            let known = held ?? row.disk?.origins.content, revision.includes(known)
        else { return }
        row.format?.isGivenUp = true
    }

    /// Under which name the staged file would go on if it had to make room.
    func heldName(of path: Path) -> Path? {
        guard let task = plan.tasks[path], task.format != nil, case .replace = task.step,
            formats.rules.rule(for: path) != nil
        else { return nil }
        return copyName(for: path, losing: task.wanted.entry.content, of: task.wanted.origins.content)
    }

    /// False if what is staged is not to take the place of what stands there, or if nobody knows that yet.
    mutating func mayApply(
        _ task: PlanState.Errand, _ row: Row, _ kept: [KeptVersion], _ rows: inout RowMap, in batch: inout Batch,
        into effects: inout Effects
    ) -> Bool {
        switch verdict(onCopy: task, row, rows) {
        case .beside: break
        case .unread:
            forget(task)
            rest(row.path)
            return false
        case .newer(let original):
            exchange(task, row, with: original, &rows, in: &batch, into: &effects)
            return false
        }
        switch verdict(on: task, row, kept, rows) {
        case .apply: return true
        case .unread:
            forget(task)
            var unread = row
            // What the save was held against is nowhere any more: from here on its own header counts.
            if isHeldSave(row) { unread.format = nil }
            put(unread, replacing: row, in: &batch, into: &effects)
            rows[row.path] = unread
            plan.fresh[row.path] = nil
            plan.afterLook[row.path] = true
            watch.toHash[row.path] = true
        case .downgrade:
            if let disk = row.disk, let stage = task.stage, task.confirmed != disk.stat {
                confirm(disk.stat, at: row.path, against: stage.name, into: &effects)
                return false
            }
            var held = row
            holdBack(task, &held, kept, &rows, in: &batch, into: &effects)
            put(held, replacing: row, in: &batch, into: &effects)
            rows[row.path] = held
        case .downgradeAlike:
            forget(task)
            guard let disk = row.disk else { return false }
            var held = row
            assertAnew(&held, disk, kept, in: &batch)
            put(held, replacing: row, in: &batch, into: &effects)
            rows[row.path] = held
            effects.add(.report(.note(Note(code: .formatDowngradeHeld, subject: row.path.bytes))))
        }
        return false
    }

    /// Only what is there can stay. Whoever has deleted it has not seen what comes, though the notice of that is still on its way.
    private mutating func confirm(_ stat: Stat, at path: Path, against stage: StageName, into effects: inout Effects) {
        plan.tasks.update(path) { $0.state = .examined }
        effects.add(.disk(newJob(.confirming(path, stat, stage)), [DiskProgram([.inspect(.tree(path))])]))
    }

    mutating func finishConfirming(
        _ path: Path, _ stat: Stat, _ name: StageName, _ results: [DiskResult], into effects: inout Effects
    ) {
        guard let task = plan.tasks[path], task.state == .examined, task.stage?.name == name else { return }
        guard let found = results.first?.inspected.first.flatMap(\.self), found.isUntouched(since: stat) else {
            look(at: path)
            return fail(path, .mismatch, into: &effects)
        }
        plan.tasks.update(path) { task in
            task.confirmed = stat
            task.state = .ready
        }
    }

    /// The other node has written the very same over it as the save that is held back here. Both folders show that now,
    /// but it is no newer by that, and makes room as any other would: one copy is enough for both.
    func isWrittenAlike(_ row: Row) -> Bool {
        guard isHeldSave(row), row.condition == .normal, let known = row.format, !known.isGivenUp,
            let rule = formats.rules.rule(for: row.path), known.rule == rule.fingerprint, !isJudgedThere(rule),
            let shown = row.disk?.entry.content, row.head(by: .own)?.entry.content != shown
        else { return false }
        return resolution(of: row).entry.content == shown
    }

    /// What is staged against what stands there.
    private func verdict(
        on task: PlanState.Errand, _ row: Row, _ kept: [KeptVersion], _ rows: RowMap
    ) -> Verdict {
        if isWrittenAlike(row), let known = row.format {
            return isToComeBack(known, row) || kept.contains { known.isOf($0.entry) } ? .downgradeAlike : .unread
        }
        guard let rule = formats.rules.rule(for: row.path), !isJudgedThere(rule), book(of: row.path) == nil,
            let format = task.format,
            case .replace = task.step, row.condition == .normal,
            resolution(of: row).entry.content == task.wanted.entry.content,
            case .file(let shown, _)? = row.disk?.entry.content
        else { return .apply }
        guard let known = row.format, known.rule == rule.fingerprint else { return .unread }
        let isDowngrade =
            !known.isGivenUp && format.reading.isDowngrade(of: known.reading) && !isOverruled(task, row, by: rule, rows)
        if known.content == shown || isToComeBack(known, row) { return isDowngrade ? .downgrade : .apply }
        // What the other node has written over it as well did not know that the save here was held back against it.
        guard isHeldSave(row) else { return .unread }
        if !isDowngrade { return .apply }
        return kept.contains { known.isOf($0.entry) } ? .downgrade : .unread
    }

    /// The staged file goes under the name of a conflict copy; once it is there, what stands at the path is asserted anew.
    private mutating func holdBack(
        _ task: PlanState.Errand, _ row: inout Row, _ kept: [KeptVersion], _ rows: inout RowMap, in batch: inout Batch,
        into effects: inout Effects
    ) {
        guard let disk = row.disk, let stage = task.stage,
            let copy = copyName(for: row.path, losing: task.wanted.entry.content, of: task.wanted.origins.content)
        else { return forget(task) }
        let old = rows[copy]
        var copied = old ?? Row(path: copy)
        let isThere = copied.disk?.entry.content == task.wanted.entry.content
        if isThere || isTakenAway(copied, task.wanted.origins.content) {
            // It lies beside, or whoever saw it there has taken it away.
            forget(task)
            assertAnew(&row, disk, kept, in: &batch)
            effects.add(.report(.note(Note(code: .formatDowngradeHeld, subject: row.path.bytes))))
            return
        }
        wait(&row, .formatDowngradeHeld)
        let isFree = copied.disk == nil && resolution(of: copied).entry.isAbsent
        guard isFree, plan.tasks[copy] == nil, !apply.touches(copy) else {
            forget(task)
            return rest(row.path)
        }
        plan.tasks[row.path] = nil
        decree(task.wanted.entry, &copied, in: &batch)
        put(copied, replacing: old, in: &batch, into: &effects)
        rows[copy] = copied
        plan.tasks[copy] = PlanState.Errand(
            path: copy, step: .place, wanted: resolution(of: copied), stat: nil, content: task.content, stage: stage,
            adoptedFrom: nil, copy: nil, format: task.format, followers: task.followers + [row.path], state: .ready)
    }

    /// What stands there stays, or what is to come back in its place does. If the other node had written that itself before it wrote
    /// over it, or had shown it before that (and something as new over it, which nobody can bring back), this is nothing new to it: who
    /// deletes there has deleted both.
    mutating func assertAnew(
        _ row: inout Row, _ disk: Row.DiskState, _ kept: [KeptVersion], in batch: inout Batch
    ) {
        guard let format = row.format, row.owesCopy, !format.isOf(disk.entry),
            let entry = row.heads.map(\.entry).first(where: format.isOf) ?? kept.map(\.entry).first(where: format.isOf)
        else {
            let shown = disk.origins.content
            let isNew = shown.author == .own && row.head(by: .peer)?.includes(shown) != true
            return revise(&row, to: disk.entry, stat: disk.stat, isReasserted: isNew, seeing: row.version, in: &batch)
        }
        bringBack(entry, over: disk, &row, in: &batch)
        plan.want(row.path)
    }

    /// What stands there goes beside.
    mutating func bringBack(_ entry: Entry, over disk: Row.DiskState, _ row: inout Row, in batch: inout Batch) {
        revise(&row, to: entry, stat: nil, isReasserted: true, seeing: row.version, in: &batch)
        row.disk = disk
        row.owesCopy = true
        wait(&row, .formatDowngradeHeld)
    }
}

extension FormatMark {
    func isOf(_ entry: Entry) -> Bool { if case .file(let id, _) = entry.content { id == content } else { false } }
}
