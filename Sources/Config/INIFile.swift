/// The lines of an INI file as libinih understands them, with what libinih would swallow: line numbers, every bad line
/// instead of the first, lines cut at the end of its buffer, text behind a section's bracket.
import CInih

/// libinih is given one line at a time. Over a whole file it names only the first bad line, tells no line numbers
/// (Debian builds it without INI_HANDLER_LINENO) and takes an indented line for more of the value before it.
struct INIFile {
    struct Item {
        let line: Int
        let section: [UInt8]
        let key: [UInt8]
        let value: [UInt8]
        /// A comment follows the value on its line.
        let hasComment: Bool
    }

    struct Fault {
        let line: Int
        let found: [UInt8]
        let text: String
    }

    private(set) var items: [Item] = []
    /// Section headings, also of empty sections.
    private(set) var sections: [(line: Int, name: [UInt8])] = []
    private(set) var faults: [Fault] = []
    private var section: [UInt8] = []

    /// Longer than any line with a path can be.
    private static let lineBytesMax = Int(cinih_allow_lines(8_192))

    init(_ text: [UInt8]) {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let body = text.starts(with: byteOrderMark) ? text[byteOrderMark.count...] : text[...]
        let lines = body.split(separator: newline, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() { read(trimmed(line), at: index + 1) }
    }

    private mutating func read(_ line: ArraySlice<UInt8>, at number: Int) {
        guard let first = line.first, first != semicolon, first != UInt8(ascii: "#") else { return }
        if line.contains(0) {
            fault(number, line, "This line has a zero byte in it. The file is damaged or no text: write the line anew.")
        } else if line.count > INIFile.lineBytesMax {
            let limit = "at most \(INIFile.lineBytesMax) are read"
            fault(number, line, "This line has \(line.count) bytes, \(limit). Shorten it.")
        } else if first == UInt8(ascii: "[") {
            readHeading(line, at: number)
        } else {
            readPair(line, at: number)
        }
    }

    private mutating func readHeading(_ line: ArraySlice<UInt8>, at number: Int) {
        // A heading alone is never told of, so a pair of our own follows it.
        let parsed = Parsed(line + Array("\nkey = value".utf8))
        guard parsed.isSound, let name = parsed.pairs.first?.section, let end = line.firstIndex(of: UInt8(ascii: "]"))
        else { return fault(number, line, "A section is written in brackets, like [node].") }
        let rest = trimmed(line[(end + 1)...])
        guard rest.isEmpty || rest.first == semicolon || rest.first == UInt8(ascii: "#") else {
            return fault(number, line, "Nothing but a comment may follow the section on its line. Begin a new line.")
        }
        section = name
        sections.append((number, name))
    }

    private mutating func readPair(_ line: ArraySlice<UInt8>, at number: Int) {
        let parsed = Parsed(Array(line))
        guard parsed.isSound, let pair = parsed.pairs.first else {
            return fault(
                number, line, "This is neither `[section]` nor `key = value`. A comment begins with a semicolon.")
        }
        let separators = [UInt8(ascii: "="), UInt8(ascii: ":")]
        let written = line.drop { !separators.contains($0) }.dropFirst()
        items.append(
            Item(
                line: number, section: section, key: pair.key, value: pair.value,
                hasComment: !trimmed(written).elementsEqual(pair.value)))
    }

    private mutating func fault(_ line: Int, _ found: ArraySlice<UInt8>, _ text: String) {
        faults.append(Fault(line: line, found: Array(found), text: text))
    }
}

/// What libinih says of a few lines.
private final class Parsed {
    private(set) var pairs: [(section: [UInt8], key: [UInt8], value: [UInt8])] = []
    private(set) var isSound = false

    /// `lines` without a zero byte in them.
    init(_ lines: [UInt8]) {
        let text = (lines + [newline, 0]).map { CChar(bitPattern: $0) }
        let collector: ini_handler = { cell, section, key, value in
            guard let cell = unsafe cell, let section = unsafe section, let key = unsafe key,
                let value = unsafe value
            else { return 0 }
            let parsed = unsafe Unmanaged<Parsed>.fromOpaque(cell).takeUnretainedValue()
            unsafe parsed.pairs.append((Parsed.bytes(section), Parsed.bytes(key), Parsed.bytes(value)))
            return 1
        }
        isSound = unsafe ini_parse_string(text, collector, Unmanaged.passUnretained(self).toOpaque()) == 0
    }

    private static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
        var bytes: [UInt8] = []
        var next = unsafe text
        while unsafe next.pointee != 0 {
            bytes.append(UInt8(bitPattern: unsafe next.pointee))
            unsafe next += 1
        }
        return bytes
    }
}

private let newline = UInt8(ascii: "\n")
private let semicolon = UInt8(ascii: ";")

/// Without white space at either end, as C's `isspace` sees it; a carriage return is some.
private func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isSpace = { (byte: UInt8) in byte == 0x20 || (9...13).contains(byte) }
    let tail = bytes.drop(while: isSpace)
    guard let last = tail.lastIndex(where: { !isSpace($0) }) else { return [] }
    return tail[...last]
}
