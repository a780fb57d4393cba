import RecordMerge
import SyncModel

/// Change sets that this node makes: of what was saved together, and anew of what it wrote before it knew that it was set back. See `Node+Records`
/// for what becomes one.
extension Node {
    /// Nothing is noted of a set that nobody could read.
    mutating func logSet(_ set: ChangeSet, _ bytes: [UInt8], of number: Int, in batch: inout Batch) {
        let stored = StoredChangeSet(.own, set.position, bytes)
        batch.add(.putChangeSet(stored))
        records.epochHasBegun = true
        records.known.own = set.position
        records.noteOwn(set.position)
        if set.isUnread {
            noteStored(stored)
        } else {
            records.books[number].note(AdmittedSet(made: set))
        }
    }

    /// By somebody who had the folder before him: what of the peer's sets it did not show yet he has not seen. It has shown what
    /// was promised, and was gone through before that. It shows nothing of what is held: of that only who writes to other records
    /// may be said to have seen it.
    func changeSet(of group: SaveGroup, _ number: Int, at time: HybridTime) -> ChangeSet {
        let shown = group.findings.map { min($0.finding.seen, records.unshown[$0.path]?.after ?? $0.finding.seen) }
        // What would go with what he has deleted and was not there to be seen, he has not seen.
        let seen = (shown + group.unseenGoing).min()
        let peer = max(min(seen ?? records.known.peer, records.known.peer), record.setMarks.promised)
        let operations = group.operations(of: ownParty.other, seenThrough: peer, at: time)
        let files = group.files { path, stat in
            claims.lock(over: path, written: stat?.changed.milliseconds, at: now.wallMilliseconds)
        }
        if peer > records.readable, !records.held.areShown,
            records.held.concern(operations, records.books[number].model, by: ownParty.other)
        {
            let readable = max(records.readable, record.setMarks.promised)
            let own = group.operations(of: ownParty.other, seenThrough: readable, at: time)
            return changeSet(own, files, of: number, at: time, seeing: readable, needs: group.needs)
        }
        return changeSet(operations, files, of: number, at: time, seeing: peer, needs: group.needs)
    }

    /// Written by a node that did not know that it was set back: the peer would never take it, because it has later ones. By
    /// the clock too it is to come after what its author had lost: nobody writes before what he wrote earlier.
    mutating func renumber(_ sets: [(number: Int, set: ChangeSet)], in batch: inout Batch) {
        records.epochHasBegun = false
        for (number, old) in sets {
            batch.add(.putChangeSet(StoredChangeSet(.own, old.position, [])))
            let time = clock.tick(wallMilliseconds: now.wallMilliseconds)
            let set = changeSet(
                old.operations, old.files, of: number, at: time, seeing: old.seen[ownParty.other],
                needs: old.isUnread ? old.needs : records.books[number].needs)
            if let bytes = encoded(set, of: number) { logSet(set, bytes, of: number, in: &batch) }
        }
    }

    func changeSet(
        _ operations: [Operation], _ files: [ChangeSet.SavedFile], of number: Int, at time: HybridTime,
        seeing peer: LogPosition, needs: Needs
    ) -> ChangeSet {
        var seen = Applied.none
        seen[ownParty] = records.known.own
        seen[ownParty.other] = peer
        return ChangeSet(
            author: ownParty, position: nextSetPosition, time: time, seen: seen, operations: operations, files: files,
            needs: needs)
    }

    private var nextSetPosition: LogPosition {
        let last = records.known.own
        if records.epochHasBegun { return LogPosition(epoch: last.epoch, seq: last.seq + 1) }
        // Later than any that a node which was set back may have used before.
        let seconds = UInt32(clamping: now.wallMilliseconds / 1_000)
        return LogPosition(
            epoch: Epoch(
                number: max(last.epoch.number &+ 1, session.peerKnows.epoch.number &+ 1, seconds), nonce: nonce), seq: 1
        )
    }
}
