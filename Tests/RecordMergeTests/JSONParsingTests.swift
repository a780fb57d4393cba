/// What is taken for JSON and what is refused, where and why. The table is our own; beside it stands the public suite
/// of parsing tests, where its data is at hand (see `JSONSuite`).
import RecordMerge
import Testing

@Suite("JSON is read without loss, or refused with a place")
struct JSONParsingTests {
    static let accepted = [
        "null", "true", "false", "0", "-0", "-0.0e-0", "1E+2", "123456789012345678901234567890", "0.1e-400", "\"\"",
        "[]", "{}", " [ ] ", "\t{\r\n}\n", "[[],[[]]]", #"{"":0}"#, #"{"a":{"a":{"a":1}}}"#, #"["\"\\\/\b\f\n\r\t"]"#,
        #"["\u0000","\uD83D\uDE00","\uFFFF","é","e\#u{301}","😀"]"#, #"{"é":1,"e\#u{301}":2}"#, "\"\u{7F}\"",
        "\"\u{2028}\"",
    ]

    @Test("what is JSON is kept byte for byte", arguments: accepted) func accept(text: String) throws {
        let document = try JSONDocument(parsing: Array(text.utf8))
        #expect(document.bytes == Array(text.utf8))
        #expect(JSONEditor(document).finished() == document.bytes)
    }

