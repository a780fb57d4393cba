import Config
import ControlProtocol
import EventLoop
import Store
import SyncCore
import SyncModel
import Transport

/// What people and programs ask over the control socket, each by its own verb.
extension Daemon {
    func answer(_ asker: Asker) {
        let request = asker.call.request
        guard asker.client.right >= (request.changesSomething ? .change : .read) else {
            let mayAsk = asker.client.right >= .read
            return asker.refuse(mayAsk ? Daemon.mayOnlyAsk : ControlError(.controlPermission))
        }
        switch request {
        case .status(let watches): host.catchUp { [unowned self] in status(watches: watches, asker) }
        case .wait(let condition, let timeout):
            host.catchUp { [unowned self] in wait(for: condition, timeout, asker) }
        case .invite: invite(asker)
        case .inviteWait: waitForJoin(asker)
        case .join(let token): join(token, asker)
        case .unpair: unpair(asker)
        case .forgetPeer: forgetPeer(asker)
        case .renewKey: renewKey(asker)
        case .alerts(let all, let page): asker.finish(alertsDocument(all: all, page))
        case .alertShow(let id): showAlert(id, asker)
        case .alertAcknowledge(let id): acknowledge(id, asker)
        case .conflicts(let all, let page): conflicts(all: all, page, asker)
        case .conflictShow(let id): showConflict(id, asker)
        case .conflictTake(let id, let version): takeConflict(id, version, asker)
        case .conflictDiscard(let id): discardConflict(id, asker)
        case .conflictRestore(let id): restoreConflict(id, asker)
        case .history(let path, let page): history(path, page, asker)
        case .restore(let path, let version, let target): restore(path, version, to: target, asker)
        case .explain(let subject): explain(subject, asker)
        case .log(let count, let follows, let node): log(count, follows: follows, node, asker)
        case .logVerify: verifyLog(asker)
        case .events(let follows): events(follows: follows, asker)
        case .lock(let request): lock(request, asker)
        case .release(let lock, let deeds, let isQuiet): release(lock, deeds, isQuiet: isQuiet, asker)
        case .present(let request): present(request, asker)
        case .answer(let question, let reply): answer(question, reply, asker)
        case .withdraw(let presenter): withdraw(presenter, asker)
        case .unlock(let paths): unlock(paths, asker)
        case .locks: listLocks(asker)
        case .pause: tell(.pause, asker)
        case .resume: tell(.resume, asker)
        case .rescan(let path): rescan(path, asker)
        case .reload:
            switch reload() {
            case .success(let notes): asker.finish(DoneDocument(notes: notes))
            case .failure(let error): asker.refuse(error)
            }
        case .logLevel(let level, let milliseconds): setLevel(level, milliseconds, asker)
        case .approve(let id): decide(.approve, id, asker)
        case .reject(let id): decide(.reject, id, asker)
        case .doctor: doctor(asker)
        case .metrics: metrics(asker)
        case .version: asker.finish(Daemon.versionDocument)
        case .verify(let budget): verify(budget, asker)
        case .documentCheck(let files): checkDocuments(files, asker)
        case .documentShow(let path): showDocument(path, asker)
        }
    }

    // MARK: How things stand

    private func status(watches: Bool, _ asker: Asker) {
        if watches { return watchStatus(asker) }
        board.add { [unowned self] status in
            statusDocument(status) { document in asker.finish(document) }
            return false
        }
    }

    private func watchStatus(_ asker: Asker) {
        var last: StatusDocument?
        var lastMilliseconds: UInt64 = 0
        let listener = board.add { [unowned self] status in
            let now = Clock.monotonicMilliseconds()
            guard last == nil || now >= lastMilliseconds + Daemon.watchPauseMilliseconds else { return true }
            lastMilliseconds = now
            statusDocument(status) { document in
                if last.map({ !$0.shows(the: document) }) ?? true { asker.item(document) }
                last = document
            }
            return true
        }
        asker.client.whenOver { [board] in board.remove(listener) }
    }

