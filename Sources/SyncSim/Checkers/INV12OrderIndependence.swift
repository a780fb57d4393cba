import SyncModel

/// INV-12. The same two histories come to the same end, however messages, disks and stores were timed.
package final class OrderIndependence: Invariant {
    package static let id = "INV-12"
    package static let sentence = "Two runs of the same histories that differ only in timing end with equal folders."

    package init() {}

    package func compare(_ one: Sight, with two: Sight, _ court: inout Court) {
        for machine in one.machines.indices {
            let (left, right) = (one.machines[machine].tree, two.machines[machine].tree)
            for (path, seen) in left where right[path]?.value != seen.value {
                court.find(
                    self, on: machine,
                    "\(path) ends as \(seen.value) or as \(right[path]?.value ?? .absent), by timing alone")
            }
            for (path, seen) in left {
                guard let mode = right[path]?.entry.mode, mode != seen.entry.mode else { continue }
                court.find(self, on: machine, "\(path) ends with mode \(seen.entry.mode) or \(mode), by timing alone")
            }
            for (path, seen) in right where left[path] == nil {
                court.find(self, on: machine, "\(path) ends as nothing or as \(seen.value), by timing alone")
            }
        }
    }
}