    /// text | kind | byte | a word of the reason
    static let refused: [(String, JSONFault.Kind, Int, String)] = [
        ("", .notJSON, 0, "ends where a value"), (" ", .notJSON, 1, "ends where a value"),
        ("[", .notJSON, 1, "ends where a value"), ("[1", .notJSON, 2, "comma or ]"), ("[1,", .notJSON, 3, "ends"),
        ("[1,]", .notJSON, 3, "a value"), ("[,1]", .notJSON, 1, "a value"), ("[1 2]", .notJSON, 3, "comma or ]"),
        ("[1}", .notJSON, 2, "comma or ]"), ("]", .notJSON, 0, "a value"), ("[]]", .notJSON, 2, "nothing may follow"),
        ("{", .notJSON, 1, "key"), ("{}}", .notJSON, 2, "nothing may follow"), ("{a:1}", .notJSON, 1, "key"),
        ("{'a':1}", .notJSON, 1, "key"), (#"{"a"}"#, .notJSON, 4, "colon"), (#"{"a":}"#, .notJSON, 5, "a value"),
        (#"{"a":1,}"#, .notJSON, 7, "key"), (#"{"a":1 "b":2}"#, .notJSON, 7, "comma or }"),
        ("{1:1}", .notJSON, 1, "key"),
        ("nul", .notJSON, 0, "null"), ("True", .notJSON, 0, "a value"), ("truth", .notJSON, 0, "true"),
        ("NaN", .notJSON, 0, "a value"), ("-Infinity", .notJSON, 1, "digit"), ("+1", .notJSON, 0, "a value"),
        ("01", .notJSON, 1, "nothing may follow"), ("-", .notJSON, 1, "digit"), ("1.", .notJSON, 2, "digit"),
        (".5", .notJSON, 0, "a value"), ("1e", .notJSON, 2, "digit"), ("1e+-2", .notJSON, 3, "digit"),
        ("0x1", .notJSON, 1, "nothing may follow"), ("\"", .notJSON, 0, "does not end"),
        ("\"\\", .notJSON, 2, "ends in an escape"),
        (#"["a\"]"#, .notJSON, 1, "does not end"), (#"["\x"]"#, .notJSON, 3, "no such escape"),
        (#"["\u12G4"]"#, .notJSON, 6, "hexadecimal"), ("\"a\u{1}\"", .notJSON, 2, "control character"),
        ("\"a\nb\"", .notJSON, 2, "control character"), ("[1]//", .notJSON, 3, "nothing may follow"),
        ("/**/1", .notJSON, 0, "a value"), ("\u{FEFF}{}", .notJSON, 0, "byte order mark"),
        ("\u{A0}1", .notJSON, 0, "a value"), ("\u{C}1", .notJSON, 0, "a value"), ("1\u{0}", .notJSON, 1, "nothing may"),
        (#"["\uD800"]"#, .loneSurrogate, 2, "stands alone"), (#"["\uDC00\uD800"]"#, .loneSurrogate, 2, "stands alone"),
        (#"["x\uD83D\u0041"]"#, .loneSurrogate, 3, "stands alone"),
        (#"{"\uD800":1}"#, .loneSurrogate, 2, "stands alone"),
        (#"{"a":1,"b":2,"a":3}"#, .duplicateKey, 13, "twice"), (#"{"a":1,"\u0061":2}"#, .duplicateKey, 7, "twice"),
        (#"[{"x":{"":1,"":1}}]"#, .duplicateKey, 12, "twice"),
        (#"{"a":1,"b":2,"b":3,"a":4}"#, .duplicateKey, 13, "twice"),
    ]

    @Test("what is not is refused at its place", arguments: refused)
    func refuse(text: String, kind: JSONFault.Kind, offset: Int, reason: String) {
        let fault = #expect(throws: JSONFault.self) { try JSONDocument(parsing: Array(text.utf8)) }
        #expect(fault?.kind == kind)
        #expect(fault?.offset == offset)
        #expect(fault?.reason.contains(reason) == true, "\(fault?.reason ?? "")")
    }

    static let notUTF8: [[UInt8]] = [
        [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x80, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80],
        [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xFC, 0x80, 0x80, 0x80],
    ]

    @Test("bytes that are not UTF-8 are refused where they begin", arguments: notUTF8) func encoding(bytes: [UInt8]) {
        let fault = #expect(throws: JSONFault.self) {
            try JSONDocument(parsing: Array("[\"ab".utf8) + bytes + Array("\"]".utf8))
        }
        #expect(fault?.kind == .notUTF8)
        #expect(fault?.offset == 4)
    }

    @Test("a fault tells line and column as an editor counts them") func lineAndColumn() {
        let fault = #expect(throws: JSONFault.self) {
            try JSONDocument(parsing: Array("{\r\n  \"é\": 1,\n  \"ü😀\": x\n}".utf8))
        }
        #expect(fault?.description == "line 3, column 9 (byte 26): a value is expected")
    }

    @Test("depth and length have bounds, and depth costs no stack") func bounds() throws {
        var rules = JSONRules()
        #expect(throws: Never.self) { try JSONDocument(parsing: nested(rules.depthMax)) }
        let deep = #expect(throws: JSONFault.self) { try JSONDocument(parsing: nested(rules.depthMax + 1)) }
        #expect(deep?.kind == .tooDeep)
        rules.depthMax = 1_000_000
        #expect(throws: Never.self) { try JSONDocument(parsing: nested(1_000_000), rules: rules) }
        rules.bytesMax = 3
        let long = #expect(throws: JSONFault.self) { try JSONDocument(parsing: Array("1234".utf8), rules: rules) }
        #expect(long?.kind == .tooLarge)
    }

    private func nested(_ depth: Int) -> [UInt8] {
        Array(repeating: UInt8(ascii: "["), count: depth) + Array(repeating: UInt8(ascii: "]"), count: depth)
    }

    @Test("values are found by pointer, strings are decoded, numbers stay text") func reading() throws {
        let text = #"{"a/b": [10, {"~": "\u00e9\n"}], "n": 1.50, "é": 1, "e\#u{301}": 2}"#
        let document = try JSONDocument(parsing: Array(text.utf8))
        #expect(try said("/a~1b/1/~0", in: document).string == Array("é\n".utf8))
        #expect(try said("/n", in: document).description == "1.50")
        #expect(try said("/e\u{301}", in: document).description == "2")
        for absent in ["/a", "/a~1b/2", "/a~1b/01", "/a~1b/-", "/n/0", "/x"] {
            #expect(document.place(at: try pointer(absent)) == nil)
        }
    }

    private func said(_ text: String, in document: JSONDocument) throws -> JSONText {
        JSONText(try #require(document.place(at: pointer(text))), of: document)
    }

    @Test("a text is of the kind that it begins as, and only a string says something") func kinds() throws {
        let kinds: [(String, JSONDocument.Kind)] = [
            ("{}", .object), ("[]", .array), ("\"\"", .string), ("true", .bool), ("false", .bool), ("null", .null),
            ("-1", .number),
        ]
        for (text, kind) in kinds {
            let parsed = try JSONText(parsing: Array(text.utf8))
            #expect(parsed.kind == kind && (parsed.string == nil) == (kind != .string))
            #expect(try JSONDocument(parsing: Array(text.utf8)).kind(of: .root) == kind)
            #expect(JSONDocument.isReadable(Array(text.utf8)) && !JSONDocument.isReadable(Array((text + "]").utf8)))
        }
    }

    @Test("every escape is read as what it stands for") func escapes() throws {
        let text = try JSONText(parsing: Array(#""\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00\uD83D\uDE00""#.utf8))
        #expect(text.string == Array("\"\\/\u{8}\u{C}\n\r\tä😀😀".utf8))
    }

    @Test("pointers are read and written as RFC 6901 has them") func pointers() throws {
        for text in ["", "/", "/a~0b~1c", "//0"] { #expect(try pointer(text).description == text) }
        for text in ["a", "/~", "/~2"] { #expect(JSONPointer(text) == nil) }
    }

    @Test("a text is written with the fewest escapes and read back the same") func texts() throws {
        let content: [UInt8] = Array("\"\\/\u{0}\u{1F}\n\r\té😀".utf8)
        let text = try #require(JSONText.string(content))
        #expect(text.description == #""\"\\/\u0000\u001f\n\r\té😀""#)
        #expect(text.string == content)
        #expect(JSONText.string([0xFF]) == nil)
    }
}

func pointer(_ text: String) throws -> JSONPointer {
    try #require(JSONPointer(text))
}
