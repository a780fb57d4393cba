import RecordMerge

/// Encodes any `Encodable` into a `JSONTree`.
struct TreeEncoder: Encoder {
    /// Where the value goes; filled once.
    final class Slot {
        enum Filling {
            case nothing
            case tree(JSONTree)
            case object([(key: String, slot: Slot)])
            case array([Slot])
        }

        var filling = Filling.nothing
    }

    let slot: Slot
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]

    static func tree(of value: some Encodable, userInfo: [CodingUserInfoKey: Any] = [:]) throws -> JSONTree {
        let encoder = TreeEncoder(slot: Slot(), codingPath: [], userInfo: userInfo)
        try value.encode(to: encoder)
        return encoder.slot.tree
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .object = slot.filling {} else { slot.filling = .object([]) }
        return KeyedEncodingContainer(MemberWriter<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array = slot.filling {} else { slot.filling = .array([]) }
        return ElementWriter(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// A value as it was written, every byte of it.
    func encode(raw text: JSONText) { slot.filling = .tree(.text(text.bytes)) }

    func child(_ slot: Slot, _ key: any CodingKey) -> TreeEncoder {
        TreeEncoder(slot: slot, codingPath: codingPath + [key], userInfo: userInfo)
    }
}

extension TreeEncoder.Slot {
    /// Whoever encoded nothing at all has encoded an empty object.
    var tree: JSONTree {
        switch filling {
        case .nothing: .object([])
        case .tree(let tree): tree
        case .array(let slots): .array(slots.map(\.tree))
        case .object(let members):
            .object(members.map { JSONTree.Member(key: Array($0.key.utf8), value: $0.slot.tree) })
        }
    }

    func member(_ key: String) -> TreeEncoder.Slot {
        guard case .object(var members) = filling else { return TreeEncoder.Slot() }
        let slot = TreeEncoder.Slot()
        if let index = members.firstIndex(where: { $0.key.utf8.elementsEqual(key.utf8) }) {
            members[index].slot = slot
        } else {
            members.append((key, slot))
        }
        filling = .object(members)
        return slot
    }

    func element() -> TreeEncoder.Slot {
        guard case .array(var slots) = filling else { return TreeEncoder.Slot() }
        let slot = TreeEncoder.Slot()
        // The array is taken out first, so that appending to it copies nothing.
        filling = .nothing
        slots.append(slot)
        filling = .array(slots)
        return slot
    }

    var count: Int { if case .array(let slots) = filling { slots.count } else { 0 } }
}

extension TreeEncoder: SingleValueEncodingContainer {
    func encodeNil() throws { slot.filling = .tree(.null) }
    func encode(_ value: Bool) throws { put(value ? "true" : "false") }
    func encode(_ value: String) throws { slot.filling = .tree(.string(value)) }
    func encode(_ value: Double) throws { try put(value, isFinite: value.isFinite) }
    func encode(_ value: Float) throws { try put(value, isFinite: value.isFinite) }
    func encode(_ value: Int) throws { put(value) }
    func encode(_ value: Int8) throws { put(value) }
    func encode(_ value: Int16) throws { put(value) }
    func encode(_ value: Int32) throws { put(value) }
    func encode(_ value: Int64) throws { put(value) }
    func encode(_ value: UInt) throws { put(value) }
    func encode(_ value: UInt8) throws { put(value) }
    func encode(_ value: UInt16) throws { put(value) }
    func encode(_ value: UInt32) throws { put(value) }
    func encode(_ value: UInt64) throws { put(value) }
    func encode<Value: Encodable>(_ value: Value) throws { try value.encode(to: self) }

    private func put(_ value: some CustomStringConvertible) {
        slot.filling = .tree(.text(Array(value.description.utf8)))
    }

    /// The shortest text that gives the same number again, as Swift writes it.
    private func put(_ value: some CustomStringConvertible, isFinite: Bool) throws {
        guard isFinite else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: codingPath, debugDescription: "JSON has no \(value.description)"))
        }
        put(value)
    }
}

private struct MemberWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: TreeEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil(forKey key: Key) throws { encoder.slot.member(key.stringValue).filling = .tree(.null) }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try value.encode(to: child(key))
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { child(key).container(keyedBy: type) }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        child(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { encoder.child(encoder.slot.member("super"), Position("super")) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { child(key) }

    private func child(_ key: Key) -> TreeEncoder { encoder.child(encoder.slot.member(key.stringValue), key) }
}

private struct ElementWriter: UnkeyedEncodingContainer {
    let encoder: TreeEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.slot.count }

    mutating func encodeNil() throws { encoder.slot.element().filling = .tree(.null) }
    mutating func encode<Value: Encodable>(_ value: Value) throws { try value.encode(to: child()) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { child().container(keyedBy: type) }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { child().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { child() }

    private func child() -> TreeEncoder {
        let position = Position(count)
        return encoder.child(encoder.slot.element(), position)
    }
}
