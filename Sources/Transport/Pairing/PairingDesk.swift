internal import Crypto
internal import EventLoop

/// Both sides of pairing: an invitation given out here (`Inviting`), and joining with a token from the other node
/// (`Joining`).
///
/// Either node may be the one that can dial, so both do what they can: the joining node dials the address in the token
/// and its configured peer, the inviting node dials its configured peer, and each takes what comes in. The
/// conversation is the same whoever dialled: the joining node proves that it knows the secret, the inviting node
/// answers with its own proof. See `Record` for the bytes and `PairingProof` for what is proved.
final class PairingDesk {
    /// A node came with our token. It is told what `settle` gets: `.stored` once its key is kept safe.
    var onPaired: ((Paired, _ settle: @escaping (PairingVerdict) -> Void) -> Void)?

    private let loop: Loop
    /// Of this node. Who is in the middle of a pairing when it changes has to begin again.
    var key: IdentityKey
    private let name: [UInt8]
    private let settings: LinkSettings
    /// A connection this desk dialled: TLS comes next, then `admit` or `callFailed`.
    private let onCall: (EventLoop.Stream, Endpoint) -> Void
    private var inviting: Inviting?
    private var joining: Joining?
    private var talks: [PairingTalk] = []

    private static let talksMax = 8

    init(
        loop: Loop, key: IdentityKey, name: [UInt8], settings: LinkSettings,
        onCall: @escaping (EventLoop.Stream, Endpoint) -> Void
    ) {
        precondition(
            1...Paired.nameBytesMax ~= name.count, "a node's name has 1 to \(Paired.nameBytesMax) bytes")
        self.loop = loop
        self.key = key
        self.name = name
        self.settings = settings
        self.onCall = onCall
    }

    /// There is something to pair for: only then is pairing offered on the port, so strangers reach this code at no
    /// other time. A used or expired token still counts, because its bearer is to be told what is wrong.
    var isOpen: Bool { inviting != nil || joining != nil }

    // MARK: Inviting

    func invite(hint: Endpoint?, peer: Endpoint?) -> (token: String, expiresWallMilliseconds: Int64) {
        cancelInvite()
        let token = PairingToken(
            secret: Secure.random(PairingToken.secretBytes),
            inviter: Array(key.fingerprint.prefix(PairingToken.inviterBytes)), hint: hint)
        let validity = settings.invitationMilliseconds
        inviting = Inviting(
            loop: loop, key: key, name: name, token: token, validMilliseconds: validity, caller: peer.map(makeCaller)
        ) { [weak self] paired, settle in
            // Without anybody to store it there is nothing to wait for.
            if let onPaired = self?.onPaired { onPaired(paired, settle) } else { settle(.stored) }
        }
        return (token.text, Clock.wallMilliseconds() + Int64(clamping: validity))
    }

    func cancelInvite() {
        inviting?.close()
        inviting = nil
    }

    func linkIsUp() { inviting?.linkIsUp() }

    private func judge(_ message: PairingMessage, on talk: PairingTalk) {
        let refusal: PairingRefusal?
        if let inviting, talk.peer != key.fingerprint {
            refusal = inviting.judge(message, on: talk)
        } else {
            refusal = .notInviting
        }
        guard let refusal else { return }
        talk.refuse(refusal)
        drop(talk)
    }

    // MARK: Joining

    func join(
        _ text: String, only peers: [[UInt8]], peer: Endpoint?, canListen: Bool,
        then: @escaping (Result<Paired, PairingError>) -> Void
    ) {
        do throws(PairingError) {
            let token = try readToken(text)
            guard joining == nil else { throw .alreadyJoining }
            var endpoints = [peer, token.hint].compactMap(\.self)
            if endpoints.count == 2, endpoints[0] == endpoints[1] { endpoints.removeLast() }
            guard canListen || !endpoints.isEmpty else { throw .noAddress }
            let begun = Joining(
                loop: loop, key: key, name: name, token: token, only: peers, callers: endpoints.map(makeCaller),
                then: then)
            joining = begun
            begun.begin(patienceMilliseconds: settings.pairingMilliseconds) { [weak self] reason in
                self?.endJoining(.failure(reason))
            }
        } catch {
            loop.doLater { then(.failure(error)) }
        }
    }

