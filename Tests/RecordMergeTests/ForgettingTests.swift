/// Two nodes that forget while they go on, as the daemon does: each has all sets in its store and what they come to in memory. Nodes
/// are started anew, and put back to an older state that had not seen what both have forgotten since.
import RecordMerge
import SyncModel
import Testing

@Suite("garbage collection in two nodes")
struct ForgettingTests {
    @Test("V13: what is in memory says what all sets say, whoever forgets, starts again or is set back") func views()
        throws
    {
        var (reloads, sets, held) = (0, 0, 0)
        for seed in 0..<Effort.times(120) {
            var world = try Forgetters(seed: UInt64(seed))
            for step in 0..<40 {
                world.step()
                guard let fault = world.fault else { continue }
                Issue.record("seed \(seed) step \(step): \(fault)\n\(world.maker.entities)")
                return
            }
            world.meet()
            #expect(world.fault == nil && world.nodes[0].space.view == world.nodes[1].space.view, "seed \(seed)")
            reloads += world.reloads
            sets += world.nodes.reduce(0) { $0 + $1.store.count }
            held += world.nodes.reduce(0) { $0 + $1.space.count }
        }
        print("FIGURE of \(sets) sets \(held) were held in memory; \(reloads) times all were read again")
        #expect(reloads > 0)
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

/// The world of the first test.
private struct Forgetters {
    struct Node {
        let party: Party
        /// Own and the other's, as they came.
        var store: [ChangeSet] = []
        var space: RecordSpace
        var epoch: UInt64 = 1
        /// The end of its own log.
        var own = LogPosition.none
        /// How much of the other's log it has.
        var known = LogPosition.none

        var seen: Applied {
            var seen = Applied.none
            seen[party] = own
            seen[party.other] = known
            return seen
        }
    }

    var maker: HistoryMaker
    var nodes: [Node]
    private(set) var reloads = 0
    private let model: Model
    private var random: SeededRandom
    private var time: UInt64 = 0
    private var images: [Node?] = [nil, nil]
    /// The sets of each node that nobody can take back: whatever it has ever told.
    private var told: [[ChangeSet]] = [[], []]

    init(seed: UInt64) throws {
        maker = HistoryMaker(seed: seed)
        random = SeededRandom(seed: seed, stream: "forgetters")
        model = try maker.model()
        nodes = [Party.first, .second].map { [model] in Node(party: $0, space: RecordSpace(model: model)) }
    }

    var fault: String? {
        for node in nodes where node.space.view != RecordView(of: node.store, model: model) {
            let (ours, theirs) = (node.space.view.lines, RecordView(of: node.store, model: model).lines)
            return
                "\(node.party): lost \(Set(theirs).subtracting(ours).sorted()), new \(Set(ours).subtracting(theirs).sorted())"
        }
        return nil
    }

    mutating func step() {
        let node = random.below(2)
        switch random.below(26) {
        case 0...8: write(node)
        case 9...13: receive(node)
        case 14, 15: forget(node)
        case 16: images[node] = nodes[node]
        case 17: setBack(node)
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
        let operations = (0..<random.range(1...4)).flatMap { _ in maker.act(model) }
        let last = nodes[number].own
        let isNew = last.epoch.raw != nodes[number].epoch
        let position = LogPosition(epoch: Epoch(raw: nodes[number].epoch), seq: isNew ? 1 : last.seq + 1)
        let set = ChangeSet(
            author: nodes[number].party, position: position, time: HybridTime(wallMilliseconds: Int64(time)),
            seen: nodes[number].seen, operations: operations)
        nodes[number].own = position
        nodes[number].store.append(set)
        nodes[number].space.add([set])
    }

    /// First what it has lost of its own, as long as the other does not know more than that; then what the other has.
    private mutating func receive(_ number: Int) {
        tell(1 - number, lostFirst: number)
        let other = nodes[1 - number]
        let lost = told[number].filter { set in !nodes[number].store.contains { $0 == set } && other.store.contains(set)
        }
        let news = other.store.filter { $0.author == other.party && $0.position > nodes[number].known }
            .sorted { $0.position < $1.position }
        guard !lost.isEmpty || !news.isEmpty else { return }
        let forgotten = nodes[number].space.forgotten
        let isBehind = news.contains { $0.seen.first < forgotten.first || $0.seen.second < forgotten.second }
        nodes[number].store += lost + news
        nodes[number].known = news.last?.position ?? nodes[number].known
        told[1 - number] += news
        if lost.isEmpty, !isBehind {
            nodes[number].space.add(news)
        } else {
            startAnew(number)
            reloads += 1
        }
    }

    /// Nobody sends what is new before it has what it lost.
    private mutating func tell(_ number: Int, lostFirst other: Int) {
        let lost = told[number].filter { set in !nodes[number].store.contains(set) && nodes[other].store.contains(set) }
        guard !lost.isEmpty else { return }
        nodes[number].store += lost
        startAnew(number)
        reloads += 1
    }

    private mutating func startAnew(_ number: Int) {
        nodes[number].space = RecordSpace(of: nodes[number].store, model: model)
    }

    private mutating func forget(_ number: Int) {
        let (node, other) = (nodes[number], nodes[1 - number])
        // Who lacks some of its own log has not seen what it wrote there.
        let isWhole = [node, other].allSatisfy { node in told[node.party.number].allSatisfy(node.store.contains) }
        guard isWhole else { return }
        var applied = Applied.none
        applied[node.party] = min(other.known, node.own)
        applied[other.party] = node.known
        nodes[number].space.forget(applied.stable(in: node.space.history))
    }

    private mutating func setBack(_ number: Int) {
        guard let image = images[number] else { return }
        let epoch = nodes[number].epoch
        nodes[number] = image
        nodes[number].epoch = epoch + 1
        startAnew(number)
    }
}
