internal import Crypto
internal import EventLoop

/// One invitation under way: judges who comes with its token, calls the peer if this node knows where it is, and
/// answers when the pairing is stored.
final class Inviting {
    private let key: IdentityKey
    private let name: [UInt8]
    private let onPaired: (Paired, _ settle: @escaping (PairingVerdict) -> Void) -> Void
    private let validity: Timer
    private var invitation: Invitation
    private var caller: Caller?
    /// The pairing is stored: the same node hears that again, should the answer have been lost.
    private var isStored = false
    /// Came with our token, and wait for the verdict.
    private var waitingTalks: [PairingTalk] = []

    init(
        loop: Loop, key: IdentityKey, name: [UInt8], token: PairingToken, validMilliseconds: UInt64, caller: Caller?,
        onPaired: @escaping (Paired, _ settle: @escaping (PairingVerdict) -> Void) -> Void
    ) {
        self.key = key
        self.name = name
        self.caller = caller
        self.onPaired = onPaired
        invitation = Invitation(token: token, endsMilliseconds: Clock.monotonicMilliseconds() + validMilliseconds)
        validity = Timer(loop: loop)
        validity.start(afterMilliseconds: validMilliseconds) { [weak self] in self?.stopCalling() }
        caller?.resume()
    }

    /// Somebody claims to know the secret. What to answer, if it is no.
    func judge(_ message: PairingMessage, on talk: PairingTalk) -> PairingRefusal? {
        let proof = PairingProof(exporter: talk.exporter, inviter: key.fingerprint, joiner: talk.peer)
        let verdict = invitation.judge(message, proof, nowMilliseconds: Clock.monotonicMilliseconds())
        if !invitation.isAwaited(nowMilliseconds: Clock.monotonicMilliseconds()) { stopCalling() }
        switch verdict {
        case .accepted:
            waitingTalks.append(talk)
            let words = proof.words(secret: invitation.token.secret)
            let paired = Paired(fingerprint: talk.peer, name: message.name, words: words)
            onPaired(paired) { [weak self] in self?.settle($0) }
        case .repeated:
            waitingTalks.append(talk)
            if isStored { settle(.stored) }
        case .refused(let refusal):
            return refusal
        }
        return nil
    }

    /// After a call that came to nothing.
    func resumeCalling() { caller?.resume() }

    /// The paired node is connected: whoever comes with the token now is somebody else.
    func linkIsUp() {
        invitation.linkIsUp()
        stopCalling()
    }

    func forget(_ talk: PairingTalk) {
        waitingTalks.removeAll { $0 === talk }
    }

    func close() {
        waitingTalks = []
        stopCalling()
    }

    private func settle(_ verdict: PairingVerdict) {
        switch verdict {
        case .stored: isStored = true
        case .pairedBefore, .sameName, .notStored: invitation.giveBack()
        }
        let waiting = waitingTalks
        waitingTalks = []
        for talk in waiting {
            switch verdict {
            case .stored: answer(talk)
            case .pairedBefore: talk.refuse(.pairedBefore)
            case .sameName: talk.refuse(.sameName)
            case .notStored: talk.refuse(.notStored)
            }
        }
    }

    private func answer(_ talk: PairingTalk) {
        let proof = PairingProof(exporter: talk.exporter, inviter: key.fingerprint, joiner: talk.peer)
        let made = proof.make(.inviter, name: name, secret: invitation.token.secret)
        talk.say(.answer, PairingMessage(proof: made, name: name).payload)
    }

    private func stopCalling() {
        validity.close()
        caller?.close()
        caller = nil
    }
}
