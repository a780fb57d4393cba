/// Format rules: how the version of a guarded file is found, whatever its bytes are, and how a mistake in a rule is told.
import RecordMerge
import SyncModel
import Testing

@Suite("format rules")
struct FormatTests {
    /// The example of the design.
    static let example: String = """
        { "model": "org.example.app", "formats": [
          { "name": "project",  "files": "*.proj.json", "version": {"json": "/version"},     "supports": [1, 3] },
          { "name": "catalog",  "files": "*.db",        "version": {"sqlite": "user_version"}, "supports": [4, 4] },
          { "name": "container","files": "*.box",
            "version": {"bytes": {"offset": 8, "length": 4, "endian": "big"}}, "supports": [1, 2] },
          { "name": "notes",    "files": "*.note", "version": {"regex": "^%NOTE-([0-9]+)"}, "supports": [1, 1] } ] }
        """

    private func rules(_ text: String = example) throws -> FormatRules {
        try FormatRules(parsing: Array(text.utf8), file: "app.json")
    }

    private func outcome(_ path: String, _ bytes: [UInt8]) throws -> LoadOutcome {
        let guarded = try #require(Path(path))
        let rule = try #require(rules().rule(for: guarded))
        let header = Array(bytes.prefix(rule.bytesNeeded(of: UInt64(bytes.count))))
        return rule.outcome(of: rule.header(of: header, size: UInt64(bytes.count)))
    }

    private func outcome(_ path: String, _ text: String) throws -> LoadOutcome { try outcome(path, Array(text.utf8)) }

    @Test("D2, D3: every outcome has its case, and what was not loaded is no success") func outcomes() throws {
        let name = "a/b/x.proj.json"
        #expect(try outcome(name, #"{"version": 2}"#) == .success)
        #expect(try outcome(name, "") == .zeroLength)
        #expect(try outcome(name, #"{"version": 4}"#) == .newerVersion(found: 4, supported: 1...3))
        #expect(try outcome("x.db", FormatTests.database(3)) == .olderVersion(found: 3))
        #expect(LoadOutcome.notLoaded != .success)
        guard case .corrupt(_, let offset) = try outcome(name, #"{"version": 2"#) else {
            Issue.record("half a text is not corrupt")
            return
        }
        #expect(offset == 13)
    }

