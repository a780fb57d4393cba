import RecordMerge
import SyncKit
import SyncModel
import Synchronization
import Testing

/// Rows I4 to I6 of the design's sources: what a program derives from its data, and what others change.
@Suite("derived data")
struct DerivedDataTests {
    private let desk: Desk
    private let coordinator = makeFileCoordinator(socket: nil)
    private let calls = Calls()

    init() throws { desk = try Desk() }

    /// For each friend without one a second entry is made, as a setter with side effects would. Deriving twice is seen in the list.
    private func session(on origins: Set<ChangeOrigin> = [.local]) -> any DocumentSession<FriendList> {
        let calls = calls
        let shadows = DerivedData<FriendList>(on: origins) { list, context in
            calls.note(context.origin)
            let new = list.friends.filter {
                !$0.name.hasPrefix("shadow") && !(context.before?.friends.contains($0) ?? false)
            }
            list.friends += new.map { Friend(name: "shadow of \($0.name)", birth: $0.birth) }
            return !new.isEmpty
        }
        return makeDocumentSession(
            JSONFile<FriendList>(), at: desk["list"], deriving: [shadows], coordinator: coordinator, autosave: .never)
    }

    private func plain() -> any DocumentSession<FriendList> {
        makeDocumentSession(JSONFile<FriendList>(), at: desk["list"], coordinator: coordinator, autosave: .never)
    }

    @Test(
        "I4, V11: nothing of the program runs when changes are imported, when a file is opened, or when a change is plain"
    )
    func importRunsNothing() async throws {
        let other = plain()
        await other.open()
        try await other.begin(with: .me)
        try await other.save()
        let session = session()
        #expect(await session.open() == .success)
        try await session.update { $0.friends.append(Friend(name: "plain", birth: 1)) }
        try await session.save()
        await until { await other.model?.friends.count == 2 }
        try await other.update { $0.friends.append(Friend(name: "theirs", birth: 2)) }
        try await other.save()
        await until { await session.model?.friends.count == 3 }
        #expect(calls.all.isEmpty)
        #expect(await !session.hasUnsavedChanges)
        try await session.close()
        try await other.close()
    }

    @Test("I5: a thousand imported changes of a field derive nothing, but for who says that he derives from imports")
    func importDerivesNothing() async throws {
        let other = plain()
        await other.open()
        try await other.begin(with: FriendList())
        try await other.save()
        let (session, eager) = (session(), session(on: [.imported]))
        await session.open()
        await eager.open()
        try await other.update { list in
            list.friends = (0..<1_000).map { Friend(name: "friend \($0)", birth: Double($0)) }
        }
        try await other.save()
        await until { await session.model?.friends.count == 1_000 }
        await until { await eager.model?.friends.count == 2_000 }
        #expect(calls.all == [.imported])
        #expect(await !session.hasUnsavedChanges)
        // What was derived from it is a change of who derived it.
        #expect(await eager.hasUnsavedChanges)
        try await eager.save()
        await until { await session.model?.friends.count == 2_000 }
        #expect(calls.all == [.imported])
        for one in [session, eager, other] { try await one.close() }
    }

    @Test("I6: what is derived is one step with its change, saved with it, and comes to others as data")
    func derivedIsData() async throws {
        let session = session()
        await session.open()
        try await session.begin(with: FriendList())
        try await session.save()
        let other = self.session()
        await other.open()
        try await session.mutate { $0.friends.append(Friend(name: "Ada", birth: 3)) }
        #expect(await session.model?.friends.map(\.name) == ["Ada", "shadow of Ada"])
        #expect(calls.all == [.local])

        try await session.undo()
        #expect(await session.model?.friends.isEmpty == true)
        try await session.redo()
        #expect(await session.model?.friends.count == 2)
        try await session.save()
        await until { await other.model?.friends.count == 2 }
        #expect(await other.model?.friends.map(\.name) == ["Ada", "shadow of Ada"])
        // Undoing, redoing and importing derive nothing.
        #expect(calls.all == [.local])
        try await session.close()
        try await other.close()
    }
}

/// Who was called, by any thread.
private final class Calls: Sendable {
    private let origins = Mutex<[ChangeOrigin]>([])

    var all: [ChangeOrigin] { origins.withLock(\.self) }
    func note(_ origin: ChangeOrigin) { origins.withLock { $0.append(origin) } }
}
