import RecordMerge
import SyncModel

/// Change sets are kept for what they come to, in memory and in the store alike, as far as both nodes have them and will have seen
/// them in whatever they still write (`Compaction`).
///
/// Each node promises so of itself (frame 25), durably, so that it holds after a restart too. Who was set back knows nothing of what
/// it promised since, and lacks sets that nobody can tell it any more. Before anything else it asks for all that the other has
/// (frame 29) and takes it instead of its own: from there on both have the same, and what it has written meanwhile comes after it.
extension Node {
    private var forgotten: Applied {
        var forgotten = Applied.none
        forgotten[ownParty] = record.setMarks.own
        forgotten[ownParty.other] = record.setMarks.peer
        return forgotten
    }

    /// What was read from the store up to there is what was left of more.
    mutating func noteForgotten() {
        for number in records.books.indices { records.books[number].noteForgotten(through: forgotten) }
    }

    mutating func forgetRecords(into effects: inout Effects) {
        guard keepsRecords, session.isLive, session.sharesRecords, session.peerSets != nil, records.isAdopted,
            records.books.contains(where: { $0.isWorthForgetting(atLeast: limits.setsForgottenMin) }),
            records.books.allSatisfy(\.isRefreshed), records.held.isEmpty, session.giveBackAfter == nil,
            !session.peerWantsBase, !wantsBase,
            !records.lacks(session.peerKnows)
        else { return }
        var applied = Applied.none
        applied[ownParty] = min(session.setsShown, records.durable.own)
        applied[ownParty.other] = min(records.promised, records.durable.peer)
        let stable = applied.stable(in: records.books.flatMap(\.space.history))
        for number in records.books.indices { records.books[number].forget(stable) }
        var batch = Batch()
        guard putForgotten(stable, in: &batch) else { return }
        record.setMarks.own = max(record.setMarks.own, stable[ownParty])
        record.setMarks.peer = max(record.setMarks.peer, stable[ownParty.other])
        store(&batch, into: &effects)
    }

    /// False if there is nothing to forget, or what is left cannot be written: the store then keeps all it has.
    private func putForgotten(_ stable: Applied, in batch: inout Batch) -> Bool {
        let marks = forgotten
        guard stable.first > marks.first || stable.second > marks.second else { return false }
        let through = Applied(first: max(marks.first, stable.first), second: max(marks.second, stable.second))
        for author in [Author.own, .peer] {
            batch.add(.dropChangeSets(author, through: through[author == .own ? ownParty : ownParty.other]))
        }
        for set in records.books.flatMap(\.space.history) where set.position <= through[set.author] {
            guard let bytes = ChangeSetCodec.encode(set) else { return false }
            batch.add(.putChangeSet(StoredChangeSet(set.author == ownParty ? .own : .peer, set.position, bytes)))
        }
        return true
    }

    // MARK: Who lacks what was forgotten

    /// What is forgotten there is not whole here, or what this node makes may not have seen it.
    @inline(__always) var wantsBase: Bool {
        let forgot = session.peerForgot
        return records.lacks(forgot.peer) || forgot.own > max(record.setMarks.promised, record.setMarks.peer)
    }

    /// Own sets up to here are no news to the peer, and nothing of them is lost.
    var knownToBoth: LogPosition { max(record.setMarks.own, session.peerForgot.peer) }

    mutating func sayForgotten(into effects: inout Effects) {
        let marks = record.setMarks
        guard marks.own != .none || marks.peer != .none else { return }
        send(.setsBase(SetsBase(.forgotten, own: marks.own, peer: marks.peer)), into: &effects)
    }

    mutating func askForBase(into effects: inout Effects) {
        guard !session.askedForBase else { return }
        session.askedForBase = true
        send(.setsBase(SetsBase(.wanted)), into: &effects)
    }

    /// All there is here, page by page.
    mutating func pumpBase(into effects: inout Effects) {
        if session.baseGoing == nil {
            let (marks, ends) = (record.setMarks, records.durable)
            session.baseGoing = BaseGoing(ends: ends)
            send(
                .setsBase(
                    SetsBase(.begins, own: marks.own, peer: marks.peer, ownEnd: ends.own, peerEnd: ends.peer)),
                into: &effects)
        }
        guard let going = session.baseGoing else { return }
        enqueue(.sendBase(going.author, after: going.after))
    }

