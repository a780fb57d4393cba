import SyncModel

/// What is brought back from history stays there: what goes into the tree is a copy of it, which is a version of its own for as long as
/// it is on its way. From quarantine, where it waits for somebody, a file is taken itself; and so it is where there is no room for two.
extension Node {
    mutating func copyKept(_ id: CommandID, _ kept: KeptVersion, _ target: Path, into effects: inout Effects) {
        let stage = nextStage()
        guard !kept.isQuarantined, let program = program(toCopy: kept, to: .stage(stage)) else {
            return enqueue(.restoreOver(id, kept, target))
        }
        effects.add(.disk(newJob(.copyingKept(id, kept, target, stage)), [program]))
    }

    /// While a program that still has it open writes to it, it is no copy of anything.
    private func program(toCopy kept: KeptVersion, to staged: Place) -> DiskProgram? {
        switch kept.entry.content {
        case .file:
            return DiskProgram(
                [.expectContent(kept.place, kept.stat)]
                    + kept.copying(to: staged, mode: kept.entry.mode, modified: kept.entry.modified)
                    + [.inspect(staged), .expectContent(kept.place, kept.stat)])
        case .symlink(let link):
            return DiskProgram([
                .createSymlink(staged, target: link), .setModified(staged, kept.entry.modified), .syncFile(staged),
                .inspect(staged),
            ])
        case .directory, .absent: return nil
        }
    }

    /// It lies in the stage, whole, and goes among the versions: from there it takes its place as any other does.
    mutating func finishCopyingKept(
        _ id: CommandID, _ kept: KeptVersion, _ target: Path, _ stage: StageName, _ results: [DiskResult],
        into effects: inout Effects
    ) {
        guard let result = results.first, result.failure == nil, let stat = result.inspected.first.flatMap(\.self)
        else {
            let failure = results.first?.failure
            // (Before it is made, what is to be copied is looked at; a link is made at once.)
            let made = kept.contentID == nil ? 0 : 1
            if failure.map({ $0.index > made }) ?? true { plan.abandoned.append(stage) }
            guard let error = failure?.error, [.readOnly, .inputOutput].contains(error) else {
                return enqueue(.restoreOver(id, kept, target))
            }
            apply.givingBack[kept.id] = nil
            effects.add(.answer(id, .refused(Node.reason(for: error))))
            return
        }
        let copy = KeptVersion(
            id: nextVersion(), path: kept.path, entry: kept.entry, stat: stat, author: kept.author,
            keptMilliseconds: now.wallMilliseconds, reason: .versionRestored, isQuarantined: false)
        apply.givingBack[copy.id] = true
        let placing = copy.placing(from: stage, stat)
        run(
            [placing.program], for: .placingKept(id, kept, copy, target, stage), after: placing.intent, into: &effects)
    }

    mutating func finishPlacingKept(
        _ id: CommandID, _ kept: KeptVersion, _ copy: KeptVersion, _ target: Path, _ stage: StageName,
        _ results: [DiskResult], into effects: inout Effects
    ) {
        apply.givingBack[kept.id] = nil
        var batch = Batch()
        batch.add(.dropIntent(stage))
        guard let result = results.first, result.failure?.index != 0 else {
            plan.abandoned.append(stage)
            apply.givingBack[copy.id] = nil
            let code = (results.first?.failure).map { Node.reason(for: $0.error) } ?? .contentUnavailable
            return store(&batch, then: .answer(id, .refused(code)), into: &effects)
        }
        let placed = copy.with(stat: result.inspected.first.flatMap(\.self) ?? copy.stat)
        batch.add(.putVersion(placed))
        store(&batch, into: &effects)
        enqueue(.restoreOver(id, placed, target))
    }

    /// It has not been brought back. Its copy, which nobody has asked for, goes again.
    mutating func endGivingBack(_ version: KeptVersion, into effects: inout Effects) {
        apply.givingBack[version.id] = nil
        guard version.isRestoredCopy else { return }
        // (A name that comes back after a power cut would be on no record.)
        let program = DiskProgram([.discard(version.place), .syncParent(version.place)])
        effects.add(.disk(newJob(.droppingCopy(version.id)), [program]))
    }

    mutating func finishDroppingCopy(_ version: VersionID, _ results: [DiskResult]) {
        let failure = results.first?.failure
        if failure == nil || failure?.error == .notFound { enqueue(.dropVersions([version])) }
    }
}

extension KeptVersion {
    /// A file of its own with the bytes of this one, as they can be read, on the disk.
    func copying(to staged: Place, mode: UInt16, modified: Timestamp) -> [DiskOperation] {
        [
            .createFile(staged),
            .copy(from: place, offset: 0, length: stat.size, to: staged, at: 0, digest: nil),
            .truncate(staged, size: stat.size), .setMode(staged, mode), .setModified(staged, modified),
            .syncFile(staged),
        ]
    }

    fileprivate var isRestoredCopy: Bool { reason == .versionRestored }
}
