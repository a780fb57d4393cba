/// Switches over our own enums answer every case, so that a new one is a question the compiler asks; and what names something is a type.
enum EnumRules {
    /// `default:` beside cases that are members of an enum. Where the enum is not ours and may grow, the line says so: `// not ours`.
    static func findings(defaultsIn file: SourceFile) -> [Finding] {
        file.occurrences(of: "default:").filter { offset in
            opensLine(at: offset, in: file.code) && !file.comments[file.line(at: offset) - 1].contains("not ours")
                && patterns(besideDefaultAt: offset, in: file.code).contains(where: isMember)
        }.map {
            file.finding(
                at: $0, rule: "no-default",
                cure: "Name every case of the enum, or end the line with `// not ours` if it is somebody else's.")
        }
    }

    /// Another name for a number or a text: the compiler takes one for the other.
    static func findings(plainNamesIn file: SourceFile) -> [Finding] {
        file.occurrences(of: "typealias ").filter { offset in
            let rest = String(decoding: file.code[offset...].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            let parts = rest.split(separator: "=", maxSplits: 1)
            return parts.count == 2 && plain.contains(parts[1].filter { $0 != " " })
        }.map {
            file.finding(
                at: $0, rule: "no-plain-name", cure: "Make it a struct: nobody can hand in another number then.")
        }
    }

    private static let plain: Set<String> = [
        "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "String", "[UInt8]",
        "Substring", "Double",
    ]

    /// Nothing stands before it on its line: neither the rest of a call, nor `@unknown`.
    private static func opensLine(at place: Int, in code: [UInt8]) -> Bool {
        code[..<place].reversed().prefix { $0 != UInt8(ascii: "\n") }.allSatisfy(\.isSpace)
    }

    /// What the cases of the same `switch` before it match.
    private static func patterns(besideDefaultAt offset: Int, in code: [UInt8]) -> [String] {
        var patterns: [String] = []
        var depth = 0
        for place in (0..<offset).reversed() {
            switch UnicodeScalar(code[place]) {
            case "}": depth += 1
            case "{" where depth == 0: return patterns
            case "{": depth -= 1
            case "c" where depth == 0 && opensCase(at: place, in: code):
                patterns += alternatives(of: code[(place + 4)...])
            default: break
            }
        }
        return patterns
    }

    private static func opensCase(at place: Int, in code: [UInt8]) -> Bool {
        code[place...].starts(with: Array("case ".utf8)) && opensLine(at: place, in: code)
    }

    /// Up to the colon, at the commas that are in no bracket.
    private static func alternatives(of code: ArraySlice<UInt8>) -> [String] {
        var result: [[UInt8]] = [[]]
        var depth = 0
        for byte in code {
            switch UnicodeScalar(byte) {
            case "(", "[", "{": depth += 1
            case ")", "]", "}": depth -= 1
            case ":" where depth == 0: return result.map { String(decoding: $0, as: UTF8.self) }
            case "," where depth == 0:
                result.append([])
                continue
            default: break
            }
            result[result.count - 1].append(byte)
        }
        return []
    }

    /// `.name`, also behind `let`, and within a tuple.
    private static func isMember(_ pattern: String) -> Bool {
        var text = Substring(pattern).drop { $0.isWhitespace }
        for word in ["let ", "var "] where text.hasPrefix(word) { text = text.dropFirst(4) }
        if text.first == "(" {
            let inside = alternatives(of: Array((text.dropFirst().prefix { $0 != ")" } + ":").utf8)[...])
            return inside.contains(where: isMember)
        }
        return text.first == "." && text.dropFirst().first?.isLetter == true
    }
}
