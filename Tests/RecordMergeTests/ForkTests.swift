/// `onContest: fork`: who loses a place gets a copy of the record it wanted it at.
import RecordMerge
import SyncModel
import Testing

@Suite("losers that get a copy")
struct ForkTests {
    private static let (a, b1) = (RecordID("A", "A1"), RecordID("B", "B1"))
    private static let (b2, b3) = (RecordID("B", "B2"), RecordID("B", "B3"))

    /// AB-1: both nodes replace B1 by one of their own; the first node's B2 loses.
    static func contest() throws -> Pair {
        var pair = Pair(try Models.ab(#", "onContest": "fork""#))
        pair.act(.first, .insert(a), .insert(b1), .link(a, "b", "B1"), .set(a, "title", "plan"))
        pair.heal()
        pair.act(.first, .delete(b1), .insert(b2), .link(a, "b", "B2"))
        pair.act(.second, .delete(b1), .insert(b3), .link(a, "b", "B3"))
        pair.heal()
        return pair
    }

    @Test("AB-1: both stay, each with an A of its own, on both nodes") func contest() throws {
        let pair = try ForkTests.contest()
        let view = pair.view
        let clone = try #require(view.clones.first)
        #expect(clone.value == ForkTests.a && view.clones.count == 1)
        #expect(view.live[ForkTests.a]?.links[PropertyName("b")] == [ForkTests.b3])
        #expect(view.live[ForkTests.b2]?.links[PropertyName("a")] == [clone.key])
        #expect(view.live[clone.key]?.values[PropertyName("title")] == .string("plan"))
        #expect(view.quarantine.isEmpty && view.live.count == 4)
        #expect(Judge.complaints(pair).isEmpty)
        #expect(pair.view(of: .first).digest == pair.view(of: .second).digest)
    }

    @Test("a copy shows what its original shows, and goes when nobody needs it") func life() throws {
        var pair = try ForkTests.contest()
        let clone = try #require(pair.view.clones.first?.key)
        var space = RecordSpace(of: pair.all, model: pair.model)
        pair.act(.second, .set(ForkTests.a, "title", "new plan"))
        #expect(space.add(pair.all).records == [ForkTests.a, clone].sorted())
        #expect(space.view.live[clone]?.values[PropertyName("title")] == .string("new plan"))
        pair.heal()
        pair.act(.first, .delete(ForkTests.b3), .link(ForkTests.a, "b", "B2"))
        space.add(pair.all)
        #expect(space.view == pair.view)
        #expect(space.view.clones.isEmpty && space.view.live[clone] == nil)
        #expect(space.view.live[ForkTests.b2]?.links[PropertyName("a")] == [ForkTests.a])
    }

    @Test("V13: what is written to a copy that is a record of its own, or was deleted, concerns its original")
    func own() throws {
        for isDeleted in [false, true] {
            var pair = try ForkTests.contest()
            let clone = try #require(pair.view.clones.first?.key)
            var space = RecordSpace(of: pair.all, model: pair.model)
            pair.act(.second, isDeleted ? .delete(clone) : .insert(clone), .link(clone, "b", "B4"))
            space.add(pair.all)
            #expect(space.view == pair.view)
            pair.act(.second, isDeleted ? .restore(clone) : .link(clone, "b", "B5"))
            space.add(pair.all)
            #expect(space.view == pair.view)
            #expect(space.view.live[ForkTests.b2]?.links[PropertyName("a")] == [clone])
        }
    }

    @Test("whoever deletes the copy sends the loser into quarantine") func deleted() throws {
        var pair = try ForkTests.contest()
        let clone = try #require(pair.view.clones.first?.key)
        pair.act(.first, .delete(clone))
        pair.heal()
        #expect(pair.view.live[clone] == nil && pair.view.quarantine[ForkTests.b2] != nil)
        #expect(Judge.complaints(pair).isEmpty)
    }

    @Test("no copy is made of what there is only one of") func singleton() throws {
        let model = try Model.sketch(
            "A singleton; b one B inverse=a required onContest=fork", "B; a one A inverse=b required")
        var pair = Pair(model)
        pair.act(.first, .insert(ForkTests.a), .insert(ForkTests.b2), .link(ForkTests.a, "b", "B2"))
        pair.act(.second, .insert(ForkTests.a), .insert(ForkTests.b3), .link(ForkTests.a, "b", "B3"))
        pair.heal()
        #expect(pair.view.clones.isEmpty && pair.view.quarantine[ForkTests.b2] != nil)
    }

    @Test("in files: the copy is written like its original, and whoever edits it makes it a record") func files() throws
    {
        var office = Office(try Models.ab(#", "onContest": "fork""#))
        try office.save(.first, ["a/A1": #"{"title": "plan", "x": 1.0, "b": "B1"}"#, "b/B1": "{}"])
        try office.heal()
        try office.save(.first, ["a/A1": #"{"title": "plan", "x": 1.0, "b": "B2"}"#, "b/B1": nil, "b/B2": "{}"])
        try office.save(.second, ["a/A1": #"{"title": "plan", "x": 1.0, "b": "B3"}"#, "b/B1": nil, "b/B3": "{}"])
        try office.heal()
        let clone = try #require(office.pair.view.clones.first?.key)
        let file = "a/\(String(decoding: clone.key, as: UTF8.self))"
        for party in [Party.first, .second] {
            #expect(office.text(party, file) == #"{"title": "plan", "x": 1.0, "b": "B2"}"#)
            #expect(office.text(party, "a/A1") == #"{"title": "plan", "x": 1.0, "b": "B3"}"#)
        }
        try office.save(.second, [file: #"{"title": "other plan", "x": 1.0, "b": "B2"}"#])
        try office.save(.second, ["a/A1": nil, "b/B3": nil])
        try office.heal()
        let view = office.pair.view
        #expect(view.clones.isEmpty && view.quarantine.isEmpty && view.live.count == 2)
        #expect(office.text(.first, file) == #"{"title": "other plan", "x": 1.0, "b": "B2"}"#)
    }
}
