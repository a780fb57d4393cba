/// Two nodes that forget while they go on, as the daemon does, in memory and in the store. Nodes are started anew, and put back to an
/// older state that had not seen what both have forgotten since.
import RecordMerge
import SyncModel
import Testing

@Suite("garbage collection in two nodes")
struct ForgettingTests {
    @Test("V13: what is left says what all sets say, whoever forgets and starts again") func views() throws {
        var (sets, held) = (0, 0)
        for seed in 0..<Effort.times(120) {
            var world = try Forgetters(seed: UInt64(seed), setsBack: false)
            for step in 0..<40 {
                world.step()
                guard let fault = world.fault else { continue }
                Issue.record("seed \(seed) step \(step): \(fault)\n\(world.maker.entities)")
                return
            }
            sets += world.nodes.reduce(0) { $0 + $1.all.count }
            held += world.nodes.reduce(0) { $0 + $1.space.count }
        }
        print("FIGURE of \(sets) sets \(held) were kept")
    }

    @Test("V13: of long histories, most of which writes what was written before, little is left, and it says the same")
    func longHistories() throws {
        var (sets, held) = (0, 0)
        for seed in 0..<Effort.times(6) {
            var world = try Forgetters(seed: UInt64(seed), setsBack: false, writesAgain: true)
            for step in 0..<240 {
                world.step()
                if step % 40 == 39 { world.meet() }
                guard step % 40 == 39, let fault = world.fault else { continue }
                Issue.record("seed \(seed) step \(step): \(fault)\n\(world.maker.entities)")
                return
            }
            world.meet()
            for node in world.nodes.indices { world.forget(node) }
            #expect(world.fault == nil, "seed \(seed)")
            sets += world.nodes.reduce(0) { $0 + $1.all.count }
            held += world.nodes.reduce(0) { $0 + $1.space.count }
        }
        print("FIGURE of \(sets) sets of long histories \(held) were kept")
        #expect(held * 2 < sets)
    }

    @Test("V13: the same where a set has seen less than the one before it: its author's folder did not show all")
    func lookingAway() throws {
        for seed in 0..<Effort.times(60) {
            var world = try Forgetters(seed: UInt64(seed), setsBack: false, seesLess: true)
            for step in 0..<40 {
                world.step()
                guard let fault = world.fault else { continue }
                Issue.record("seed \(seed) step \(step): \(fault)\n\(world.maker.entities)")
                return
            }
        }
    }

    @Test("who was set back behind what is forgotten takes what is left, and both say the same") func setBacks() throws
    {
        var bases = 0
        for seed in 0..<Effort.times(120) {
            var world = try Forgetters(seed: UInt64(seed), setsBack: true)
            for step in 0..<40 {
                world.step()
                if step % 10 == 9 { world.meet() }
                guard let fault = step % 10 == 9 ? world.difference : world.staleness else { continue }
                Issue.record("seed \(seed) step \(step): \(fault)\n\(world.maker.entities)")
                return
            }
            bases += world.bases
        }
        print("FIGURE \(bases) times all was taken from the other")
        #expect(bases > 0)
    }

    @Test("ten thousand edits of ten records leave ten in memory") func bounded() throws {
        var pair = Pair(try Models.ab())
        var space = RecordSpace(model: pair.model)
        var most = 0
        for number in 0..<10 {
            pair.act(.first, .insert(RecordID("A", "\(number)")), .insert(RecordID("B", "\(number)")))
        }
        for number in 0..<10_000 {
            let record = RecordID("A", "\(number % 10)")
            pair.act(number % 3 == 0 ? .first : .second, .set(record, "title", "\(number)"))
            pair.heal()
            let all = pair.all
            space.add([all.last].compactMap(\.self) + (number == 0 ? all : []) + [pair.made[0].last].compactMap(\.self))
            most = max(most, space.count)
            if number % 100 == 99 {
                let both = pair.applied(by: .first)
                space.forget(both.stable(in: space.history))
                #expect(space.count <= 20)
            }
        }
        #expect(most <= 130)
        #expect(space.view == pair.view)
    }
}

