import SyncModel

/// What a document or a parameter is read with: typed access to the members of an object, with errors that name the place.

/// A document that is JSON, but not what was expected. The other program may be newer.
public struct DocumentError: Error, Hashable, Sendable {
    /// Dotted, as in `folder.files` or `versions[3].id`; empty for the document as a whole.
    public let place: String
    public let expected: String

    public init(place: String, expected: String) {
        self.place = place
        self.expected = expected
    }

    public var text: String { (place.isEmpty ? "it" : place) + " should be \(expected)" }
}

public protocol ControlDocument: Hashable, Sendable {
    init(json: JSON) throws(DocumentError)
    var json: JSON { get }
}

struct Fields {
    private let object: JSONObject
    /// Said only where something is wrong.
    private let place: () -> String

    init(_ json: JSON, in place: @escaping () -> String = { "" }) throws(DocumentError) {
        guard let object = json.members else { throw DocumentError(place: place(), expected: "an object") }
        self.object = object
        self.place = place
    }

    /// All members, for documents that hand some of them on.
    var all: JSONObject { object }

    /// An absent member and a null are the same.
    func has(_ key: String) -> Bool { value(key) != nil }

    func required(_ key: String) throws(DocumentError) -> JSON { try must(key, value(key), "present") }

    func text(_ key: String) throws(DocumentError) -> String { try must(key, value(key)?.text, "text") }

    func optionalText(_ key: String) throws(DocumentError) -> String? { has(key) ? try text(key) : nil }

    func texts(_ key: String) throws(DocumentError) -> [String] {
        try must(key, value(key)?.items?.map(\.text), "a list of texts").map { (text) throws(DocumentError) in
            try must(key, text, "a list of texts")
        }
    }

    func code(_ key: String) throws(DocumentError) -> CodeText { CodeText(text: try text(key)) }

    /// Absent means false.
    func flag(_ key: String) throws(DocumentError) -> Bool {
        has(key) ? try must(key, value(key)?.flag, "true or false") : false
    }

    func count(_ key: String) throws(DocumentError) -> Int {
        guard let count = value(key)?.int, count >= 0 else { throw failure(key, "a whole number, 0 or more") }
        return count
    }

    func optionalCount(_ key: String) throws(DocumentError) -> Int? { has(key) ? try count(key) : nil }

    func unsigned(_ key: String) throws(DocumentError) -> UInt64 {
        try must(key, value(key)?.number?.uint64, "a whole number, 0 or more")
    }

    func optionalUnsigned(_ key: String) throws(DocumentError) -> UInt64? { has(key) ? try unsigned(key) : nil }

    /// RFC 3339, as wall milliseconds.
    func time(_ key: String) throws(DocumentError) -> Int64 {
        try must(key, value(key)?.text.flatMap(TimeText.parse), "a time such as 2026-01-01T00:00:00Z")
    }

    func optionalTime(_ key: String) throws(DocumentError) -> Int64? { has(key) ? try time(key) : nil }

    func name(_ key: String) throws(DocumentError) -> [UInt8] {
        guard let exact = value(key + "Bytes") else { return Array(try text(key).utf8) }
        return try must(key + "Bytes", exact.text.flatMap(Base64.bytes), "base64")
    }

    func optionalName(_ key: String) throws(DocumentError) -> [UInt8]? {
        has(key) || has(key + "Bytes") ? try name(key) : nil
    }

    func node(_ key: String) throws(DocumentError) -> NodeID {
        try must(key, NodeID(text: try text(key)), "sha256: and 64 hexadecimal digits")
    }

    func choice<Choice: RawRepresentable & CaseIterable>(_ key: String) throws(DocumentError) -> Choice
    where Choice.RawValue == String {
        let choice = Choice(rawValue: try text(key))
        return try must(key, choice, "one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
    }

    func optional<Value>(
        _ key: String, _ read: (Fields) throws(DocumentError) -> Value
    ) throws(DocumentError) -> Value? {
        guard let json = value(key) else { return nil }
        return try read(try Fields(json) { at(key) })
    }

    func one<Value>(_ key: String, _ read: (Fields) throws(DocumentError) -> Value) throws(DocumentError) -> Value {
        try read(try Fields(try required(key)) { at(key) })
    }

    func list<Value>(
        _ key: String, _ read: (Fields) throws(DocumentError) -> Value
    ) throws(DocumentError) -> [Value] {
        var values: [Value] = []
        for (index, json) in try must(key, value(key)?.items, "a list").enumerated() {
            values.append(try read(try Fields(json) { at("\(key)[\(index)]") }))
        }
        return values
    }

    func failure(_ key: String, _ expected: String) -> DocumentError {
        DocumentError(place: at(key), expected: expected)
    }

    private func value(_ key: String) -> JSON? {
        let value = object[key]
        return if case .null = value { nil } else { value }
    }

    private func must<Value>(
        _ key: String, _ value: Value?, _ expected: @autoclosure () -> String
    ) throws(DocumentError) -> Value {
        guard let value else { throw failure(key, expected()) }
        return value
    }

    private func at(_ key: String) -> String {
        let place = place()
        return place.isEmpty ? key : "\(place).\(key)"
    }
}

extension JSONObject {
    /// The same with one member more; a nil value adds none.
    func with(_ key: String, _ value: JSON?) -> JSONObject {
        guard let value else { return self }
        var object = self
        object[key] = value
        return object
    }

    /// A name that need not be UTF-8: its text, and its bytes beside it where the text cannot tell them.
    func with(_ key: String, name: [UInt8]?) -> JSONObject {
        guard let name else { return self }
        let isText = String(validating: name, as: UTF8.self) != nil
        return with(key, .string(NameText.text(of: name)))
            .with(key + "Bytes", isText ? nil : .string(Base64.text(of: name)))
    }

    func with(_ key: String, seconds milliseconds: Int64?) -> JSONObject {
        with(key, milliseconds.map { .string(TimeText.seconds($0)) })
    }

    func with<Element>(_ key: String, list: [Element], _ write: (Element) -> JSONObject) -> JSONObject {
        with(key, .array(list.map { .object(write($0)) }))
    }
}
