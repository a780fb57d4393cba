/// Reads one JSON text (RFC 8259) into a table of values. Total: any bytes give the table or say where they stop being
/// what is asked for, and why. Containers that are open wait in a list of their own, so depth costs no stack.
struct JSONParser {
    private let bytes: [UInt8]
    private let rules: JSONRules
    private var offset = 0
    private var values: [JSONDocument.Value] = []
    /// Indices of the containers that have not ended, outermost first.
    private var open: [Int] = []

    init(_ bytes: [UInt8], rules: JSONRules) {
        self.bytes = bytes
        self.rules = rules
    }

    mutating func document() throws(JSONFault) -> [JSONDocument.Value] {
        guard bytes.count <= rules.bytesMax else {
            throw failure(.tooLarge, at: rules.bytesMax, "the text is longer than \(rules.bytesMax) bytes")
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw failure(.notJSON, at: 0, "the text begins with a byte order mark, which JSON does not have")
        }
        skipSpace()
        try value()
        while let container = open.last { try step(in: container) }
        skipSpace()
        guard offset == bytes.count else { throw failure("nothing may follow the value") }
        return values
    }

    /// The next item of a container, or its end.
    private mutating func step(in container: Int) throws(JSONFault) {
        let isObject = values[container].kind == .object
        let isEmpty = values.count == container + 1
        skipSpace()
        if take(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { return try close(container) }
        if !isEmpty {
            guard take(JSONByte.comma) else { throw failure("a comma or \(isObject ? "}" : "]") is expected") }
            skipSpace()
        }
        if isObject { try member() } else { try value() }
    }

    private mutating func close(_ container: Int) throws(JSONFault) {
        values[container].end = UInt32(offset)
        values[container].next = UInt32(values.count)
        open.removeLast()
        if !rules.allowsDuplicateKeys, values[container].kind == .object { try refuseDuplicates(in: container) }
    }

    private mutating func member() throws(JSONFault) {
        guard peek == JSONByte.quote else { throw failure("a key in double quotes is expected") }
        let start = offset
        try string()
        let end = offset
        skipSpace()
        guard take(JSONByte.colon) else { throw failure("a colon is expected") }
        skipSpace()
        try value(keyStart: start, keyEnd: end)
    }

    private mutating func value(keyStart: Int = 0, keyEnd: Int = 0) throws(JSONFault) {
        let start = offset
        let kind = try kindHere()
        values.append(
            JSONDocument.Value(
                kind: kind, keyStart: UInt32(keyStart), keyEnd: UInt32(keyEnd), start: UInt32(start)))
        switch kind {
        case .object, .array: return try enter()
        case .string: try string()
        case .number: try number()
        case .bool: try word(peek == UInt8(ascii: "t") ? "true" : "false")
        case .null: try word("null")
        }
        values[values.count - 1].end = UInt32(offset)
        values[values.count - 1].next = UInt32(values.count)
    }

    private func kindHere() throws(JSONFault) -> JSONDocument.Kind {
        guard let byte = peek else { throw failure("the text ends where a value is expected") }
        switch byte {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case JSONByte.quote: return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"): return .number
        default:
            if JSONByte.isDigit(byte) { return .number }
            throw failure("a value is expected")
        }
    }

    private mutating func enter() throws(JSONFault) {
        guard open.count < rules.depthMax else {
            throw failure(.tooDeep, at: offset, "values are nested more than \(rules.depthMax) deep")
        }
        open.append(values.count - 1)
        offset += 1
    }

    private mutating func number() throws(JSONFault) {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
    }

    private mutating func digits() throws(JSONFault) {
        let start = offset
        while let byte = peek, JSONByte.isDigit(byte) { offset += 1 }
        if offset == start { throw failure("a digit is expected") }
    }

    private mutating func word(_ word: String) throws(JSONFault) {
        guard bytes[offset...].starts(with: word.utf8) else { throw failure("\(word) is expected") }
        offset += word.utf8.count
    }

    private mutating func string() throws(JSONFault) {
        let start = offset
        offset += 1
        while let byte = peek {
            switch byte {
            case JSONByte.quote:
                offset += 1
                return
            case JSONByte.backslash: try escape()
            case ..<0x20: throw failure("a control character must be written as an escape")
            default:
                guard let length = UTF8Form.length(at: offset, in: bytes) else {
                    throw failure(.notUTF8, at: offset, "these bytes are not UTF-8")
                }
                offset += length
            }
        }
        throw failure(.notJSON, at: start, "this string does not end")
    }

    private mutating func escape() throws(JSONFault) {
        offset += 1
        guard let byte = peek else { throw failure("the text ends in an escape") }
        guard "\"\\/bfnrtu".utf8.contains(byte) else { throw failure("there is no such escape") }
        offset += 1
        if byte == UInt8(ascii: "u") { try surrogates() }
    }

    /// The four digits after `\u`, and the second half of a pair where the first asks for one.
    private mutating func surrogates() throws(JSONFault) {
        let start = offset - 2
        let first = try fourDigits()
        if Unicode.Scalar(first) != nil { return }
        if take(JSONByte.backslash), take(UInt8(ascii: "u")), JSONString.joined(first, try fourDigits()) != nil {
            return
        }
        throw failure(.loneSurrogate, at: start, "half of a surrogate pair stands alone")
    }

    private mutating func fourDigits() throws(JSONFault) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = peek.flatMap(JSONString.digit) else {
                throw failure("four hexadecimal digits are expected after \\u")
            }
            unit = unit << 4 | UInt32(digit)
            offset += 1
        }
        return unit
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, JSONByte.isSpace(byte) { offset += 1 }
    }

    private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func failure(_ reason: String) -> JSONFault { failure(.notJSON, at: offset, reason) }

    private func failure(_ kind: JSONFault.Kind, at offset: Int, _ reason: String) -> JSONFault {
        JSONFault(kind, at: offset, of: bytes, reason)
    }
}

extension JSONParser {
    /// Keys that say the same are neighbours once they are sorted, however they are spelt.
    private func refuseDuplicates(in container: Int) throws(JSONFault) {
        let keys = keys(of: container).sorted { ($0.says.lexicographicallyPrecedes($1.says)) }
        var second: UInt32?
        for (left, right) in zip(keys, keys.dropFirst()) where left.says == right.says {
            second = min(second ?? .max, max(left.start, right.start))
        }
        guard let second else { return }
        throw failure(.duplicateKey, at: Int(second), "this key stands in the object twice")
    }

    private func keys(of container: Int) -> [(says: ArraySlice<UInt8>, start: UInt32)] {
        var keys: [(says: ArraySlice<UInt8>, start: UInt32)] = []
        var index = container + 1
        while index < values.count {
            let value = values[index]
            keys.append((says(value), value.keyStart))
            index = Int(value.next)
        }
        return keys
    }

    private func says(_ member: JSONDocument.Value) -> ArraySlice<UInt8> {
        let text = bytes[Int(member.keyStart)..<Int(member.keyEnd)]
        return text.contains(JSONByte.backslash) ? JSONString.decoded(text)[...] : text.dropFirst().dropLast()
    }
}
