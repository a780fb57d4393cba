import RecordMerge

/// Decodes any `Decodable` from a document that keeps every byte. Numbers are read from their text and never pass through a `Double` they
/// do not need, and `null` is a value like others: whoever decodes a type gets to see it.
struct TreeDecoder: Decoder {
    let source: DecodingSource
    let place: JSONDocument.Place
    let codingPath: [any CodingKey]

    var userInfo: [CodingUserInfoKey: Any] { source.userInfo }
    var kind: JSONDocument.Kind { source.document.kind(of: place) }
    var text: ArraySlice<UInt8> { source.document.text(of: place) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard kind == .object else { throw mismatch([String: String].self, "an object") }
        return KeyedDecodingContainer(KeyedReader<Key>(self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard kind == .array else { throw mismatch([String].self, "an array") }
        return ElementReader(self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func child(_ place: JSONDocument.Place, _ key: any CodingKey) -> TreeDecoder {
        TreeDecoder(source: source, place: place, codingPath: codingPath + [key])
    }

    func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
        let found = String(decoding: text.prefix(40), as: UTF8.self)
        let context = DecodingError.Context(
            codingPath: codingPath, debugDescription: "\(expected) was expected and \(found) found")
        return kind == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func corrupted(_ text: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: text))
    }
}

/// What all decoders of one document share.
final class DecodingSource {
    let document: JSONDocument
    let userInfo: [CodingUserInfoKey: Any]
    /// Members somebody asked for, by the place of their object. Nil unless wanted: it costs.
    var asked: [JSONDocument.Place: Set<[UInt8]>]?

    init(_ document: JSONDocument, userInfo: [CodingUserInfoKey: Any], notesAsked: Bool = false) {
        self.document = document
        self.userInfo = userInfo
        asked = notesAsked ? [:] : nil
    }

    var root: TreeDecoder { TreeDecoder(source: self, place: .root, codingPath: []) }
}

extension TreeDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { kind == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard kind == .bool else { throw mismatch(type, "true or false") }
        return text.first == UInt8(ascii: "t")
    }

    func decode(_ type: String.Type) throws -> String {
        guard let bytes = source.document.string(of: place) else { throw mismatch(type, "a string") }
        return String(decoding: bytes, as: UTF8.self)
    }

    func decode(_ type: Double.Type) throws -> Double { try floating(type) }
    func decode(_ type: Float.Type) throws -> Float { try floating(type) }
    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }

    private func floating<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ type: Number.Type) throws -> Number
    {
        guard kind == .number else { throw mismatch(type, "a number") }
        guard let number = Number(String(decoding: text, as: UTF8.self)), number.isFinite else {
            throw corrupted("the number does not fit into \(type)")
        }
        return number
    }

    /// `1.0` and `1e3` are integers, too, as far as a `Double` holds them exactly.
    private func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        guard kind == .number else { throw mismatch(type, "a whole number") }
        let digits = String(decoding: text, as: UTF8.self)
        if let number = Number(digits) { return number }
        if let double = Double(digits), abs(double) <= 9_007_199_254_740_992, let number = Number(exactly: double) {
            return number
        }
        throw corrupted("\(digits.prefix(40)) is no number that fits into \(type)")
    }
}

private struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let decoder: TreeDecoder
    private let members: [[UInt8]: JSONDocument.Place]
    private let order: [[UInt8]]

    init(_ decoder: TreeDecoder) {
        self.decoder = decoder
        let document = decoder.source.document
        var members: [[UInt8]: JSONDocument.Place] = [:]
        var order: [[UInt8]] = []
        for place in document.children(of: decoder.place) {
            guard let key = document.key(of: place) else { continue }
            members[key] = place
            order.append(key)
        }
        self.members = members
        self.order = order
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    /// Whoever asks for all has asked for each.
    var allKeys: [Key] {
        for key in order { note(key) }
        return order.compactMap { Key(stringValue: String(decoding: $0, as: UTF8.self)) }
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try child(key).decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try Value(from: try child(key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try child(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try child(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try child(Array("super".utf8), Position("super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try child(key) }

    private func find(_ key: Key) -> JSONDocument.Place? {
        let bytes = Array(key.stringValue.utf8)
        note(bytes)
        return members[bytes]
    }

    private func note(_ key: [UInt8]) { decoder.source.asked?[decoder.place, default: []].insert(key) }

    private func child(_ key: Key) throws -> TreeDecoder { try child(Array(key.stringValue.utf8), key) }

    private func child(_ bytes: [UInt8], _ key: any CodingKey) throws -> TreeDecoder {
        note(bytes)
        guard let place = members[bytes] else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "there is no member \(key.stringValue)"))
        }
        return decoder.child(place, key)
    }
}

/// The index moves when something was decoded, and before a `superDecoder` is handed out: whoever decodes through that never stands still.
private struct ElementReader: UnkeyedDecodingContainer {
    private let decoder: TreeDecoder
    private let places: [JSONDocument.Place]
    private(set) var currentIndex = 0

    init(_ decoder: TreeDecoder) {
        self.decoder = decoder
        places = Array(decoder.source.document.children(of: decoder.place))
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { places.count }
    var isAtEnd: Bool { currentIndex == places.count }

    mutating func decodeNil() throws -> Bool {
        let isNull = try current().decodeNil()
        if isNull { currentIndex += 1 }
        return isNull
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try Value(from: try current())
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        let container = try current().container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try current().unkeyedContainer()
        currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try current()
        currentIndex += 1
        return decoder
    }

    private func current() throws -> TreeDecoder {
        guard currentIndex < places.count else {
            throw DecodingError.valueNotFound(
                Any.self,
                .init(codingPath: codingPath, debugDescription: "the array ends after \(places.count) elements"))
        }
        return decoder.child(places[currentIndex], Position(currentIndex))
    }
}

/// Where something stands in an array, or a key that belongs to no type.
struct Position: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ index: Int) {
        stringValue = String(index)
        intValue = index
    }

    init(_ text: String) {
        stringValue = text
        intValue = nil
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }
}
