import ControlProtocol
import Coordination
import Disk
import RecordMerge
import SyncKit
import SyncModel
import Synchronization
import Testing

/// What a daemon says of itself about what it was asked for earlier.
@Suite("what the daemon says later")
struct DaemonTests {
    private let desk: Desk
    private let clock = HandClock()

    init() throws { desk = try Desk() }

    /// Grants every lock, always as the same, and answers everything else with "done".
    private func grantingDaemon() throws -> ScriptedDaemon {
        try ScriptedDaemon(desk["control"], folder: desk.path) { call in
            guard case .lock(let request) = call.request else { return [.result(call.id, DoneDocument().json)] }
            let lock = LockDocument(
                id: "l1", paths: [Array("list".utf8)], isRead: request.isRead, mode: request.mode, holder: "",
                node: [], sinceMilliseconds: 0, fence: 7)
            return [.result(call.id, lock.json)]
        }
    }

    @Test("a reader who has had his time while a writer waits is told that it is over")
    func takenAway() async throws {
        let daemon = try grantingDaemon()
        let coordinator = makeFileCoordinator(socket: desk["control"], clock: clock)
        try await coordinator.withAccess([.read(desk["list"])]) { grant in
            let call = daemon.calls.last
            guard let call, case .lock(let request) = call.request else { return #expect(Bool(false)) }
            #expect(request.holdMilliseconds == 10_000)
            #expect(!coordinator.isOver(grant) && grant.fence == 7)
            daemon.say(.item(call.id, method: "lock", RevokedDocument(lock: "l1").json))
            await until { coordinator.isOver(grant) }
        }
        // The next one is another.
        try await coordinator.withAccess([.read(desk["list"])]) { grant in #expect(!coordinator.isOver(grant)) }
    }

    @Test(
        "who gives a lock back wants to hear of it only if it is refused, which a daemon that answers all the same may do"
    )
    func quietRelease() async throws {
        let daemon = try grantingDaemon()
        let coordinator = makeFileCoordinator(socket: desk["control"], clock: clock)
        for _ in 0..<2 { try await coordinator.withAccess([.write(desk["list"])]) { _ in } }
        await until { daemon.calls.count == 5 }
        #expect(daemon.calls.filter { $0.request == .release(lock: "l1", deeds: [], isQuiet: true) }.count == 2)
    }

    @Test("of many who ask at once each gets his own answer, at once or late, and in whatever order they come")
    func ownAnswers() async throws {
        let held = Mutex([ControlReply]())
        let daemon = try ScriptedDaemon(desk["control"], folder: desk.path) { call in
            guard case .lock(let request) = call.request,
                let name = request.items.first?.path.typed.split(separator: UInt8(ascii: "/")).last,
                let number = UInt64(String(decoding: name, as: UTF8.self))
            else { return [] }
            let lock = LockDocument(
                id: "l\(number)", paths: [Array(name)], isRead: false, mode: request.mode, holder: "", node: [],
                sinceMilliseconds: 0, fence: number)
            let reply = ControlReply.result(call.id, lock.json)
            // One in three is answered at once, the others five at a time and the last of them first.
            if number.isMultiple(of: 3) { return [reply] }
            return held.withLock { held in
                held.append(reply)
                if held.count < 5 { return [] }
                defer { held = [] }
                return held.reversed()
            }
        }
        let coordinator = makeFileCoordinator(socket: desk["control"], clock: clock)
        // (There is one connection from then on.)
        try await coordinator.withAccess([.write(desk["0"])]) { _ in }
        let fences = try await withThrowingTaskGroup(of: (UInt64, UInt64?).self) { group in
            for number in UInt64(1)...600 {
                group.addTask { [desk] in
                    try await coordinator.withAccess([.write(desk["\(number)"])]) { (number, $0.fence) }
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(fences.count == 600 && fences.allSatisfy { $0 == $1 })
        withExtendedLifetime(daemon) {}
    }

    @Test("what was over while the daemon was away is no warning any more when it is back; what is not is one again")
    func staleWarnings() async throws {
        let codes = Mutex([MessageCode.conflictFile, .formatNewer])
        let daemon = try ScriptedDaemon(desk["control"], folder: desk.path) { call in
            guard case .present = call.request else { return [.result(call.id, DoneDocument().json)] }
            let list = Array("list".utf8)
            let lines =
                [PresenterLine.registered(presenter: "p1")]
                + codes.withLock { $0 }.map { .news(.warned(list, about: list, code: CodeText($0), isOpen: true)) }
            return lines.map { .item(call.id, method: "present", $0.json) }
        }
        let session = makeDocumentSession(
            JSONFile<FriendList>(), at: desk["list"],
            coordinator: makeFileCoordinator(socket: desk["control"], clock: clock), autosave: .never, clock: clock)
        await session.open()
        await until { await session.warnings.map(\.code) == ["conflict.file", "format.newer"] }
        codes.withLock { $0 = [.formatNewer] }
        daemon.hangUp()
        await until { [clock] in
            clock.advance(200)
            return await session.warnings.map(\.code) == ["format.newer"]
        }
        try await session.close()
    }
}
