/// The stories of the design: one link cut, two people, one place.
import RecordMerge
import SyncModel
import Testing

enum Models {
    /// A and B need each other. The register is A's.
    static func ab(_ inA: String = "", _ inB: String = "", entity: String = "") throws -> Model {
        try Model(
            entities: #"{"A": {"files": "a/*", "id": "stem"\#(entity), "fields": {"title": {"type": "string"}}, "#
                + #""relations": {"b": {"to": "B", "kind": "one", "required": true, "inverse": "a"\#(inA)}}}, "#
                + #""B": {"files": "b/*", "id": "stem"\#(entity), "fields": {"title": {"type": "string"}}, "#
                + #""relations": {"a": {"to": "A", "kind": "one", "required": true, "inverse": "b"\#(inB)}}}}"#)
    }
}

@Suite("A needs its B, B its A")
struct StoryTests {
    let a1 = RecordID.named("A/A1")
    let b1 = RecordID.named("B/B1")
    let b2 = RecordID.named("B/B2")
    let b3 = RecordID.named("B/B3")

    /// Both have A1 and B1, the link is cut, each makes a new B for A1.
    private func cut(_ model: Model, firstActs party: Party = .first) -> Pair {
        var pair = Pair(model)
        pair.act(.first, .insert(a1), .insert(b1), .set(b1, "title", "old"), .link(a1, "b", "B1"))
        pair.heal()
        pair.act(party, .delete(b1), .insert(b2), .set(b2, "title", "two"), .link(a1, "b", "B2"))
        pair.act(party.other, .delete(b1), .insert(b3), .set(b3, "title", "three"), .link(a1, "b", "B3"))
        return pair
    }

    @Test("AB-1, I8, V6: one of both is linked, the other is kept, and both nodes say the same") func ab1() throws {
        var pair = cut(try Models.ab())
        pair.heal()
        #expect(
            pair.view.lines == [
                "concurrent A/A1.b -> B/B2 by first 2.3", "dead B/B1", "live A/A1 {b=[B/B3]}",
                #"live B/B3 {a=[A/A1] title="three"}"#, #"out B/B2 {title="two"} lostSlot A.b A/A1 B/B3"#,
            ])
        #expect(pair.view(of: .first).digest == pair.view(of: .second).digest)
        #expect(pair.view.quarantine[b2]?.group == b2)
        #expect(pair.view.repaired == [b2])
    }

    @Test("AB-1 where those who compete hold the register: who has seen both and links one of them again has decided")
    func decided() throws {
        let (a2, a3) = (RecordID.named("A/A2"), RecordID.named("A/A3"))
        var pair = Pair(try Models.ab())
        pair.act(.first, .insert(a1), .insert(b1), .link(a1, "b", "B1"))
        pair.heal()
        pair.act(.first, .delete(a1), .insert(a2), .link(a2, "b", "B1"))
        pair.act(.second, .delete(a1), .insert(a3), .link(a3, "b", "B1"))
        pair.heal()
        #expect(pair.view.quarantine[a2]?.isDecided == false)
        // Ten edits of either decide nothing.
        for round in 1...10 {
            pair.act(.first, .set(a2, "title", "\(round)"))
            pair.act(.second, .set(a3, "title", "\(round)"))
            pair.heal()
        }
        #expect(pair.view.quarantine[a2]?.isDecided == false)
        pair.act(.second, .link(a2, "b", "B1"))
        // What a node has not heard of yet it does not take for decided.
        #expect(pair.view(of: .first).quarantine[a2]?.isDecided == false)
        pair.heal()
        #expect(pair.view.lines.contains("out A/A3 {b=[B/B1] title=\"10\"} lostSlot A.b B/B1 A/A2"))
        #expect(pair.view.quarantine[a3]?.isDecided == true)
        // And back.
        pair.act(.first, .link(a3, "b", "B1"))
        pair.heal()
        #expect(pair.view.quarantine[a2]?.isDecided == true)
        // Nobody has chosen by a save that wants the place for the loser and leaves it to whoever has it.
        pair.act(.second, .link(a2, "b", "B1"), .link(a3, "b", "B1"))
        pair.heal()
        #expect(pair.view.lines.contains("out A/A2 {b=[B/B1] title=\"10\"} lostSlot A.b B/B1 A/A3"))
        #expect(pair.view.quarantine[a2]?.isDecided == false)
        pair.act(.first, .link(a3, "b", "B1"))
        pair.heal()
        #expect(pair.view.quarantine[a2]?.isDecided == true)
    }

