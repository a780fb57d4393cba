import Config
import ControlProtocol
import Disk
import EventLoop
import SyncCore
import SyncModel
import Transport

/// Looking after a running node: new settings, findings of `doctor`, figures for machines.
extension Daemon {
    // MARK: Reload

    /// Reads the configuration again and applies what can change live; says, line by line, what was done and what was not.
    /// Of one that cannot be used nothing is applied.
    func reload() -> Result<[String], ControlError> {
        whileReloading {
            do throws(ConfigurationError) {
                return .success(apply(try Configuration.read(path: configurationPath)))
            } catch {
                journal.problem(.configInvalid, "the configuration was not changed: \(error)")
                let problems = error.problems.map(\.description).joined(separator: "\n")
                return .failure(ControlError(.configInvalid, text: "\(problems)\nNothing was changed."))
            }
        }
    }

    private func apply(_ wanted: Configuration) -> [String] {
        let keys = wanted.keysThatDiffer(from: configuration)
        guard !keys.isEmpty else { return ["nothing differs from what is in use"] }
        configuration.safety = wanted.safety
        configuration.alerts = wanted.alerts
        if keys.contains(.rateLimit) {
            configuration.link.rateLimitBytesPerSecond = wanted.link.rateLimitBytesPerSecond
            link.setRateLimit(bytesPerSecond: wanted.link.rateLimitBytesPerSecond)
        }
        host.setReserve(wanted.safety.reserve)
        host.ask(.configure(wanted.safety.settings)) { _ in }
        let notes = keys.map {
            "\($0.rawValue): \(Daemon.liveKeys.contains($0) ? "in use from now on" : "needs a restart of syncd")"
        }
        for note in notes { journal.say(.configReloaded, note) }
        guard keys.contains(.hook), let problem = tellOfHook() else { return notes }
        return notes + ["\(ConfigurationKey.hook.rawValue): it cannot be run: \(problem)"]
    }

    /// A hook that cannot be run keeps nothing from syncing, but the first alert is a bad time to hear of it.
    @discardableResult
    func tellOfHook() -> String? {
        guard let problem = configuration.alerts.hookProblem else { return nil }
        journal.problem(.hookFailed, "the alert hook cannot be run: \(problem)")
        return problem
    }

    /// What takes effect without a restart.
    static let liveKeys: Set<ConfigurationKey> = [
        .rateLimit, .deleteFuseFiles, .deleteFusePercent, .keepVersionsDays, .keepVersionsSize, .reserve, .hook,
    ]

    /// Why nobody is connected.
    var absence: String { pin == nil ? "this node is not paired yet" : "the other node is away" }

    // MARK: Doctor

    func doctor(_ asker: Asker) {
        host.ask(.status) { [unowned self] answer in
            let absent = absentFolder
            var findings = [finding(folderIs: absent), watchFinding, spaceFinding]
            if case .status(let status) = answer {
                let away = pin == nil ? MessageCode.pairingNone : .peerAway
                findings.append(
                    .init(
                        check: "peer", grade: status.isConnected ? .ok : .warning,
                        text: status.isConnected ? "the other node is connected" : absence,
                        cure: status.isConnected ? nil : away.kind.cure))
            }
            if let nameFinding { findings.append(nameFinding) }
            if let problem = configuration.alerts.hookProblem {
                findings.append(
                    .init(
                        check: "hook", grade: .warning, text: "the alert hook cannot be run: \(problem)",
                        cure: MessageCode.hookFailed.kind.cure))
            }
            // What is wrong with the folder as a whole has been told above.
            for item in alerts.open where item.key.code.severity != .info && item.key.code != absent?.code.known {
                let document = alertDocument(item)
                let (text, subject) = (document.text, item.key.subject)
                findings.append(
                    .init(
                        check: item.key.code.rawValue, grade: item.key.code.severity == .serious ? .problem : .warning,
                        text: subject.isEmpty ? text : "\(Path.quote(subject)): \(text)", cure: document.cure))
            }
            asker.finish(DoctorDocument(findings: findings))
        }
    }

    private func finding(folderIs absent: ControlError?) -> DoctorDocument.Finding {
        guard let absent else {
            return .init(check: "folder", grade: .ok, text: "the folder is where it belongs", cure: nil)
        }
        return .init(check: "folder", grade: .problem, text: absent.text, cure: absent.cure)
    }

    /// Nodes of the same name are not paired, but one may be given the name of the other later. Nil if they have two.
    private var nameFinding: DoctorDocument.Finding? {
        guard pin != nil, isOwnName(record.peerName) else { return nil }
        return .init(
            check: "name", grade: .warning,
            text: """
                This node is called \(Path.quote(record.name)) and the other one \(Path.quote(record.peerName)), which is the same \
                where a dot counts as a dash. Files are synced as before, but nobody can tell which of the two wrote a version or a \
                conflict copy.
                """,
            cure: "Give one of them another name (\"name\" in its configuration), and restart it.")
    }

