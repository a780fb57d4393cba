import ControlProtocol
import Coordination
import EventLoop
import SyncCore
import SyncModel

/// `lock`, `unlock` and `locks`: programs that hold files still. A lock with a command ends with its connection, so it ends
/// however the command does; one without is held until `unlock`.
extension Daemon {
    func lock(_ request: LockRequest, _ asker: Asker) {
        let paths = request.items.compactMap { path(of: $0.path) }.filter { !$0.isReserved }
        guard paths.count == request.items.count else { return asker.refuse(outside(request.items.map(\.path))) }
        guard paths.count <= Limits.claimedPathsMax,
            paths.reduce(0, { $0 + $1.bytes.count }) <= Limits.claimedBytesMax
        else {
            let text =
                "a lock has \(Limits.claimedPathsMax) paths at most, of \(Limits.claimedBytesMax >> 10) KiB together"
            return asker.refuse(ControlError(.requestRefused, text: text))
        }
        guard Daemon.isPurpose(request.purpose) else { return asker.refuse(Daemon.noPurpose) }
        // Who says what he is going to do has looked for packages himself.
        if request.items.contains(where: { $0.access == nil }) {
            packages(around: paths) { [unowned self] paths in if asker.client.isOpen { lock(request, paths, asker) } }
        } else {
            lock(request, paths, asker)
        }
    }

    private func lock(_ request: LockRequest, _ paths: [Path], _ asker: Asker) {
        lastLock = lastLock.next
        let id = lastLock
        let claim = Claim(
            id: id, client: request.outlivesConnection ? 0 : asker.client.id,
            accesses: zip(paths, request.items).flatMap { Daemon.accesses(to: $0, $1, isRead: request.isRead) },
            purpose: request.purpose, mode: Daemon.mode(request.mode), holdMilliseconds: request.holdMilliseconds,
            holder: Array(Array(request.holder.utf8).prefix(Limits.holderBytesMax)),
            process: UInt32(clamping: request.process))
        let ending = asker.client.whenOver { [unowned self] in
            holders[id] = nil
            afterSaves { [host] in host.ask(.endClaims([id], [])) { _ in } }
        }
        host.ask(.claim(claim, timeoutMilliseconds: request.timeoutMilliseconds)) { [unowned self] answer in
            switch answer {
            case .claims(let claims):
                if request.outlivesConnection {
                    asker.client.forgetEnding(ending)
                    standingLocks.insert(id)
                } else {
                    asker.client.endingsOfLocks[id] = ending
                    holders[id] = asker
                }
                guard let claim = claims.first else { return asker.refuse(ControlError(.requestRefused)) }
                asker.finish(document(of: claim))
            case .claimRefused(let reason):
                asker.client.forgetEnding(ending)
                refuse(claim, reason, asker)
            case .refused(let code):
                asker.client.forgetEnding(ending)
                asker.refuse(Daemon.error(refusing: code))
            case .done, .status, .history, .contests, .records, .explanation, .scan:
                asker.refuse(ControlError(.requestRefused))
            }
        }
    }

    /// Whoever waited in vain hears which process is in the way, if it is one of this node, and what is known of one of the other.
    private func refuse(_ claim: Claim, _ reason: ClaimRefusal, _ asker: Asker) {
        guard case .timedOut(let client?, _, _) = reason, client != 0 else {
            return asker.refuse(Daemon.error(of: reason, isPeerAway: connection.life == nil))
        }
        claims { [unowned self] claims in
            let own = claims.first { $0.client == client && $0.node == .own && $0.isHeld }
            let theirs = own == nil ? claims.first { $0.node == .peer && $0.isHeld && $0.meets(claim) } : nil
            let there = theirs.map { "\"\(Path.escape($0.holder))\" on \(Path.escape(record.peerName))" }
            asker.refuse(Daemon.error(of: reason, process: own.map { Int($0.process) }, there: there))
        }
    }

    /// `there`: the program of the other node that is in the way.
    static func error(
        of reason: ClaimRefusal, process: Int? = nil, there: String? = nil, isPeerAway: Bool = false
    ) -> ControlError {
        switch reason {
        case .timedOut(let client, let purpose, let held):
            let who = [purpose.map { "\"\($0)\"" }, process.map { "process \($0)" }, there].compactMap(\.self)
            let text =
                if !who.isEmpty {
                    "somebody else holds one of these paths: \(who.joined(separator: ", ")) has held it for \(held / 1_000) s"
                } else if client == 0 {
                    "one of these paths is locked until syncctl unlock, for \(held / 1_000) s by now"
                } else if isPeerAway, client == nil {
                    "the other node has a say in who gets these paths, and cannot be asked while it is away"
                } else {
                    "a program of the other node holds one of these paths, one here that shows it has not answered, or the "
                        + "nodes have only just met and do not know yet who holds what"
                }
            var error = ControlError(
                .waitTimedOut, text: text,
                cure: "Wait longer with --timeout; syncctl locks lists who holds what. Ask it on both nodes.")
            error.holder = LockHolder(process: process, purpose: purpose, heldMilliseconds: held)
            return error
        case .wouldDeadlock(let circle):
            let names = circle.joined(separator: " waits for ")
            return ControlError(.lockCircle, text: "granting this would never end: \(names), which waits for the first")
        case .presenterFailed(let reason):
            return ControlError(.lockRefused, text: "a program that shows the file does not let go of it: \(reason)")
        case .withdrawn: return ControlError(.requestRefused, text: "the lock is no longer wanted")
        case .tooMany: return ControlError(.requestRefused, text: "too many programs wait for locks")
        }
    }

