import Config
import ControlProtocol
import EventLoop
import Store
import SyncCore
import SyncModel

/// What the node reports: alerts that last, notes that are over once they are told.
extension Daemon {
    func take(_ report: Report) {
        switch report {
        case .raised(let alert), .raisedAgain(let alert):
            raise(alert.key, since: alert.sinceMilliseconds, facts(of: alert))
        case .cleared(let key): clear(key)
        case .note(let note):
            journal.tell(note.code, note.subject)
            feed.tell(.note(at: Clock.wallMilliseconds(), code: note.code, subject: note.subject))
            if note.code == .initialMerged { endRebuilding() }
        case .peerIs(let node): learn(peerIs: node)
        }
    }

    func raise(_ code: MessageCode, detail: String = "") {
        raise(AlertKey(code: code), AlertFacts(detail: detail))
    }

    /// People are told of what is new, and of what has grown since they said that they had seen it. The rest is written down with the
    /// next of these, or at the end.
    func raise(_ key: AlertKey, since: Int64? = nil, _ facts: AlertFacts = AlertFacts()) {
        let now = Clock.wallMilliseconds()
        let news = alerts.raise(key, since: since ?? now, now: now, facts)
        guard news != .isKnown, let item = alerts.items[key] else { return }
        let document = alertDocument(item)
        journal.tell(document, hasGrown: news == .hasGrown)
        feed.tell(.alertRaised(at: now, code: key.code, subject: key.subject))
        runHook(document)
        saveAlerts()
    }

    /// Where the folder lies, and what is there instead, only the shell can tell.
    private func facts(of alert: Alert) -> AlertFacts {
        var facts = alert.facts
        if alert.key.code == .rootMissing || alert.key.code == .rootReplaced { facts.detail = rootSentence }
        if alert.key.code == .rootEmptied {
            let place = RootWords.sentence(configuration.folder.path, nil)
            facts.detail = [facts.detail, place].filter { !$0.isEmpty }.joined(separator: " ")
        }
        return facts
    }

    /// Why nothing can be looked through: the folder is away, or another is in its place.
    var absentFolder: ControlError? {
        host.rootState.code.map { RootWords.refusal($0, rootSentence) }
    }

    var rootSentence: String { RootWords.sentence(configuration.folder.path, host.rootTrouble) }

    func clear(_ key: AlertKey) {
        let now = Clock.wallMilliseconds()
        guard alerts.clear(key, now: now) else { return }
        journal.tellOver(key.code, key.subject)
        feed.tell(.alertCleared(at: now, code: key.code, subject: key.subject))
        saveAlerts()
    }

    func noteWatchLimit(_ isLimited: Bool) {
        guard isLimited else { return clear(AlertKey(code: .watchLimit)) }
        let limit = System.contents(of: Array(Daemon.watchLimitFile.utf8), limit: 64) ?? []
        let number = String(decoding: limit.prefix { $0 != 0x0A }, as: UTF8.self)
        raise(.watchLimit, detail: "fs.inotify.max_user_watches is \(number.isEmpty ? "not known" : number).")
    }

    private static let watchLimitFile = "/proc/sys/fs/inotify/max_user_watches"

    // MARK: Over a restart

    /// What was open when the last process ended counts as open until this one has looked.
    func loadAlerts() {
        do throws(StoreError) {
            if let bytes = try store.value(Opening.Fact.alerts) { alerts = AlertBook(encoded: bytes) }
        } catch {
            journal.problem(
                .diskError,
                "the alerts of the last run cannot be read: \(error). They are raised again as they are met.")
        }
    }

    /// One save at a time, each of all there is by then. Thousands may be raised or cleared in one turn: a save for
    /// each would hold all the others as well, and all of these would wait in memory for the store.
    func saveAlerts() {
        guard alerts.isChanged else { return }
        guard !isSavingAlerts else {
            isSaveOfAlertsWanted = true
            return
        }
        (isSavingAlerts, isSaveOfAlertsWanted) = (true, false)
        host.keep([(key: Opening.Fact.alerts, value: alerts.encoded())]) { [unowned self] in
            isSavingAlerts = false
            if case .failure(let error) = $0 { return noteUnsaved(error) }
            if isSaveOfAlertsWanted { saveAlerts() }
        }
    }

    /// For the end, when nobody else works with the store any more. A save that was under way may have come to nothing.
    func saveAlertsAtOnce() {
        guard alerts.isChanged || isSavingAlerts else { return }
        do throws(StoreError) {
            try store.setValue(Opening.Fact.alerts, alerts.encoded())
        } catch {
            noteUnsaved(error)
        }
    }

    private func noteUnsaved(_ error: StoreError) {
        journal.problem(
            .diskError, "the alerts cannot be written down: \(error). They are raised again as they are met.")
    }

