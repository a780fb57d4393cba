import Synchronization

/// Tells the sessions of a process apart.
enum SessionNumber {
    private static let last = Atomic<Int>(0)

    static func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
