import Synchronization

/// Tells sessions apart: those of one process, and of all that speak to one daemon.
enum SessionNumber {
    private static let last = Atomic<Int>(0)

    private static let process = UInt64.random(in: 0...UInt64.max)

    static func next() -> String {
        "\(last.wrappingAdd(1, ordering: .relaxed).newValue) of \(String(process, radix: 36))"
    }
}
