import SyncModel

/// Transactions, one at a time: their rows are asked for, they run, and what they write goes to the store as one batch.
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

    @inline(__always)  // (As `Node.isWorking` is.)
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
        case .namesakes(let identities, _):
            return [.identities(identities)]
        case .flagBelow(let path, let after, _):
            return [.below(path, after: after, limit: limits.batchPathsMax)]
        case .verifyMove(let move, let after):
            return [.below(move.from, after: after, limit: limits.batchPathsMax)]
        case .relocateLocally(let move):
            return [.rows([move.from, move.to]), .summary(move.from), .summary(move.to)]
        case .loadRules:
            return [.ignoreFiles, .conflictCopies(limit: Limits.conflictCopiesMax)]
        case .reconsiderIgnored(_, let after), .lookAtIgnored(let after):
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
        case .rejectMissing(_, let after):
            return [.unsettled(cursor: after, ascending: true, limit: limits.batchPathsMax)]
        case .rejectRefused(let paths):
            return [.rows(paths)]
        case .reviewFormats(let after, let isWhole):
            let limit = limits.batchPathsMax
            return [isWhole ? .below(.root, after: after, limit: limit) : .guarded(after: after, limit: limit)]
        case .judgeCopies(let copies):
            return copyQueries(copies)
        case .keepNewer(let path, let content):
            return [.rows([path]), .chunkList(content), .versions(path, limit: limits.versionsSearchedMax)]
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
                + wanted.filter(\.mayBeKept).map { .versions($0.path, limit: limits.versionsSearchedMax) }
        case .rebuildList(let list):
            return [.chunkList(list.base)]
        case .findChunks(let content):
            return [.chunkSources(fetch.digests(of: content))]
        case .prepare(let paths):
            return prepareQueries(paths)
        case .commit(let items, let parents):
            let retimed = items.compactMap { ($0.retimed ?? $0.adjusted)?.identity }
            let emptied = items.compactMap { $0.emptied?.parent }
            let above = SortedMap((emptied + parents.map(\.key)).map { ($0, true) })
            let displaced = items.compactMap(\.keptFile)
            return [.rows(items.flatMap(\.paths)), .rows(Array(above.keys)), .identities(retimed + displaced)]
        case .explainNotEmpty(let path, let after, _):
            return [.rows([path]), .below(path, after: after, limit: limits.batchPathsMax), .ignoreFiles]
        case .reassertBeside(let path, let copy):
            return [.rows([path]), .rows([copy])]
        case .letGo(let path, let after):
            return [.rows([path]), .below(path, after: after, limit: limits.batchPathsMax)]
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
            // What went at one moment may have been told of by several processes, among other changes.
            let deletes = max(limits.batchPathsMax, 4 * min(settings.deleteFuseFiles, limits.notedPathsMax))
            let log = record.ownHead.position.seq == 0 ? [] : [StoreQuery.latestLog(limit: deletes)]
            return [
                .intents, .summary(.root), .versionsKept(sinceMilliseconds: young, limit: limits.lateLooksMax),
            ] + log
        case .restoreOver(_, _, let path):
            return [.rows([path]), .rows(path.parents)]
        case .setAside(_, let path), .doubt(_, let path, _, _):
            return [.rows([path])]
        case .keepUnwritten(_, let version, _):
            return [.rows([version.path])]
        case .settleRecovery(let findings):
            let paths =
                findings.placed.map(\.path) + findings.placed.compactMap(\.copy?.path) + findings.taken.map(\.path)
                + findings.taken.compactMap(\.moved?.path)
                + findings.taken.compactMap { $0.directory == nil ? nil : $0.moved?.path.parent }
                + findings.left.map(\.path)
                + findings.leftThere.flatMap { [$0.move.from, $0.move.to] }
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
            let sums: [StoreQuery] = counts.mustRecount ? [.summary(.root)] : []
            return sums + [
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
        case .namesakes(_, let areUnwritten): lookAtNamesakes(&answers, areUnwritten: areUnwritten)
        case .flagBelow(let path, _, let mayBeBack):
            flagBelow(path, mayBeBack: mayBeBack, &answers, into: &effects)
        case .verifyMove(let move, _): verifyMove(move, &answers, into: &effects)
        case .relocateLocally(let move): relocateLocally(move, &answers, into: &effects)
        case .loadRules: loadRules(&answers, into: &effects)
        case .reconsiderIgnored(let rules, _): reconsiderIgnored(rules, &answers, into: &effects)
        case .lookAtIgnored: lookAtIgnored(&answers)
        case .judge(let paths): judge(paths, &answers, into: &effects)
        case .findRenamed(let tally, let files, let next):
            findRenamed(tally, files, next: next, &answers, into: &effects)
        case .judgeWithSums(let tally): judge(tally, &answers, into: &effects)
        case .tallyMissing(_, let tally): tallyMissing(tally, &answers, into: &effects)
        case .deleteJudged(_, let isRename): deleteJudged(isRename: isRename, &answers, into: &effects)
        case .deleteMissing(_, let pass): deleteMissing(pass, &answers, into: &effects)
        case .rejectMissing(let id, _): rejectMissing(id, &answers, into: &effects)
        case .rejectRefused: rejectRefused(&answers, into: &effects)
        case .loadRecords: loadRecords(&answers, into: &effects)
        case .reloadRecords: reloadRecords(&answers, into: &effects)
        case .adoptRecords(let number, let after): adoptRecords(number, after: after, &answers, into: &effects)
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
        case .letGo(let path, _): letGo(path, &answers, into: &effects)
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
        case .keepUnwritten(let id, let version, let intent):
            keepUnwritten(id, version, intent, &answers, into: &effects)
        case .doubt(let id, let path, let found, let stat): doubt(id, path, found, stat, &answers, into: &effects)
        case .settleRestore(let id, let kept, let path, let old, let stat, let answer):
            settleRestore(id, kept, path, old, stat, answer, into: &effects)
        case .prune: prune(&answers, into: &effects)
        case .dropVersions(let versions):
            var batch = Batch()
            for version in versions { batch.add(.dropVersion(version)) }
            store(&batch, into: &effects)
        case .markAlive:
            record.aliveMilliseconds = signOfLife
            var batch = Batch()
            store(&batch, then: .signOfLife, into: &effects)
        case .markStopped:
            record.stoppedCleanly = true
            record.aliveMilliseconds = signOfLife
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
            record.writtenMilliseconds = max(record.writtenMilliseconds ?? .min, now.wallMilliseconds)
            let isDistrusting = record.distrustSince != nil || record.distrustOfIgnored != nil
            record.clockShown = isDistrusting ? watch.clockShown : nil
            batch.add(.putNode(record))
            recordEmitted = record
        }
        let job = newJob(.nothing)
        stores.line.append(
            StoreLine.Entry(
                job: job, ownHead: isRenumbering ? recordEmitted.ownHead : record.ownHead,
                importedHead: record.importedHead, sets: records.known,
                setsPromised: record.setMarks.promised, after: after, isMarking: stores.marksNext,
                shown: stores.shownNext))
        stores.marksNext = false
        stores.shownNext = []
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
        case .secure(let looks): secure(looks, into: &effects)
        case .expectLateWriters(let versions): for version in versions { expectLateWriter(of: version) }
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
        // (What a batch is putting there may stand there already, and only the row that comes of it says so. And what is
        // planned may come there still, though the sets are beyond it.)
        if row.disk != old?.disk || !apply.touches(row.path) && !isToChange(row) { noteShown(row) }
        if old?.condition == .damaged, isUntold(row) { records.toMatch[row.path] = true }
        if old?.condition == .ignored { matchLetGo(row) }
        if row.condition == .missing {
            stores.marksNext = true
        } else if old?.condition == .missing {
            records.releaseTouch(row.path)
        }
        if row.disk != nil, old?.disk == nil { stores.shownNext.append(row.path) }
        counts.replace(old, by: row)
        noteOwed(row)
        if deletes.noteChange(of: old, to: row), record.held != nil { deletes.mustRecount = true }
        noteSpareless(row, before: old)
        let isEmpty = row.heads.isEmpty && row.disk == nil && row.condition == .normal && row.waiting == nil
        batch.add(isEmpty ? .dropRow(row.path) : .putRow(row))
        noteSight(of: row, before: old)
        watchConflictCopy(row, before: old, into: &effects)
        watchFormat(row, before: old, into: &effects)
        watchOverdue(row, into: &effects)
        watchForbidden(row, into: &effects)
        if row.path.name?.bytes == IgnoreRules.fileName, isNewRule(row, old) { readRules([row.path], into: &effects) }
    }

    /// One that was missing for a while may have been so when the rules were read. And what was read may not be what the row says: it was
    /// changed, or away, and is as before by the time anybody looks.
    private func isNewRule(_ row: Row, _ old: Row?) -> Bool {
        let isBack = old?.condition == .missing && row.condition != .missing
        return isBack || row.disk?.entry.content != old?.disk?.entry.content || row.disk?.stat != old?.disk?.stat
    }
}
