/// INV-23 begins here: what is no path cannot be said. Also the order that everything that walks the tree relies on.
import SyncModel
import Testing

struct PathTests {
    @Test(
        "what is a path",
        arguments: [
            ("", true), ("a", true), ("a/b", true), (".a", true), ("...", true), ("a..", true), ("a b\n\t*?\\", true),
            ("ä/日本/🙂", true), ("-", true), ("a/.b/..c", true),
            ("/", false), ("/a", false), ("a/", false), ("a//b", false), (".", false), ("..", false), ("a/.", false),
            ("a/..", false), ("../a", false), ("./a", false), ("a/./b", false), ("a/../b", false), ("a\0", false),
            ("\0", false), ("a/b\0c", false),
        ]) func validity(text: String, isPath: Bool)
    {
        #expect((Path(text) != nil) == isPath)
        #expect(Path(text).map { $0.bytes == Array(text.utf8) } != false)
    }

    @Test("bytes that are no text are a path all the same, and each its own") func anyBytes() throws {
        for byte in UInt8.min...UInt8.max {
            let isSpecial = byte == 0 || byte == 0x2F || byte == 0x2E
            #expect((Path([byte]) == nil) == isSpecial)
        }
        // One and the same text to Unicode, two files to Linux.
        let composed = try #require(Path([0xC3, 0xA9]))
        let decomposed = try #require(Path([0x65, 0xCC, 0x81]))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }

    @Test("the bounds of Linux and of the format, from both sides") func bounds() {
        let long = [UInt8](repeating: 0x61, count: Limits.nameBytesMax)
        #expect(Path(long) != nil && Name(long) != nil)
        #expect(Path(long + [0x61]) == nil && Name(long + [0x61]) == nil)
        let deep = Array(repeating: "a", count: Limits.pathDepthMax).joined(separator: "/")
        #expect(Path(deep)?.depth == Limits.pathDepthMax)
        #expect(Path(deep + "/a") == nil)
        // 16 names of 255 bytes and their slashes are 4,095 bytes; one more name does not fit.
        let wide = Array(repeating: String(repeating: "b", count: 255), count: 16).joined(separator: "/")
        #expect(Path(wide)?.bytes.count == 4_095)
        #expect(Path(wide + "/") == nil)
        #expect(Path(wide + "/c") == nil)
        #expect(Path(Array(wide.utf8.dropLast()) + Array("/c".utf8)) != nil)
    }

    @Test("names are components and nothing else") func names() {
        for text in ["", ".", "..", "a/b", "/", "a\0"] { #expect(Name(text) == nil) }
        for text in ["a", "...", " ", "a b", "\\"] { #expect(Name(text)?.bytes == Array(text.utf8)) }
    }

    @Test("names order by bytes, not by language") func nameOrder() throws {
        let names = try ["Z", "a", "ä", "zz"].map { try #require(Name($0)) }
        #expect(names.sorted() == names.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) })
    }

    @Test("parts of a path") func parts() {
        let path = path("a/bb/c.txt")
        #expect(path.name == Name("c.txt"))
        #expect(path.parent == Path("a/bb") && path.parent?.parent == Path("a") && Path("a")?.parent == .root)
        #expect(path.top == Path("a") && Path("a")?.top == Path("a"))
        #expect(path.depth == 3 && Path("a")?.depth == 1 && Path.root.depth == 0)
        #expect(Path.root.isRoot && Path.root == Path("") && !path.isRoot)
        #expect(Path.root.name == nil && Path.root.parent == nil && Path.root.top == nil)
    }

    @Test("a path is its parent and its name again") func appending() throws {
        for text in ["a", "a/b", "a/b/c", "ä/.x"] {
            let path = path(text)
            #expect(try path.parent?.appending(#require(path.name)) == path)
        }
    }

    @Test(
        "the daemon's own folder is reserved, with everything in it, and nothing else",
        arguments: [
            (".syncd", true), (".syncd/a", true), (".syncd/stage/s0", true), (".syncdx", false), (".sync", false),
            ("a/.syncd", false), (".syncd.conflict", false), (".Syncd", false), ("", false),
        ]) func reserved(text: String, isReserved: Bool)
    {
        #expect(path(text).isReserved == isReserved)
    }

    // MARK: Order

    /// Paths whose bytes fall on both sides of the slash.
    private static func someDraws(_ random: inout SeededRandom) -> Path {
        let alphabet: [UInt8] = [0x01, 0x20, 0x2D, 0x2E, 0x30, 0x61, 0xFF]
        while true {
            var bytes: [UInt8] = []
            for _ in 0..<random.below(8) {
                bytes.append(random.chance(percent: 30) ? 0x2F : alphabet[random.below(alphabet.count)])
            }
            if let path = Path(bytes) { return path }
        }
    }

    @Test("paths order component by component") func order() {
        var random = SeededRandom(seed: 1)
        func components(_ path: Path) -> [[UInt8]] { path.bytes.split(separator: 0x2F).map(Array.init) }
        func naive(_ left: [[UInt8]], _ right: [[UInt8]]) -> Bool {
            for (a, b) in zip(left, right) where a != b { return a.lexicographicallyPrecedes(b) }
            return left.count < right.count
        }
        var compared = 0
        for _ in 0..<20_000 {
            let (left, right) = (PathTests.someDraws(&random), PathTests.someDraws(&random))
            if (left < right) != naive(components(left), components(right)) {
                Issue.record("\(left) and \(right) order wrongly")
            }
            if (left == right) != (components(left) == components(right)) { Issue.record("\(left) = \(right)?") }
            compared += 1
        }
        #expect(compared == 20_000)
    }

    @Test("a directory comes right before everything below it") func walk() {
        let texts = ["", "a", "a/b", "a/b/c", "a/c", "a-", "a.txt", "a0", "aa", "aa/a"]
        #expect(texts.map(path).shuffledBySeed(3).sorted() == texts.map(path))
    }

    // MARK: Below

    @Test(
        "what is below a directory",
        arguments: [
            ("a/b", "a", true), ("a/b/c", "a", true), ("a", "", true), ("a/b", "", true), ("a", "a", false),
            ("", "", false), ("ab", "a", false), ("a-b", "a", false), ("a", "a/b", false), ("b/a", "a", false),
            ("", "a", false),
        ]) func below(text: String, directory: String, isBelow: Bool)
    {
        #expect(path(text).isBelow(path(directory)) == isBelow)
    }

    @Test(
        "paths meet that are the same, or of which one lies in the other, whichever is asked",
        arguments: [
            ("a", "a", true), ("", "", true), ("a/b/c", "a", true), ("", "a", true), ("a", "ab", false),
            ("a/b", "a/c", false),
        ]) func meets(one: String, other: String, isSo: Bool)
    {
        #expect(path(one).meets(path(other)) == isSo && path(other).meets(path(one)) == isSo)
    }

    @Test(
        "a path under another roof",
        arguments: [
            ("a/x/y", "a", "b", "b/x/y"), ("a", "a", "b", "b"), ("a/x", "a", "b/c", "b/c/x"), ("a/x", "a", "", "x"),
            ("x/y", "", "b", "b/x/y"), ("", "", "b", "b"), ("a", "a", "", ""), ("a/b/c", "a/b", "a", "a/c"),
        ]) func rebased(text: String, from: String, to: String, result: String)
    {
        #expect(path(text).rebased(from: path(from), to: path(to)) == path(result))
    }

    @Test("what is not there cannot move, and what would grow too long is no path") func notRebased() {
        #expect(path("ab").rebased(from: path("a"), to: path("b")) == nil)
        #expect(path("a").rebased(from: path("a/b"), to: path("c")) == nil)
        let deep = path(Array(repeating: "a", count: Limits.pathDepthMax).joined(separator: "/"))
        #expect(deep.rebased(from: path("a"), to: path("b/c")) == nil)
        #expect(deep.rebased(from: path("a"), to: path("b"))?.depth == Limits.pathDepthMax)
    }

    @Test("moving there and back changes nothing") func thereAndBack() {
        var random = SeededRandom(seed: 5)
        for _ in 0..<5_000 {
            let (path, from) = (PathTests.someDraws(&random), PathTests.someDraws(&random))
            let moved = path.rebased(from: from, to: self.path("new"))
            #expect((moved != nil) == (path == from || path.isBelow(from)))
            if let moved { #expect(moved.rebased(from: self.path("new"), to: from) == path) }
        }
    }

    // MARK: For people

    @Test("no name can forge a line, hide in one, or look like another") func escaping() throws {
        #expect(Path.escape(Array("a b~".utf8)) == "a b~")
        #expect(Path.escape([0x0A, 0x1B, 0x5C, 0x7F, 0x00, 0xFF]) == "\\x0a\\x1b\\x5c\\x7f\\x00\\xff")
        #expect(Path.escape(Array("é".utf8)) == "\\xc3\\xa9")
        #expect(Path.quote(Array("a\"b\\é".utf8)) == #""a\x22b\x5c\xc3\xa9""#)
        #expect(path("a\"b").quoted == #""a\x22b""# && path("a\"b").description == "a\"b")
        #expect(Path.root.quoted == "\".\"")
        #expect(Path.root.description == "." && path("a/b").description == "a/b")
        var seen = Set<String>()
        for byte in UInt8.min...UInt8.max {
            let text = Path.escape([byte])
            #expect(text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
            seen.insert(text)
        }
        #expect(seen.count == 256)
    }

    private func path(_ text: String) -> Path { SyncModelTests.path(text) }
}

/// A path written in a test.
func path(_ text: String) -> Path {
    guard let path = Path(text) else { preconditionFailure("a test wrote \(text), which is no path") }
    return path
}

extension Array {
    func shuffledBySeed(_ seed: UInt64) -> [Element] {
        var random = SeededRandom(seed: seed)
        var result = self
        random.shuffle(&result)
        return result
    }
}