    mutating func sendBase(_ author: Author, _ answers: inout Answers, into effects: inout Effects) {
        session.isReadingSets = false
        guard session.isLive, var going = session.baseGoing else { return }
        let sets = answers.changeSets()
        for stored in sets where stored.position <= going.ends[author] {
            for piece in SetPiece.pieces(of: readable(stored)) { send(.changeSet(piece), into: &effects) }
        }
        let last = sets.last?.position
        if let last, last < going.ends[author] {
            going.after = last
            session.baseGoing = going
        } else if author == .own {
            (going.author, going.after) = (.peer, .none)
            session.baseGoing = going
        } else {
            session.baseGoing = nil
            session.peerWantsBase = false
            session.setsSent = max(session.setsSent ?? .none, going.ends.own)
            send(.setsBase(SetsBase(.ends)), into: &effects)
        }
    }

    /// False for what no honest peer sends.
    mutating func take(_ base: SetsBase) -> Bool {
        guard keepsRecords else { return true }
        switch base.step {
        case .forgotten:
            session.peerForgot = SetHeads(own: base.own, peer: base.peer)
        case .wanted:
            session.peerWantsBase = true
        case .begins:
            guard session.askedForBase, session.baseComing == nil else { return false }
            session.baseComing = BaseComing(
                forgotten: SetHeads(own: base.peer, peer: base.own),
                ends: SetHeads(own: base.peerEnd, peer: base.ownEnd))
        case .ends:
            guard session.baseComing?.isWhole == false else { return false }
            session.baseComing?.isWhole = true
            enqueue(.takeBase)
        }
        return true
    }

    /// In one batch, or after a crash in between nobody would know which sets are whose.
    mutating func takeBase(_ answers: inout Answers, into effects: inout Effects) {
        let stored = answers.changeSets()
        guard let coming = session.baseComing, coming.isWhole else { return }
        session.baseComing = nil
        session.peerForgot = SetHeads()
        let (old, held, shown) = (records.books, records.held, records.known.peer)
        let wasSetBack = records.lacks(coming.ends.own)
        let isUnknown = { (position: LogPosition) in position.seq > coming.ownEnds[position.epoch] ?? 0 }
        let unknown = stored.filter { isUnknown($0.position) }
        let written = wasSetBack ? ownSets(in: old, held).filter { isUnknown($0.set.position) } : []
        let isWritten = SortedMap(written.map { ($0.set.position, true) })
        var batch = Batch()
        for author in [Author.own, .peer] { batch.add(.dropChangeSets(author, through: records.known[author])) }
        emptyBooks()
        for set in coming.sets + unknown.filter({ !isWritten.contains(key: $0.position) }) {
            batch.add(.putChangeSet(set))
            if set.author == .own { records.noteOwn(set.position) }
            noteStored(set)
        }
        records.known.own = max(records.known.own, coming.ends.own)
        records.known.peer = coming.peerEnd
        records.noteHeard(at: now)
        record.setMarks.own = coming.forgotten.own
        record.setMarks.peer = coming.forgotten.peer
        if wasSetBack { renumber(written, in: &batch) }
        store(&batch, into: &effects)
        succeed(old, showing: shown, into: &effects)
    }
}

/// What is left here, on its way to a peer that lacks some of it.
struct BaseGoing: Sendable {
    let ends: SetHeads
    var author = Author.own
    var after = LogPosition.none
}

/// What is left at the peer.
struct BaseComing: Sendable {
    let forgotten: SetHeads
    let ends: SetHeads
    var sets: [StoredChangeSet] = []
    var isWhole = false

    /// The last of the peer's. What it writes once all this has gone out follows at once, and may come before this is taken.
    var peerEnd: LogPosition { max(ends.peer, sets.last { $0.author == .peer }?.position ?? .none) }

    /// The last of this node's own in each epoch that the peer knows of.
    var ownEnds: SortedMap<Epoch, UInt64> {
        var found = SortedMap<Epoch, UInt64>()
        for position in sets.filter({ $0.author == .own }).map(\.position) + [ends.own] {
            found[position.epoch] = max(position.seq, found[position.epoch] ?? 0)
        }
        return found
    }
}
