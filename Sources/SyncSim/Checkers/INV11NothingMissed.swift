import SyncModel

/// INV-11. A change may be reported needlessly, never missed: at rest each node knows exactly what its folder holds.
package final class NothingMissed: Invariant {
    package static let id = "INV-11"
    package static let sentence =
        "At rest the base of each node describes every path of its folder as it is: content, permission bits, time."

    package init() {}

    package func see(_ sight: Sight, _ court: inout Court) {
        for (index, machine) in sight.machines.enumerated() {
            for (path, seen) in machine.tree where !sight.isStuck(path) {
                guard let disk = machine.store.rows[path]?.disk else {
                    if !machine.unsynced.contains(where: { $0.key.isBelow(path) }) {
                        court.find(self, on: index, "\(seen.value) at \(path) was never noticed")
                    }
                    continue
                }
                if !disk.entry.agrees(with: seen.entry) {
                    court.find(self, on: index, "\(path) is \(seen.entry), the base still says \(disk.entry)")
                }
            }
        }
    }
}
