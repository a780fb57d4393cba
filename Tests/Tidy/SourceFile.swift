/// One Swift file as the rules see it: its code without comments and literals, its lines, and where a word occurs.
struct SourceFile {
    let path: String
    /// Comments and string literals blanked out; the same length and lines as the original.
    let code: [UInt8]
    /// Only comments blanked out: the manifest keeps its names in string literals.
    let codeAndStrings: [UInt8]
    let lines: [Substring]
    /// The comment on each line, without the code beside it.
    let comments: [Substring]
    private let lineStarts: [Int]

    init(path: String, text: String) {
        self.path = path
        let bytes = Array(text.utf8)
        let lexer = Lexer(bytes)
        code = lexer.text(keeping: [.code])
        codeAndStrings = lexer.text(keeping: [.code, .string])
        lines = Self.lines(of: bytes)
        comments = Self.lines(of: lexer.text(keeping: [.comment]))
        lineStarts = [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
    }

    var codeLines: [Substring] { Self.lines(of: code) }

    /// Line number of a byte, counted from 1.
    func line(at offset: Int) -> Int {
        lineStarts.partitioningIndex { $0 > offset }
    }

    func finding(at offset: Int, rule: String, cure: String) -> Finding {
        Finding(file: path, line: line(at: offset), rule: rule, cure: cure)
    }

    /// Where `needle` stands in code. An end of the needle that is a letter or digit must also end a word there, so that
    /// `Task` is not found in `TaskList`, nor `time(` in `runtime(`.
    func occurrences(of needle: String) -> [Int] {
        let wanted = Array(needle.utf8)
        guard let first = wanted.first, let last = wanted.last, code.count >= wanted.count else { return [] }
        return (0...(code.count - wanted.count)).filter { start in
            guard code[start] == first, code[start..<(start + wanted.count)].elementsEqual(wanted) else { return false }
            if first.isWordByte, start > 0, code[start - 1].isWordByte { return false }
            let end = start + wanted.count
            return !(last.isWordByte && end < code.count && code[end].isWordByte)
        }
    }

    private static func lines(of bytes: [UInt8]) -> [Substring] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }
}

extension UInt8 {
    /// Part of an identifier or number. Every byte above ASCII counts: Swift identifiers may hold it.
    var isWordByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
        default: false
        }
    }

    var isSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A }
}

extension Array {
    /// Index of the first element for which the predicate holds, in an array where it holds for a tail.
    fileprivate func partitioningIndex(where belongsToTail: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if belongsToTail(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
