/// Crockford's base 32: letters and digits that people do not mistake for one another, in either case.
enum Base32 {
    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text.append(alphabet[Int(bits >> UInt32(count) & 31)])
            }
            bits &= 31
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(5 - count) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil when a character is none of the alphabet, or when bits are left over that no encoder writes.
    static func decode(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for character in text.utf8 {
            guard let value = value(of: character) else { return nil }
            bits = bits << 5 | UInt32(value)
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
            bits &= 0xFF
        }
        let leftOver = bits & (1 << UInt32(count) - 1)
        return count < 5 && leftOver == 0 ? bytes : nil
    }

    private static func value(of character: UInt8) -> Int? {
        switch character | 0x20 {
        case UInt8(ascii: "o"): 0
        case UInt8(ascii: "i"), UInt8(ascii: "l"): 1
        // Digits have the bit 0x20 set already.
        default: alphabet.firstIndex(of: character | 0x20)
        }
    }
}
