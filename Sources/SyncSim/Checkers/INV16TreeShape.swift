import SyncModel

/// INV-16. After any moves each entry has one parent, there are no rings, and nothing is left without a home.
package final class TreeShape: Invariant {
    package static let id = "INV-16"
    package static let sentence =
        "In the base every live path has a live directory above it, and no directory is at two places."

    package init() {}

    package func see(_ sight: Sight, _ court: inout Court) {
        for (index, machine) in sight.machines.enumerated() {
            var homes: [FileIdentity: Path] = [:]  // lookup only
            for (path, row) in machine.store.rows {
                guard let disk = row.disk, row.condition != .ignored else { continue }
                judgeParent(of: path, machine.store, on: index, &court)
                guard disk.entry.content.isDirectory else { continue }
                if let other = homes.updateValue(path, forKey: disk.stat.identity) {
                    court.find(self, on: index, "one directory is at \(other) and at \(path)")
                }
            }
        }
    }

    private func judgeParent(of path: Path, _ store: VirtualStore, on machine: Int, _ court: inout Court) {
        guard let parent = path.parent, !parent.isRoot else { return }
        guard let home = store.rows[parent]?.disk else {
            court.find(self, on: machine, "\(path) has no directory above it")
            return
        }
        if !home.entry.content.isDirectory {
            court.find(self, on: machine, "\(path) is below \(parent), which is no directory")
        }
    }
}
