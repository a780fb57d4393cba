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

    @Test("I18: all faults are told, by id and property, in one order, whatever the order of the save") func several()
        throws
    {
        let model = try Model.sketch(
            "A; b one B inverse=a onDelete=deny; c many C inverse=a onDelete=deny; t string required",
            "B; a one A inverse=b required", "C; a one A inverse=c")
        let begin: [Operation] = [
            .insert(.named("A/1")), .set(.named("A/1"), "t", "x"), .insert(.named("B/1")),
            .link(.named("A/1"), "b", "1"),
            .insert(.named("C/1")), .link(.named("C/1"), "a", "1"), .insert(.named("C/2")),
            .link(.named("C/2"), "a", "1"),
        ]
        let save: [Operation] = [
            .insert(.named("A/5")), .insert(.named("B/9")), .insert(.named("B/3")), .delete(.named("A/1")),
        ]
        var told: Set<[String]> = []
        for order in SaveCheckTests.orders(of: save) { told.insert(faults(model, begin, order)) }
        #expect(
            told == [
                [
                    "A/1 may not be deleted while it has C/1 by c", "A/1 may not be deleted while it has C/2 by c",
                    "A/5 has no t, or not of the type that its model says",
                    "B/1 needs A/1 by A.b, which is not there",
                    "B/3 needs somebody by A.b, and nobody is named", "B/9 needs somebody by A.b, and nobody is named",
                ]
            ])
    }

    private static func orders(of operations: [Operation]) -> [[Operation]] {
        guard operations.count > 1 else { return [operations] }
        return operations.indices.flatMap { index in
            var rest = operations
            let first = rest.remove(at: index)
            return orders(of: rest).map { [first] + $0 }
        }
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