    private static let watchPauseMilliseconds: UInt64 = 250

    private func wait(for condition: WaitCondition, _ timeout: UInt64?, _ asker: Asker) {
        let timer = Timer(loop: loop)
        var latest: Status?
        var listener: UInt64?
        var ending: UInt64?
        var isLate = false
        // The first of the three that can end it ends it: what is waited for, the time, the client.
        let end = { [board] in
            listener.map(board.remove)
            ending.map(asker.client.forgetEnding)
            (listener, ending) = (nil, nil)
            timer.close()
        }
        listener = board.add { [unowned self] status in
            latest = status
            guard Daemon.holds(condition, status) else {
                guard isLate else { return true }
                end()
                asker.refuse(ControlError(.waitTimedOut, text: reason(status, condition)))
                return false
            }
            end()
            statusDocument(status) { asker.finish($0) }
            return false
        }
        if let timeout {
            timer.start(afterMilliseconds: timeout) { [unowned self] in
                // Who gives no time is told how things stand, all the same.
                guard let latest else { return isLate = true }
                end()
                asker.refuse(ControlError(.waitTimedOut, text: reason(latest, condition)))
            }
        }
        ending = asker.client.whenOver(end)
    }

    private static func holds(_ condition: WaitCondition, _ status: Status) -> Bool {
        switch condition {
        case .inSync: status.inSync
        case .connected: status.isConnected
        case .initialImport: status.initialImportDone
        }
    }

    /// Why what was waited for has not come, in words.
    private func reason(_ status: Status, _ condition: WaitCondition) -> String {
        if condition != .connected, !status.isConnected { return absence }
        if condition == .connected { return pin == nil ? absence : "the other node has not been reached" }
        if status.state == .paused { return "this node is paused: syncctl resume goes on" }
        if status.peerIsPaused { return "the other node is paused: syncctl resume there goes on" }
        if let held = status.heldDeletes { return "\(held.files) deletions wait for approval: see syncctl status" }
        if status.peerHeldDeletes > 0 {
            return """
                \(status.peerHeldDeletes) deletions wait for approval on the other node: syncctl approve or syncctl reject there
                """
        }
        if let cause = Daemon.haltReason(status) {
            let why = cause == .logForked ? cause.kind.meaning : rootSentence
            return "the node is halted (\(cause.rawValue)): \(why)"
        }
        if let first = status.pending.first {
            let which = "\(first.path.quoted): \(first.reason.rawValue)"
            return status.pendingTotal == 1
                ? "1 path waits: \(which)" : "\(status.pendingTotal) paths wait, the first is \(which)"
        }
        if status.state == .waiting, status.alerts.contains(where: { $0.key.code == .schemaNewer }) {
            return "the two nodes have different models (schema.newer): syncctl alerts tells which"
        }
        if status.peerWaits {
            return """
                this node is through, the other is not: it goes through its folder, or something waits there; syncctl status there \
                tells what
                """
        }
        return "the node is \(status.state): \(status.toSend) changes to send, \(status.toApply) to apply"
    }

    // MARK: Pairing

    private func invite(_ asker: Asker) {
        guard pin == nil else { return asker.refuse(ControlError(.pairingExists)) }
        guard !isForgetting else { return asker.refuse(ControlError(.pairingFailed, text: Daemon.isForgettingText)) }
        let invitation = link.invite()
        let life = max(0, invitation.expiresWallMilliseconds - Clock.wallMilliseconds())
        inviteTimer.start(afterMilliseconds: UInt64(life)) { [unowned self] in settleInvites(.failure(.expired)) }
        asker.finish(
            InviteDocument(token: invitation.token, expiresMilliseconds: invitation.expiresWallMilliseconds))
    }

