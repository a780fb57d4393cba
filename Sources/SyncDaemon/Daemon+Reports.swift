import ControlProtocol
import EventLoop
import Store
import SyncCore
import SyncModel

/// What the node reports: alerts that last, notes that are over once they are told.
extension Daemon {
    func take(_ report: Report) {
        switch report {
        case .raised(let alert):
            raise(alert.key, since: alert.sinceMilliseconds, writer: alert.writer, violation: alert.violation)
        case .cleared(let key): clear(key)
        case .note(let note):
            journal.tell(note.code, note.subject)
            feed.tell(.note(at: Clock.wallMilliseconds(), code: note.code, subject: note.subject))
        case .peerIs(let node): learn(peerIs: node)
        }
    }

    func raise(_ code: MessageCode) { raise(AlertKey(code: code)) }

    func raise(_ key: AlertKey, since: Int64? = nil, writer: Author? = nil, violation: Violation? = nil) {
        let now = Clock.wallMilliseconds()
        guard alerts.raise(key, since: since ?? now, now: now, writer: writer, violation: violation) else { return }
        journal.tell(key.code, key.subject, detail: violation.map(AlertReading.text) ?? "")
        feed.tell(.alertRaised(at: now, code: key.code, subject: key.subject))
        alerts.items[key].map { runHook(alertDocument($0)) }
        saveAlerts()
    }

    func clear(_ key: AlertKey) {
        let now = Clock.wallMilliseconds()
        guard alerts.clear(key, now: now) else { return }
        journal.tellOver(key.code, key.subject)
        feed.tell(.alertCleared(at: now, code: key.code, subject: key.subject))
        saveAlerts()
    }

    func noteWatchLimit(_ isLimited: Bool) {
        if isLimited { raise(.watchLimit) } else { clear(AlertKey(code: .watchLimit)) }
    }

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

    func saveAlerts() {
        guard alerts.isChanged else { return }
        host.keep([(key: Opening.Fact.alerts, value: alerts.encoded())]) { [unowned self] in
            if case .failure(let error) = $0 { noteUnsaved(error) }
        }
    }

    /// For the end, when nobody else works with the store any more.
    func saveAlertsAtOnce() {
        guard alerts.isChanged else { return }
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
        let raised = Set(status.alerts.map(\.key))
        for item in alerts.open where !raised.contains(item.key) && !Daemon.shellCodes.contains(item.key.code) {
            clear(item.key)
        }
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
            case .putNode(let node): if !node.peerName.isEmpty { record.peerName = node.peerName }
            case .putRow, .dropRow, .relocate, .appendLog, .dropLog, .putIntent, .dropIntent,
                .putChunks, .putChangeSet, .dropChangeSets:
                break
            }
        }
        if journal.level >= .changes || feed.isFollowed { tellChanges(batch) }
        if imports.note(batch, atMilliseconds: Clock.monotonicMilliseconds()) { waitForImport() }
    }

    /// Until what came can be seen in the folder: asked again soon at first, and the less often the longer it takes.
    private func waitForImport() {
        host.ask(.status) { [unowned self] answer in
            guard case .status(let status) = answer, let begun = imports.running?.sinceMilliseconds else {
                return imports.abandon()
            }
            let now = Clock.monotonicMilliseconds()
            if let done = imports.finish(status, atMilliseconds: now) { return tell(done) }
            let pauses = Daemon.importPauseMilliseconds
            let pause = min(max((now - begun) / 4, pauses.lowerBound), pauses.upperBound)
            importTimer.start(afterMilliseconds: pause) { [unowned self] in waitForImport() }
        }
    }

    private static let importPauseMilliseconds: ClosedRange<UInt64> = 10...1_000

    private func tell(_ done: ImportWatch.Finished) {
        feed.tell(
            .importFinished(
                at: Clock.wallMilliseconds(), from: record.peerName, firstSeq: done.firstSeq, lastSeq: done.lastSeq,
                applied: done.applied, held: done.held, repaired: 0, quarantined: done.quarantined,
                milliseconds: done.milliseconds))
    }
}
