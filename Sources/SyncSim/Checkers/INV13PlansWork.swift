import SyncModel

/// INV-13. A plan may be overtaken by a person or by a failing disk, but never trip over itself.
///
/// Some failures are answers the plan asks for: a directory that should go is removed to learn whether it is empty, a
/// directory's own time, which every change in it moves, is expected before it is set, and a kept version is expected to
/// be what it was, because a late writer may have been at it. What is left of a failed program is discarded without asking
/// how far that one came. What goes back to where it was, because its directory went in that moment, asks for each directory above
/// it, of which the upper ones may be there.
package final class PlansWork: DiskInvariant, StoreInvariant {
    package static let id = "INV-13"
    package static let sentence = """
        No disk operation of the daemon fails for a reason of its own making: a missing parent, a directory that is not empty, a name \
        that is taken.
        """

    /// Directories that a failing disk did not make, by machine: what was to go into them comes later in the same job, when the disk may
    /// have been mended.
    private var unmade: [SortedMap<Path, Bool>] = [[:], [:]]
    /// What the process has set out to do, by machine. An earlier one did not know what people have removed since.
    private var begun: [SortedMap<StageName, Bool>] = [[:], [:]]

    package init() {}

    package func see(_ turn: ProcessTurn, _ court: inout Court) {
        begun[turn.machine] = [:]
    }

    package func see(_ act: StoreAct, _ court: inout Court) {
        for case .putIntent(let intent) in act.batch.operations { begun[act.machine][intent.stage] = true }
    }

    package func see(_ act: DiskAct, _ court: inout Court) {
        noteDirectory(act)
        guard let error = act.error, !act.isDisturbed, !isQuestion(act.operation, error), !lacksParent(act, error),
            !isOnTheWayBack(act, error)
        else { return }
        switch error {
        case .notFound, .exists, .notEmpty, .notDirectory, .isDirectory, .mismatch, .nameTooLong, .crossDevice,
            .unsupported:
            court.find(self, on: act.machine, "\(act.operation) failed with \(error) though nobody interfered")
        case .noSpace, .inputOutput, .readOnly, .busy, .permission:
            if !act.mayFail {
                court.find(self, on: act.machine, "\(act.operation) failed with \(error) on a healthy disk")
            }
        }
    }

    /// A batch makes directories and what goes into them in one job. Where the disk failed to make the directory, which no
    /// row says is there, nothing could tell the rest of the job. Nor could anything tell an earlier process, whose intents alone say what
    /// it had staged, what people have done to the directory since.
    private func lacksParent(_ act: DiskAct, _ error: DiskError) -> Bool {
        guard error == .notFound || error == .notDirectory else { return false }
        return act.operation.places.contains { place in
            guard case .tree(let path) = place, let parent = path.parent, !parent.isRoot else { return false }
            let found = act.store.rows[parent]?.disk
            if isLeft(act) { return found?.entry.content.isDirectory != true }
            return error == .notFound && found == nil && (act.mayFail || unmade[act.machine].contains(key: parent))
        }
    }

    private func isLeft(_ act: DiskAct) -> Bool {
        if case .move(.stage(let name), to: .tree) = act.operation {
            return act.store.intents[name] != nil && !begun[act.machine].contains(key: name)
        }
        guard case .syncParent(.tree(let path)) = act.operation else { return false }
        return act.store.intents.contains { $0.value.path == path && !begun[act.machine].contains(key: $0.key) }
    }

    /// (Who makes a directory for itself expects nothing there before, so only this is told by `exists`.)
    private func isOnTheWayBack(_ act: DiskAct, _ error: DiskError) -> Bool {
        guard error == .exists, case .createDirectory(.tree(let path), _) = act.operation else { return false }
        return act.store.intents.values.contains { $0.path.isBelow(path) }
    }

    /// (Who makes a directory expects nothing there before; if that can not be told, it is not made. Nor is it below one that was not.)
    private func noteDirectory(_ act: DiskAct) {
        let isUnmade = act.error.map { act.mayFail || lacksParent(act, $0) } ?? false
        if case .createDirectory(.tree(let path), _) = act.operation {
            unmade[act.machine][path] = isUnmade ? true : nil
        } else if case .expectAbsent(.tree(let path)) = act.operation, isUnmade {
            unmade[act.machine][path] = true
        }
    }

    private func isQuestion(_ operation: DiskOperation, _ error: DiskError) -> Bool {
        switch operation {
        case .removeDirectory: return error == .notEmpty
        case .expect(.version, _): return error == .mismatch
        case .expect(_, let stat): return error == .mismatch && stat.kind == .directory
        // What the exchange brought out is looked at because somebody may have written to it a moment before.
        case .expectContent(.version, _), .expectContent(.quarantine, _), .expectContent(.stage, _):
            return error == .mismatch
        // A source may be gone or another since the job was given, and its row may say so by now: the peer has it too.
        case .copy: return [.notFound, .notDirectory, .isDirectory, .mismatch, .unsupported].contains(error)
        // A version may have been given back or be past its promise, and the directory it came from may be gone.
        case .expectIdentity(.version, _, _), .expectIdentity(.quarantine, _, _): return error == .mismatch
        case .move(.version, to: .tree), .move(.quarantine, to: .tree):
            return [.notFound, .notDirectory].contains(error)
        case .exchange(.version, .tree), .exchange(.quarantine, .tree): return error == .notFound
        case .expectUnheld: return error == .busy
        // Sweeping up what a failed program may or may not have left.
        case .discard: return error == .notFound
        case .expectContent, .expectIdentity, .move, .exchange, .createFile, .write, .truncate, .createDirectory,
            .createSymlink, .setMode, .setModified, .syncFile, .syncParent, .expectAbsent, .inspect:
            return false
        }
    }
}
