import ControlProtocol
import EventLoop
import SyncCore
import SyncModel

/// `lock`, `unlock` and `locks`: programs that hold files still. A lock with a command ends with its connection, so it ends
/// however the command does; one without is held until `unlock`.
extension Daemon {
    func lock(_ request: LockRequest, _ asker: Asker) {
        let paths = request.paths.compactMap { path(of: $0) }
        guard paths.count == request.paths.count else { return asker.refuse(ControlError(.requestOutside)) }
        guard paths.count <= Limits.claimedPathsMax,
            paths.reduce(0, { $0 + $1.bytes.count }) <= Limits.claimedBytesMax
        else {
            let text =
                "a lock has \(Limits.claimedPathsMax) paths at most, of \(Limits.claimedBytesMax >> 10) KiB together"
            return asker.refuse(ControlError(.requestRefused, text: text))
        }
        lastLock += 1
        let id = lastLock
        let claim = Claim(
            id: id, paths: paths, isRead: request.isRead, mode: Daemon.mode(request.mode),
            holder: Array(Array(request.holder.utf8).prefix(Limits.holderBytesMax)),
            process: UInt32(clamping: request.process))
        let ending = asker.client.whenOver { [host] in host.ask(.endClaims([id])) { _ in } }
        host.ask(.claim(claim, timeoutMilliseconds: request.timeoutMilliseconds)) { [unowned self] answer in
            switch answer {
            case .claims(let claims):
                if request.outlivesConnection {
                    asker.client.forgetEnding(ending)
                    standingLocks.insert(id)
                } else {
                    asker.client.endingsOfLocks[id] = ending
                }
                guard let claim = claims.first else { return asker.refuse(ControlError(.requestRefused)) }
                asker.finish(document(of: claim))
            case .refused(.waitTimedOut):
                asker.client.forgetEnding(ending)
                let text = "somebody else holds one of these paths: see syncctl locks"
                asker.refuse(ControlError(.waitTimedOut, text: text))
            case .refused(let code):
                asker.client.forgetEnding(ending)
                asker.refuse(ControlError(code))
            case .done, .status, .history, .contests, .records, .explanation:
                asker.refuse(ControlError(.requestRefused))
            }
        }
    }

    /// A program that holds many locks over one connection gives them back one by one. Nobody else's is touched.
    func release(_ lock: String, _ asker: Asker) {
        guard let id = lock.hasPrefix("l") ? UInt64(lock.dropFirst()) : nil,
            let ending = asker.client.endingsOfLocks.removeValue(forKey: id)
        else {
            return asker.refuse(ControlError(.requestNotFound, text: "this connection holds no lock \(lock)"))
        }
        asker.client.forgetEnding(ending)
        tell(.endClaims([id]), asker)
    }

    /// Locks without a command: all of them, or those on these very paths.
    func unlock(_ arguments: [PathArgument], _ asker: Asker) {
        let paths = arguments.compactMap { path(of: $0) }
        guard paths.count == arguments.count else { return asker.refuse(ControlError(.requestOutside)) }
        claims { [unowned self] claims in
            let mine = claims.filter { claim in
                standingLocks.contains(claim.id) && claim.node == .own
                    && (paths.isEmpty || claim.paths.contains { paths.contains($0) })
            }
            guard !mine.isEmpty || paths.isEmpty else {
                let text = "none of these paths is locked by syncctl lock without a command"
                return asker.refuse(ControlError(.requestNotFound, text: text))
            }
            for claim in mine { standingLocks.remove(claim.id) }
            tell(.endClaims(mine.map(\.id)), asker)
        }
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
            process: claim.node == .own ? Int(claim.process) : nil,
            node: claim.node == .own ? record.name : record.peerName, sinceMilliseconds: claim.sinceMilliseconds)
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
