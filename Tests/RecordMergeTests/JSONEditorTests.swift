/// Edits of documents: what changes, and what must not.
import RecordMerge
import SyncModel
import Testing

@Suite("an edit changes what it names and nothing else")
struct JSONEditorTests {
    /// before | edits, `=` replaces, `+` inserts, `-` removes, joined by spaces | after. `⏎` is a line feed.
    static let rows = ##"""
        {"a":1}                           | =/a:2          | {"a":2}
        {"a" : 1e5 , "b":[ 2 ] }          | =/a:0          | {"a" : 0 , "b":[ 2 ] }
        {"\u0061":1}                      | =/a:2          | {"\u0061":2}
        {"a":{"b":[1,2,3]}}               | =/a/b/1:"x"    | {"a":{"b":[1,"x",3]}}
         {"a":1}⏎                         | =:[]           |  []⏎
        {"a":1,"b":2}                     | -/a            | {"b":2}
        {"a": 1, "b": 2}                  | -/a            | {"b": 2}
        {"a": 1, "b": 2}                  | -/b            | {"a": 1}
        { "a": 1, "b": 2 }                | -/a -/b        | {}
        {⏎  "a": 1,⏎  "b": 2⏎}            | -/b            | {⏎  "a": 1⏎}
        {⏎  "a": 1,⏎  "b": 2⏎}            | -/a            | {⏎  "b": 2⏎}
        {⏎  "a": 1⏎}                      | -/a            | {}
        {"a": 1}                          | +/b:2          | {"a": 1, "b": 2}
        {"a":1}                           | +/b:2          | {"a":1,"b":2}
        {"a":1}                           | +/b:2 +/c:3    | {"a":1,"b":2,"c":3}
        {"a":1}                           | -/a +/a:2      | {"a":2}
        {⏎  "a": 1⏎}                      | +/b:2          | {⏎  "a": 1,⏎  "b": 2⏎}
        {⏎  "a": 1⏎}                      | -/a +/b:2      | {⏎  "b": 2⏎}
        {⏎   "a": {}⏎}                    | +/a/b:2        | {⏎   "a": {⏎      "b": 2⏎   }⏎}
        {⏎⏎"a": 1 ,⏎"b" : 2⏎ }⏎           | +/c:3          | {⏎⏎"a": 1,⏎"b" : 2,⏎"c": 3⏎ }⏎
        {}                                | +/a:1          | {"a": 1}
        {}⏎                               | +/a:1          | {⏎  "a": 1⏎}⏎
        []                                | +/-:1 +/-:2    | [1, 2]
        [1,2]                             | +/0:0          | [0,1,2]
        [1, 2]                            | +/0:0          | [0, 1, 2]
        [1, 2]                            | +/1:0          | [1, 0, 2]
        [1, 2]                            | +/2:0          | [1, 2, 0]
        [1, 2, 3]                         | -/0 -/2 +/1:0  | [0, 2]
        [⏎ 1,⏎ 2⏎]                        | +/0:0 -/1      | [⏎ 0,⏎ 1⏎]
        [{"a":1},{"a":2}]                 | =/0/a:3 -/1    | [{"a":3}]
        {"a/b":1}                         | =/a~1b:2       | {"a/b":2}
        {"a":1}                           | +/"é:2         | {"a":1,"\"é":2}
        """##.split(separator: "\n").map(Row.init)

    struct Row: CustomTestStringConvertible {
        let before: String
        let edits: [Substring]
        let after: String

        init(_ line: Substring) {
            let columns = line.split(separator: "|").map { $0.drop { $0 == "\0" } }
            before = Row.text(columns[0], dropping: 0)
            edits = columns[1].split(separator: " ")
            after = Row.text(columns[2], dropping: 1)
        }

        private static func text(_ column: Substring, dropping count: Int) -> String {
            var column = column.dropFirst(count)
            while column.last == " " { column.removeLast() }
            return column.split(separator: "⏎", omittingEmptySubsequences: false).joined(separator: "\n")
        }

        var testDescription: String { "\(before) \(edits)" }
    }

    @Test("edits give what one would have written by hand", arguments: rows) func edit(row: Row) throws {
        #expect(String(decoding: try edited(row.before, row.edits), as: UTF8.self) == row.after)
    }

    @Test("lines that end as on DOS go on ending so") func lineEnds() throws {
        #expect(try edited("{}\r\n", ["+/a:[]"]) == Array("{\r\n  \"a\": []\r\n}\r\n".utf8))
        let inner = try edited("{\r\n\t\"a\": {}\r\n}", ["+/a/b:1"])
        #expect(inner == Array("{\r\n\t\"a\": {\r\n\t\t\"b\": 1\r\n\t}\r\n}".utf8))
    }

    @Test(
        "an edit that cannot be made says why",
        arguments: [
            ("=/x:1", "there is nothing at /x"), ("-/a/5", "there is nothing at /a/5"),
            ("+/b:1", "/b is there already"),
            ("+/b/c:1", "/b/c is in a value that is neither an object nor an array"),
            ("+/a/9:1", "there is nothing at /a/9"), ("-", "the whole document can only be replaced"),
            ("+:1", "the whole document can only be replaced"),
        ]) func refusals(edit: String, reason: String)
    {
        let refusal = #expect(throws: JSONEditRefusal.self) { try edited(#"{"a":[1],"b":2}"#, [Substring(edit)]) }
        #expect(refusal?.description == reason)
    }

    @Test("what the same edit has removed is not replaced by it, but may come anew") func gone() throws {
        let refusal = #expect(throws: JSONEditRefusal.self) { try edited(#"{"a":[1],"b":2}"#, ["-/b", "=/b:1"]) }
        #expect(refusal?.description == "/b is removed by the same edit")
        #expect(try edited(#"{"a":[1],"b":2}"#, ["-/b", "+/b:1"]) == Array(#"{"a":[1],"b":1}"#.utf8))
    }

    private func edited(_ text: String, _ edits: [Substring]) throws -> [UInt8] {
        var editor = JSONEditor(try JSONDocument(parsing: Array(text.utf8)))
        for edit in edits {
            let parts = edit.dropFirst().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let place = try pointer(String(parts[0]))
            let value = parts.count > 1 ? try JSONText(parsing: Array(parts[1].utf8)) : .null
            switch edit.first {
            case "=": try editor.replace(place, with: value)
            case "+": try editor.insert(value, at: place)
            default: try editor.remove(place)
            }
        }
        return editor.finished()
    }
}

@Suite("documents as people and programs write them")
struct JSONPropertyTests {
    @Test("generated documents come through an edit of one member with every other byte") func untouched() throws {
        for seed in 0..<Effort.times(5_000) {
            var maker = DocumentMaker(seed: UInt64(seed))
            let made = maker.document()
            let document = try JSONDocument(parsing: made.text)
            #expect(JSONEditor(document).finished() == made.text, "seed \(seed)")
            guard let chosen = maker.random.pick(made.members.indices) else { continue }
            let value = try JSONText(parsing: maker.value(depth: 0))
            var editor = JSONEditor(document)
            try editor.replace(JSONPointer.root.appending(made.members[chosen].key), with: value)
            #expect(editor.finished() == made.text(replacing: chosen, by: value.bytes), "seed \(seed)")
        }
    }

    @Test("any bytes are read or refused within their bounds") func anyBytes() {
        for seed in 0..<Effort.times(2_000) {
            var maker = DocumentMaker(seed: UInt64(seed))
            var bytes = maker.document().text
            for _ in 0..<maker.random.range(1...3) {
                bytes[maker.random.below(bytes.count)] = maker.random.pick(Array("\"\\{}[]:,0eu \u{FF}".utf8)) ?? 0
            }
            do {
                #expect(JSONEditor(try JSONDocument(parsing: bytes)).finished() == bytes, "seed \(seed)")
            } catch {
                #expect((0...bytes.count).contains(error.offset) && error.line > 0 && error.column > 0, "seed \(seed)")
            }
        }
    }

    @Test("members come and go, and what stays is what it was") func comingAndGoing() throws {
        for seed in 0..<Effort.times(1_000) {
            var maker = DocumentMaker(seed: UInt64(seed))
            let made = maker.document()
            var editor = JSONEditor(try JSONDocument(parsing: made.text))
            var expected: [[UInt8]] = []
            for member in made.members {
                if maker.random.chance(percent: 40) {
                    try editor.remove(JSONPointer.root.appending(member.key))
                } else {
                    expected.append(member.value)
                }
            }
            for number in 0..<maker.random.below(3) {
                let value = try JSONText(parsing: maker.value(depth: 0))
                try editor.insert(value, at: JSONPointer.root.appending("new \(number)"))
                expected.append(value.bytes)
            }
            let after = try JSONDocument(parsing: editor.finished())
            #expect(after.children(of: .root).map { Array(after.text(of: $0)) } == expected, "seed \(seed)")
        }
    }
}

/// Draws objects in any layout, and remembers which piece is which.
struct DocumentMaker {
    struct Made {
        var pieces: [[UInt8]] = []
        /// `value` is the piece of this number.
        var members: [(key: [UInt8], piece: Int, value: [UInt8])] = []

        var text: [UInt8] { Array(pieces.joined()) }

        func text(replacing member: Int, by value: [UInt8]) -> [UInt8] {
            var pieces = pieces
            pieces[members[member].piece] = value
            return Array(pieces.joined())
        }
    }

    var random: SeededRandom
    private var keysMade = 0

    init(seed: UInt64) {
        random = SeededRandom(seed: seed, stream: "documents")
    }

    mutating func document() -> Made {
        var made = Made(pieces: [space(), Array("{".utf8), space()])
        for number in 0..<random.below(6) {
            if number > 0 { made.pieces += [space(), Array(",".utf8), space()] }
            let key = key()
            made.pieces += [key.written, space(), Array(":".utf8), space()]
            let value = value(depth: 0)
            made.members.append((key.says, made.pieces.count, value))
            made.pieces.append(value)
        }
        made.pieces += [space(), Array("}".utf8), space()]
        return made
    }

    mutating func value(depth: Int) -> [UInt8] {
        switch random.below(depth > 3 ? 4 : 6) {
        case 0: Array((random.pick(["null", "true", "false"]) ?? "null").utf8)
        case 1: number()
        case 2, 3: string()
        case 4: container("[", "]", depth: depth)
        default: container("{", "}", depth: depth)
        }
    }

    private mutating func container(_ open: String, _ close: String, depth: Int) -> [UInt8] {
        var text = Array(open.utf8) + space()
        for number in 0..<random.below(4) {
            if number > 0 { text += Array(",".utf8) + space() }
            if open == "{" { text += key().written + Array(":".utf8) + space() }
            text += value(depth: depth + 1) + space()
        }
        return text + Array(close.utf8)
    }

    private mutating func number() -> [UInt8] {
        let text = random.pick(["0", "-0", "1.0", "1.00", "1e400", "-12E-3", "0.1", "9007199254740993"]) ?? "0"
        let digits = (0..<random.below(30)).reduce("1") { text, _ in text + String(random.below(10)) }
        return Array((random.chance(percent: 50) ? text : digits).utf8)
    }

    private mutating func string() -> [UInt8] {
        let choices = [
            "a", "é", "e\u{301}", "😀", #"\n"#, #"\u00e9"#, #"\ud83d\ude00"#, #"\/"#, "{", ",", ":", "]",
        ]
        let parts = (0..<random.below(4)).map { _ in random.pick(choices) ?? "" }
        return Array(("\"" + parts.joined() + "\"").utf8)
    }

    /// A key that no other key of the document says, however it is spelt.
    private mutating func key() -> (written: [UInt8], says: [UInt8]) {
        keysMade += 1
        let choices = [("a", "a"), (#"\u0062"#, "b"), ("é", "é"), (#"\\/~"#, #"\/~"#)]
        let (written, says) = random.pick(choices) ?? ("", "")
        return (Array("\"\(written)\(keysMade)\"".utf8), Array("\(says)\(keysMade)".utf8))
    }

    private mutating func space() -> [UInt8] {
        Array((random.pick(["", "", "", " ", "\n", "\r\n  ", "\t", "\n\n    "]) ?? "").utf8)
    }
}
