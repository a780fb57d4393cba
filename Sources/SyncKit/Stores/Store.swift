/// Values under keys. Nothing about files in it: whoever needs a store takes `any Store<Key, Value>` and is given one by a factory.
public protocol Store<Key, Value>: Sendable {
    associatedtype Key: Hashable & Sendable
    associatedtype Value: Sendable

    func value(for key: Key) async throws -> Value?
    /// Nil removes, and only nil does: an error on the way is an error, and what was there stays.
    func set(_ value: Value?, for key: Key) async throws
    func keys() async throws -> [Key]
}

/// For where a type and no existential is wanted: the closures of whichever store it is.
public struct AnyStore<Key: Hashable & Sendable, Value: Sendable>: Store {
    private let get: @Sendable (Key) async throws -> Value?
    private let put: @Sendable (Value?, Key) async throws -> Void
    private let list: @Sendable () async throws -> [Key]

    public init(_ store: some Store<Key, Value>) {
        get = { try await store.value(for: $0) }
        put = { try await store.set($0, for: $1) }
        list = { try await store.keys() }
    }

    public func value(for key: Key) async throws -> Value? { try await get(key) }
    public func set(_ value: Value?, for key: Key) async throws { try await put(value, key) }
    public func keys() async throws -> [Key] { try await list() }
}

/// In memory, for tests and for what need not outlive the process. Values go through their encoding, as they would in a file.
public func makeTransientStore<Key: Hashable & Sendable, Value: Codable & Sendable>(
    of type: Value.Type = Value.self, keyedBy key: Key.Type = Key.self
) -> any Store<Key, Value> {
    TransientStore<Key, Value>()
}

/// One JSON file in a directory for each key, which must be a file name without its ending. Every `set` is durable when it returns, and a
/// value that was changed by somebody else meanwhile is neither overwritten nor removed unseen. Of a newer or unknown format nothing is removed.
public func makeFileStore<Value: Codable & Sendable>(
    of type: Value.Type = Value.self, in directory: DocumentPath, format: UInt32 = 1,
    coordinator: any FileCoordinator = makeFileCoordinator()
) -> any Store<String, Value> {
    FileStore<Value>(directory: directory, file: JSONFile(reads: 1...format), coordinator: coordinator)
}