    /// The numbers of D9, and what is around them.
    static let numbers: [(String, LoadOutcome)] = [
        (#"{}"#, .olderVersion(found: 0)), (#"{"version": 1}"#, .success), (#"{"version": 3}"#, .success),
        (#"{"version": -999}"#, .unknownVersion(found: Array("-999".utf8))),
        (#"{"version": 0}"#, .unknownVersion(found: Array("0".utf8))),
        (#"{"version": "1"}"#, .unknownVersion(found: Array("\"1\"".utf8))),
        (#"{"version": 1.5}"#, .unknownVersion(found: Array("1.5".utf8))),
        (#"{"version": 1.0}"#, .unknownVersion(found: Array("1.0".utf8))),
        (#"{"version": 1e0}"#, .unknownVersion(found: Array("1e0".utf8))),
        (#"{"version": 1099511627776}"#, .unknownVersion(found: Array("1099511627776".utf8))),
        (#"{"version": 4294967295}"#, .newerVersion(found: .max, supported: 1...3)),
        (#"{"version": 4294967296}"#, .unknownVersion(found: Array("4294967296".utf8))),
        (#"{"version": null}"#, .unknownVersion(found: Array("null".utf8))), (#"[]"#, .olderVersion(found: 0)),
    ]

    @Test("D9, D10: absent is the oldest there was; what is no version is neither older nor newer", arguments: numbers)
    func versions(text: String, expected: LoadOutcome) throws {
        #expect(try outcome("x.proj.json", text) == expected)
    }

    static func database(_ version: UInt32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        bytes.replaceSubrange(0..<16, with: Array("SQLite format 3\0".utf8))
        for index in 0..<4 { bytes[60 + index] = UInt8(truncatingIfNeeded: version >> UInt32(8 * (3 - index))) }
        return bytes
    }

    @Test("an SQLite file is read by its header alone") func sqlite() throws {
        #expect(try outcome("x.db", FormatTests.database(4)) == .success)
        #expect(try outcome("x.db", FormatTests.database(0)) == .olderVersion(found: 0))
        #expect(try outcome("x.db", FormatTests.database(5)) == .newerVersion(found: 5, supported: 4...4))
        guard case .corrupt(_, offset: 3) = try outcome("x.db", "SQLlite"),
            case .corrupt(_, offset: 50) = try outcome("x.db", Array(FormatTests.database(4).prefix(50)))
        else {
            Issue.record("no database is taken for one")
            return
        }
    }

    @Test("bytes at an offset, either way round, and a file that ends before them") func bytes() throws {
        #expect(try outcome("x.box", [UInt8](repeating: 7, count: 8) + [0, 0, 0, 2]) == .success)
        #expect(
            try outcome("x.box", [UInt8](repeating: 7, count: 8) + [0, 0, 1, 2, 9])
                == .newerVersion(found: 258, supported: 1...2))
        #expect(
            try outcome("x.box", [UInt8](repeating: 0, count: 12)) == .unknownVersion(found: Array("0".utf8)))
        guard case .corrupt(_, offset: 11) = try outcome("x.box", [UInt8](repeating: 7, count: 11)) else {
            Issue.record("a short file is not corrupt")
            return
        }
        let little = try rules(
            #"{"model": "m", "formats": [{"name": "n", "files": "x", "supports": [1, 2], "version": {"bytes": {"offset": 0, "length": 2, "endian": "little"}}}]}"#
        )
        #expect(little.rules[0].header(of: [2, 0], size: 2) == .version(2))
    }

    @Test("a regular expression finds a number at the beginning") func regex() throws {
        #expect(try outcome("x.note", "%NOTE-1\nabc") == .success)
        #expect(try outcome("x.note", "%NOTE-23 ") == .newerVersion(found: 23, supported: 1...1))
        #expect(try outcome("x.note", " %NOTE-1") == .unknownVersion(found: Array(" %NOTE-1".utf8)))
        #expect(
            try outcome("x.note", "%NOTE-99999999999") == .unknownVersion(found: Array("99999999999".utf8)))
    }

    @Test("the first rule that names a file guards it, in every directory; a conflict copy is guarded by none")
    func guards() throws {
        let rules = try rules()
        func name(_ path: String) -> String? {
            Path(path).flatMap { rules.rule(for: $0) }.map { String(decoding: $0.name, as: UTF8.self) }
        }
        #expect(
            ["a.db", "x/y/a.db", ".db", "a.dbx", "a.proj.json", "a.json"].map(name)
                == ["catalog", "catalog", "catalog", nil, "project", nil])
        let copy = try #require(Path("a.conflict-beta-20260101-000000-abcdef.db"))
        #expect(rules.rule(for: copy) == nil && rules.reader(of: copy)?.name == Array("catalog".utf8))
        let plain = try #require(Path("x/a.db"))
        #expect(rules.reader(of: plain) == rules.rule(for: plain) && FormatRules().reader(of: plain) == nil)
    }

    @Test("D15: rules are told from others by all that is in them") func identity() throws {
        let rules = try rules()
        #expect(rules.rules.allSatisfy(rules.has) && !FormatRules().has(rules.rules[0]) && rules.digest == rules.digest)
        let changes = [
            ("*.db", "*.sq"), ("[4, 4]", "[4, 5]"), ("catalog", "list"), ("org.example.app", "org.example.app2"),
            ("/version", "/v"), ("big", "little"), ("user_version", "user_version"),
        ]
        for (old, new) in changes {
            let others = try self.rules(FormatTests.example.replacing(old, with: new))
            #expect((others.digest == rules.digest) == (old == new), "\(new)")
        }
        // Who has the same name in the same model is another version of the same rule.
        let wider = try self.rules(FormatTests.example.replacing("[4, 4]", with: "[4, 5]"))
        #expect(wider.rules.allSatisfy(rules.has) && wider.rules != rules.rules)
    }

    @Test("D15: what a header says in full is what a file is weighed by in short") func readings() throws {
        let headers: [(FormatHeader, FormatReading)] = [
            (.zeroLength, .zeroLength), (.corrupt(reason: "x", offset: 1), .corrupt), (.version(3), .version(3)),
            (.unknown(found: [1]), .unknown),
        ]
        for (header, reading) in headers { #expect(header.reading == reading) }
        // The size of a file is known before its bytes are: more JSON than can be read is of a version that nobody knows.
        let rule = try #require(Path("a.proj.json").flatMap { path in try? rules().rule(for: path) })
        guard case .unknown(let found) = rule.header(of: Array("{}".utf8), size: 1 << 40) else {
            return #expect(Bool(false))
        }
        #expect(String(decoding: found, as: UTF8.self).hasSuffix("MiB of JSON"))
        let text =
            #"{"model": "m", "formats": [{"name": "n", "files": "x", "version": {"regex": "^N([0-9]*)"}, "supports": [1, 1]}]}"#
        let empty = try #require(Path("x").flatMap { path in try? self.rules(text).rule(for: path) })
        #expect(empty.header(of: Array("N".utf8), size: 1) == .unknown(found: []))
    }

    static let faults: [(String, String)] = [
        (
            #"{"model": "m", "formats": [{"name": "\#(String(repeating: "n", count: 256))", "files": "x", "version": {"json": "/v"}, "supports": [1, 1]}]}"#,
            "/formats/0/name: a name has 255 bytes at most"
        ),
        (#"{"model": "m", "formats": []}"#, "/formats: a list with something in it is expected"),
        (
            #"{"formats": [{"name": "n", "files": "x", "version": {"json": "/v"}, "supports": [1, 1]}]}"#,
            "model is missing"
        ),
        (
            #"{"model": "m", "formats": [{"files": "x", "version": {"json": "/v"}, "supports": [1, 1]}]}"#,
            "name is missing"
        ),
        (
            #"{"model": "m", "formats": [{"name": "n", "files": "!x", "version": {"json": "/v"}, "supports": [1, 1]}]}"#,
            "/formats/0/files: a pattern"
        ),
        (
            #"{"model": "m", "formats": [{"name": "n", "files": "x", "version": {"json": "v"}, "supports": [1, 1]}]}"#,
            "/formats/0/version/json: a JSON pointer"
        ),
        (
            #"{"model": "m", "formats": [{"name": "n", "files": "x", "version": {"sqlite": "v"}, "supports": [1, 1]}]}"#,
            "/formats/0/version/sqlite: user_version"
        ),
        (
            #"{"model": "m", "formats": [{"name": "n", "files": "x", "version": {"xml": "v"}, "supports": [1, 1]}]}"#,
            "/formats/0/version: one of json, sqlite, bytes, regex"
        ),
        (
            #"{"model": "m", "formats": [{"name": "n", "files": "x", "version": {"regex": "NOTE"}, "supports": [1, 1]}]}"#,
            "/formats/0/version/regex: the pattern must begin with ^"
        ),
        (
            #"{"model": "m", "formats": [{"name": "n", "files": "x", "version": {"regex": "^NOTE"}, "supports": [1, 1]}]}"#,
            "/formats/0/version/regex: a group"
        ),
        (
            #"{"model": "m", "formats": [{"name": "n", "files": "x", "version": {"bytes": {"offset": -1, "length": 9}}, "supports": [1, 1]}]}"#,
            "/formats/0/version/bytes/length: 1 to 8 bytes"
        ),
        (
            #"{"model": "m", "formats": [{"name": "n", "files": "x", "version": {"bytes": 4}, "supports": [1, 1]}]}"#,
            "/formats/0/version/bytes: "
        ),
        (
            #"{"model": "m", "formats": [{"name": "n", "files": "x", "version": {"bytes": {"offset": 0}}, "supports": [1, 1]}]}"#,
            "length is missing"
        ),
        (
            #"{"model": "m", "formats": [{"name": "n", "files": "x", "version": {"regex": 1}, "supports": [1, 1]}]}"#,
            "/formats/0/version/regex: "
        ),
        (
            #"{"model": "m", "formats": [{"name": "n", "files": "x", "version": {"json": "/v"}, "supports": [3, 1]}]}"#,
            "/formats/0/supports: the lowest and the highest"
        ),
        (
            #"{"model": "m", "formats": [{"name": "n", "files": "x", "version": {"json": "/v"}, "supports": [1, 1], "suports": 1}]}"#,
            "there is no such member here"
        ),
    ]

    @Test("a mistake in a rule is told with file, pointer and reason", arguments: faults)
    func fault(text: String, expected: String) {
        do throws(ModelRefusal) {
            _ = try FormatRules(parsing: Array(text.utf8), file: "app.json")
            Issue.record("taken: \(text)")
        } catch {
            let told = error.faults.map(\.description).joined(separator: "; ")
            #expect(told.contains("app.json") && told.contains(expected), "\(told)")
        }
    }

    private static let later: [String] = [
        #"{"model": "m", "formats": [{"name": "n", "files": "x", "version": {"xml": "/v"}, "supports": [1, 1]}]}"#,
        #"{"model": "m", "formats": [{"name": "n", "files": "x", "version": {"json": "/v"}, "supports": [1, 1], "also": 1}]}"#,
        #"{"model": "m", "rules": 2, "formats": [{"files": "x"}]}"#,
        #"{"model": "m", "formats": [{"name": "n", "files": "x", "version": {"json": "/v", "or": 1}, "supports": [1, 1]}]}"#,
        #"{"model": "m", "rules": 2, "formats": [{"name": "n", "files": "x", "version": {"json": "/v"}, "supports": [1]}]}"#,
        #"{"model": "m", "also": 1, "formats": [{"name": "n", "files": "x", "version": {"json": "/v"}, "supports": [1, 1]}]}"#,
    ]

    @Test(
        "INV-22: what rules of a later program name is guarded, as files of a version that nobody knows",
        arguments: later)
    func laterRules(text: String) throws {
        let (rules, later) = try FormatRules.reading(Array(text.utf8), file: "app.json")
        #expect(!later.isEmpty && later.allSatisfy { $0.description.contains("app.json") })
        let rule = try #require(Path("d/x").flatMap { rules.rule(for: $0) })
        let bytes = Array(#"{"v": 1}"#.utf8)
        let header = rule.header(
            of: Array(bytes.prefix(rule.bytesNeeded(of: UInt64(bytes.count)))), size: UInt64(bytes.count))
        #expect(header.reading == .unknown)
        #expect(rule.header(of: [], size: 0) == .zeroLength)
    }

    @Test("beside a rule of a later program the others count as they are; rules of this version may say so")
    func mixedRules() throws {
        let text = #"""
            {"model": "m", "rules": 1, "formats": [
              {"name": "n", "files": "x", "version": {"xml": "/v"}, "supports": [1, 1]},
              {"name": "o", "files": "y", "version": {"json": "/v"}, "supports": [1, 1]}]}
            """#
        let (rules, later) = try FormatRules.reading(Array(text.utf8), file: "app.json")
        #expect(later.count == 1 && rules.rules.count == 2)
        let rule = try #require(Path("y").flatMap { rules.rule(for: $0) })
        let bytes = Array(#"{"v": 2}"#.utf8)
        #expect(rule.outcome(of: rule.header(of: bytes, size: 8)) == .newerVersion(found: 2, supported: 1...1))
    }

    @Test("which files a rule of a later program means has to be said as ever") func unreadableLaterRules() {
        let text = #"{"model": "m", "rules": 2, "formats": [{"name": "n", "where": "x"}]}"#
        #expect(throws: ModelRefusal.self) { try FormatRules.reading(Array(text.utf8), file: "app.json") }
    }

    @Test("any bytes give an outcome", arguments: 0..<UInt64(40)) func total(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let rules = try rules().rules
        let seeds = [
            Array(#"{"version": 2, "a": [1, {"b": "c"}]}"#.utf8), FormatTests.database(4),
            [UInt8](repeating: 1, count: 12), Array("%NOTE-1\nabc".utf8),
        ]
        for _ in 0..<500 {
            let index = random.below(4)
            var bytes = Array(seeds[index].prefix(random.below(200)))
            for _ in 0..<random.below(4) where !bytes.isEmpty {
                bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            let header = rules[index].header(of: bytes, size: UInt64(bytes.count))
            #expect(rules[index].outcome(of: header) != .notLoaded)
        }
    }

    @Test("what is older or broken is a downgrade, and nothing else") func downgrades() {
        let order: [[FormatReading]] = [
            [.zeroLength, .corrupt], [.version(0)], [.version(1)], [.version(2)], [.version(.max)], [.unknown],
        ]
        for (low, lower) in order.enumerated() {
            for (high, higher) in order.enumerated() {
                for first in lower {
                    for second in higher { #expect(first.isDowngrade(of: second) == (low < high)) }
                }
            }
        }
    }
}
