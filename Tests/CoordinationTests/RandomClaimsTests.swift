import Coordination
import SyncModel
import Testing

/// Clients that claim, hold, nest, show, answer late or never, and go, at random.
private struct RandomClients {
    private var bench = Bench()
    private var random: SeededRandom
    private var last = ClaimID(0)
    private var live: [ClaimID: ClaimRequest] = [:]
    private var answered = 0
    private let clients: Int

    private static let places = ["a", "a/b", "a/b/c", "ab", "d", "d/e", "f", "g"]

    init(seed: UInt64, clients: Int) {
        random = SeededRandom(seed: seed, stream: "claims")
        self.clients = clients
    }

    /// Everybody who asked has had an answer in the end, and nobody ever held what excludes another's.
    mutating func run(_ claims: Int) {
        while last.number < claims || !live.isEmpty {
            act(mayClaim: last.number < claims)
            settle()
        }
        #expect(answered == claims)
        #expect(bench.coordinator.heldClaims.isEmpty)
    }

    private mutating func act(mayClaim: Bool) {
        switch random.below(100) {
        case ..<55 where mayClaim && live.count < 24: claim()
        case ..<60 where mayClaim:
            bench.present(
                PresenterID(UInt64(random.below(20))), random.pick(RandomClients.places) ?? "a",
                client: ClientID(UInt64(random.below(clients))),
                purpose: random.chance(percent: 50) ? "p\(random.below(clients))" : nil, all: random.chance(percent: 20)
            )
        case ..<62 where mayClaim: goAway(ClientID(UInt64(random.below(clients))))
        case ..<85: endOne()
        case ..<97: answerOne()
        default: bench.pass(UInt64(random.below(12_000)))
        }
    }

    private mutating func claim() {
        last = last.next
        let client = ClientID(UInt64(random.below(clients)))
        let accesses = (0...random.below(3)).map { _ in
            Access(
                Bench.path(random.pick(RandomClients.places) ?? "a"), access(),
                coversContents: random.chance(percent: 10))
        }
        let request = ClaimRequest(
            id: last, client: client, purpose: random.chance(percent: 40) ? "p\(client)" : nil, accesses: accesses,
            patienceMilliseconds: random.chance(percent: 20) ? UInt64(random.below(5_000)) : nil,
            holdMilliseconds: random.chance(percent: 20) ? UInt64(random.below(20_000)) : nil)
        live[last] = request
        bench.step(.claim(request))
    }

    private mutating func access() -> Access.Kind {
        if random.chance(percent: 50) { return .read(savesFirst: random.chance(percent: 50)) }
        return .write(random.pick(Access.Writing.allCases) ?? .update)
    }

    private mutating func endOne() {
        guard let claim = random.pick(bench.coordinator.heldClaims) else { return }
        let path = claim.accesses[0].path
        var deeds: [Deed] = []
        if random.chance(percent: 20) { deeds = [.changed(path)] }
        if random.chance(percent: 5), let target = random.pick(RandomClients.places) {
            deeds = [.moved(path, to: Bench.path(target))]
        }
        live[claim.id] = nil
        bench.end(claim.id, deeds)
    }

    private mutating func answerOne() {
        guard let question = random.pick(bench.asked) else { return }
        bench.asked.removeAll { $0.id == question.id }
        let answers: [PresenterAnswer] = [.ready, .ready, .ready, .busy, .failed("no")]
        bench.step(.answer(question: question.id, random.pick(answers) ?? .ready))
    }

    private mutating func goAway(_ client: ClientID) {
        let gone = live.values.filter { $0.client == client }.map(\.id)
        let held = Set(bench.coordinator.heldClaims.map(\.id))
        for id in gone {
            live[id] = nil
            if !held.contains(id) { answered += 1 }
        }
        bench.step(.gone(client: client))
    }

    private mutating func settle() {
        answered += bench.granted.count + bench.refused.count
        for id in bench.refused.keys { live[id] = nil }
        for id in bench.revoked { live[id] = nil }
        bench.granted = []
        bench.refused = [:]
        bench.revoked = []
        let held = bench.coordinator.heldClaims
        for (index, first) in held.enumerated() {
            for second in held[(index + 1)...] {
                let isOne = first.purpose != nil && first.purpose == second.purpose
                let isApart = !first.accesses.contains { one in
                    second.accesses.contains { RandomClients.exclude(one, $0) }
                }
                #expect(isOne || isApart, "\(first) and \(second)")
            }
        }
    }

    /// Written apart from the coordinator's own rule.
    private static func exclude(_ one: Access, _ other: Access) -> Bool {
        func isWriter(_ access: Access) -> Bool { !access.isRead }
        func isMetadata(_ access: Access) -> Bool { access.kind == .write(.metadata) }
        let isBelow = one.path.isBelow(other.path) && other.coversContents
        let isAbove = other.path.isBelow(one.path) && one.coversContents
        guard one.path == other.path || isBelow || isAbove else { return false }
        if !isWriter(one) && !isWriter(other) { return false }
        if isMetadata(one) && !isWriter(other) || isMetadata(other) && !isWriter(one) { return false }
        return true
    }
}

@Suite("the coordinator under random clients")
struct RandomClaimsTests {
    @Test("nobody waits for ever and nobody meets, whatever 8 clients do", arguments: 0..<UInt64(10))
    func few(seed: UInt64) {
        var clients = RandomClients(seed: seed, clients: 8)
        clients.run(300)
    }

    @Test("64 clients and 1,000 claims: no deadlock, no two who exclude each other")
    func many() {
        var clients = RandomClients(seed: 64, clients: 64)
        clients.run(1_000)
    }
}
