import RecordMerge
import SyncModel

/// The lane: everything that reads or writes rows, one at a time, in order.
///
/// A transaction names the queries it needs; when the answers are there it runs to its end without interruption and may emit
/// one store batch. Queries are answered in the order of emission, so each transaction sees what all before it wrote.
struct Lane: Sendable {
    var waiting = Deque<Transaction>()
    /// The transaction whose answers are under way.
    var current: (job: JobID, transaction: Transaction)?

    var isIdle: Bool { waiting.isEmpty && current == nil }
}

enum Transaction: Sendable {
    // Observe
    case observe([Look], source: LookSource)
    case hashed([HashedPath])
    case namesakes([FileIdentity])
    case flagBelow(Path, after: Path?, mayBeBack: Bool)
    case verifyMove(LocalMove, after: Path?)
    case relocateLocally(LocalMove)
    case loadRules
    case reconsiderIgnored(Digest, after: Path?)

    // Deletes
    case judge([Path])
    case findRenamed(DeleteTally, [GoneFile], next: Path?)
    case judgeWithSums(DeleteTally)
    case tallyMissing(after: Path?, DeleteTally)
    case deleteJudged([Path], isRename: Bool)
    case deleteMissing(before: Path?, DeletePass)
    case rejectMissing(after: Path?)

    // Records
    case loadRecords
    case reloadRecords
    case adoptRecords(Int, after: Path?)
    case tellRecords([Path])
    case matchRecords([Path])
    case sendSets(Author, after: LogPosition)
    case importSets
    case sendBase(Author, after: LogPosition)
    case takeBase
    case settleContest(CommandID, ContestChoice, RecordID)
    case loadShelf
    case shelve

    // Formats
    case reviewFormats(after: Path?, isWhole: Bool)
    case judgeCopies([Path])
    case keepNewer(Path, ContentID)

    // Import
    case importRecords([LogRecord])
    case importPage([RowState])
    case importRows([RowState])
    case finishRows(LogHead)
    case weighRelocation(LogRecord, Relocation)
    case settleRelocation(ImportState.RunningRelocation, moved: Stat?, parents: SortedMap<Path, Stat>)
    case adopt(after: Path?, beyond: LogPosition)
    case renumber(after: Path?, Renumbering)
    case renumberLog(Renumbering)

    // Plan, fetch, apply
    case planPaths([Path])
    case planPage(cursor: Path?, ascending: Bool)
    case locate([WantedContent])
    case rebuildList(ChangedList)
    case findChunks(ContentID)
    case prepare([Path])
    case commit([AppliedItem], parents: SortedMap<Path, Stat>)
    case explainNotEmpty(Path, after: Path?, sawLive: Bool)
    case reassertBeside(Path, copy: Path)
    case lateWriters([KeptVersion])

    // Session
    case greet(Hello, LinkID)
    case sendLog
    case sendRows(after: Path?, through: LogHead)
    case expand(LogPosition)
    case expandPart(LogPosition, Relocation, after: Path?, old: Bool)
    case serve([ServeState.Request])

    // Node
    case recover
    case settleRecovery(RecoveryState.Findings)
    case status(CommandID)
    case history(CommandID, Path)
    case findVersion(CommandID, VersionID, Path?)
    case restoreOver(CommandID, KeptVersion, Path)
    case setAside(CommandID, Path)
    case doubt(CommandID, Path, Content, Stat)
    case settleRestore(CommandID, KeptVersion, Path, Row.DiskState?, Stat?, Answer)
    case prune
    case dropVersions([VersionID])
    case markAlive
    case markStopped
}

/// The answers to a transaction's queries, taken off in order.
struct Answers {
    private var list: ArraySlice<StoreAnswer>

    init(_ list: [StoreAnswer]) {
        self.list = list[...]
    }

    mutating func rows() -> [Row] {
        if case .rows(let rows)? = list.popFirst() { return rows }
        return []
    }

