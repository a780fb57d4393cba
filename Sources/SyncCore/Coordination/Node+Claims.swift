import Coordination
import SyncModel

/// Programs that hold files still: what they ask, what the arbiter says, and what waits meanwhile.
extension Node {
    private var isArbiter: Bool { reconciler.precedence.ownKeyIsSmaller }

    /// Fences of this start are above those of every one before: the clock of the node is never behind what it has told.
    mutating func openClaims() {
        var later = clock
        claims.machine = Coordinator(
            fencesAbove: later.tick(wallMilliseconds: now.wallMilliseconds).raw, asking: .others)
        // What the process before this one knew of the other's locks is lost with it: they are waited out.
        guard record.peer != nil else { return }
        claims.lostLinkAt = now.monotonicMilliseconds
        claims.forgetsUntil = now.monotonicMilliseconds + ClaimDesk.leaseMilliseconds
    }

    // MARK: Programs of this node

    mutating func claim(_ claim: Claim, timeoutMilliseconds: UInt64?, _ id: CommandID, into effects: inout Effects) {
        guard claims.entries.count < ClaimDesk.entriesMax, !claim.accesses.isEmpty else {
            return effects.add(.answer(id, .claimRefused(.tooMany)))
        }
        var waiting = claim
        waiting.sinceMilliseconds = now.wallMilliseconds
        let asks = claim.mode != .local && record.peer != nil && !isArbiter
        let deadline = timeoutMilliseconds.flatMap { Moment.end(of: $0, after: now.monotonicMilliseconds) }
        let isTried = asks && session.isLive && timeoutMilliseconds == 0
        claims.entries[claims.newKey()] = ClaimDesk.Entry(
            claim: waiting, command: id, deadline: deadline,
            answerDue: isTried ? now.monotonicMilliseconds + ClaimDesk.answerMilliseconds : nil,
            arbiter: asks ? .toAsk : .notNeeded)
    }

    /// Granted or not: whoever asked is gone, or is done.
    mutating func endClaims(_ ids: [Claim.ID], _ deeds: [Deed], into effects: inout Effects) {
        for id in ids {
            guard let key = claims.key(of: id, .own) else { continue }
            drop(key, deeds, refusal: .withdrawn, into: &effects)
        }
    }

    /// Whoever still waits for it is told why it will not come.
    private mutating func drop(
        _ key: ClaimID, _ deeds: [Deed] = [], refusal: ClaimRefusal, into effects: inout Effects
    ) {
        guard let entry = forgetEntry(key, refusal, into: &effects), entry.isQueued else { return }
        instruct(.end(claim: key, deeds), into: &effects)
    }

    private mutating func forgetEntry(
        _ key: ClaimID, _ refusal: ClaimRefusal, into effects: inout Effects
    ) -> ClaimDesk.Entry? {
        guard let entry = claims.entries.removeValue(forKey: key) else { return nil }
        if let command = entry.command { effects.add(.answer(command, .claimRefused(refusal))) }
        switch entry.arbiter {
        case .asked, .waits, .silent, .granted:
            if session.isLive { send(.releaseClaim(entry.claim.id), into: &effects) }
        case .notNeeded, .toAsk, .alone: break
        }
        guard entry.claim.node == .own, entry.claim.isHeld else { return entry }
        claims.notePast(entry, at: now.wallMilliseconds)
        // What was saved under it is one save, and what had to wait for it need wait no more.
        if records.dueAt != nil {
            records.dueAt = now.monotonicMilliseconds
            records.lockEndedAt = now.monotonicMilliseconds
        }
        plan.endRest { entry.claim.covers($0) }
        return entry
    }

    // MARK: Granting

    mutating func pumpClaims(into effects: inout Effects) {
        guard phase == .running, !claims.isEmpty || !claims.toldWaits.isEmpty else { return }
        endForgetting()
        endOverdue(into: &effects)
        // Also before it is told of a new claim: it is not to see a circle in that and in what is over.
        tellWaits(into: &effects)
        askArbiter(into: &effects)
        for (key, entry) in claims.entries where mayQueue(entry) {
            claims.entries[key]?.isQueued = true
            if entry.claim.node == .own { noteWriting(meeting: entry.claim.accesses, into: &effects) }
            let request = claims.request(key, entry, at: now.monotonicMilliseconds)
            instruct(entry.claim.isHeld ? .occupy(request) : .claim(request), into: &effects)
        }
        tellSights(into: &effects)
        endWritings(into: &effects)
        if let due = claims.machine.nextDue, due <= now.monotonicMilliseconds { instruct(.time, into: &effects) }
        tellWaits(into: &effects)
    }

