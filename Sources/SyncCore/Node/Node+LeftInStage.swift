import SyncModel

/// Finished files that the last process left in the stage, or whose exchange was undone, each with its intent: what they hold may be nowhere else
/// by now, for a power cut knows no machine from another. They are kept for as long as their paths want it, and nothing need come from the peer then.
extension Node {
    /// What was to take another file's place, and is whole. (Where nothing stands, it is put there at once.)
    func left(by intent: Intent, _ inStage: Stat) -> RecoveryState.Left? {
        guard intent.shown != nil, let entry = mayBeLeft(by: intent), isOurs(inStage, intent) else { return nil }
        // What it still lacks of its time and its permission bits it gets when it is its turn.
        let shown = Entry(content: entry.content, mode: inStage.mode, modified: inStage.modified)
        let isDone = isFinished(inStage, entry, intent)
        let staged = PlanState.Staged(
            name: intent.stage, stat: inStage, chunks: nil, entry: isDone ? entry : shown, isLeft: true)
        return RecoveryState.Left(path: intent.path, staged: staged)
    }

    /// What was to come to a free name, and could not be put there by now.
    func left(_ placed: RecoveryState.Placed) -> RecoveryState.Left? {
        guard let name = placed.stage, book(of: placed.path) == nil else { return nil }
        let staged = PlanState.Staged(
            name: name, stat: placed.stat, chunks: nil, entry: placed.entry, isLeft: true)
        return RecoveryState.Left(path: placed.path, staged: staged)
    }

    mutating func settle(_ left: RecoveryState.Left, _ row: Row?, in batch: inout Batch) {
        guard plan.left[left.path] == nil, let row, wants(row, left.staged) else {
            plan.abandoned.append(left.staged.name)
            batch.add(.dropIntent(left.staged.name))
            return
        }
        plan.left[left.path] = left.staged
    }

    /// Its path wants another content by now, or has it.
    mutating func dropLeft(of row: Row, in batch: inout Batch) {
        guard let staged = plan.left[row.path], !wants(row, staged) else { return }
        plan.left[row.path] = nil
        plan.abandoned.append(staged.name)
        batch.add(.dropIntent(staged.name))
    }

    private func wants(_ row: Row, _ staged: PlanState.Staged) -> Bool {
        wantedFile(row)?.content == staged.entry.content
    }

    /// True if the task has its content by that.
    mutating func takeLeft(for task: PlanState.Errand, into effects: inout Effects) -> Bool {
        guard let staged = plan.left[task.path], staged.entry.content == task.wanted.entry.content else { return false }
        plan.left[task.path] = nil
        var task = task
        task.stage = staged
        task.state = .ready
        plan.tasks[task.path] = task
        readStagedHeader(of: task.path, into: &effects)
        return true
    }

    /// It was not its turn yet. (Where the disk has failed to sync it, nobody knows what it holds.)
    func isUnharmed(_ item: AppliedItem, _ failure: DiskResult.Failure) -> Bool {
        guard item.task.stage?.isLeft == true, failure.index < item.turningPoint, failure.error != .notFound else {
            return false
        }
        if failure.error != .inputOutput { return true }
        if case .syncFile = item.program.operations[failure.index] { return false }
        return true
    }

    /// What it was to put in place, if that is of a kind that is kept until it can be.
    func mayBeLeft(by intent: Intent) -> Entry? {
        guard case .place(_, let entry) = intent.action, entry.content.kind == .file, book(of: intent.path) == nil
        else { return nil }
        return entry
    }

    /// It could not take its place.
    mutating func leave(_ staged: PlanState.Staged, _ stat: Stat, of path: Path) {
        plan.left[path] = PlanState.Staged(
            name: staged.name, stat: stat, chunks: staged.chunks, entry: staged.entry, isLeft: true)
    }

    /// It is not what it was, so it is asked for again.
    mutating func discardLeft(of path: Path, into effects: inout Effects) {
        guard let staged = plan.tasks[path]?.stage, staged.isLeft else { return }
        plan.tasks.update(path) { $0.stage?.isLeft = false }
        var batch = Batch()
        batch.add(.dropIntent(staged.name))
        store(&batch, into: &effects)
    }

    /// The task that was to have it is given up.
    mutating func abandon(_ staged: PlanState.Staged, of path: Path) {
        if staged.isLeft { plan.left[path] = staged } else { plan.abandoned.append(staged.name) }
    }
}
