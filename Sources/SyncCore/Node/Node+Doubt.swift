import SyncModel

/// Somebody has read every byte of a file, and it is not what is known of it, though nothing tells of a change: what nobody
/// wrote is no version. It goes to quarantine, and the content that is known comes from the peer.
extension Node {
    mutating func doubt(
        _ id: CommandID, _ path: Path, _ found: Content, _ stat: Stat, _ answers: inout Answers,
        into effects: inout Effects
    ) {
        guard isWorking else { return effects.add(.answer(id, .refused(standstill))) }
        guard let old = answers.rows().first, var disk = old.disk, old.condition == .normal, !old.needsApply,
            !disk.isRacy, !apply.touches(path), stat.isUntouched(since: disk.stat), disk.entry.content != found
        else { return effects.add(.answer(id, .refused(.contentChanging))) }
        var row = old
        disk.entry.content = found
        row.disk = disk
        row.condition = .damaged
        row.waiting = nil
        var batch = Batch()
        put(row, replacing: old, in: &batch, into: &effects)
        store(&batch, then: .answer(id, .done), into: &effects)
        plan.want(path)
    }
}