    @Test("I16, I17: repair tries nothing again and gives nothing up: what cannot be live is out, all else goes on")
    func repairEnds() throws {
        var pair = cut(try Models.ab())
        // Nothing at all can be done for somebody who needs one who never was.
        pair.act(.first, .insert(.named("A/lost")), .link(.named("A/lost"), "b", "nobody"))
        pair.heal()
        let other = (RecordID.named("A/9"), RecordID.named("B/9"))
        pair.act(.second, .insert(other.0), .insert(other.1), .link(other.0, "b", "9"))
        pair.heal()
        #expect(pair.view.live.keys.sorted() == [other.0, a1, other.1, b3].sorted())
        #expect(pair.view.quarantine.keys.sorted() == [.named("A/lost"), b2].sorted())
        // One pass: what is left of repair needs no other.
        #expect(RecordView(of: pair.all, model: pair.model) == pair.view)
    }

    @Test("I19: repair writes nothing, so to undo the last edit undoes no repair") func undo() throws {
        var pair = cut(try Models.ab())
        pair.heal()
        let (sets, repaired) = (pair.all.count, pair.view)
        pair.act(.first, .set(a1, "title", "edited"))
        pair.act(.first, Operation(a1, .set(PropertyName("title"), nil)))
        pair.heal()
        #expect(pair.all.count == sets + 2)
        #expect(pair.view.quarantine == repaired.quarantine && pair.view.dead == repaired.dead)
        #expect(pair.view.live[a1]?.links == repaired.live[a1]?.links && pair.view.live[b3] == repaired.live[b3])
    }

    @Test("V7: the later one wins, whoever it is") func swapped() throws {
        let one = cut(try Models.ab()).view
        let other = cut(try Models.ab(), firstActs: .second).view
        #expect(one.live == other.live && one.quarantine == other.quarantine && one.dead == other.dead)
        #expect(one.concurrent.map(\.write.author) == [.first] && other.concurrent.map(\.write.author) == [.second])
    }

    @Test("V8: `take` on one node swaps the roles on both, and the contest is over") func take() throws {
        var pair = cut(try Models.ab())
        pair.heal()
        pair.act(.second, .link(a1, "b", "B2"))
        pair.heal()
        #expect(pair.view.live[a1]?.links[PropertyName("b")] == [b2])
        #expect(pair.view.concurrent.isEmpty)
        #expect(pair.view.quarantine[b3]?.reason == .missing(RelationName(EntityName("A"), PropertyName("b"))))
    }

