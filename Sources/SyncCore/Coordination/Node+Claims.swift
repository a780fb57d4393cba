import SyncModel

/// Programs that hold files still (`syncctl lock`): what they ask, what the arbiter says, and what waits meanwhile.
extension Node {
    private var isArbiter: Bool { reconciler.precedence.ownKeyIsSmaller }

    // MARK: Programs of this node

    mutating func claim(_ claim: Claim, timeoutMilliseconds: UInt64?, _ id: CommandID, into effects: inout Effects) {
        guard claims.entries.count < ClaimQueue.entriesMax else {
            return effects.add(.answer(id, .refused(.requestRefused)))
        }
        var waiting = claim
        waiting.sinceMilliseconds = now.wallMilliseconds
        let asks = claim.mode != .local && record.peer != nil && !isArbiter
        claims.entries.append(
            ClaimQueue.Entry(
                claim: waiting, command: id, deadline: timeoutMilliseconds.map { now.monotonicMilliseconds + $0 },
                arbiter: asks ? .toAsk : .notNeeded))
    }

    /// Granted or not: whoever asked is gone, or is done.
    mutating func endClaims(_ ids: [UInt64], into effects: inout Effects) {
        for id in ids {
            guard let index = claims.entries.firstIndex(where: { $0.claim.id == id && $0.claim.node == .own }) else {
                continue
            }
            refuse(index, .requestRefused, into: &effects)
        }
    }

    private mutating func drop(at index: Int, into effects: inout Effects) {
        let entry = claims.entries.remove(at: index)
        switch entry.arbiter {
        case .asked, .waits, .granted: if session.isLive { send(.releaseClaim(entry.claim.id), into: &effects) }
        case .notNeeded, .toAsk, .alone: break
        }
        guard entry.claim.node == .own, entry.claim.isHeld else { return }
        // What was saved under it is one save, and what had to wait for it need wait no more.
        if records.dueAt != nil { records.dueAt = now.monotonicMilliseconds }
        for (path, _) in plan.resting where entry.claim.covers(path) { plan.resting[path] = nil }
        plan.startRound()
    }

    // MARK: Granting

    mutating func pumpClaims(into effects: inout Effects) {
        guard phase == .running, !claims.isEmpty else { return }
        endOverdue(into: &effects)
        askArbiter(into: &effects)
        for index in claims.entries.indices {
            let entry = claims.entries[index]
            guard !entry.claim.isHeld, entry.arbiter.isOver, claims.isFree(index), !isBeingWritten(entry.claim) else {
                continue
            }
            claims.entries[index].claim.isHeld = true
            claims.entries[index].claim.sinceMilliseconds = now.wallMilliseconds
            claims.entries[index].command = nil
            if let command = entry.command {
                effects.add(.answer(command, .claims([claims.entries[index].claim])))
            } else if entry.claim.node == .peer {
                send(.claimAnswer(entry.claim.id, isGranted: true), into: &effects)
            }
        }
    }

    /// What is on its way into the folder arrives before the files stand still.
    private func isBeingWritten(_ claim: Claim) -> Bool {
        guard claim.node == .own else { return false }
        return claim.paths.contains { apply.touches($0) || apply.touchesBelow($0) }
    }

    private mutating func endOverdue(into effects: inout Effects) {
        let time = now.monotonicMilliseconds
        for index in claims.entries.indices.reversed() {
            let entry = claims.entries[index]
            if let ends = entry.leaseEnds, ends <= time {
                drop(at: index, into: &effects)
            } else if !entry.claim.isHeld, let deadline = entry.deadline, deadline <= time {
                refuse(index, .waitTimedOut, into: &effects)
            } else if !entry.claim.isHeld, entry.claim.mode == .strict, !session.isLive {
                refuse(index, .peerAway, into: &effects)
            }
        }
    }

    /// Answers whoever still waits for it.
    private mutating func refuse(_ index: Int, _ code: MessageCode, into effects: inout Effects) {
        if let command = claims.entries[index].command { effects.add(.answer(command, .refused(code))) }
        drop(at: index, into: &effects)
    }

