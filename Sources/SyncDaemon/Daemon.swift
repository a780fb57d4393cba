import Config
import ControlProtocol
import Coordination
import Disk
import EventLoop
import Store
import SyncCore
import SyncModel
import Transport

/// One node of a pair on a real machine. Joins the core (`NodeHost`) with the link, people and the service manager;
/// everything here runs on the loop thread. By theme: what the node reports (`Daemon+Reports`), the link and pairing
/// (`Daemon+Link`), what people ask (`Daemon+Requests`) and what they are told (`Daemon+Documents`).
final class Daemon {
    let loop: Loop
    let journal: Journal
    let configurationPath: String
    var configuration: Configuration
    let store: Store
    let host: NodeHost
    let link: PeerLink
    let board: StatusBoard
    let feed = EventFeed()
    private let notifier = ServiceNotifier()
    private let doorman = Doorman()
    private var server: ControlServer?
    private var signals: [SignalWatch] = []
    private let hook: HookRunner
    private let stopTimer: Timer
    private let watchdog: Timer
    private let managerTimer: Timer
    let settleTimer: Timer
    let levelTimer: Timer

    var record: NodeRecord
    var keys: NodeKeys
    /// A step of a renewal is being written down.
    var isMakingKey = false
    /// Who waits for the end of a renewal.
    var renewalWaiters: [ClientID: (Result<[UInt8], ControlError>) -> Void] = [:]
    var peer: KnownPeer
    var pin: [UInt8]? { peer.pin }
    var hasJoined: Bool
    /// When this process was paired with the peer.
    var metMilliseconds: UInt64?
    /// Those that this state was about before.
    var formerPeers: [FormerPeer]
    /// As it was last written down: when the peer was heard of. What the link knows is newer.
    var contact: LastContact?
    /// The node is being stopped to forget its peer.
    var isForgetting: Bool { parting != nil }
    private var parting: Parting?
    private var powerWasLost: Bool
    var alerts: AlertBook
    /// They are being written down, and have changed since.
    var isSavingAlerts = false
    var isSaveOfAlertsWanted = false
    var traffic = Traffic()
    var imports: ImportWatch
    let importTimer: Timer
    var verifier: Verifier?
    /// Where the last run that its budget ended stopped.
    var verifiedThrough: Path?
    /// What lies in quarantine, kept up to date with each batch.
    var quarantine = Set<VersionID>()
    var connection = Connection()
    var progress = ProgressTracker()
    /// Who waits for a pairing to be completed.
    var inviteWaiters: [ClientID: (Result<Paired, PairingError>) -> Void] = [:]
    let inviteTimer: Timer
    /// What `--log-level` says, or a person has said without a time.
    var usualLevel: Journal.Level
    let startedMilliseconds = Clock.monotonicMilliseconds()

    /// What happens when the node says that it has stopped.
    enum AfterFinish {
        case endProcess
        /// The same folder with another peer.
        case startAgain
    }
    private var afterFinish = AfterFinish.endProcess
    /// As they were when the process was started: nothing outside of the folder and the state is opened later.
    let models: ModelShelf
    /// How the path of the folder may be written: as it is configured, and without symbolic links, as the system tells it.
    let folderPaths: [[UInt8]]
    /// The number of the last lock that was asked for. It begins with the time, so that no process gives one twice.
    var lastLock = Claim.ID(UInt64(clamping: Clock.wallMilliseconds()) << 16)
    /// Those that are held until `unlock`.
    var standingLocks: Set<Claim.ID> = []
    /// Those that end with a connection.
    var holders: [Claim.ID: Asker] = [:]
    /// Programs that show files, by the number the node knows them by.
    var presenters: [PresenterID: Shown] = [:]
    var lastPresenter = PresenterID(0)
    private(set) var exit = Refusal.Exit.stopped
    /// The process goes on after this with everything opened anew.
    private(set) var isStartingOver = false
    /// Something in state.db could not be read.
    private(set) var hasDamagedState = false
    private var isStopping = false
    private var isReady = false
    private var lastManagerLine = ""

