/// What documents say about the messages of the program, made from the one registry: the manual page
/// docs/man/syncd-messages.7 and the table in README.md. `make docs` writes them anew.
import SyncModel

enum MessageDocuments {
    static let manualPage = "docs/man/syncd-messages.7"
    static let readme = "README.md"

    private static let tableStart = "<!-- messages: written by make docs -->\n"
    private static let tableEnd = "<!-- end of messages -->\n"

    // MARK: The manual page

    static func manual(_ kinds: [MessageKind] = MessageRegistry.all) -> String {
        let opening = #"""
            .\" Written by make docs from Sources/SyncModel/Messages; changes made here are lost.
            .TH SYNCD-MESSAGES 7 "" syncd "syncd"
            .SH NAME
            syncd-messages \- what syncd and syncctl tell people, by code
            .SH DESCRIPTION
            Every alert, refusal, reason for waiting and line of the journal has a code that never changes its meaning.
            .B syncctl explain
            .I CODE
            shows what stands here. A message is
            .B info
            (worth knowing),
            .B warning
            (something waits or was decided that a person should look at) or
            .B serious
            (syncing of the folder or of a file stands still, or data needs a person).
            .SH MESSAGES

            """#
        return opening + kinds.map(entry).joined()
    }

    private static func entry(_ kind: MessageKind) -> String {
        let heals = kind.healsItself ? "goes away by itself" : "stays until somebody acts"
        let retry = kind.retry == .none ? "" : " Tried again \(kind.retry.text)."
        return """
            .TP
            .B \(escaped(kind.code.rawValue))
            .RI ( \(kind.severity.rawValue) "; \(heals))"
            \(escaped(kind.meaning))
            .IP
            \(escaped(kind.cure + retry))

            """
    }

    /// As roff wants it: no backslash, no hyphen that becomes a dash, no line that begins as a request.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += #"\e"#
            case "-": result += #"\-"#
            default: result.append(character)
            }
        }
        return result.hasPrefix(".") || result.hasPrefix("'") ? #"\&"# + result : result
    }

    // MARK: The table of the README

    static func table(_ kinds: [MessageKind] = MessageRegistry.all) -> String {
        let rows = kinds.map { kind in
            "| `\(kind.code.rawValue)` | \(kind.severity.rawValue) | \(kind.healsItself ? "yes" : "no") | "
                + "\(firstSentence(of: kind.meaning)) |\n"
        }
        return "| code | severity | heals itself | what happened |\n|---|---|---|---|\n" + rows.joined()
    }

    private static func firstSentence(of text: String) -> String {
        var sentence = ""
        for word in text.split(separator: " ") {
            sentence += sentence.isEmpty ? String(word) : " \(word)"
            if word.hasSuffix(".") { break }
        }
        return sentence.split(separator: "|").joined(separator: "\\|")
    }

    /// The README with this table in the place of the one it has; nil if it has no place for one.
    static func readme(_ text: String, with table: String) -> String? {
        guard let start = text.firstRange(of: tableStart), let end = text.firstRange(of: tableEnd),
            start.upperBound <= end.lowerBound
        else { return nil }
        return text[..<start.upperBound] + "\n" + table + "\n" + text[end.lowerBound...]
    }
}

/// That every code is met by a test: a scenario or a story that expects it, or a test that names it.
enum MessageCoverage {
    /// What nothing can raise yet, and why.
    static let notRaised: [MessageCode: String] = [
        .conflictIdentity: "docs/records.md: what was merged of two records is told by explain only",
        .repairExhausted: "docs/records.md: repair that puts records into quarantine always ends",
    ]

    /// What is raised, and by no test.
    static let notTested: [MessageCode: String] = [
        .programFault: "no test makes the program's own works fail"
    ]

    /// The codes that none of these files names. A comment names nothing.
    static func unnamed(_ codes: [MessageCode], in files: [SourceFile]) -> [MessageCode] {
        let texts = files.map { file in
            let comment = file.path.hasSuffix(".swift") ? "//" : "#"
            return file.lines.filter { !$0.drop { $0 == " " }.hasPrefix(comment) }.joined(separator: "\n")
        }
        return codes.filter { code in
            let member = ".\(caseName(of: code))"
            return !texts.contains { holds($0, code.rawValue) || holds($0, member) }
        }
    }

    /// `format.zero-length` is `.formatZeroLength`.
    private static func caseName(of code: MessageCode) -> String {
        let words = code.rawValue.split { $0 == "." || $0 == "-" }
        return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }

    /// As a word of its own: `.logNew` is not in `.logNewer`.
    private static func holds(_ text: String, _ word: String) -> Bool {
        text.ranges(of: word).contains { range in
            guard range.upperBound < text.endIndex else { return true }
            let next = text[range.upperBound]
            return !next.isLetter && next != "-"
        }
    }
}
