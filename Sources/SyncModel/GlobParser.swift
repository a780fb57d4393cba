/// Reads the text of an `IgnorePattern` component by component. Brackets are read by the rules of git's wildmatch,
/// oddities included: `]` first is a member, a range may be escaped, `[:alpha:]` and its kin are known.
struct GlobParser {
    private let text: [UInt8]
    private var at = 0

    init(_ text: ArraySlice<UInt8>) {
        self.text = Array(text)
    }

    var isAtEnd: Bool { at == text.count }

    mutating func skipSlash() {
        at += 1
    }

    /// The tokens up to the next slash or the end. Nil if this can never match.
    mutating func component() -> (tokens: [Glob.Token], sets: [ByteSet])? {
        var tokens: [Glob.Token] = []
        var sets: [ByteSet] = []
        while at < text.count {
            switch text[at] {
            case UInt8(ascii: "/"):
                return (tokens, sets)
            case UInt8(ascii: "*"):
                tokens.append(.run)
            case UInt8(ascii: "?"):
                tokens.append(.any)
            case UInt8(ascii: "["):
                guard let set = bracket() else { return nil }
                tokens.append(.set(Int32(sets.count)))
                sets.append(set)
            case UInt8(ascii: "\\"):
                at += 1
                guard at < text.count else { return nil }
                // An escaped slash is a slash.
                if text[at] == UInt8(ascii: "/") { return (tokens, sets) }
                tokens.append(.byte(text[at]))
            default:
                tokens.append(.byte(text[at]))
            }
            at += 1
        }
        return (tokens, sets)
    }

    /// From `[` to its `]`, where it stops. Nil if there is no end, or a class nobody knows.
    private mutating func bracket() -> ByteSet? {
        var set = ByteSet()
        at += 1
        let isNegated = at < text.count && (text[at] == UInt8(ascii: "!") || text[at] == UInt8(ascii: "^"))
        if isNegated { at += 1 }
        /// The member before, if a range may start with it.
        var previous: UInt8?
        repeat {
            guard let member = member(after: previous, into: &set) else { return nil }
            switch member {
            case .byte(let byte): previous = byte
            case .several: previous = nil
            }
            at += 1
        } while at < text.count && text[at] != UInt8(ascii: "]")
        guard at < text.count else { return nil }
        if isNegated { set.invert() }
        return set
    }

    private enum Member {
        case byte(UInt8)
        case several
    }

    /// Adds what stands here and stops at its last byte.
    private mutating func member(after previous: UInt8?, into set: inout ByteSet) -> Member? {
        guard at < text.count else { return nil }
        let next = at + 1 < text.count ? text[at + 1] : nil
        if text[at] == UInt8(ascii: "-"), let previous, let next, next != UInt8(ascii: "]") {
            at += next == UInt8(ascii: "\\") ? 2 : 1
            guard at < text.count else { return nil }
            if previous <= text[at] { set.insert(previous...text[at]) }
            return .several
        }
        if text[at] == UInt8(ascii: "["), next == UInt8(ascii: ":") { return characterClass(into: &set) }
        if text[at] == UInt8(ascii: "\\") { at += 1 }
        guard at < text.count else { return nil }
        set.insert(text[at])
        return .byte(text[at])
    }

    /// `[:name:]`; a `[` that only looks like one is a member itself.
    private mutating func characterClass(into set: inout ByteSet) -> Member? {
        let start = at + 2
        guard let end = text[start...].firstIndex(of: UInt8(ascii: "]")) else { return nil }
        guard end > start, text[end - 1] == UInt8(ascii: ":") else {
            set.insert(text[at])
            return .byte(text[at])
        }
        guard let ranges = GlobParser.ranges(ofClass: text[start..<end - 1]) else { return nil }
        for range in ranges { set.insert(range) }
        at = end
        return .several
    }

    /// ASCII only, as in git: every other byte belongs to no class.
    private static func ranges(ofClass name: ArraySlice<UInt8>) -> [ClosedRange<UInt8>]? {
        switch String(decoding: name, as: UTF8.self) {
        case "alnum": [0x30...0x39, 0x41...0x5A, 0x61...0x7A]
        case "alpha": [0x41...0x5A, 0x61...0x7A]
        case "blank": [0x09...0x09, 0x20...0x20]
        case "cntrl": [0x00...0x1F, 0x7F...0x7F]
        case "digit": [0x30...0x39]
        case "graph": [0x21...0x7E]
        case "lower": [0x61...0x7A]
        case "print": [0x20...0x7E]
        case "punct": [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E]
        case "space": [0x09...0x0A, 0x0D...0x0D, 0x20...0x20]
        case "upper": [0x41...0x5A]
        case "xdigit": [0x30...0x39, 0x41...0x46, 0x61...0x66]
        default: nil
        }
    }
}