    private var watchFinding: DoctorDocument.Finding {
        let count = host.watchCount
        let watched = count == 1 ? "1 directory is watched" : "\(count) directories are watched"
        guard host.isWatchLimited else { return .init(check: "watch", grade: .ok, text: watched, cure: nil) }
        return .init(
            check: "watch", grade: .warning, text: "\(watched); \(MessageCode.watchLimit.kind.meaning)",
            cure: MessageCode.watchLimit.kind.cure)
    }

    private var spaceFinding: DoctorDocument.Finding {
        guard let space = host.space else {
            return .init(
                check: "space", grade: .warning, text: "the free space of the folder cannot be told", cure: nil)
        }
        let isLow = space.freeBytes < configuration.safety.reserve.bytes(of: space.totalBytes)
        return .init(
            check: "space", grade: isLow ? .problem : .ok,
            text: "\(space.freeBytes >> 20) MiB of \(space.totalBytes >> 20) MiB are free",
            cure: isLow ? MessageCode.diskFull.kind.cure : nil)
    }

    // MARK: Verify

    /// One at a time; a run that its budget ended is gone on with by the next.
    func verify(_ text: String?, _ asker: Asker) {
        if let absentFolder { return asker.refuse(absentFolder) }
        guard verifier == nil else {
            return asker.refuse(ControlError(.requestRefused, text: "the files are being verified already"))
        }
        var budget = VerifyBudget()
        if let text {
            guard let given = VerifyBudget(text) else {
                return asker.refuse(ControlError(.requestInvalid, text: VerifyBudget.refusal(of: text)))
            }
            budget = given
        }
        let running = Verifier(host, loop: loop, from: verifiedThrough, budget) { [unowned self] found, next in
            verifier = nil
            // What went away meanwhile was not looked through.
            if let absentFolder { return asker.refuse(absentFolder) }
            verifiedThrough = next
            asker.finish(
                VerifyDocument(
                    checked: found.checked, bytes: Int(clamping: found.bytes), damaged: found.damaged.count,
                    repaired: found.repaired, milliseconds: Int(clamping: found.milliseconds),
                    isComplete: found.isComplete, young: found.young, unread: found.unread,
                    unreadFirst: found.unreadFirst?.bytes))
        }
        verifier = running
        asker.client.whenOver { [unowned self] in
            running.cancel()
            if verifier === running { verifier = nil }
        }
        running.begin()
    }

    // MARK: Metrics

    func metrics(_ asker: Asker) {
        host.ask(.status) { [unowned self] answer in
            guard case .status(let status) = answer else { return asker.refuse(Daemon.error(instead: answer)) }
            statusDocument(status) { [unowned self] document in
                asker.finish(MetricsDocument(text: Metrics.text(document, traffic)))
            }
        }
    }
}

/// Figures in the text format of Prometheus. Names are stable.
enum Metrics {
    static func text(_ status: StatusDocument, _ traffic: Traffic) -> String {
        var lines: [String] = []
        func gauge(_ name: String, _ help: String, _ value: Int, kind: String = "gauge") {
            lines += ["# HELP syncd_\(name) \(help)", "# TYPE syncd_\(name) \(kind)", "syncd_\(name) \(value)"]
        }
        gauge("in_sync", "1 when both folders are the same.", status.inSync ? 1 : 0)
        gauge("peer_connected", "1 while the other node is connected.", status.peer?.isConnected == true ? 1 : 0)
        gauge("files", "Files in the folder.", status.folder.files)
        gauge("directories", "Directories in the folder.", status.folder.directories)
        gauge("folder_bytes", "Bytes of all files.", status.folder.bytes)
        gauge("to_send", "Changes the other node has not applied.", status.peer?.toSend ?? 0)
        gauge("to_apply", "Paths here that do not show yet what is known.", status.peer?.toApply ?? 0)
        gauge("conflicts", "Open conflicts.", status.conflicts)
        gauge("quarantined", "Files in quarantine.", status.quarantined)
        gauge("held", "A mass deletion that waits for approval, and change sets that no model reads.", status.held)
        gauge("uptime_seconds", "Seconds since the start.", status.node.uptimeSeconds)
        gauge("sent_bytes_total", "Bytes given to the link.", Int(clamping: traffic.bytesSent), kind: "counter")
        gauge(
            "received_bytes_total", "Bytes taken from the link.", Int(clamping: traffic.bytesReceived), kind: "counter")
        let alerts = [
            ("serious", status.alerts.serious), ("warning", status.alerts.warning), ("info", status.alerts.info),
        ]
        lines += ["# HELP syncd_alerts Open alerts by severity.", "# TYPE syncd_alerts gauge"]
        lines += alerts.map { "syncd_alerts{severity=\"\($0.0)\"} \($0.1)" }
        return lines.joined(separator: "\n") + "\n"
    }
}