    /// A stop that takes longer is cut short: everything acknowledged is durable anyway.
    private static let stopMillisecondsMax: UInt64 = 4_500

    /// What is known of the connection that is up, if one is.
    struct Connection {
        var life: UInt64?
        var address: String?
    }

    /// Events of the link begin to flow before this object is whole.
    private final class Relay {
        var take: (LinkEvent) -> Void = { _ in }
    }
    private let relay: Relay

    init(
        loop: Loop, journal: Journal, configuration: Configuration, configurationPath: String,
        settings: LinkSettings, opened: Opening.Opened, host: NodeHost
    ) throws(LoopError) {
        self.loop = loop
        self.journal = journal
        self.configuration = configuration
        self.configurationPath = configurationPath
        self.host = host
        let relay = Relay()
        self.relay = relay
        link = try PeerLink(
            loop: loop, identity: opened.keys.present, name: opened.record.name, pin: opened.peer.pin,
            settings: settings, onEvent: { relay.take($0) })
        store = opened.store
        record = opened.record
        keys = opened.keys
        peer = opened.peer
        hasJoined = opened.hasJoined
        formerPeers = opened.formerPeers
        contact = opened.contact
        powerWasLost = opened.powerWasLost
        alerts = AlertBook()
        folderPaths = [configuration.folder.path] + [Item.withoutLinks(configuration.folder.path)].compactMap(\.self)
        models = ModelShelf(directory: configuration.folder.models, last: opened.modelMemory)
        imports = ImportWatch(head: opened.record.importedHead.position)
        board = StatusBoard(loop: loop) { [host] in host.ask(.status, then: $0) }
        hook = try HookRunner(loop: loop, journal: journal)
        stopTimer = Timer(loop: loop)
        importTimer = Timer(loop: loop)
        watchdog = Timer(loop: loop)
        managerTimer = Timer(loop: loop)
        settleTimer = Timer(loop: loop)
        levelTimer = Timer(loop: loop)
        inviteTimer = Timer(loop: loop)
        usualLevel = journal.level
    }

    /// Wires everything together and starts the node.
    func begin(opened: Opening.Opened) throws(Refusal) {
        relay.take = { [unowned self] in take($0) }
        link.onPaired = { [unowned self] in paired($0, settle: $1) }
        link.onNewKey = { [unowned self] in newPeerKey($0, settle: $1) }
        link.onNewKeyAnswered = { [unowned self] in newKeyAnswered($0, isTaken: $1) }
        link.accept(alsoKey: peer.pin == nil ? nil : peer.next)
        link.changeKey(to: keys.present, former: keys.former)
        link.offer(keys.next)
        host.onReport = { [unowned self] in take($0) }
        host.onProgram = { [unowned self] in heed($0) }
        host.onFinish = { [unowned self] in nodeFinished($0) }
        host.onSend = { [unowned self] in link.send(life: $0.raw, frame: $1) }
        host.onFlood = { [unowned self] in holdBack($0) }
        host.onClose = { [unowned self] in close($0, because: $1) }
        host.onStored = { [unowned self] in noteStored($0) }
        host.onStoreFailure = { [unowned self] in tellOfStore($0) }
        host.onFolderFailure = { [unowned self] in
            journal.problem(.diskError, "the folder's own stage: \($0). The node stops.")
        }
        host.onUnsynced = { [unowned self] in
            journal.problem(
                .diskError,
                """
                what was changed in the folder could not be seen to be done and written down. The node stops, because nobody can tell what \
                a power cut would leave; files are safe, and the next start goes on from what is on the disk. If it is the disk, \
                journalctl -k says what is wrong with it.
                """)
        }
        host.onWatchLimit = { [unowned self] in noteWatchLimit($0) }
        host.onReturn = { [unowned self] in startOver() }
        host.setReserve(configuration.safety.reserve)
        loop.onTurn = { [host] in host.turn() }
        try openSocket()
        try listenToSignals()
        loadAlerts()
        tellOfModels()
        tellOfHook()
        rememberModels(opened.modelMemory)
        if let name = opened.setAside { raise(AlertKey(code: .stateDamaged, subject: name)) }
        host.quarantined { [unowned self] in quarantine.formUnion($0) }
        pat()
        startNode()
        journal.say(
            .nodeStarted,
            """
            node "\(Path.escape(record.name))" shares \(Path.quote(configuration.folder.path)); \
            \(pin == nil ? "not paired yet: syncctl invite, then syncctl join on the other node" : "paired")
            """)
    }