    mutating func rowsByPath() -> RowMap {
        RowMap(rows())
    }

    mutating func summary() -> SubtreeSummary {
        if case .summary(let summary)? = list.popFirst() { return summary }
        return SubtreeSummary()
    }

    mutating func chunkList() -> ChunkList? {
        if case .chunkList(let chunks)? = list.popFirst() { return chunks }
        return nil
    }

    mutating func chunkSources() -> [ChunkSource] {
        if case .chunkSources(let sources)? = list.popFirst() { return sources }
        return []
    }

    mutating func log() -> [LogRecord] {
        if case .log(let records)? = list.popFirst() { return records }
        return []
    }

    mutating func logRecord() -> LogRecord? {
        if case .logRecord(let record)? = list.popFirst() { return record }
        return nil
    }

    mutating func intents() -> [Intent] {
        if case .intents(let intents)? = list.popFirst() { return intents }
        return []
    }

    mutating func versions() -> [KeptVersion] {
        if case .versions(let versions)? = list.popFirst() { return versions }
        return []
    }

    mutating func changeSets() -> [StoredChangeSet] {
        if case .changeSets(let sets)? = list.popFirst() { return sets }
        return []
    }

    mutating func prunable() -> (versions: [KeptVersion], bytes: UInt64) {
        if case .prunable(let versions, let bytes)? = list.popFirst() { return (versions, bytes) }
        return ([], 0)
    }
}

/// Rows of one transaction, looked up by path.
struct RowMap: Sendable {
    private(set) var rows = SortedMap<Path, Row>()

    init(_ list: [Row] = []) {
        for row in list { rows[row.path] = row }
    }

    subscript(path: Path) -> Row? {
        get { rows[path] }
        set { rows[path] = newValue }
    }
}

/// The store batch of one transaction.
struct Batch: Sendable {
    var operations: [StoreOperation] = []

    var isEmpty: Bool { operations.isEmpty }

    mutating func add(_ operation: StoreOperation) { operations.append(operation) }
}

/// Batches emitted and not yet reported durable, oldest first.
struct StoreLine: Sendable {
    struct Entry: Sendable {
        let job: JobID
        let ownHead: LogHead
        let importedHead: LogHead
        let sets: SetHeads
        let setsPromised: LogPosition
        let after: AfterStored
        /// Something seen missing is marked so by it.
        let isMarking: Bool
    }

    var line = Deque<Entry>()
    var durableOwnHead = LogHead.none
    var durableImportedHead = LogHead.none
    /// The batch that is being made marks something missing.
    var marksNext = false

    /// What is seen missing is not marked so in the store yet: whoever reads rows there now finds it as it was.
    var isMarking: Bool { line.contains(where: \.isMarking) }

    /// Nothing is under way that anybody waits for.
    var isEmpty: Bool {
        line.allSatisfy { entry in
            if case .signOfLife = entry.after { true } else { false }
        }
    }
}

/// What may be done once a batch is durable.
enum AfterStored: Sendable {
    case nothing
    /// Only a sign of life: nothing anybody waits for.
    case signOfLife
    case runBatch
    case run(Node.Purpose, [DiskProgram])
    case runRelocation
    case announceRollback(LogPosition)
    case answer(CommandID, Answer)
    case finish
}

extension Node {
    mutating func enqueue(_ transaction: Transaction) {
        lane.waiting.append(transaction)
    }

    /// Starts the next transaction. True if one ran to its end at once, so that others may now be able to start.
    mutating func pumpLane(into effects: inout Effects) -> Bool {
        guard lane.current == nil, let next = lane.waiting.popFirst() else { return false }
        let queries = queries(for: next)
        if queries.isEmpty {
            var answers = Answers([])
            run(next, &answers, into: &effects)
            return phase != .finished
        }
        let job = newJob(.transaction)
        lane.current = (job, next)
        effects.add(.load(job, queries))
        return false
    }

