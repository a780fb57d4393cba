import RecordMerge

/// A JSON value on its way out of a model. Members stay in the order in which they were encoded.
indirect enum JSONTree: Hashable, Sendable {
    case object([Member])
    case array([JSONTree])
    /// A string, a number, a word, or any value kept as it was written.
    case text([UInt8])

    struct Member: Hashable, Sendable {
        /// UTF-8: of a `CodingKey`, or of a document.
        let key: [UInt8]
        var value: JSONTree
    }

    static let null = JSONTree.text(Array("null".utf8))

    static func string(_ text: String) -> JSONTree { .text(JSONText.string(text).bytes) }

    /// On one line, as edits put it in.
    var compact: [UInt8] {
        var result: [UInt8] = []
        write(into: &result, indent: nil)
        return result
    }

    /// A whole file: two spaces of indentation, a line feed at the end.
    var file: [UInt8] {
        var result: [UInt8] = []
        write(into: &result, indent: 0)
        return result + [UInt8(ascii: "\n")]
    }

    private func write(into result: inout [UInt8], indent: Int?) {
        switch self {
        case .text(let bytes): result += bytes
        case .array(let elements):
            write(elements, "[", "]", into: &result, indent: indent) { $0.write(into: &$1, indent: $2) }
        case .object(let members):
            write(members, "{", "}", into: &result, indent: indent) { member, result, indent in
                result += JSONText.string(String(decoding: member.key, as: UTF8.self)).bytes
                result += Array(": ".utf8)
                member.value.write(into: &result, indent: indent)
            }
        }
    }

    private func write<Item>(
        _ items: [Item], _ opening: String, _ closing: String, into result: inout [UInt8], indent: Int?,
        _ item: (Item, inout [UInt8], Int?) -> Void
    ) {
        result += Array(opening.utf8)
        for (index, element) in items.enumerated() {
            if index > 0 { result.append(UInt8(ascii: ",")) }
            if let indent {
                result += [UInt8(ascii: "\n")] + [UInt8](repeating: UInt8(ascii: " "), count: indent + 2)
            } else if index > 0 {
                result.append(UInt8(ascii: " "))
            }
            item(element, &result, indent.map { $0 + 2 })
        }
        if let indent, !items.isEmpty {
            result += [UInt8(ascii: "\n")] + [UInt8](repeating: UInt8(ascii: " "), count: indent)
        }
        result += Array(closing.utf8)
    }
}
