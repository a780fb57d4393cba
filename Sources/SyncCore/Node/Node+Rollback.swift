import SyncModel

/// After a restored image: the peer knows entries of ours that we do not.
///
/// Two things keep every version and every promise. The peer takes over what it knows and we lost, in its own name
/// (`Node+Import`, `adopt`). And what we wrote since the restore, which nobody else has seen, gets new positions in a new
/// epoch, so that no position ever means two things.
struct Renumbering: Sendable {
    /// Entries after this are only ours.
    private(set) var from: LogPosition
    /// What the peer has of our log, one head for each epoch.
    let known: [LogHead]
    let epoch: Epoch
    var mapped = SortedMap<LogPosition, LogPosition>()

    init(from: LogPosition, known: [LogHead], epoch: Epoch) {
        self.from = from
        self.known = known
        self.epoch = epoch
    }

    /// Of what the peer has to a later entry than we do, all that we have is common: an epoch is one process, whose entries are a line.
    mutating func leaveOutCommon(_ entries: [LogRecord]) -> [LogRecord] {
        let common = entries.last { entry in
            known.contains {
                $0.position.epoch == entry.head.position.epoch && entry.head.position <= $0.position && !$0.isMark
            }
        }
        if let common { from = max(from, common.head.position) }
        return entries.filter { $0.head.position > from }
    }

    func map(_ position: LogPosition) -> LogPosition { mapped[position] ?? position }

    func map(_ origin: Origin) -> Origin {
        guard origin.author == .own else { return origin }
        return Origin(author: .own, position: map(origin.position), time: origin.time)
    }

    func map(_ origins: Origins) -> Origins {
        Origins(content: map(origins.content), mode: map(origins.mode), time: map(origins.time))
    }

    func map(_ revision: Revision) -> Revision {
        var result = revision
        result.origin = map(revision.origin)
        result.origins = map(revision.origins)
        result.seen.own = map(revision.seen.own)
        return result
    }

    func map(_ row: Row) -> Row {
        var result = row
        result.heads = row.heads.map { map($0) }
        result.reflected.own = map(row.reflected.own)
        if let disk = row.disk {
            result.disk?.origins = map(disk.origins)
        }
        return result
    }
}

extension Node {
    mutating func startRollback(known: [LogHead], common: LogPosition, into effects: inout Effects) {
        effects.add(.report(.note(Note(code: .logRolledBack))))
        let latest = known.map(\.position.epoch.number).max() ?? 0
        let number = max(latest, record.ownHead.position.epoch.number) &+ 1
        recovery.isRenumbering = true
        let epoch = Epoch(number: number, nonce: nonce)
        enqueueFirst(.renumberLog(Renumbering(from: common, known: known, epoch: epoch)))
    }

    mutating func enqueueFirst(_ transaction: Transaction) {
        lane.waiting.prepend(transaction)
    }

    mutating func renumberLog(_ renumbering: Renumbering, _ answers: inout Answers, into effects: inout Effects) {
        var renumbering = renumbering
        let entries = renumbering.leaveOutCommon(answers.log())
        var batch = Batch()
        batch.add(.dropLog(through: LogPosition(epoch: Epoch(raw: .max), seq: .max)))
        epochHasBegun = true
        record.ownHead = LogHead(position: LogPosition(epoch: renumbering.epoch, seq: 0), chain: .zero)
        logTail.removeAll()
        // What was before this epoch is not in the log any more: a peer that lacks it gets the rows.
        record.prunedThrough = record.ownHead
        record.acknowledged = .none
        record.applied = .none
        timers.acknowledged.removeAll()
        for entry in entries {
            let position = nextPosition()
            renumbering.mapped[entry.head.position] = position
            let change: LogRecord.Change
            switch entry.change {
            case .put(let path, let revision): change = .put(path, renumbering.map(revision))
            case .relocate(let move):
                change = .relocate(
                    Relocation(
                        from: move.from, to: move.to, origin: renumbering.map(move.origin), seenPeer: move.seenPeer,
                        summary: move.summary))
            }
            append(change, at: position, entry.time, in: &batch)
        }
        // Rows and log change in one batch's breath: nothing else runs in the lane until the last page is done.
        let rowsBatch = batch
        recovery.renumbered = rowsBatch.operations
        enqueueFirst(.renumber(after: nil, renumbering))
    }

    mutating func renumberRows(_ renumbering: Renumbering, _ answers: inout Answers, into effects: inout Effects) {
        let rows = answers.rows()
        echoes.forgetAll()
        for old in rows {
            let row = renumbering.map(old)
            if row != old { recovery.renumbered.append(.putRow(row)) }
        }
        if rows.count == limits.batchPathsMax, let last = rows.last {
            enqueueFirst(.renumber(after: last.path, renumbering))
            return
        }
        var batch = Batch()
        for operation in recovery.renumbered { batch.add(operation) }
        recovery.renumbered = []
        record.rollbackCommon = renumbering.from
        record.lost = NodeRecord.LostLog(
            after: min(record.lost?.after ?? renumbering.from, renumbering.from), before: renumbering.epoch)
        store(&batch, then: .announceRollback(renumbering.from), into: &effects)
    }

    /// Told until the peer shows that it has our new epoch: it takes the note before it takes any entry.
    mutating func announceRollback(_ common: LogPosition, into effects: inout Effects) {
        recovery.isRenumbering = false
        guard session.isLive else { return }
        hearOfClaims()
        session.toldRollback = true
        send(.rolledBack(common), into: &effects)
        // Rows, because the peer forgets what it cannot adopt, older entries of the same path with it.
        sendRowsInstead()
    }

    // MARK: What stands here after a lost state

    /// What was just read is the same as what the peer tells again of our lost log, but only by chance: it was found after all that this log had
    /// said of it.
    func noteFound(_ row: inout Row) {
        guard record.lost != nil, !record.initialImportDone, row.disk?.entry.content.isDirectory == false
        else { return }
        row.reflected.own = max(row.reflected.own, record.ownHead.position)
    }

    /// What is to take it away is our own delete of before the loss, which the peer has told anew. Who put the file here did so after that, or
    /// we would not have found it. (After an image was put back, the file is the one that was deleted.)
    func wasFoundSinceDelete(_ row: Row) -> Bool {
        guard book(of: row.path) == nil, row.heads.count == 1, let gone = row.head(by: .peer), gone.isAdoptedDelete
        else { return false }
        return gone.seen.own < row.reflected.own
    }
}

extension Revision {
    /// The claim of who took it over, at the time of who had deleted it (`adopt`).
    fileprivate var isAdoptedDelete: Bool {
        entry.isAbsent && origins.content.isSameEntry(as: origin) && origins.content.time < origin.time
    }
}