    mutating func finishLoad(_ job: JobID, _ list: [StoreAnswer], into effects: inout Effects) {
        guard let current = lane.current, current.job == job else { return }
        jobs[job] = nil
        lane.current = nil
        var answers = Answers(list)
        run(current.transaction, &answers, into: &effects)
    }

    private func queries(for transaction: Transaction) -> [StoreQuery] {
        switch transaction {
        case .observe(let looks, _):
            return [.rows(looks.map(\.path)), .identities(looks.compactMap { $0.stat?.identity })]
        case .hashed(let results):
            let identities = results.compactMap { result -> FileIdentity? in
                if case .content(_, _, let stat) = result.outcome { return stat.identity }
                return nil
            }
            return [.rows(results.map(\.path)), .identities(identities)] + keptQueries(results)
        case .namesakes(let identities):
            return [.identities(identities)]
        case .flagBelow(let path, let after, _):
            return [.below(path, after: after, limit: limits.batchPathsMax)]
        case .verifyMove(let move, let after):
            return [.below(move.from, after: after, limit: limits.batchPathsMax)]
        case .relocateLocally(let move):
            return [.rows([move.from, move.to]), .summary(move.from), .summary(move.to)]
        case .loadRules:
            return [.ignoreFiles, .conflictCopies(limit: 1_000)]
        case .reconsiderIgnored(_, let after):
            return [.below(.root, after: after, limit: limits.batchPathsMax)]
        case .judge(let paths), .deleteJudged(let paths, _):
            return [.rows(paths)]
        case .findRenamed(_, let files, _):
            let recent = deletes.recent.flatMap { $0.files.map(\.identity) }
            return [.identities(files.map(\.identity) + recent)]
        case .judgeWithSums(let tally):
            return [.summary(.root)] + tally.tops.map { .summary($0.key) }
        case .tallyMissing(let after, _):
            return [.unsettled(cursor: after, ascending: true, limit: limits.batchPathsMax)]
        case .deleteMissing(let before, _):
            return [.unsettled(cursor: before, ascending: false, limit: limits.batchPathsMax)]
        case .rejectMissing(let after):
            return [.unsettled(cursor: after, ascending: true, limit: limits.batchPathsMax)]
        case .reviewFormats(let after, let isWhole):
            let limit = limits.batchPathsMax
            return [isWhole ? .below(.root, after: after, limit: limit) : .guarded(after: after, limit: limit)]
        case .judgeCopies(let copies):
            return copyQueries(copies)
        case .keepNewer(let path, let content):
            return [.rows([path]), .chunkList(content), .versions(path, limit: limits.batchPathsMax)]
        case .importRecords(let records):
            return [importQuery(records)]
        case .importPage(let states), .importRows(let states):
            return [.rows(states.map(\.path))]
        case .weighRelocation(_, let move):
            let parents = SortedMap([move.from, move.to].compactMap(\.parent).map { ($0, true) }).map(\.key)
            return [
                .rows([move.from, move.to, move.to.parent ?? .root]), .summary(move.from), .summary(move.to),
                .rows(parents),
            ]
        case .settleRelocation(let running, _, let parents):
            return [.rows([running.move.from, running.move.to] + parents.map(\.key))]
        case .adopt(let after, _), .renumber(let after, _):
            return [.below(.root, after: after, limit: limits.batchPathsMax)]
        case .renumberLog(let renumbering):
            return [.log(after: renumbering.from, limit: .max)]
        case .planPaths(let paths):
            return [.rows(paths), .rows(paths.compactMap(\.parent))]
        case .planPage(let cursor, let ascending):
            return [.unsettled(cursor: cursor, ascending: ascending, limit: limits.batchPathsMax)]
        case .locate(let wanted):
            return [.contents(wanted.map(\.content))] + wanted.map { .chunkList($0.content) }
                + wanted.filter { hasHeader($0.path) }.map { .versions($0.path, limit: limits.batchPathsMax) }
        case .rebuildList(let list):
            return [.chunkList(list.base)]
        case .findChunks(let content):
            return [.chunkSources(fetch.digests(of: content))]
        case .prepare(let paths):
            return prepareQueries(paths)
        case .commit(let items, let parents):
            let retimed = items.compactMap { $0.retimed?.identity }
            return [.rows(items.flatMap(\.paths)), .rows(parents.map(\.key)), .identities(retimed)]
        case .explainNotEmpty(let path, let after, _):
            return [.rows([path]), .below(path, after: after, limit: limits.batchPathsMax), .ignoreFiles]
        case .reassertBeside(let path, let copy):
            return [.rows([path]), .rows([copy])]
        case .lateWriters(let versions):
            let contents = versions.compactMap(\.contentID)
            return [.identities(versions.map(\.stat.identity))] + contents.map { .chunkList($0) }
        case .greet(let hello, _):
            return hello.known.map { .logRecord($0.position) }
        case .sendLog:
            return [.log(after: session.sentThrough, limit: limits.logRecordsPerFrameMax)]
        case .sendRows(let after, _):
            return [.below(.root, after: after, limit: limits.batchPathsMax)]
        case .expand(let position):
            return [.logRecord(position)]
        case .expandPart(_, let move, let after, let old):
            let directory = old ? move.from : move.to
            return [.rows([directory]), .below(directory, after: after, limit: limits.batchPathsMax)]
        case .serve(let requests):
            let lists = requests.map(\.content) + requests.compactMap(\.base)
            return [.contents(requests.map(\.content))] + lists.map { .chunkList($0) }
        case .recover:
            // Kept a moment before the last process ended, and not looked at again since. Who held it open before a power
            // cut writes no more. (Without one nobody asks: by a clock that was put forward the machine is younger.)
            let since = record.aliveMilliseconds - Int64(clamping: limits.lateWriterMilliseconds)
            let young = record.distrustSince == nil ? since : max(since, watch.bootMilliseconds)
            let head = record.ownHead.position
            let latest = LogPosition(epoch: head.epoch, seq: head.seq - min(head.seq, UInt64(limits.batchPathsMax)))
            let log = head.seq == 0 ? [] : [StoreQuery.log(after: latest, limit: limits.batchPathsMax)]
            return [
                .intents, .summary(.root), .versionsKept(sinceMilliseconds: young, limit: limits.lateLooksMax),
            ] + log
        case .restoreOver(_, _, let path):
            return [.rows([path]), .rows(path.parents)]
        case .setAside(_, let path), .doubt(_, let path, _, _):
            return [.rows([path])]
        case .settleRecovery(let findings):
            let paths =
                findings.placed.map(\.path) + findings.placed.compactMap(\.copy?.path) + findings.taken.map(\.path)
                + findings.taken.compactMap(\.moved?.path)
            return paths.isEmpty ? [] : [.rows(paths)]
        case .loadRecords, .reloadRecords:
            return [.changeSets(nil, after: .none, limit: .max)]
        case .adoptRecords(let number, let after):
            return [.below(records.books[number].root, after: after, limit: limits.batchPathsMax)]
        case .tellRecords(let paths):
            return [.rows(paths)]
        case .matchRecords(let paths):
            return [.rows(paths + paths.flatMap(\.parents))]
        case .takeBase:
            return [.changeSets(.own, after: .none, limit: .max)]
        case .sendSets(let author, let after), .sendBase(let author, let after):
            return [.changeSets(author, after: after, limit: 64)]
        case .settleRestore, .finishRows, .dropVersions, .markAlive, .markStopped, .importSets,
            .settleContest, .shelve:
            return []
        case .status:
            return [
                .unsettled(cursor: nil, ascending: true, limit: limits.batchPathsMax),
                .log(after: record.applied, limit: limits.logRecordsPerFrameMax),
            ]
        case .history(_, let path):
            return [.versions(path, limit: 1_000)]
        case .findVersion, .loadShelf:
            return [.versions(nil, limit: .max)]
        case .prune:
            return [.prunable(limit: limits.batchPathsMax)]
        }
    }

