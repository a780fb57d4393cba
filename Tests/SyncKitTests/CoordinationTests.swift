import Coordination
import Disk
import RecordMerge
import SyncKit
import SyncModel
import Synchronization
import Testing

/// Rows C1 to C6 of the design's sources, within one process.
@Suite("coordination of sessions")
struct CoordinationTests {
    private let desk: Desk
    private let clock = HandClock()
    private let coordinator: any FileCoordinator

    init() throws {
        desk = try Desk()
        coordinator = makeFileCoordinator(socket: nil, clock: clock)
    }

    private func session(_ autosave: Autosave = .never) -> any DocumentSession<FriendList> {
        makeDocumentSession(
            JSONFile<FriendList>(), at: desk["list"], coordinator: coordinator, autosave: autosave, clock: clock)
    }

    @Test("C1: writers exclude each other, 50 at once add up")
    func excludes() async throws {
        let path = desk["count"]
        try desk.write("count", "0")
        let coordinator = coordinator
        let desk = desk
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await coordinator.withAccess([.write(path)]) { _ in
                        let number = Int(desk.text("count") ?? "") ?? 0
                        await Task.yield()
                        try desk.write("count", "\(number + 1)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(desk.text("count") == "50")
    }

    @Test("C2: a reader gets what the session had not saved yet, and the session hears of a writer")
    func presenters() async throws {
        let session = session()
        await session.open()
        try await session.begin(with: .me)
        let path = desk["list"]
        let seen = try await coordinator.withAccess([.read(path)]) { [desk] _ in desk.text("list") }
        #expect(seen?.contains("Me") == true)
        #expect(await !session.hasUnsavedChanges)
        try await coordinator.withAccess([.write(path)]) { [desk] grant in
            try desk.write("list", #"{"format": 1, "friends": []}"#)
            grant.note(.changed(path))
        }
        await until { await session.model == FriendList() }
        #expect(await session.state == .normal)
    }

    @Test("C5: two sessions on one path do not wait for each other, and the second save finds the first")
    func twoSessions() async throws {
        let (first, second) = (session(), session())
        await first.open()
        try await first.begin(with: FriendList())
        try await first.save(.creating)
        #expect(await second.open() == .success)
        try await first.update { $0.friends.append(Friend(name: "one", birth: 1)) }
        try await first.save()
        await until { await second.model?.friends.count == 1 }
        try await second.update { $0.friends.append(Friend(name: "two", birth: 2)) }
        try await second.close()
        await until { await first.model?.friends.count == 2 }
        try await first.close()
        #expect(desk.names == ["list"])
    }

    @Test("C6: a package is one thing: who has it keeps others from what is in it, and who shows it hears of that")
    func packages() async throws {
        try desk.item("notes").create(.package([#require(Path("a")): [0x31]]))
        let (package, inner) = (desk["notes"], desk["notes"].appending("a"))
        // They wait for each other by the kernel's locks, which no clock of a test can hurry.
        let (coordinator, other) = (makeFileCoordinator(socket: nil), makeFileCoordinator(socket: nil))
        for (whole, part, isInTheWay) in [
            (FileAccess.write(package), FileAccess.write(inner), true), (.write(package), .read(inner), true),
            (.read(package), .write(inner), true), (.read(package), .read(inner), false),
            (.write(package, .metadata), .write(inner), false), (.write(inner), .write(desk["notes2"]), false),
        ] {
            for (first, second) in [(whole, part), (part, whole)] {
                // In one program, and in two, which know of each other by the kernel only.
                for second in [(second, coordinator), (second, other)] {
                    try await coordinator.withAccess([first]) { _ in
                        let asking = Task {
                            try await second.1.withAccess([second.0], for: nil, within: .zero) { _ in true }
                        }
                        let isGranted = (try? await asking.value) ?? false
                        #expect(isGranted == !isInTheWay, "\(first) and \(second.0)")
                    }
                }
            }
        }

        let shows = Listening(path: package)
        let token = try await coordinator.present(shows)
        for deed in [FileDeed.changed(inner), .deleted(inner), .moved(inner, to: package.appending("b"))] {
            try await coordinator.withAccess([.write(inner)]) { grant in grant.note(deed) }
        }
        await until { await shows.news.count { $0 == .changed } == 3 }
        #expect(await shows.news.allSatisfy { $0 == .changed || $0 == .reacquired })
        try await coordinator.withAccess([.write(package, .deleting)]) { grant in grant.note(.deleted(package)) }
        await until { await shows.news.contains(.deleted) }
        await coordinator.withdraw(token)
    }

    @Test("C6: who has a part of what is marked as a package has all of it, and goes on with that part")
    func markedPackages() async throws {
        try desk.item("notes").create(.package([#require(Path("a")): [0x31], #require(Path("b/c")): [0x32]]))
        let package = desk["notes"]
        let (first, second) = (package.appending("a"), package.appending("b/c"))
        let (coordinator, other) = (makeFileCoordinator(socket: nil), makeFileCoordinator(socket: nil))
        func isGranted(_ access: FileAccess, beside held: FileAccess, in coordinators: [any FileCoordinator])
            async throws -> Bool
        {
            try await coordinators[0].withAccess([held]) { grant in
                #expect(grant.paths == [held.path])
                let asking = Task {
                    try await coordinators[1].withAccess([access], for: nil, within: .zero) {
                        $0.paths == [access.path]
                    }
                }
                return (try? await asking.value) ?? false
            }
        }
        for coordinators in [[coordinator, coordinator], [coordinator, other]] {
            #expect(try await isGranted(.write(first), beside: .write(second), in: coordinators))
        }
        try desk.write("notes/.syncd-package", "")
        for coordinators in [[coordinator, coordinator], [coordinator, other]] {
            for writing in [FileAccess.Writing.update, .deleting, .moving, .replacing, .merging] {
                #expect(try await !isGranted(.write(first), beside: .write(second, writing), in: coordinators))
            }
            #expect(try await !isGranted(.read(first), beside: .write(second), in: coordinators))
            #expect(try await isGranted(.read(first), beside: .read(second), in: coordinators))
        }

        // A part of it goes, and who shows the whole is asked to let others write, and not to let go of it.
        let shows = Listening(path: package)
        let token = try await coordinator.present(shows)
        try await coordinator.withAccess([.write(first, .deleting)]) { grant in grant.note(.deleted(first)) }
        await until { await shows.news.contains(.changed) }
        #expect(await !shows.news.contains(.deleted))
        await coordinator.withdraw(token)
    }

    @Test(
        "C6: what has a file of a package for one purpose may have the whole for the same, and the other way round",
        .timeLimit(.minutes(1)))
    func onePurpose() async throws {
        try desk.item("notes").create(.package([#require(Path("a")): [0x31]]))
        let (package, inner, coordinator) = (desk["notes"], desk["notes"].appending("a"), coordinator)
        for (first, second) in [(package, inner), (inner, package)] {
            for access in [FileAccess.read(first), .write(first)] {
                let isIn = try await coordinator.withAccess([access], for: "import", within: nil) { _ in
                    try await coordinator.withAccess([.write(second)], for: "import", within: nil) { _ in true }
                }
                #expect(isIn)
            }
        }
    }

    private actor Listening: FilePresenter {
        let presentedPath: DocumentPath
        nonisolated let purpose = "listening"
        private(set) var news: [FileNews] = []

        init(path: DocumentPath) { presentedPath = path }

        func prepare(for question: Question.Kind, savingFirst: Bool) async throws {}
        func take(_ news: FileNews) { self.news.append(news) }
    }

    @Test("a session whose file was changed under it says so and loses neither")
    func conflict() async throws {
        let session = session()
        await session.open()
        try await session.begin(with: .me)
        try await session.save(.creating)
        try await session.update { $0.friends = [] }
        let path = desk["list"]
        try await coordinator.withAccess([.write(path)]) { [desk] grant in
            // The session was asked to let go; a write for merging would have asked it to save.
            try desk.write("list", #"{"format": 1, "friends": [{"name": "other", "birth": 0}]}"#)
            grant.note(.changed(path))
        }
        await until { await session.state == .inConflict }
        await #expect(throws: DocumentError.self) { try await session.save() }
        #expect(desk.text("list")?.contains("other") == true)
        #expect(await session.model == FriendList())
    }

    @Test("C3: a presenter that never answers is passed over after ten seconds")
    func stopped() async throws {
        let stuck = Stuck(path: desk["list"])
        _ = try await coordinator.present(stuck)
        let path = desk["list"]
        let coordinator = coordinator
        let reading = Task { try await coordinator.withAccess([.read(path)]) { _ in true } }
        await until { await stuck.wasAsked }
        clock.advance(Coordinator.answerMilliseconds)
        #expect(try await reading.value)
        await stuck.letGo()
    }

    @Test(
        "two processes that ask crosswise for what the other has do not wait for ever: the one that has waited ten seconds is told"
    )
    func crosswise() async throws {
        let (first, second) = (coordinator, makeFileCoordinator(socket: nil, clock: clock))
        let (a, b) = (desk["a"], desk["b"])
        let (hasA, hasB) = (Flag(), Flag())
        for name in ["a", "b"] { try desk.write(name, "") }
        @Sendable func nest(
            _ coordinator: any FileCoordinator, _ mine: DocumentPath, _ has: Flag, _ theirs: DocumentPath, _ have: Flag
        ) async throws -> Bool {
            try await coordinator.withAccess([.write(mine)]) { _ in
                has.set()
                await until { have.isSet }
                do {
                    return try await coordinator.withAccess([.write(theirs)]) { _ in true }
                } catch let error as CoordinationError {
                    guard case .wouldDeadlock = error.kind else { throw error }
                    return false
                }
            }
        }
        let began = clock.milliseconds
        let ended = Flag()
        let results = Task {
            defer { ended.set() }
            async let one = nest(first, a, hasA, b, hasB)
            async let other = nest(second, b, hasB, a, hasA)
            return try await [one, other]
        }
        await until { [clock] in
            clock.advance(100)
            return ended.isSet
        }
        #expect(try await results.value.contains(false))
        #expect(clock.milliseconds - began >= 10_000)
        // What is not nested waits for as long as it takes.
        let holder = await Holder(of: a, by: first)
        let waiting = Task { try await second.withAccess([.write(a)]) { _ in true } }
        for _ in 0..<200 {
            await clock.untilAsleep()
            clock.advance(100)
        }
        try await holder.letGo()
        let isThere = Flag()
        let last = Task {
            defer { isThere.set() }
            return try await waiting.value
        }
        await until { [clock] in
            clock.advance(100)
            return isThere.isSet
        }
        #expect(try await last.value)
    }

    @Test("a task that is cancelled waits no longer")
    func cancelled() async throws {
        let path = desk["list"]
        let coordinator = coordinator
        let holder = await Holder(of: path, by: coordinator)
        let waiting = Task { try await coordinator.withAccess([.write(path)]) { _ in } }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        try await holder.letGo()
    }

    @Test("a session that was let go of without being closed keeps nobody waiting")
    func forgotten() async throws {
        var session: (any DocumentSession<FriendList>)? = session()
        await session?.open()
        session = nil
        let path = desk["list"]
        // The clock stands still, so nobody is passed over.
        #expect(try await coordinator.withAccess([.read(path)]) { _ in true })
    }

    @Test("cancelling at any moment leaves nothing held, and nobody in who should not be")
    func cancelledAnywhere() async throws {
        let path = desk["list"]
        let coordinator = coordinator
        let inside = Inside()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let task = Task {
                        try await coordinator.withAccess([.write(path)]) { _ in
                            #expect(await inside.enter() == 1)
                            await Task.yield()
                            await inside.leave()
                        }
                    }
                    if number % 7 == 0 { await Task.yield() }
                    if number % 3 == 0 { task.cancel() }
                    _ = await task.result
                }
            }
        }
        #expect(try await coordinator.withAccess([.write(path)]) { _ in true })
    }

    private actor Inside {
        private var count = 0

        func enter() -> Int {
            count += 1
            return count
        }

        func leave() { count -= 1 }
    }

    @Test("a session follows its file when it is renamed")
    func moved() async throws {
        let session = session()
        await session.open()
        try await session.begin(with: .me)
        try await session.save(.creating)
        let (path, target) = (desk["list"], desk["other"])
        try await coordinator.withAccess([.write(path, .moving), .write(target, .replacing)]) { [desk] grant in
            let bytes = try #require(desk.read("list"))
            try desk.write("other", bytes)
            desk.unlink("list")
            grant.note(.moved(path, to: target))
        }
        await until { await session.path.description.hasSuffix("/other") }
        try await session.update { $0.friends = [] }
        try await session.close()
        #expect(desk.names == ["other"] && desk.text("other")?.contains("Me") == false)
    }

    @Test("a session follows its file when a directory above it is renamed")
    func movedAbove() async throws {
        let above = desk.path
        let session = session()
        await session.open()
        try await session.begin(with: .me)
        try await session.save(.creating)
        let target = DocumentPath(above.bytes + Array("-moved".utf8))
        try await coordinator.withAccess([.write(above, .moving)]) { grant in grant.note(.moved(above, to: target)) }
        await until { await session.path == target.appending("list") }
    }

    private actor Stuck: FilePresenter {
        let presentedPath: DocumentPath
        nonisolated let purpose = "stuck"
        private(set) var wasAsked = false
        private var waiting: CheckedContinuation<Void, Never>?

        init(path: DocumentPath) { presentedPath = path }

        func prepare(for question: Question.Kind, savingFirst: Bool) async throws {
            wasAsked = true
            await withCheckedContinuation { waiting = $0 }
        }

        func letGo() { waiting?.resume() }
        func take(_ news: FileNews) {}
    }
}
