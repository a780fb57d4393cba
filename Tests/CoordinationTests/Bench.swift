import Coordination
import SyncModel

/// A coordinator with its effects sorted by kind, for stories in a few lines.
struct Bench {
    var coordinator = Coordinator()
    var now: UInt64 = 1_000
    var granted: [ClaimID] = []
    var refused: [ClaimID: ClaimRefusal] = [:]
    var revoked: [ClaimID] = []
    var asked: [Question] = []
    var told: [PresenterID: [News]] = [:]
    var fences: [UInt64] = []
    var places: [ClaimID: [Path]] = [:]

    static func path(_ text: String) -> Path { Path(text) ?? .root }

    mutating func step(_ event: Coordinator.Event) {
        var effects: [Coordinator.Effect] = []
        coordinator.step(event, at: now, into: &effects)
        for effect in effects {
            switch effect {
            case .granted(let grant):
                granted.append(grant.claim)
                fences.append(grant.fence)
                places[grant.claim] = grant.paths
            case .refused(let claim, let reason): refused[claim] = reason
            case .revoked(let claim): revoked.append(claim)
            case .ask(let question): asked.append(question)
            case .tell(let presenter, let news): told[presenter, default: []].append(news)
            }
        }
    }

    mutating func pass(_ milliseconds: UInt64) {
        now += milliseconds
        step(.time)
    }

    mutating func claim(
        _ id: ClaimID, by client: ClientID = 0, for purpose: String? = nil, _ accesses: [(String, Access.Kind)],
        patience: UInt64? = nil, hold: UInt64? = nil
    ) {
        step(
            .claim(
                ClaimRequest(
                    id: id, client: client == 0 ? ClientID(id.number) : client, purpose: purpose,
                    accesses: accesses.map { Access(Bench.path($0.0), $0.1) }, patienceMilliseconds: patience,
                    holdMilliseconds: hold)))
    }

    mutating func write(_ id: ClaimID, _ path: String, for purpose: String? = nil) {
        claim(id, for: purpose, [(path, .write(.update))])
    }

    mutating func read(_ id: ClaimID, _ path: String, savesFirst: Bool = true) {
        claim(id, [(path, .read(savesFirst: savesFirst))])
    }

    mutating func end(_ id: ClaimID, _ deeds: [Deed] = []) { step(.end(claim: id, deeds)) }

    mutating func present(
        _ id: PresenterID, _ path: String, client: ClientID? = nil, purpose: String? = nil, all: Bool = false
    ) {
        step(
            .register(
                Presenter(
                    id: id, client: client ?? ClientID(100 + id.number), purpose: purpose, path: Bench.path(path),
                    coversContents: all)))
    }
}