    private mutating func askArbiter(into effects: inout Effects) {
        let time = now.monotonicMilliseconds
        var unheard: [Int] = []
        for index in claims.entries.indices {
            let entry = claims.entries[index]
            switch entry.arbiter {
            case .toAsk where session.isLive, .alone where session.isLive:
                claims.entries[index].arbiter = entry.claim.isHeld ? .granted : .asked(time)
                send(.claim(PeerClaim(entry.claim)), into: &effects)
            case .toAsk:
                // Without a link, what the other node may hold is waited out. Then each is on its own.
                let mayGoOn = claims.lostLinkAt.map { time >= $0 + ClaimQueue.leaseMilliseconds } ?? true
                if mayGoOn || entry.claim.isHeld { claims.entries[index].arbiter = .alone }
            case .asked(let since) where time >= since + ClaimQueue.silenceMilliseconds:
                if entry.claim.mode == .strict {
                    unheard.append(index)
                } else {
                    claims.entries[index].arbiter = .notNeeded
                }
            case .asked, .waits, .granted, .notNeeded, .alone: break
            }
        }
        for index in unheard.reversed() { refuse(index, .peerIncompatible, into: &effects) }
    }

    // MARK: The other node

    /// Every claim is answered at once, so that the other knows that it is heard.
    mutating func take(_ asked: PeerClaim, into effects: inout Effects) -> Bool {
        guard isArbiter, !asked.paths.isEmpty, claims.entries.count < ClaimQueue.entriesMax else { return true }
        claims.entries.removeAll { $0.claim.node == .peer && $0.claim.id == asked.id }
        var claim = Claim(
            id: asked.id, paths: asked.paths, isRead: asked.isRead, mode: .pair, holder: asked.holder,
            process: asked.process, node: .peer)
        claim.sinceMilliseconds = now.wallMilliseconds
        claim.isHeld = asked.isHeld
        let isSplit = asked.isHeld && claims.entries.contains { $0.claim.isHeld && $0.claim.excludes(claim) }
        if isSplit { noteSplitHold(of: claim, into: &effects) }
        claims.entries.append(ClaimQueue.Entry(claim: claim))
        if !asked.isHeld || isSplit { send(.claimAnswer(asked.id, isGranted: false), into: &effects) }
        return true
    }

    /// The two nodes were apart for so long that each went on alone, and each has granted what excludes the other's.
    private func noteSplitHold(of claim: Claim, into effects: inout Effects) {
        effects.add(.report(.note(Note(code: .lockSplitHold, subject: claim.paths.first?.bytes ?? []))))
    }

    mutating func takeClaimAnswer(_ id: UInt64, isGranted: Bool, into effects: inout Effects) {
        guard let index = claims.entries.firstIndex(where: { $0.claim.id == id && $0.claim.node == .own }) else {
            return
        }
        let claim = claims.entries[index].claim
        if claim.isHeld, !isGranted { noteSplitHold(of: claim, into: &effects) }
        switch claims.entries[index].arbiter {
        case .asked, .waits: claims.entries[index].arbiter = isGranted ? .granted : .waits
        case .notNeeded, .toAsk, .granted, .alone: break
        }
    }

    mutating func takeRelease(of id: UInt64) {
        claims.entries.removeAll { $0.claim.node == .peer && $0.claim.id == id }
    }

    /// What the other holds it may go on holding for a while; what it waits for it asks again.
    mutating func loseLinkOfClaims() {
        claims.lostLinkAt = now.monotonicMilliseconds
        claims.entries.removeAll { $0.claim.node == .peer && !$0.claim.isHeld }
        for index in claims.entries.indices {
            if claims.entries[index].claim.node == .peer {
                claims.entries[index].leaseEnds = now.monotonicMilliseconds + ClaimQueue.leaseMilliseconds
                continue
            }
            switch claims.entries[index].arbiter {
            case .asked, .waits, .granted: claims.entries[index].arbiter = .toAsk
            case .notNeeded, .toAsk, .alone: break
            }
        }
    }
}

extension PeerClaim {
    fileprivate init(_ claim: Claim) {
        self.init(
            id: claim.id, isRead: claim.isRead, isHeld: claim.isHeld, process: claim.process, holder: claim.holder,
            paths: claim.paths)
    }
}