    private func waitForJoin(_ asker: Asker) {
        let id = asker.client.id
        inviteWaiters[id] = { result in Daemon.answerPairing(result, asker) }
        asker.client.whenOver { [unowned self] in inviteWaiters[id] = nil }
    }

    private func join(_ token: String, _ asker: Asker) {
        guard pin == nil else { return asker.refuse(ControlError(.pairingExists)) }
        guard !isForgetting else { return asker.refuse(ControlError(.pairingFailed, text: Daemon.isForgettingText)) }
        link.join(token, only: peer.known) { [unowned self] result in
            guard case .success(let other) = result else { return Daemon.answerPairing(result, asker) }
            remember(other, hasJoined: true) { Daemon.answerPairing($0, asker) }
        }
    }

    private static func answerPairing(_ result: Result<Paired, PairingError>, _ asker: Asker) {
        switch result {
        case .success(let other): asker.finish(PairedDocument(words: other.words, peer: other.name))
        case .failure(let error): asker.refuse(ControlError(.pairingFailed, text: "\(error)"))
        }
    }

    private func unpair(_ asker: Asker) {
        guard pin != nil else { return asker.refuse(ControlError(.pairingNone)) }
        unpair { result in
            switch result {
            case .success: asker.finish(DoneDocument())
            case .failure(let error):
                asker.refuse(ControlError(.requestRefused, text: "this node is still paired: \(error)"))
            }
        }
    }

    // MARK: Orders

    /// `isQuiet`: only a refusal is answered.
    func tell(_ command: Command, isQuiet: Bool = false, _ asker: Asker) {
        host.ask(command) { answer in
            switch answer {
            case .refused(let code): asker.refuse(Daemon.error(refusing: code))
            case .done, .status, .history, .contests, .records, .explanation, .scan, .claims, .claimRefused:
                if !isQuiet { asker.finish(DoneDocument()) }
            }
        }
    }

    private static let mayOnlyAsk = ControlError(
        .controlPermission,
        text: """
            You may ask this syncd and change nothing: that is for root, for the user it runs as, and for the group \
            syncd-admin. Nothing was changed.
            """,
        cure: "Run the command with sudo, as that user, or as a member of that group.")

    /// What stands for itself where something waits is said in other words to somebody who has asked for something.
    static func error(refusing code: MessageCode) -> ControlError {
        if code == .lockHeld {
            return ControlError(
                code, text: "a program has a lock on this file, or has asked for one; nothing was changed",
                cure: "syncctl locks lists who holds what; ask again when it has been given back")
        }
        if code == .lockRefused {
            return ControlError(
                code, text: "a program that shows this file could not save it or let go of it; nothing was changed")
        }
        if code == .nodeStopped {
            return ControlError(
                code,
                text: """
                    syncd stopped, or its node began anew, before it could say that this was done; no file can be half written \
                    because of it
                    """,
                cure: "Look at syncctl status when it runs again, and repeat the command if it is still to be done.")
        }
        return ControlError(code)
    }

    /// What the core has said is no answer to what it was asked.
    static func error(instead answer: Answer) -> ControlError {
        if case .refused(let code) = answer { return error(refusing: code) }
        return ControlError(.nodeHalted)
    }

    private func rescan(_ argument: PathArgument?, _ asker: Asker) {
        guard let path = argument.map({ path(of: $0) }) ?? .root, !path.isReserved else {
            return asker.refuse(outside([argument].compactMap(\.self)))
        }
        if let absentFolder { return asker.refuse(absentFolder) }
        if path.isRoot { return tell(.rescan(path), asker) }
        host.row(at: path) { [unowned self] row in
            host.look(at: path) { [unowned self] found in
                // What cannot be looked at may be there.
                guard row?.disk == nil, case .absent? = found else { return tell(.rescan(path), asker) }
                asker.refuse(
                    ControlError(
                        .requestNotFound,
                        text: "nothing lies at \(path.quoted), and nothing did when this node last looked",
                        cure: "Check the path; without one the whole folder is looked through."))
            }
        }
    }

