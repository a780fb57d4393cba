/// What fold and repair cost. Only where SYNCD_BENCH is set, and meant for release builds.
import Foundation
import SyncModel
import Testing

@testable import RecordMerge

@Suite(
    "speed", .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["SYNCD_BENCH"] != nil, "SYNCD_BENCH is not set"))
struct SpeedTests {
    @Test("field operations in a second", arguments: [10_000, 100_000]) func fields(records: Int) throws {
        let model = try Models.ab()
        var pair = Pair(model)
        for number in 0..<records {
            let (a, b) = (RecordID("A", "\(number)"), RecordID("B", "\(number)"))
            pair.act(
                .first, .insert(a), .insert(b), .link(a, "b", "\(number)"), .set(a, "title", "x"), .set(b, "title", "y")
            )
        }
        pair.heal()
        for number in 0..<records { pair.act(.second, .set(RecordID("A", "\(number)"), "title", "z")) }
        let changes = pair.all
        let operations = changes.reduce(0) { $0 + $1.operations.count }
        let spent = spend(on: changes, model)
        let rate = Int(Double(operations) / (spent.fold + spent.graph + spent.repair))
        print("FIGURE \(operations) operations: \(spent), \(rate) folded and repaired in a second")
    }

    @Test("contests at once", arguments: [10_000, 20_000]) func contests(count: Int) throws {
        let model = try Models.ab()
        var pair = Pair(model)
        for number in 0..<count {
            let (a, b) = (RecordID("A", "\(number)"), RecordID("B", "\(number)"))
            pair.act(.first, .insert(a), .insert(b), .link(a, "b", "\(number)"))
        }
        pair.heal()
        for party in [Party.first, .second] {
            for number in 0..<count {
                let (a, old) = (RecordID("A", "\(number)"), RecordID("B", "\(number)"))
                let key = "\(number) of \(party)"
                pair.act(party, .delete(old), .insert(RecordID("B", key)), .link(a, "b", key))
            }
        }
        let changes = pair.all
        print("FIGURE \(count) contests: \(spend(on: changes, model))")
        #expect(RecordView(of: changes, model: model).quarantine.count == count)
    }

    @Test("one remote field into many records", arguments: [10_000, 100_000]) func oneField(records: Int) throws {
        let model = try Models.ab()
        var pair = Pair(model)
        for number in 0..<records {
            let (a, b) = (RecordID("A", "\(number)"), RecordID("B", "\(number)"))
            pair.act(.first, .insert(a), .insert(b), .link(a, "b", "\(number)"), .set(a, "title", "x"))
        }
        pair.heal()
        let known = pair.all
        for number in 0..<1_000 {
            pair.act(.second, .set(RecordID("A", "\(number * (records / 1_000))"), "title", "z"))
        }
        for number in 0..<1_000 {
            let (a, b) = (RecordID("A", "\(number * (records / 1_000))"), RecordID("B", "new \(number)"))
            pair.act(.second, .insert(b), .link(a, "b", "new \(number)"))
        }
        var space = RecordSpace(model: model)
        var load = 0.0
        measure(&load) { _ = space.add(known) }
        let news = pair.all.dropFirst(records)
        for (name, part) in [("values", news.prefix(1_000)), ("links", news.suffix(1_000))] {
            let spent = part.map { set in
                var seconds = 0.0
                measure(&seconds) { _ = space.add(CollectionOfOne(set)).records.count }
                return seconds * 1_000_000
            }.sorted()
            let told = "one remote set of \(name): \(spent[500]) µs, p99 \(spent[990])"
            print("FIGURE \(2 * records) records loaded in \(load) s; \(told)")
        }
        #expect(space.view == pair.view)
    }

    struct Spent: CustomStringConvertible {
        var fold = 0.0
        var graph = 0.0
        var repair = 0.0
        var view = 0.0

        var description: String {
            "fold \(fold) s, repair \(graph + repair) s (graph \(graph)), view \(view) s of processor time"
        }
    }

    private func spend(on changes: [ChangeSet], _ model: Model) -> Spent {
        var spent = Spent()
        let fold = measure(&spent.fold) { Fold(History(changes), model: ModelIndex(model)) }
        let graph = measure(&spent.graph) { Graph(fold) }
        let repair = measure(&spent.repair) { Repair(graph) }
        _ = measure(&spent.view) { ViewMaker(repair).view().live.count }
        return spent
    }

    private func measure<Result>(_ seconds: inout Double, _ work: () -> Result) -> Result {
        let start = clock()
        defer { seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC) }
        return work()
    }
}