    private mutating func run(_ transaction: Transaction, _ answers: inout Answers, into effects: inout Effects) {
        switch transaction {
        case .observe(let looks, let source): observe(looks, source, &answers, into: &effects)
        case .hashed(let results): takeHashes(results, &answers, into: &effects)
        case .namesakes: lookAtNamesakes(&answers)
        case .flagBelow(let path, _, let mayBeBack):
            flagBelow(path, mayBeBack: mayBeBack, &answers, into: &effects)
        case .verifyMove(let move, _): verifyMove(move, &answers, into: &effects)
        case .relocateLocally(let move): relocateLocally(move, &answers, into: &effects)
        case .loadRules: loadRules(&answers, into: &effects)
        case .reconsiderIgnored(let rules, _): reconsiderIgnored(rules, &answers, into: &effects)
        case .judge(let paths): judge(paths, &answers, into: &effects)
        case .findRenamed(let tally, let files, let next):
            findRenamed(tally, files, next: next, &answers, into: &effects)
        case .judgeWithSums(let tally): judge(tally, &answers, into: &effects)
        case .tallyMissing(_, let tally): tallyMissing(tally, &answers, into: &effects)
        case .deleteJudged(_, let isRename): deleteJudged(isRename: isRename, &answers, into: &effects)
        case .deleteMissing(_, let pass): deleteMissing(pass, &answers, into: &effects)
        case .rejectMissing: rejectMissing(&answers, into: &effects)
        case .loadRecords: loadRecords(&answers, into: &effects)
        case .reloadRecords: reloadRecords(&answers, into: &effects)
        case .adoptRecords(let number, _): adoptRecords(number, &answers, into: &effects)
        case .tellRecords(let paths): tellRecords(paths, &answers, into: &effects)
        case .matchRecords(let paths): matchRecords(paths, &answers, into: &effects)
        case .sendSets(let author, _): sendSets(author, &answers, into: &effects)
        case .sendBase(let author, _): sendBase(author, &answers, into: &effects)
        case .takeBase: takeBase(&answers, into: &effects)
        case .importSets: importSets(into: &effects)
        case .settleContest(let id, let choice, let record): settleContest(id, choice, record, into: &effects)
        case .loadShelf: loadShelf(&answers)
        case .shelve: shelve(into: &effects)
        case .reviewFormats: reviewFormats(&answers, into: &effects)
        case .judgeCopies(let copies): judgeCopies(copies, &answers, into: &effects)
        case .keepNewer(let path, let content): keepNewer(path, content, &answers, into: &effects)
        case .importRecords(let records): importRecords(records, &answers, into: &effects)
        case .importPage(let states): importPage(states, &answers, into: &effects)
        case .importRows(let states): importRows(states, &answers, into: &effects)
        case .finishRows(let head): finishRows(head, into: &effects)
        case .weighRelocation(let record, let move): weighRelocation(record, move, &answers, into: &effects)
        case .settleRelocation(let running, let stat, let parents):
            settleRelocation(running, moved: stat, parents: parents, &answers, into: &effects)
        case .adopt(_, let beyond): adopt(beyond, &answers, into: &effects)
        case .renumber(_, let renumbering): renumberRows(renumbering, &answers, into: &effects)
        case .renumberLog(let renumbering): renumberLog(renumbering, &answers, into: &effects)
        case .planPaths(let paths): planPaths(paths, &answers, into: &effects)
        case .planPage(_, let ascending): planPage(ascending, &answers, into: &effects)
        case .locate(let wanted): locate(wanted, &answers, into: &effects)
        case .rebuildList(let list): rebuildList(list, &answers)
        case .findChunks(let content): findChunks(content, &answers, into: &effects)
        case .prepare(let paths): prepare(paths, &answers, into: &effects)
        case .commit(let items, let parents): commitItems(items, parents, &answers, into: &effects)
        case .explainNotEmpty(let path, _, let sawLive):
            explainNotEmpty(path, sawLive: sawLive, &answers, into: &effects)
        case .reassertBeside(let path, let copy): reassert(path, beside: copy, &answers, into: &effects)
        case .lateWriters(let versions): rescueLateWrites(versions, &answers, into: &effects)
        case .greet(let hello, let link): greet(hello, on: link, &answers, into: &effects)
        case .sendLog: sendLog(&answers, into: &effects)
        case .sendRows(_, let through): sendRows(through, &answers, into: &effects)
        case .expand(let position): expand(position, &answers, into: &effects)
        case .expandPart(let position, let move, let after, let old):
            expandPart(position, move, after: after, old: old, &answers, into: &effects)
        case .serve(let requests): readForPeer(requests, &answers, into: &effects)
        case .recover: lookAtIntents(&answers, into: &effects)
        case .settleRecovery(let findings): settleRecovery(findings, &answers, into: &effects)
        case .status(let id): answerStatus(id, &answers, into: &effects)
        case .history(let id, _): effects.add(.answer(id, .history(answers.versions())))
        case .findVersion(let id, let version, let path): restore(id, version, to: path, &answers, into: &effects)
        case .restoreOver(let id, let kept, let path): restoreOver(id, kept, path, &answers, into: &effects)
        case .setAside(let id, let path): setAside(id, path, &answers, into: &effects)
        case .doubt(let id, let path, let found, let stat): doubt(id, path, found, stat, &answers, into: &effects)
        case .settleRestore(let id, let kept, let path, let old, let stat, let answer):
            settleRestore(id, kept, path, old, stat, answer, into: &effects)
        case .prune: prune(&answers, into: &effects)
        case .dropVersions(let versions):
            var batch = Batch()
            for version in versions { batch.add(.dropVersion(version)) }
            store(&batch, into: &effects)
        case .markAlive:
            record.aliveMilliseconds = timers.alive(at: now)
            var batch = Batch()
            store(&batch, then: .signOfLife, into: &effects)
        case .markStopped:
            record.stoppedCleanly = true
            record.aliveMilliseconds = timers.alive(at: now)
            var batch = Batch()
            store(&batch, then: .finish, into: &effects)
        }
    }

