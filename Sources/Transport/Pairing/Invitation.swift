/// One token given out, and what became of it. Only in memory: a restart ends every invitation.
///
/// It works for one node: who is refused as a partner does not use it up. That node may repeat its proof until the link is
/// up, because the answer to the first one may have been lost; everybody else is told that the token is used.
struct Invitation {
    let token: PairingToken
    private let endsMilliseconds: UInt64
    private var state = State.open
    private var wrongProofs = 0

    private enum State: Equatable {
        case open
        case used(by: [UInt8])
        case spent
        case voided
    }

    enum Verdict: Equatable {
        case accepted
        case repeated
        case refused(PairingRefusal)
    }

    private static let wrongProofsMax = 3

    init(token: PairingToken, endsMilliseconds: UInt64) {
        self.token = token
        self.endsMilliseconds = endsMilliseconds
    }

    /// Somebody may still come with this token.
    func isAwaited(nowMilliseconds: UInt64) -> Bool {
        guard nowMilliseconds < endsMilliseconds else { return false }
        return switch state {
        case .open, .used: true
        case .spent, .voided: false
        }
    }

    /// A wrong proof is told as wrong whatever the state: only who knows the secret learns more.
    mutating func judge(
        _ message: PairingMessage, _ proof: PairingProof, nowMilliseconds: UInt64
    ) -> Verdict {
        guard proof.check(message.proof, .joiner, name: message.name, secret: token.secret) else {
            return .refused(countWrongProof())
        }
        switch state {
        case .voided: return .refused(.voided)
        case .spent: return .refused(.used)
        case .used(let joiner):
            guard joiner == proof.joiner else { return .refused(.used) }
            return nowMilliseconds < endsMilliseconds ? .repeated : .refused(.expired)
        case .open:
            guard nowMilliseconds < endsMilliseconds else { return .refused(.expired) }
            state = .used(by: proof.joiner)
            return .accepted
        }
    }

    /// Whoever came with the token was not paired with: it is as good as before.
    mutating func giveBack() {
        if case .used = state { state = .open }
    }

    /// The node that used the token is connected: nothing was lost, and nobody else may come.
    mutating func linkIsUp() {
        if case .used = state { state = .spent }
    }

    private mutating func countWrongProof() -> PairingRefusal {
        guard state == .open else { return .wrongSecret }
        wrongProofs += 1
        if wrongProofs == Self.wrongProofsMax { state = .voided }
        return .wrongSecret
    }
}

/// What the inviting node answers instead of its own proof.
enum PairingRefusal: UInt8, Equatable {
    case wrongSecret = 1
    case expired = 2
    case used = 3
    case voided = 4
    case notInviting = 5
    case pairedBefore = 6
    case notStored = 7
    case sameName = 8

    var error: PairingError {
        switch self {
        case .wrongSecret: .wrongSecret
        case .expired: .expired
        case .used: .used
        case .voided: .voided
        case .notInviting: .notInviting
        case .pairedBefore: .otherPairedBefore
        case .notStored: .otherCouldNotStore
        case .sameName: .sameName
        }
    }
}

/// A proof with the name of the node that makes it: the payload of both `proof` and `answer`.
struct PairingMessage: Equatable {
    let proof: [UInt8]
    let name: [UInt8]

    init(proof: [UInt8], name: [UInt8]) {
        self.proof = proof
        self.name = name
    }

    init?(payload: [UInt8]) {
        let name = payload.dropFirst(PairingProof.bytes)
        guard payload.count > PairingProof.bytes, name.count <= Paired.nameBytesMax else { return nil }
        self.init(proof: Array(payload.prefix(PairingProof.bytes)), name: Array(name))
    }

    var payload: [UInt8] { proof + name }
}
