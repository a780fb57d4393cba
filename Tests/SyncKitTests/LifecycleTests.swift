import ControlSocket
import Disk
import Dispatch
import RecordMerge
import SyncModel
import Synchronization
import Testing

@testable import SyncKit

/// Rows L1 to L13 of the design's sources.
@Suite("the life of a document")
struct LifecycleTests {
    private let desk: Desk
    private let clock = HandClock()

    init() throws { desk = try Desk() }

    private func session(_ name: String = "list", _ autosave: Autosave = .never) -> any DocumentSession<FriendList> {
        makeDocumentSession(
            JSONFile<FriendList>(), at: desk[name], coordinator: makeFileCoordinator(socket: nil, clock: clock),
            autosave: autosave,
            clock: clock)
    }

    @Test("L1: a session on a missing path creates nothing, nor does opening it")
    func initCreatesNothing() async {
        let session = session()
        #expect(await session.outcome == .notLoaded)
        #expect(desk.names == [])
        #expect(await session.open() == .noSuchFile)
        #expect(desk.names == [])
    }

    @Test("L2: a file and a package, also with a directory in it, come back as they were", arguments: [false, true])
    func shapes(isPackage: Bool) async throws {
        let session = makeDocumentSession(
            Notes(isPackage: isPackage), at: desk["notes"], coordinator: makeFileCoordinator(socket: nil, clock: clock))
        await session.open()
        try await session.begin(with: ["a": "1", "b/c": ""])
        try await session.close()
        let second = makeDocumentSession(Notes(isPackage: isPackage), at: desk["notes"])
        #expect(await second.open() == .success)
        #expect(await second.model == ["a": "1", "b/c": ""])
        try await second.update { $0["c"] = "3" }
        try await second.close()
        let third = makeDocumentSession(Notes(isPackage: isPackage), at: desk["notes"])
        await third.open()
        #expect(await third.model == ["a": "1", "b/c": "", "c": "3"])
        #expect(desk.names == ["notes"])
    }

    @Test("L3: another shape than expected is corrupt, and no trap")
    func wrongShape() async throws {
        try desk.item("list").create(.package([:]))
        let session = session()
        let reason = "a directory stands where a file is expected"
        #expect(await session.open() == .corrupt(reason: reason, offset: 0))
        #expect(await session.lastError?.reason == reason)
        #expect(await session.model == nil)
        try desk.write("text", "no notes")
        let notes = makeDocumentSession(
            Notes(isPackage: true), at: desk["text"], coordinator: makeFileCoordinator(socket: nil, clock: clock))
        #expect(await notes.open() == .corrupt(reason: "a file, not a package", offset: 0))
        #expect(await notes.model == nil && desk.text("text") == "no notes")
    }