    // MARK: Writing

    /// Emits a batch, with the node's own record if that has changed.
    mutating func store(_ batch: inout Batch, then after: AfterStored = .nothing, into effects: inout Effects) {
        record.clock = max(record.clock, clock.last)
        // The record speaks of the log that is stored until another, being numbered anew page by page, is stored whole.
        let isRenumbering = !recovery.renumbered.isEmpty
        if record != recordEmitted, !isRenumbering {
            batch.add(.putNode(record))
            recordEmitted = record
        }
        let job = newJob(.nothing)
        stores.line.append(
            StoreLine.Entry(
                job: job, ownHead: isRenumbering ? recordEmitted.ownHead : record.ownHead,
                importedHead: record.importedHead, sets: records.known,
                setsPromised: record.setMarks.promised, after: after, isMarking: stores.marksNext))
        stores.marksNext = false
        effects.add(.store(job, StoreBatch(batch.operations)))
        batch = Batch()
    }

    mutating func finishStore(_ job: JobID, into effects: inout Effects) {
        guard jobs.removeValue(forKey: job) != nil else { return }
        while let entry = stores.line.popFirst() {
            stores.durableOwnHead = entry.ownHead
            stores.durableImportedHead = entry.importedHead
            records.durable = entry.sets
            records.promised = entry.setsPromised
            perform(entry.after, into: &effects)
            if entry.job == job { return }
        }
    }

