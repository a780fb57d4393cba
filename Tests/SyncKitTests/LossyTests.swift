import Disk
import FoundationEssentials
import RecordMerge
import SyncKit
import SyncModel
import Testing

/// Rows F1 to F11 of the design's sources.
@Suite("lenient decoding that loses nothing")
struct LossyTests {
    private struct Pets: Codable, Hashable, Sendable { var pets: LossyArray<Pet> }
    private struct Pet: Codable, Hashable, Sendable { var name: String }

    private func decoded(_ pets: String) throws -> Pets {
        try #require(JSONFile<Pets>().decode(.file(Array(#"{"format": 1, "pets": \#(pets)}"#.utf8))).model)
    }

    @Test("F1, F4: one bad element is one failure, and the rest are values")
    func oneBad() throws {
        let pets = try decoded(#"[{"name": "a"}, {"nam": "b"}, {"name": "c"}]"#).pets
        #expect(pets.values.map(\.name) == ["a", "c"])
        let failure = try #require(pets.failures.first)
        #expect(failure.index == 1 && failure.codingPath == ["pets", "1"] && failure.reason.contains("name"))
        #expect(failure.raw?.description == #"{"nam": "b"}"#)
    }

    @Test(
        "F5, F6: a list of nothing but bad elements ends, and so does one with null",
        arguments: [
            ("[1, 2, 3]", 0, 3), ("[null]", 0, 1), (#"[null, {"name": "a"}, null]"#, 1, 2), ("[]", 0, 0),
            ("[[[]]]", 0, 1),
        ])
    func terminates(text: String, values: Int, failures: Int) throws {
        let pets = try decoded(text).pets
        #expect(pets.values.count == values && pets.failures.count == failures)
    }

    @Test("F7: as many come out as went in, whatever they are")
    func accounting() throws {
        var random = SeededRandom(seed: 3)
        let pieces = [#"{"name": "a"}"#, "null", "7", #"{"name": null}"#, "[]", #""x""#, "{}"]
        for _ in 0..<500 {
            let chosen = (0..<random.below(12)).compactMap { _ in random.pick(pieces) }
            let pets = try decoded("[\(chosen.joined(separator: ", "))]").pets
            #expect(pets.values.count + pets.failures.count == chosen.count)
            #expect(pets.values.count == chosen.count { $0 == pieces[0] })
        }
    }

    @Test("F2: the type of an element stays strict: nothing of it is optional, and what lacks a member is no element")
    func strict() throws {
        let pets = try decoded(#"[{}, {"name": null}, {"name": "a"}]"#).pets
        #expect(pets.values == [Pet(name: "a")])
        #expect(pets.failures.map(\.index) == [0, 1])
        #expect(JSONFile<Pet>().decode(.file(Array(#"{"format": 1}"#.utf8))).model == nil)
    }

    @Test("F9: what is good costs nothing for what may not be: no room, and without a failure nothing is gathered")
    func unused() throws {
        #expect(MemoryLayout<DecodeFailure>.size == MemoryLayout<Desk>.size)
        #expect(MemoryLayout<Result<Pet, DecodeFailure>>.stride <= MemoryLayout<Pet>.stride + 8)
        let good = JSONFile<Pets>().decode(.file(Array(#"{"format": 1, "pets": [{"name": "a"}]}"#.utf8)))
        #expect(good.failures.isEmpty && good.model?.pets.failures.isEmpty == true)
    }

    @Test("F8: failures anywhere in a document are told of together, with their places, also by the session")
    func gathered() async throws {
        struct Home: Codable, Sendable { var pets: LossyArray<Pet>, owner: FailableDecodable<Int> }
        let desk = try Desk()
        let text = #"{"format": 1, "pets": [1, {"name": "a"}, 2], "owner": "me"}"#
        let decoded = JSONFile<Home>().decode(.file(Array(text.utf8)))
        let places = [["pets", "0"], ["pets", "2"], ["owner"]]
        #expect(decoded.outcome == .success && decoded.failures.map(\.codingPath) == places)
        #expect(decoded.failures.map(\.raw?.description) == ["1", "2", "\"me\""])
        try desk.write("home", text)
        let session = makeDocumentSession(
            JSONFile<Home>(), at: desk["home"], coordinator: makeFileCoordinator(socket: nil), autosave: .never)
        await session.open()
        #expect(await session.failures == decoded.failures)
        try desk.write("home", #"{"format": 1, "pets": [], "owner": 1}"#)
        await session.revert()
        #expect(await session.failures == [])
        try await session.close()
    }

    @Test("F3, F8: failures of single values do not take the rest along, and are written back")
    func collector() throws {
        struct Mixed: Codable, Sendable {
            var one: FailableDecodable<Int>
            var two: FailableDecodable<Int>
        }
        let bytes = Array(#"{"format": 1, "one": "x", "two": 2}"#.utf8)
        let file = JSONFile<Mixed>()
        let mixed = try #require(file.decode(.file(bytes)).model)
        #expect(mixed.one.value == nil && mixed.two.value == 2)
        #expect(try file.encode(mixed, replacing: .file(bytes)) == .file(bytes))
        let whole = try file.encode(mixed, replacing: nil)
        #expect(whole == .file(Array("{\n  \"format\": 1,\n  \"one\": \"x\",\n  \"two\": 2\n}\n".utf8)))
    }

    @Test("F10: a captured value is written back as its text until somebody changes it")
    func captured() throws {
        struct Priced: Codable, Sendable { var price: Captured<Double>, count: Int }
        let file = JSONFile<Priced>()
        let bytes = Array(#"{"format": 1, "price": 1.10, "count": 1}"#.utf8)
        var priced = try #require(file.decode(.file(bytes)).model)
        #expect(priced.price.raw?.description == "1.10" && priced.price.value == 1.1)
        #expect(
            try file.encode(priced, replacing: nil)
                == .file(Array("{\n  \"format\": 1,\n  \"price\": 1.10,\n  \"count\": 1\n}\n".utf8)))
        priced.price.value = 2
        #expect(priced.price.raw == nil)
    }

    @Test("F11: opened leniently, a good element edited, saved: the bad one is the same to the byte")
    func writtenBack() async throws {
        let desk = try Desk()
        let bad = #"{ "name" : 1.50 , "x":[ ] }"#
        try desk.write("pets", #"{"format": 1, "pets": [{"name": "a"}, \#(bad), {"name": "c"}]}"#)
        let session = makeDocumentSession(JSONFile<Pets>(), at: desk["pets"], autosave: .never)
        #expect(await session.open() == .success)
        try await session.update { $0.pets.values[0].name = "A" }
        try await session.save()
        #expect(desk.text("pets") == #"{"format": 1, "pets": [{"name": "A"}, \#(bad), {"name": "c"}]}"#)
        try await session.update { $0.pets.values = [Pet(name: "only")] }
        try await session.save()
        #expect(desk.text("pets")?.contains(bad) == true && desk.text("pets")?.contains("\"c\"") == false)
        try await session.close()
    }

    @Test("setting the values keeps what could not be decoded where it stands")
    func setting() throws {
        var pets = try decoded(#"[1, {"name": "a"}, 2, {"name": "b"}]"#).pets
        pets.values = [Pet(name: "x"), Pet(name: "y"), Pet(name: "z")]
        #expect(pets.failures.count == 2 && pets.values.map(\.name) == ["x", "y", "z"])
        guard case .failure = pets.entries[0], case .failure = pets.entries[2] else { return #expect(Bool(false)) }
    }

    @Test(
        "F6, F9: with another decoder than this library's a list ends as well, says what failed, and is not written with a hole in it",
        arguments: [
            (#"[null, {"name": "a"}, null]"#, 1, [0, 2]), ("[1, [], null]", 0, [0, 1, 2]), (#"[{"name": "a"}]"#, 1, []),
        ])
    func elsewhere(text: String, values: Int, failures: [Int]) throws {
        let collector = DecodeErrorCollector()
        let decoder = JSONDecoder()
        decoder.userInfo[.decodeErrors] = collector
        let pets = try decoder.decode(Pets.self, from: Data(#"{"pets": \#(text)}"#.utf8)).pets
        #expect(pets.values.count == values && pets.failures.map(\.index) == failures)
        #expect(collector.failures == pets.failures && pets.failures.allSatisfy { $0.raw == nil })
        #expect(try JSONDecoder().decode(Pets.self, from: Data(#"{"pets": \#(text)}"#.utf8)).pets.values == pets.values)
        if failures.isEmpty {
            #expect(try JSONEncoder().encode(pets) == Data(text.utf8.filter { $0 != UInt8(ascii: " ") }))
        } else {
            #expect(throws: EncodingError.self) { try JSONEncoder().encode(pets) }
        }
    }
}
