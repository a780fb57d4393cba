/// Tells code from comments and string literals, byte by byte, so that a rule about code never fires on prose.
/// Code inside a string's interpolation is code. Regex literals are not understood: a quote inside one would be read as
/// the start of a string, so write such a pattern as `try Regex("…")`.
struct Lexer {
    enum Kind { case code, comment, string }

    /// One kind per byte of the source.
    private(set) var kinds: [Kind]
    private let source: [UInt8]
    private var position = 0

    init(_ source: [UInt8]) {
        self.source = source
        kinds = [Kind](repeating: .code, count: source.count)
        readCode(insideInterpolation: false)
    }

    /// The source with everything but `kept` turned into spaces. Lines and columns stay where they are.
    func text(keeping kept: [Kind]) -> [UInt8] {
        zip(source, kinds).map { byte, kind in byte == UInt8(ascii: "\n") || kept.contains(kind) ? byte : 0x20 }
    }

    /// Reads until the end, or up to the parenthesis that closes the interpolation.
    private mutating func readCode(insideInterpolation: Bool) {
        var openParentheses = 0
        while let byte = byte(at: position) {
            if starts(with: "//") {
                readLineComment()
            } else if starts(with: "/*") {
                readBlockComment()
            } else if let delimiter = stringDelimiter() {
                readString(delimiter)
            } else if byte == UInt8(ascii: ")"), insideInterpolation, openParentheses == 0 {
                return
            } else {
                if byte == UInt8(ascii: "(") { openParentheses += 1 }
                if byte == UInt8(ascii: ")") { openParentheses -= 1 }
                position += 1
            }
        }
    }

    private mutating func readLineComment() {
        while let byte = byte(at: position), byte != UInt8(ascii: "\n") { mark(.comment, count: 1) }
    }

    /// Swift's block comments nest.
    private mutating func readBlockComment() {
        var depth = 0
        repeat {
            if starts(with: "/*") {
                depth += 1
                mark(.comment, count: 2)
            } else if starts(with: "*/") {
                depth -= 1
                mark(.comment, count: 2)
            } else {
                mark(.comment, count: 1)
            }
        } while depth > 0 && position < source.count
    }

    /// How the literal at `position` opens: `"`, `"""` or either behind some `#`. Nil when no literal opens here.
    private func stringDelimiter() -> (hashes: Int, quotes: Int)? {
        var hashes = 0
        while byte(at: position + hashes) == UInt8(ascii: "#") { hashes += 1 }
        guard starts(with: "\"", at: position + hashes) else { return nil }
        // Three quotes open a multi-line literal only at the end of a line; otherwise #"""# would swallow the file.
        let isMultiline = starts(with: "\"\"\"\n", at: position + hashes)
        return (hashes, isMultiline ? 3 : 1)
    }

    private mutating func readString(_ delimiter: (hashes: Int, quotes: Int)) {
        let hashes = String(repeating: "#", count: delimiter.hashes)
        let closing = String(repeating: "\"", count: delimiter.quotes) + hashes
        mark(.string, count: delimiter.hashes + delimiter.quotes)
        while let byte = byte(at: position) {
            if starts(with: closing) { return mark(.string, count: closing.utf8.count) }
            // A one-line literal that is not closed is a compile error; end it here so that the damage stays on its line.
            if byte == UInt8(ascii: "\n"), delimiter.quotes == 1 { return }
            if starts(with: "\\" + hashes + "(") {
                mark(.string, count: hashes.utf8.count + 2)
                readCode(insideInterpolation: true)
                mark(.string, count: 1)
            } else {
                mark(.string, count: starts(with: "\\" + hashes) ? hashes.utf8.count + 2 : 1)
            }
        }
    }

    private mutating func mark(_ kind: Kind, count: Int) {
        for _ in 0..<count where position < source.count {
            kinds[position] = kind
            position += 1
        }
    }

    private func starts(with text: String, at offset: Int? = nil) -> Bool {
        let start = offset ?? position
        return start < source.count && source[start...].starts(with: text.utf8)
    }

    private func byte(at index: Int) -> UInt8? {
        index < source.count ? source[index] : nil
    }
}
