import Compression
import Config
import ControlProtocol
import Crypto
import Disk
import EventLoop
import RecordMerge
import Store
import SyncCore
import SyncModel
import Transport

/// What people and programs are told: the documents of the contract, made of what core, store and shell know.
extension Daemon {
    // MARK: Status

    /// The core's word, completed by what only the store can count.
    func statusDocument(_ status: Status, then: @escaping (StatusDocument) -> Void) {
        host.tally { [unowned self] tally in then(statusDocument(status, tally)) }
    }

    private func statusDocument(_ status: Status, _ tally: NodeHost.Tally) -> StatusDocument {
        let now = Clock.monotonicMilliseconds()
        return StatusDocument(
            node: .init(
                name: record.name, id: record.id, program: Program.version,
                uptimeSeconds: Int((now - startedMilliseconds) / 1_000),
                key: KeyFingerprint.text(of: keys.present.fingerprint),
                nextKey: keys.next.map { KeyFingerprint.text(of: $0.fingerprint) },
                formerKey: keys.former.map { KeyFingerprint.text(of: $0.fingerprint) }),
            peer: peerDocument(status),
            folder: .init(
                path: configuration.folder.path, state: Daemon.state(status.state), files: status.files,
                directories: status.directories, bytes: Int(clamping: tally.bytes),
                reason: standstill(status).map { CodeText($0) }),
            inSync: status.inSync,
            pending: status.pending.map {
                .init(path: $0.path.bytes, reason: CodeText($0.reason), sinceMilliseconds: $0.sinceMilliseconds)
            },
            pendingTotal: status.pendingTotal,
            alerts: Daemon.alertCounts(alerts),
            conflicts: tally.conflicts + status.contests, quarantined: quarantine.count + status.quarantinedRecords,
            held: status.heldSets + (status.heldDeletes == nil ? 0 : 1),
            locks: status.locks,
            progress: progress.take(status, bytesPerSecond: traffic.bytesPerSecond(at: now)),
            heldDeletes: status.heldDeletes.map {
                .init(id: String($0.id), files: $0.files, sinceMilliseconds: $0.sinceMilliseconds)
            },
            leftOut: status.leftOut.map { .init(path: $0.bytes, reason: CodeText(.pathSpecial)) })
    }

    private func peerDocument(_ status: Status) -> StatusDocument.Peer? {
        guard let pin, let id = peer.nodeID else { return nil }
        return .init(
            name: status.peerName, id: id, isConnected: status.isConnected, isPaused: status.peerIsPaused,
            heldDeletes: status.peerHeldDeletes, waits: status.peerWaits,
            address: connection.address ?? configuration.link.peer,
            program: peerProgram(status),
            toSend: Int(clamping: status.toSend), toApply: status.toApply,
            lastContactMilliseconds: lastContactMilliseconds, key: KeyFingerprint.text(of: pin),
            nextKey: peer.next.map { KeyFingerprint.text(of: $0) })
    }

    /// Why this node as a whole syncs nothing; nil if it does, or a person has paused it.
    private func standstill(_ status: Status) -> MessageCode? {
        Daemon.haltReason(status) ?? (pin == nil ? .pairingNone : nil)
    }

    /// Why it is halted. While it is, this is raised.
    static func haltReason(_ status: Status) -> MessageCode? {
        guard status.state == .halted else { return nil }
        let raised = status.alerts.map(\.key.code)
        return [MessageCode.rootMissing, .rootReplaced, .logForked].first { raised.contains($0) }
    }

    private static func state(_ state: Status.FolderState) -> StatusDocument.FolderState {
        switch state {
        case .starting: .starting
        case .scanning: .scanning
        case .syncing: .syncing
        case .inSync: .inSync
        case .waiting: .waiting
        case .paused: .paused
        case .halted: .halted
        }
    }

    // MARK: Alerts

    func alertsDocument(all: Bool, _ page: Page) -> AlertsDocument {
        let items = all ? alerts.items.map(\.value) : alerts.open
        let sorted = items.sorted {
            ($0.key.code.severity, $0.lastMilliseconds) > ($1.key.code.severity, $1.lastMilliseconds)
        }
        let (shown, next) = Daemon.cut(sorted, page) { alerts.id(of: $0.key) }
        return AlertsDocument(alerts: shown.map(alertDocument), next: next)
    }

    /// What is open and nobody has said that he has seen it.
    static func alertCounts(_ book: AlertBook) -> StatusDocument.AlertCounts {
        let open = book.open.filter { !$0.isAcknowledged }
        let count = { (severity: Severity) in open.count { $0.key.code.severity == severity } }
        return .init(serious: count(.serious), warning: count(.warning), info: count(.info))
    }

    func alertDocument(_ item: AlertBook.Item) -> AlertDocument {
        var document = AlertReading.document(
            item, id: alerts.id(of: item.key), node: record.name, peer: record.peerName)
        if item.key.code == .schemaInvalid, let refusal = models.refusals.first(where: { $0.file == item.key.subject })
        {
            document.text = refusal.text
        }
        if isOfFullDisk(item), let space = host.space {
            let reserve = configuration.safety.reserve.bytes(of: space.totalBytes)
            let (free, kept) = (Daemon.size(space.freeBytes), Daemon.size(reserve))
            document.text += " \(free) are free where the folder lies, and \(kept) of it are kept in reserve."
        }
        return document
    }

