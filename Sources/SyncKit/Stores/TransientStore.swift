import RecordMerge

/// A store in memory: see `makeTransientStore`.
actor TransientStore<Key: Hashable & Sendable, Value: Codable & Sendable>: Store {
    private var texts: [Key: JSONText] = [:]

    func value(for key: Key) throws -> Value? {
        guard let text = texts[key] else { return nil }
        let source = DecodingSource(try JSONDocument(parsing: text.bytes), userInfo: [:])
        return try Value(from: source.root)
    }

    func set(_ value: Value?, for key: Key) throws {
        texts[key] = try value.map { try JSONText(parsing: try TreeEncoder.tree(of: $0).compact) }
    }

    func keys() -> [Key] { Array(texts.keys) }
}
