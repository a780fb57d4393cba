import SyncModel

/// INV-06. Quiet means equal: content, kind, permission bits, times of files and directories, conflict copies and all.
package final class Convergence: Invariant {
    package static let id = "INV-06"
    package static let sentence =
        "When both nodes say they are in sync, the two folders are equal in everything that is synced."

    package init() {}

    package func see(_ sight: Sight, _ court: inout Court) {
        let (one, two) = (sight.machines[0], sight.machines[1])
        for (path, seen) in one.tree where !sight.isStuck(path) {
            guard let other = two.tree[path] else {
                tellMissing(path, seen, from: two, on: 1, but: one, &court)
                continue
            }
            compare(path, seen, other, &court)
        }
        for (path, seen) in two.tree where !sight.isStuck(path) && one.tree[path] == nil {
            tellMissing(path, seen, from: one, on: 0, but: two, &court)
        }
    }

    private func tellMissing(
        _ path: Path, _ seen: Seen, from machine: MachineSight, on index: Int, but owner: MachineSight,
        _ court: inout Court
    ) {
        // A directory that holds what the rules ignore stays with it when it is deleted elsewhere.
        if seen.value == .directory, owner.unsynced.contains(where: { $0.key.isBelow(path) }) { return }
        // What is not synced stands in the way here.
        if let obstacle = machine.unsynced.first(where: { $0.key == path || path.isBelow($0.key) }),
            obstacle.value == .special
        {
            return
        }
        // What is left out here by rules that nobody else learns of stays there as it is.
        if machine.keepsToItself(path) { return }
        court.find(self, on: index, "\(path) is missing; the other node has \(seen.value)")
    }

    private func compare(_ path: Path, _ one: Seen, _ two: Seen, _ court: inout Court) {
        if one.value != two.value {
            court.find(self, "\(path) is \(one.value) on one node and \(two.value) on the other")
        } else if one.entry.mode != two.entry.mode {
            court.find(self, "\(path) has mode \(one.entry.mode) on one node and \(two.entry.mode) on the other")
        } else if one.entry.modified != two.entry.modified {
            court.find(
                self, "\(path) has time \(one.entry.modified) on one node and \(two.entry.modified) on the other")
        }
    }
}