    func cancelJoin() {
        let cancelled = joining
        loop.doLater { [self] in
            if let cancelled, cancelled === joining { endJoining(.failure(.cancelled)) }
        }
    }

    private func readToken(_ text: String) throws(PairingError) -> PairingToken {
        let token: PairingToken
        do throws(PairingToken.Problem) {
            token = try PairingToken.parse(text)
        } catch {
            switch error {
            case .notAToken: throw .notAToken
            case .mistyped: throw .mistyped
            case .newerVersion: throw .newerVersion
            }
        }
        guard !token.isFrom(key.fingerprint) else { throw .ownToken }
        return token
    }

    private func endJoining(_ result: Result<Paired, PairingError>) {
        guard let ended = joining else { return }
        joining = nil
        ended.close()
        for talk in talks where ended.isInviter(talk) { drop(talk) }
        ended.then(result)
    }

    private func note(_ problem: PairingError, at endpoint: Endpoint) {
        guard let joining else { return }
        if joining.note(problem, at: endpoint) {
            endJoining(.failure(joining.bestReason))
        } else {
            joining.resumeCalling(endpoint)
        }
    }

    /// The caller goes on by itself.
    private func unreachable(_ error: LoopError, at endpoint: Endpoint) {
        guard let joining, joining.note(.unreachable(error), at: endpoint) else { return }
        endJoining(.failure(joining.bestReason))
    }

    // MARK: Connections

    private func makeCaller(_ endpoint: Endpoint) -> Caller {
        Caller(
            loop: loop, endpoint: endpoint, settings: settings,
            onStream: { [weak self] stream, dialled in
                guard let self else { return stream.close() }
                onCall(stream, dialled)
            },
            onFailure: { [weak self] error in self?.unreachable(error, at: endpoint) })
    }

    /// TLS is up, and both agreed to pair on this connection.
    func admit(_ stream: SecureStream, dialled: Endpoint?) {
        guard isOpen else { return stream.close() }
        let talk = PairingTalk(
            loop: loop, stream: stream, dialled: dialled, patienceMilliseconds: settings.helloMilliseconds
        ) { [weak self] talk, heard in self?.hear(heard, on: talk) }
        guard let talk else { return }
        // Strangers may come this far while this node pairs; the oldest gives way.
        if talks.count >= Self.talksMax, let oldest = talks.first { drop(oldest) }
        talks.append(talk)
        guard let joining else { return }
        if joining.isInviter(talk) {
            // Told before the other node writes anything down: it would stay alone with a pairing.
            if joining.isStranger(talk) { return endJoining(.failure(.pairedBefore)) }
            joining.prove(on: talk)
        } else if let dialled, joining.isCalling(dialled) {
            drop(talk)
            note(.wrongInviter(address: stream.address), at: dialled)
        }
    }

    /// A connection this desk dialled did not get through TLS.
    func callFailed(_ endpoint: Endpoint, _ rejection: LinkRejection?) {
        inviting?.resumeCalling()
        switch rejection {
        case .notPairedThere: note(.notInviting, at: endpoint)
        case .tooSlow, .left, nil: note(.timedOut, at: endpoint)
        case .some(let rejection): note(.violation("\(rejection)"), at: endpoint)
        }
    }

    private func hear(_ heard: PairingTalk.Heard, on talk: PairingTalk) {
        switch heard {
        case .proof(let message): judge(message, on: talk)
        case .answer(let message):
            guard let joining, joining.isInviter(talk) else { return drop(talk) }
            endJoining(joining.check(message, on: talk))
        case .refusal(let refusal):
            guard let joining, joining.isInviter(talk) else { return drop(talk) }
            endJoining(.failure(refusal.error))
        case .ended: ended(talk, .timedOut)
        case .violation(let what): ended(talk, .violation(what))
        }
    }

    private func ended(_ talk: PairingTalk, _ problem: PairingError) {
        drop(talk)
        guard let dialled = talk.dialled else { return }
        inviting?.resumeCalling()
        note(problem, at: dialled)
    }

    private func drop(_ talk: PairingTalk) {
        talks.removeAll { $0 === talk }
        inviting?.forget(talk)
        talk.close()
    }

    func shutDown() {
        onPaired = nil
        cancelInvite()
        joining?.close()
        joining = nil
        for talk in talks { talk.close() }
        talks = []
    }
}
