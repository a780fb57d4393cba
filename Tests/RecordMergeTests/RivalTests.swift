/// Two records that are one by their natural key, and what they say apart: kept side by side until somebody who has seen both chooses.
import RecordMerge
import SyncModel
import Testing

@Suite("Two names of one thing")
struct RivalTests {
    private let one = RecordID.named("F/1")
    private let two = RecordID.named("F/2")

    /// Each node has a friend called Ann of its own. The second one's was made later.
    private func friends(_ first: [Operation], _ second: [Operation]) throws -> Pair {
        var pair = Pair(try Model.sketch("F identity=name; name string; phone string; mail string; home one H", "H"))
        pair.act(.first, [.insert(.named("H/1")), .insert(.named("H/2"))])
        pair.heal()
        pair.act(.first, [.insert(one), .set(one, "name", "Ann")] + first)
        pair.act(.second, [.insert(two), .set(two, "name", "Ann")] + second)
        return pair
    }

    private func rival(in pair: Pair) -> RecordView.Rival? { pair.view.rivals[two] }

    @Test("what differs is there under both names, and what only one has is no difference") func differences() throws {
        let pair = try friends(
            [.set(one, "phone", "1"), .set(one, "mail", "a@b")], [.set(two, "phone", "2"), .link(two, "home", "2")])
        let found = try #require(rival(in: pair))
        #expect(found.values == [PropertyName("phone")] && found.links.isEmpty)
        #expect(found.own.text == #"{home=[H/2] name="Ann" phone="2"}"#)
        #expect(found.eldest.text == #"{mail="a@b" name="Ann" phone="1"}"#)
        #expect(found.shown.text == #"{phone="2"}"#)
        #expect(pair.view.live[one]?.text == #"{home=[H/2] mail="a@b" name="Ann" phone="2"}"#)
        #expect(pair.view.rivals.map(\.key) == [two])
    }

    @Test("links differ like values") func links() throws {
        let pair = try friends([.link(one, "home", "1")], [.link(two, "home", "2")])
        #expect(rival(in: pair)?.links == [PropertyName("home")] && rival(in: pair)?.shown.text == "{home=[H/2]}")
    }

    @Test("the same values, or a second record by somebody who knew the first, are nobody's choice") func same() throws
    {
        #expect(rival(in: try friends([.set(one, "phone", "1")], [.set(two, "phone", "1")])) == nil)
        var pair = try friends([.set(one, "phone", "1")], [])
        pair.heal()
        pair.act(.second, .set(two, "phone", "2"))
        #expect(rival(in: pair) == nil && pair.view.live[one]?.text == #"{name="Ann" phone="2"}"#)
    }

    @Test("two names that one set writes to stand beside each other, seen or not; the next who writes there has chosen")
    func together() throws {
        var pair = Pair(try Model.sketch("F identity=name; name string; phone string; mail string; home one H", "H"))
        let three = RecordID.named("F/3")
        let ids = [(one, "1"), (two, "2"), (three, "2")]
        pair.act(
            .first,
            ids.flatMap { id, text -> [Operation] in
                [.insert(id), .set(id, "name", "Ann"), .set(id, "phone", text), .link(id, "home", text)]
            } + [.insert(.named("H/1")), .insert(.named("H/2"))])
        #expect(pair.view.rivals.map(\.key) == [two, three])
        #expect(rival(in: pair)?.own.text == #"{home=[H/2] name="Ann" phone="2"}"#)
        #expect(rival(in: pair)?.eldest.text == #"{home=[H/1] name="Ann" phone="1"}"#)
        #expect(pair.view.live[one]?.text == #"{home=[H/2] name="Ann" phone="2"}"#)
        pair.heal()
        pair.act(.second, [.set(one, "phone", "4"), .set(two, "phone", "5"), .link(one, "home", "1")])
        #expect(rival(in: pair)?.values == [PropertyName("phone")] && rival(in: pair)?.links == [])
        #expect(pair.view.rivals.map(\.key) == [two])
        pair.act(.second, .set(two, "phone", "6"))
        #expect(pair.view.rivals.isEmpty && pair.view.live[one]?.text == #"{home=[H/1] name="Ann" phone="6"}"#)
    }

