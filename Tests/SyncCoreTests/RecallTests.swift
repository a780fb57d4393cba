/// What an earlier process had merged and put into the folder is in no change set: it is found again by what comes of them.
import RecordMerge
import SyncModel
import Testing

@testable import SyncCore

@Suite("what was merged, and is in no change set") struct RecallTests {
    private static let path = Path("notes/1.json")
    private let installed: InstalledModel

    init() throws {
        let text = """
            {"model": "test", "version": 1, "entities": {"Note": {"files": "notes/*.json", "id": "stem",
            "fields": {"title": {"type": "string"}, "text": {"type": "string"}}}}}
            """
        installed = InstalledModel(
            try Model(parsing: Array(text.utf8), file: "test.json"), digest: SHA256.digest(of: Array(text.utf8)))
    }

    private static func position(_ seq: UInt64) -> LogPosition {
        seq == 0 ? .none : LogPosition(epoch: Epoch(raw: 1), seq: seq)
    }

    private static func document(_ title: String, _ text: String) -> [UInt8] {
        Array("{\"title\": \"\(title)\", \"text\": \"\(text)\"}\n".utf8)
    }

    private static func content(_ title: String, _ text: String) -> ContentID {
        ContentID(ContentHasher.chunks(of: document(title, text)).contentID)
    }

    /// A save of the note by an author who had made and seen so many, and changed one member of it, or made all of it.
    private static func save(
        _ author: Party, after own: UInt64, seeing other: UInt64, at time: Int64, _ changed: String?, _ title: String,
        _ text: String, modified: Timestamp = .zero
    ) throws -> ChangeSet {
        let note = RecordID("Note", "1")
        let members = [("title", title), ("text", text)].filter { changed == nil || $0.0 == changed }
        let writes = members.map { Operation(note, .set(PropertyName($0.0), .string($0.1))) }
        var seen = Applied.none
        seen[author] = position(own)
        seen[author.other] = position(other)
        let file = ChangeSet.SavedFile(
            path: try #require(path), content: content(title, text), bytes: document(title, text), mode: 0o644,
            modified: modified)
        return ChangeSet(
            author: author, position: position(own + 1), time: HybridTime(wallMilliseconds: time), seen: seen,
            operations: (changed == nil ? [Operation(note, .insert)] : []) + writes, files: [file])
    }

    /// The first party is this node. Both have changed another member of what it made; then the peer has done so again.
    private func sets() throws -> [ChangeSet] {
        [
            try RecallTests.save(.first, after: 0, seeing: 0, at: 1, nil, "first", "first"),
            try RecallTests.save(.second, after: 0, seeing: 1, at: 2, "text", "first", "theirs"),
            try RecallTests.save(.first, after: 1, seeing: 0, at: 3, "title", "ours", "first"),
            try RecallTests.save(.second, after: 1, seeing: 1, at: 4, "text", "first", "theirs later"),
        ]
    }

    /// As a start makes it: of all sets at once.
    private func book(of sets: [ChangeSet]) throws -> RecordBook {
        var book = RecordBook(installed, chunking: .standard)
        var held = HeldSets()
        for set in sets {
            let stored = StoredChangeSet(set.author == .first ? .own : .peer, set.position, [])
            let admitted = held.admit(stored, set, installed.model, by: .first)
            book.note(try #require(admitted))
        }
        _ = book.refresh()
        return book
    }

    private func recalled(_ content: ContentID, after shown: UInt64) throws -> [UInt8]? {
        let path = try #require(RecallTests.path)
        var book = try book(of: sets())
        #expect(book.files[path]?.bytes == RecallTests.document("ours", "theirs later"))
        #expect(book.bytes(of: content, at: path) == nil)
        book.recall([path: content], from: .second, after: RecallTests.position(shown))
        return book.bytes(of: content, at: path)
    }

    @Test("what stood there before the last of the peer's came is found, however many had come by then")
    func found() throws {
        let merged = RecallTests.content("ours", "theirs")
        #expect(try recalled(merged, after: 0) == RecallTests.document("ours", "theirs"))
        #expect(try recalled(merged, after: 1) == RecallTests.document("ours", "theirs"))
    }

    @Test("a document whose file bears the last time there is can be merged")
    func lastTime() throws {
        let last = Timestamp(seconds: .max, nanoseconds: 0)
        let merged = try book(of: [
            RecallTests.save(.first, after: 0, seeing: 0, at: 1, nil, "first", "first", modified: last),
            RecallTests.save(.second, after: 0, seeing: 1, at: 2, "text", "first", "theirs", modified: last),
            RecallTests.save(.first, after: 1, seeing: 0, at: 3, "title", "ours", "first", modified: last),
        ])
        let file = merged.files[try #require(RecallTests.path)]
        #expect(file?.bytes == RecallTests.document("ours", "theirs") && file?.entry.modified == last)
    }

    @Test("what no sets come to is not made up, nor what a node that has shown more could have put there")
    func notFound() throws {
        #expect(try recalled(RecallTests.content("theirs", "ours"), after: 0) == nil)
        #expect(try recalled(RecallTests.content("ours", "theirs"), after: 2) == nil)
    }

    @Test("what the sets of one author come to alone is told apart from what those of the other are needed for")
    func alone() throws {
        let path = try #require(RecallTests.path)
        // (The second save is of a file that shows an older title, so that no set has what comes of it.)
        let book = try book(of: [
            RecallTests.save(.second, after: 0, seeing: 0, at: 1, nil, "first", "first"),
            RecallTests.save(.second, after: 1, seeing: 0, at: 2, "text", "older", "theirs"),
            RecallTests.save(.first, after: 0, seeing: 1, at: 3, "title", "ours", "first"),
        ])
        let alone = book.outcomes([path: RecallTests.content("first", "theirs")], of: .second)
        #expect(alone[path]?.bytes == RecallTests.document("first", "theirs"))
        #expect(book.outcomes([path: RecallTests.content("ours", "theirs")], of: .second).isEmpty)
    }
}