    /// Once the node knows its folder: what the last process had open and this one does not raise is over.
    func settleAlerts(_ status: Status) {
        if status.initialImportDone { endRebuilding() }
        settle(alerts.open.map(\.key).filter { !isOfShell($0) }, status)
    }

    /// But for what a path still waits for, by the same code: this process tells of it anew only when it has waited for the rest of a save, or
    /// heard of the other node. To people it is the same alert.
    private func settle(_ keys: [AlertKey], _ status: Status) {
        let raised = Set(status.alerts.map(\.key))
        let pending = Set(status.pending.map { AlertKey(code: $0.reason, subject: $0.path.bytes) })
        var waiting: [AlertKey] = []
        for key in keys where !raised.contains(key) {
            // Told of anew, by what is understood now: what was understood before is so no more.
            let isOutdated =
                key.format != nil
                && raised.contains {
                    $0.code == key.code && $0.subject == key.subject && $0.format?.node == key.format?.node
                }
            // (A save that waits for its author is one that is gathered first.)
            let isWaiting = [key.code, .waitingSave].contains {
                pending.contains(AlertKey(code: $0, subject: key.subject))
            }
            if isWaiting, !isOutdated {
                waiting.append(key)
            } else {
                clear(key)
            }
        }
        guard !waiting.isEmpty else { return }
        settleTimer.start(afterMilliseconds: Daemon.settlePauseMilliseconds) { [unowned self] in
            board.add { [unowned self] status in
                settle(waiting, status)
                return false
            }
        }
    }

    private static let settlePauseMilliseconds: UInt64 = 5_000

    /// The list that was damaged has been built anew from both folders.
    private func endRebuilding() {
        let over = alerts.open.filter { $0.key.code == .stateDamaged }
        guard !over.isEmpty else { return }
        for item in over { clear(item.key) }
        // If that cannot be written down, the next start tells of it once more.
        host.keep([(key: Opening.Fact.setAside, value: nil)]) { _ in }
    }

    private func isOfShell(_ key: AlertKey) -> Bool {
        let isLaterFile = key.code == .schemaNewer && models.later.contains { $0.file == key.subject }
        return isLaterFile || Daemon.shellCodes.contains(key.code)
    }

    /// Raised and cleared here, not by the core.
    private static let shellCodes: Set<MessageCode> = [.stateDamaged, .watchLimit, .peerRejected, .schemaInvalid]

    // MARK: Changes as they are written down

    func noteStored(_ batch: StoreBatch) {
        for operation in batch.operations {
            switch operation {
            case .putVersion(let version) where version.isOfDamage: quarantine.insert(version.id)
            case .putVersion(let version): quarantine.remove(version.id)
            case .dropVersion(let id): quarantine.remove(id)
            case .putNode(let node):
                if !node.peerName.isEmpty { record.peerName = node.peerName }
                noteAlive(node.aliveMilliseconds)
            case .putRow, .dropRow, .relocate, .appendLog, .dropLog, .putIntent, .dropIntent,
                .putChunks, .putChangeSet, .dropChangeSets:
                break
            }
        }
        if journal.level >= .changes || feed.isFollowed { tellChanges(batch) }
        if imports.note(batch, atMilliseconds: Clock.monotonicMilliseconds()) { waitForImport() }
    }

    /// The node has given a sign of life, and the disk is awake.
    private func noteAlive(_ milliseconds: Int64) {
        guard record.aliveMilliseconds != milliseconds else { return }
        record.aliveMilliseconds = milliseconds
        rememberContactAgain()
    }

    /// Until what came can be seen in the folder: asked soon at first, but not before a small change may be there, as every question is
    /// work on its way; and the less often the longer it takes.
    private func waitForImport(afterMilliseconds pause: UInt64 = importPauseMilliseconds.lowerBound) {
        importTimer.start(afterMilliseconds: pause) { [unowned self] in lookAtImport() }
    }

    private func lookAtImport() {
        host.ask(.status) { [unowned self] answer in
            guard case .status(let status) = answer, let begun = imports.running?.sinceMilliseconds else {
                return imports.abandon()
            }
            let now = Clock.monotonicMilliseconds()
            if let done = imports.finish(status, atMilliseconds: now) { return tell(done) }
            let pauses = Daemon.importPauseMilliseconds
            waitForImport(afterMilliseconds: min(max((now - begun) / 4, pauses.lowerBound), pauses.upperBound))
        }
    }

    private static let importPauseMilliseconds: ClosedRange<UInt64> = 10...1_000

    private func tell(_ done: ImportWatch.Finished) {
        feed.tell(
            .importFinished(
                at: Clock.wallMilliseconds(), from: record.peerName, firstSeq: done.firstSeq, lastSeq: done.lastSeq,
                applied: done.applied, held: done.held, repaired: done.repaired, quarantined: done.quarantined,
                milliseconds: done.milliseconds))
    }
}
