package import SyncModel

/// How often the states that are hard to reach were reached. Each must be hit in a long run, or the simulator has gone blind.
package struct RareStates: Sendable {
    package private(set) var counts: SortedMap<String, Int> = [:]

    package init() {}

    package mutating func hit(_ name: String) {
        counts[name, default: 0] += 1
    }

    package mutating func add(_ other: RareStates) {
        for (name, count) in other.counts { counts[name, default: 0] += count }
    }

    package subscript(name: String) -> Int { counts[name] ?? 0 }
}
