/// What was forgotten is missed by nobody: the same view now, and the same with all that comes later.
import SyncModel
import Testing

@testable import RecordMerge

@Suite("garbage collection")
struct CompactionTests {
    @Test("the same view, and the same future, whoever has forgotten what: random histories") func futures() throws {
        var (whole, left) = (0, 0)
        for seed in 0..<Effort.times(150) {
            var chance = HistoryMaker(seed: UInt64(seed))
            var pair = try chance.history(actsMax: 16)
            var kept: [ChangeSet] = []
            var given = [0, 0]
            var space = RecordSpace(model: pair.model)
            for step in 0..<14 {
                kept += pair.made[0].dropFirst(given[0]) + pair.made[1].dropFirst(given[1])
                given = pair.made.map(\.count)
                if step % 3 == 0 { kept = CompactionTests.compacted(kept, pair) }
                space.add(pair.all)
                if step % 4 == 0 { space.forget(CompactionTests.stable(space.history, pair)) }
                #expect(space.view == pair.view, "seed \(seed) step \(step): the space")
                let (ours, theirs) = (RecordView(of: kept, model: pair.model), pair.view)
                guard ours == theirs, ours.digest == theirs.digest else {
                    let lost = Set(theirs.lines).subtracting(ours.lines).sorted()
                    let new = Set(ours.lines).subtracting(theirs.lines).sorted()
                    Issue.record("seed \(seed) step \(step): lost \(lost), new \(new)\n\(chance.entities)")
                    Issue.record("\(pair.all.map(\.sketch))\n\(kept.map(\.sketch))")
                    return
                }
                if step % 4 == 1 { pair.heal() }
                if step % 5 == 3 { pair.pass(days: 31) }
                chance.act(in: &pair)
            }
            whole += pair.all.reduce(0) { $0 + $1.operations.count }
            left += kept.reduce(0) { $0 + $1.operations.count }
        }
        print("FIGURE of \(whole) operations \(left) were left")
    }

    private static func compacted(_ changes: [ChangeSet], _ pair: Pair) -> [ChangeSet] {
        Compaction(of: changes, model: pair.model, stable: stable(changes, pair)).changes
    }

    private static func stable(_ changes: [ChangeSet], _ pair: Pair) -> Applied {
        let (first, second) = (pair.applied(by: .first), pair.applied(by: .second))
        let applied = Applied(first: min(first.first, second.first), second: min(first.second, second.second))
        return applied.stable(in: changes)
    }

    @Test("of a hundred edits that both have, the last is left; before that, all") func edits() throws {
        var pair = Pair(try Models.ab())
        let (a, b) = (RecordID("A", "1"), RecordID("B", "1"))
        pair.act(.first, .insert(a), .insert(b), .link(a, "b", "1"))
        for number in 0..<100 { pair.act(.first, .set(a, "title", "\(number)")) }
        #expect(CompactionTests.compacted(pair.all, pair) == pair.all)
        pair.heal()
        let left = CompactionTests.compacted(pair.all, pair)
        #expect(left.count == 2 && left.last == pair.all.last)
        #expect(RecordView(of: left, model: pair.model) == pair.view)
    }

    @Test("V16: what was deleted comes back for 30 days, whoever has forgotten what") func restore() throws {
        for days in [29, 30] as [UInt64] {
            var pair = Pair(try Models.ab())
            let (a, b) = (RecordID("A", "1"), RecordID("B", "1"))
            pair.act(.first, .insert(a), .insert(b), .link(a, "b", "1"), .set(b, "title", "precious"))
            pair.heal()
            pair.act(.first, .delete(a), .delete(b))
            pair.heal()
            pair.pass(days: days)
            pair.act(.second, .set(.named("C/1"), "x", "time goes on"))
            pair.heal()
            let left = CompactionTests.compacted(pair.all, pair)
            #expect(left.flatMap(\.operations).contains { $0.description.contains("precious") } == (days < 30))
            pair.act(.second, .restore(a), .restore(b), .link(a, "b", "1"))
            let after = RecordView(of: left + pair.made[1].suffix(1), model: pair.model)
            #expect(after == pair.view)
            #expect(after.live[b]?.values[PropertyName("title")] == (days < 30 ? .string("precious") : nil))
        }
    }

    @Test("who died together with one that outlived it comes back with all that it held, however late it is needed")
    func companions() throws {
        var pair = Pair(try Model.sketch("A; t string; b one B required", "B; t string"))
        let (a, b) = (RecordID("A", "1"), RecordID("B", "1"))
        pair.act(.first, .insert(a), .insert(b), .insert(.named("B/2")), .link(a, "b", "1"), .set(b, "t", "precious"))
        pair.heal()
        pair.act(.first, .delete(a), .delete(b))
        pair.act(.second, .set(a, "t", "edited meanwhile"), .link(a, "b", "2"))
        pair.heal()
        #expect(pair.view.dead == [b])
        pair.pass(days: 31)
        pair.act(.second, .set(.named("B/2"), "t", "time goes on"))
        pair.heal()
        let left = CompactionTests.compacted(pair.all, pair)
        #expect(RecordView(of: left, model: pair.model) == pair.view)
        pair.act(.first, .link(a, "b", "1"))
        let after = RecordView(of: left + pair.made[0].suffix(1), model: pair.model)
        #expect(after == pair.view && after.live[b]?.values[PropertyName("t")] == .string("precious"))
    }

