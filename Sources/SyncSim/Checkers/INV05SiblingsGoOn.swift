import SyncModel

/// INV-05. A file that cannot be read or written holds up itself and nothing else.
package final class SiblingsGoOn: Invariant {
    package static let id = "INV-05"
    package static let sentence = "One path that is stuck never keeps another path from being in sync."

    package init() {}

    package func see(_ sight: Sight, _ court: inout Court) {
        guard !sight.stuck.isEmpty else { return }
        let (one, two) = (sight.machines[0], sight.machines[1])
        for (path, seen) in one.tree where !sight.isStuck(path) && !holdsStuck(path, sight) {
            if two.value(at: path) != seen.value { tell(path, seen.value, two.value(at: path), sight, &court) }
        }
        for (path, seen) in two.tree where !sight.isStuck(path) && !holdsStuck(path, sight) && one.tree[path] == nil {
            tell(path, .absent, seen.value, sight, &court)
        }
    }

    /// The directories above a stuck path wait with it.
    private func holdsStuck(_ path: Path, _ sight: Sight) -> Bool {
        sight.stuck.contains { $0.isBelow(path) }
    }

    private func tell(_ path: Path, _ one: Value, _ two: Value, _ sight: Sight, _ court: inout Court) {
        let stuck = sight.stuck.map { "\($0)" }.joined(separator: ", ")
        court.find(self, "\(path) differs (\(one) and \(two)) though only \(stuck) is stuck")
    }
}
