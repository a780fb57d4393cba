import ControlProtocol

/// How text looks: what the terminal at hand can show. A value, so that tests can say how wide and how plain.
struct Style: Hashable, Sendable {
    var usesColor = false
    /// The terminal is not known to show more.
    var asciiOnly = false
    var width = 80

    static let plain = Style()

    func bold(_ text: String) -> String { painted(text, "1") }
    func dim(_ text: String) -> String { painted(text, "2") }
    func red(_ text: String) -> String { painted(text, "31") }
    func green(_ text: String) -> String { painted(text, "32") }
    func yellow(_ text: String) -> String { painted(text, "33") }

    /// A name or a path, harmless and readable.
    func name(_ bytes: [UInt8]) -> String { NameText.printable(bytes, asciiOnly: asciiOnly) }

    /// The same of a path in the folder; the folder itself has no name there.
    func path(_ bytes: [UInt8]) -> String { bytes.isEmpty ? "." : name(bytes) }

    /// A name as a word of a command to copy: in quotes where a shell would read more into it.
    func argument(_ bytes: [UInt8]) -> String {
        let isPlain = bytes.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "+"):
                true
            default: false
            }
        }
        if isPlain, !bytes.isEmpty { return name(bytes) }
        // Only in quotes of this kind a shell reads what is escaped, a backslash of the name as well.
        let shown = name(bytes)
        if shown.contains("\\") { return "$'" + shown.replacing("'", with: #"\'"#) + "'" }
        return "'" + shown.replacing("'", with: #"'\''"#) + "'"
    }

    /// A line of text that came from elsewhere, with names that are escaped already.
    func foreign(_ text: String) -> String { NameText.harmless(text, asciiOnly: asciiOnly) }

    /// Broken between words so that no line is wider than the terminal (or than 100, which reads better).
    func wrapped(_ text: String, indent: Int = 0) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + Style.columns(line) + 1 + Style.columns(String(word)) > min(width, 100) {
                lines.append(margin + line)
                line = String(word)
            } else {
                line += (line.isEmpty ? "" : " ") + word
            }
        }
        return lines + [margin + line]
    }

    /// Columns of equal width with two spaces between them; the last one is as wide as it likes, so that a long path can
    /// be copied whole. Without rows there is nothing, not even the head.
    func table(_ head: [String], _ rows: [[String]]) -> [String] {
        guard !rows.isEmpty else { return [] }
        let widths = head.indices.map { column in ([head] + rows).map { Style.columns($0[column]) }.max() ?? 0 }
        func line(_ cells: [String]) -> String {
            zip(cells, widths).enumerated().map { index, cell in
                let padding = index == cells.count - 1 ? 0 : cell.1 - Style.columns(cell.0) + 2
                return cell.0 + String(repeating: " ", count: padding)
            }.joined()
        }
        return [dim(line(head))] + rows.map(line)
    }

    /// How wide text is on a terminal, without its colours. Good enough for columns: marks take no room of their own.
    static func columns(_ text: String) -> Int {
        var count = 0
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if scalar == "\u{1B}" { isEscaped = true }
            if !isEscaped {
                switch scalar.properties.generalCategory {
                case .nonspacingMark, .enclosingMark, .format: break
                default: count += isWide(scalar) ? 2 : 1  // not ours: Unicode grows
                }
            }
            if isEscaped, scalar == "m" { isEscaped = false }
        }
        return count
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }

    private func painted(_ text: String, _ code: String) -> String {
        usesColor ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

/// Numbers, sizes and times as people read them.
enum Words {
    static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(grouped(number)) \(number == 1 ? one : many ?? one + "s")"
    }

    /// `1,234,567`.
    static func grouped(_ number: Int) -> String {
        let digits = String(number)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3), text != "-" { text += "," }
            text.append(digit)
        }
        return text
    }

    /// `1.5 MiB`.
    static func bytes(_ count: Int) -> String {
        var value = Double(count)
        var units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][...]
        guard value >= 1024 else { return "\(count) B" }
        var unit = ""
        while value >= 1024, let next = units.popFirst() {
            value /= 1024
            unit = next
        }
        let tenths = Int(value * 10)
        return value < 10 ? "\(tenths / 10).\(tenths % 10) \(unit)" : "\(tenths / 10) \(unit)"
    }

    /// `3 min`: the largest unit that fits, rounded down.
    static func duration(milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds / 1_000)
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3_600: return "\(seconds / 60) min"
        case ..<86_400: return "\(seconds / 3_600) h"
        default: return Words.count(Int(seconds / 86_400), "day")
        }
    }

    /// `2026-01-01 00:00:00`, in UTC.
    static func time(_ milliseconds: Int64) -> String {
        String(TimeText.seconds(milliseconds).dropLast()).replacing("T", with: " ")
    }
}
