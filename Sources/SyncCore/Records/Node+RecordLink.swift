import RecordMerge
import SyncModel

/// Change sets on the link: each node gets what the other has and it has not, in order, before the revisions that go with it.
extension Node {
    // MARK: Saying where we are

    var recordsHello: RecordsHello {
        RecordsHello(
            models: records.books.map { book in
                RecordsHello.Model(
                    name: book.model.name, version: UInt32(clamping: book.model.version), digest: book.digest)
            },
            own: records.durable.own, before: records.before, known: records.durable.peer)
    }

    /// A peer that keeps no records would have its saves overlooked: files of the models wait.
    mutating func tellOfModels(_ hello: Hello, into effects: inout Effects) {
        guard keepsRecords, !session.peerKeepsRecords else { return }
        for book in records.books { setAlarm(.schemaNewer, subject: book.model.name, if: true, into: &effects) }
    }

    mutating func greetRecords(_ hello: RecordsHello, into effects: inout Effects) -> Bool {
        guard keepsRecords else { return true }
        guard session.peerSets == nil else {
            // It has found that we have more of its sets than it has itself.
            session.giveBackAfter = hello.before
            return true
        }
        session.peerSets = hello.own
        session.peerKnows = hello.known
        session.setsSent = hello.known
        session.setsTaken = hello.known
        session.sharesRecords = hello.models == recordsHello.models
        session.peerModels = hello.models
        for book in records.books {
            let theirs = hello.models.first { $0.name == book.model.name }
            let isOther = theirs?.digest != book.digest || records.held.models.contains(book.model.name)
            setAlarm(.schemaNewer, subject: book.model.name, if: isOther, into: &effects)
        }
        plan.startRound()
        return true
    }

    // MARK: Sending

    /// Rows are told only when the sets that go with them have been.
    var setsAreSent: Bool {
        guard keepsRecords, session.peerKeepsRecords else { return true }
        guard records.isLoaded, let sent = session.setsSent else { return false }
        return sent >= records.durable.own
    }

    mutating func pumpRecordLink(into effects: inout Effects) {
        guard keepsRecords, records.isLoaded, session.isLive, session.peerKeepsRecords else { return }
        if !session.saidRecords {
            session.saidRecords = true
            sayForgotten(into: &effects)
            send(.records(recordsHello), into: &effects)
            session.setsAcknowledged = records.durable.peer
        }
        // Its own past comes first: once the peer has what was written since, nobody would know any more what is lost.
        let isWhole = !records.lacks(session.peerKnows)
        if wantsBase {
            askForBase(into: &effects)
        } else if !isWhole, !session.askedForLost {
            session.askedForLost = true
            let asking = RecordsHello(
                models: [], own: records.durable.own, before: knownToBoth, known: records.durable.peer)
            send(.records(asking), into: &effects)
        }
        guard let sent = session.setsSent, !session.isReadingSets, mayFillLink else { return }
        if session.peerWantsBase, isWhole, !wantsBase || ownParty == .first {
            session.isReadingSets = true
            pumpBase(into: &effects)
        } else if sent < records.durable.own, !record.isPaused, isWhole, !wantsBase, sent >= record.setMarks.own {
            session.isReadingSets = true
            enqueue(.sendSets(.own, after: sent))
        } else if let position = session.giveBackAfter {
            // They were set back: what they wrote is here.
            session.isReadingSets = true
            enqueue(.sendSets(.peer, after: position))
        }
    }

    mutating func sendSets(_ author: Author, _ answers: inout Answers, into effects: inout Effects) {
        session.isReadingSets = false
        guard session.isLive else { return }
        let sets = answers.changeSets()
        if author == .peer { session.giveBackAfter = sets.last?.position }
        for stored in sets where stored.position <= records.durable[author] {
            for piece in SetPiece.pieces(of: readable(stored)) { send(.changeSet(piece), into: &effects) }
            if author == .own { session.setsSent = stored.position }
        }
    }

    /// As the peer's program reads it.
    func readable(_ stored: StoredChangeSet) -> StoredChangeSet {
        session.peerReadsLocks
            ? stored
            : StoredChangeSet(stored.author, stored.position, ChangeSetCodec.withoutLocks(stored.bytes))
    }

    // MARK: Taking

    /// False for what no honest peer sends.
    mutating func take(_ piece: SetPiece) -> Bool {
        guard keepsRecords, session.saidRecords else { return true }
        guard let whole = session.incomingSet.add(piece) else { return false }
        guard let stored = whole else { return true }
        // The peer's "own" is our peer's.
        let coming = StoredChangeSet(stored.author.flipped, stored.position, stored.bytes)
        if session.baseComing != nil {
            session.baseComing?.sets.append(coming)
            return true
        }
        session.setsComing.append(coming)
        if !session.isTakingSets {
            session.isTakingSets = true
            enqueue(.importSets)
        }
        return true
    }