/// The world of the first two tests.
private struct Forgetters {
    struct Node {
        let party: Party
        /// What is left of its own sets and the other's.
        var store: [ChangeSet] = []
        var space: RecordSpace
        /// As if nobody had forgotten anything.
        var all: [ChangeSet] = []
        var epoch: UInt64 = 1
        /// The last of its own in each epoch.
        var ends: SortedMap<Epoch, UInt64> = [:]
        var own = LogPosition.none
        /// How much of the other's log it has, and will have seen in whatever it still makes.
        var known = LogPosition.none
        var promised = LogPosition.none
        /// How much of its own log the other will have seen in whatever it still makes, as the other said after all that it had made.
        var told = LogPosition.none

        var seen: Applied {
            var seen = Applied.none
            seen[party] = own
            seen[party.other] = known
            return seen
        }

        func lacks(_ position: LogPosition) -> Bool { position != .none && position.seq > ends[position.epoch] ?? 0 }

        mutating func noteOwn(_ position: LogPosition) {
            ends[position.epoch] = max(position.seq, ends[position.epoch] ?? 0)
            own = max(own, position)
        }
    }

    var maker: HistoryMaker
    var nodes: [Node]
    private(set) var bases = 0
    private let model: Model
    private let setsBack: Bool
    private let writesAgain: Bool
    private let seesLess: Bool
    private var random: SeededRandom
    private var time: UInt64 = 0
    private var images: [Node?] = [nil, nil]

    /// `writesAgain`: people mostly change what is there, instead of making more of it. `seesLess`: they look at folders that do not show
    /// all that their node has taken in.
    init(seed: UInt64, setsBack: Bool, writesAgain: Bool = false, seesLess: Bool = false) throws {
        maker = HistoryMaker(seed: seed)
        random = SeededRandom(seed: seed, stream: "forgetters")
        model = try maker.model()
        self.setsBack = setsBack
        self.writesAgain = writesAgain
        self.seesLess = seesLess
        nodes = [Party.first, .second].map { [model] in Node(party: $0, space: RecordSpace(model: model)) }
    }

    /// What is kept says something else than all would.
    var fault: String? {
        for node in nodes {
            if let fault = Forgetters.difference(node.space.view, RecordView(of: node.all, model: model)) {
                return "\(node.party): \(fault)"
            }
        }
        return staleness
    }

    /// A start would find something else than is known.
    var staleness: String? {
        for node in nodes {
            let fresh = RecordSpace(of: node.store, model: model, forgotten: node.space.forgotten)
            if let fault = Forgetters.difference(node.space.view, fresh.view) { return "\(node.party) anew: \(fault)" }
        }
        return nil
    }

    var difference: String? { Forgetters.difference(nodes[0].space.view, nodes[1].space.view) }

    private static func difference(_ one: RecordView, _ other: RecordView) -> String? {
        if one == other { return nil }
        let (ours, theirs) = (one.lines, other.lines)
        return "lost \(Set(theirs).subtracting(ours).sorted()), new \(Set(ours).subtracting(theirs).sorted())"
    }

    mutating func step() {
        let node = random.below(2)
        switch random.below(26) {
        case 0...8: write(node)
        case 9...13: receive(node)
        case 14, 15, 19...21: forget(node)
        case 16: images[node] = nodes[node]
        case 17: if setsBack { setBack(node) }
        case 18: startAnew(node)
        default: meet()
        }
    }

    mutating func meet() {
        for _ in 0..<2 {
            receive(0)
            receive(1)
        }
    }

    private mutating func write(_ number: Int) {
        time += random.chance(percent: 5) ? 20 * 86_400_000 : 1
        let known = nodes[number].all
        if writesAgain, known.count > 12, random.chance(percent: 97), let again = random.pick(known) {
            let values = again.operations.filter { if case .set = $0.action { true } else { false } }
            if !values.isEmpty { log(values, number, seeing: seen(by: number)) }
            return
        }
        let operations = (0..<random.range(1...4)).flatMap { _ in maker.act(model) }
        log(operations, number, seeing: seen(by: number))
    }

