/// Writes JSON on one line, or indented for people. What a terminal could take for a command, and what could hide or
/// turn text around, is written as an escape: a file name can do no harm by being printed.
extension JSON {
    /// Compact, on one line, in UTF-8.
    public var bytes: [UInt8] {
        var writer = JSONWriter(isIndented: false)
        writer.write(self, level: 0)
        return writer.bytes
    }

    /// Indented by two spaces, for people.
    public var prettyText: String {
        var writer = JSONWriter(isIndented: true)
        writer.write(self, level: 0)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

private struct JSONWriter {
    private let isIndented: Bool
    private(set) var bytes: [UInt8] = []

    init(isIndented: Bool) {
        self.isIndented = isIndented
    }

    mutating func write(_ value: JSON, level: Int) {
        switch value {
        case .null: put("null")
        case .bool(let flag): put(flag ? "true" : "false")
        case .number(let number): put(number.text)
        case .string(let text): put(quoted: text)
        case .array(let items):
            list(items, between: "[", and: "]", level: level) { writer, item in
                writer.write(item, level: level + 1)
            }
        case .object(let object):
            list(object.members, between: "{", and: "}", level: level) { writer, member in
                writer.put(quoted: member.key)
                writer.put(writer.isIndented ? ": " : ":")
                writer.write(member.value, level: level + 1)
            }
        }
    }

    private mutating func list<Element>(
        _ elements: [Element], between open: String, and close: String, level: Int,
        write: (inout JSONWriter, Element) -> Void
    ) {
        put(open)
        for (index, element) in elements.enumerated() {
            if index > 0 { put(",") }
            newLine(level + 1)
            write(&self, element)
        }
        if !elements.isEmpty { newLine(level) }
        put(close)
    }

    private mutating func newLine(_ level: Int) {
        guard isIndented else { return }
        bytes.append(0x0A)
        bytes.append(contentsOf: [UInt8](repeating: 0x20, count: 2 * level))
    }

    private mutating func put(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func put(quoted text: String) {
        put("\"")
        if text.utf8.allSatisfy(JSONWriter.isPlain) {
            put(text)
        } else {
            for scalar in text.unicodeScalars { put(scalar) }
        }
        put("\"")
    }

    /// A character by itself that is never escaped.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": put("\\\"")
        case "\\": put("\\\\")
        case "\n": put("\\n")
        case "\r": put("\\r")
        case "\t": put("\\t")
        case _ where !NameText.isHarmless(scalar): put(escaped: scalar)
        default: if let encoded = UTF8.encode(scalar) { bytes.append(contentsOf: encoded) }
        }
    }

    private mutating func put(escaped scalar: Unicode.Scalar) {
        for unit in UTF16.encode(scalar).map(Array.init) ?? [] {
            let digits = String(unit, radix: 16)
            put("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
        }
    }
}
