import Coordination
import SyncModel
import Testing

@Suite("the coordinator: who may, in which order, and who is asked before")
struct CoordinatorTests {
    @Test("readers share; a writer waits for readers, and readers that come after him wait for him")
    func readersShare() {
        var bench = Bench()
        bench.read(1, "a")
        bench.read(2, "a")
        bench.write(3, "a")
        bench.read(4, "a")
        #expect(bench.granted == [1, 2])
        bench.end(1)
        bench.end(2)
        #expect(bench.granted == [1, 2, 3])
        bench.end(3)
        #expect(bench.granted == [1, 2, 3, 4])
    }

    @Test("a time beyond what can be counted never ends")
    func neverEnds() {
        var coordinator = Coordinator()
        var effects: [Coordinator.Effect] = []
        for id in [1, 2] as [ClaimID] {
            let request = ClaimRequest(
                id: id, client: 1, accesses: [Access(Bench.path("a"), .write(.update))], patienceMilliseconds: .max,
                holdMilliseconds: .max)
            coordinator.step(.claim(request), at: 5, into: &effects)
        }
        #expect(coordinator.nextDue == nil && coordinator.heldClaims.map(\.id) == [1])
        coordinator.step(.end(claim: 1, []), at: 6, into: &effects)
        #expect(coordinator.nextDue == nil && coordinator.heldClaims.map(\.id) == [2])
    }

    @Test("a directory and what is in it are two things, unless it is deleted, moved or replaced")
    func contents() {
        for (writing, isInTheWay) in [
            (Access.Writing.update, false), (.merging, false), (.metadata, false), (.deleting, true), (.moving, true),
            (.replacing, true),
        ] {
            var bench = Bench()
            bench.claim(1, [("d", .write(writing))])
            bench.write(2, "d/x")
            #expect(bench.granted == (isInTheWay ? [1] : [1, 2]), "\(writing)")
            var other = Bench()
            other.write(2, "d/x")
            other.claim(1, [("d", .write(writing))])
            #expect(other.granted == (isInTheWay ? [2] : [2, 1]), "\(writing)")
        }
    }

    @Test("several paths are granted together or not at all")
    func together() {
        var bench = Bench()
        bench.write(1, "a")
        bench.claim(2, [("a", .write(.update)), ("b", .write(.update))])
        bench.write(3, "b")
        #expect(bench.granted == [1])
        bench.end(1)
        #expect(bench.granted == [1, 2])
        bench.end(2)
        #expect(bench.granted == [1, 2, 3])
    }

    @Test("C5: claims of one purpose never wait for each other, also in two programs")
    func onePurpose() {
        var bench = Bench()
        bench.claim(1, by: 7, for: "editor", [("a", .write(.update))])
        bench.claim(2, by: 8, for: "editor", [("a", .write(.update))])
        bench.claim(3, by: 7, for: "other", [("a", .write(.update))])
        #expect(bench.granted == [1, 2])
    }

    @Test("who waits for what a purpose holds does not keep it from more of the same")
    func nested() {
        var bench = Bench()
        bench.write(1, "a", for: "p")
        bench.write(2, "a", for: "q")
        bench.write(3, "a", for: "p")
        bench.write(4, "a")
        #expect(bench.granted == [1, 3] && bench.refused.isEmpty)
        bench.end(1)
        bench.write(5, "a", for: "p")
        bench.end(3)
        bench.end(5)
        #expect(bench.granted == [1, 3, 5, 2])
    }

    @Test("within what a purpose has to itself nobody is asked again, unless it is deleted")
    func within() {
        var bench = Bench()
        bench.present(1, "a")
        bench.write(1, "a", for: "p")
        bench.step(.answer(question: bench.asked[0].id, .ready))
        bench.claim(2, for: "p", [("a", .read(savesFirst: true))])
        #expect(bench.granted == [1, 2] && bench.asked.count == 1)
        bench.claim(3, for: "p", [("a", .write(.deleting))])
        #expect(bench.granted == [1, 2] && bench.asked.map(\.kind) == [.letWrite, .letDelete])
    }

