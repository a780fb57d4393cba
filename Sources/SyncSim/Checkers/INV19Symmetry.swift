package import SyncModel

/// INV-19. Who is called what decides nothing: the mirrored history has the mirrored result.
package final class Symmetry: Invariant {
    package static let id = "INV-19"
    package static let sentence =
        "With the two machines swapped, keys and names included, the same histories end with the mirrored folders."

    package init() {}

    /// `mirror` is the run with everything of the two machines swapped but their names in conflict copies.
    package func compare(_ sight: Sight, with mirror: Sight, renaming: (Path) -> Path, _ court: inout Court) {
        for machine in sight.machines.indices {
            let other = mirror.machines[1 - machine].tree
            var expected: SortedMap<Path, Seen> = [:]
            for (path, seen) in other { expected[renaming(path)] = seen }
            for (path, seen) in sight.machines[machine].tree {
                let mirrored = expected[path]
                if mirrored?.value != seen.value {
                    court.find(
                        self, on: machine, "\(path) is \(seen.value), in the mirror \(mirrored?.value ?? .absent)")
                } else if let mode = mirrored?.entry.mode, mode != seen.entry.mode {
                    court.find(self, on: machine, "\(path) has mode \(seen.entry.mode), in the mirror \(mode)")
                }
            }
            for (path, seen) in expected where sight.machines[machine].tree[path] == nil {
                court.find(self, on: machine, "\(path) is nothing, in the mirror \(seen.value)")
            }
        }
    }
}
