import SyncModel

/// INV-20. Same bytes, same names for them: what the bases call a content is what its bytes hash to, on both nodes.
package final class EqualBytes: Invariant {
    package static let id = "INV-20"
    package static let sentence =
        "At rest both nodes hold the same bytes at every path under the same content id, and the id is the hash of the bytes."

    package init() {}

    package func see(_ sight: Sight, _ court: inout Court) {
        for (index, machine) in sight.machines.enumerated() {
            for (path, seen) in machine.tree where !sight.isStuck(path) {
                guard let row = machine.store.rows[path]?.disk else { continue }
                if row.entry.content != seen.entry.content {
                    court.find(
                        self, on: index,
                        "the bytes at \(path) are \(seen.entry.content), the base calls them \(row.entry.content)")
                }
                judgeChunks(of: seen.entry.content, at: path, on: index, machine.store, &court)
            }
        }
        for (path, seen) in sight.machines[0].tree where !sight.isStuck(path) {
            guard let other = sight.machines[1].tree[path] else { continue }
            if seen.value == other.value, seen.entry.content != other.entry.content {
                court.find(self, "\(path) has the same bytes and two content ids")
            }
        }
    }

    private func judgeChunks(
        of content: Content, at path: Path, on machine: Int, _ store: VirtualStore, _ court: inout Court
    ) {
        guard case .file(let id, let size) = content, case .chunkList(let list?) = store.answer(.chunkList(id)) else {
            return
        }
        if list.size != size || list.contentID != id.digest {
            court.find(self, on: machine, "the chunk list kept for \(path) is not of its content")
        }
    }
}