    @Test("C2: who shows an item is asked before others read or write it, and told when it is over")
    func presenters() throws {
        var bench = Bench()
        bench.present(1, "a")
        bench.read(10, "a")
        let question = try #require(bench.asked.first)
        #expect(question.kind == .letRead && question.savesFirst && bench.granted.isEmpty)
        bench.step(.answer(question: question.id, .ready))
        #expect(bench.granted == [10])
        bench.end(10)
        #expect(bench.told[1] == [.reacquired])
        bench.read(11, "a", savesFirst: false)
        #expect(bench.asked.last?.savesFirst == false)
        bench.step(.answer(question: bench.asked[1].id, .ready))
        bench.end(11)
        bench.write(12, "a")
        #expect(bench.asked.last?.kind == .letWrite)
        bench.step(.answer(question: bench.asked[2].id, .ready))
        bench.end(12, [.changed(Bench.path("a"))])
        #expect(bench.told[1]?.suffix(2) == [.changed(Bench.path("a")), .reacquired])
        bench.claim(13, [("a", .write(.deleting))])
        #expect(bench.asked.last?.kind == .letDelete)
        bench.step(.answer(question: bench.asked[3].id, .ready))
        bench.end(13, [.deleted(Bench.path("a"))])
        #expect(bench.told[1]?.contains(.deleted(Bench.path("a"))) == true)
    }

    @Test("what deletes a directory asks those who show what is in it; writing the directory does not")
    func contained() {
        var bench = Bench()
        bench.present(1, "d/x")
        bench.write(10, "d")
        #expect(bench.asked.isEmpty && bench.granted == [10])
        bench.end(10)
        bench.claim(11, [("d", .write(.deleting))])
        #expect(bench.asked.map(\.kind) == [.letDelete])
        bench.present(2, "p", all: true)
        bench.write(12, "p/in/side")
        #expect(bench.asked.map(\.presenter) == [1, 2])
    }

    @Test("a presenter is not asked about what its own purpose does")
    func ownPurpose() {
        var bench = Bench()
        bench.present(1, "a", client: 7, purpose: "session")
        bench.claim(2, by: 7, for: "session", [("a", .write(.update))])
        #expect(bench.asked.isEmpty && bench.granted == [2])
        bench.end(2, [.changed(Bench.path("a"))])
        #expect(bench.told[1] == nil)
    }

    @Test("a presenter that is asked to save is let in ahead of the claim that asks, and of all who wait")
    func savesFirst() {
        var bench = Bench()
        bench.present(1, "a", client: 7, purpose: "session")
        bench.read(10, "a")
        bench.write(11, "a")
        bench.claim(12, by: 7, for: "session", [("a", .write(.update))])
        #expect(bench.granted == [12])
        bench.end(12, [.changed(Bench.path("a"))])
        #expect(bench.granted == [12])
        bench.step(.answer(question: bench.asked[0].id, .ready))
        #expect(bench.granted == [12, 10])
        bench.end(10)
        #expect(bench.asked.count == 2)
    }

    @Test("a save that began before the answer keeps the reader out until it is done")
    func answersTooEarly() {
        var bench = Bench()
        bench.present(1, "a", client: 7, purpose: "session")
        bench.read(10, "a")
        bench.claim(12, by: 7, for: "session", [("a", .write(.update))])
        bench.step(.answer(question: bench.asked[0].id, .ready))
        #expect(bench.granted == [12])
        bench.end(12)
        #expect(bench.granted == [12, 10])
    }

