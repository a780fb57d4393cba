/// Reads one JSON value (RFC 8259). Total: any bytes give a value or say at which byte they stop being JSON and why.
/// Stricter than the standard where laxity hides mistakes: a key that comes twice and a lone surrogate are refused.

public struct JSONError: Error, Hashable, Sendable {
    /// Counted in bytes from the beginning of the text.
    public let offset: Int
    /// What was expected there, or what is not allowed.
    public let reason: String

    public init(offset: Int, reason: String) {
        self.offset = offset
        self.reason = reason
    }
}

extension JSON {
    public static let depthMax = 64

    /// Exactly one value with nothing but white space around it.
    public init(parsing bytes: [UInt8], depthMax: Int = JSON.depthMax) throws(JSONError) {
        var parser = JSONParser(bytes: bytes, depthMax: depthMax)
        self = try parser.document()
    }
}

private struct JSONParser {
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    private static let fewKeys = 16

    private let bytes: [UInt8]
    private let depthMax: Int
    private var offset = 0
    private var depth = 0

    init(bytes: [UInt8], depthMax: Int) {
        self.bytes = bytes
        self.depthMax = depthMax
    }

    mutating func document() throws(JSONError) -> JSON {
        let value = try value()
        skipSpace()
        guard offset == bytes.count else { throw failure("nothing may follow the value") }
        return value
    }

    private mutating func value() throws(JSONError) -> JSON {
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw failure("the text ends where a value is expected")
        case let byte? where byte == UInt8(ascii: "-") || JSONParser.digits.contains(byte):
            return .number(try number())
        default: throw failure("a value is expected")
        }
    }

    private mutating func object() throws(JSONError) -> JSONObject {
        try enter()
        var members: [JSONObject.Member] = []
        var many: Set<[UInt8]> = []
        if take(UInt8(ascii: "}"), skipping: true) { return leave(with: JSONObject()) }
        repeat {
            skipSpace()
            let start = offset
            guard peek == UInt8(ascii: "\"") else { throw failure("a key in double quotes is expected") }
            let key = try string()
            guard JSONParser.isNew(key, among: members, &many) else {
                throw JSONError(offset: start, reason: "this key stands in the object twice")
            }
            guard take(UInt8(ascii: ":"), skipping: true) else { throw failure("a colon is expected") }
            members.append(JSONObject.Member(key: key, value: try value()))
        } while take(UInt8(ascii: ","), skipping: true)
        guard take(UInt8(ascii: "}"), skipping: true) else { throw failure("a comma or } is expected") }
        return leave(with: JSONObject(unique: members))
    }

    /// `many` holds the keys, for lookup only, once there are so many that it costs less to keep them than to go through them.
    private static func isNew(_ key: String, among members: [JSONObject.Member], _ many: inout Set<[UInt8]>) -> Bool {
        if members.count < JSONParser.fewKeys { return !members.contains { $0.isCalled(key) } }
        if many.isEmpty { for member in members { many.insert(Array(member.key.utf8)) } }
        return many.insert(Array(key.utf8)).inserted
    }

    private mutating func array() throws(JSONError) -> [JSON] {
        try enter()
        var items: [JSON] = []
        if take(UInt8(ascii: "]"), skipping: true) { return leave(with: items) }
        repeat {
            items.append(try value())
        } while take(UInt8(ascii: ","), skipping: true)
        guard take(UInt8(ascii: "]"), skipping: true) else { throw failure("a comma or ] is expected") }
        return leave(with: items)
    }

    private mutating func string() throws(JSONError) -> String {
        let start = offset
        offset += 1
        // What stands before an escape; most strings have none, and are taken as they are.
        var content: [UInt8] = []
        var plain = offset
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                let rest = bytes[plain..<offset]
                offset += 1
                return try text(content.isEmpty ? rest : content + rest, from: start)
            case UInt8(ascii: "\\"):
                content.append(contentsOf: bytes[plain..<offset])
                content.append(contentsOf: try escape())
                plain = offset
            case ..<0x20: throw failure("a control character must be written as an escape")
            default: offset += 1
            }
        }
        throw JSONError(offset: start, reason: "this string does not end")
    }

    /// (What is no UTF-8 is mended in the making, and differs then.)
    private func text(_ content: ArraySlice<UInt8>, from start: Int) throws(JSONError) -> String {
        let text = String(decoding: content, as: UTF8.self)
        guard text.utf8.elementsEqual(content) else {
            throw JSONError(offset: start, reason: "this string is not UTF-8")
        }
        return text
    }

    private mutating func escape() throws(JSONError) -> [UInt8] {
        offset += 1
        guard let byte = peek else { throw failure("the text ends in an escape") }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return Array(String(Character(try scalar())).utf8)
        default: throw JSONError(offset: offset - 1, reason: "there is no such escape")
        }
    }

    /// The four digits after `\u`, and the second half of a pair where the first asks for one.
    private mutating func scalar() throws(JSONError) -> Unicode.Scalar {
        let start = offset - 2
        let first = try fourDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        if first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) {
            let second = try fourDigits()
            if (0xDC00...0xDFFF).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
            {
                return scalar
            }
        }
        throw JSONError(offset: start, reason: "half of a surrogate pair stands alone")
    }

    private mutating func fourDigits() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = peek.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw failure("four hexadecimal digits are expected after \\u")
            }
            value = value << 4 | UInt32(digit)
            offset += 1
        }
        return value
    }

    private mutating func number() throws(JSONError) -> JSONNumber {
        let start = offset
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        return JSONNumber(checked: String(decoding: bytes[start..<offset], as: UTF8.self))
    }

    private mutating func digits() throws(JSONError) {
        let start = offset
        while let byte = peek, JSONParser.digits.contains(byte) { offset += 1 }
        if offset == start { throw failure("a digit is expected") }
    }

    private mutating func word(_ word: String, _ value: JSON) throws(JSONError) -> JSON {
        guard bytes[offset...].starts(with: word.utf8) else { throw failure("\(word) is expected") }
        offset += word.utf8.count
        return value
    }

    private mutating func enter() throws(JSONError) {
        guard depth < depthMax else { throw failure("values are nested more than \(depthMax) deep") }
        depth += 1
        offset += 1
    }

    private mutating func leave<Value>(with value: Value) -> Value {
        depth -= 1
        return value
    }

    private mutating func take(_ byte: UInt8, skipping: Bool = false) -> Bool {
        if skipping { skipSpace() }
        guard peek == byte else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func failure(_ reason: String) -> JSONError { JSONError(offset: offset, reason: reason) }
}
