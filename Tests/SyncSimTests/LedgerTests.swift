import SyncModel
import Testing

@testable import SyncSim

/// The judge's memory: who had seen what, what is owed because of it, and what disasters excuse. The words with which
/// people act here are in `Trial`.
@Suite("The ledger: who had seen what, and what must be findable because of it")
struct LedgerTests {
    // MARK: Acts

    @Test("An act has seen what its folder had shown, not what the other folder has") func seen() throws {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.wrote("2", over: "1", at: "a", on: 0)
        ledger.wrote("3", at: "a", on: 1)
        let page = try #require(ledger.pages[at("a")])
        #expect(page.acts.map(\.number) == [0, 1, 2] && page.acts.map(\.machine) == [0, 0, 1])
        #expect(page.acts.map { seen($0) } == [[], [0], []])
        #expect(page.leaves.map(\.number) == [1, 2])
    }

    @Test("Who changes what came over has seen all that its author had, but not what he did later") func cameOver()
        throws
    {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.wrote("2", over: "1", at: "a", on: 0)
        ledger.wrote("3", over: "2", at: "a", on: 0)
        ledger.wrote("4", over: "2", at: "a", on: 1)
        ledger.wrote("5", over: "4", at: "a", on: 1)
        let page = try #require(ledger.pages[at("a")])
        #expect(seen(page.acts[3]) == [0, 1] && seen(page.acts[4]) == [0, 1, 3])
        #expect(page.leaves.map(\.number) == [2, 4])
    }

    @Test("Of two equal values the older is taken for the one that was seen") func equalValues() throws {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.wrote("2", over: "1", at: "a", on: 0)
        ledger.wrote("1", over: "2", at: "a", on: 0)
        ledger.wrote("3", over: "1", at: "a", on: 1)
        let page = try #require(ledger.pages[at("a")])
        #expect(seen(page.acts[3]) == [0])
    }

    @Test("What changes nothing is no act") func nothing() {
        var ledger = Ledger()
        ledger.wrote("1", over: "1", at: "a", on: 0)
        ledger.changedAside(at("a"), on: 0, from: .text("1"), to: .text("1"), at: 0, demand: .kept)
        #expect(ledger.pages.isEmpty)
    }

    @Test("The same bytes in the same breath are no removal, later they are", arguments: [(0, 1), (1, 3)])
    func putBack(_ time: Int64, _ acts: Int) {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.removed("1", at: "a", on: 0)
        ledger.wrote("1", at: "a", on: 0, time: time)
        #expect(ledger.pages[at("a")]?.acts.count == acts && owed(ledger) == ["a 1 atPath"])
        ledger.wrote("2", over: "1", at: "a", on: 1, time: 2)
        #expect(ledger.demand(of: .text("1"), at: at("a")) == .excused)
    }

    @Test("Of two directories that change places each has gone from its own") func exchangedDirectories() {
        var ledger = Ledger()
        ledger.madeDirectory("d", on: 0)
        ledger.removedDirectory("d", on: 0)
        ledger.madeDirectory("d", on: 0)
        #expect(ledger.pages[at("d")]?.acts.count == 3)
    }

    @Test("A path is deleted when everybody who had a say left nothing") func deleted() throws {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        #expect(ledger.pages[at("a")]?.isDeleted == false)
        ledger.removed("1", at: "a", on: 0)
        #expect(ledger.pages[at("a")]?.isDeleted == true)
        ledger.wrote("2", over: "1", at: "a", on: 1)
        #expect(ledger.pages[at("a")]?.isDeleted == false)
        ledger.removed("2", at: "a", on: 1)
        #expect(ledger.pages[at("a")]?.isDeleted == true)
        #expect(Ledger.Page().isDeleted == false)
    }

    @Test("What ever stood at a path is known, whoever put it there, and nowhere else") func everStood() {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.removed("1", at: "a", on: 0)
        ledger.carried(.text("2"), from: at("b"), to: at("a"), on: 0, at: 0)
        #expect(ledger.everStood(.text("1"), at: at("a")) && ledger.everStood(.text("2"), at: at("a")))
        #expect(!ledger.everStood(.text("3"), at: at("a")) && !ledger.everStood(.text("1"), at: at("b")))
    }

    // MARK: Duties

    @Test("A value is owed until somebody who had seen it takes it away") func owed() {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        #expect(owed(ledger) == ["a 1 atPath"])
        ledger.wrote("2", at: "a", on: 1)
        #expect(owed(ledger) == ["a 1 atPath", "a 2 atPath"])
        ledger.wrote("3", over: "1", at: "a", on: 0)
        #expect(owed(ledger) == ["a 2 atPath", "a 3 atPath"])
        ledger.removed("2", at: "a", on: 0)
        #expect(owed(ledger) == ["a 3 atPath"])
        ledger.removed("3", at: "a", on: 1)
        #expect(owed(ledger) == [])
    }

    @Test("Who wrote over something without looking leaves it at least in history") func blind() {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.wrote("2", over: "1", at: "a", on: 0, isBlind: true)
        #expect(owed(ledger) == ["a 1 kept", "a 2 atPath"])
    }

    @Test("Written again, a value is owed again") func writtenAgain() {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.removed("1", at: "a", on: 0)
        ledger.wrote("1", at: "a", on: 0)
        #expect(owed(ledger) == ["a 1 atPath"])
        #expect(ledger.demand(of: .text("1"), at: at("a")) == .atPath)
        #expect(ledger.demand(of: .text("2"), at: at("a")) == .excused)
    }

