/// V16 for groups: what a person discards goes with all that hangs on it, and comes back with it.
import SyncModel
import Testing

@testable import RecordMerge

@Suite("V16: groups that were discarded")
struct DiscardTests {
    private let a = RecordID.named("A/a")
    private let b2 = RecordID.named("B/2")
    private let b3 = RecordID.named("B/3")
    private let c = RecordID.named("C/c")

    /// B2 has lost its place at A to B3, and C hangs on B2.
    private func chain() throws -> Pair {
        var pair = Pair(
            try Model.sketch(
                "A; b one B required inverse=a; n string", "B; a one A required inverse=b",
                "C; b one B required; t string"))
        pair.act(.first, .insert(a), .insert(.named("B/1")), .link(a, "b", "1"))
        pair.heal()
        pair.act(
            .first, .delete(.named("B/1")), .insert(b2), .link(a, "b", "2"), .insert(c), .set(c, "t", "text"),
            .link(c, "b", "2"))
        pair.act(.second, .delete(.named("B/1")), .insert(b3), .link(a, "b", "3"))
        pair.heal()
        return pair
    }

    @Test("a chain comes back whole, as it was, from the other node and after what may be forgotten is")
    func chained() throws {
        var pair = try chain()
        var space = RecordSpace(of: pair.all, model: pair.model)
        let before = space.view.quarantine
        #expect(before.keys.sorted() == [b2, c])
        pair.act(.first, RecordSpace.discard(b2, with: [b2, c]))
        pair.heal()
        space.add(pair.all)
        #expect(space.view.quarantine.isEmpty)
        #expect(space.discarded.map(\.leader) == [b2] && space.discarded.first?.records == [b2, c])
        pair.act(.second, .set(a, "n", "1"))
        pair.heal()
        space.add(pair.all)
        space.forget(pair.applied(by: .first))
        #expect(space.discarded.first?.records == [b2, c])
        #expect(space.restoring([b2, c]).view.quarantine == before)
        #expect(space.view.quarantine.isEmpty, "that was only a trial")
        pair.act(.second, space.deadTogether(with: b2).map { .restore($0) })
        space.add(pair.all)
        #expect(space.view.quarantine == before && space.discarded.isEmpty)
        #expect(RecordView(of: pair.all, model: pair.model).quarantine == before)
    }

    @Test("what people delete with their files is none, whoever has forgotten the files") func deleted() throws {
        var pair = try chain()
        pair.act(.second, .delete(a), .delete(b3))
        pair.heal()
        var space = RecordSpace(of: pair.all, model: pair.model)
        #expect(space.discarded.isEmpty)
        space.forget(pair.applied(by: .first))
        #expect(space.discarded.isEmpty)
    }

    @Test("when one node discarded it is told of all that went, and of nothing that people delete otherwise")
    func lastDiscards() throws {
        var pair = try chain()
        pair.act(.first, RecordSpace.discard(b2, with: [b2, c]))
        let time = try #require(pair.made[0].last?.time)
        pair.act(.first, .delete(a))
        var space = RecordSpace(of: pair.all, model: pair.model)
        #expect(space.lastDiscards(of: [a, b2, c], by: .first) == [b2: time, c: time])
        #expect(space.lastDiscards(of: [a, b2, c], by: .second).isEmpty)
        pair.act(.first, .insert(c))
        pair.act(.first, .delete(c))
        space.add(pair.all)
        #expect(space.lastDiscards(of: [b2, c], by: .first) == [b2: time], "that c was discarded is over")
    }

    @Test("whoever saves later what was discarded saw it standing, and makes it anew; who saved before does not")
    func savedAfter() throws {
        var pair = try chain()
        pair.act(.first, RecordSpace.discard(b2, with: [b2, c]))
        pair.heal()
        let view = pair.view(of: .first)
        let path = try #require(Path("c/c"))
        let documents = try [#"{"b": "2", "t": "text"}"#, #"{"b": "2", "t": "later"}"#].map {
            try RecordDocument(parsing: Array($0.utf8), at: path, model: pair.model)
        }
        for (savedAt, isAnew) in [(9, false), (10, false), (11, true)] {
            let save = Differ.Save(
                before: documents[0], after: documents[1], savedAt: Timestamp(milliseconds: Int64(savedAt)))
            let differ = Differ(
                model: pair.model, view: view, lastDiscards: { _ in [c: HybridTime(wallMilliseconds: 10)] })
            #expect(differ.operations(for: [save]).contains(Operation(c, .insert)) == isAnew)
        }
    }

    @Test("what was deleted again by itself stays deleted when the group comes back") func deletedApart() throws {
        var pair = try chain()
        pair.act(.first, RecordSpace.discard(b2, with: [b2, c]))
        pair.heal()
        pair.act(.second, .restore(c))
        pair.act(.second, .delete(c))
        let space = RecordSpace(of: pair.all, model: pair.model)
        #expect(space.deadTogether(with: b2) == [b2] && space.deadTogether(with: c) == [c])
        #expect(space.discarded.first?.records == [b2])
    }
}
