import Disk
import RecordMerge
import SyncKit
import SyncModel
import Testing

/// Rows D1 to D16 of the design's sources, as far as they are about a program and its own file.
@Suite("defensive loading")
struct LoadingTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    private func open(_ text: String, reads: ClosedRange<UInt32> = 1...1) async throws -> any DocumentSession<
        FriendList
    > {
        try desk.write("list", text)
        let session = makeDocumentSession(
            JSONFile<FriendList>(reads: reads), at: desk["list"],
            coordinator: makeFileCoordinator(socket: nil, clock: HandClock()),
            autosave: .never)
        await session.open()
        return session
    }

    @Test("D1: whatever bytes a file has, loading it gives an outcome")
    func fuzz() {
        var random = SeededRandom(seed: 1)
        let good = Array(
            #"{"format": 1, "friends": [{"name": "Me", "birth": 0.5}, {"name": "\u00e9", "birth": 1e3}]}"#.utf8)
        let file = JSONFile<FriendList>()
        for _ in 0..<20_000 {
            var bytes = random.chance(percent: 20) ? random.bytes(random.below(64)) : good
            for _ in 0..<random.below(4) where !bytes.isEmpty {
                let place = random.below(bytes.count)
                switch random.below(3) {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.remove(at: place)
                default: bytes.insert(bytes[random.below(bytes.count)], at: place)
                }
            }
            let decoded = file.decode(.file(bytes))
            #expect((decoded.model != nil) == (decoded.outcome == .success))
        }
    }

    @Test("D1: what could not be read again is not written, and what was there stays")
    func strictWriting() async throws {
        struct Lopsided: Codable, Sendable {
            var name: String

            init(name: String) { self.name = name }

            init(from decoder: any Decoder) throws {
                name = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .name)
            }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(name.utf8.count, forKey: .name)
            }

            enum Key: String, CodingKey { case name }
        }
        let old = #"{"format": 1, "name": "a"}"#
        try desk.write("list", old)
        let session = makeDocumentSession(
            JSONFile<Lopsided>(), at: desk["list"], coordinator: makeFileCoordinator(socket: nil), autosave: .never)
        #expect(await session.open() == .success)
        try await session.update { $0.name = "bc" }
        let error = await #expect(throws: DocumentError.self) { try await session.save() }
        #expect(error?.kind == .cannotEncode && error?.codingPath == ["name"])
        #expect(error?.reason.hasPrefix("what would be written could not be read again") == true)
        let store: any Store<String, Lopsided> = makeFileStore(
            in: desk.path, coordinator: makeFileCoordinator(socket: nil))
        let second = await #expect(throws: DocumentError.self) {
            try await store.set(Lopsided(name: "bc"), for: "new")
        }
        #expect(second?.kind == .cannotEncode)
        #expect(desk.text("list") == old && desk.names == ["list"])
        #expect(await session.hasUnsavedChanges)
        await session.revert()
        try await session.close()
    }

    @Test("D2, D3: a session that was never opened has loaded nothing")
    func fresh() async {
        let session = makeDocumentSession(JSONFile<FriendList>(), at: desk["none"])
        #expect(await session.outcome == .notLoaded)
        #expect(await session.state == .closed)
    }

    @Test("D4: a file that is not there is not decoded, and a first document may begin")
    func absent() async throws {
        let session = makeDocumentSession(
            Refusing(), at: desk["none"], coordinator: makeFileCoordinator(socket: nil, clock: HandClock()))
        #expect(await session.open() == .noSuchFile)
        try await session.begin(with: 1)
    }

    @Test("D5: an empty file is zero length, not corrupt and not an empty document")
    func empty() async throws {
        let session = try await open("")
        #expect(await session.outcome == .zeroLength)
        #expect(await session.model == nil)
        #expect(await session.lastError?.kind == .unreadable(.zeroLength))
    }

    @Test("D6, D14: one byte of nonsense is corrupt, with the place and the reason, and stays as it is")
    func nonsense() async throws {
        let session = try await open("[")
        guard case .corrupt(let reason, let offset) = await session.outcome else { return #expect(Bool(false)) }
        #expect(!reason.isEmpty && offset == 1)
        let error = try #require(await session.lastError)
        #expect(error.offset == 1 && error.reason == reason)
        await #expect(throws: DocumentError.self) { try await session.begin(with: .me) }
        await #expect(throws: DocumentError.self) { try await session.save() }
        #expect(desk.text("list") == "[")
    }

    @Test("D7, D15: an element that cannot be decoded is corrupt at its place, for its own reason")
    func explodingElement() async throws {
        let session = try await open(#"{"format": 1, "friends": [{"name": "a", "birth": 1}, {"name": 7, "birth": 1}]}"#)
        guard case .corrupt(let reason, let offset) = await session.outcome else { return #expect(Bool(false)) }
        #expect(offset == 62 && reason.contains("string"), "\(reason)")
        #expect(await session.lastError?.codingPath == ["friends", "1", "name"])
        // Also what would exhaust the stack of who goes into it.
        let deep = try await open(#"{"format": 1, "friends": "# + String(repeating: "[", count: 100_000))
        guard case .corrupt(let depth, let end) = await deep.outcome else { return #expect(Bool(false)) }
        #expect(depth.contains("deep") && end < 1_000, "\(depth) at \(end)")
    }

    private static let outcomes: [(String, LoadOutcome)] = [
        ("-999", .unknownVersion(found: Array("-999".utf8))),
        ("0", .unknownVersion(found: Array("0".utf8))),
        (#""1""#, .unknownVersion(found: Array(#""1""#.utf8))), ("1.5", .unknownVersion(found: Array("1.5".utf8))),
        ("1099511627776", .unknownVersion(found: Array("1099511627776".utf8))),
        ("null", .unknownVersion(found: Array("null".utf8))), ("3", .newerVersion(found: 3, supported: 1...2)),
        ("2", .success), ("1", .olderVersion(found: 1)),
    ]

    @Test("D9, D10: what stands for the version decides, and older, newer and nonsense are three things")
    func versions() async throws {
        for (text, outcome) in LoadingTests.outcomes {
            let bytes = #"{"format": \#(text), "friends": []}"#
            let session = try await open(bytes, reads: 1...2)
            #expect(await session.outcome == outcome)
            let isReadable = await session.model != nil
            switch outcome {
            case .success, .olderVersion: #expect(isReadable)
            case .notLoaded, .noSuchFile, .zeroLength, .corrupt, .newerVersion, .unknownVersion, .accessDenied,
                .changedDuringRead:
                #expect(!isReadable)
                await #expect(throws: DocumentError.self) { try await session.save() }
                await #expect(throws: DocumentError.self) { try await session.reinitialise(with: .me) }
            }
            #expect(desk.text("list") == bytes)
        }
    }

    @Test("D9: without a number a file is of format 0")
    func legacy() async throws {
        #expect(await (try open(#"{"friends": []}"#)).outcome == .unknownVersion(found: [UInt8(ascii: "0")]))
        #expect(await (try open(#"{"friends": []}"#, reads: 0...1)).outcome == .olderVersion(found: 0))
        // Written out it is no number that anybody has given to a format.
        let outcome = await (try open(#"{"format": 0, "friends": []}"#, reads: 0...1)).outcome
        #expect(outcome == .unknownVersion(found: [UInt8(ascii: "0")]))
    }

    @Test("D15: what is no object is corrupt for that reason, and is not taken for a file of an unknown format")
    func noObject() async throws {
        for text in ["[1]", "5", "null", #""x""#] {
            let outcome = await (try open(text, reads: 0...1)).outcome
            #expect(outcome == .corrupt(reason: "the document is no object", offset: 0), "\(text)")
        }
    }

    @Test("D10: an older file keeps its bytes until the first save, which makes it one of today")
    func migration() async throws {
        let old = #"{ "friends": [], "stranger": 1.10 }"#
        let session = try await open(old, reads: 0...2)
        #expect(desk.text("list") == old)
        try await session.save()
        let text = try #require(desk.text("list"))
        #expect(text.contains(#""format": 2"#) && text.contains(#""stranger": 1.10"#))
    }

    @Test("D11: absent, null and a value are three things, also after a save")
    func absence() async throws {
        struct Model: Codable, Hashable { var a: Int?, b: Int?, c: Int?, n: Int }
        let file = JSONFile<Model>()
        let bytes = Array(#"{"format": 1, "b": null, "c": 5, "n": 1}"#.utf8)
        var model = try #require(file.decode(.file(bytes)).model)
        model.n = 2
        #expect(
            try file.encode(model, replacing: .file(bytes))
                == .file(Array(#"{"format": 1, "b": null, "c": 5, "n": 2}"#.utf8)))
    }

    @Test("D11: members nobody knows, order, number text and white space outlive an edit")
    func preservation() async throws {
        let text =
            "{\"x\": [1, 2.50, {\"y\": null}],\n  \"friends\": [ {\"birth\": 1.0, \"name\":\"A\", \"tag\": 1e400} ],\r\n\t\"format\": 1, \"big\": 123456789012345678901234567890}"
        let session = try await open(text)
        try await session.update { $0.friends[0].name = "B" }
        try await session.save()
        #expect(desk.text("list") == text.replacing("\"A\"", with: "\"B\""))
        try await session.update { $0.friends.insert(Friend(name: "C", birth: 2), at: 0) }
        try await session.save()
        let saved = try #require(desk.text("list"))
        #expect(saved.contains("1e400") && saved.contains("123456789012345678901234567890") && saved.contains("\"C\""))
        try await session.update { $0.friends.removeFirst() }
        try await session.save()
        #expect(desk.text("list")?.contains("1e400") == true && desk.text("list")?.contains("\"C\"") == false)
    }

    @Test("D12: what is corrupt may be begun anew, and the old bytes lie beside it")
    func reinitialise() async throws {
        let session = try await open("{broken")
        try await session.reinitialise(with: .me)
        #expect(desk.text("list.unreadable-1") == "{broken" && desk.text("list")?.contains("Me") == true)
        #expect(await session.outcome == .success)
        #expect(await session.state == .normal)
        try await session.update { $0.friends = [] }
        try await session.save()
    }

    @Test("D13: a program of format 1 never writes over a file of format 2")
    func downgrade() async throws {
        let session = try await open(#"{"format": 1, "friends": []}"#)
        let newer = #"{"format": 2, "friends": [], "more": true}"#
        try desk.write("list", newer)
        try await session.update { $0 = .me }
        await #expect(throws: DocumentError.self) { try await session.save() }
        #expect(desk.text("list") == newer)
        await session.revert()
        #expect(await session.outcome == .newerVersion(found: 2, supported: 1...1))
        #expect(desk.text("list") == newer)
    }

    /// Decodes nothing: a file that is not there must not come here.
    private struct Refusing: Document {
        func decode(_ contents: DocumentContents) -> Decoded<Int> {
            Issue.record("there was nothing to decode")
            return Decoded(.notLoaded)
        }

        func encode(_ model: Int, replacing: DocumentContents?) throws -> DocumentContents { .file([1]) }
    }
}
