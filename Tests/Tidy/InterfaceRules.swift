/// What `SyncKit` offers: the public declarations of its sources, one line each, and what may not be among them.
enum InterfaceRules {
    /// Without bodies, comments and line breaks, in the order of the source; of a protocol every requirement, of an enum every case.
    static func declarations(in file: SourceFile) -> [String] {
        let code = file.code
        var found: [String] = []
        var place = 0
        while let start = next(after: place, in: code) {
            let (text, end) = declaration(at: start, in: code)
            found.append(text)
            place = end
            guard let body = members(of: text) else { continue }
            found += lines(ofBlockAt: end, in: code).filter { $0.hasPrefix(body) }.map { "    \($0)" }
        }
        return found
    }

    /// Only protocols, values, and functions that make them: a class is something to inherit from, and to depend on.
    static func findings(classesIn file: SourceFile, except allowed: Set<String>) -> [Finding] {
        ["class", "actor", "open"].flatMap { word in
            file.occurrences(of: word).filter { offset in
                let line = file.codeLines[file.line(at: offset) - 1]
                let words = line.split { !$0.isLetter && !$0.isNumber }.map(String.init)
                return (words.contains("public") || words.first == "open")
                    && words.contains(word) && !words.contains { allowed.contains($0) } && !words.contains("func")
            }.map {
                file.finding(
                    at: $0, rule: "no-public-class", cure: "Offer a protocol or a value, and a function that makes it.")
            }
        }
    }

    /// A missing member is absent, and an element that cannot be decoded a failure: neither is quietly nil.
    static func findings(loosenedIn file: SourceFile) -> [Finding] {
        (file.occurrences(of: "decodeIfPresent")
            + file.occurrences(of: "try?").filter { offset in
                String(decoding: file.code[offset...].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self).contains(
                    "decode(")
            }).map {
                file.finding(
                    at: $0, rule: "no-loosened-type",
                    cure: "Let the type be strict: `LossyArray` or `FailableDecodable` keeps what fails.")
            }
    }

    private static func next(after place: Int, in code: [UInt8]) -> Int? {
        let word = Array("public ".utf8)
        return code.indices[place...].first { offset in
            code[offset...].starts(with: word) && (offset == 0 || !code[offset - 1].isWordByte)
                && !code[(offset + word.count)...].starts(with: Array("import".utf8))
        }
    }

    /// Up to its body or its value, or to the end of the line if no bracket is open.
    private static func declaration(at start: Int, in code: [UInt8]) -> (String, end: Int) {
        var depth = 0
        var end = start
        while end < code.count {
            switch UnicodeScalar(code[end]) {
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            case "{" where depth == 0, "=" where depth == 0 && !isAlias(code[start..<end]):
                return (joined(code[start..<end]), end)
            case "\n" where depth == 0: return (joined(code[start..<end]), end)
            default: break
            }
            end += 1
        }
        return (joined(code[start..<end]), end)
    }

    private static func isAlias(_ code: ArraySlice<UInt8>) -> Bool {
        String(decoding: code, as: UTF8.self).split(separator: " ").contains("typealias")
    }

    /// How the lines of the body begin that belong to the interface.
    private static func members(of declaration: String) -> String? {
        let words = declaration.split(separator: " ")
        if words.contains("protocol") { return "" }
        return words.contains("enum") ? "case " : nil
    }

    private static func lines(ofBlockAt start: Int, in code: [UInt8]) -> [String] {
        var depth = 0
        var end = start
        repeat {
            if code[end] == UInt8(ascii: "{") { depth += 1 }
            if code[end] == UInt8(ascii: "}") { depth -= 1 }
            end += 1
        } while depth > 0 && end < code.count
        return String(decoding: code[start..<end], as: UTF8.self).split(separator: "\n").dropFirst().dropLast()
            .map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }.map(String.init)
    }

    private static func joined(_ code: ArraySlice<UInt8>) -> String {
        String(decoding: code, as: UTF8.self).split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    }
}