    @Test("Directories and special files are not owed, files and symlinks are") func kinds() {
        var ledger = Ledger()
        ledger.madeDirectory("d", on: 0)
        ledger.changed(at("p"), on: 0, from: .absent, to: .special, at: 0)
        ledger.changed(at("l"), on: 0, from: .absent, to: .symlink(to: utf8("a")), at: 0)
        #expect(ledger.duties.map(\.path) == [at("l")])
    }

    @Test("A directory's move takes along what nobody moved: it is owed, wherever it is") func carriedAlong() {
        var ledger = Ledger()
        ledger.wrote("1", at: "d/x", on: 0)
        ledger.wrote("2", at: "d/x", on: 1)
        ledger.carried(.text("1"), from: at("d/x"), to: at("e/x"), on: 0, at: 0)
        #expect(owed(ledger) == ["d/x 1 inTree", "d/x 2 atPath"])
        ledger.carried(.absent, from: at("d/x"), to: at("f/x"), on: 0, at: 0)
        #expect(ledger.pages[at("f/x")] == nil)
    }

    @Test("An edit that is taken along lets go of what stood at the new place before it") func editTakenAlong() throws {
        var ledger = Ledger()
        ledger.wrote("1", at: "d/x", on: 0)
        ledger.wrote("1", at: "e/x", on: 1)
        ledger.wrote("2", over: "1", at: "d/x", on: 0)
        ledger.carried(.text("2"), from: at("d/x"), to: at("e/x"), on: 0, at: 9)
        let act = try #require(ledger.pages[at("e/x")]?.acts.last)
        #expect(act.before == .text("1") && act.after == .text("2") && act.isRacing && act.time == 9)
        #expect(
            ledger.wasLetGo(.text("1"), at: at("e/x"), isUndone: false)
                && !ledger.wasLetGo(.text("2"), at: at("e/x"), isUndone: false))
    }

    @Test("What was written into a file that had been moved aside is asked for as far as it was said") func aside()
        throws
    {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.wrote("2", over: "1", at: "a", on: 1)
        ledger.changedAside(at("a"), on: 0, from: .text("1"), to: .text("1+"), at: 5, demand: .inTree)
        #expect(owed(ledger) == ["a 2 atPath", "a 1+ inTree"])
        let page = try #require(ledger.pages[at("a")])
        #expect(seen(page.acts[2]) == [0], "it was the first value that went on")
        #expect(page.isContested(.text("2")) && page.soleWriter == nil)
    }

    // MARK: Conflict copies

    private let copy = "a.conflict-beta-20260101-000000-abcdef"

    @Test("Whoever removes or changes a conflict copy has disposed of the loser; what is written later is owed")
    func disposal() {
        for isChange in [false, true] {
            var ledger = Ledger()
            ledger.wrote("1", at: "a", on: 0)
            ledger.wrote("2", at: "a", on: 1)
            if isChange {
                ledger.wrote("3", over: "1", at: copy, on: 1, time: 5)
                #expect(owed(ledger) == ["a 2 atPath", "\(copy) 3 atPath"])
            } else {
                ledger.removed("1", at: copy, on: 1, time: 5)
                #expect(owed(ledger) == ["a 2 atPath"])
            }
            ledger.wrote("1", over: "2", at: "a", on: 0, time: 6)
            #expect(owed(ledger).contains("a 1 atPath"))
        }
    }

    @Test("So has he who writes into the copy where a daemon has moved it aside") func disposalAside() {
        for wasMoved in [true, false] {
            var ledger = Ledger()
            ledger.wrote("1", at: "a", on: 0)
            ledger.wrote("2", at: "a", on: 1)
            let place = wasMoved ? copy : "b"
            ledger.changedAside(at(place), on: 0, from: .text("1"), to: .text("1+"), at: 5, demand: .kept)
            #expect(owed(ledger) == (wasMoved ? [] : ["a 1 atPath"]) + ["a 2 atPath", "\(place) 1+ kept"])
        }
    }

    @Test("What was written late into a file that had been taken from two names comes back by one of them")
    func disposalOfTwoNames() {
        for isSame in [true, false] {
            var ledger = Ledger()
            for (place, after) in [("a", "1+"), ("b", isSame ? "1+" : "2")] {
                ledger.wrote("1", at: place, on: 0)
                ledger.removed("1", at: place, on: 0)
                ledger.changedAside(at(place), on: 0, from: .text("1"), to: .text(after), at: 5, demand: .inTree)
            }
            ledger.removed("1+", at: copy, on: 1, time: 6)
            #expect(owed(ledger) == (isSame ? [] : ["b 2 inTree"]))
        }
    }

    @Test("A loser is owed under its first name, through all generations") func generations() {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        let second = copy + ".conflict-alpha-20260102-000000-012345"
        #expect(ledger.demand(of: .text("1"), at: at(copy)) == .atPath)
        #expect(ledger.demand(of: .text("1"), at: at(second)) == .atPath)
        #expect(ledger.demand(of: .text("1"), at: at("b.conflict-beta-20260101-000000-abcdef")) == .excused)
        ledger.removed("1", at: second, on: 0)
        #expect(ledger.demand(of: .text("1"), at: at(copy)) == .excused)
    }

    // MARK: Contest

    @Test("A value is contested when somebody wrote another without having seen it") func contested() {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        #expect(!ledger.isContested(.text("1"), at: at("a")))
        ledger.wrote("2", over: "1", at: "a", on: 1)
        #expect(!ledger.isContested(.text("1"), at: at("a")) && !ledger.isContested(.text("2"), at: at("a")))
        ledger.wrote("3", over: "1", at: "a", on: 0)
        #expect(ledger.isContested(.text("2"), at: at("a")) && ledger.isContested(.text("3"), at: at("a")))
        #expect(!ledger.isContested(.text("1"), at: at("a")), "both had seen the first")
    }

    @Test("Who wrote the same is no opponent; a race, a crash or a file with two names always may be") func blurred() {
        var equal = Ledger()
        equal.wrote("1", at: "a", on: 0)
        equal.wrote("1", at: "a", on: 1)
        #expect(!equal.isContested(.text("1"), at: at("a")))
        var racing = Ledger()
        racing.wrote("1", at: "a", on: 0)
        racing.wrote("2", over: "1", at: "a", on: 0, isRacing: true)
        #expect(racing.isContested(.text("1"), at: at("a")) && racing.isContested(.text("2"), at: at("a")))
        var entangled = Ledger()
        entangled.wrote("1", at: "a", on: 0)
        entangled.pages.update(at("a")) { $0.isEntangled = true }
        #expect(entangled.isContested(.text("anything"), at: at("a")))
        var carried = Ledger()
        carried.carried(.text("1"), from: at("b"), to: at("a"), on: 0, at: 0)
        #expect(carried.isContested(.text("1"), at: at("a")) && !carried.isContested(.text("2"), at: at("a")))
    }

    @Test("A file is contested by what somebody else did below its path") func contestedBelow() {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.wrote("2", at: "a/x", on: 0)
        ledger.wrote("3", at: "ab/x", on: 1)
        #expect(!ledger.isContested(.text("1"), at: at("a")))
        ledger.wrote("4", at: "a/y", on: 1)
        #expect(ledger.isContested(.text("1"), at: at("a")))
    }

    @Test("So it is by what its author puts into the directory that a power cut has given him back in its place")
    func contestedByDirectoryGivenBack() {
        for isPut in [true, false] {
            var ledger = Ledger()
            ledger.wrote("1", at: "a", on: 0, time: 2)
            ledger.struck(
                0, was: holding("a=1"), is: holding("a/"), other: holding("a=1"), isSafe: { _, _ in false })
            if isPut { ledger.wrote("2", at: "a/x", on: 0, time: 3) }
            #expect(ledger.isContested(.text("1"), at: at("a")) == isPut)
        }
    }

    @Test("The sole writer of a path, and all that makes him doubtful") func soleWriter() throws {
        func writer(_ acts: (inout Ledger) -> Void) -> Int? {
            var ledger = Ledger()
            ledger.wrote("1", at: "a", on: 1)
            acts(&ledger)
            return ledger.pages[at("a")]?.soleWriter
        }
        #expect(writer { _ in } == 1)
        #expect(writer { $0.removed("1", at: "a", on: 1) } == 1)
        #expect(writer { $0.left(at("a"), on: 1, mode: 0o600, modified: .zero) } == 1)
        #expect(writer { $0.wrote("2", over: "1", at: "a", on: 0) } == nil)
        #expect(writer { $0.wrote("2", over: "1", at: "a", on: 1, isRacing: true) } == nil)
        #expect(writer { $0.left(at("a"), on: 0, mode: 0o600, modified: .zero) } == nil)
        #expect(
            writer { ledger in
                for machine in [0, 1] { ledger.left(at("a"), on: machine, mode: 0o600, modified: .zero) }
            } == nil)
        #expect(writer { $0.doubted([at("a")]) } == nil)
        var touched = Ledger()
        touched.left(at("b"), on: 0, mode: 0o600, modified: .zero)
        #expect(touched.pages[at("b")]?.soleWriter == 0)
    }

    // MARK: Disasters

    @Test("A power cut takes back what only its folder knew, and nothing else is excused") func powerCut() throws {
        for (isSafe, isThere, expected) in [
            (false, false, ["a 1 atPath"]), (true, false, ["a 2 atPath"]), (false, true, ["a 2 atPath"]),
        ] {
            var ledger = Ledger()
            ledger.wrote("1", at: "a", on: 0)
            ledger.wrote("2", over: "1", at: "a", on: 0)
            ledger.struck(
                0, was: holding("a=2"), is: holding("a=1"), other: holding(isThere ? "a=2" : ""),
                isSafe: { path, value in isSafe && path == at("a") && value == .text("2") })
            #expect(owed(ledger) == expected)
            #expect(ledger.pages[at("a")]?.isReverted == true)
        }
    }

    @Test("After a power cut people go on from what it left") func afterPowerCut() throws {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.wrote("2", over: "1", at: "a", on: 0)
        ledger.struck(0, was: holding("a=2"), is: holding("a=1"), other: holding(""), isSafe: { _, _ in false })
        ledger.wrote("3", over: "1", at: "a", on: 0)
        let page = try #require(ledger.pages[at("a")])
        #expect(page.acts[1].isUndone && seen(page.acts[2]) == [0])
        #expect(page.leaves.map(\.number) == [2] && owed(ledger) == ["a 3 atPath"])
    }

    @Test("A path that a disaster did not change is not touched by it") func untouchedByDisaster() throws {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.wrote("2", at: "b", on: 0)
        ledger.struck(
            0, was: holding("a=1 b=2"), is: holding("a=1"), other: holding(""), isSafe: { _, _ in false })
        #expect(owed(ledger) == ["a 1 atPath"])
        #expect(ledger.pages[at("a")]?.isReverted == false && ledger.pages[at("a")]?.soleWriter == 0)
    }

    @Test("What a taken-back rename has put back is owed in the tree, not at the new name") func takenBackRename() {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.removed("1", at: "a", on: 0)
        ledger.wrote("1", at: "b", on: 0)
        ledger.struck(0, was: holding("b=1"), is: holding("a=1"), other: holding("b=1"), isSafe: { _, _ in false })
        #expect(ledger.demand(of: .text("1"), at: at("b")) == .inTree)
    }

    @Test("What a power cut left of a file goes along with its directory, and what it was may be put there")
    func movedRemains() {
        var ledger = Ledger()
        ledger.wrote("1", at: "d/a", on: 0)
        ledger.wrote("2", over: "1", at: "d/a", on: 0)
        ledger.struck(
            0, was: holding("d/a=2"), is: holding("d/a=1"), other: holding("d/a=2"), isSafe: { _, _ in false })
        for (old, new) in [("d/a", "e/a"), ("e/a", "f/a")] {
            ledger.removed("1", at: old, on: 0)
            ledger.wrote("1", at: new, on: 0)
            #expect(!ledger.everStood(.text("2"), at: at(new)) && ledger.demand(of: .text("1"), at: at(new)) == .atPath)
            ledger.movedRemains(from: at(old), to: at(new), on: 0, holding: .text("1"))
            #expect(ledger.everStood(.text("2"), at: at(new)) && ledger.demand(of: .text("1"), at: at(new)) == .kept)
        }
    }

    @Test("What a power cut left, moved over the same bytes, may be put there for what it is left of")
    func movedRemainsOverTheSame() {
        var ledger = Ledger()
        for (path, text) in [("a", "1"), ("b", "2")] { ledger.wrote(text, at: path, on: 0) }
        ledger.struck(
            0, was: holding("a=1 b=2"), is: holding("a=0 b=0"), other: holding("a=1 b=2"), isSafe: { _, _ in false })
        ledger.removed("0", at: "a", on: 0)
        ledger.movedRemains(from: at("a"), to: at("b"), on: 0, holding: .text("9"))
        #expect(!ledger.everStood(.text("1"), at: at("b")))
        ledger.movedRemains(from: at("a"), to: at("b"), on: 0, holding: .text("0"))
        #expect(ledger.everStood(.text("1"), at: at("b")))
    }

    @Test("What a power cut took from where a file is known may be put where that is moved to", arguments: [0, 1])
    func movedFromFormerName(_ machine: Int) {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.struck(
            0, was: holding("a=1"), is: holding("a=2"), other: holding("a=1"), isSafe: { _, _ in false })
        ledger.movedOvertaken(from: at("a"), to: at("b"), on: machine)
        #expect(ledger.everStood(.text("1"), at: at("b")) == (machine == 0))
    }

    @Test(
        "The same bytes put there again before the base knew that they had gone may be history, others are owed there")
    func cameBackUnseen() {
        for text in ["1", "2"] {
            var ledger = Ledger()
            ledger.wrote("1", at: "a", on: 0)
            ledger.removed("1", at: "a", on: 0, time: 1)
            ledger.wrote(text, at: "a", on: 0, time: 2)
            ledger.cameBackUnseen(at("a"), on: 0)
            #expect(ledger.demand(of: .text(text), at: at("a")) == (text == "1" ? .kept : .atPath))
        }
    }

    @Test("The same bytes, written again before the base knew of others, may be history if a copy was disposed of")
    func cameBackUnseenAfterDisposal() {
        for isDisposed in [true, false] {
            var ledger = Ledger()
            let copy = "a.conflict-base-20250101-000000-aaaaaa"
            ledger.wrote("1", at: "a", on: 0)
            ledger.wrote("2", over: "1", at: "a", on: 0, time: 1)
            if isDisposed { ledger.removed("1", at: copy, on: 0, time: 2) }
            ledger.wrote("1", over: "2", at: "a", on: 0, time: 3)
            #expect(ledger.isDisposedOf(.text("1"), at: at("a")) == isDisposed)
            ledger.cameBackUnseen(at("a"), on: 0)
            #expect(ledger.demand(of: .text("1"), at: at("a")) == (isDisposed ? .kept : .atPath))
        }
    }

    @Test("What was missed and is back may be history as what a power cut left of it goes, what was made anew may not")
    func cameBackMissed() {
        let cases: [(isSame: Bool, isRemoved: Bool, demand: Ledger.Demand)] = [
            (true, true, .kept), (true, false, .atPath), (false, true, .atPath),
        ]
        for (isSame, isRemoved, demand) in cases {
            var ledger = Ledger()
            ledger.wrote("1", at: "a", on: 1)
            ledger.struck(
                1, was: holding("a=1"), is: holding("a=0"), other: holding("a=1"), isSafe: { _, _ in false })
            ledger.removed("1", at: "a", on: 0, time: 1)
            ledger.wrote("1", at: "a", on: 0, time: 2)
            if isSame { ledger.cameBackMissed(at("a"), on: 0) }
            if isRemoved { ledger.removed("0", at: "a", on: 1, time: 3) }
            #expect(ledger.demand(of: .text("1"), at: at("a")) == demand)
        }
    }

    @Test("What a rename took along in several steps of writing lets go of what is known under the new name")
    func carriedInSteps() {
        var ledger = editedBeside()
        ledger.wrote("3", over: "2", at: "d/a", on: 0)
        ledger.carried(.text("3"), from: at("d/a"), to: at("e/a"), on: 0, at: 9)
        #expect(ledger.pages[at("e/a")]?.acts.last?.before == .text("1"))
        #expect(ledger.demand(of: .text("3"), at: at("d/a")) == .inTree)
        ledger.carriedBack(.text("3"), from: at("e/a"), to: at("d/a"), on: 0)
        #expect(ledger.demand(of: .text("3"), at: at("e/a")) == .excused)
        #expect(ledger.demand(of: .text("3"), at: at("d/a")) == .atPath)
    }

    @Test("A rename that was taken back and is done again lets go once more of what is known under the new name")
    func carriedAgain() {
        var ledger = editedBeside()
        ledger.carried(.text("2"), from: at("d/a"), to: at("e/a"), on: 0, at: 8)
        #expect(!ledger.wasCarriedBack(.text("2"), from: at("e/a"), to: at("d/a"), on: 0))
        ledger.carriedBack(.text("2"), from: at("e/a"), to: at("d/a"), on: 0)
        #expect(ledger.demand(of: .text("1"), at: at("e/a")) == .atPath)
        #expect(ledger.wasCarriedBack(.text("2"), from: at("e/a"), to: at("d/a"), on: 0))
        #expect(!ledger.wasCarriedBack(.text("1"), from: at("e/a"), to: at("d/a"), on: 0))
        #expect(!ledger.wasCarriedBack(.text("2"), from: at("e/a"), to: at("c/a"), on: 0))
        #expect(!ledger.wasCarriedBack(.text("2"), from: at("e/a"), to: at("d/a"), on: 1))
        ledger.carried(.text("2"), from: at("d/a"), to: at("e/a"), on: 0, at: 9)
        #expect(!ledger.wasCarriedBack(.text("2"), from: at("e/a"), to: at("d/a"), on: 0))
        #expect(ledger.demand(of: .text("1"), at: at("e/a")) == .excused)
        #expect(ledger.demand(of: .text("2"), at: at("e/a")) == .atPath)
        #expect(ledger.demand(of: .text("2"), at: at("d/a")) == .inTree)
    }

    @Test("Who put something in the place of what he removed let go of it under the new name, not of what is made anew")
    func carriedInPlaceOfAnother() {
        for isMadeAnew in [false, true] {
            var ledger = Ledger()
            ledger.wrote("1", at: "d/a", on: 1)
            ledger.removed("1", at: "d/a", on: 0, time: 1)
            if isMadeAnew { ledger.wrote("1", at: "d/a", on: 1, time: 2) }
            ledger.wrote("1", at: "e/a", on: 1, time: 3)
            ledger.wrote("2", at: "d/a", on: 0, time: 4)
            ledger.carried(.text("2"), from: at("d/a"), to: at("e/a"), on: 0, at: 9)
            #expect(ledger.demand(of: .text("1"), at: at("e/a")) == (isMadeAnew ? .atPath : .excused))
        }
    }

    @Test("What his node tells of as having come here, though he wrote over it before, he let go of under the new name")
    func carriedAsTold() {
        for teller in [0, 1] {
            var ledger = Ledger()
            ledger.wrote("2", at: "d/a", on: 0)
            ledger.mayStand(.text("1"), at: at("d/a"), carriedFrom: at("c/a"), toldBy: teller)
            ledger.wrote("1", at: "e/a", on: 1, time: 1)
            ledger.wrote("3", over: "2", at: "d/a", on: 0, time: 2)
            ledger.carried(.text("3"), from: at("d/a"), to: at("e/a"), on: 0, at: 9)
            #expect(ledger.demand(of: .text("1"), at: at("e/a")) == (teller == 0 ? .excused : .atPath))
        }
    }

    @Test("Who removed something before a rename let go of it under the new name, also if he had written to it")
    func carriedAbsence() {
        for isEdited in [false, true] {
            var ledger = Ledger()
            ledger.wrote("1", at: "d/a", on: 0)
            ledger.wrote("1", at: "e/a", on: 1)
            if isEdited { ledger.wrote("2", over: "1", at: "d/a", on: 0) }
            ledger.removed(isEdited ? "2" : "1", at: "d/a", on: 0)
            #expect(ledger.demand(of: .text("1"), at: at("e/a")) == .atPath)
            ledger.carriedAbsence(from: at("d/a"), to: at("e/a"), on: 0, at: 9)
            #expect(ledger.pages[at("e/a")]?.acts.last?.before == .text("1"))
            #expect(ledger.demand(of: .text("1"), at: at("e/a")) == .excused)
        }
    }

    @Test("Who removed what he had made himself has let go of nothing that the other node knows under the new name")
    func carriedAbsenceOfAnother() {
        var ledger = Ledger()
        ledger.wrote("1", at: "e/a", on: 1)
        ledger.wrote("2", at: "d/a", on: 0)
        ledger.wrote("3", over: "2", at: "d/a", on: 0)
        ledger.removed("3", at: "d/a", on: 0)
        ledger.carriedAbsence(from: at("d/a"), to: at("e/a"), on: 0, at: 9)
        #expect(ledger.demand(of: .text("1"), at: at("e/a")) == .atPath)
    }

    @Test("An image that takes the copy of a loser back leaves it kept at least, and owed where there was none")
    func imageTakesCopy() {
        for hasCopy in [true, false] {
            var ledger = Ledger()
            ledger.wrote("1", at: "a", on: 0)
            ledger.setBack(
                0, to: 0, was: holding(hasCopy ? "a=2 a.conflict-beta-20250615-150640-cd3e27=1" : "a=2"),
                is: holding("a=1"), other: holding("a=2"), isToldGone: { _ in false }, isTold: { _ in false })
            #expect(ledger.demand(of: .text("1"), at: at("a")) == (hasCopy ? .kept : .atPath))
        }
    }

    @Test("An image that takes the last copy of a loser leaves it kept where the other node knows of no copy")
    func imageTakesLastCopy() {
        for (isUnknown, other) in [(true, "a=2"), (false, "a=2"), (true, "a=1"), (true, "a=2 \(copy)=1")] {
            var ledger = Ledger()
            ledger.wrote("1", at: "a", on: 1)
            ledger.lostLastCopies(was: holding("a=2 \(copy)=1"), is: holding("a=2"), other: holding(other)) { _, _ in
                isUnknown
            }
            #expect(ledger.demand(of: .text("1"), at: at("a")) == (isUnknown && other == "a=2" ? .kept : .atPath))
        }
    }

    @Test("An image takes back what was put over a value: that is history where it was told")
    func imageTakesWhatWasTold() {
        for isTold in [true, false] {
            var ledger = Ledger()
            ledger.wrote("1", at: "a", on: 0, time: 1)
            ledger.wrote("2", over: "1", at: "a", on: 0, time: 2)
            ledger.wrote("1", over: "2", at: "a", on: 0, time: 3)
            ledger.struck(
                0, was: holding("a=1"), is: holding("a=2"), other: holding("a=1"), isSafe: { _, _ in false })
            ledger.setBack(
                0, to: 2, was: holding("a=1"), is: holding("a=2"), other: holding("a=1"), isToldGone: { _ in false },
                isTold: { _ in isTold })
            #expect(ledger.demand(of: .text("2"), at: at("a")) == (isTold ? .kept : .atPath))
        }
    }

    @Test("So it is where it has been taken away there since")
    func imageTakesWhatWasToldAndTakenAway() {
        for isTold in [true, false] {
            var ledger = Ledger()
            ledger.wrote("2", at: "a", on: 0, time: 1)
            ledger.wrote("1", over: "2", at: "a", on: 0, time: 2)
            ledger.wrote("2", over: "1", at: "a", on: 0, time: 3)
            ledger.changed(at("a"), on: 1, from: .text("2"), to: .absent, at: 4)
            ledger.struck(0, was: holding(""), is: holding("a=1"), other: holding(""), isSafe: { _, _ in false })
            ledger.setBack(
                0, to: 2, was: holding(""), is: holding("a=1"), other: holding(""), isToldGone: { _ in false },
                isTold: { _ in isTold })
            #expect(ledger.demand(of: .text("1"), at: at("a")) == (isTold ? .kept : .atPath))
        }
    }

    @Test("So it is where a directory was put over it")
    func imageTakesDirectory() {
        for isTold in [true, false] {
            var ledger = Ledger()
            ledger.madeDirectory("a", on: 0)
            ledger.changed(at("a"), on: 0, from: .directory, to: .text("1"), at: 1)
            ledger.changed(at("a"), on: 0, from: .text("1"), to: .directory, at: 3)
            ledger.struck(
                0, was: holding("a/"), is: holding("a=1"), other: holding("a/"), isSafe: { _, _ in false })
            ledger.setBack(
                0, to: 2, was: holding("a/"), is: holding("a=1"), other: holding("a/"), isToldGone: { _ in false },
                isTold: { _ in isTold })
            #expect(ledger.demand(of: .text("1"), at: at("a")) == (isTold ? .kept : .atPath))
        }
    }

    @Test("What was put back over what had replaced it is history for a daemon whose state is of before that")
    func putBackAndForgotten() {
        for (time, known) in [(2, "1"), (4, "1"), (2, "2"), (2, nil)] as [(Int64, String?)] {
            var ledger = Ledger()
            ledger.wrote("1", at: "a", on: 0, time: 1)
            ledger.wrote("2", over: "1", at: "a", on: 1, time: 3)
            ledger.wrote("1", over: "2", at: "a", on: 0, time: 4)
            ledger.forgotReturns(on: 0, since: time) { _ in known.map { .text($0) } }
            let isForgotten = time < 4 && known == "1"
            #expect(ledger.demand(of: .text("1"), at: at("a")) == (isForgotten ? .kept : .atPath))
        }
    }

    @Test("Not so what was written without having seen that the same had been replaced, or is there for the first time")
    func writtenAndForgotten() {
        for first in ["1", "3"] {
            var ledger = Ledger()
            ledger.wrote(first, at: "a", on: 1, time: 1)
            ledger.wrote("2", over: first, at: "a", on: 1, time: 3)
            ledger.wrote("1", at: "a", on: 0, time: 4)
            ledger.forgotReturns(on: 0, since: 2) { _ in .text("1") }
            #expect(ledger.pages[at("a")]?.acts.last?.demand == .atPath)
        }
    }

    @Test("Who has lost its state is told of what was moved by the former name, where the other node shows it by that")
    func movedAndForgotten() {
        for shown in ["a=1", "b=1", "a=1 b=1", "c=1"] {
            var ledger = Ledger()
            ledger.wrote("1", at: "a", on: 0)
            ledger.removed("1", at: "a", on: 0)
            ledger.wrote("1", at: "b", on: 0)
            ledger.forgot(0, isInTree: { _ in true }, other: holding(shown))
            #expect(ledger.demand(of: .text("1"), at: at("b")) == (shown == "a=1" ? .inTree : .atPath))
        }
    }

    @Test("What was there before goes with its directory as well, and nothing else may be put there")
    func movedWhole() {
        var ledger = Ledger()
        ledger.wrote("1", at: "d/a", on: 0)
        ledger.removed("1", at: "d/a", on: 0)
        ledger.wrote("1", at: "e/a", on: 0)
        ledger.movedRemains(from: at("d/a"), to: at("e/a"), on: 0, holding: .text("1"))
        #expect(ledger.demand(of: .text("1"), at: at("e/a")) == .atPath)
    }

    @Test(
        "Where a power cut has put a newer file in the place of one that is on record, that is kept at least",
        arguments: [(true, Ledger.Demand.kept), (false, .atPath)])
    func looksReplaced(_ isNewer: Bool, _ expected: Ledger.Demand) {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.struck(
            0, was: holding("a=1"), is: holding("a=2"), other: holding("a=1"), isSafe: { _, _ in false },
            looksReplaced: { path, value in isNewer && path == at("a") && value == .text("1") })
        #expect(ledger.demand(of: .text("1"), at: at("a")) == expected)
    }

    @Test("Who writes what a power cut has left once more has written over it", arguments: [0, 1])
    func overwrittenRemains(_ machine: Int) {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.struck(0, was: holding("a=1"), is: holding("a="), other: holding("a=1"), isSafe: { _, _ in false })
        ledger.rewrote(at("a"), on: machine, at: 1)
        #expect(ledger.demand(of: .text("1"), at: at("a")) == (machine == 0 ? .kept : .atPath))
    }

    @Test("Who takes away what a power cut has left and makes it anew has made another file", arguments: [0, 1])
    func remainsMadeAnew(_ machine: Int) {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.wrote("2", over: "1", at: "a", on: 0)
        ledger.struck(0, was: holding("a=2"), is: holding("a=1"), other: holding("a=2"), isSafe: { _, _ in false })
        ledger.wrote("3", over: "2", at: "a", on: 1, time: 5)
        let value = machine == 0 ? "1" : "3"
        ledger.removed(value, at: "a", on: machine, time: 6)
        ledger.wrote(value, at: "a", on: machine, time: 6)
        #expect(ledger.isContested(.text("3"), at: at("a")) == (machine == 0))
    }

    @Test(
        "What a power cut has left with the times of now may be taken for a save, what it was is kept at least",
        arguments: [(true, Ledger.Demand.kept), (false, .atPath)])
    func remainsLookWritten(_ isNow: Bool, _ expected: Ledger.Demand) {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.struck(0, was: holding("a=1"), is: holding("a="), other: holding("a=1"), isSafe: { _, _ in false })
        ledger.remainsLookWritten(on: 1) { _, _ in true }
        #expect(ledger.demand(of: .text("1"), at: at("a")) == .atPath)
        ledger.remainsLookWritten(on: 0) { path, found in isNow && path == at("a") && found == .text("") }
        #expect(ledger.demand(of: .text("1"), at: at("a")) == expected)
    }

    @Test("What is owed under its old name again, and stands only where it was moved, goes with what stands there")
    func stoodOn() {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 1)
        ledger.wrote("1", at: "b", on: 0)
        ledger.stoodOn(.text("1"), of: at("a"), at: [at("b")])
        #expect(ledger.demand(of: .text("1"), at: at("a")) == .atPath)
        ledger.wrote("2", over: "1", at: "b", on: 0)
        #expect(ledger.demand(of: .text("1"), at: at("a")) == .excused)
    }

    @Test("What a crash left of a file may stand there and be copied: nobody wrote it") func crashRemains() {
        var ledger = Ledger()
        ledger.wrote("whole", at: "a", on: 0)
        ledger.struck(0, was: holding("a=whole"), is: holding("a=who"), other: holding(""), isSafe: { _, _ in false })
        #expect(ledger.everStood(.text("who"), at: at("a")) && ledger.isContested(.text("who"), at: at("a")))
        #expect(owed(ledger) == [])
    }

    @Test("A folder that the operator put back counts as his act, and what he laid over is kept at least")
    func restoredTree()
        throws
    {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.wrote("2", over: "1", at: "a", on: 0)
        ledger.wrote("3", at: "b", on: 0)
        ledger.replacedTree(
            0, was: holding("a=2 b=3 c=4").tree,
            is: holding("a=1 b=3").tree, at: 9)
        #expect(owed(ledger) == ["a 1 kept", "b 3 atPath"])
        let page = try #require(ledger.pages[at("a")])
        #expect(page.acts.last?.isRacing == true && page.acts.last?.time == 9 && page.isReverted)
        #expect(ledger.pages[at("b")]?.isReverted == false)
        #expect(ledger.pages[at("c")]?.acts.last?.after == .absent)
    }

    @Test("Values whose only disk was put back are excused, on whatever page they are") func lostValues() {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.wrote("1", at: "b", on: 1)
        ledger.wrote("2", at: "b", on: 0)
        ledger.lost([:])
        #expect(owed(ledger).count == 3)
        ledger.lost([.text("1"): true])
        #expect(owed(ledger) == ["b 2 atPath"])
    }

    @Test("A rejected deletion may come back, and only what was deleted") func rejected() {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.wrote("2", at: "b", on: 0)
        ledger.removed("2", at: "b", on: 0)
        ledger.wrote("3", at: "c", on: 0)
        ledger.rejectedDeletions(of: [at("c")], on: 0, at: 10_000)
        #expect(ledger.pages[at("a")]?.isReverted == false && ledger.pages[at("b")]?.isReverted == true)
        #expect(ledger.pages[at("c")]?.isReverted == true)
    }

    @Test("What goes while a refused deletion is taken back may come back with it, not what goes later or elsewhere")
    func removedAfterRefusal() {
        var ledger = Ledger()
        for name in ["a", "b", "c"] { ledger.wrote("1", at: name, on: 0) }
        ledger.rejectedDeletions(on: 0, at: 10_000)
        ledger.removedAfterRefusal(at("a"), on: 0, at: 10_001)
        ledger.removedAfterRefusal(at("b"), on: 1, at: 10_001)
        ledger.removedAfterRefusal(at("c"), on: 0, at: 20_000)
        #expect(["a", "b", "c"].map { ledger.pages[at($0)]?.isReverted } == [true, false, false])
    }

    @Test("A mass deletion is counted in the folder and in each directory at its top") func bursts() throws {
        var ledger = Ledger()
        let files = ["a", "d/x", "d/e/y", "f/z"].map { at($0) }
        ledger.massDeletion(of: [files[0], files[1], files[2]], among: files, on: 1, at: 7)
        let burst = try #require(ledger.bursts.first)
        #expect(burst.machine == 1 && burst.time == 7 && burst.filesBefore == 4)
        #expect(Array(burst.paths.keys) == [files[0], files[2], files[1]])
        #expect(Array(burst.tops.keys) == [at("d"), at("f")])
        #expect(burst.tops[at("d")]?.before == 2 && burst.tops[at("d")]?.deleted == 2)
        #expect(burst.tops[at("f")]?.before == 1 && burst.tops[at("f")]?.deleted == 0)
    }

    @Test("What a folder holds near a path: there, or in a conflict copy of it") func holdings() {
        let held = holding("a=1 \(copy)=2 d/a=3")
        #expect(held.holds(.text("1"), near: at("a")) && held.holds(.text("2"), near: at("a")))
        #expect(!held.holds(.text("3"), near: at("a")) && !held.holds(.text("2"), near: at("d/a")))
        #expect(!held.holds(.text("1"), near: at(copy)) && held.value(at: at("b")) == .absent)
        #expect(holding("d/a=1 d/\(copy)=2").holds(.text("2"), near: at("d/a")))
    }

    @Test("What was on the disk before a power cut may count as damage, what was made since may not") func damage() {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0, time: 1)
        ledger.wrote("2", at: "b", on: 0, time: 1)
        ledger.strikes[0] = 2
        ledger.removed("2", at: "b", on: 0, time: 3)
        ledger.wrote("2", over: "1", at: "a", on: 0, time: 3)
        ledger.wrote("3", at: "c", on: 0, time: 3)
        let (since, elsewhere) = (
            ledger.tookForDamage(.text("3"), at: at("c"), on: 0), ledger.tookForDamage(.text("2"), at: at("a"), on: 1)
        )
        #expect(!since && !elsewhere, "written since; the other machine has lost no power")
        let isReplaced = ledger.tookForDamage(.text("1"), at: at("a"), on: 0)
        #expect(!isReplaced, "not owed any more")
        #expect(owed(ledger) == ["a 2 atPath", "c 3 atPath"])
        let isMoved = ledger.tookForDamage(.text("2"), at: at("a"), on: 0)
        #expect(isMoved, "moved here since, written before")
        #expect(owed(ledger) == ["a 2 kept", "c 3 atPath"])
    }

    @Test("What somebody wrote is no remains as long as it is asked for at its path, whoever replaced it")
    func remains() {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        ledger.wrote("2", over: "1", at: "a", on: 1)
        #expect(!ledger.mayBeRemains(.text("1"), at: at("a")) && !ledger.mayBeRemains(.text("2"), at: at("a")))
        ledger.excuse(.text("1"), at: at("a"))
        #expect(ledger.mayBeRemains(.text("1"), at: at("a")) && !ledger.mayBeRemains(.text("2"), at: at("a")))
        #expect(ledger.mayBeRemains(.text("torn"), at: at("a")), "nobody wrote it")
    }

    // MARK: Folders and readings

    /// One file under two names, and an edit of it under the first.
    private func editedBeside() -> Ledger {
        var ledger = Ledger()
        ledger.wrote("1", at: "d/a", on: 0)
        ledger.wrote("1", at: "e/a", on: 1)
        ledger.wrote("2", over: "1", at: "d/a", on: 0)
        return ledger
    }

    private func holding(_ sketch: String) -> Ledger.Holdings {
        let tree = MachineSight(sketch, machine: 0).tree
        return Ledger.Holdings(tree: SortedMap(tree.map { ($0.key, $0.value.value) }))
    }

    private func seen(_ act: Ledger.Act) -> [Int] { (0..<8).filter { act.seen.contains($0) } }

    /// "path text demand", as far as the text is one of those written here.
    private func owed(_ ledger: Ledger) -> [String] {
        ledger.duties.map { duty in
            let text = ["1", "2", "3", "4", "5", "1+", "whole"].first { Value.text($0) == duty.value }
            return "\(duty.path) \(text ?? "?") \(duty.demand)"
        }
    }
}