    // MARK: The node

    private func startNode() {
        importTimer.stop()
        settleTimer.stop()
        imports = ImportWatch(head: record.importedHead.position)
        var start = record
        start.peer = peer.nodeID
        (alerts.own, alerts.peer) = (record.id, peer.nodeID)
        host.start(
            Start(
                node: start, settings: configuration.safety.settings, limits: Limits(),
                program: Array(Program.version.utf8),
                nonce: Program.nonce(), powerWasLost: powerWasLost, models: models.models, heldFiles: models.heldFiles,
                formats: models.formats, hasJoined: hasJoined,
                features: [
                    Hello.renewsKeys, Hello.heldDeletes, Hello.claimPurposes, Hello.claimWaits, Hello.node(record.id),
                ],
                digest: Program.digest(of:),
                checksum: Program.checksum(of:)))
        powerWasLost = false
        // The greeting on a connection that is up went to the last node.
        if let life = connection.life { link.close(life: life) }
        board.add { [unowned self] status in announce(status) }
    }

    /// A model with a fault is not used: its files stay as they are, and people are told.
    private func tellOfModels() {
        for later in models.later {
            let faults = later.faults.joined(separator: "; ")
            let key = AlertKey(code: .schemaNewer, subject: later.file)
            raise(key, AlertFacts(detail: "This file needs a later syncd to be understood: \(faults)."))
        }
        let refused = models.refusals
        for refusal in refused {
            for fault in refusal.faults { journal.problem(.schemaInvalid, "a model is not used: \(fault)") }
            journal.problem(.schemaInvalid, "\(Path.escape(refusal.file)): \(refusal.consequence)")
            raise(AlertKey(code: .schemaInvalid, subject: refusal.file))
        }
        for item in alerts.open where item.key.code == .schemaInvalid {
            if !refused.contains(where: { $0.file == item.key.subject }) { clear(item.key) }
        }
    }

    /// Before anything is done by them: the next process may find one of them broken.
    private func rememberModels(_ last: ModelMemory) {
        guard models.memory != last else { return }
        do throws(StoreError) {
            try store.setValue(Opening.Fact.models, models.memory.encoded)
        } catch {
            journal.problem(.diskError, "what the models are about cannot be written down: \(error)")
        }
    }

    /// Ends the node and starts it anew, as after pairing with another.
    func restartNode() {
        guard !isStopping else { return }
        afterFinish = .startAgain
        host.post(.stopRequested)
    }

    /// Ends the node, has its state forget the peer, and starts it anew.
    func restartNode(forgetting parting: Parting) {
        guard !isStopping else { return }
        self.parting = parting
        restartNode()
    }

    private func nodeFinished(_ reason: FinishReason) {
        if reason == .stopped, afterFinish == .startAgain, !isStopping {
            afterFinish = .endProcess
            return host.whenQuiet { [unowned self] in
                guard let parting else { return reopenNode() }
                forget(parting) { [unowned self] in
                    self.parting = nil
                    reopenNode()
                }
            }
        }
        if reason != .stopped { exit = .storage }
        end()
    }

    private func reopenNode() {
        forgetPrograms()
        do throws(StoreError) {
            // A node that has just been paired has its peer's name from the pairing only.
            let peerName = record.peerName
            if let stored = try store.node() { record = stored }
            if record.peerName.isEmpty { record.peerName = peerName }
        } catch {
            tellOfStore(error)
            exit = .storage
            return end()
        }
        startNode()
    }

    private func tellOfStore(_ error: StoreError) {
        journal.problem(.diskError, "state.db: \(error). The node stops; files are safe.")
        if case .damaged = error, !isStopping { hasDamagedState = true }
    }

    // MARK: The end

