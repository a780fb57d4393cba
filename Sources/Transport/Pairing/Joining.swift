internal import Crypto
internal import EventLoop

/// One `join` under way: calls wherever the inviting node may be, proves to it that we were invited, and checks its
/// answer.
final class Joining {
    let then: (Result<Paired, PairingError>) -> Void
    private let key: IdentityKey
    private let name: [UInt8]
    private let token: PairingToken
    /// Keys of the only node that may be met, if there was a pair before; empty for any.
    private let peers: [[UInt8]]
    private let callers: [Caller]
    private let patience: Timer
    /// What went wrong last at each endpoint.
    private var problems: [Endpoint: PairingError] = [:]
    private var tries: [Endpoint: Int] = [:]

    /// What may pass has had its chance after so many calls.
    private static let triesMax = 3

    init(
        loop: Loop, key: IdentityKey, name: [UInt8], token: PairingToken, only peers: [[UInt8]], callers: [Caller],
        then: @escaping (Result<Paired, PairingError>) -> Void
    ) {
        self.key = key
        self.name = name
        self.token = token
        self.peers = peers
        self.callers = callers
        self.then = then
        patience = Timer(loop: loop)
    }

    /// `onTimeOut` gets what to tell: the most telling of what was met.
    func begin(patienceMilliseconds: UInt64, onTimeOut: @escaping (PairingError) -> Void) {
        patience.start(afterMilliseconds: patienceMilliseconds) { [self] in onTimeOut(bestReason) }
        for caller in callers { caller.resume() }
    }

    func close() {
        patience.close()
        for caller in callers { caller.close() }
    }

    func isInviter(_ talk: PairingTalk) -> Bool { token.isFrom(talk.peer) }

    func isStranger(_ talk: PairingTalk) -> Bool { !peers.isEmpty && !peers.contains(talk.peer) }

    func prove(on talk: PairingTalk) {
        let made = proof(talk).make(.joiner, name: name, secret: token.secret)
        talk.say(.proof, PairingMessage(proof: made, name: name).payload)
    }

    /// The inviting node has let us in, if its answer is genuine.
    func check(_ message: PairingMessage, on talk: PairingTalk) -> Result<Paired, PairingError> {
        let proof = proof(talk)
        guard proof.check(message.proof, .inviter, name: message.name, secret: token.secret) else {
            return .failure(.violation("its answer proves nothing"))
        }
        let words = proof.words(secret: token.secret)
        return .success(Paired(fingerprint: talk.peer, name: message.name, words: words))
    }

    private func proof(_ talk: PairingTalk) -> PairingProof {
        PairingProof(exporter: talk.exporter, inviter: talk.peer, joiner: key.fingerprint)
    }

    // MARK: Trouble

    func isCalling(_ endpoint: Endpoint) -> Bool {
        callers.contains { $0.endpoint == endpoint }
    }

    func resumeCalling(_ endpoint: Endpoint) {
        for caller in callers where caller.endpoint == endpoint { caller.resume() }
    }

    /// True when there is no hope left: somewhere something was met that trying again does not change, and everywhere else, too, or the
    /// inviting node could not be reached there again and again: one call may meet a node that is just being restarted.
    func note(_ problem: PairingError, at endpoint: Endpoint) -> Bool {
        guard isCalling(endpoint) else { return false }
        problems[endpoint] = problem
        tries[endpoint, default: 0] += 1
        return met.contains(where: Self.isFinal) && callers.allSatisfy { isHopeless($0.endpoint) }
    }

    private func isHopeless(_ endpoint: Endpoint) -> Bool {
        guard let problem = problems[endpoint] else { return false }
        return Self.isFinal(problem) || tries[endpoint, default: 0] >= Self.triesMax
    }

    var bestReason: PairingError {
        if let final = met.first(where: Self.isFinal) { return final }
        return met.first ?? (callers.isEmpty ? .noAddress : .timedOut)
    }

    private var met: [PairingError] { callers.compactMap { problems[$0.endpoint] } }

    private static func isFinal(_ problem: PairingError) -> Bool {
        switch problem {
        case .wrongInviter, .notInviting: true
        case .notAToken, .mistyped, .newerVersion, .ownToken, .wrongSecret, .expired, .used, .voided, .noAddress,
            .unreachable, .timedOut, .cancelled, .alreadyJoining, .violation, .pairedBefore, .otherPairedBefore,
            .sameName, .notStored, .otherCouldNotStore:
            false
        }
    }
}
