import ControlProtocol
import EventLoop
import Store
import SyncCore
import SyncModel
import Transport

/// The connection to the other node, and how the two come to know each other.
extension Daemon {
    func take(_ event: LinkEvent) {
        switch event {
        case .connected(let life, let address): connected(life, address)
        case .frame(let life, let bytes):
            journal.trace("a frame of \(bytes.count) bytes", at: .operations)
            traffic.received(bytes.count, at: Clock.monotonicMilliseconds())
            host.post(.received(LinkID(raw: life), bytes))
        case .sent(let life, let bytes):
            traffic.sent(bytes, at: Clock.monotonicMilliseconds())
            host.post(.sent(LinkID(raw: life), bytes))
        case .disconnected(let life, let reason): disconnected(life, reason)
        case .rejected(let address, let isDialled, let reason):
            if case .wrongKey(let key) = reason, let former = formerPeer(with: key) {
                journal.say(
                    .callerRefused,
                    """
                    \(address) was refused: it is "\(Path.escape(former.name))", which this node was told to forget; run \
                    syncctl unpair there
                    """)
                // It may well be at the address of the partner of now: that is to be set right.
                guard isDialled else { return }
            } else {
                journal.say(.callerRefused, "\(address) was refused: \(reason)")
            }
            if concernsPeer(reason, isDialled: isDialled) { raise(.peerRejected) }
        case .unreachable(let reason, _):
            journal.trace("the other node cannot be reached: \(reason)", at: .changes)
        }
    }

    /// Anybody may knock at a door that is open to the network. It is about the peer if another answers at its address, or
    /// comes with a key as only a node has one; and never while the peer itself is connected, or nobody is expected.
    private func concernsPeer(_ reason: LinkRejection, isDialled: Bool) -> Bool {
        guard pin != nil, connection.life == nil else { return false }
        switch reason {
        case .wrongKey: return true
        case .ourKeyRefused: return !hasJustMet
        case .notPairedThere: return isDialled && !hasJustMet
        case .notPairedHere, .noTLS: return isDialled
        case .left, .tooSlow: return false
        }
    }

    /// Of two who are being paired one has it written down first, and knocks while the other still writes.
    private var hasJustMet: Bool {
        metMilliseconds.map { Clock.monotonicMilliseconds() < $0 + Daemon.meetingMilliseconds } ?? false
    }

    private static let meetingMilliseconds: UInt64 = 10_000

    private func connected(_ life: UInt64, _ address: String) {
        connection = Connection(life: life, address: address)
        let now = Clock.wallMilliseconds()
        clear(AlertKey(code: .peerRejected))
        journal.say(.peerConnected, "connected with \(address)")
        feed.tell(.peerConnected(at: now, name: record.peerName, address: address))
        host.post(.connected(LinkID(raw: life)))
        noteKeysInUse()
        if host.gate.isClosed { holdBack(true) }
    }

    private func disconnected(_ life: UInt64, _ reason: LinkEnd) {
        if connection.life == life { connection = Connection() }
        journal.say(.peerAway, "the connection is over: \(reason)")
        feed.tell(.peerDisconnected(at: Clock.wallMilliseconds(), name: record.peerName, reason: nil))
        host.post(.disconnected(LinkID(raw: life)))
        rememberContact()
    }

    /// The peer sends faster than what it sends can be taken in.
    func holdBack(_ isFlooded: Bool) {
        guard let life = connection.life else { return }
        if isFlooded { link.pauseReading(life: life) } else { link.resumeReading(life: life) }
    }

    /// The core will have no more of this connection.
    func close(_ link: LinkID, because code: MessageCode) {
        journal.say(code, "the connection is closed")
        self.link.close(life: link.raw)
    }

    // MARK: Pairing

    /// Another node has proved that it knows our token. It is told only when the pin is durable here.
    func paired(_ other: Paired, settle: @escaping (PairingVerdict) -> Void) {
        guard !isForgetting else {
            settle(.notStored)
            return settleInvites(.failure(.notStored(Daemon.isForgettingText)))
        }
        // What the rows say of the other log is about another node: this one must not be taken for it.
        if peer.isStranger(other.fingerprint) {
            journal.problem(.pairingFailed, "\(PairingError.pairedBefore)")
            settle(.pairedBefore)
            return settleInvites(.failure(.pairedBefore))
        }
        if isOwnName(other.name) {
            journal.problem(.pairingFailed, "\(PairingError.sameName)")
            settle(.sameName)
            return settleInvites(.failure(.sameName))
        }
        remember(other) { [unowned self] result in
            if case .success = result { settle(.stored) } else { settle(.notStored) }
            settleInvites(result)
        }
    }

    /// As names stand in those of copies: by these it is known whose a copy is.
    func isOwnName(_ name: [UInt8]) -> Bool {
        ConflictName.safeName(of: name) == ConflictName.safeName(of: record.name)
    }

    /// Writes down whom we are paired with; tells `then` once that is durable, and goes to work with the new peer.
    /// The pin comes last: without it the node counts as unpaired.
    func remember(
        _ other: Paired, hasJoined: Bool = false, then: @escaping (Result<Paired, PairingError>) -> Void
    ) {
        let after = peer.paired(by: other.fingerprint)
        let facts = [(key: Opening.Fact.hasJoined, value: hasJoined ? Optional([1]) : nil)] + after.facts
        host.keep(facts) { [unowned self] result in
            switch result {
            case .success:
                self.hasJoined = hasJoined
                then(.success(other))
                meet(other, as: after)
            case .failure(let error):
                let problem = PairingError.notStored("\(error)")
                journal.problem(.pairingFailed, "\(problem)")
                then(.failure(problem))
            }
        }
    }

    /// From now on the other node is the peer.
    private func meet(_ other: Paired, as known: KnownPeer) {
        let words = other.words.joined(separator: " ")
        let name = Path.escape(other.name)
        journal.say(.pairingDone, "paired with \"\(name)\"; both nodes show the same six words: \(words)")
        record.peerName = other.name
        let wasPaired = other.fingerprint == pin
        peer = known
        guard !wasPaired else { return }
        metMilliseconds = Clock.monotonicMilliseconds()
        link.setPin(other.fingerprint)
        restartNode()
    }

    func settleInvites(_ result: Result<Paired, PairingError>) {
        let waiting = inviteWaiters.sorted { $0.key < $1.key }
        inviteWaiters = [:]
        for (_, then) in waiting { then(result) }
    }

    /// `then` comes when it is durable: nobody who was told that they are unpaired is paired again by a power cut.
    func unpair(then: @escaping (Result<Void, StoreError>) -> Void) {
        host.keep([(key: Opening.Fact.peerPin, value: nil)]) { [unowned self] result in
            if case .success = result {
                peer.pin = nil
                link.setPin(nil)
                giveRenewalUp()
                clear(AlertKey(code: .peerRejected))
                journal.say(.pairingNone, "unpaired; the folder stays as it is")
                restartNode()
            }
            then(result)
        }
    }
}