    func requestStop() {
        (isStartingOver, hasDamagedState) = (false, false)
        guard !isStopping else { return }
        notifier?.send("STOPPING=1\nSTATUS=stopping")
        journal.say(.nodeStopped, "stopping")
        stop()
    }

    private func startOver() {
        guard !isStopping else { return }
        journal.say(.rootMissing, "the folder is back on another device; the node starts over")
        isStartingOver = true
        stop()
    }

    private func stop() {
        isStopping = true
        guard host.isAlive else { return end() }
        noteContact()
        host.post(.stopRequested)
        stopTimer.start(afterMilliseconds: Daemon.stopMillisecondsMax) { [unowned self] in
            journal.say(
                .nodeStopped,
                "the stop took too long and is cut short; what is unfinished is finished after the next start")
            end()
        }
    }

    private func end() {
        loop.stop()
    }

    func runHook(_ alert: AlertDocument) {
        guard let command = configuration.alerts.hook else { return }
        hook.run(command, with: alert)
    }

    func close() {
        server?.close()
        verifier?.cancel()
        board.close()
        hook.close()
        link.shutDown()
        host.close()
        saveAlertsAtOnce()
        saveContactAtOnce()
        store.close()
        journal.say(.nodeStopped, "stopped")
    }

    // MARK: Doors

    private func openSocket() throws(Refusal) {
        server = try ControlServer.open(
            loop, configuration, rights: { [doorman] in doorman.right(of: $0) },
            answer: { [unowned self] in answer($0) })
    }

    private func listenToSignals() throws(Refusal) {
        do throws(LoopError) {
            for signal in [System.terminate, System.interrupt] {
                signals.append(try SignalWatch(loop: loop, signal: signal) { [unowned self] in requestStop() })
            }
            signals.append(
                try SignalWatch(loop: loop, signal: System.hangUp) { [unowned self] in _ = reload() })
        } catch {
            throw Refusal(exit: .storage, text: "signals cannot be watched: \(error)")
        }
    }

    // MARK: The service manager

    /// Ready when the rows are known and the folder is watched.
    private func announce(_ status: Status) -> Bool {
        tellManager(Daemon.line(of: status))
        guard status.state != .starting else { return true }
        if !isReady {
            isReady = true
            notifier?.send("READY=1")
            journal.say(.nodeStarted, "ready")
        }
        // What a scan will find may be what an alert of the last run is about.
        guard status.state != .scanning else { return true }
        settleAlerts(status)
        tellManagerAgain()
        return false
    }

    /// Now and then, as long as the node runs.
    private func tellManagerAgain() {
        guard notifier != nil else { return }
        board.add { [unowned self] status in
            tellManager(Daemon.line(of: status))
            return false
        }
        managerTimer.start(afterMilliseconds: Daemon.managerPauseMilliseconds) { [unowned self] in tellManagerAgain() }
    }

    private static let managerPauseMilliseconds: UInt64 = 10_000

    /// The line of `systemctl status`.
    private func tellManager(_ line: String) {
        guard line != lastManagerLine, !isStopping else { return }
        lastManagerLine = line
        notifier?.send("STATUS=\(line)")
    }

    private static func line(of status: Status) -> String {
        let link = status.isConnected ? "connected" : "the other node is away"
        let work: String
        switch status.state {
        case .starting: return "starting"
        case .halted: return "halted: syncctl alerts says why"
        case .scanning: work = "looking through the folder"
        case .paused: work = "paused"
        case .syncing, .inSync, .waiting:
            work = status.inSync ? "in sync" : "\(status.toApply) to apply, \(status.toSend) to send"
        }
        return "\(status.files) files, \(work), \(link)"
    }

    /// The service manager is told when a reload begins and when it is over.
    func whileReloading<Result>(_ body: () -> Result) -> Result {
        guard isReady else { return body() }
        notifier?.sendReloading()
        defer { notifier?.send("READY=1") }
        return body()
    }

    private func pat() {
        guard let interval = notifier?.watchdogMicroseconds else { return }
        notifier?.send("WATCHDOG=1")
        watchdog.start(afterMilliseconds: max(1, interval / 2_000)) { [unowned self] in pat() }
    }
}
