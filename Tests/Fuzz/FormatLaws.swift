import SyncModel

/// Headers of guarded files, by every kind of rule, and the regular expressions of rules.
@testable import RecordMerge

extension Law {
    static let formatLaws = [ruleLaw, headerLaw, regexLaw]

    /// Format rules and a file, with a zero byte between them.
    private static let ruleLaw = Law("rules") { bytes throws(Broken) in
        let parts = bytes.parts(2)
        let rules: FormatRules
        do throws(ModelRefusal) {
            rules = try FormatRules(parsing: parts[0], file: "rules.json")
        } catch {
            return try demand(!error.faults.isEmpty, "they were refused for nothing")
        }
        try demand((try? FormatRules(parsing: parts[0], file: "again.json"))?.digest == rules.digest, "another digest")
        for rule in rules.rules { try check(rule, parts[1]) }
    }

    private static let rules: FormatRules? = try? FormatRules(
        parsing: Array(
            (#"{"model": "org.example.app", "formats": ["#
                + #"{"name": "a", "files": "*.a", "version": {"json": "/a/b"}, "supports": [1, 3]}, "#
                + #"{"name": "b", "files": "*.b", "version": {"sqlite": "user_version"}, "supports": [4, 4]}, "#
                + #"{"name": "c", "files": "*.c", "version": {"bytes": {"offset": 8, "length": 4, "endian": "little"}}, "#
                + #""supports": [0, 2]}, "#
                + #"{"name": "d", "files": "*.d", "version": {"bytes": {"offset": 0, "length": 8}}, "supports": [1, 9]}, "#
                + #"{"name": "e", "files": "*.e", "version": {"regex": "^(?:%|#)[A-Z]*-([0-9]+)\\s"}, "supports": [1, 1]}]}"#)
                .utf8), file: "rules.json")

    /// 1 which rule · the file.
    private static let headerLaw = Law("headers") { bytes throws(Broken) in
        guard let rules else { throw Broken("the rules of this law cannot be read") }
        guard let first = bytes.first else { return }
        try check(rules.rules[Int(first) % rules.rules.count], Array(bytes.dropFirst()))
    }

    private static func check(_ rule: FormatRule, _ file: [UInt8]) throws(Broken) {
        let size = UInt64(file.count)
        let needed = rule.bytesNeeded(of: size)
        try demand(needed <= file.count, "\(needed) of \(size) bytes are needed")
        let header = rule.header(of: Array(file.prefix(needed)), size: size)
        try demand(header == rule.header(of: Array(file.prefix(needed)), size: size), "read twice it is something else")
        switch (header, rule.outcome(of: header)) {
        case (.zeroLength, .zeroLength): try demand(file.isEmpty, "\(size) bytes are none")
        case (.corrupt, .corrupt(_, let offset)): try demand(offset <= file.count, "damage behind the end")
        case (.unknown(let found), .unknownVersion): try demand(found.count <= 64, "\(found.count) bytes are shown")
        case (.version(let number), .success): try demand(rule.supports.contains(number), "\(number) is not supported")
        case (.version(let number), .newerVersion):
            try demand(number > rule.supports.upperBound, "\(number) is not newer")
        case (.version(let number), .olderVersion):
            try demand(number < rule.supports.lowerBound, "\(number) is not older")
        case (_, let outcome): throw Broken("\(header) comes to \(outcome)")
        }
    }

    /// A pattern and a text, with a zero byte between them: another implementation finds the same.
    private static let regexLaw = Law("patterns", bytesMax: 256) { bytes throws(Broken) in
        let parts = bytes.parts(2)
        guard let regex = try? ByteRegex(parts[0]) else { return }
        let found = regex.capture(in: parts[1])
        let expected = PatternModel(parts[0]).capture(in: parts[1])
        try demand(
            found == expected,
            "\(found?.indices, default: "nothing") is found, not \(expected?.indices, default: "nothing")")
    }
}
