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
    private func judge(
        _ scope: Scope, from start: History, by broken: (History) -> [String] = Promises.broken
    ) -> Int {
        var findings = SortedMap<String, (count: Int, first: String)>()
        let count = scope.explore(from: start) { history in
            for promise in broken(history) { findings[promise, default: (0, history.sketch)].count += 1 }
        }
        for (promise, found) in findings {
            Issue.record("\(promise), in \(found.count) histories, the first: \(found.first)")
        }
        return count
    }

    // How many histories there are depends on the nature too: where a loser lives on as a copy, that is written down, and it
    // is one more thing that can arrive early or late.

    @Test(
        "INV-06 INV-12 INV-14 INV-17: all histories of two acts a side, all acts",
        arguments: zip(Nature.all, [14_552, 14_358, 14_358]))
    func twoActs(nature: Nature, count: Int) {
        #expect(judge(Scope(acts: Act.allCases, depth: [2, 2]), from: nature.start) == count)
    }

    @Test("the same for all 15,556 histories of three acts a side, of three kinds", arguments: Nature.all)
    func threeActs(nature: Nature) {
        let scope = Scope(acts: [.writeA, .makeDirectory, .remove], depth: [3, 3])
        #expect(judge(scope, from: nature.start) == 15_556)
    }

    @Test(
        "the same where people act on what has come but is not in the folder yet",
        arguments: zip(Nature.all, [3_636, 3_600, 3_600]))
    func unapplied(nature: Nature, count: Int) {
        let acts: [Act] = [.writeA, .writeB, .remove, .changeMode]
        let scope = Scope(acts: acts, depth: [2, 2], actsBeforeApply: true)
        #expect(judge(scope, from: nature.start) == count)
    }

    @Test(
        "the same after a state that both sides agreed on",
        arguments: zip([Act.writeA, .makeDirectory], [[5_250, 5_250, 5_250], [5_266, 5_266, 5_234]]))
    func afterBase(act: Act, counts: [Int]) {
        let scope = Scope(acts: [.writeA, .writeB, .makeDirectory, .remove, .changeMode], depth: [3, 2])
        for (nature, count) in zip(Nature.all, counts) {
            var start = nature.start
            start.agree(on: act)
            #expect(judge(scope, from: start) == count, "\(nature.testDescription)")
        }
    }

    @Test(
        "INV-19: what one side meets the other would meet in its place",
        arguments: zip(Nature.all, [3_865, 3_833, 3_833]))
    func mirrored(nature: Nature, count: Int) {
        let scope = Scope(acts: [.writeA, .link, .makeDirectory, .remove, .touch], depth: [2, 2])
        #expect(judge(scope, from: nature.start, by: Promises.mirror) == count)
    }

    @Test(
        "INV-01 R-06: no file is lost to who never saw it",
        arguments: zip(Nature.all, [[9_207, 12_152, 7_566], [9_075, 12_040, 7_530], [9_075, 12_024, 7_530]]))
    func nothingLost(nature: Nature, counts: [Int]) {
        let two = Scope(acts: [.writeA, .writeB, .link, .makeDirectory, .remove, .changeMode], depth: [2, 2])
        let three = Scope(acts: [.writeA, .writeB, .remove], depth: [3, 2], actsBeforeApply: true)
        let inBetween = Scope(
            acts: [.writeA, .writeB, .makeDirectory, .changeMode], depth: [2, 2], actsBeforeApply: true)
        let judged = [two, three, inBetween].map { judge($0, from: nature.start, by: Promises.nothingLost) }
        #expect(judged == counts)
    }

    // MARK: The decision table, told

    /// What one side did and what the other did, at once, on a state both had agreed on.
    struct Story: CustomTestStringConvertible {
        let name: String
        let base: Act?
        let one: Act
        let two: Act
        let outcome: Outcome

        enum Outcome {
            /// Content, mode and time each as this side has it.
            case from(content: Source, mode: Source, time: Source, isConflict: Bool)
            case nothing
        }

        /// Whose value it is.
        enum Source { case one, two, later }

        var testDescription: String { name }
    }

    static let stories: [Story] = [
        story("an edit beats a delete", .writeA, .writeB, .remove, .one, .one, .one),
        story("a new link beats a delete", .writeA, .link, .remove, .one, .one, .one),
        story("a directory made instead beats a delete", .writeA, .makeDirectory, .remove, .one, .one, .one),
        story("a file made instead beats a directory's delete", .makeDirectory, .writeA, .remove, .one, .one, .one),
        Story(name: "two deletes agree", base: .writeA, one: .remove, two: .remove, outcome: .nothing),
        Story(name: "a mode saves nothing", base: .writeA, one: .changeMode, two: .remove, outcome: .nothing),
        Story(name: "a time saves nothing", base: .writeA, one: .touch, two: .remove, outcome: .nothing),
        Story(name: "nor a directory", base: .makeDirectory, one: .changeMode, two: .remove, outcome: .nothing),
        story("a directory beats a file", nil, .makeDirectory, .writeA, .one, .one, .one, isConflict: true),
        story("a directory beats a link", nil, .makeDirectory, .link, .one, .one, .one, isConflict: true),
        story("a directory beats an edit", .writeA, .makeDirectory, .writeB, .one, .one, .one, isConflict: true),
        story("the later of two edits stays", .writeA, .writeB, .link, .later, .later, .later, isConflict: true),
        story("the later of two new files stays", nil, .writeA, .writeB, .later, .later, .later, isConflict: true),
        story("the later of a file and a link stays", nil, .writeA, .link, .later, .later, .later, isConflict: true),
        story("equal contents agree, the later time is kept", nil, .writeA, .writeA, .later, .later, .later),
        story("equal edits agree", .writeA, .writeB, .writeB, .later, .later, .later),
        story("two equal links agree", nil, .link, .link, .later, .later, .later),
        story("two new directories are one", nil, .makeDirectory, .makeDirectory, .later, .later, .later),
        story("a mode and an edit are both kept", .writeA, .changeMode, .writeB, .two, .one, .two),
        story("a time of the older content is overtaken by an edit", .writeA, .touch, .writeB, .two, .two, .two),
        story("a mode and a time are both kept", .writeA, .changeMode, .touch, .two, .one, .two),
        story("of two modes the later", .writeA, .changeMode, .changeMode, .later, .later, .later),
        story("of two times the later", .writeA, .touch, .touch, .later, .later, .later),
        story("a file's mode is not the link's", .writeA, .changeMode, .link, .two, .two, .two),
        story("a directory's mode and time are both kept", .makeDirectory, .changeMode, .touch, .two, .one, .two),
    ]

    private static func story(
        _ name: String, _ base: Act?, _ one: Act, _ two: Act, _ content: Story.Source, _ mode: Story.Source,
        _ time: Story.Source, isConflict: Bool = false
    ) -> Story {
        Story(
            name: name, base: base, one: one, two: two,
            outcome: .from(content: content, mode: mode, time: time, isConflict: isConflict))
    }

    /// Whichever side is which, whoever has the smaller key, and whoever is ahead.
    @Test("the decision table", arguments: stories) func decides(story: Story) {
        for first in Side.allCases {
            for leftKeyIsSmaller in [true, false] {
                for leftLead: Int64 in [-100, 0, 100] {
                    var history = History(
                        leftKeyIsSmaller: leftKeyIsSmaller, leftWall: 1_000 + leftLead, rightWall: 1_000)
                    if let base = story.base { history.agree(on: base) }
                    check(story, told(story, by: first, in: history), oneIs: first, leftLead)
                }
            }
        }
    }

    private func told(_ story: Story, by first: Side, in start: History) -> History {
        var history = start
        for (side, act) in [(first, story.one), (first.other, story.two)] {
            let isDone = history.act(Move(side: side, taken: history[side].imported, applied: true, act: act))
            #expect(isDone)
        }
        return history
    }

    private func check(_ story: Story, _ told: History, oneIs first: Side, _ leftLead: Int64) {
        // The clock decides, and where the clocks stand alike the larger key is the later. Having seen the left side's
        // base, the right side's clock is no longer behind.
        let isTie = leftLead == 0 || leftLead > 0 && story.base != nil
        let isLeftLater = isTie ? !told.leftOrder.ownKeyIsSmaller : leftLead > 0
        let later: Side = isLeftLater ? .left : .right
        func entry(_ source: Story.Source) -> Entry? {
            switch source {
            case .one: told[first].row.disk?.entry
            case .two: told[first.other].row.disk?.entry
            case .later: told[later].row.disk?.entry
            }
        }
        var met = told
        met.exchange()
        let wanted = met[.left].resolution
        switch story.outcome {
        case .nothing:
            #expect(wanted.entry.isAbsent && !wanted.isConflict, "\(told.sketch)")
        case .from(let content, let mode, let time, let isConflict):
            #expect(wanted.entry.content == entry(content)?.content, "\(told.sketch)")
            #expect(wanted.entry.mode == entry(mode)?.mode, "\(told.sketch)")
            #expect(wanted.entry.modified == entry(time)?.modified, "\(told.sketch)")
            #expect(wanted.isConflict == isConflict, "\(told.sketch)")
        }
    }

    @Test("a directory that has become a file does not come back by an earlier conflict", arguments: Side.allCases)
    func letGo(maker: Side) {
        let lead: (Int64, Int64) = maker == .left ? (0, 100) : (100, 0)
        var history = History(leftKeyIsSmaller: true, leftWall: 1_000 + lead.0, rightWall: 1_000 + lead.1)
        for (side, act) in [(maker, Act.makeDirectory), (maker, .writeB), (maker.other, .writeA)] {
            let isDone = history.act(Move(side: side, taken: 0, applied: true, act: act))
            #expect(isDone)
        }
        // The one knows of the directory only, and makes room for it; the other sees that its file is the earlier one.
        history.catchUp(maker.other, to: 1, applies: true)
        history.catchUp(maker, to: 1, applies: true)
        history.converge()
        for side in Side.allCases { #expect(history[side].row.disk?.entry.content == Act.fileA, "\(history.sketch)") }
        #expect(history[maker].copies == [Act.fileB] && history[maker.other].copies == [Act.fileA])
    }

    @Test("nothing known is nothing wanted") func nothing() {
        let resolution = Resolution(of: [], precedence: Precedence(ownKeyIsSmaller: true))
        #expect(resolution.entry == .absent && resolution.version == .none && !resolution.isConflict)
    }
}
