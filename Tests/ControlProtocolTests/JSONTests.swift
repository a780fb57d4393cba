import ControlProtocol
import SyncModel
import Testing

/// JSON in and out: nothing is lost on the way, nothing hostile gets through, and nothing makes it stop.
struct JSONTests {
    static func parse(_ text: String) throws(JSONError) -> JSON { try JSON(parsing: Array(text.utf8)) }

    static func text(_ json: JSON) -> String { String(decoding: json.bytes, as: UTF8.self) }

    @Test(
        "values are read and written back as they were",
        arguments: [
            "null", "true", "false", "0", "-0", "12", "-1.50", "1e3", "1E+3", "2.5e-7", "18446744073709551615",
            "123456789012345678901234567890", #""""#, #""ä""#, #""\u0000""#, "[]", "{}", "[1,[2,[]]]",
            #"{"b":1,"a":{"c":[null]}}"#, #"{"":0}"#,
        ])
    func roundTrip(text: String) throws {
        #expect(JSONTests.text(try JSONTests.parse(text)) == text)
    }

    @Test("white space between tokens is passed over") func space() throws {
        let json = try JSONTests.parse(" \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } }\n")
        #expect(JSONTests.text(json) == #"{"a":[1,2],"b":{}}"#)
    }

    @Test("escapes are read") func escapes() throws {
        let json = try JSONTests.parse(#""\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00""#)
        #expect(json == .string("\"\\/\u{08}\u{0C}\n\r\tä😀"))
    }

    @Test(
        "what is no JSON is refused at the byte where it stops being JSON",
        arguments: [
            ("", 0), (" ", 1), ("nul", 0), ("truex", 4), ("+1", 0), ("01", 1), ("1.", 2), ("1e", 2), ("-", 1),
            (".5", 0),
            ("\"\\", 2), ("[1,]", 3), ("[1 2]", 3), ("[", 1), ("]", 0), ("{", 1), ("{\"a\"}", 4), ("{\"a\":}", 5),
            ("{a:1}", 1),
            ("{\"a\":1,}", 7), ("{\"a\":1,\"b\":2,\"a\":3}", 13), ("\"a", 0), ("\"\\x\"", 2), ("\"\\u12g4\"", 5),
            ("\"\\ud800\"", 1), ("\"\\ud800\\u0041\"", 1), ("\"\\udc00\"", 1), ("\"a\nb\"", 2), ("1 1", 2), ("{}{}", 2),
            ("'a'", 0), ("NaN", 0), ("\u{FEFF}1", 0),
        ])
    func refused(text: String, offset: Int) throws {
        let error = #expect(throws: JSONError.self) { try JSONTests.parse(text) }
        #expect(error?.offset == offset, "\(text): \(error?.reason ?? "")")
    }

    @Test(
        "bytes that are not UTF-8 are refused",
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xF0, 0x9F, 0x98, 0x22], [0x22, 0x5C, 0x6E, 0xFF, 0x22],
            [0x22, 0xC0, 0xAF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xE2, 0x82, 0x22],
        ]
            as [[UInt8]])
    func notUTF8(bytes: [UInt8]) {
        #expect(throws: JSONError(offset: 0, reason: "this string is not UTF-8")) { try JSON(parsing: bytes) }
    }

    @Test("values may be nested 64 deep and no deeper, whatever comes after") func depth() throws {
        _ = try JSONTests.parse(String(repeating: "[", count: 64) + String(repeating: "]", count: 64))
        for open in ["[", "{\"a\":"] {
            let deep = String(repeating: open, count: 1_000_000)
            let error = #expect(throws: JSONError.self) { try JSONTests.parse(deep) }
            #expect(error?.offset == 64 * open.utf8.count)
        }
    }

    @Test(
        "of many keys each comes once, too, and those that only look the same are others",
        arguments: [2, 15, 16, 17, 40])
    func manyKeys(count: Int) throws {
        let members = (0..<count).map { #""k\#($0)":\#($0)"# } + ["\"\u{E9}\":-1", "\"e\u{301}\":-2"]
        let text = "{\(members.joined(separator: ","))}"
        let json = try JSONTests.parse(text)
        #expect(JSONTests.text(json) == text && json["k\(count - 1)"]?.int == count - 1)
        for (again, name) in [("k0", "k0"), ("e\u{301}", "e\u{301}"), (#"\u006b1"#, "k1")] {
            let twice = text.dropLast() + ",\"\(again)\":0}"
            let error = #expect(throws: JSONError.self) { try JSONTests.parse(String(twice)) }
            #expect(
                error == JSONError(offset: text.utf8.count, reason: "this key stands in the object twice"), "\(name)")
        }
    }

    @Test("two keys that look the same but are other bytes are two keys") func bytewiseKeys() throws {
        let json = try JSONTests.parse("{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(json["\u{E9}"]?.int == 1)
        #expect(json["e\u{301}"]?.int == 2)
    }

    @Test("an object keeps its order, replaces in place and forgets on nil") func objects() {
        var object: JSONObject = ["z": .count(1), "a": .count(2), "m": .count(3)]
        object["a"] = "new"
        object["z"] = nil
        object["k"] = .null
        object["none"] = nil
        #expect(JSONTests.text(.object(object)) == #"{"a":"new","m":3,"k":null}"#)
    }

    @Test("numbers give what they can hold and nil otherwise") func numbers() throws {
        #expect(JSONNumber(UInt64.max).uint64 == .max)
        #expect(JSONNumber(UInt64.max).int64 == nil)
        #expect(JSONNumber(Int64.min).int64 == .min)
        #expect(try JSONTests.parse("1.0").int == nil)
        #expect(try JSONTests.parse("0.25").number?.double == 0.25)
        #expect(JSONNumber(0.1)?.text == "0.1")
        #expect(JSONNumber(1e300 * 1e300) == nil && JSONNumber(.nan) == nil)
        for double in [Double.leastNonzeroMagnitude, 1e21, -0.0, 1.7976931348623157e308] {
            let written = try #require(JSONNumber(double))
            #expect(try JSONTests.parse(written.text).number?.double == double)
        }
    }

    @Test("nothing that is written can steer a terminal or turn text around") func terminalSafe() throws {
        let evil = "a\u{1B}[2Jb\u{7F}\u{9B}31m\u{202E}x\u{2066}\u{2028}\u{200B}\u{FEFF}\u{E0041}\r\n"
        let written = JSON.string(evil).bytes
        #expect(try JSON(parsing: written) == .string(evil))
        let text = String(decoding: written, as: UTF8.self)
        #expect(text == #""a\u001b[2Jb\u007f\u009b31m\u202ex\u2066\u2028\u200b\ufeff\udb40\udc41\r\n""#)
    }

    @Test("people get it indented") func pretty() throws {
        let json = try JSONTests.parse(#"{"a":[1,{"b":2}],"c":{},"d":[]}"#)
        #expect(
            json.prettyText == """
                {
                  "a": [
                    1,
                    {
                      "b": 2
                    }
                  ],
                  "c": {},
                  "d": []
                }
                """)
    }

    @Test("any value survives being written and read, compact and indented", arguments: 0..<300)
    func anyValue(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let json = Draw.json(&random, depth: 5)
        #expect(try JSON(parsing: json.bytes) == json)
        #expect(try JSONTests.parse(json.prettyText) == json)
    }

    @Test("damaged text gives a value or an error inside the text, never anything else", arguments: 0..<500)
    func damaged(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed) &+ 10_000)
        var bytes = Draw.json(&random, depth: 4).bytes
        for _ in 0...random.below(4) where !bytes.isEmpty {
            let place = random.below(bytes.count)
            switch random.below(3) {
            case 0: bytes[place] = UInt8(random.below(256))
            case 1: bytes.remove(at: place)
            default: bytes.insert(UInt8(random.below(256)), at: place)
            }
        }
        do throws(JSONError) {
            let json = try JSON(parsing: bytes)
            #expect((try? JSON(parsing: json.bytes)) == json)
        } catch {
            #expect((0...bytes.count).contains(error.offset) && !error.reason.isEmpty)
        }
    }
}

