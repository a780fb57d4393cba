/// I14: strays are named, and a live graph that breaks a rule is seen, whatever the view says.
import SyncModel
import Testing

@testable import RecordMerge

@Suite("a look at the whole graph")
struct GraphScanTests {
    private static func couple(_ pair: inout Pair) {
        let (a, b) = (RecordID("A", "1"), RecordID("B", "1"))
        pair.act(.first, .insert(a), .insert(b), .link(a, "b", "1"))
        pair.heal()
    }

    private static func space(of pair: Pair) -> RecordSpace {
        var space = RecordSpace(model: pair.model)
        space.add(pair.all)
        return space
    }

    @Test("I14: a whole graph has neither strays nor faults; who lost a place is a stray, with the reason")
    func strays() throws {
        var pair = Pair(try Models.ab())
        Self.couple(&pair)
        let whole = GraphScan(of: [Self.space(of: pair)])
        #expect(whole.live == 2 && whole.dead == 0 && whole.strays.isEmpty && whole.faults.isEmpty)
        let a = RecordID("A", "1")
        for (party, key) in [(Party.first, "2"), (.second, "3")] {
            pair.act(party, .delete(RecordID("B", "1")), .insert(RecordID("B", key)), .link(a, "b", key))
        }
        pair.heal()
        let scan = GraphScan(of: [Self.space(of: pair)])
        #expect(scan.live == 2 && scan.dead == 1 && scan.faults.isEmpty)
        #expect(scan.strays.count == 1 && scan.strays[0].hasPrefix("B/"), "\(scan.strays)")
    }

    @Test("I14: what points at nobody is a stray") func unknown() throws {
        var pair = Pair(try Models.ab())
        Self.couple(&pair)
        pair.act(.first, .set(RecordID("A", "nobody"), "title", "x"))
        pair.heal()
        let scan = GraphScan(of: [Self.space(of: pair)])
        #expect(scan.strays == ["A/nobody is written to or pointed at, and nobody made it"] && scan.faults.isEmpty)
    }

    @Test("I14: a view that is not what its sets come to is a fault") func otherView() throws {
        var pair = Pair(try Models.ab())
        Self.couple(&pair)
        pair.act(.first, .delete(RecordID("A", "1")), .delete(RecordID("B", "1")))
        pair.heal()
        // Only the first set is known, and what was made of all of them is left standing.
        var space = Self.space(of: pair)
        space.view = RecordView(of: Array(pair.all.prefix(1)), model: pair.model)
        #expect(!GraphScan(of: [space]).faults.isEmpty)
    }
}
