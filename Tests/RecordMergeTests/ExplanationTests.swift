/// `explain` in words: what became of a record, why, and what each operation came to.
import RecordMerge
import SyncModel
import Testing

@Suite("every outcome has a reason in words")
struct ExplanationTests {
    private func ab1() throws -> Pair {
        let (a1, b1, b2, b3) = (
            RecordID.named("A/A1"), RecordID.named("B/B1"), RecordID.named("B/B2"), RecordID.named("B/B3")
        )
        var pair = Pair(try Models.ab())
        pair.act(.first, .insert(a1), .insert(b1), .link(a1, "b", "B1"))
        pair.heal()
        pair.act(.first, .delete(b1), .insert(b2), .set(b2, "title", "old"), .link(a1, "b", "B2"))
        pair.act(.second, .delete(b1), .insert(b3), .link(a1, "b", "B3"))
        pair.heal()
        pair.act(.second, .set(b2, "title", "new"))
        return pair
    }

    private func explained(_ id: String, _ pair: Pair) throws -> String {
        try #require(Explanation(of: .named(id), in: pair.all, model: pair.model)).description
    }

    @Test("AB-1: the loser is told who won, and what it holds") func loser() throws {
        #expect(
            try explained("B/B2", ab1()) == """
                B/B2 is not in the live graph, but kept whole
                  because the place it wants at A/A1 by A.b went to B/B3: the later link has it
                  first 2.1: insert B/B2: makes the record
                  first 2.2: set B/B2.title "old": overtaken by a write that knew of it
                  first 2.3: link A/A1.b B2: has no place
                  second 2.0: set B/B2.title "new": shown

                """)
    }

    @Test("AB-1: the owner, the winner and the deleted one") func others() throws {
        #expect(
            try explained("A/A1", ab1()) == """
                A/A1 is in the live graph
                  because it keeps every rule of its model, and no delete of it stands
                  first 1.0: insert A/A1: makes the record
                  first 1.2: link A/A1.b B1: overtaken by a write that knew of it
                  first 2.3: link A/A1.b B2: has no place
                  second 1.2: link A/A1.b B3: holds its place

                """)
        #expect(
            try explained("B/B1", ab1()).hasPrefix(
                "B/B1 is deleted\n  because nobody who knew of the delete took it back"))
        #expect(Explanation(of: .named("B/B9"), in: try ab1().all, model: try Models.ab()) == nil)
    }

    @Test("I25: who names somebody that nobody made is told that it waits") func pending() throws {
        var pair = Pair(try Model.sketch("A; b one B inverse=a", "B; a one A inverse=b"))
        pair.act(.first, .insert(.named("A/1")), .link(.named("A/1"), "b", "9"))
        #expect(try explained("A/1", pair).contains("first 1.1: link A/1.b 9: waits for the record that it names"))
        pair.act(.first, .insert(.named("B/9")))
        #expect(try explained("A/1", pair).contains("first 1.1: link A/1.b 9: holds its place"))
    }

    @Test("who takes out of a list what the other moves meanwhile is told that it stays") func moved() throws {
        let f = RecordID.named("F/1")
        var pair = Pair(try Model.sketch("F; notes many N ordered", "N"))
        pair.act(
            .first, .insert(f), .insert(.named("N/a")), .insert(.named("N/b")), .add(f, "notes", "a", order: "m"),
            .add(f, "notes", "b", order: "n"))
        pair.heal()
        pair.act(.first, .add(f, "notes", "a", order: "p"))
        pair.act(.second, .remove(f, "notes", "a"), .remove(f, "notes", "b"))
        let told = try explained("F/1", pair)
        #expect(told.contains("first 2.0: add F/1.notes a: holds its place"))
        #expect(told.contains("second 1.0: remove F/1.notes a: gave way to a write that it did not know of"))
        #expect(told.contains("second 1.1: remove F/1.notes b: shown"))
    }

    @Test("a deleted record shows no value, and the version of a file is that of the save it is written into")
    func values() throws {
        var pair = Pair(try Model.sketch("A"))
        pair.act(.first, .insert(.named("A/1")), .set(.named("A/1"), "v", "x"), .set(.named("A/1"), "version", "2"))
        let live = try explained("A/1", pair)
        #expect(live.contains("first 1.1: set A/1.v \"x\": shown"))
        #expect(live.contains("first 1.2: set A/1.version \"2\": the version of that save; the file is in that of"))
        pair.act(.first, .delete(.named("A/1")))
        let dead = try explained("A/1", pair)
        #expect(dead.contains("set A/1.v \"x\": went with the record") && !dead.contains("shown"))
    }

    @Test("every record of every random history can be explained, and as the view has it") func all() throws {
        for seed in 0..<UInt64(Effort.times(50)) {
            var maker = HistoryMaker(seed: seed)
            let pair = try maker.history(actsMax: 10)
            let view = pair.view
            for id in Set(pair.all.flatMap(\.operations).map(\.record)) {
                let told = try #require(Explanation(of: id, in: pair.all, model: pair.model))
                #expect(told.outcome.hasPrefix("is in the live graph") == (view.live[id] != nil), "seed \(seed): \(id)")
                #expect(told.outcome.hasPrefix("is deleted") == view.dead.contains(id), "seed \(seed): \(id)")
                #expect(told.outcome.hasPrefix("is a second name") == (view.aliases[id] != nil), "seed \(seed): \(id)")
                #expect(told.steps.contains { $0.operation.record == id }, "seed \(seed): \(id)")
            }
        }
    }
}