/// Values by chance, the awkward ones often.
enum Draw {
    static func json(_ random: inout SeededRandom, depth: Int) -> JSON {
        switch random.below(depth > 0 ? 7 : 5) {
        case 0: return .null
        case 1: return .bool(random.below(2) == 0)
        case 2: return .number(JSONNumber(Int64(bitPattern: random.next() >> UInt64(random.below(64)))))
        case 3: return .number(JSONNumber(Double(bitPattern: random.next())) ?? JSONNumber(0))
        case 4: return .string(text(&random))
        case 5: return .array((0..<random.below(4)).map { _ in json(&random, depth: depth - 1) })
        default:
            var object = JSONObject()
            for _ in 0..<random.below(4) { object[text(&random)] = json(&random, depth: depth - 1) }
            return .object(object)
        }
    }

    static func text(_ random: inout SeededRandom) -> String {
        let alphabet: [Unicode.Scalar] = ["a", "\"", "\\", "/", "\n", "\0", "\u{1B}", "ä", "\u{301}", "😀", "\u{2028}"]
        var text = ""
        for _ in 0..<random.below(6) { text.unicodeScalars.append(alphabet[random.below(alphabet.count)]) }
        return text
    }

    static func bytes(_ random: inout SeededRandom, count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(random.below(256)) }
    }
}