    private mutating func endForgetting() {
        if let until = forgettingEnds, until <= now.monotonicMilliseconds { claims.forgetsUntil = nil }
    }

    /// On a link that has been up for a while the other has told of what it holds. (Not while a node that was set back takes
    /// nothing in.)
    var forgettingEnds: UInt64? {
        if session.isLive, recovery.isRenumbering { return nil }
        return claims.forgetsUntil.map { until in
            session.isLive ? min(until, session.liveSince + ClaimDesk.tellingMilliseconds) : until
        }
    }

    /// What the other has told since this node was set back is taken in from now on.
    mutating func hearOfClaims() {
        session.liveSince = now.monotonicMilliseconds
        guard let until = claims.forgetsUntil else { return }
        claims.forgetsUntil = max(until, session.liveSince + ClaimDesk.tellingMilliseconds)
    }

    /// What both nodes may claim waits until it is known who has it.
    private func mayQueue(_ entry: ClaimDesk.Entry) -> Bool {
        !entry.isQueued && (entry.arbiter.isOver || isAlone(entry))
            && (claims.forgetsUntil == nil || entry.claim.isHeld || entry.claim.mode == .local)
    }

    /// Without a link, what the other node may hold is waited out. Then each is on its own.
    private func isAlone(_ entry: ClaimDesk.Entry) -> Bool {
        guard case .toAsk = entry.arbiter, !session.isLive else { return false }
        return claims.lostLinkAt.map { now.monotonicMilliseconds >= $0 + ClaimDesk.leaseMilliseconds } ?? true
    }

    mutating func instruct(_ event: Coordinator.Event, into effects: inout Effects) {
        let isNested = !claims.words.isEmpty
        claims.machine.step(event, at: now.monotonicMilliseconds, into: &claims.words)
        // What comes of heeding one is heeded after the others: everybody hears in the order in which it was decided.
        guard !isNested else { return }
        var next = 0
        while next < claims.words.count {
            heed(claims.words[next], into: &effects)
            next += 1
        }
        claims.words.removeAll(keepingCapacity: true)
    }

    private mutating func heed(_ word: Coordinator.Effect, into effects: inout Effects) {
        switch word {
        case .granted(let grant): take(grant, into: &effects)
        case .refused(let key, let reason):
            guard !refuseWriting(key, reason, into: &effects), claims.entries[key]?.isQueued == true else {
                return
            }
            _ = forgetEntry(key, reason, into: &effects)
        case .revoked(let key):
            guard let entry = forgetEntry(key, .withdrawn, into: &effects) else { return }
            effects.add(.program(.revoked(claim: entry.claim.id, client: entry.claim.client)))
        case .ask(let question): effects.add(.program(.ask(question)))
        case .tell(let presenter, let news): effects.add(.program(.tell(presenter: presenter, news)))
        }
    }

    private mutating func take(_ grant: Grant, into effects: inout Effects) {
        guard var entry = claims.entries[grant.claim] else { return takeWriting(grant.claim) }
        // It is on its way out of the queue, because the arbiter is to be asked anew.
        guard entry.isQueued else { return }
        if entry.claim.mode == .strict, !session.isLive { return refuse(grant.claim, .peerAway, into: &effects) }
        let wasHeld = entry.claim.isHeld
        let isMoved = entry.claim.paths != grant.paths
        entry.claim.accesses = zip(entry.claim.accesses, grant.paths).map { access, path in
            var access = access
            access.path = path
            return access
        }
        if isMoved, case .granted = entry.arbiter { return askAnew(grant.claim, entry.claim, into: &effects) }
        entry.claim.isHeld = true
        entry.claim.fence = grant.fence
        entry.claim.sinceMilliseconds = now.wallMilliseconds
        entry.isApart = entry.isApart || isWithoutWord(entry.arbiter)
        let command = entry.command
        entry.command = nil
        claims.entries[grant.claim] = entry
        if let command {
            effects.add(.answer(command, .claims([entry.claim])))
        } else if entry.claim.node == .peer, !wasHeld {
            send(.claimAnswer(entry.claim.id, isGranted: true), into: &effects)
        }
    }

    /// What it waited for here was moved meanwhile: the arbiter has granted where that was, and is asked first for where it is.
    private mutating func askAnew(_ key: ClaimID, _ claim: Claim, into effects: inout Effects) {
        claims.entries[key]?.claim = claim
        claims.entries[key]?.arbiter = .asked(now.monotonicMilliseconds)
        send(.releaseClaim(claim.id), into: &effects)
        send(.claim(asPeerReads(claim)), into: &effects)
        unqueue([key], into: &effects)
    }

    private func isWithoutWord(_ arbiter: ClaimDesk.Entry.Arbiter) -> Bool {
        if case .silent = arbiter { return true }
        return !session.isLive
    }