    @Test("V9: two people who clean up crosswise leave A1 valid") func crosswise() throws {
        var pair = cut(try Models.ab())
        pair.heal()
        pair.act(.first, .link(a1, "b", "B2"), .delete(b3))
        pair.act(.second, .delete(b2))
        pair.heal()
        #expect(
            pair.view.lines == ["dead B/B1", "dead B/B3", "live A/A1 {b=[B/B2]}", #"live B/B2 {a=[A/A1] title="two"}"#])
    }

    @Test("V10, I9: edits of the loser from either side arrive, and all else goes on") func editsOfTheLoser() throws {
        var pair = cut(try Models.ab())
        pair.act(.first, .set(b2, "title", "before"))
        pair.heal()
        for number in 0..<10 {
            pair.act(
                number % 2 == 0 ? .first : .second, .set(b2, "title", "edit \(number)"), .set(a1, "title", "\(number)"))
            pair.heal()
            #expect(pair.view.quarantine[b2]?.record.values[PropertyName("title")] == .string("edit \(number)"))
            #expect(pair.view.live[a1]?.values[PropertyName("title")] == .string("\(number)"))
        }
    }

    @Test("V16: what was discarded comes back as it was") func restore() throws {
        var pair = cut(try Models.ab())
        pair.heal()
        let before = pair.view.quarantine[b2]
        pair.act(.first, .delete(b2))
        #expect(pair.view(of: .first).quarantine.isEmpty)
        pair.act(.first, .restore(b2))
        #expect(pair.view(of: .first).quarantine[b2] == before)
    }

    @Test("the winner leaves, and the loser takes the place") func grow() throws {
        var pair = cut(try Models.ab(entity: #", "onConcurrentDelete": "quarantine""#))
        pair.act(.second, .set(b3, "title", "four"), .set(b3, "title", "five"))
        pair.receive(.first)
        pair.act(.first, .delete(b3))
        pair.act(.second, .set(b3, "title", "six"))
        pair.heal()
        #expect(pair.view.live[a1]?.links[PropertyName("b")] == [b2])
        #expect(pair.view.quarantine[b3]?.reason == .deletedWhileEdited)
    }

    @Test("a model may say that losers go, or where they go") func policies() throws {
        let dropping = cut(try Models.ab(#", "onContest": "delete""#)).view
        #expect(dropping.dropped.map(\.key) == [b2] && dropping.quarantine.isEmpty)
        var pair = cut(try Models.ab(#", "onContest": "rehome(home)""#))
        #expect(pair.view.quarantine.map(\.key) == [b2])
        let (home, guest) = (RecordID.named("A/home"), RecordID.named("B/guest"))
        pair.act(.first, .insert(home), .insert(guest), .link(home, "b", "guest"))
        #expect(pair.view.quarantine.map(\.key) == [b2])
    }

    @Test("I1, I2: two singletons become one, references follow, fields merge") func singletons() throws {
        let model = try Model.sketch(
            "S singleton",
            "N; s one S required")
        var pair = Pair(model)
        let (s1, s2) = (RecordID.named("S/s1"), RecordID.named("S/s2"))
        pair.act(.first, .insert(s1), .set(s1, "x", "1"), .set(s1, "y", "1"))
        pair.act(.second, .insert(s2), .set(s2, "x", "2"), .insert(.named("N/n")), .link(.named("N/n"), "s", "s2"))
        #expect(
            pair.view.lines == [
                "alias S/s2 S/s1", #"concurrent S/s1.x "1" by first 1.1"#, "live N/n {s=[S/s1]}",
                #"live S/s1 {x="2" y="1"}"#,
            ])
    }

    @Test("what both edited and then both deleted is dead") func bothDelete() throws {
        var pair = Pair(try Models.ab())
        pair.act(.first, .insert(a1), .insert(b1), .link(a1, "b", "B1"))
        pair.heal()
        for party in [Party.first, .second] {
            pair.act(party, .set(a1, "title", "\(party)"))
            pair.act(party, .delete(a1), .delete(b1))
        }
        #expect(pair.view.lines == ["dead A/A1", "dead B/B1"])
    }

    @Test("a delete gives way to a link that it had not seen") func deny() throws {
        var pair = Pair(try Models.ab())
        pair.act(.first, .insert(a1), .insert(b1), .link(a1, "b", "B1"))
        pair.heal()
        pair.act(.first, .delete(a1), .delete(b1))
        pair.act(.second, .set(a1, "title", "mine"))
        #expect(pair.view.lines == [#"live A/A1 {b=[B/B1] title="mine"}"#, "live B/B1 {a=[A/A1]}"])
    }
}
