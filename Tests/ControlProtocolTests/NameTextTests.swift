import ControlProtocol
import SyncModel
import Testing

/// Names are bytes: what people see is harmless, and no byte is lost on the way.
struct NameTextTests {
    @Test("UTF-8 is shown as it is, and other bytes as escapes") func texts() {
        #expect(NameText.text(of: Array("Übung 1".utf8)) == "Übung 1")
        #expect(NameText.text(of: [0x61, 0xFF, 0x62]) == #"a\xffb"#)
        #expect(NameText.text(of: [0xC3, 0x9C, 0x5C, 0xC3]) == #"Ü\x5c\xc3"#)
        #expect(NameText.text(of: [0xE2, 0x82]) == #"\xe2\x82"#)
        #expect(NameText.text(of: [0x5C]) == #"\"#, "a backslash alone is UTF-8 and stays")
        #expect(NameText.text(of: []) == "")
    }

    @Test("for people, whatever could move a cursor, hide or turn text around is an escape") func printable() {
        #expect(NameText.printable("Übung\u{1B}[31m") == #"Übung\x1b[31m"#)
        #expect(NameText.quoted(Array("Ü\"\\".utf8)) == #""Ü\x22\x5c""#)
        #expect(NameText.quoted(Array("Ü".utf8), asciiOnly: true) == #""\xc3\x9c""#)
        #expect(NameText.printable("a\nb\tc\\") == #"a\x0ab\x09c\x5c"#)
        #expect(NameText.printable("x\u{202E}y\u{200B}") == #"x\xe2\x80\xaey\xe2\x80\x8b"#)
        #expect(NameText.printable("Ü", asciiOnly: true) == #"\xc3\x9c"#)
        #expect(NameText.printable([0x80, 0x9B]) == #"\x80\x9b"#)
    }

    @Test("in a text names are escaped already, and are not escaped again") func harmless() {
        #expect(NameText.harmless("\"a\\xff\"\u{1B}\n ü") == #""a\xff"\x1b\x0a ü"#)
        #expect(NameText.harmless("ü", asciiOnly: true) == #"\xc3\xbc"#)
    }

    @Test("the name that is shown as a text is told from texts that no name is shown as") func shown() {
        func name(_ text: String) -> [UInt8]? { NameText.name(shownAs: Array(text.utf8)) }
        #expect(name(#"inv\xff\xfe"#) == Array("inv".utf8) + [0xFF, 0xFE])
        #expect(name(#"a\x5cx41 'b'"#) == Array(#"a\x41 'b'"#.utf8))
        for text in ["", "plain", #"a\"#, #"a\x"#, #"a\x4"#, #"a\xFF"#, #"a\n"#, #"\xff\t"#, #"a\x00b"#, #"\\xff"#] {
            #expect(name(text) == nil, "\(text)")
        }
    }

    @Test("names that are not UTF-8 travel beside their text, byte for byte", arguments: 0..<200)
    func exact(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let name = Draw.bytes(&random, count: random.below(12))
        let paired = PairedDocument(words: [], peer: name)
        let read = try PairedDocument(json: JSON(parsing: paired.json.bytes))
        #expect(read == paired)
        let isText = String(validating: name, as: UTF8.self) != nil
        #expect((paired.json["peerBytes"] == nil) == isText)
    }

    @Test("base64 is that of RFC 4648, padded") func vectors() {
        #expect(PairedDocument(words: [], peer: [0xFF, 0x66, 0x6F, 0x6F]).json["peerBytes"]?.text == "/2Zvbw==")
        #expect(PairedDocument(words: [], peer: [0xFF]).json["peerBytes"]?.text == "/w==")
        #expect(PairedDocument(words: [], peer: [0xFF, 0xFE, 0xFD]).json["peerBytes"]?.text == "//79")
    }

    @Test(
        "base64 that we would not write is refused",
        arguments: ["/w=", "/w", "/w==x", "/x==", "====", "/ w=", "//79\n"])
    func badBase64(text: String) {
        let json: JSON = ["words": .array([]), "peer": "x", "peerBytes": .string(text)]
        #expect(throws: DocumentError(place: "peerBytes", expected: "base64")) { try PairedDocument(json: json) }
    }
}