    private mutating func endOverdue(into effects: inout Effects) {
        let time = now.monotonicMilliseconds
        for (key, entry) in claims.entries {
            if let ends = entry.leaseEnds, ends <= time {
                drop(key, refusal: .withdrawn, into: &effects)
            } else if !entry.isQueued, !mayQueue(entry), let deadline = entry.deadline, deadline <= time {
                // (Of this node's own who has it is known without the arbiter.)
                let holder = claims.machine.holder(against: claims.request(key, entry, at: time), at: time)
                // Without time to wait it is tried all the same: what the arbiter says of what nobody has comes at once.
                if holder == nil, session.isLive, let answer = entry.answerDue, answer > time { continue }
                let refusal = holder ?? .timedOut(holder: nil, purpose: nil, heldMilliseconds: 0)
                drop(key, refusal: refusal, into: &effects)
            } else if !entry.claim.isHeld, entry.claim.mode == .strict, !session.isLive {
                refuse(key, .peerAway, into: &effects)
            }
        }
    }

    /// For a reason that has nothing to do with who holds what.
    private mutating func refuse(_ key: ClaimID, _ code: MessageCode, into effects: inout Effects) {
        if let command = claims.entries[key]?.command { effects.add(.answer(command, .refused(code))) }
        claims.entries[key]?.command = nil
        drop(key, refusal: .withdrawn, into: &effects)
    }

    private mutating func askArbiter(into effects: inout Effects) {
        let time = now.monotonicMilliseconds
        var queued: [ClaimID] = []
        for (key, entry) in claims.entries {
            switch entry.arbiter {
            case .toAsk where session.isLive, .alone where session.isLive:
                claims.entries[key]?.arbiter = entry.claim.isHeld ? .granted : .asked(time)
                // What has waited here since it was on its own is the arbiter's to grant first, like any other.
                if !entry.claim.isHeld { queued.append(key) }
                send(.claim(asPeerReads(entry.claim)), into: &effects)
            case .toAsk:
                if isAlone(entry) || entry.claim.isHeld { claims.entries[key]?.arbiter = .alone }
            case .asked(let since) where time >= since + ClaimDesk.silenceMilliseconds:
                if entry.claim.mode == .strict {
                    refuse(key, .peerIncompatible, into: &effects)
                } else {
                    claims.entries[key]?.arbiter = .silent
                }
            case .asked, .waits, .silent, .granted, .notNeeded, .alone: break
            }
        }
        unqueue(queued, into: &effects)
    }

    /// They wait for the arbiter's word once more. All of them first, so that none is granted because another leaves the queue.
    private mutating func unqueue(_ keys: [ClaimID], into effects: inout Effects) {
        let queued = keys.filter { claims.entries[$0]?.isQueued == true }
        for key in queued { claims.entries[key]?.isQueued = false }
        for key in queued { instruct(.end(claim: key, []), into: &effects) }
    }

    // MARK: The other node

    /// A circle over both nodes goes through somebody here who waits at the arbiter; what leads to him from others here only this node knows. The
    /// arbiter hears of it in the order in which it came and went, so what it puts together was so at one time.
    private mutating func tellWaits(into effects: inout Effects) {
        guard session.isLive, session.peerReadsWaits, !isArbiter else { return }
        let isAwaited = claims.entries.contains { _, entry in
            switch entry.arbiter {
            case .asked, .waits: true
            case .notNeeded, .toAsk, .silent, .granted, .alone: false
            }
        }
        let waits = isAwaited ? claims.machine.waits(atMost: Limits.claimWaitsMax) : []
        let told = waits.map { PeerWait(purpose: Array($0.purpose.utf8), awaited: Array($0.awaited.utf8)) }
        guard told != claims.toldWaits else { return }
        claims.toldWaits = told
        send(.claimWaits(told), into: &effects)
    }

    mutating func take(_ waits: [PeerWait], into effects: inout Effects) {
        guard isArbiter else { return }
        let waits = waits.map {
            Wait(String(decoding: $0.purpose, as: UTF8.self), for: String(decoding: $0.awaited, as: UTF8.self))
        }
        instruct(.elsewhere(waits), into: &effects)
    }

    private func asPeerReads(_ claim: Claim) -> PeerClaim {
        PeerClaim(
            id: claim.id, isRead: claim.isRead, isHeld: claim.isHeld, process: claim.process, holder: claim.holder,
            paths: claim.paths, purpose: session.peerReadsPurposes ? Array((claim.purpose ?? "").utf8) : [])
    }