    /// How full a disk is only the shell can tell: as it is when somebody asks. While a file was coming it was fuller.
    private func isOfFullDisk(_ item: AlertBook.Item) -> Bool {
        item.key.code == .diskFull && item.clearedMilliseconds == nil
    }

    func showAlert(_ id: String, _ asker: Asker) {
        guard let item = alerts.item(id) else { return asker.refuse(Daemon.noAlert(id)) }
        guard isOfFullDisk(item) else { return asker.finish(alertDocument(item)) }
        host.ask(.status) { [unowned self] answer in
            let pending = if case .status(let status) = answer { status.pending } else { [Status.Pending]() }
            host.room(neededAt: pending.filter { $0.reason == .diskFull }.map(\.path)) { [unowned self] room in
                var document = alertDocument(item)
                if room.files > 0 {
                    let files = room.files == 1 ? "1 path waits" : "\(room.files) paths wait"
                    document.text += " \(files) for room, \(Daemon.size(room.neededBytes)) in all."
                }
                document.text += " Earlier versions take \(Daemon.size(room.keptBytes))."
                asker.finish(document)
            }
        }
    }

    private static func size(_ bytes: UInt64) -> String {
        bytes < 10 << 20 ? "\(bytes >> 10) KiB" : "\(bytes >> 20) MiB"
    }

    func acknowledge(_ id: String, _ asker: Asker) {
        guard alerts.acknowledge(id), let item = alerts.item(id) else {
            return asker.refuse(Daemon.noAlert(id))
        }
        saveAlerts()
        asker.finish(alertDocument(item))
    }

    private static func noAlert(_ id: String) -> ControlError {
        ControlError(.requestNotFound, text: "there is no alert \(Path.escape(Array(id.utf8))) that is open")
    }

    // MARK: Why a path is as it is

    func explain(_ subject: PathArgument, _ asker: Asker) {
        let typed = String(decoding: subject.typed, as: UTF8.self)
        if let item = alerts.item(typed) {
            return asker.finish(AlertReading.explanation(alertDocument(item), item.key.code))
        }
        if let id = recordID(subject.typed) { return explain(id, asker) }
        guard let path = path(of: subject) else { return asker.refuse(outside([subject])) }
        guard Daemon.isContest(typed) else { return explain(path, typed, asker) }
        contests(all: false) { [unowned self] contests in
            let contest = contests.first { Daemon.contestID(of: $0.group) == typed }
            if let contest { explain(contest.group, asker) } else { explain(path, typed, asker) }
        }
    }

    /// Where the ID of a conflict was typed, it is about the copy.
    private func explain(_ path: Path, _ typed: String, _ asker: Asker) {
        host.conflicts(all: false) { [unowned self] conflicts in
            let path = conflicts.first { ConflictReading.id(of: $0.copy) == typed }?.copy ?? path
            let copies = conflicts.filter { $0.original?.path == path }.map(\.copy)
            host.row(at: path) { [unowned self] row in
                let original = conflicts.first { $0.copy == path }.map(\.original) ?? row
                host.look(at: path) { [unowned self] found in explain(path, row, original, copies, found, asker) }
            }
        }
    }

    private func explain(
        _ path: Path, _ row: Row?, _ original: Row?, _ copies: [Path], _ found: Inspection.Result?, _ asker: Asker
    ) {
        let isDirectory = if case .found(let stat)? = found { stat.kind == .directory } else { false }
        let reading = PathReading(
            path: path, row: row, original: original, copies: copies, hasLostByFormat: host.hasLostByFormat(path),
            found: found,
            rule: host.ruleLeavingOut(path, isDirectory: isDirectory), format: models.formats.reader(of: path),
            peerFormats: record.peerFormats,
            alerts: alerts.open.filter { $0.key.subject == path.bytes }.map { ($0.key.code, alertDocument($0)) },
            node: record.name, peer: record.peerName)
        guard let document = reading.document(code: row.flatMap { host.reasonNotInSync($0) }) else {
            let text =
                "\(path.quoted) is no message code and no alert, nothing lies there in the folder, and this node has "
                + "never seen anything there"
            return asker.refuse(ControlError(.requestNotFound, text: text))
        }
        asker.finish(document)
    }

    // MARK: The program

    static var versionDocument: VersionDocument {
        VersionDocument(
            program: Program.version, wire: Int(Hello.protocolMin)...Int(Hello.protocolMax),
            libraries: [
                .init(name: "libuv", version: Loop.libraryVersion, floor: "1.44"),
                .init(name: "SQLite", version: Store.libraryVersion, floor: "3.40"),
                .init(name: "OpenSSL", version: OpenSSL.libraryVersion, floor: "3.0"),
                .init(name: "zstd", version: Zstd.libraryVersion, floor: "1.5"),
            ])
    }

    /// The part of a list that a page asks for, and where the next one begins.
    static func cut<Item>(_ items: [Item], _ page: Page, id: (Item) -> String) -> ([Item], String?) {
        var rest = items[...]
        if let after = page.after, let index = rest.firstIndex(where: { id($0) == after }) {
            rest = rest[(index + 1)...]
        }
        let limit = min(page.limit ?? pageMax, pageMax)
        let shown = Array(rest.prefix(limit))
        return (shown, shown.count < rest.count ? shown.last.map(id) : nil)
    }

    /// A page of so many documents fits one line of the control protocol.
    private static let pageMax = 2_000
}