    @Test("an edit of what outlived a delete counts against later ones, however late, whoever has forgotten what")
    func outliving() throws {
        var pair = Pair(try Model.sketch("N; t string"))
        let note = RecordID("N", "1")
        var left: [ChangeSet] = []
        pair.act(.first, .insert(note))
        pair.heal()
        for round in 0..<4 {
            pair.act(.first, .delete(note))
            pair.act(.second, .set(note, "t", "\(round)"))
            pair.heal()
            left = CompactionTests.compacted(pair.all, pair)
            #expect(pair.view.live[note] != nil && RecordView(of: left, model: pair.model) == pair.view)
            pair.pass(days: 31)
        }
        pair.act(.first, .delete(note))
        pair.act(.second, .set(note, "t", "unseen"))
        let news = [pair.made[0], pair.made[1]].flatMap { $0.suffix(1) }
        #expect(pair.all.count == 11 && RecordView(of: left + news, model: pair.model).live[note] != nil)
        pair.heal()
        pair.act(.first, .delete(note))
        pair.heal()
        #expect(pair.view.dead == [note])
    }

    @Test("sets that claim to have seen each other do not ask each other without end") func circle() throws {
        let model = try Model.sketch("N; t string")
        let note = RecordID("N", "1")
        func set(_ author: Party, _ seq: UInt64, seeing other: UInt64, _ operation: Operation) -> ChangeSet {
            let (own, others) = (position(seq), other == 0 ? .none : position(other))
            let seen = author == .first ? Applied(first: own, second: others) : Applied(first: others, second: own)
            return ChangeSet(
                author: author, position: own, time: HybridTime(wallMilliseconds: Int64(seq)), seen: seen,
                operations: [operation], files: [])
        }
        func position(_ seq: UInt64) -> LogPosition { LogPosition(epoch: Epoch(raw: 1), seq: seq) }
        let sets = [
            set(.first, 1, seeing: 0, .insert(note)), set(.second, 1, seeing: 1, .set(note, "t", "unaware")),
            set(.first, 2, seeing: 0, .delete(note)), set(.second, 2, seeing: 1, .delete(note)),
            set(.first, 3, seeing: 3, .set(note, "t", "one")), set(.second, 3, seeing: 3, .set(note, "t", "other")),
        ]
        #expect(RecordView(of: sets, model: model).dead == [note])
        #expect(RecordView(of: Array(sets.prefix(5)), model: model).dead == [note])
    }

    @Test("of each file the latest save is left") func files() throws {
        var pair = Pair(try Models.ab())
        let path = try #require(Path("a/1"))
        for text in ["1", "2", "3"] {
            let bytes = Array(text.utf8)
            let content = ContentID(SHA256.digest(of: bytes))
            pair.act(
                .first, [], files: [.init(path: path, content: content, bytes: bytes, mode: 0o644, modified: .zero)])
        }
        pair.act(.first, [], files: [.init(deleted: path, mode: 0o644, modified: .zero)])
        pair.heal()
        let left = CompactionTests.compacted(pair.all, pair)
        #expect(left.flatMap(\.files).map(\.bytes) == [[UInt8(ascii: "3")]])
        #expect(RecordView(of: left, model: pair.model).bases == pair.view.bases)
    }

    @Test("what two heads are merged with is not forgotten") func lines() throws {
        var pair = Pair(try Model.sketch("Note; text string merge=lines"))
        let note = RecordID("Note", "1")
        pair.act(.first, .insert(note), .set(note, "text", "a\nb\nc\nd\n"))
        pair.heal()
        pair.act(.first, .set(note, "text", "A\nb\nc\nd\n"))
        pair.act(.second, .set(note, "text", "a\nb\nc\nD\n"))
        pair.heal()
        let left = CompactionTests.compacted(pair.all, pair)
        let text = RecordView(of: left, model: pair.model).live[note]?.values[PropertyName("text")]
        #expect(text == .string("A\nb\nc\nD\n"))
    }

    @Test("what was overtaken, and is kept for what came with it, does not stand again beside who had not seen it")
    func overtaken() throws {
        var pair = Pair(try Models.ab())
        let (a, b) = (RecordID("A", "1"), ["1", "2", "3"].map { RecordID("B", $0) })
        pair.act(.first, b.map(Operation.insert))
        pair.heal()
        pair.act(.second, .insert(a), .set(a, "title", "theirs"), .link(a, "b", "1"))
        pair.heal()
        pair.act(.first, .link(a, "b", "2"))
        pair.act(.first, seeing: 0, .link(a, "b", "3"))
        pair.heal()
        pair.act(.second, .delete(a))
        pair.heal()
        let left = CompactionTests.compacted(pair.all, pair)
        #expect(RecordView(of: left, model: pair.model) == pair.view)
        pair.act(.first, .restore(a))
        let after = RecordView(of: left + pair.made[0].suffix(1), model: pair.model)
        #expect(after == pair.view)
        #expect(after.live[a]?.links[PropertyName("b")] == [b[2]])
    }
}
