/// I15: the same state, judged strictly as a save and never as an import.
import RecordMerge
import SyncModel
import Testing

@Suite("a save is judged strictly")
struct SaveCheckTests {
    private func faults(_ model: Model, _ begin: [Operation], _ save: [Operation]) -> [String] {
        var pair = Pair(model)
        pair.act(.first, begin)
        let known = pair.all
        pair.act(.first, save)
        guard let change = pair.all.last else { return [] }
        return SaveCheck(change, after: known, model: model).faults.map(\.description)
    }

    private let both: [Operation] = [
        .insert(.named("A/1")), .insert(.named("B/1")), .link(.named("A/1"), "b", "1"),
    ]

    @Test("I15: a half of a change is told, the whole passes") func halves() throws {
        let model = try Models.ab()
        #expect(faults(model, both, [.delete(.named("B/1"))]) == ["A/1 needs B/1 by A.b, which is not there"])
        #expect(faults(model, both, [.insert(.named("B/2"))]) == ["B/2 needs somebody by A.b, and nobody is named"])
        #expect(
            faults(model, both, [.insert(.named("B/2")), .link(.named("A/1"), "b", "2")])
                == ["B/1 needs somebody by A.b, and nobody is named"])
        #expect(
            faults(model, both, [.delete(.named("B/1")), .insert(.named("B/2")), .link(.named("A/1"), "b", "2")]) == [])
    }

    @Test("I18: all faults are told, by id, in one order") func several() throws {
        let model = try Models.ab()
        let save: [Operation] = ["B/9", "A/5", "B/3"].map { .insert(.named($0)) }
        #expect(faults(model, both, save).map { $0.prefix(3) } == ["A/5", "B/3", "B/9"])
    }

    @Test("a denied delete, a second singleton, a key that is taken, a wrong value") func others() throws {
        let deny = try Model.sketch("A; b one B inverse=a onDelete=deny", "B; a one A inverse=b")
        #expect(faults(deny, both, [.delete(.named("A/1"))]) == ["A/1 may not be deleted while it has B/1 by b"])
        #expect(faults(deny, both, [.delete(.named("A/1")), .delete(.named("B/1"))]) == [])
        let single = try Model.sketch("A singleton")
        #expect(faults(single, [.insert(.named("A/1"))], [.insert(.named("A/2"))]) == ["A/2 would be the same as A/1"])
        let keyed = try Model.sketch("A identity=n; n string; i integer")
        let begin: [Operation] = [.insert(.named("A/1")), .set(.named("A/1"), "n", "x"), .insert(.named("A/2"))]
        #expect(faults(keyed, begin, [.set(.named("A/2"), "n", "x")]) == ["A/2 would be the same as A/1"])
        #expect(
            faults(keyed, begin, [.set(.named("A/2"), "i", "x")])
                == ["A/2 has no i, or not of the type that its model says"])
    }

    @Test("what is in quarantine already may be edited there") func quarantined() throws {
        let model = try Models.ab()
        #expect(faults(model, both + [.insert(.named("B/2"))], [.set(.named("B/2"), "title", "x")]) == [])
    }
}
