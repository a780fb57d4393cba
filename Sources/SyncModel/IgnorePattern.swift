/// One line of a `.syncignore` file, ready to be matched. See gitignore(5) for what the syntax means.
///
/// A pattern is a row of globs, one per path component, with `**` between them. Both levels are matched greedily: after
/// a star only the latest one is ever gone back to, so time grows with the product of the lengths and never beyond.
struct IgnorePattern: Hashable, Sendable {
    /// Begins with `!`: brings back what an earlier line left out.
    private(set) var isNegated = false
    /// Ends with `/`.
    private(set) var isDirectoryOnly = false
    /// Has a slash at its start or inside: is matched against the path below the file's directory, else against the
    /// name alone.
    private(set) var isAnchored = false
    private var segments: [Segment] = []

    private enum Segment: Hashable, Sendable {
        case glob(Glob)
        /// `**` as a whole component: any number of directories, or none. Never last: another glob follows.
        case directories
    }

    /// Nil for a line that can never match.
    init?(line: ArraySlice<UInt8>) {
        var rest = line
        if rest.first == UInt8(ascii: "!") {
            isNegated = true
            rest = rest.dropFirst()
        }
        if rest.last == UInt8(ascii: "/") {
            isDirectoryOnly = true
            rest = rest.dropLast()
        }
        isAnchored = rest.contains(UInt8(ascii: "/"))
        if rest.first == UInt8(ascii: "/") { rest = rest.dropFirst() }
        if rest.isEmpty || rest.contains(0) || !parse(rest) { return nil }
    }

    /// Against `path[start..<end]`, which is one component unless the pattern is anchored.
    func matches(_ path: [UInt8], from start: Int, to end: Int) -> Bool {
        var at = start
        var segment = 0
        var retry: (segment: Int, at: Int)?
        while at <= end {
            if segment < segments.count {
                switch segments[segment] {
                case .directories:
                    segment += 1
                    retry = (segment, at)
                    continue
                case .glob(let glob):
                    let nameEnd = min(path.firstSlash(from: at), end)
                    if glob.matches(path, from: at, to: nameEnd) {
                        segment += 1
                        at = nameEnd + 1
                        continue
                    }
                }
            }
            guard let last = retry else { return false }
            at = min(path.firstSlash(from: last.at), end) + 1
            segment = last.segment
            retry = (segment, at)
        }
        return segment == segments.count
    }

    /// False for what can never match.
    private mutating func parse(_ text: ArraySlice<UInt8>) -> Bool {
        var parser = GlobParser(text)
        while true {
            guard let (tokens, sets) = parser.component() else { return false }
            let isLast = parser.isAtEnd
            if isAnchored, tokens.count > 1, tokens.allSatisfy({ $0 == .run }) {
                if segments.last != .directories { segments.append(.directories) }
                // At the end it means everything inside, so at least one more component.
                if isLast { segments.append(.glob(Glob([.run], []))) }
            } else {
                segments.append(.glob(Glob(tokens, sets)))
            }
            if isLast { return true }
            parser.skipSlash()
        }
    }
}

/// A pattern for one path component.
enum Glob: Hashable, Sendable {
    case literal([UInt8])
    /// A star, then these bytes.
    case suffix([UInt8])
    /// `shortest` is the length of the shortest name that can match.
    case tokens([Token], sets: [ByteSet], shortest: Int)

    enum Token: Hashable, Sendable {
        case byte(UInt8)
        /// `?`
        case any
        /// `*`
        case run
        /// `[…]`, by its index in `sets`.
        case set(Int32)
    }

    init(_ tokens: [Token], _ sets: [ByteSet]) {
        let isSuffix = tokens.first == .run
        var bytes: [UInt8] = []
        for token in tokens.dropFirst(isSuffix ? 1 : 0) {
            if case .byte(let byte) = token { bytes.append(byte) }
        }
        if bytes.count == tokens.count - (isSuffix ? 1 : 0) {
            self = isSuffix ? .suffix(bytes) : .literal(bytes)
        } else {
            self = .tokens(tokens, sets: sets, shortest: tokens.count { $0 != .run })
        }
    }

    func matches(_ text: [UInt8], from start: Int, to end: Int) -> Bool {
        switch self {
        case .literal(let bytes):
            return end - start == bytes.count && Glob.ends(text, at: end, with: bytes)
        case .suffix(let bytes):
            return end - start >= bytes.count && Glob.ends(text, at: end, with: bytes)
        case .tokens(let tokens, let sets, let shortest):
            return end - start >= shortest && Glob.matches(tokens, sets, text, from: start, to: end)
        }
    }

    private static func ends(_ text: [UInt8], at end: Int, with bytes: [UInt8]) -> Bool {
        let start = end - bytes.count
        var index = bytes.count - 1
        while index >= 0 {
            if text[start + index] != bytes[index] { return false }
            index -= 1
        }
        return true
    }

    private static func matches(_ tokens: [Token], _ sets: [ByteSet], _ text: [UInt8], from start: Int, to end: Int)
        -> Bool
    {
        var at = start
        var token = 0
        var retry: (token: Int, at: Int)?
        while at < end {
            if token < tokens.count {
                let isMatch: Bool
                switch tokens[token] {
                case .run:
                    token += 1
                    retry = (token, at)
                    continue
                case .byte(let byte): isMatch = text[at] == byte
                case .any: isMatch = true
                case .set(let index): isMatch = sets[Int(index)].contains(text[at])
                }
                if isMatch {
                    token += 1
                    at += 1
                    continue
                }
            }
            guard let last = retry else { return false }
            token = last.token
            at = last.at + 1
            retry = (token, at)
        }
        while token < tokens.count, tokens[token] == .run { token += 1 }
        return token == tokens.count
    }
}