    @Test("who makes a second name has chosen over no other, whatever he had seen; the next who writes there has")
    func made() throws {
        var pair = Pair(try Model.sketch("F identity=name; name string; phone string; home one H", "H"))
        pair.act(.first, [.insert(.named("H/1")), .insert(.named("H/2"))])
        pair.act(.first, [.insert(one), .set(one, "name", "Ann"), .set(one, "phone", "1"), .link(one, "home", "1")])
        pair.act(.first, [.insert(two), .set(two, "name", "Ann"), .set(two, "phone", "2"), .link(two, "home", "2")])
        #expect(rival(in: pair)?.values == [PropertyName("phone")] && rival(in: pair)?.links == [PropertyName("home")])
        #expect(pair.view.live[one]?.text == #"{home=[H/2] name="Ann" phone="2"}"#)
        pair.act(.first, .set(two, "phone", "3"))
        #expect(rival(in: pair)?.values == [] && rival(in: pair)?.links == [PropertyName("home")])
        pair.act(.first, .link(one, "home", "1"))
        #expect(rival(in: pair) == nil && pair.view.live[one]?.text == #"{home=[H/1] name="Ann" phone="3"}"#)
    }

    @Test("but over one that he had deleted he has, also if somebody who did not know of that still writes to it")
    func deleted() throws {
        for isTogether in [true, false] {
            var pair = Pair(try Model.sketch("F identity=name; name string; phone string; mail string", "H"))
            pair.act(.first, [.insert(one), .set(one, "name", "Ann"), .set(one, "phone", "1")])
            pair.heal()
            pair.act(.second, .set(one, "mail", "a"))
            let anew: [Operation] = [.insert(two), .set(two, "name", "Ann"), .set(two, "phone", "2")]
            if isTogether {
                pair.act(.first, anew + [.delete(one)])
            } else {
                pair.act(.first, .delete(one))
                pair.act(.first, anew)
            }
            #expect(rival(in: pair) == nil)
            #expect(pair.view.live[one]?.text == #"{mail="a" name="Ann" phone="2"}"#)
            pair.heal()
            var space = RecordSpace(of: pair.all, model: pair.model)
            space.forget(pair.applied(by: .first))
            #expect(space.view.rivals.isEmpty && space.view.live == pair.view.live)
            pair.act(.second, .restore(one))
            #expect(rival(in: pair)?.values == [PropertyName("phone")])
        }
    }

    @Test("nor has who writes to a name without knowing that it was made; what may be forgotten leaves that as it is")
    func unheard() throws {
        var pair = Pair(try Model.sketch("F identity=name; name string; phone string", "H"))
        pair.act(.first, [.insert(two), .set(two, "name", "Ann"), .set(two, "phone", "2")])
        pair.act(.second, [.insert(one), .set(one, "name", "Ann"), .set(one, "phone", "1")])
        pair.act(.second, [.insert(two), .set(two, "name", "Ann"), .set(two, "phone", "3")])
        #expect(pair.view.rivals[one]?.own.text == #"{name="Ann" phone="1"}"#)
        #expect(pair.view.live[two]?.text == #"{name="Ann" phone="3"}"#)
        pair.act(.second, .set(two, "phone", "4"))
        #expect(pair.view.rivals[one]?.shown.text == #"{phone="4"}"#)
        let before = pair.view
        pair.heal()
        var space = RecordSpace(of: pair.all, model: pair.model)
        space.forget(pair.applied(by: .first))
        #expect(space.view.rivals == before.rivals && space.view.live == before.live)
        pair.act(.second, .set(two, "phone", "5"))
        #expect(pair.view.rivals.isEmpty && pair.view.live[two]?.text == #"{name="Ann" phone="5"}"#)
    }

    @Test("whoever has seen both and writes has chosen, whatever he writes; an edit by one who has not is none")
    func chosen() throws {
        var pair = try friends([.set(one, "phone", "1")], [.set(two, "phone", "2")])
        pair.act(.first, .set(one, "phone", "3"))
        #expect(rival(in: pair)?.eldest.text == #"{name="Ann" phone="3"}"#)
        pair.heal()
        pair.act(.first, .set(one, "phone", "2"))
        #expect(rival(in: pair) == nil && pair.view.concurrent.allSatisfy { $0.property == PropertyName("name") })
    }

    @Test("what may be forgotten leaves it as it is") func forgotten() throws {
        var pair = try friends([.set(one, "phone", "1")], [.set(two, "phone", "2")])
        pair.heal()
        for party in [Party.first, .second] {
            pair.act(party, .set(one, "mail", "\(party)"))
            pair.heal()
        }
        var space = RecordSpace(of: pair.all, model: pair.model)
        let before = space.view.rivals
        space.forget(pair.applied(by: .first))
        #expect(space.view.rivals == before && !before.isEmpty)
        #expect(RecordView(of: space.history, model: pair.model).rivals == before)
    }
}
