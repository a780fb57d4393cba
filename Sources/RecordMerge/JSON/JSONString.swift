/// Strings as they are written in JSON and as what they say. Both are bytes: Swift's `String` would take two spellings
/// of one letter for the same key.
enum JSONString {
    /// What a checked string says. `text` has its quotes.
    static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let content = text.dropFirst().dropLast()
        guard content.contains(JSONByte.backslash) else { return Array(content) }
        var result: [UInt8] = []
        result.reserveCapacity(content.count)
        var rest = content
        while let byte = rest.popFirst() {
            if byte == JSONByte.backslash { unescape(&rest, into: &result) } else { result.append(byte) }
        }
        return result
    }

    static func decodes(_ text: ArraySlice<UInt8>, to expected: [UInt8]) -> Bool {
        let content = text.dropFirst().dropLast()
        if content.contains(JSONByte.backslash) { return decoded(text) == expected }
        return content.elementsEqual(expected)
    }

    /// In quotes, with no more escapes than JSON asks for.
    static func encoded(_ content: [UInt8]) -> [UInt8] {
        var result = [JSONByte.quote]
        result.reserveCapacity(content.count + 2)
        for byte in content { append(byte, to: &result) }
        result.append(JSONByte.quote)
        return result
    }

    private static func append(_ byte: UInt8, to result: inout [UInt8]) {
        switch byte {
        case JSONByte.quote, JSONByte.backslash: result += [JSONByte.backslash, byte]
        case JSONByte.lineFeed: result += Array("\\n".utf8)
        case JSONByte.carriageReturn: result += Array("\\r".utf8)
        case JSONByte.tab: result += Array("\\t".utf8)
        case ..<0x20: result += Array((byte < 16 ? "\\u000" : "\\u00").utf8) + Array(String(byte, radix: 16).utf8)
        default: result.append(byte)
        }
    }

    /// What follows a backslash; the parser has checked it.
    private static func unescape(_ rest: inout ArraySlice<UInt8>, into result: inout [UInt8]) {
        guard let letter = rest.popFirst() else { return }
        switch letter {
        case UInt8(ascii: "b"): result.append(0x08)
        case UInt8(ascii: "f"): result.append(0x0C)
        case UInt8(ascii: "n"): result.append(JSONByte.lineFeed)
        case UInt8(ascii: "r"): result.append(JSONByte.carriageReturn)
        case UInt8(ascii: "t"): result.append(JSONByte.tab)
        case UInt8(ascii: "u"): result.append(contentsOf: String(scalar(&rest)).utf8)
        default: result.append(letter)
        }
    }

    private static func scalar(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar {
        let first = unit(rest.prefix(4))
        rest = rest.dropFirst(4)
        if let scalar = Unicode.Scalar(first) { return scalar }
        let second = unit(rest.dropFirst(2).prefix(4))
        rest = rest.dropFirst(6)
        return joined(first, second) ?? "\u{FFFD}"
    }

    /// Four hexadecimal digits; what is no digit counts as 0.
    private static func unit(_ digits: ArraySlice<UInt8>) -> UInt32 {
        digits.reduce(0) { $0 << 4 | UInt32(digit($1) ?? 0) }
    }

    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The scalar of a surrogate pair; nil if the two are none.
    static func joined(_ high: UInt32, _ low: UInt32) -> Unicode.Scalar? {
        guard (0xD800...0xDBFF).contains(high), (0xDC00...0xDFFF).contains(low) else { return nil }
        return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
    }
}

/// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond U+10FFFF.
enum UTF8Form {
    /// The bytes of the scalar that begins at `offset`; nil if none does.
    static func length(at offset: Int, in bytes: [UInt8]) -> Int? {
        let lead = bytes[offset]
        guard lead >= 0x80 else { return 1 }
        guard let (length, second) = form(of: lead), offset + length <= bytes.count else { return nil }
        guard second.contains(bytes[offset + 1]) else { return nil }
        for index in (offset + 2)..<max(offset + 2, offset + length) where bytes[index] & 0xC0 != 0x80 { return nil }
        return length
    }

    /// How long a scalar with this first byte is, and what its second byte may be.
    private static func form(of lead: UInt8) -> (length: Int, second: ClosedRange<UInt8>)? {
        switch lead {
        case 0xC2...0xDF: (2, 0x80...0xBF)
        case 0xE0: (3, 0xA0...0xBF)
        case 0xED: (3, 0x80...0x9F)
        case 0xE1...0xEF: (3, 0x80...0xBF)
        case 0xF0: (4, 0x90...0xBF)
        case 0xF1...0xF3: (4, 0x80...0xBF)
        case 0xF4: (4, 0x80...0x8F)
        default: nil
        }
    }
}
