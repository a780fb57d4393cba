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
