import SyncModel

/// Names and paths are bytes; JSON and people want text. A name that is UTF-8 is that text; in any other, each byte that
/// is not part of UTF-8, and the backslash, is written `\xNN`, and its exact bytes stand beside it in base64 under
/// the same key with `Bytes` after it.
public enum NameText {
    public static func text(of bytes: [UInt8]) -> String {
        String(validating: bytes, as: UTF8.self) ?? escaping(bytes) { $0 != "\\" }
    }

    /// For people: also what a terminal could act upon, or what could pass for something else, is escaped. Everything but
    /// ASCII is, too, where the terminal cannot be expected to show it.
    public static func printable(_ bytes: [UInt8], asciiOnly: Bool = false) -> String {
        escaping(bytes) { $0 != "\\" && isHarmless($0) && !(asciiOnly && !$0.isASCII) }
    }

    public static func printable(_ text: String, asciiOnly: Bool = false) -> String {
        printable(Array(text.utf8), asciiOnly: asciiOnly)
    }

    /// What somebody typed, in a sentence about it: also where that is nothing something is to be seen.
    public static func typed(_ bytes: [UInt8], asciiOnly: Bool = false) -> String {
        bytes.isEmpty ? "\"\"" : printable(bytes, asciiOnly: asciiOnly)
    }

    public static func typed(_ text: String) -> String { typed(Array(text.utf8)) }

    /// In quotation marks: those in the name are escaped as well.
    public static func quoted(_ bytes: [UInt8], asciiOnly: Bool = false) -> String {
        "\"" + escaping(bytes) { $0 != "\\" && $0 != "\"" && isHarmless($0) && !(asciiOnly && !$0.isASCII) } + "\""
    }

    /// The same for a text in which names have been escaped already: its backslashes stay as they are.
    public static func harmless(_ text: String, asciiOnly: Bool = false) -> String {
        escaping(Array(text.utf8)) { isHarmless($0) && !(asciiOnly && !$0.isASCII) }
    }

    /// The name that is shown like this. Nil where nothing is escaped, or a backslash begins something else: no name is shown like that.
    public static func name(shownAs text: [UInt8]) -> [UInt8]? {
        var name: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                name.append(byte)
                continue
            }
            guard rest.popFirst() == UInt8(ascii: "x"), let high = rest.popFirst().flatMap(hexValue),
                let low = rest.popFirst().flatMap(hexValue)
            else { return nil }
            name.append(high << 4 | low)
        }
        return name.count < text.count && !name.contains(0) ? name : nil
    }

    /// False for what moves a cursor, turns text around, is invisible or ends a line.
    static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
            return false
        default: return true  // not ours: Unicode grows
        }
    }

    private static func escaping(_ bytes: [UInt8], unless isPlain: (Unicode.Scalar) -> Bool) -> String {
        var text = ""
        var rest = bytes.makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        var offset = 0
        while true {
            switch parser.parseScalar(from: &rest) {
            case .valid(let encoded):
                let scalar = UTF8.decode(encoded)
                if isPlain(scalar) { text.unicodeScalars.append(scalar) } else { escape(encoded, into: &text) }
                offset += encoded.count
            case .error(let length):
                escape(bytes[offset..<(offset + length)], into: &text)
                offset += length
            case .emptyInput: return text
            }
        }
    }

    private static func escape(_ bytes: some Collection<UInt8>, into text: inout String) {
        for byte in bytes { text += (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16) }
    }
}

/// RFC 4648 base64 with padding.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func text(of bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                let isFilled = place <= group.count
                text.append(isFilled ? alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for anything that `text(of:)` would not write.
    static func bytes(of text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 4) else { return nil }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: 4) {
            let group = digits[start..<(start + 4)].prefix { $0 != UInt8(ascii: "=") }
            guard group.count >= 2, group.count == 4 || start + 4 == digits.count else { return nil }
            var bits: UInt32 = 0
            for digit in group {
                guard let value = alphabet.firstIndex(of: digit) else { return nil }
                bits = bits << 6 | UInt32(value)
            }
            bits <<= UInt32(6 * (4 - group.count))
            for place in 0..<(group.count - 1) {
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(16 - 8 * place)))
            }
        }
        return Base64.text(of: bytes) == text ? bytes : nil
    }
}
