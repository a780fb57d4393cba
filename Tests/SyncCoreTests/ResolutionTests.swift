/// INV-12, INV-17, INV-19: the resolution is a function of what was written, not of who looks or when it arrived.
/// Every history of a few acts on each side is made and judged (`Histories.swift`); the decision table is told as stories.
import SyncCore
import SyncModel
import Testing

struct ResolutionTests {
    /// Clocks that stand still make causes the only order; one that is ahead makes all its acts later than the other's.
    /// The two sides are treated alike by the generator, so one half of (key order × clock) stands for the other.
    struct Nature: CustomTestStringConvertible {
        let leftKeyIsSmaller: Bool
        let leftLeadMilliseconds: Int64

        var testDescription: String {
            "the \(leftKeyIsSmaller ? "smaller" : "larger") key \(leftLeadMilliseconds > 0 ? "is ahead" : "ties")"
        }

        var start: History {
            History(leftKeyIsSmaller: leftKeyIsSmaller, leftWall: 1_000 + leftLeadMilliseconds, rightWall: 1_000)
        }

        static let all = [
            Nature(leftKeyIsSmaller: true, leftLeadMilliseconds: 0),
            Nature(leftKeyIsSmaller: true, leftLeadMilliseconds: 100),
            Nature(leftKeyIsSmaller: false, leftLeadMilliseconds: 100),
        ]
    }

    /// Explores a scope, judges every history in it, and returns how many there were.
    private func judge(_ scope: Scope, from start: History) -> Int {
        var findings = SortedMap<String, (count: Int, first: String)>()
        let count = scope.explore(from: start) { history in
            for promise in Promises.broken(in: history) {
                findings[promise, default: (0, history.sketch)].count += 1
            }
        }
        for (promise, found) in findings {
            Issue.record("\(promise), in \(found.count) histories, the first: \(found.first)")
        }
        return count
    }

    @Test(
        "INV-01 INV-06 INV-12 INV-17 INV-19: all 50,529 histories of two acts a side, all acts", arguments: Nature.all)
    func twoActs(nature: Nature) {
        #expect(judge(Scope(acts: Act.allCases, depth: [2, 2]), from: nature.start) == 50_529)
    }

    @Test("the same for histories of three acts a side, of fewer kinds", arguments: Nature.all)
    func threeActs(nature: Nature) {
        var count = 0
        for acts: [Act] in [
            [.writeA, .writeB, .remove], [.writeA, .makeDirectory, .remove], [.link, .makeDirectory, .changeMode],
        ] {
            count += judge(Scope(acts: acts, depth: [3, 3], actsBeforeApply: false), from: nature.start)
        }
        #expect(count == 0)
    }

    @Test("the same after a state that both sides agreed on", arguments: Nature.all)
    func afterBase(nature: Nature) {
        var count = 0
        for act: Act in [.writeA, .makeDirectory] {
            var start = nature.start
            _ = start.act(Move(side: .left, taken: 0, applied: true, act: act))
            start.exchange()
            start.settle()
            count += judge(Scope(acts: Act.allCases, depth: [3, 2], actsBeforeApply: false), from: start)
        }
        #expect(count == 0)
    }
}