    /// Durable first, shown then; nothing a set says can make it fail.
    mutating func importSets(into effects: inout Effects) {
        session.isTakingSets = false
        let coming = session.setsComing
        session.setsComing = []
        let seen = records.known.peer
        var batch = Batch()
        var isInOrder = true
        for stored in coming {
            if stored.author == .own { session.givenBack[stored.position] = true }
            guard isNews(stored) else { continue }
            if stored.author == .own, stored.position == session.peerKnows {
                session.lastLost = stored
                enqueue(.reloadRecords)
                continue
            }
            if stored.author == .peer, !stored.position.follows(records.known.peer) {
                reject(.peerProtocolViolation, into: &effects)
                return
            }
            batch.add(.putChangeSet(stored))
            records.known[stored.author] = max(records.known[stored.author], stored.position)
            if stored.author == .own { records.noteOwn(stored.position) }
            isInOrder = isInOrder && stored.author == .peer
            if isInOrder, let (number, set) = noteStored(stored) {
                noteWritten(by: set, number, after: seen)
                noteSplitLocks(of: set, number, into: &effects)
            }
        }
        guard !batch.isEmpty else { return }
        records.noteHeard(at: now)
        store(&batch, into: &effects)
        if isInOrder { records.imported = seen } else { enqueue(.reloadRecords) }
    }

    /// Of each file that it writes to, whatever comes of it. Where that changes the file, putting it there would show that somebody had taken it away
    /// before; where it changes nothing, only this tells that he may not have known of the set.
    private mutating func noteWritten(by set: ChangeSet, _ number: Int, after seen: LogPosition) {
        let book = records.books[number]
        var last: RecordID?
        for operation in set.operations where operation.record != last {
            last = operation.record
            let record = book.view.aliases[operation.record] ?? operation.record
            if let path = book.path(of: record) { records.noteWritten(path, after: seen) }
        }
    }

    /// While the nodes were apart each let one of its programs save the same file. Both saves are merged like any others.
    private func noteSplitLocks(of set: ChangeSet, _ number: Int, into effects: inout Effects) {
        guard set.author != ownParty, set.files.contains(where: { $0.lock != nil }) else { return }
        var split = SortedMap<Path, Bool>()
        for own in records.books[number].space.history {
            for path in set.splitLocks(with: own) { split[path] = true }
        }
        for (path, _) in split { noteSplitHold(of: path, into: &effects) }
    }

    /// What comes of the sets that the last step has taken in.
    mutating func refreshImported(into effects: inout Effects) {
        guard let seen = records.imported else { return }
        records.imported = nil
        refreshMerged(showing: seen, into: &effects)
    }

    /// After sets of two authors who had not seen each other: what repair does then, an import did.
    mutating func refreshMerged(showing seen: LogPosition, into effects: inout Effects) {
        let before = records.repairs
        refreshRecords(showing: seen, into: &effects)
        records.importRepairs += records.repairs - before
    }

    /// Of our own only what this state has lost, and the peer gives back.
    private func isNews(_ stored: StoredChangeSet) -> Bool {
        switch stored.author {
        case .peer: stored.position > records.known.peer
        case .own: records.lacks(stored.position)
        }
    }

    /// What the peer says it has stored.
    mutating func noteSetsTaken(_ position: LogPosition) {
        // (Of sets that this node has lost it may have more.)
        session.setsTaken = max(session.setsTaken ?? .none, min(position, records.durable.own))
    }

    mutating func acknowledgeSets(into effects: inout Effects) {
        guard keepsRecords, session.isLive, session.saidRecords, session.setsAcknowledged < records.durable.peer
        else { return }
        session.setsAcknowledged = records.durable.peer
        send(.setsTaken(records.durable.peer), into: &effects)
    }

    /// What every set that is still to come from here will have seen; all that are made have gone out before this.
    mutating func acknowledgeShown(into effects: inout Effects) {
        guard keepsRecords, session.isLive, session.saidRecords, session.peerKeepsRecords, records.isAdopted,
            let sent = session.setsSent, sent >= records.known.own
        else { return }
        promiseShown(into: &effects)
        guard records.promised > session.setsShownToPeer else { return }
        session.setsShownToPeer = records.promised
        send(.setsShown(records.promised), into: &effects)
    }