    private func decide(_ command: Command, _ id: String?, _ asker: Asker) {
        host.ask(.status) { [unowned self] answer in
            guard case .status(let status) = answer else { return asker.refuse(Daemon.error(instead: answer)) }
            guard let held = status.heldDeletes else {
                let there = status.peerHeldDeletes
                let (text, cure) =
                    there > 0
                    ? (
                        "\(there) deletions wait for a decision on the other node, and none here",
                        "Run the command there."
                    )
                    : ("no deletions wait for a decision", "There is nothing to do.")
                return asker.refuse(ControlError(.requestNotFound, text: text, cure: cure))
            }
            // The number says which burst is meant; who has only seen the alert means what waits now.
            let alert = id.flatMap { alerts.item($0) }.map(\.key.code)
            guard id == nil || id == String(held.id) || alert == .fuseDeletes else {
                return asker.refuse(
                    ControlError(
                        .requestNotFound, text: "the deletions that wait for a decision have the number \(held.id)",
                        cure: "Look at syncctl status before you decide: more may wait by now."))
            }
            tell(command, asker)
        }
    }

    private func setLevel(_ level: Int, _ milliseconds: UInt64?, _ asker: Asker) {
        guard let wanted = Journal.Level(rawValue: level) else { return asker.refuse(ControlError(.requestInvalid)) }
        let usual = usualLevel
        journal.level = wanted
        levelTimer.stop()
        if let milliseconds {
            levelTimer.start(afterMilliseconds: milliseconds) { [journal] in journal.level = usual }
        } else {
            usualLevel = wanted
        }
        asker.finish(DoneDocument())
    }

    // MARK: Events

    private func events(follows: Bool, _ asker: Asker) {
        for line in feed.latest { asker.item(line) }
        guard follows else { return asker.finish(DoneDocument()) }
        let id = asker.client.id
        feed.follow(id) { asker.item($0) }
        asker.client.whenOver { [feed] in feed.unfollow(id) }
    }

    // MARK: Helpers

    /// The path in the folder that a person means; nil if it lies outside, or is too long for one.
    func path(of argument: PathArgument) -> Path? {
        argument.path(in: folderPaths)
    }

    /// Why one of these is no path that a person can mean.
    func outside(_ arguments: [PathArgument]) -> ControlError {
        guard arguments.contains(where: { $0.isTooLong(in: folderPaths) }) else { return ControlError(.requestOutside) }
        return ControlError(
            .requestOutside,
            text: """
                this path is too long: in the folder a name has \(Limits.nameBytesMax) bytes at most, and a path \
                \(Limits.pathBytesMax) bytes and \(Limits.pathDepthMax) names; nothing was looked up or changed
                """,
            cure: "Give a shorter one.")
    }
}

extension ControlRequest {
    /// Needs more than the right to look.
    var changesSomething: Bool {
        switch self {
        case .status, .wait, .alerts, .alertShow, .conflicts, .conflictShow, .history, .documentCheck, .documentShow,
            .explain, .log, .logVerify, .events, .locks, .doctor, .metrics, .version:
            false
        case .invite, .inviteWait, .join, .unpair, .forgetPeer, .renewKey, .alertAcknowledge, .conflictTake,
            .conflictDiscard, .conflictRestore,
            .restore, .lock, .release, .present, .answer, .withdraw, .unlock, .pause, .resume, .rescan, .reload,
            .logLevel, .approve, .reject,
            .verify:
            true
        }
    }
}

extension StatusDocument {
    /// The same but for the time that has passed.
    func shows(the other: StatusDocument) -> Bool {
        var other = other
        other.node.uptimeSeconds = node.uptimeSeconds
        other.peer?.lastContactMilliseconds = peer?.lastContactMilliseconds
        return self == other
    }
}