    /// Every claim is answered at once, so that the other knows that it is heard.
    mutating func take(_ asked: PeerClaim, into effects: inout Effects) -> Bool {
        guard isArbiter, !asked.paths.isEmpty, claims.entries.count < ClaimDesk.entriesMax else { return true }
        if let known = claims.key(of: asked.id, .peer), let entry = claims.entries[known] {
            if entry.claim.isHeld, entry.claim.paths == asked.paths {
                // It was granted before the link went, and nobody has had it since.
                claims.entries[known]?.leaseEnds = nil
                if asked.isHeld {
                    noteIfSplit(known, entry, into: &effects)
                } else {
                    send(.claimAnswer(asked.id, isGranted: true), into: &effects)
                }
                return true
            }
            // It was not waited for any longer, or what it is about is elsewhere by now.
            drop(known, refusal: .withdrawn, into: &effects)
        }
        var claim = Claim(
            id: asked.id, accesses: [Access](holding: asked.paths, isRead: asked.isRead),
            purpose: asked.purpose.isEmpty ? nil : String(decoding: asked.purpose, as: UTF8.self), mode: .pair,
            holder: asked.holder, process: asked.process, node: .peer)
        claim.sinceMilliseconds = now.wallMilliseconds
        claim.isHeld = asked.isHeld
        let entry = ClaimDesk.Entry(claim: claim)
        let key = claims.newKey()
        claims.entries[key] = entry
        if asked.isHeld {
            noteIfSplit(key, entry, into: &effects)
        } else {
            send(.claimAnswer(asked.id, isGranted: false), into: &effects)
        }
        return true
    }

    /// The two nodes were apart for so long that each went on alone, and each has granted what excludes the other's. Both say so whenever
    /// they meet with it: what the other was to hear of it the last time may have been lost with the link.
    private mutating func noteIfSplit(_ key: ClaimID, _ entry: ClaimDesk.Entry, into effects: inout Effects) {
        let request = claims.request(key, entry, at: now.monotonicMilliseconds)
        guard claims.machine.isHeldAgainst(request) else { return }
        noteSplitHold(of: entry.claim, into: &effects)
        send(.claimAnswer(entry.claim.id, isGranted: false), into: &effects)
    }

    private func noteSplitHold(of claim: Claim, into effects: inout Effects) {
        if let path = claim.paths.first { noteSplitHold(of: path, into: &effects) }
    }

    func noteSplitHold(of path: Path, into effects: inout Effects) {
        effects.add(.report(.note(Note(code: .lockSplitHold, subject: path.bytes))))
    }

    mutating func takeClaimAnswer(_ id: Claim.ID, isGranted: Bool, into effects: inout Effects) {
        guard let key = claims.key(of: id, .own), let entry = claims.entries[key] else { return }
        switch entry.arbiter {
        case .asked, .waits: claims.entries[key]?.arbiter = isGranted ? .granted : .waits
        case .silent where entry.claim.isHeld && !isGranted:
            // It has been heard only now; and hears that the claim has gone on.
            claims.entries[key]?.arbiter = .granted
            send(.claim(asPeerReads(entry.claim)), into: &effects)
        case .silent:
            claims.entries[key]?.arbiter = isGranted ? .granted : .waits
            if !isGranted { unqueue([key], into: &effects) }
        case .notNeeded, .toAsk, .granted, .alone:
            if entry.claim.isHeld, !isGranted { noteSplitHold(of: entry.claim, into: &effects) }
        }
    }

    mutating func takeRelease(of id: Claim.ID, into effects: inout Effects) {
        guard let key = claims.key(of: id, .peer) else { return }
        drop(key, refusal: .withdrawn, into: &effects)
    }

    /// What the other holds it may go on holding for a while; what it waits for it asks again.
    mutating func loseLinkOfClaims(into effects: inout Effects) {
        claims.lostLinkAt = now.monotonicMilliseconds
        claims.toldWaits = []
        instruct(.elsewhere([]), into: &effects)
        var (peers, toAskAgain): ([ClaimID], [ClaimID]) = ([], [])
        for (key, entry) in claims.entries {
            guard entry.claim.node == .own else {
                if entry.claim.isHeld {
                    claims.entries[key]?.leaseEnds = now.monotonicMilliseconds + ClaimDesk.leaseMilliseconds
                } else {
                    peers.append(key)
                }
                continue
            }
            claims.entries[key]?.isApart = entry.claim.isHeld || entry.isApart
            switch entry.arbiter {
            case .asked, .waits, .silent, .granted: claims.entries[key]?.arbiter = .toAsk
            case .notNeeded, .toAsk, .alone: continue
            }
            if entry.isQueued, !entry.claim.isHeld { toAskAgain.append(key) }
        }
        unqueue(toAskAgain, into: &effects)
        for key in peers { drop(key, refusal: .withdrawn, into: &effects) }
    }
}