    /// A program that holds many locks over one connection gives them back one by one. Nobody else's is touched.
    func release(_ lock: String, _ done: [DoneDeed], isQuiet: Bool, _ asker: Asker) {
        guard let id = lock.hasPrefix("l") ? UInt64(lock.dropFirst()).map(Claim.ID.init) : nil,
            let ending = asker.client.endingsOfLocks.removeValue(forKey: id)
        else {
            return asker.refuse(ControlError(.requestNotFound, text: "this connection holds no lock \(lock)"))
        }
        asker.client.forgetEnding(ending)
        holders[id] = nil
        afterSaves { [unowned self] in tell(.endClaims([id], done.compactMap(deed)), isQuiet: isQuiet, asker) }
    }

    /// What was saved of records under a lock is one save, so the core has to be told of all of it before the lock ends.
    private func afterSaves(_ body: @escaping () -> Void) {
        if models.models.isEmpty { body() } else { host.catchUp(then: body) }
    }

    /// What was done outside of the folder is nobody's business here.
    private func deed(_ done: DoneDeed) -> Deed? {
        switch done {
        case .changed(let argument): path(of: argument).map { .changed($0) }
        case .deleted(let argument): path(of: argument).map { .deleted($0) }
        case .moved(let argument, let target):
            path(of: argument).map { from in path(of: target).map { .moved(from, to: $0) } ?? .deleted(from) }
        }
    }

    /// Held for longer than was agreed, while somebody waits.
    func revoke(_ id: Claim.ID) {
        guard let asker = holders.removeValue(forKey: id) else { return }
        if let ending = asker.client.endingsOfLocks.removeValue(forKey: id) { asker.client.forgetEnding(ending) }
        asker.item(RevokedDocument(lock: "l\(id)"))
    }

    /// Locks without a command: all of them, or those on these very paths.
    func unlock(_ arguments: [PathArgument], _ asker: Asker) {
        let paths = arguments.compactMap { path(of: $0) }
        guard paths.count == arguments.count else { return asker.refuse(outside(arguments)) }
        packages(around: paths) { [unowned self] packages in
            claims { [unowned self] claims in
                let mine = claims.filter { claim in
                    standingLocks.contains(claim.id) && claim.node == .own
                        && (paths.isEmpty || claim.paths.contains { paths.contains($0) || packages.contains($0) })
                }
                guard !mine.isEmpty || paths.isEmpty else {
                    return asker.refuse(
                        ControlError(
                            .requestNotFound, text: "none of these paths is locked by syncctl lock without a command",
                            cure: "syncctl locks lists who holds what; a lock with a command ends with that."))
                }
                for claim in mine { standingLocks.remove(claim.id) }
                afterSaves { [unowned self] in tell(.endClaims(mine.map(\.id), []), asker) }
            }
        }
    }

    private func packages(around paths: [Path], then: @escaping ([Path]) -> Void) {
        if paths.allSatisfy(\.parents.isEmpty) { then(paths) } else { host.packages(around: paths, then: then) }
    }

    func listLocks(_ asker: Asker) {
        claims { [unowned self] claims in
            asker.finish(LocksDocument(locks: claims.filter(\.isHeld).map(document)))
        }
    }

    private func claims(then: @escaping ([Claim]) -> Void) {
        host.ask(.listClaims) { answer in
            if case .claims(let claims) = answer { then(claims) } else { then([]) }
        }
    }

    private func document(of claim: Claim) -> LockDocument {
        LockDocument(
            id: "l\(claim.id)", paths: claim.paths.map(\.bytes), isRead: claim.isRead, mode: Daemon.mode(claim.mode),
            holder: String(decoding: claim.holder, as: UTF8.self),
            process: claim.node == .own && claim.process > 0 ? Int(claim.process) : nil,
            node: claim.node == .own ? record.name : record.peerName, sinceMilliseconds: claim.sinceMilliseconds,
            fence: claim.node == .own ? claim.fence : nil)
    }

    // MARK: Words

    /// Nobody may call himself what the node calls itself, or give names that nobody can read.
    static func isPurpose(_ purpose: String?) -> Bool {
        guard let purpose else { return true }
        return purpose != Claim.nodePurpose && !purpose.isEmpty && purpose.utf8.count <= Limits.holderBytesMax
            && !purpose.utf8.contains { $0 < 0x20 || $0 == 0x7F }
    }

    static let noPurpose = ControlError(
        .requestRefused,
        text: """
            a purpose is a name of 1 to \(Limits.holderBytesMax) bytes without control characters, other than \
            "\(Claim.nodePurpose)"
            """)

    private static func accesses(to path: Path, _ item: LockRequest.Item, isRead: Bool) -> [Access] {
        guard let access = item.access else { return [Access](holding: [path], isRead: isRead) }
        let kind: Access.Kind =
            switch access {
            case .read: .read(savesFirst: true)
            case .readAsIs: .read(savesFirst: false)
            case .update: .write(.update)
            case .deleting: .write(.deleting)
            case .moving: .write(.moving)
            case .replacing: .write(.replacing)
            case .merging: .write(.merging)
            case .metadata: .write(.metadata)
            }
        return [Access(path, kind, coversContents: item.coversContents)]
    }

    private static func mode(_ mode: LockRequest.Mode) -> Claim.Mode {
        switch mode {
        case .local: .local
        case .pair: .pair
        case .strict: .strict
        }
    }

    private static func mode(_ mode: Claim.Mode) -> LockRequest.Mode {
        switch mode {
        case .local: .local
        case .pair: .pair
        case .strict: .strict
        }
    }
}

extension Claim {
    /// They are about the same, or one is about what the other is within.
    fileprivate func meets(_ other: Claim) -> Bool {
        paths.contains { mine in other.paths.contains(where: mine.meets) }
    }
}
