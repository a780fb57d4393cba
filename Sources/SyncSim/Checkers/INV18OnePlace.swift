import SyncModel

/// INV-18. A directory that moves is here and then there, never at both places and never at neither.
package final class OnePlace: DiskInvariant, StoreInvariant {
    package static let id = "INV-18"
    package static let sentence = "A moved directory is in exactly one place at any time, on the disk and in the base."

    package init() {}

    package func see(_ act: DiskAct, _ court: inout Court) {
        guard act.error == nil, case .move(.tree(let from), to: .tree(let to)) = act.operation else { return }
        guard let source = act.touched.first(where: { $0.place == .tree(from) }),
            let target = act.touched.first(where: { $0.place == .tree(to) }), source.before == .directory
        else { return }
        if source.after != .absent || target.after != .directory || target.before != .absent {
            court.find(
                self, on: act.machine,
                "a directory was moved from \(from) to \(to): now there is \(source.after) and \(target.after)")
        }
    }

    package func see(_ act: StoreAct, _ court: inout Court) {
        for (index, operation) in act.batch.operations.enumerated() {
            guard case .relocate(let relocation) = operation else { continue }
            judge(relocation, StoreBatch(Array(act.batch.operations[...index])), act, &court)
        }
    }

    private func judge(_ relocation: Relocation, _ done: StoreBatch, _ act: StoreAct, _ court: inout Court) {
        var after = act.store
        after.perform(done)
        for (path, row) in after.rows.range(from: relocation.from) {
            guard path == relocation.from || path.isBelow(relocation.from) else { break }
            if row.disk != nil, !path.isBelow(relocation.to), path != relocation.to {
                court.find(
                    self, on: act.machine, "\(relocation.from) was moved in the base, but \(path) still stands in it")
            }
        }
    }
}
