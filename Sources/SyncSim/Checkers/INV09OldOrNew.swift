import SyncModel

/// INV-09. The daemon replaces a file in one instant: a power cut leaves the old or the new, whole, and what was stored as
/// applied is applied.
package final class OldOrNew: DiskInvariant, StoreInvariant {
    package static let id = "INV-09"
    package static let sentence = """
        After a power cut every path that the daemon was replacing holds its old or its new content in full; what the store says \
        is applied is there.
        """

    private struct Replacement {
        /// What stood there, one after the other, since the store last said that what is there is what is to be there.
        let old: [Value]
        let oldFile: FileIdentity?
        let new: Value
        /// The file that was written in the stage for it.
        let newFile: FileIdentity?
        let time: Int64
        var isStored = false
    }

    private var replaced: [SortedMap<Path, Replacement>] = [[:], [:]]

    package init() {}

    package func see(_ act: DiskAct, _ court: inout Court) {
        guard act.error == nil else { return }
        for change in act.treeChanges {
            // A file that only changes its name is as safe as whoever wrote it has made it.
            let placed = placed(by: act)
            guard change.after == .absent || change.after == .directory || placed != nil else {
                replaced[act.machine][change.path] = nil
                continue
            }
            // Several operations make one replacement: what stood there before any of them is old content.
            let earlier = replaced[act.machine][change.path].flatMap { $0.isStored ? nil : $0 }
            let file = act.touched.first { $0.place == .tree(change.path) }?.identity
            replaced[act.machine][change.path] = Replacement(
                old: (earlier?.old ?? []) + [change.before], oldFile: earlier == nil ? file : earlier?.oldFile,
                new: change.after, newFile: placed, time: court.now)
        }
    }

    /// The operation gives a name to what was written in the stage for it.
    private func placed(by act: DiskAct) -> FileIdentity? {
        act.touched.first { touch in
            guard case .stage(let name) = touch.place, case .place(let staged, _)? = act.store.intents[name]?.action
            else { return false }
            return staged == touch.identity
        }?.identity
    }

    package func see(_ act: StoreAct, _ court: inout Court) {
        for operation in act.batch.operations {
            guard case .putRow(let row) = operation, let disk = row.disk, row.reflected.covers(row.version) else {
                continue
            }
            let isDirectory = disk.entry.content.isDirectory
            replaced[act.machine].update(row.path) { replacement in
                if (replacement.new == .directory) == isDirectory { replacement.isStored = true }
            }
        }
    }

    package func see(_ act: OperatorAct, _ court: inout Court) {
        replaced[act.machine] = [:]
    }

    package func see(_ cut: PowerCut, _ court: inout Court) {
        for (path, replacement) in replaced[cut.machine] {
            // Whoever changed it after the daemon did takes his own risks.
            guard (cut.was[path] ?? .absent) == replacement.new, !isTouched(path, since: replacement.time, cut, court)
            else { continue }
            judge(path, replacement, cut, &court)
        }
        replaced[cut.machine] = [:]
    }

    /// A person moved it away and back, or put the same there again: that is as durable as he has made it.
    private func isTouched(_ path: Path, since time: Int64, _ cut: PowerCut, _ court: Court) -> Bool {
        guard let page = court.ledger.pages[path] else { return false }
        return page.rewritten[cut.machine] >= time
            || page.acts.contains { $0.machine == cut.machine && $0.time >= time }
    }

    private func judge(_ path: Path, _ replacement: Replacement, _ cut: PowerCut, _ court: inout Court) {
        let found = cut.now[path] ?? .absent
        if found == replacement.new { return }
        // The name of the old one that nobody had synced is as lost without any daemon.
        if !replacement.isStored, found == .absent, (cut.safe[path] ?? .absent) == .absent { return }
        if replacement.isStored {
            court.find(
                self, on: cut.machine, "\(path) was stored as \(replacement.new) and is \(found) after the power cut")
        } else if !replacement.old.contains(found),
            cut.safe[path].map(replacement.old.contains) == true
                || !court.ledger.everStood(found, at: path) && !isLeft(ofOld: replacement, at: path, cut)
                    && !isGivenBack(replacement, at: path, cut, court)
        {
            court.find(
                self, on: cut.machine,
                "\(path) went from \(replacement.old.first ?? .absent) to \(replacement.new) and is \(found) after the power cut"
            )
        }
    }

    /// The old file itself, which nobody had synced: without any daemon the cut would have taken its bytes just so.
    private func isLeft(ofOld replacement: Replacement, at path: Path, _ cut: PowerCut) -> Bool {
        replacement.oldFile.map { cut.files[path] == $0 } ?? false
    }

    /// Another file, which a person had taken away before without syncing that: so it is given back without any daemon.
    private func isGivenBack(_ replacement: Replacement, at path: Path, _ cut: PowerCut, _ court: Court) -> Bool {
        guard let page = court.ledger.pages[path], let found = cut.files[path], found != replacement.newFile else {
            return false
        }
        return page.acts.last { $0.machine == cut.machine && $0.time <= replacement.time }?.after == .absent
    }
}
