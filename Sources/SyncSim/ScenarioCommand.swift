import SyncModel

/// One line of a transcript, cut into words. A word in double quotes may hold spaces, and `\n \t \\ \" \xNN`.
struct ScenarioLine {
    let words: [[UInt8]]

    /// Nil if a quote is left open or an escape is none.
    init?(_ line: String) {
        var words: [[UInt8]] = []
        var word: [UInt8]?
        var isQuoted = false
        var bytes = Array(line.utf8)[...]
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                isQuoted.toggle()
                word = word ?? []
            case UInt8(ascii: "\\") where isQuoted:
                guard let escaped = ScenarioLine.escape(&bytes) else { return nil }
                word = (word ?? []) + [escaped]
            case UInt8(ascii: " ") where !isQuoted:
                if let done = word { words.append(done) }
                word = nil
            default:
                word = (word ?? []) + [byte]
            }
        }
        guard !isQuoted else { return nil }
        if let done = word { words.append(done) }
        self.words = words
    }

    private static func escape(_ bytes: inout ArraySlice<UInt8>) -> UInt8? {
        switch bytes.popFirst() {
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "\\"): return 0x5C
        case UInt8(ascii: "\""): return 0x22
        case UInt8(ascii: "x"):
            let digits = String(decoding: bytes.prefix(2), as: UTF8.self)
            bytes = bytes.dropFirst(2)
            return digits.utf8.count == 2 ? UInt8(digits, radix: 16) : nil
        default: return nil
        }
    }
}

/// Why a line of a transcript cannot be done: said in its place in the output.
struct ScenarioError: Error {
    let text: String
}

/// The words of a command, taken one after the other.
struct ScenarioWords {
    private var rest: ArraySlice<[UInt8]>

    init(_ line: ScenarioLine) {
        rest = line.words[...]
    }

    var isEmpty: Bool { rest.isEmpty }

    mutating func text(_ what: String) throws(ScenarioError) -> String {
        String(decoding: try bytes(what), as: UTF8.self)
    }

    mutating func bytes(_ what: String) throws(ScenarioError) -> [UInt8] {
        guard let word = rest.popFirst() else { throw ScenarioError(text: "\(what) is missing") }
        return word
    }

    /// A path of the folder; `.` is the folder itself.
    mutating func path(_ what: String = "a path") throws(ScenarioError) -> Path {
        let word = try bytes(what)
        if word == [UInt8(ascii: ".")] { return .root }
        guard let path = Path(word), !path.isRoot else {
            throw ScenarioError(text: "\(Path.escape(word)) is no path")
        }
        return path
    }

    mutating func number(_ what: String, radix: Int = 10) throws(ScenarioError) -> Int {
        let word = try text(what)
        guard let number = Int(word, radix: radix) else { throw ScenarioError(text: "\(word) is no number") }
        return number
    }

    /// A span like `+90s`, `-2h`, `500ms`, `3d`.
    mutating func milliseconds(_ what: String) throws(ScenarioError) -> Int64 {
        let word = try text(what)
        let units: [(String, Int64)] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)]
        for (unit, size) in units where word.hasSuffix(unit) {
            let digits = word.dropLast(unit.count)
            let signed = digits.hasPrefix("+") ? digits.dropFirst() : digits
            if let number = Int64(signed) { return number * size }
        }
        throw ScenarioError(text: "\(word) is no span of time: write 90s, -2h or 500ms")
    }

    func end() throws(ScenarioError) {
        if let word = rest.first { throw ScenarioError(text: "\(Path.escape(word)) is one word too many") }
    }
}
