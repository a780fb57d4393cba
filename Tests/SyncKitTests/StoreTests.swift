import Disk
import RecordMerge
import SyncKit
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