    @Test("L4: the callback of open comes exactly once, on success and on failure")
    func callback() async throws {
        try desk.write("list", #"{"format": 1, "friends": []}"#)
        for (name, outcome) in [("list", LoadOutcome.success), ("none", .noSuchFile)] {
            let calls = Mutex<[LoadOutcome]>([])
            await confirmation { called in
                await withCheckedContinuation { waiting in
                    session(name).open { outcome in
                        calls.withLock { $0.append(outcome) }
                        called()
                        waiting.resume()
                    }
                }
            }
            #expect(calls.withLock { $0 } == [outcome])
        }
    }

    @Test("L4: an open that is given up, or whose daemon goes away under it, ends once as well")
    func endings() async throws {
        try desk.write("list", #"{"format": 1, "friends": []}"#)
        let (path, coordinator) = (desk["list"], makeFileCoordinator(socket: nil, clock: clock))
        let holder = await Holder(of: path, by: coordinator)
        let waiting = makeDocumentSession(JSONFile<FriendList>(), at: path, coordinator: coordinator)
        let opening = Task { await waiting.open() }
        opening.cancel()
        #expect(await opening.value == .notLoaded)
        #expect(await waiting.model == nil)
        try await holder.letGo()
        #expect(await waiting.open() == .success)

        let daemon = try VanishingDaemon(desk["control"])
        let calls = Mutex(0)
        let session = makeDocumentSession(
            JSONFile<FriendList>(), at: path, coordinator: makeFileCoordinator(socket: desk["control"], clock: clock))
        let outcome = await withCheckedContinuation { waiting in
            session.open { outcome in
                calls.withLock { $0 += 1 }
                waiting.resume(returning: outcome)
            }
        }
        #expect(daemon.hasLeft && outcome == .success && calls.withLock { $0 } == 1)
        try await session.close()
    }

    @Test("L5: creating over an existing file fails without touching it")
    func creating() async throws {
        let session = session()
        await session.open()
        try await session.begin(with: .me)
        try desk.write("list", "something else")
        let error = try #require(await failure { try await session.save(.creating) })
        #expect(error.kind == .exists && desk.text("list") == "something else")
        #expect(await session.model == .me)
    }

    @Test("L6: a close whose save fails keeps the session open and everything in it")
    func closing() async throws {
        let session = session()
        await session.open()
        try await session.begin(with: .me)
        try desk.write("list", "in the way")
        #expect(await failure { try await session.close() } != nil)
        #expect(await session.state != .closed)
        #expect(await session.hasUnsavedChanges)
        #expect(await session.model == .me)
        desk.unlink("list")
        try await session.close()
        #expect(await session.state == .closed)
        #expect(desk.text("list")?.contains("Me") == true)
        #expect(await failure { try await session.update { _ in } }?.kind == .closed)
    }

    @Test("what is open is saved and closed together; what cannot be saved stays open and is named")
    func closeAll() async throws {
        let (first, second, other) = (session("a"), session("b"), session("c"))
        for session in [first, second, other] {
            await session.open()
            try await session.begin(with: FriendList())
        }
        try desk.write("b", "somebody else was faster")
        try await other.close()
        let unsaved = await closeOpenDocuments(in: desk.path)
        #expect(unsaved.map(\.path) == [desk["b"]])
        #expect(await first.state == .closed)
        #expect(await second.hasUnsavedChanges)
        #expect(await second.state != .closed)
        #expect(desk.names == ["a", "b", "c"] && desk.text("b") == "somebody else was faster")
        #expect(await closeOpenDocuments(in: desk["nowhere"]).isEmpty)
    }

    @Test("what a session tells ends when it is closed, and goes on when the process ends", arguments: [true, false])
    func endOfStreams(ends: Bool) async throws {
        let session = session()
        await session.open()
        try await session.begin(with: FriendList())
        let (models, states) = (await session.models(), await session.states())
        #expect(await closeOpenDocuments(in: desk.path, endingStreams: ends).isEmpty)
        #expect(await session.state == .closed)
        // Whoever still listens hears that it was opened again.
        #expect(await session.open() == .success)
        try await session.close()
        var (told, read): ([DocumentState], Int) = ([], 0)
        for await state in states { told.append(state) }
        for await _ in models { read += 1 }
        #expect(told.count { $0 == .closed } == (ends ? 1 : 2))
        #expect(read == (ends ? 1 : 2))
    }

    @Test("L7: a change while a save runs is neither torn nor lost")
    func racing() async throws {
        let session = session()
        await session.open()
        try await session.begin(with: FriendList())
        try await session.save(.creating)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask {
                    try? await session.update { $0.friends.append(Friend(name: "\(index)", birth: Double(index))) }
                    try? await session.save()
                }
            }
        }
        try await session.close()
        let decoded = JSONFile<FriendList>().decode(.file(try #require(desk.read("list"))))
        #expect(decoded.model?.friends.count == 40 && desk.names == ["list"])
    }

    @Test("L7: what is changed while the disk is at work is in the next save and not in this one")
    func racingDisk() async throws {
        let disk = DispatchQueue(label: "disk", attributes: .concurrent)
        let session = FileSession(
            JSONFile<FriendList>(), at: desk["list"], deriving: [],
            coordinator: makeFileCoordinator(socket: nil, clock: clock), purpose: nil, autosave: .never,
            files: DocumentFiles(queue: disk), clock: clock)
        #expect(await session.open() == .noSuchFile)
        try await session.begin(with: .me)
        disk.suspend()
        let saving = Task { try await session.save(.creating) }
        await until { await session.state == .inProgress }
        try await session.update { $0.friends.append(Friend(name: "You", birth: 1)) }
        disk.resume()
        try await saving.value
        #expect(desk.text("list")?.contains("Me") == true && desk.text("list")?.contains("You") == false)
        #expect(await session.hasUnsavedChanges)
        try await session.close()
        #expect(desk.text("list")?.contains("You") == true)
    }

    @Test("L8: what has changed is on the disk two seconds after the last change, fifteen after the first")
    func autosaves() async throws {
        let session = session("list", Autosave())
        await session.open()
        try await session.begin(with: FriendList())
        for step in 0..<9 {
            await clock.untilAsleep()
            // (After that it is being written.)
            if step < 8 { #expect(clock.nextDue == min(UInt64(step) * 1_900 + 2_000, 15_000)) }
            clock.advance(1_900)
            try await session.update { $0.friends.append(Friend(name: "\(step)", birth: 0)) }
        }
        // 17.1 s after the first change, and never two seconds without one: the cap has written it.
        await until { self.desk.read("list") != nil }
        await until {
            clock.advance(500)
            return await !session.hasUnsavedChanges
        }
        #expect(desk.text("list")?.contains("\"8\"") == true)
    }

    @Test("L8: undoing back to what is saved writes nothing")
    func undoToClean() async throws {
        let session = session("list", Autosave())
        await session.open()
        try await session.begin(with: .me)
        try await session.save(.creating)
        try await session.update { $0.friends = [] }
        #expect(await session.hasUnsavedChanges)
        #expect(await session.canUndo)
        try await session.undo()
        #expect(await !session.hasUnsavedChanges)
        #expect(await session.canRedo)
        #expect(await session.model == .me)
        desk.unlink("list")
        try await session.close()
        #expect(desk.names == [])
    }

    @Test("L8: others' change counts: done, undone, redone, cleared")
    func changeCounts() async throws {
        let session = session()
        await session.open()
        try await session.begin(with: .me)
        try await session.save(.creating)
        for (change, isDirty) in [(DocumentChange.done, true), (.undone, false), (.redone, true), (.cleared, false)] {
            await session.changeCount(change)
            #expect(await session.hasUnsavedChanges == isDirty, "\(change)")
        }
    }

    @Test("L8: what is done after an undo is never taken for what was saved, and is written")
    func doneAfterUndo() async throws {
        let session = session()
        await session.open()
        try await session.begin(with: FriendList())
        try await session.update { $0 = .me }
        try await session.save(.creating)
        try await session.undo()
        await session.changeCount(.done)
        #expect(await session.hasUnsavedChanges)
        try await session.close()
        #expect(desk.text("list")?.contains("Me") == false)
    }

    @Test("L9: the states a document goes through")
    func states() async throws {
        let session = session()
        let seen = Mutex<[DocumentState]>([])
        let states = await session.states()
        let listening = Task { for await state in states { seen.withLock { $0.append(state) } } }
        await session.open()
        try await session.begin(with: .me)
        try await session.save(.creating)
        try desk.write("list", #"{"format": 1, "friends": []}"#)
        try await session.update { $0.friends = [] }
        #expect(await failure { try await session.save() }?.kind == .changedMeanwhile)
        #expect(await session.state == .inConflict)
        await session.revert()
        try await session.close()
        await listening.value
        #expect(
            seen.withLock { $0 } == [
                .closed, .inProgress, .normal, .inProgress, .normal, .inProgress, .inConflict, .inProgress, .normal,
                .closed,
            ])
        try desk.write("list", #"{"format": 9}"#)
        let second = self.session()
        await second.open()
        #expect(await second.state == .editingDisabled)
    }

    @Test("L10: save, close, open anew: one friend, the same name, the same time to the last bit")
    func friends() async throws {
        let session = session()
        await session.open()
        try await session.begin(with: .me)
        try await session.close()
        let second = self.session()
        #expect(await second.open() == .success)
        let friends = try #require(await second.model?.friends)
        #expect(friends.count == 1 && friends[0].name == "Me" && friends[0].birth == 0.1 + 0.2)
    }

    @Test("L13: a claim that never ends completes with an error that says whose it was")
    func stalled() async throws {
        let coordinator = makeFileCoordinator(socket: nil, clock: clock)
        let path = desk["list"]
        let (release, sink) = AsyncStream.makeStream(of: Void.self)
        let held = Mutex(false)
        let holding = Task {
            try await coordinator.withAccess([.write(path)], for: "backup", within: nil) { _ in
                held.withLock { $0 = true }
                for await _ in release {}
            }
        }
        await until { held.withLock { $0 } }
        let waiting = Task {
            try await coordinator.withAccess([.read(path)], for: nil, within: .milliseconds(500)) { _ in }
        }
        await clock.untilAsleep()
        clock.advance(500)
        await #expect(
            throws: CoordinationError(
                .timedOut(process: ControlSocket.processID, purpose: "backup", heldMilliseconds: 500))
        ) {
            try await waiting.value
        }
        sink.finish()
        try await holding.value
    }

    @Test("L13: a disk that does not answer ends a load and a save with timedOut, and what comes late is known again")
    func stalledDisk() async throws {
        try desk.write("list", #"{"format": 1, "friends": []}"#)
        let disk = DispatchQueue(label: "disk", attributes: .concurrent)
        let session = FileSession(
            JSONFile<FriendList>(), at: desk["list"], deriving: [],
            coordinator: makeFileCoordinator(socket: nil, clock: clock), purpose: nil, autosave: .never,
            files: DocumentFiles(patience: .milliseconds(50), queue: disk), clock: clock)
        disk.suspend()
        #expect(await session.open() == .notLoaded)
        #expect(await session.lastError?.kind == .timedOut)
        #expect(await session.model == nil)
        disk.resume()
        #expect(await session.revert() == .success)

        disk.suspend()
        try await session.update { $0 = .me }
        #expect(await failure { try await session.save() }?.kind == .timedOut)
        #expect(await session.state == .savingError)
        #expect(await session.hasUnsavedChanges)
        #expect(desk.text("list")?.contains("Me") == false)
        disk.resume()
        await until { [desk] in desk.text("list")?.contains("Me") == true && desk.names == ["list"] }
        try await session.update { $0.friends.append(Friend(name: "You", birth: 1)) }
        try await session.close()
        #expect(desk.text("list")?.contains("You") == true && desk.names == ["list"])
    }

    private func failure(_ body: () async throws -> Void) async -> DocumentError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? DocumentError
        }
    }
}

/// Texts by name, in one file of lines or in a package.
private struct Notes: Document {
    let isPackage: Bool

    func decode(_ contents: DocumentContents) -> Decoded<[String: String]> {
        switch contents {
        case .package where !isPackage: return Decoded(.corrupt(reason: "a package, not a file", offset: 0))
        case .file where isPackage: return Decoded(.corrupt(reason: "a file, not a package", offset: 0))
        case .package(let files):
            let pairs = files.map {
                (String(decoding: $0.key.bytes, as: UTF8.self), String(decoding: $0.value, as: UTF8.self))
            }
            return Decoded(.success, model: Dictionary(uniqueKeysWithValues: pairs))
        case .file(let bytes):
            let lines = bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
            let pairs = lines.map { line in
                let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                return (parts[0], parts.count > 1 ? parts[1] : "")
            }
            return Decoded(.success, model: Dictionary(uniqueKeysWithValues: pairs))
        }
    }

    func encode(_ model: [String: String], replacing: DocumentContents?) throws -> DocumentContents {
        if !isPackage {
            return .file(Array(model.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }.joined().utf8))
        }
        var files: [Path: [UInt8]] = [:]
        for (name, text) in model { files[try #require(Path(name))] = Array(text.utf8) }
        return .package(files)
    }
}
