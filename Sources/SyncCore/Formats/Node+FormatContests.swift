import RecordMerge
import SyncModel

/// Two saves of a guarded file at once, and the other node has no rule for it: it goes by the clocks, keeps the older version if that was saved later here,
/// and puts the newer one beside. Its header is read when it comes as a conflict copy; before it has ever been here, nobody here can
/// have preferred what he saved. So it takes the place of that, as if the other node had read it.
extension Node {
    enum CopyVerdict {
        case beside
        /// What stands at the original is just being looked at.
        case unread
        case newer(Row)
    }

    /// Where the verdict on a conflict copy is about: its original.
    func contestedOriginal(of path: Path) -> Path? {
        guard let task = plan.tasks[path], task.format != nil, case .place = task.step else { return nil }
        let parts = ConflictName.parts(of: path)
        return parts.flatMap { $0.node == ConflictName.safeName(of: record.peerName) ? $0.original : nil }
    }

    func verdict(onCopy task: PlanState.Errand, _ row: Row, _ rows: RowMap) -> CopyVerdict {
        guard let original = contestedOriginal(of: task.path).flatMap({ rows[$0] }), let format = task.format,
            row.head(by: .own) == nil, row.disk == nil, row.reflected == .none,
            task.wanted.origins.content.author == .peer, let rule = formats.rules.rule(for: original.path),
            book(of: original.path) == nil, isJudgedHereAlone(rule), original.condition == .normal,
            !original.owesCopy, let disk = original.disk, disk.origins.content.author == .own,
            case .file = disk.entry.content, resolution(of: original).entry.content == disk.entry.content
        else { return .beside }
        if apply.touches(original.path) || isBeingLookedAt(original.path) { return .unread }
        guard let known = original.format, known.isOf(disk.entry), known.rule == format.rule, !known.isGivenUp,
            known.reading.isDowngrade(of: format.reading)
        else { return .beside }
        return .newer(original)
    }

    private func isJudgedHereAlone(_ rule: FormatRule) -> Bool { peerSupport(of: rule) == nil && !isJudgedThere(rule) }

    /// The other node reads the same format by another rule. Each would take the other's state for the older one, and both would put theirs back
    /// for ever: whose programs understand the higher version decides, for it is his rule that was made for it.
    func isJudgedThere(_ rule: FormatRule) -> Bool {
        let theirs = record.peerFormats.filter { $0.model == rule.model && $0.name == rule.name }
        guard let highest = theirs.map(\.versions.upperBound).max(),
            !theirs.contains(where: { $0.rule == rule.fingerprint })
        else { return false }
        return reconciler.precedence.yields(rule.supports.upperBound, to: highest)
    }

    /// The other node has put beside what stands here, by a rule under another name, and sends what this one would put beside. The
    /// smaller key decides.
    func isOverruled(_ task: PlanState.Errand, _ row: Row, by rule: FormatRule, _ rows: RowMap) -> Bool {
        guard !reconciler.precedence.ownKeyIsSmaller, isJudgedHereAlone(rule),
            let beside = task.copy.flatMap({ rows[$0] })
        else { return false }
        return beside.head(by: .peer)?.entry.content == row.disk?.entry.content
    }

    /// What is staged for the copy goes to the original, and what stands there goes beside; there is no copy of the newer one any more.
    mutating func exchange(
        _ task: PlanState.Errand, _ copy: Row, with original: Row, _ rows: inout RowMap, in batch: inout Batch,
        into effects: inout Effects
    ) {
        guard let disk = original.disk, let stage = task.stage, let format = task.format else { return forget(task) }
        var row = original
        cancel(row.path)
        bringBack(task.wanted.entry, over: disk, &row, in: &batch)
        row.format = format
        put(row, replacing: original, in: &batch, into: &effects)
        rows[row.path] = row
        var gone = copy
        plan.tasks[copy.path] = nil
        decree(.absent, &gone, in: &batch)
        put(gone, replacing: copy, in: &batch, into: &effects)
        rows[copy.path] = gone
        let wanted = resolution(of: row)
        plan.tasks[row.path] = PlanState.Errand(
            path: row.path, step: reconciler.step(from: row, to: wanted), wanted: wanted, stat: disk.stat,
            content: task.content, stage: stage, adoptedFrom: nil, copy: conflictCopy(of: row), format: format,
            followers: task.followers, state: .ready)
        // It has just come from there.
        if let content = task.content { noteServed(content, at: row.path, isWhole: true) }
        effects.add(.report(.note(Note(code: .formatDowngradeHeld, subject: row.path.bytes))))
    }
}