    /// Kept over a restart, and by a save of what was found in the folder after that as well: everything in it was looked at before.
    private mutating func promiseShown(into effects: inout Effects) {
        let (before, latest) = (record.setMarks.promised, records.durable.peer)
        let isMuch = latest.seq >= before.seq + UInt64(max(1, limits.setsForgottenMin / 2))
        guard latest.epoch > before.epoch || isMuch, records.held.isEmpty, incoming.initialScanDone,
            !records.lacks(session.peerKnows), !wantsBase
        else { return }
        let shown = min(records.shown(at: now.monotonicMilliseconds), latest)
        guard shown > before, !hasMissedSaves else { return }
        record.setMarks.promised = shown
        var batch = Batch()
        store(&batch, into: &effects)
    }

    /// A file of records was found changed, without a notice, and is still to be read: nobody knows what whoever saved
    /// it can have seen. (What could not be read is looked at once more before it is read again.)
    private var hasMissedSaves: Bool {
        func isMissed(_ path: Path) -> Bool { book(of: path) != nil && !records.touched.contains(key: path) }
        func looksAtMissed(_ transaction: Transaction) -> Bool {
            guard case .observe(let looks, _) = transaction else { return false }
            return looks.contains { isMissed($0.path) }
        }
        func looksAtMissed(by purpose: Purpose) -> Bool {
            guard case .inspection(let paths) = purpose else { return false }
            return paths.contains(where: isMissed)
        }
        return watch.toHash.keys.contains(where: isMissed) || watch.hashing.keys.contains(where: isMissed)
            || watch.changing.keys.contains(where: isMissed) || watch.toInspect.keys.contains(where: isMissed)
            || jobs.contains { looksAtMissed(by: $0.value) } || lane.waiting.contains { looksAtMissed($0) }
            || lane.current.map { looksAtMissed($0.transaction) } == true
    }

    /// Nothing is waiting to be told, to be taken or to be shown.
    @inline(__always) var recordsAreIdle: Bool {
        guard keepsRecords else { return true }
        return records.isLoaded && records.toMatch.isEmpty && records.awaited.isEmpty
            && !records.isMatching && session.setsComing.isEmpty
            && records.shelf.isIdle
            && records.found.count == records.waiting.count
    }

    /// The peer has what there is to have.
    @inline(__always) var recordsAreShared: Bool {
        guard keepsRecords else { return true }
        return session.sharesRecords && session.setsTaken.map { $0 >= records.known.own } ?? false
    }

    // MARK: Bytes

    /// Nil for what no set may be: beyond what a reader takes.
    func encoded(_ set: ChangeSet, of number: Int) -> [UInt8]? {
        let base = base(of: set.author, set.position.epoch, number)
        // What was saved there in between is not in this book, and who reads it has another base.
        return ChangeSetCodec.encode(set) { records.held.hasSave(of: $0, by: set.author) ? nil : base($0) }
    }

    /// Nil for a set of a model that this node does not have, or of a newer program: it is kept until it can be read. `chunks`: of the
    /// contents that are in it.
    func decoded(_ stored: StoredChangeSet) -> (number: Int, set: ChangeSet, chunks: [ChunkList])? {
        guard let prologue = ChangeSetCodec.prologue(of: stored.bytes),
            prologue.author == (stored.author == .own ? ownParty : ownParty.other),
            prologue.position == stored.position,
            let number = records.books.firstIndex(where: { $0.reads(prologue.needs) })
        else { return nil }
        var chunks: [ChunkList] = []
        let decoded = ChangeSetCodec.decode(
            stored.bytes, base: base(of: prologue.author, prologue.position.epoch, number),
            hash: {
                let list = ContentHasher.chunks(of: $0, limits.chunking)
                chunks.append(list)
                return list.contentID
            })
        guard case .set(let set) = decoded, set.isReadable(by: records.books[number].model) else { return nil }
        return (number, set, chunks)
    }

    /// A set of a model that is here, in a version that is not, which its author could not read either. (Its files are whole.)
    func unread(_ stored: StoredChangeSet) -> ChangeSet? {
        guard let prologue = ChangeSetCodec.prologue(of: stored.bytes),
            records.books.contains(where: { $0.model.name == prologue.needs.model }),
            case .set(let set) = ChangeSetCodec.decode(stored.bytes, hash: { contentDigest(of: $0) })
        else { return nil }
        return set.isUnread ? set : nil
    }

    private func contentDigest(of bytes: [UInt8]) -> Digest {
        ContentHasher.chunks(of: bytes, limits.chunking).contentID
    }

    private func base(of author: Party, _ epoch: Epoch, _ number: Int) -> ChangeSetCodec.Base {
        let book = records.books[number]
        return { path in
            book.save(of: path, by: author, in: epoch).flatMap { file in
                file.content.flatMap { content in file.bytes.map { (content, $0) } }
            }
        }
    }
}