    private mutating func perform(_ after: AfterStored, into effects: inout Effects) {
        switch after {
        case .nothing, .signOfLife: break
        case .runBatch: runBatch(into: &effects)
        case .run(let purpose, let programs): effects.add(.disk(newJob(purpose), programs))
        case .runRelocation: runRelocation(into: &effects)
        case .announceRollback(let common): announceRollback(common, into: &effects)
        case .answer(let id, let answer): effects.add(.answer(id, answer))
        case .finish: finish(.stopped, into: &effects)
        }
    }

    /// Puts a row into the batch, or drops it when it says nothing any more.
    mutating func put(_ row: Row, replacing old: Row?, in batch: inout Batch, into effects: inout Effects) {
        if row == old { return }
        echoes.forget(row.path)
        noteShown(row)
        if row.condition == .missing { stores.marksNext = true }
        counts.replace(old, by: row)
        let isEmpty = row.heads.isEmpty && row.disk == nil && row.condition == .normal && row.waiting == nil
        batch.add(isEmpty ? .dropRow(row.path) : .putRow(row))
        noteSight(of: row, before: old)
        watchConflictCopy(row, before: old, into: &effects)
        watchFormat(row, before: old, into: &effects)
        watchOverdue(row, into: &effects)
        if row.path.name?.bytes == Node.ignoreFileName, isNewRule(row, old) { readRules([row.path], into: &effects) }
    }

