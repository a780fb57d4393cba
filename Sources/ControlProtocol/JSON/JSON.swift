/// A JSON value as `syncd`, `syncctl` and the library pass it: members keep their order and numbers keep their text, so
/// that a value goes through us unchanged. Read by `JSONParser`, written by `JSONWriter`.
public enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSON])
    case object(JSONObject)

    public static func count(_ value: Int) -> JSON { .number(JSONNumber(value)) }

    public static func unsigned(_ value: UInt64) -> JSON { .number(JSONNumber(value)) }

    public var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    public var number: JSONNumber? {
        if case .number(let number) = self { number } else { nil }
    }

    public var int: Int? { number?.int }

    public var flag: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    public var items: [JSON]? {
        if case .array(let items) = self { items } else { nil }
    }

    public var members: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// A member of an object; nil for anything else.
    public subscript(key: String) -> JSON? { members?[key] }
}

/// A number by its text: 64-bit counters and long decimals survive, which a `Double` could not promise.
public struct JSONNumber: Hashable, Sendable {
    public let text: String

    public init(_ value: Int) { text = String(value) }
    public init(_ value: Int64) { text = String(value) }
    public init(_ value: UInt64) { text = String(value) }

    /// Nil for what JSON cannot say: infinities and no-numbers.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        text = String(describing: value)
    }

    /// For the parser, which has checked the text.
    init(checked text: String) {
        self.text = text
    }

    /// Nil unless it is a whole number written as one, within range.
    public var int: Int? { Int(text) }
    public var int64: Int64? { Int64(text) }
    public var uint64: UInt64? { UInt64(text) }
    public var double: Double? { Double(text) }
}

/// Members in the order in which they were written, each key once.
public struct JSONObject: Hashable, Sendable {
    public struct Member: Hashable, Sendable {
        public let key: String
        public var value: JSON

        /// Byte by byte, as JSON does. (What Swift takes for different is different, and soon told.)
        func isCalled(_ key: String) -> Bool { self.key == key && self.key.utf8.elementsEqual(key.utf8) }
    }

    public private(set) var members: [Member] = []

    public init() {}

    /// For the parser, which has seen that no key comes twice.
    init(unique members: [Member]) {
        self.members = members
    }

    /// Setting nil removes the member; a new key goes to the end.
    public subscript(key: String) -> JSON? {
        get { index(of: key).map { members[$0].value } }
        set {
            switch (index(of: key), newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(key: key, value: value))
            case (nil, nil): break
            }
        }
    }

    private func index(of key: String) -> Int? { members.firstIndex { $0.isCalled(key) } }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSON)...) {
        for (key, value) in elements { self[key] = value }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral, ExpressibleByBooleanLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(dictionaryLiteral elements: (String, JSON)...) {
        var object = JSONObject()
        for (key, value) in elements { object[key] = value }
        self = .object(object)
    }
}
