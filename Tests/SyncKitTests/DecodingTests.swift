import Disk
import RecordMerge
import SyncModel
import Testing

@testable import SyncKit

/// Row D15 of the design's sources: whatever a type may ask of the decoder and the encoder of documents, and what it hears if that is not there. Each
/// failure for its own reason.
@Suite("every value of a document")
struct DecodingTests {
    private func decoder(_ text: String, userInfo: [CodingUserInfoKey: Any] = [:]) throws -> TreeDecoder {
        DecodingSource(try JSONDocument(parsing: Array(text.utf8)), userInfo: userInfo).root
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try Value(from: try decoder(text))
    }

    private func written(_ value: some Encodable) throws -> String {
        String(decoding: try TreeEncoder.tree(of: value).compact, as: UTF8.self)
    }

    /// What was wrong, and where.
    private func fault(_ body: () throws -> Void) -> (text: String, path: [String])? {
        do {
            try body()
            return nil
        } catch {
            guard let (path, text) = (error as? DecodingError)?.details else { return nil }
            return (text, path)
        }
    }

    private func expect<Value: Decodable & Hashable>(
        _ type: Value.Type, good: [(String, Value)], bad: [(text: String, reason: String)]
    ) throws {
        for (text, value) in good { #expect(try decode(type, text) == value, "\(text) as \(type)") }
        for (text, reason) in bad {
            #expect(fault { _ = try decode(type, text) }?.text == reason, "\(text) as \(type)")
        }
    }

    private func expectIntegers<Number: FixedWidthInteger & Codable>(_ type: Number.Type) throws {
        func reason(_ text: String) -> String { "\(text) is no number that fits into \(type)" }
        try expect(
            type, good: [("7", 7), ("7.0", 7), ("1e2", 100), ("\(Number.max)", .max), ("\(Number.min)", .min)],
            bad: [
                ("7.5", reason("7.5")), ("\(Number.max)0", reason("\(Number.max)0")), ("1e40", reason("1e40")),
                ("\"7\"", "a whole number was expected and \"7\" found"),
                ("null", "a whole number was expected and null found"),
            ])
        for number in [Number.min, 0, .max] { #expect(try written(number) == "\(number)") }
    }

    @Test("D15: a whole number fits into its type or says why not; 1.0 and 1e2 are whole") func integers() throws {
        try expectIntegers(Int.self)
        try expectIntegers(Int8.self)
        try expectIntegers(Int16.self)
        try expectIntegers(Int32.self)
        try expectIntegers(Int64.self)
        try expectIntegers(UInt.self)
        try expectIntegers(UInt8.self)
        try expectIntegers(UInt16.self)
        try expectIntegers(UInt32.self)
        try expectIntegers(UInt64.self)
        // A Double does not tell what stood there.
        #expect(try decode(Int64.self, "9007199254740992.0") == 9_007_199_254_740_992)
        #expect(
            fault { _ = try decode(Int64.self, "9007199254740994.0") }?.text
                == "9007199254740994.0 is no number that fits into Int64")
    }

    @Test("D15: broken numbers, words and texts, and what is none of them") func others() throws {
        try expect(
            Double.self, good: [("0.1", 0.1), ("-2", -2)],
            bad: [
                ("1e400", "the number does not fit into Double"), ("true", "a number was expected and true found"),
            ])
        try expect(
            Float.self, good: [("0.5", 0.5)],
            bad: [("1e39", "the number does not fit into Float"), ("null", "a number was expected and null found")])
        try expect(
            Bool.self, good: [("true", true), ("false", false)],
            bad: [("1", "true or false was expected and 1 found")])
        try expect(
            String.self, good: [(#""\ud83d\ude00\f""#, "😀\u{C}")], bad: [("[]", "a string was expected and [] found")])
        try expect(
            [Int].self, good: [("[]", []), ("[1, 2]", [1, 2])], bad: [("{}", "an array was expected and {} found")])
        try expect(
            [String: Int].self, good: [(#"{"a": 1}"#, ["a": 1])], bad: [("[1]", "an object was expected and [1] found")]
        )
        #expect(try decode(Int?.self, "null") == nil)
        #expect(try decode([Int?].self, "[1, null]") == [1, nil])
        #expect(
            try [written(true), written(false), written(Float(0.5)), written(Int?.none)] == [
                "true", "false", "0.5", "null",
            ])
        #expect(throws: EncodingError.self) { try written(Float.infinity) }
        #expect(throws: EncodingError.self) { try written([1, Double.nan]) }
    }

    @Test("D15: a null is no value of a type that has none, and another kind is another failure") func kinds() throws {
        for (text, isNull) in [("null", true), ("7", false)] {
            do {
                _ = try decode(String.self, text)
                Issue.record("\(text) is no string")
            } catch DecodingError.valueNotFound {
                #expect(isNull)
            } catch DecodingError.typeMismatch {
                #expect(!isNull)
            }
        }
    }

    // MARK: Containers within containers

    /// As a class and its superclass, and whoever writes his coding himself, may ask.
    private struct Nested: Codable, Hashable {
        var words: [String]
        var inner: [String: Int]
        var base: Int
        var named: Int
        var flags: [Bool]
        var pair: [Int]
        var gap: Int?

        enum Key: String, CodingKey, CaseIterable { case list, object, named, gap }
        enum Inner: String, CodingKey { case a, b }

        init(words: [String], inner: [String: Int], base: Int, named: Int, flags: [Bool], pair: [Int], gap: Int?) {
            (self.words, self.inner, self.base, self.named) = (words, inner, base, named)
            (self.flags, self.pair, self.gap) = (flags, pair, gap)
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            #expect(Set(container.allKeys) == Set(Key.allCases))
            #expect(container.codingPath.isEmpty && container.contains(.list))
            gap = try container.decodeNil(forKey: .gap) ? nil : 1
            let object = try container.nestedContainer(keyedBy: Inner.self, forKey: .object)
            #expect(object.codingPath.map(\.stringValue) == ["object"])
            inner = ["a": try object.decode(Int.self, forKey: .a), "b": try object.decode(Int.self, forKey: .b)]
            base = try container.superDecoder().singleValueContainer().decode(Int.self)
            named = try container.superDecoder(forKey: .named).singleValueContainer().decode(Int.self)
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            #expect(list.count == 6 && list.codingPath.map(\.stringValue) == ["list"])
            words = [try list.decode(String.self)]
            let isNoWord = try list.decodeNil()
            #expect(!isNoWord && list.currentIndex == 1)
            let second = try list.nestedContainer(keyedBy: Inner.self)
            #expect(try second.decode(String.self, forKey: .a) == "x")
            var below = try list.nestedUnkeyedContainer()
            #expect(below.codingPath.map(\.stringValue) == ["list", "2"])
            flags = [try below.decode(Bool.self)]
            let isNull = try list.decodeNil()
            #expect(isNull)
            pair = [try list.superDecoder().singleValueContainer().decode(Int.self), try list.decode(Int.self)]
            #expect(list.isAtEnd)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            #expect(container.codingPath.isEmpty)
            try container.encodeNil(forKey: .gap)
            var object = container.nestedContainer(keyedBy: Inner.self, forKey: .object)
            #expect(object.codingPath.map(\.stringValue) == ["object"])
            try object.encode(0, forKey: .a)
            // The same once more is the same member.
            try object.encode(inner["a"], forKey: .a)
            try object.encode(inner["b"], forKey: .b)
            var above = container.superEncoder().singleValueContainer()
            try above.encode(base)
            var other = container.superEncoder(forKey: .named).singleValueContainer()
            try other.encode(named)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode(words[0])
            var first = list.nestedContainer(keyedBy: Inner.self)
            try first.encode("x", forKey: .a)
            var below = list.nestedUnkeyedContainer()
            #expect(below.codingPath.map(\.stringValue) == ["list", "2"])
            try below.encode(flags[0])
            try list.encodeNil()
            var single = list.superEncoder().singleValueContainer()
            try single.encode(pair[0])
            try list.encode(pair[1])
            #expect(list.count == 6)
        }
    }

    @Test("D15: containers in containers, superclasses and nulls are read where they stand, and written so")
    func nested() throws {
        let nested = Nested(
            words: ["w"], inner: ["a": 1, "b": 2], base: 3, named: 4, flags: [true], pair: [5, 6], gap: nil)
        let text =
            #"{"gap": null, "object": {"a": 1, "b": 2}, "super": 3, "named": 4, "list": ["w", {"a": "x"}, [true], null, 5, 6]}"#
        #expect(try decode(Nested.self, text) == nested)
        #expect(try written(nested) == text)
        let faults: [(String, String, String, [String])] = [
            (#""super": 3, "#, "", "there is no member super", []),
            (#""named": 4, "#, "", "there is no member named", []),
            ("[true]", "[]", "the array ends after 0 elements", ["list", "2"]),
            ("[true]", "7", "an array was expected and 7 found", ["list", "2"]),
            (#"{"a": "x"}"#, "1", "an object was expected and 1 found", ["list", "1"]),
            (#"{"a": 1, "b": 2}"#, "0", "an object was expected and 0 found", ["object"]),
            (#"["w", {"a": "x"}, [true], null, 5, 6]"#, "{}", "an array was expected and {} found", ["list"]),
            (#""w""#, "null", "a string was expected and null found", ["list", "0"]),
            (" 5, 6", #" "5", 6"#, "a whole number was expected and \"5\" found", ["list", "4"]),
        ]
        for (good, bad, reason, path) in faults {
            let broken = text.replacing(good, with: bad)
            let fault = fault { _ = try decode(Loose.self, broken) }
            #expect(fault?.text == reason && fault?.path == path, "\(broken): \(fault.map { "\($0)" } ?? "no fault")")
        }
    }

    /// The same without what `Nested` expects of a whole text.
    private struct Loose: Decodable {
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Nested.Key.self)
            _ = try container.nestedContainer(keyedBy: Nested.Inner.self, forKey: .object)
            _ = try container.superDecoder()
            _ = try container.superDecoder(forKey: .named)
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            _ = try list.decode(String.self)
            _ = try list.nestedContainer(keyedBy: Nested.Inner.self)
            var below = try list.nestedUnkeyedContainer()
            _ = try below.decode(Bool.self)
            _ = try list.decodeNil()
            _ = try list.superDecoder().singleValueContainer().decode(Int.self)
        }
    }

    @Test("D15: who decodes through a single value, and who encodes nothing or changes his mind") func singles() throws
    {
        struct Wrapped: Codable, Hashable {
            var numbers: [Int]

            init(from decoder: any Decoder) throws { numbers = try decoder.singleValueContainer().decode([Int].self) }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(numbers)
            }
        }
        #expect(try written(try decode(Wrapped.self, "[1, 2]")) == "[1, 2]")
        struct Silent: Encodable { func encode(to encoder: any Encoder) throws {} }
        #expect(try written(Silent()) == "{}")
        struct Fickle: Encodable {
            func encode(to encoder: any Encoder) throws {
                var members = encoder.container(keyedBy: Nested.Key.self)
                try members.encode(1, forKey: .gap)
                var again = encoder.container(keyedBy: Nested.Key.self)
                try again.encode(2, forKey: .named)
                guard isListed else { return }
                var list = encoder.unkeyedContainer()
                try list.encode(3)
                var more = encoder.unkeyedContainer()
                try more.encode(4)
                // What it is by now is no object any more, and later no list.
                try members.encode(5, forKey: .gap)
                var single = encoder.singleValueContainer()
                guard isSingle else { return }
                try single.encode("x")
                try list.encode(6)
                #expect(list.count == 0)
            }

            var isListed = false
            var isSingle = false
        }
        #expect(try written(Fickle()) == #"{"gap": 1, "named": 2}"#)
        #expect(try written(Fickle(isListed: true)) == "[3, 4]")
        #expect(try written(Fickle(isListed: true, isSingle: true)) == #""x""#)
    }

    // MARK: Documents

    @Test(
        "D15: a type that gives up for a reason of its own is corrupt for that; one that points nowhere is so at the beginning"
    )
    func ownReasons() throws {
        struct Own: Error, CustomStringConvertible { let description = "no friend of mine" }
        struct Picky: Codable, Sendable {
            init(from decoder: any Decoder) throws { throw Own() }
            func encode(to encoder: any Encoder) throws {}
        }
        struct Lost: Codable, Sendable {
            init(from decoder: any Decoder) throws {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: [Position("nowhere"), Position(2)], debugDescription: "lost"))
            }

            func encode(to encoder: any Encoder) throws {}
        }
        let bytes = DocumentContents.file(Array(#" {"format": 1}"#.utf8))
        #expect(JSONFile<Picky>().decode(bytes).outcome == .corrupt(reason: "no friend of mine", offset: 0))
        let lost = JSONFile<Lost>().decode(bytes)
        #expect(lost.outcome == .corrupt(reason: "lost", offset: 0) && lost.problem?.codingPath == ["nowhere", "2"])
        #expect(Position(intValue: 2)?.stringValue == "2" && Position(stringValue: "x")?.intValue == nil)
    }

    @Test("D15: a model hears of the format it is read from, and no other decoder knows of one") func formats() throws {
        struct Aware: Codable, Hashable, Sendable {
            var format: UInt32?

            init(from decoder: any Decoder) throws { format = decoder.documentFormat }
            func encode(to encoder: any Encoder) throws {}
        }
        let old = JSONFile<Aware>(reads: 1...3).decode(.file(Array(#"{"format": 2}"#.utf8)))
        #expect(old.model?.format == 2 && old.outcome == .olderVersion(found: 2))
        #expect(try decode(Aware.self, "{}").format == nil)
    }

    @Test(
        "D15: what is replaced and is not understood is not taken into account; a model that is no object is no document"
    )
    func replacing() throws {
        let file = JSONFile<[String: Int]>(reads: 1...2)
        let fresh = try file.encode(["a": 1], replacing: nil)
        for text in [
            "{", "[1]", #"{"format": 9, "b": 2}"#, #"{"format": "x", "b": 2}"#, #"{"format": 2, "a": "text"}"#,
        ] {
            #expect(try file.encode(["a": 1], replacing: .file(Array(text.utf8))) == fresh, "\(text)")
        }
        #expect(try file.encode(["a": 1], replacing: .package([:])) == fresh)
        #expect(throws: EncodingError.self) { try JSONFile<[Int]>().encode([1], replacing: nil) }
    }

    @Test(
        "D15: an older file that becomes one of today keeps what nobody asked for, also within lists, where they are as long as they were"
    )
    func migration() throws {
        struct Pet: Codable, Sendable { var name: String }
        struct Home: Codable, Sendable { var pets: [Pet], size: Int?, place: [String: Int]? }
        let file = JSONFile<Home>(reads: 0...1)
        let old = DocumentContents.file(
            Array(#"{"pets": [{"name": "a", "tag": 1.50}], "size": {"w": 1}, "place": {"x": 1}, "more": [ ]}"#.utf8))
        // (The size was something else in the old format, which a model of it would read.)
        struct Old: Codable, Sendable {
            var pets: [Pet], size: [String: Int]?, place: [String: Int]?

            func encode(to encoder: any Encoder) throws {
                try Home(pets: pets, size: size?["w"], place: place).encode(to: encoder)
            }
        }
        let reader = JSONFile<Old>(reads: 0...1)
        var model = try #require(reader.decode(old).model)
        func text() throws -> String {
            guard case .file(let bytes) = try reader.encode(model, replacing: old) else { return "" }
            #expect(file.decode(.file(bytes)).outcome == .success)
            return String(decoding: bytes.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: " ") }, as: UTF8.self)
        }
        #expect(try text() == #"{"format":1,"pets":[{"name":"a","tag":1.50}],"size":1,"place":{"x":1},"more":[]}"#)
        model.pets.append(Pet(name: "b"))
        #expect(try text() == #"{"format":1,"pets":[{"name":"a"},{"name":"b"}],"size":1,"place":{"x":1},"more":[]}"#)
    }

    @Test("D15: a member that comes, goes or was not the model's is put in, taken out or replaced where it stands")
    func edits() throws {
        struct Model: Codable, Sendable {
            var a: Int?, b: Int?, c: Int?

            // Only what is not zero is written, so that a member of the file may be none of the model's.
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                for (key, value) in [(CodingKeys.a, a), (.b, b), (.c, c)] where (value ?? 0) != 0 {
                    try container.encode(value, forKey: key)
                }
            }
        }
        let file = JSONFile<Model>()
        let old = DocumentContents.file(Array(#"{"format": 1, "a": 1, "b": 0}"#.utf8))
        var model = try #require(file.decode(old).model)
        (model.a, model.b, model.c) = (nil, 2, 3)
        #expect(try file.encode(model, replacing: old) == .file(Array(#"{"format": 1, "b": 2, "c": 3}"#.utf8)))
    }

    // MARK: What may fail

    @Test("D15: what failed is told from what else failed, whatever threw it; a list can be made by hand")
    func failures() throws {
        struct Own: Error, CustomStringConvertible { let description = "not today" }
        struct Throwing: Decodable, Hashable { init(from decoder: any Decoder) throws { throw Own() } }
        let list = try decode(LossyArray<Throwing>.self, "[1, 1]")
        #expect(list.failures.map(\.reason) == ["not today", "not today"] && Set(list.failures).count == 2)
        #expect(Set([list.failures[0], list.failures[0]]).count == 1)
        #expect(LossyArray([1, 2]).values == [1, 2] && LossyArray<Int>().values.isEmpty)
        let failed = try decode(FailableDecodable<Int>.self, "\"x\"")
        #expect(failed.value == nil && (try? written(failed)) == "\"x\"")
        let foreign = FailableDecodable<Int>.failure(
            DecodeFailure(codingPath: [], index: nil, reason: "elsewhere", raw: nil))
        #expect(throws: EncodingError.self) { try written(foreign) }
        #expect(try written(Captured(1.5)) == "1.5")
    }

    @Test("D2, D15: each refusal of the system is its own error, and a load that meets it has its own outcome")
    func refusals() throws {
        let path = DocumentPath("/x/y")
        let kinds: [(DiskError, DocumentError.Kind, LoadOutcome)] = [
            (.notFound, .unreadable(.noSuchFile), .noSuchFile), (.notDirectory, .unreadable(.noSuchFile), .noSuchFile),
            (.exists, .exists, .accessDenied), (.notEmpty, .exists, .accessDenied),
            (.permission, .unreadable(.accessDenied), .accessDenied),
            (.noSpace, .system(5), .accessDenied), (.inputOutput, .system(5), .accessDenied),
        ]
        for (failure, kind, outcome) in kinds {
            let error = DocumentError(Item.Failure(error: failure, errno: 5), at: path)
            #expect(error.kind == kind && error.outcome == outcome && error.reason.contains("/x/y"), "\(failure)")
            #expect(error.isAbsence == (outcome == .noSuchFile))
        }
        let odd = DocumentError(Item.Failure(error: .unsupported, errno: 5), at: path)
        #expect(odd.outcome == .corrupt(reason: "no regular file, and no directory of files alone", offset: 0))
        let claimed = DocumentError(CoordinationError(.tooMany))
        #expect(claimed.kind == .coordination(CoordinationError(.tooMany)) && claimed.outcome == .accessDenied)
        #expect(DocumentError(CancellationError()).outcome == .notLoaded)
        #expect(DocumentError(odd) == odd)
    }

    @Test("D2: a file that somebody goes on writing to was changed during the read, and is read once he is done")
    func unsteady() async throws {
        let desk = try Desk()
        try desk.write("list", "{")
        let session = makeDocumentSession(
            JSONFile<FriendList>(), at: desk["list"], coordinator: makeFileCoordinator(socket: nil), autosave: .never)
        guard case .corrupt = await session.open() else { return #expect(Bool(false)) }
        let writer = desk.keepWriting(to: "list")
        defer { writer.stop() }
        await until { await session.revert() == .changedDuringRead }
        #expect(await session.lastError?.kind == .unreadable(.changedDuringRead))
        #expect(await session.model == nil)
        await #expect(throws: DocumentError.self) { try await session.reinitialise(with: .me) }
        writer.stop()
        await until { if case .corrupt = await session.revert() { true } else { false } }
        #expect(desk.names == ["list"])
    }

    @Test("D2: a path without a name, a link and a file that is too large are no documents, each for its reason")
    func oddFiles() async throws {
        let desk = try Desk()
        try desk.write("list", "{}")
        desk.link("link", to: "list")
        desk.pipe("pipe")
        desk.makeHuge("huge")
        func outcome(_ path: DocumentPath) async -> (LoadOutcome, String?) {
            let session = makeDocumentSession(
                JSONFile<FriendList>(), at: path, coordinator: makeFileCoordinator(socket: nil), autosave: .never)
            return (await session.open(), await session.lastError?.reason)
        }
        for name in ["link", "pipe"] {
            let found = await outcome(desk[name])
            #expect(
                found.0 == .corrupt(reason: "no regular file, and no directory of files alone", offset: 0), "\(name)")
        }
        let huge = await outcome(desk["huge"])
        #expect(huge.1?.hasSuffix("is larger than \(Item.bytesMax) bytes") == true)
        guard case .corrupt(_, let offset) = huge.0 else { return #expect(Bool(false)) }
        #expect(offset == Item.bytesMax)
        await #expect(throws: DocumentError.self) { _ = try await DocumentFiles().contents(at: DocumentPath("/..")) }
        await #expect(throws: DocumentError.self) {
            try await DocumentFiles().create(.package([#require(Path(".syncd-package")): []]), at: desk["made"])
        }
        #expect(desk.names == ["huge", "link", "list", "pipe"])
    }
}
