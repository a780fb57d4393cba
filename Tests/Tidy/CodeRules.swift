/// What code may not say: words banned from every source, from the pure rings, or from all but the owners of a wall.
enum CodeRules {
    struct Ban {
        let word: String
        let cure: String
    }

    /// Banned in the pure rings: each of these makes two runs with the same input differ.
    static let impure: [Ban] = [
        ban("the time is handed in as an `Instant`", "Date(", "ContinuousClock", "SuspendingClock", "clock_gettime"),
        ban("chance is handed in as a seeded `Random`", "SystemRandomNumberGenerator", ".random(", ".shuffled()"),
        ban("chance is handed in as a seeded `Random`", ".randomElement(", "UUID"),
        ban("the caller gets a value or an effect and does the printing", "print(", "debugPrint("),
        ban("one turn is one straight call", "Task", "async", "await", "DispatchQueue"),
        ban("configuration is handed in", "getenv", "ProcessInfo", "CommandLine"),
        ban("addresses and hashes differ from run to run", "ObjectIdentifier", "Hasher(", "hashValue"),
    ].flatMap(\.self)

    /// Banned in all of Sources: each of these turns a surprise into a crash.
    static let crashing: [Ban] = ban(
        "`precondition` with a sentence is for our own broken invariants; anything else is a value", "fatalError(")

    /// Allowed only to owners of a wall. Strict memory safety makes the compiler demand the word `unsafe` at each use.
    static let unsafe: [Ban] =
        ban("raw memory ends at the walls: ask the wall's owner for a safe call", "unsafe")
        + ban("make it really Sendable, or keep it on the loop thread", "@unchecked")

    private static func ban(_ reason: String, _ words: String...) -> [Ban] {
        words.map { Ban(word: $0, cure: "No `\($0)` here: \(reason).") }
    }

    /// Everything that is wrong with the code of one file in Sources.
    static func findings(in file: SourceFile, target: Architecture.Target) -> [Finding] {
        var findings = matches(of: crashing, rule: "no-crash", in: file) + forced(in: file)
        if target.isPure { findings += matches(of: impure, rule: "pure", in: file) }
        if !target.ownsWall { findings += matches(of: unsafe, rule: "unsafe-owner", in: file) }
        if target.ring == .core { findings += hashed(in: file) }
        return findings.sorted { $0.line < $1.line }
    }

    private static func matches(of bans: [Ban], rule: String, in file: SourceFile) -> [Finding] {
        bans.flatMap { ban in
            file.occurrences(of: ban.word).map { file.finding(at: $0, rule: rule, cure: ban.cure) }
        }
    }

    /// `value!`, `try!` and `as!`, and types with a `!`: an exclamation mark that hangs on what stands before it.
    static func forced(in file: SourceFile) -> [Finding] {
        let code = file.code
        return file.occurrences(of: "!").filter { $0 > 0 && ends(code[$0 - 1]) && !isInequality(at: $0, in: code) }
            .map { offset in
                let cure =
                    switch word(before: offset, in: code) {
                    case "try": "No `try!`: handle the error or pass it on."
                    case "as": "No `as!`: make the type say it."
                    default: "No force-unwrap: resolve the optional at the edge, with `guard let` or `??`."
                    }
                return file.finding(at: offset, rule: "no-force", cure: cure)
            }
    }

    private static func ends(_ byte: UInt8) -> Bool {
        byte.isWordByte || [")", "]", "}", ">", "?", "`"].contains(UnicodeScalar(byte))
    }

    private static func isInequality(at offset: Int, in code: [UInt8]) -> Bool {
        offset + 1 < code.count && code[offset + 1] == UInt8(ascii: "=")
    }

    private static func word(before offset: Int, in code: [UInt8]) -> String {
        String(decoding: code[..<offset].reversed().prefix { $0.isWordByte }.reversed(), as: UTF8.self)
    }

    /// Hashed collections of the core. Their order differs from run to run, so each line that declares one promises in a
    /// comment that it is never walked: `// lookup only`.
    static func hashed(in file: SourceFile) -> [Finding] {
        let named = ["Set<", "Set(", "Dictionary<", "Dictionary("].flatMap { file.occurrences(of: $0) }
        return (named + dictionaries(in: file.code)).sorted()
            .filter { !file.comments[file.line(at: $0) - 1].contains("lookup only") }
            .map {
                file.finding(
                    at: $0, rule: "no-hash-order",
                    cure: "Use a sorted collection, or end the line with `// lookup only` if it is never walked.")
            }
    }

    /// Where `[Key: Value]` opens, as a type or as a literal. A bracket that hangs on a value is a subscript, `? :` is a
    /// choice, and the empty `[:]` takes the type that was declared elsewhere.
    static func dictionaries(in code: [UInt8]) -> [Int] {
        code.indices.filter { opening in
            guard code[opening] == UInt8(ascii: "["), opening == 0 || !ends(code[opening - 1]) else { return false }
            return colon(inBracketAt: opening, of: code)
        }
    }

    private static func colon(inBracketAt opening: Int, of code: [UInt8]) -> Bool {
        var depth = 0
        var choices = 0
        for offset in opening..<code.count {
            switch UnicodeScalar(code[offset]) {
            case "[", "(", "{": depth += 1
            case "]", ")", "}": depth -= 1
            case "?" where depth == 1 && code[offset - 1].isSpace: choices += 1
            case ":" where depth == 1 && choices > 0: choices -= 1
            case ":" where depth == 1: return code[opening + 1] != UInt8(ascii: ":")
            default: break
            }
            if depth == 0 { return false }
        }
        return false
    }
}