    /// One that was missing for a while may have been so when the rules were read.
    private func isNewRule(_ row: Row, _ old: Row?) -> Bool {
        let isBack = old?.condition == .missing && row.condition != .missing
        return isBack || row.disk?.entry.content != old?.disk?.entry.content
    }

    // MARK: The own log

    mutating func nextPosition() -> LogPosition {
        if epochHasBegun {
            return LogPosition(epoch: record.ownHead.position.epoch, seq: record.ownHead.position.seq + 1)
        }
        epochHasBegun = true
        let number = record.ownHead.position.epoch.number &+ 1
        return LogPosition(epoch: Epoch(number: number, nonce: nonce), seq: 1)
    }

    /// Appends a change of ours to the log.
    mutating func append(
        _ change: LogRecord.Change, at position: LogPosition, _ time: HybridTime, in batch: inout Batch
    ) {
        let written = LogCodec.write(
            change, at: position, time: time, after: record.ownHead, node: record.id, digest: digest)
        logTail.append(written.bytes, as: written.record.head, after: record.ownHead.position)
        record.ownHead = written.record.head
        batch.add(.appendLog(written.record))
    }

    /// Records that this node's folder now shows `entry` at the row's path, and logs it as a change of ours.
    /// `isReasserted` claims the content anew although it is the same: others may have decided against it.
    mutating func revise(
        _ row: inout Row, to entry: Entry, stat: Stat?, movedFrom: Path? = nil, movedTo: Path? = nil,
        isReasserted: Bool = false, seeing seen: VersionVector? = nil, in batch: inout Batch
    ) {
        let position = nextPosition()
        let isFirst = row.reflected == .none && row.head(by: .own) == nil && !isReasserted
        let tick = clock.tick(wallMilliseconds: now.wallMilliseconds)
        if seen == nil, let earlier = unreadConflict(row) { row.reflected.peer = min(row.reflected.peer, earlier) }
        let seen = seen ?? self.seen(by: entry, at: row)
        // A file that was here before anybody watched is as old as it says: the newer one keeps the name. (One that was made since
        // was made now, whatever the clock has shown meanwhile: a power cut may take it back.)
        let isFound = isFirst && !watch.isAllRead || isGivenBack(stat, at: row)
        let time = isFound && row.disk == nil && !entry.isAbsent ? min(tick, age(of: entry, on: row, seen)) : tick
        let origin = Origin(author: .own, position: position, time: time)
        var origins = Origins(all: origin)
        if let disk = row.disk, !entry.isAbsent, !disk.entry.isAbsent {
            if disk.entry.content == entry.content && !isReasserted { origins.content = disk.origins.content }
            if disk.entry.mode == entry.mode { origins.mode = disk.origins.mode }
            if disk.entry.modified == entry.modified { origins.time = disk.origins.time }
        }
        // What is said to come from a change that has not been seen is ours from here on: nobody believes the other.
        func own(_ from: Origin) -> Origin { from.author == .peer && from.position > seen.peer ? origin : from }
        origins = Origins(content: own(origins.content), mode: own(origins.mode), time: own(origins.time))
        let revision = Revision(
            origin: origin, seen: seen, entry: entry, origins: origins, movedFrom: movedFrom,
            movedTo: movedTo)
        row.join(revision)
        let isOwed = row.owesCopy && row.disk?.entry.content == entry.content
        row.reflected = row.reflected.joined(with: seen)
        row.reflected.own = position
        // Nothing has been read anew: what times could not tell before, they cannot tell now.
        let known = row.disk
        row.disk = stat.map { Row.DiskState(entry: entry, stat: $0, origins: origins) }
        row.disk?.isRacy = known.map { $0.isRacy && $0.stat == stat } ?? false
        row.disk?.isUnwritten = known?.isUnwritten(as: stat) ?? false
        row.condition = .normal
        row.waiting = nil
        // What came from the peer before this was known may have won already.
        row.owesCopy = false
        row.owesCopy = isOwed || losesUnseen(row)
        if row.format?.isOf(entry) == true { row.format?.isGivenUp = false }
        append(.put(row.path, revision), at: position, time, in: &batch)
        if row.isUnsettled { plan.want(row.path) }
    }

