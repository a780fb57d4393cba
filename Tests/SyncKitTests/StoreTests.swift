import Disk
import RecordMerge
import SyncKit
import Synchronization
import Testing

/// Rows T1 to T7 of the design's sources: one suite for every kind of store.
@Suite("stores")
struct StoreTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    struct Unencodable: Codable, Hashable, Sendable { var number: Double }

    private func stores() -> [any Store<String, Unencodable>] {
        let file: any Store<String, Unencodable> = makeFileStore(in: desk.path)
        return [makeTransientStore(), file, AnyStore(makeTransientStore(of: Unencodable.self, keyedBy: String.self))]
    }

    @Test("T1, T5, T6, T7: what was put in comes out, under its key; nil takes it out")
    func roundTrip() async throws {
        for store in stores() {
            #expect(try await store.value(for: "a") == nil)
            try await store.set(Unencodable(number: 1.5), for: "a")
            try await store.set(Unencodable(number: 2), for: "b")
            try await store.set(Unencodable(number: 3), for: "b")
            #expect(try await store.value(for: "a") == Unencodable(number: 1.5))
            #expect(try await store.value(for: "b") == Unencodable(number: 3))
            #expect(try await store.keys().sorted() == ["a", "b"])
            try await store.set(nil, for: "a")
            try await store.set(nil, for: "a")
            #expect(try await store.value(for: "a") == nil)
            #expect(try await store.keys() == ["b"])
        }
    }

    @Test("T2: a value that cannot be encoded leaves what was stored")
    func encodeFailure() async throws {
        for store in stores() {
            try await store.set(Unencodable(number: 1), for: "a")
            await #expect(throws: (any Error).self) { try await store.set(Unencodable(number: .nan), for: "a") }
            #expect(try await store.value(for: "a") == Unencodable(number: 1))
        }
    }

    @Test("T4: whoever needs a store, a clock or a coordinator takes what it is given, also one of a test's own")
    func doubles() async throws {
        let store = Counting()
        let people = People(store: store)
        try await people.rename("1", to: "Ada")
        #expect(try await people.name(of: "1") == "Ada")
        #expect(await store.sets == 1)

        let coordinator = Recording(makeFileCoordinator(socket: nil))
        let session = makeDocumentSession(
            JSONFile<FriendList>(), at: desk["list"], coordinator: coordinator, autosave: .never, clock: HandClock())
        await session.open()
        try await session.begin(with: .me)
        try await session.save(.creating)
        try await session.close()
        #expect(coordinator.asked == [.read(desk["list"]), .write(desk["list"])])
        #expect(coordinator.shown == 0)
        let file: any Store<String, Unencodable> = makeFileStore(in: desk.path, coordinator: coordinator)
        try await file.set(Unencodable(number: 1), for: "a")
        #expect(coordinator.asked.last == .write(desk["a.json"]))
    }

    /// What an application puts around a store: it knows nothing of files.
    private struct People: Sendable {
        let store: any Store<String, Person>

        func name(of id: String) async throws -> String? { try await store.value(for: id)?.name }
        func rename(_ id: String, to name: String) async throws { try await store.set(Person(name: name), for: id) }
    }

    private struct Person: Codable, Sendable { var name: String }

    /// A double that must be changed when the protocol grows: the compiler sees to it.
    private actor Counting: Store {
        private var values: [String: Person] = [:]
        private(set) var sets = 0

        func value(for key: String) -> Person? { values[key] }
        func set(_ value: Person?, for key: String) {
            values[key] = value
            sets += 1
        }
        func keys() -> [String] { Array(values.keys) }
    }

    private final class Recording: FileCoordinator {
        private let inner: any FileCoordinator
        private let seen = Mutex<(asked: [FileAccess], shown: Int)>(([], 0))

        init(_ inner: any FileCoordinator) { self.inner = inner }

        var asked: [FileAccess] { seen.withLock { $0.asked } }
        var shown: Int { seen.withLock { $0.shown } }

        func withAccess<Result: Sendable>(
            _ accesses: [FileAccess], for purpose: String?, within patience: Duration?,
            _ body: @Sendable (FileGrant) async throws -> Result
        ) async throws -> Result {
            seen.withLock { $0.asked += accesses }
            return try await inner.withAccess(accesses, for: purpose, within: patience, body)
        }

        func present(_ presenter: any FilePresenter) async throws -> PresenterToken {
            seen.withLock { $0.shown += 1 }
            return try await inner.present(presenter)
        }

        func withdraw(_ token: PresenterToken) async {
            seen.withLock { $0.shown -= 1 }
            await inner.withdraw(token)
        }

        func isOver(_ grant: FileGrant) -> Bool { inner.isOver(grant) }
    }

    @Test("T2, D12: what is newer or of an unknown format is not removed; what is broken is, because somebody said so")
    func removals() async throws {
        let store: any Store<String, Unencodable> = makeFileStore(in: desk.path)
        for text in [#"{"format": 9}"#, #"{"format": "x"}"#] {
            try desk.write("a.json", text)
            await #expect(throws: DocumentError.self, "\(text)") { try await store.set(nil, for: "a") }
            #expect(desk.text("a.json") == text)
        }
        try desk.write("a.json", "{")
        try await store.set(nil, for: "a")
        #expect(desk.names == [])
    }

    @Test("a file that cannot be read is an error and is not written over; a key is a file's name")
    func broken() async throws {
        let store: any Store<String, Unencodable> = makeFileStore(in: desk.path)
        try desk.write("a.json", #"{"format": 9}"#)
        await #expect(throws: DocumentError.self) { try await store.value(for: "a") }
        await #expect(throws: DocumentError.self) { try await store.set(Unencodable(number: 1), for: "a") }
        #expect(desk.text("a.json") == #"{"format": 9}"#)
        for key in ["", "../x", "a/b", ".hidden"] {
            await #expect(throws: DocumentError.self) { try await store.set(Unencodable(number: 1), for: key) }
        }
        #expect(desk.names == ["a.json"])
    }
}
