/// One JSON value as it is to be written: what registers hold and what edits put in. Checked when it is made, so
/// whatever takes one can trust it.
public struct JSONText: Hashable, Sendable {
    /// No white space around it.
    public let bytes: [UInt8]

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// A value of a document, as its author wrote it.
    public init(_ place: JSONDocument.Place, of document: JSONDocument) {
        bytes = Array(document.text(of: place))
    }

    public init(parsing bytes: [UInt8], rules: JSONRules = JSONRules()) throws(JSONFault) {
        let document = try JSONDocument(parsing: bytes, rules: rules)
        self.init(.root, of: document)
    }

    public static let null = JSONText(unchecked: Array("null".utf8))

    public static func integer(_ value: Int) -> JSONText {
        JSONText(unchecked: Array(String(value).utf8))
    }

    /// Nil for what is not UTF-8.
    public static func string(_ content: [UInt8]) -> JSONText? {
        let encoded = JSONString.encoded(content)
        return (try? JSONDocument(parsing: encoded)) == nil ? nil : JSONText(unchecked: encoded)
    }

    public static func string(_ content: String) -> JSONText {
        JSONText(unchecked: JSONString.encoded(Array(content.utf8)))
    }

    /// On one line.
    public static func array(_ elements: [JSONText]) -> JSONText {
        let inside = elements.map(\.bytes).joined(separator: [JSONByte.comma, JSONByte.space])
        return JSONText(unchecked: [UInt8(ascii: "[")] + inside + [UInt8(ascii: "]")])
    }

    /// On one line. Keys are not checked for coming twice.
    static func object(_ members: [(key: [UInt8], value: JSONText)]) -> JSONText {
        let inside = members.map { JSONString.encoded($0.key) + [JSONByte.colon, JSONByte.space] + $0.value.bytes }
        let joined = inside.joined(separator: [JSONByte.comma, JSONByte.space])
        return JSONText(unchecked: [UInt8(ascii: "{")] + joined + [UInt8(ascii: "}")])
    }

    public var kind: JSONDocument.Kind {
        switch bytes.first {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case JSONByte.quote: .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
        case UInt8(ascii: "n"): .null
        default: .number
        }
    }

    /// What a string says; nil for anything else.
    public var string: [UInt8]? { kind == .string ? JSONString.decoded(bytes[...]) : nil }
}

extension JSONText: CustomStringConvertible {
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}