    /// Later than what it takes the place of, be it its removal.
    private func age(of entry: Entry, on row: Row, _ seen: VersionVector) -> HybridTime {
        let past = row.heads.filter { seen.covers($0.origin) }.map(\.origin.time).max()
        let age = HybridTime(wallMilliseconds: entry.modified.milliseconds)
        return past.map { max(age, $0.next) } ?? age
    }

    /// What a power cut has taken back may be the removal that is on record: nobody has put this here since.
    private func isGivenBack(_ stat: Stat?, at row: Row) -> Bool {
        guard record.distrustSince != nil, let stat else { return false }
        return !watch.isChangedSinceBoot(stat) && !isHandled(row.path)
    }

    /// Who takes away a directory, or puts something else in its place, has seen it, also if the peer made it and not all of it
    /// was applied here: it may be there without its time. So has who writes over a file of which the peer has made the same.
    private func seen(by entry: Entry, at row: Row) -> VersionVector {
        var seen = row.reflected
        guard let made = contentReplaced(by: entry, at: row) else { return seen }
        seen[made.author] = max(seen[made.author], made.position)
        return seen
    }

    private func contentReplaced(by entry: Entry, at row: Row) -> Origin? {
        guard let disk = row.disk else { return nil }
        if disk.entry.content.isDirectory {
            let isOurs = row.head(by: .own)?.entry.content.isDirectory == true
            let wanted = resolution(of: row)
            let isGone = !isOurs && wanted.entry.content.isDirectory && !entry.content.isDirectory
            return isGone ? wanted.origins.content : nil
        }
        // (A delete would take the peer's file with it, and his may be there for another reason.)
        guard !entry.isAbsent, entry.content != disk.entry.content, row.condition == .normal, !row.owesCopy,
            let theirs = row.head(by: .peer), theirs.entry.content == disk.entry.content,
            theirs.origins.content.author == .peer
        else { return nil }
        return theirs.origins.content
    }

    func resolution(of row: Row) -> Resolution { reconciler.resolution(of: row) }
}