    @Test("C3: a presenter that does not answer delays others by its time, once; then it is told that it was skipped")
    func stoppedPresenter() {
        var bench = Bench()
        bench.present(1, "a")
        bench.read(10, "a")
        #expect(bench.coordinator.nextDue == bench.now + Coordinator.answerMilliseconds)
        bench.pass(Coordinator.answerMilliseconds - 1)
        #expect(bench.granted.isEmpty)
        bench.pass(1)
        #expect(bench.granted == [10])
        guard case .skipped(let fence) = bench.told[1]?.first else { return #expect(Bool(false), "nobody told it") }
        #expect(bench.fences == [fence])
    }

    @Test(
        "C3: one that is stopped while it holds a lock is not waited for twice; once it has said something it is asked as others are"
    )
    func stoppedHolder() {
        var bench = Bench()
        bench.present(1, "a", client: 7, purpose: "session")
        bench.claim(10, by: 7, for: "session", [("a", .read(savesFirst: false))], hold: 10_000)
        bench.write(11, "a")
        bench.pass(10_000)
        #expect(bench.revoked == [10] && bench.granted == [10])
        bench.pass(Coordinator.silentAnswerMilliseconds - 1)
        #expect(bench.granted == [10])
        bench.pass(1)
        #expect(bench.granted == [10, 11])
        bench.end(11)
        bench.claim(12, by: 7, for: "session", [("a", .read(savesFirst: false))])
        bench.end(12)
        bench.write(13, "a")
        bench.pass(Coordinator.answerMilliseconds - 1)
        #expect(!bench.granted.contains(13))
        bench.pass(1)
        #expect(bench.granted.contains(13))
    }

    @Test("busy is heard once")
    func busy() {
        var bench = Bench()
        bench.present(1, "a")
        bench.read(10, "a")
        for _ in 0..<3 { bench.step(.answer(question: bench.asked[0].id, .busy)) }
        bench.pass(Coordinator.answerMilliseconds)
        #expect(bench.granted.isEmpty)
        bench.pass(Coordinator.answerMilliseconds)
        #expect(bench.granted == [10])
    }

    @Test("a presenter that cannot save fails the claim with its reason")
    func cannotSave() {
        var bench = Bench()
        bench.present(1, "a")
        bench.read(10, "a")
        bench.step(.answer(question: bench.asked[0].id, .failed("disk full")))
        #expect(bench.refused[10] == .presenterFailed("disk full") && bench.told[1] == [.reacquired])
    }

    @Test("C4: a claim whose time is over says who is in its way, what for and since when")
    func patience() {
        var bench = Bench()
        bench.claim(1, by: 5, for: "backup", [("a", .write(.update))])
        bench.pass(100)
        bench.claim(2, [("a", .write(.update))], patience: 50)
        bench.pass(50)
        #expect(bench.refused[2] == .timedOut(holder: 5, purpose: "backup", heldMilliseconds: 150))
    }

    @Test("C4: who has no time to come into the queue hears the same, and of nobody where nobody has it")
    func patienceBefore() {
        var coordinator = Coordinator()
        var effects: [Coordinator.Effect] = []
        func request(_ id: ClaimID, _ path: String, _ purpose: String? = nil) -> ClaimRequest {
            ClaimRequest(id: id, client: 5, purpose: purpose, accesses: [Access(Bench.path(path), .write(.update))])
        }
        coordinator.step(.claim(request(1, "a", "backup")), at: 100, into: &effects)
        let held = ClaimRefusal.timedOut(holder: 5, purpose: "backup", heldMilliseconds: 150)
        #expect(coordinator.holder(against: request(2, "a"), at: 250) == held)
        #expect(coordinator.holder(against: request(2, "a", "backup"), at: 250) == nil)
        #expect(coordinator.holder(against: request(2, "b"), at: 250) == nil)
    }

    @Test("a claim with no time to wait is granted what nobody has, and refused what somebody has")
    func noPatience() {
        var bench = Bench()
        bench.claim(1, [("a", .write(.update))], patience: 0)
        bench.claim(2, [("a", .write(.update))], patience: 0)
        #expect(bench.granted == [1] && bench.refused[2] != nil)
    }

    @Test("what is held for longer than it may be is taken away when somebody waits, and its fence is no longer good")
    func revoked() {
        var bench = Bench()
        bench.claim(1, [("a", .write(.update))], hold: 1_000)
        bench.pass(5_000)
        #expect(bench.revoked.isEmpty && bench.coordinator.isCurrent(fence: bench.fences[0]))
        bench.write(2, "a")
        #expect(bench.revoked == [1] && bench.granted == [1, 2])
        #expect(!bench.coordinator.isCurrent(fence: bench.fences[0]) && bench.fences[1] > bench.fences[0])
    }

    @Test("claims that wait for each other in a circle: the youngest fails, by name")
    func circle() {
        var bench = Bench()
        bench.claim(1, for: "one", [("a", .write(.update))])
        bench.claim(2, for: "two", [("b", .write(.update))])
        bench.claim(3, for: "one", [("b", .write(.update))])
        bench.claim(4, for: "two", [("a", .write(.update))])
        guard case .wouldDeadlock(let names) = bench.refused[4] else { return #expect(Bool(false), "no circle seen") }
        #expect(names.sorted() == ["one", "two"])
        bench.end(2)
        #expect(bench.granted == [1, 2, 3])
    }

    @Test(
        "a circle over both nodes, of whose steps the other node alone knows one: found when the last of them is told or made"
    )
    func circleElsewhere() {
        func peers(_ id: ClaimID, _ path: String, _ purpose: String) -> Coordinator.Event {
            .claim(
                ClaimRequest(
                    id: id, client: 9, node: .peer, purpose: purpose,
                    accesses: [Access(Bench.path(path), .write(.update))]))
        }
        for isToldLast in [false, true] {
            var bench = Bench()
            bench.step(peers(1, "a", "y"))
            bench.claim(2, for: "x", [("c", .write(.update))])
            bench.step(peers(3, "c", "z"))
            if !isToldLast { bench.step(.elsewhere([Wait("y", for: "z")])) }
            bench.claim(4, for: "x", [("a", .write(.update))])
            #expect(bench.refused.isEmpty == isToldLast)
            if isToldLast { bench.step(.elsewhere([Wait("z", for: "y"), Wait("y", for: "z")])) }
            guard case .wouldDeadlock(let names) = bench.refused[4] else {
                return #expect(Bool(false), "no circle seen")
            }
            #expect(names.sorted() == ["x", "y on the other node", "z on the other node"])
            // What waits no more is no step.
            bench.step(.elsewhere([]))
            bench.claim(5, for: "x", [("a", .write(.update))])
            #expect(bench.refused[5] == nil)
        }
    }

    @Test("who waits for whom is told by purposes, whoever stands between them, and no more of it than is wanted")
    func waits() {
        var bench = Bench()
        bench.write(1, "e/f", for: "z")
        bench.claim(2, [("e", .write(.replacing))])
        bench.write(3, "e/g", for: "y")
        bench.write(4, "e/h", for: "w")
        #expect(bench.coordinator.waits(atMost: 9) == [Wait("y", for: "z"), Wait("w", for: "z")])
        #expect(bench.coordinator.waits(atMost: 1) == [Wait("y", for: "z")])
        bench.end(1)
        bench.end(2)
        #expect(bench.coordinator.waits(atMost: 9).isEmpty)
    }

    @Test("who has no purpose is called by its name in a circle") func circleByName() {
        var bench = Bench()
        bench.present(1, "a", client: 7, purpose: "session")
        let accesses = ["a", "b"].map { Access(Bench.path($0), .write(.merging)) }
        bench.step(.claim(ClaimRequest(id: 2, client: 2, name: "vim, process 5", accesses: accesses)))
        bench.claim(3, by: 7, for: "session", [("b", .write(.update))])
        guard case .wouldDeadlock(let names) = bench.refused[3] else { return #expect(Bool(false), "no circle seen") }
        #expect(names.sorted() == ["session", "vim, process 5"])
    }

    @Test("a presenter whose owner waits for what is claimed closes a circle, too")
    func circleOverPresenter() {
        var bench = Bench()
        bench.present(1, "a", client: 7, purpose: "session")
        bench.claim(2, for: "reader", [("b", .write(.update))])
        bench.claim(3, by: 7, for: "session", [("b", .write(.update))])
        bench.claim(4, for: "reader", [("a", .read(savesFirst: true))])
        #expect(bench.refused[4] != nil && bench.granted == [2])
    }

    @Test(
        "two who show a file and look at it at the same moment do not wait for each other, unless one is to save first")
    func lookingTogether() {
        for savesFirst in [false, true] {
            var bench = Bench()
            bench.present(1, "a", client: 7, purpose: "one")
            bench.present(2, "a", client: 8, purpose: "two")
            bench.claim(3, by: 7, for: "one", [("a", .read(savesFirst: savesFirst))])
            bench.claim(4, by: 8, for: "two", [("a", .read(savesFirst: savesFirst))])
            #expect((bench.refused[4] != nil) == savesFirst && bench.refused[3] == nil)
        }
    }

    @Test("whose client is gone holds nothing, waits for nothing and shows nothing")
    func gone() {
        var bench = Bench()
        bench.claim(1, by: 5, [("a", .write(.update))])
        bench.claim(2, by: 5, [("b", .write(.update))])
        bench.present(9, "b", client: 5)
        bench.write(3, "a")
        bench.step(.gone(client: 5))
        bench.write(4, "b")
        #expect(bench.granted == [1, 2, 3, 4] && bench.asked.isEmpty)
    }

    @Test("claims and presenters follow what was renamed while they waited; what replaces does not")
    func moves() {
        var bench = Bench()
        bench.present(1, "d/x", client: 1)
        bench.claim(2, by: 1, [("d", .write(.moving))])
        bench.step(.answer(question: bench.asked[0].id, .ready))
        bench.claim(3, [("d/x", .read(savesFirst: false))])
        bench.claim(4, [("d/x", .write(.replacing))])
        bench.end(2, [.moved(Bench.path("d"), to: Bench.path("e"))])
        #expect(bench.told[1]?.first == .moved(Bench.path("d"), to: Bench.path("e")))
        for question in bench.asked.dropFirst() { bench.step(.answer(question: question.id, .ready)) }
        #expect(bench.places[3] == [Bench.path("e/x")] && bench.places[4] == [Bench.path("d/x")])
    }

    @Test("what one node does for itself is of no concern to the other, and what both may see is")
    func nodes() {
        for (first, second, isInTheWay) in [(true, true, true), (false, true, false), (true, false, false)] {
            var bench = Bench()
            let access = [Access(Bench.path("a"), .write(.update), coversContents: true)]
            bench.step(.claim(ClaimRequest(id: 1, client: 1, node: .own, isShared: first, accesses: access)))
            bench.step(.claim(ClaimRequest(id: 2, client: 2, node: .peer, isShared: second, accesses: access)))
            bench.step(.claim(ClaimRequest(id: 3, client: 3, node: .own, isShared: false, accesses: access)))
            #expect(bench.granted == (isInTheWay ? [1] : [1, 2]), "\(first) \(second)")
            // Which of its own exclude each other, the other node sees to itself.
            bench.step(.claim(ClaimRequest(id: 4, client: 4, node: .peer, isShared: second, accesses: access)))
            #expect(bench.granted.contains(4) == !isInTheWay)
        }
    }

    @Test("a claim of the other node asks nobody here")
    func asksNobody() {
        var bench = Bench()
        bench.present(1, "a")
        let access = [Access(Bench.path("a"), .write(.update))]
        bench.step(.claim(ClaimRequest(id: 1, client: 9, node: .peer, accesses: access)))
        #expect(bench.granted == [1] && bench.asked.isEmpty)
    }

    @Test("among programs nobody is asked, or told, of what his own program does")
    func ownProgram() {
        var bench = Bench()
        bench.coordinator = Coordinator(asking: .others)
        bench.present(1, "a", client: 7)
        bench.present(2, "a", client: 8)
        bench.claim(5, by: 7, [("a", .write(.update))])
        #expect(bench.asked.map(\.presenter) == [2])
        bench.step(.answer(question: bench.asked[0].id, .ready))
        bench.end(5, [.changed(Bench.path("a"))])
        #expect(bench.told == [2: [.changed(Bench.path("a")), .reacquired]])
    }

    @Test("what has begun before anybody claimed is granted at once, and waited for")
    func occupied() {
        var bench = Bench()
        bench.read(1, "a")
        let access = [Access(Bench.path("a"), .write(.update))]
        bench.step(.occupy(ClaimRequest(id: 2, client: 2, accesses: access)))
        bench.write(3, "a")
        #expect(bench.granted == [1, 2])
        bench.end(1)
        #expect(bench.granted == [1, 2])
        bench.end(2)
        #expect(bench.granted == [1, 2, 3])
    }

    @Test("warnings reach who shows the item, and nobody else")
    func warnings() {
        var bench = Bench()
        bench.present(1, "d", all: true)
        bench.present(2, "d")
        bench.present(3, "d/x")
        let warning = Warning(
            path: Bench.path("d/x"), about: Bench.path("d/y"), code: .conflictFile, isOpen: true)
        bench.step(.warned(warning))
        #expect(bench.told == [1: [.warned(warning)], 3: [.warned(warning)]])
    }

    @Test("fences only rise, and a start of the process begins above all before it")
    func fences() {
        var bench = Bench()
        bench.coordinator = Coordinator(fencesAbove: 3 << 32)
        for id in 1...5 as ClosedRange<UInt64> { bench.write(ClaimID(id), "f\(id)") }
        #expect(bench.fences == bench.fences.sorted() && Set(bench.fences).count == 5)
        #expect(bench.fences.allSatisfy { $0 > 3 << 32 && $0 < 4 << 32 })
    }
}
