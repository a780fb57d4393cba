/// The kinds of values in syncd.conf, read from bytes and written back. Every refusal says what may stand there.

/// What is wrong with a value, and what to write instead: the part of a message after the value itself.
struct ValueProblem: Error {
    let text: String
}

enum Value {
    /// It becomes part of file names, of messages and of the socket's name.
    static func nodeName(_ value: [UInt8]) throws(ValueProblem) -> String {
        let allowed = "Write 1 to 64 letters, digits, dots, dashes or underscores, such as alpha"
        guard !value.isEmpty else { throw ValueProblem(text: "A node needs a name. \(allowed).") }
        guard value.count <= 64 else {
            throw ValueProblem(text: "The name has \(value.count) bytes, 64 is the most. \(allowed).")
        }
        guard value.allSatisfy(isOfName) else {
            throw ValueProblem(text: "Spaces, letters outside of ASCII and other signs are not allowed. \(allowed).")
        }
        return String(decoding: value, as: UTF8.self)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    static func word<Word: RawRepresentable & CaseIterable>(_ value: [UInt8]) throws(ValueProblem) -> Word
    where Word.RawValue == String {
        for word in Word.allCases where value.elementsEqual(word.rawValue.utf8) { return word }
        throw ValueProblem(text: "Write \(Word.allCases.map(\.rawValue).joined(separator: " or ")).")
    }

    /// Absolute, and made regular: no `//`, no `.`, no slash at the end.
    static func path(_ value: [UInt8], example: String) throws(ValueProblem) -> [UInt8] {
        let remedy = "Write an absolute path, such as \(example)."
        guard !value.isEmpty else { throw ValueProblem(text: "A path is missing. \(remedy)") }
        guard value.first == slash else { throw ValueProblem(text: "This is no absolute path. \(remedy)") }
        let parts = value.split(separator: slash).filter { !$0.elementsEqual([dot]) }
        guard !parts.contains(where: { $0.elementsEqual([dot, dot]) }) else {
            throw ValueProblem(text: "A path may not go up with `..`. \(remedy)")
        }
        guard !value.contains(where: { $0 < 0x20 }) else {
            throw ValueProblem(text: "This path has a control character in it. \(remedy)")
        }
        guard value.count <= 4_095, parts.allSatisfy({ $0.count <= 255 }) else {
            throw ValueProblem(text: "This path is longer than Linux allows (4095 bytes, 255 for each name). \(remedy)")
        }
        return parts.isEmpty ? [slash] : parts.flatMap { [slash] + $0 }
    }

    /// A path that fits the address of a unix socket.
    static func socket(_ value: [UInt8], example: String) throws(ValueProblem) -> [UInt8] {
        let path = try path(value, example: example)
        guard path.count <= 107 else {
            throw ValueProblem(
                text: "The path of a socket has 107 bytes at most, this has \(path.count). "
                    + "Write a shorter one, such as \(example).")
        }
        return path
    }

    static func command(_ value: [UInt8]) throws(ValueProblem) -> [UInt8]? {
        guard !value.contains(where: { $0 < 0x20 && $0 != 0x09 }) else {
            throw ValueProblem(text: "This command has a control character in it. Put the command into a script.")
        }
        return value.isEmpty ? nil : value
    }

    private static let slash = UInt8(ascii: "/")
    private static let dot = UInt8(ascii: ".")
}

extension Value {
    static func number(_ value: [UInt8], in range: ClosedRange<Int>, example: String) throws(ValueProblem) -> Int {
        guard let number = digits(value[...]).flatMap({ Int(exactly: $0) }), range.contains(number) else {
            throw ValueProblem(
                text: "Write a whole number from \(range.lowerBound) to \(range.upperBound), such as \(example).")
        }
        return number
    }

    private static let units: [(name: String, shift: UInt64)] = [
        ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10), ("B", 0), ("", 0),
    ]

    /// Bytes: a number with a unit of 1024, or without.
    static func size(_ value: [UInt8], in range: ClosedRange<UInt64>, example: String) throws(ValueProblem) -> UInt64 {
        let remedy = "Write a whole number with B, KiB, MiB, GiB or TiB, such as \(example)."
        guard let bytes = bytes(value) else { throw ValueProblem(text: "This is no size. \(remedy)") }
        guard range.contains(bytes) else {
            let least = String(decoding: text(ofSize: range.lowerBound), as: UTF8.self)
            let most = String(decoding: text(ofSize: range.upperBound), as: UTF8.self)
            throw ValueProblem(text: "From \(least) to \(most) is allowed. \(remedy)")
        }
        return bytes
    }

    static func reserve(_ value: [UInt8]) throws(ValueProblem) -> Configuration.Reserve {
        if value.last == UInt8(ascii: "%"), let percent = digits(value.dropLast()), percent <= 90 {
            return .percent(Int(percent))
        }
        if let bytes = bytes(value), bytes <= 1 << 60 { return .bytes(bytes) }
        throw ValueProblem(text: "Write how much stays free: 0% to 90% of the file system, or a size such as 2GiB.")
    }

    static func text(of reserve: Configuration.Reserve) -> [UInt8] {
        switch reserve {
        case .percent(let percent): Array("\(percent)%".utf8)
        case .bytes(let bytes): text(ofSize: bytes)
        }
    }

    /// In the largest unit that divides it.
    static func text(ofSize bytes: UInt64) -> [UInt8] {
        let unit = units.dropLast(2).first { bytes > 0 && bytes & (1 << $0.shift - 1) == 0 }
        return Array("\(bytes >> (unit?.shift ?? 0))\(unit?.name ?? "")".utf8)
    }

    private static func bytes(_ value: [UInt8]) -> UInt64? {
        let number = value.prefix { (0x30...0x39).contains($0) }
        let name = String(decoding: value[number.count...].drop { $0 == 0x20 }, as: UTF8.self)
        guard let unit = units.first(where: { $0.name.lowercased() == name.lowercased() }) else { return nil }
        guard let count = digits(number) else { return nil }
        let product = count.multipliedReportingOverflow(by: 1 << unit.shift)
        return product.overflow ? nil : product.partialValue
    }

    /// Nil unless these are decimal digits, one at least, and the number fits.
    private static func digits(_ value: ArraySlice<UInt8>) -> UInt64? {
        guard value.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt64(String(decoding: value, as: UTF8.self))
    }
}
