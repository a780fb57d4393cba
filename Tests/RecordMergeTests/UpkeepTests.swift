/// What a save has to say beside what was edited, so that nothing falls that its author could not know to hang on it.
import RecordMerge
import SyncModel
import Testing

@Suite("a save keeps standing what it would fell unknowingly")
struct UpkeepTests {
    /// What it says beside `save`, whose files would be saved with it, and which faults are left then.
    private struct Outcome {
        let faults: [String]
        let said: [Operation]
        let made: [RecordID]
        let left: [String]

        init(of save: [Operation], in before: Pair) throws {
            let faults = try Outcome.faults(of: save, in: before)
            let upkeep = Upkeep(for: faults, of: save, model: before.model, view: before.view)
            self.faults = faults.map(\.description)
            said = upkeep.operations
            made = upkeep.made
            left = try Outcome.faults(of: save + upkeep.operations, in: before).map(\.description)
        }

        private static func faults(of save: [Operation], in before: Pair) throws -> [SaveFault] {
            var after = before
            after.act(.first, save)
            let change = try #require(after.known(to: .first).last { $0.author == .first })
            return SaveCheck(change, after: before.all, model: before.model).faults
        }
    }

    /// Folders with room for so many notes; who finds none lies in `home`.
    private static func folders(room: Int) throws -> Pair {
        var pair = Pair(
            try Model.sketch(
                "F; notes many N inverse=f onDelete=cascade max=\(room) onContest=rehome(home)",
                "N; t string; f one F inverse=notes required"))
        pair.act(.first, .insert(.named("F/1")), .insert(.named("F/2")), .insert(.named("F/home")))
        pair.heal()
        return pair
    }

    /// One note too many is put into the folder 1, on both nodes at once.
    private static func overfill(_ pair: inout Pair) {
        pair.act(.first, .insert(.named("N/a")), .link(.named("N/a"), "f", "1"))
        pair.act(.second, .insert(.named("N/b")), .link(.named("N/b"), "f", "1"))
        pair.heal()
    }

    @Test("a note that found its place elsewhere stays there when the folder it was to lie in goes") func elsewhere()
        throws
    {
        var pair = try UpkeepTests.folders(room: 1)
        UpkeepTests.overfill(&pair)
        #expect(pair.view.live[.named("N/a")]?.links[PropertyName("f")] == [.named("F/home")])
        let outcome = try Outcome(of: [.delete(.named("F/1")), .delete(.named("N/b"))], in: pair)
        #expect(outcome.faults.count == 1)
        #expect(outcome.said == [.link(.named("N/a"), "f", "home")] && outcome.made.isEmpty)
        #expect(outcome.left.isEmpty)
    }

    @Test("a folder that is there for the note that is moved is restored for the one that stays") func folder() throws {
        var pair = try UpkeepTests.folders(room: 2)
        let note = RecordID.named("N/1")
        pair.act(
            .first, .insert(note), .link(note, "f", "home"), .insert(.named("N/x")), .link(.named("N/x"), "f", "1"))
        pair.heal()
        // Deleted with its note on one node, and the note is written to on the other: both are there.
        pair.act(.first, .delete(.named("F/home")), .delete(note))
        pair.act(.second, .set(note, "t", "x"))
        pair.heal()
        UpkeepTests.overfill(&pair)
        let view = pair.view
        let moved = view.live.filter { $0.key != note && $0.value.links[PropertyName("f")] == [.named("F/home")] }
        #expect(moved.count == 1)
        let outcome = try Outcome(of: [.link(note, "f", "2")], in: pair)
        #expect(outcome.faults.count == 1)
        #expect(outcome.said == [.restore(.named("F/home"))] && outcome.made.isEmpty)
        #expect(outcome.left.isEmpty)
    }

    @Test("a copy whose original goes becomes a record of its own, with all that it shows") func copy() throws {
        let pair = try ForkTests.contest()
        let clone = try #require(pair.view.clones.first?.key)
        let outcome = try Outcome(of: [.delete(.named("A/A1")), .delete(.named("B/B3"))], in: pair)
        #expect(outcome.faults.count == 1)
        #expect(
            outcome.said == [.insert(clone), .set(clone, "title", "plan"), .link(clone, "b", "B2")]
                && outcome.made == [clone])
        #expect(outcome.left.isEmpty)
    }

    @Test("who deletes what a file names is asked to mend that himself") func knowing() throws {
        var pair = Pair(try Models.ab())
        let (a, b) = (RecordID.named("A/1"), RecordID.named("B/1"))
        pair.act(.first, .insert(a), .insert(b), .link(a, "b", "1"))
        pair.heal()
        let outcome = try Outcome(of: [.delete(a)], in: pair)
        #expect(outcome.faults.count == 1 && outcome.left == outcome.faults)
        #expect(outcome.said.isEmpty && outcome.made.isEmpty)
    }
}