    /// Of the other's sets, by what is written now.
    private mutating func seen(by number: Int) -> LogPosition {
        let node = nodes[number]
        guard seesLess, random.chance(percent: 30) else { return node.known }
        let least = max(node.promised, node.space.forgotten[node.party.other])
        let later = node.all.filter { $0.author == node.party.other && $0.position > least }
        return random.pick([least] + later.map(\.position)) ?? node.known
    }

    private mutating func log(_ operations: [Operation], _ number: Int, seeing known: LogPosition) {
        let last = nodes[number].own
        let epoch = Epoch(raw: nodes[number].epoch)
        let position = LogPosition(epoch: epoch, seq: last.epoch == epoch ? last.seq + 1 : 1)
        var seen = nodes[number].seen
        seen[nodes[number].party.other] = known
        let set = ChangeSet(
            author: nodes[number].party, position: position, time: HybridTime(wallMilliseconds: Int64(time)),
            seen: seen, operations: operations)
        nodes[number].noteOwn(position)
        nodes[number].store.append(set)
        nodes[number].all.append(set)
        nodes[number].space.add([set])
    }

    /// First what it has lost; then what is new.
    private mutating func receive(_ number: Int) {
        settle(number)
        settle(1 - number)
        let other = nodes[1 - number]
        let news = other.store.filter { $0.author == other.party && $0.position > nodes[number].known }
            .sorted { $0.position < $1.position }
        nodes[number].store += news
        nodes[number].all += news
        nodes[number].known = max(nodes[number].known, other.own)
        nodes[number].space.add(news)
        // What a folder does not show yet is not promised to be seen by whoever writes next.
        if seesLess, random.chance(percent: 70) { return }
        nodes[1 - number].promised = max(other.promised, other.known)
        nodes[number].told = max(nodes[number].told, other.known)
    }

    /// Who lacks what the other has forgotten, or has lost something of his own, takes all the other has; what he wrote
    /// meanwhile comes after it.
    private mutating func settle(_ number: Int) {
        let (node, other) = (nodes[number], nodes[1 - number])
        let forgot = other.space.forgotten
        let hasLost = node.lacks(other.known)
        let isBehind =
            node.lacks(forgot[node.party])
            || forgot[other.party] > max(node.promised, node.space.forgotten[other.party])
        guard hasLost || isBehind else { return }
        bases += isBehind ? 1 : 0
        var ends: SortedMap<Epoch, UInt64> = [other.known.epoch: other.known.seq]
        for set in other.store where set.author == node.party {
            ends[set.position.epoch] = max(set.position.seq, ends[set.position.epoch] ?? 0)
        }
        let unknown = node.store.filter { $0.author == node.party && $0.position.seq > ends[$0.position.epoch] ?? 0 }
        nodes[number].store = other.store + (hasLost ? [] : unknown)
        nodes[number].all = nodes[number].store
        for (epoch, seq) in ends { nodes[number].noteOwn(LogPosition(epoch: epoch, seq: seq)) }
        nodes[number].known = other.own
        nodes[number].space = RecordSpace(of: nodes[number].store, model: model, forgotten: forgot)
        guard hasLost else { return }
        nodes[number].epoch = max(nodes[number].epoch, nodes[number].own.epoch.raw) + 1
        for set in unknown.sorted(by: { $0.position < $1.position }) {
            time += 1
            log(set.operations, number, seeing: set.seen[other.party])
        }
    }

    private mutating func startAnew(_ number: Int) {
        nodes[number].space = RecordSpace(
            of: nodes[number].store, model: model, forgotten: nodes[number].space.forgotten)
    }

    mutating func forget(_ number: Int) {
        settle(0)
        settle(1)
        if !seesLess { nodes[number].promised = max(nodes[number].promised, nodes[number].known) }
        let node = nodes[number]
        var applied = Applied.none
        applied[node.party] = min(node.told, node.own)
        applied[node.party.other] = node.promised
        nodes[number].space.forget(applied.stable(in: node.space.history))
        nodes[number].store = nodes[number].space.history
    }

    private mutating func setBack(_ number: Int) {
        guard let image = images[number] else { return }
        let epoch = nodes[number].epoch
        nodes[number] = image
        nodes[number].epoch = epoch + 1
        startAnew(number)
    }
}
