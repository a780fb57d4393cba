import Config
import ControlProtocol
import EventLoop
import Store
import SyncCore
import SyncModel

/// A node whose folder is away when it starts, as when a disk is not mounted yet: it says so to people and to the service
/// manager, touches nothing, and goes on when the folder is back.
final class WaitingRoom {
    private let configuration: Configuration
    private let record: NodeRecord
    private let peer: KnownPeer
    private let contact: LastContact?
    private let totals: StoreTotals
    private let code: MessageCode
    /// Where the folder should be, and what is there instead.
    private let sentence: String
    private let journal: Journal
    private let loop: Loop
    private let timer: Timer
    private let notifier = ServiceNotifier()
    private let startedMilliseconds = Clock.monotonicMilliseconds()
    private var alerts: AlertBook
    private var isBack = false

    private static let pauseMillisecondsMax: UInt64 = 1_000

    /// Each look is a sign of life as well.
    private var pauseMilliseconds: UInt64 {
        guard let interval = notifier?.watchdogMicroseconds else { return WaitingRoom.pauseMillisecondsMax }
        return min(WaitingRoom.pauseMillisecondsMax, max(1, interval / 2_000))
    }

    /// `alerts` are those of the last run.
    init(
        _ configuration: Configuration, record: NodeRecord, peer: KnownPeer, contact: LastContact?,
        totals: StoreTotals, alerts: AlertBook,
        because code: MessageCode, _ sentence: String, journal: Journal
    ) throws(Refusal) {
        self.configuration = configuration
        self.record = record
        self.peer = peer
        self.contact = contact
        self.totals = totals
        self.alerts = alerts
        (self.alerts.own, self.alerts.peer) = (record.id, peer.nodeID)
        self.code = code
        self.sentence = sentence
        self.journal = journal
        do throws(LoopError) { loop = try Loop() } catch { throw Refusal(exit: .storage, text: "\(error)") }
        timer = Timer(loop: loop)
    }

    /// Until `looks` finds the folder again. False if the process is told to stop instead.
    func wait(until looks: @escaping () -> Bool) throws(Refusal) -> Bool {
        let doorman = Doorman()
        let server = try ControlServer.open(
            loop, configuration, rights: { doorman.right(of: $0) }, answer: { [unowned self] in answer($0) })
        var signals: [SignalWatch] = []
        var hook: HookRunner?
        do throws(LoopError) {
            for signal in [System.terminate, System.interrupt] {
                signals.append(
                    try SignalWatch(loop: loop, signal: signal) { [loop, notifier] in
                        notifier?.send("STOPPING=1\nSTATUS=stopping")
                        loop.stop()
                    })
            }
            // A process that does not listen is ended by it; the configuration is read when the folder is back.
            signals.append(
                try SignalWatch(loop: loop, signal: System.hangUp) { [journal, code] in
                    journal.say(code, "the folder is away, so the configuration is read with the next start of syncd")
                })
            hook = try HookRunner(loop: loop, journal: journal)
        } catch {
            throw Refusal(exit: .storage, text: "signals cannot be watched: \(error)")
        }
        tell(hook)
        look(looks)
        loop.run()
        timer.close()
        hook?.close()
        server.close()
        for signal in signals { signal.close() }
        loop.end(telling: journal)
        if isBack { journal.tellOver(code, []) }
        return isBack
    }

    /// The name of the other node is in the store, which waits for the folder.
    private func document(_ item: AlertBook.Item) -> AlertDocument {
        AlertReading.document(item, id: alerts.id(of: item.key), node: Array(configuration.node.name.utf8), peer: [])
    }

    private func tell(_ hook: HookRunner?) {
        let now = Clock.wallMilliseconds()
        let key = AlertKey(code: code, subject: [])
        for other in [MessageCode.rootMissing, .rootReplaced] where other != code {
            _ = alerts.clear(AlertKey(code: other, subject: []), now: now)
        }
        let isNew = alerts.raise(key, since: now, now: now, AlertFacts(detail: sentence)) == .isNew
        if let item = alerts.items[key] {
            journal.tell(document(item))
            if isNew, let command = configuration.alerts.hook { hook?.run(command, with: document(item)) }
        }
        notifier?.send("READY=1\nSTATUS=\(code.rawValue): waiting for the folder")
    }

    private func look(_ looks: @escaping () -> Bool) {
        timer.start(afterMilliseconds: pauseMilliseconds) { [unowned self] in
            notifier?.send("WATCHDOG=1")
            isBack = looks()
            if isBack { loop.stop() } else { look(looks) }
        }
    }

    // MARK: Answers

    private func answer(_ asker: Asker) {
        guard asker.client.right >= .read else { return asker.refuse(ControlError(.controlPermission)) }
        switch asker.call.request {
        case .status(let watches): watches ? asker.item(status) : asker.finish(status)
        case .alerts: asker.finish(AlertsDocument(alerts: alerts.open.map(document)))
        case .alertShow(let id):
            guard let item = alerts.item(id) else { return asker.refuse(ControlError(.requestNotFound)) }
            asker.finish(document(item))
        case .version: asker.finish(Daemon.versionDocument)
        case .locks: asker.finish(LocksDocument(locks: []))
        case .wait(_, let timeout):
            guard let timeout else { return }
            let timer = Timer(loop: loop)
            let (code, sentence) = (code, sentence)
            timer.start(afterMilliseconds: timeout) {
                timer.close()
                asker.refuse(
                    ControlError(.waitTimedOut, text: "the folder is away (\(code.rawValue)): \(sentence)"))
            }
            asker.client.whenOver { timer.close() }
        case .invite, .inviteWait, .join, .unpair, .forgetPeer, .renewKey, .alertAcknowledge, .conflicts,
            .conflictShow, .conflictTake,
            .conflictDiscard, .conflictRestore, .history, .restore, .documentCheck, .documentShow, .explain, .log,
            .logVerify, .events, .lock, .release, .present, .answer, .withdraw, .unlock, .pause, .resume, .rescan,
            .reload, .logLevel, .approve,
            .reject,
            .verify, .doctor, .metrics:
            asker.refuse(RootWords.refusal(code, sentence))
        }
    }

    private var status: StatusDocument {
        StatusDocument(
            node: .init(
                name: record.name, id: record.id, program: Program.version,
                uptimeSeconds: Int((Clock.monotonicMilliseconds() - startedMilliseconds) / 1_000)),
            peer: peer.nodeID.map {
                .init(
                    name: record.peerName, id: $0, isConnected: false, address: configuration.link.peer,
                    program: contact.flatMap { LastContact.text(of: $0.program) },
                    lastContactMilliseconds: contact?.wallMilliseconds)
            },
            folder: .init(
                path: configuration.folder.path, state: .halted, files: totals.files,
                directories: totals.directories, bytes: Int(clamping: totals.bytes), reason: CodeText(code)),
            inSync: false,
            alerts: Daemon.alertCounts(alerts),
            progress: .init(phase: "halted"))
    }
}
