/// Model files as the daemon finds them: which are used, and which files are held because of those that are not.
import Glibc
import RecordMerge
import SyncModel
import Testing

@testable import SyncDaemon

@Suite("model files of a node") struct ModelShelfTests {
    private let directory: [UInt8]

    init() throws {
        var template = Array("/tmp/syncd-test-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        directory = template.dropLast().map { UInt8(bitPattern: $0) }
    }

    private func put(_ name: String, _ text: String) throws {
        let path = String(decoding: directory, as: UTF8.self) + "/" + name
        let file = unsafe open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
        defer { close(file) }
        let bytes = Array(text.utf8)
        try #require(unsafe write(file, bytes, bytes.count) == bytes.count)
    }

    private func remove(_ name: String) {
        unsafe unlink(String(decoding: directory, as: UTF8.self) + "/" + name)
    }

    /// As the next process reads them, which knows what this one has written down.
    private func next(_ shelf: ModelShelf? = nil) -> ModelShelf {
        ModelShelf(directory: directory, last: shelf.map { ModelMemory(encoded: $0.memory.encoded) } ?? ModelMemory())
    }

    private func held(_ shelf: ModelShelf, _ paths: String...) -> [String] {
        paths.filter { path in
            Path(path).map { shelf.heldFiles.claims($0, as: [.records, .subtree, .format]) } ?? false
        }
    }

    private func model(_ inside: String, files: String = "n/*.json", root: String? = "d") -> String {
        let root = root.map { #", "root": "\#($0)""# } ?? ""
        return #"{"model": "m", "version": 1\#(root), "entities": {"N": {"files": "\#(files)", \#(inside)}}}"#
    }

    @Test("one without a fault holds nothing") func good() throws {
        try put("m.json", model(#""id": "stem""#))
        let shelf = next()
        #expect(shelf.models.count == 1 && shelf.refusals.isEmpty && shelf.heldFiles.isEmpty)
    }

    @Test("a fault holds the files of the entities, and no other") func entities() throws {
        try put("m.json", model(#""idd": "stem""#))
        let shelf = next()
        #expect(shelf.models.isEmpty)
        #expect(held(shelf, "d/n/1.json", "d/n/x", "d/o/1.json", "n/1.json") == ["d/n/1.json"])
        let text = try #require(shelf.refusals.first?.text)
        #expect(text.contains("/entities/N/idd") && text.contains(#""d/n/*.json""#))
    }

    @Test("where an entity does not say which files, all below the root") func root() throws {
        try put("m.json", model(#""id": "stem""#, files: "n/**"))
        #expect(held(next(), "d/n/1.json", "d/o", "e") == ["d/n/1.json", "d/o"])
        try put("m.json", #"{"model": "m", "version": 1, "root": "d", "entites": {}}"#)
        #expect(held(next(), "d/n/1.json", "e") == ["d/n/1.json"])
    }

    @Test("what is no JSON holds what the file was about when it was last used") func broken() throws {
        try put("m.json", model(#""id": "stem""#))
        let before = next()
        try put("m.json", "{")
        let broken = next(before)
        #expect(held(broken, "d/n/1.json", "d/o") == ["d/n/1.json"])
        // Over another process, and with a fault that says less.
        try put("m.json", #"{"model": "m", "version": 1}"#)
        #expect(held(next(broken), "d/n/1.json", "d/o") == ["d/n/1.json"])
        // Mended, it is about what it says; taken away, about nothing.
        try put("m.json", model(#""id": "stem""#, files: "o/*"))
        #expect(next(broken).heldFiles.isEmpty)
        remove("m.json")
        let without = next(broken)
        #expect(without.heldFiles.isEmpty && without.memory == ModelMemory())
    }

    @Test("if nothing is known nothing is held, and people are told so") func unknown() throws {
        try put("m.json", "{")
        let shelf = next()
        #expect(shelf.heldFiles.isEmpty)
        #expect(shelf.refusals.first?.text.contains("no file waits") == true)
    }

    @Test("a rule of a format with a fault holds its files too") func formats() throws {
        try put("f.json", #"{"model": "m", "formats": [{"name": "n", "files": "*.db", "supports": [1, 2]}]}"#)
        #expect(held(next(), "a/x.db", "a/x") == ["a/x.db"])
    }

    @Test("of two about the same files the second is refused, and says what it is about") func rivals() throws {
        try put("a.json", model(#""id": "stem""#))
        try put("b.json", model(#""id": "stem""#, files: "o/*"))
        let shelf = next()
        #expect(shelf.models.count == 1 && held(shelf, "d/o/1", "d/n/1.json") == ["d/o/1"])
        let text = try #require(shelf.refusals.first?.text)
        #expect(text.contains(#"not sent, but for those that a model in use is about: "d/o/*". All others"#))
        // What both are about goes on with the first, and nobody is told that it waits.
        try put("b.json", model(#""id": "stem""#))
        let same = try #require(next().refusals.first?.text)
        #expect(same.contains("go on with that one, and no file waits.") && !same.contains("is not sent"))
    }

    @Test("what is remembered is what was written, and half of it is nothing more") func memory() throws {
        try put("a.json", model(#""id": "stem""#))
        try put(
            "b.json",
            #"{"model": "f", "formats": [{"name": "n", "files": "*.db", "version": {"sqlite": "user_version"}, "supports": [1, 2]}]}"#
        )
        let memory = next().memory
        let bytes = memory.encoded
        #expect(memory != ModelMemory() && ModelMemory(encoded: bytes) == memory)
        for count in 0..<bytes.count { #expect(ModelMemory(encoded: Array(bytes.prefix(count))) != memory) }
    }
}
