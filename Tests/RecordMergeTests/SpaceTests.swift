/// V13: what takes one set at a time says after each what the whole function says, and tells exactly what is different.
import SyncModel
import Testing

@testable import RecordMerge

@Suite("V13: a view kept up to date")
struct SpaceTests {
    @Test("equal to the whole after every step, in any order and batching: random histories") func random() throws {
        for seed in 0..<Effort.times(300) {
            var chance = HistoryMaker(seed: UInt64(seed), isLoose: seed % 2 == 1)
            let pair = try chance.history(actsMax: 16)
            var random = SeededRandom(seed: UInt64(seed), stream: "deliveries")
            let complaint = SpaceTests.complaint(pair, in: &random)
            #expect(complaint == nil, "seed \(seed)\n\(chance.entities)\n\(pair.all.map(\.sketch))")
            if complaint != nil { return }
        }
    }

    @Test("the same for every history of the small scope", arguments: ExhaustiveTests.shapes.indices)
    func smallScope(number: Int) throws {
        let row = ExhaustiveTests.shapes[number]
        let shape = try Shape(isOwnedByA: row.isOwnedByA, row.inA, row.inB, entity: row.entity)
        var scope = SmallScope(shape, actsMax: 1)
        var random = SeededRandom(seed: UInt64(number), stream: "deliveries")
        var failures = 0
        scope.run { pair in
            guard let complaint = SpaceTests.complaint(pair, in: &random) else { return }
            failures += 1
            if failures < 3 { Issue.record("\(row.name): \(complaint)\n\(pair.all.map(\.sketch))") }
        }
        #expect(failures == 0)
    }

    /// Delivers the sets by chance, some of them twice. Nil if all was well after each step.
    private static func complaint(_ pair: Pair, in random: inout SeededRandom) -> String? {
        var space = RecordSpace(model: pair.model)
        var waiting = pair.all
        random.shuffle(&waiting)
        var given: [ChangeSet] = []
        while !waiting.isEmpty {
            var batch = Array(waiting.prefix(random.range(1...3)))
            waiting.removeFirst(batch.count)
            if random.chance(percent: 20) { batch += given.prefix(1) }
            given += batch
            let before = space.view
            let change = space.add(batch)
            let whole = RecordView(of: given, model: pair.model)
            if space.view != whole {
                let (ours, theirs) = (Set(space.view.lines), Set(whole.lines))
                return "kept \(ours.subtracting(theirs).sorted()), whole \(theirs.subtracting(ours).sorted())"
            }
            if let wrong = wrong(change, before, whole, space) { return wrong }
        }
        return nil
    }

    private static func wrong(
        _ change: RecordSpace.Change, _ before: RecordView, _ after: RecordView, _ space: RecordSpace
    ) -> String? {
        let all = Set([before, after].flatMap(\.everybody)).sorted()
        let records = all.filter { before.facts(of: $0) != after.facts(of: $0) }
        if change.records != records { return "told \(change.records), different \(records)" }
        let entries = all.filter {
            before.quarantine[$0] != after.quarantine[$0] || before.dropped[$0] != after.dropped[$0]
        }
        if change.quarantine != entries { return "told \(change.quarantine) of quarantine, different \(entries)" }
        let quarantined = all.filter { before.quarantine[$0] == nil && after.quarantine[$0] != nil }
        if change.quarantined != quarantined { return "told \(change.quarantined), put out \(quarantined)" }
        let repaired = after.repaired.filter { !before.repaired.contains($0) }
        if change.repaired != repaired { return "told \(change.repaired), repaired \(repaired)" }
        let aliases = all.filter { before.aliases[$0] != after.aliases[$0] }
        if change.aliases != aliases { return "told \(change.aliases) of aliases, different \(aliases)" }
        let moved = all.filter { before.live[$0] != after.live[$0] }.flatMap { id in
            [before.live[id], after.live[id]].compactMap { record in
                record.flatMap { RecordRenderer.path(of: id, $0, space.model) }
            }
        }
        if change.files != Set(moved).sorted() { return "told \(change.files), different \(Set(moved).sorted())" }
        let paths = RecordRenderer(model: space.model, view: after).paths
        return space.renderer.paths == paths ? nil : "files are \(space.renderer.paths), not \(paths)"
    }

    @Test("one more field touches one file, and nothing else is told") func oneField() throws {
        let model = try Models.ab()
        var pair = Pair(model)
        for number in 0..<50 {
            let (a, b) = (RecordID("A", "\(number)"), RecordID("B", "\(number)"))
            pair.act(.first, .insert(a), .insert(b), .link(a, "b", "\(number)"))
        }
        pair.heal()
        var space = RecordSpace(of: pair.all, model: model)
        pair.act(.second, .set(RecordID("A", "7"), "title", "new"))
        let change = space.add(pair.made[1])
        #expect(change.records == [RecordID("A", "7")])
        #expect(change.quarantine.isEmpty && change.aliases.isEmpty && change.files.count == 1)
        #expect(space.add(pair.all) == RecordSpace.Change())
    }
}

extension RecordView {
    /// Everyone that it says anything of.
    fileprivate var everybody: [RecordID] {
        live.map(\.key) + quarantine.map(\.key) + dropped.map(\.key) + aliases.map(\.key) + dead + unknown
            + concurrent.map(\.record)
    }
}
