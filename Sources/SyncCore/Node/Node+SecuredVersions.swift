import SyncModel

/// What a process has set aside that did not end in order may be nowhere but in the memory of the machine: if its sync failed, no later one
/// tells of it, and the next power cut takes what history has promised. Once nobody writes to it any more, such a version is written
/// anew from what can be read, and takes its place under its own number. So is, at once, what has other names in the folder: somebody may write
/// by one of them. (What he wrote by the time it is copied, or while somebody has it open, is in it.)
extension Node {
    mutating func secure(_ look: LateLook, into effects: inout Effects) {
        let version = look.version
        let isUnsynced = apply.unsyncedVersions.contains(key: version.id) && !watch.isFirstSinceCut
        guard isUnsynced || look.isShared, version.stat.kind == .file, version.stat.size > 0 else { return }
        // (What stands in the folder by another name of the file is to be staged anew.)
        if isUnsynced, look.tries == 0 { enqueue(.namesakes([version.stat.identity], areUnwritten: true)) }
        guard !apply.givingBack.contains(key: version.id) else { return }
        let stage = nextStage()
        apply.givingBack[version.id] = true
        effects.add(.disk(newJob(.securing(look, stage)), [securing(version, by: .stage(stage))]))
    }

    private func securing(_ version: KeptVersion, by staged: Place) -> DiskProgram {
        DiskProgram(
            [.expectUnheld(version.place)]
                + version.copying(to: staged, mode: version.stat.mode, modified: version.stat.modified) + [
                    .expectUnheld(version.place), .expectContent(version.place, version.stat),
                    .exchange(staged, version.place), .expectContent(staged, version.stat),
                    .syncParent(version.place), .inspect(version.place),
                ])
    }

    mutating func finishSecuring(
        _ look: LateLook, _ stage: StageName, _ results: [DiskResult], into effects: inout Effects
    ) {
        apply.givingBack[look.version.id] = nil
        guard let result = results.first else { return }
        guard let failure = result.failure else {
            apply.unsyncedVersions[look.version.id] = nil
            plan.abandoned.append(stage)
            return keepSecured(look.version, as: result.inspected.first.flatMap(\.self), into: &effects)
        }
        // (Once they have been exchanged, what was there before stays in the stage until a start has seen which of them is there to stay.)
        let exchange = securing(look.version, by: .stage(stage)).operations.firstIndex { operation in
            if case .exchange = operation { true } else { false }
        }
        guard let exchange else { return }
        if (2...exchange).contains(failure.index) { plan.abandoned.append(stage) }
        if failure.index == exchange + 1 {
            // Somebody has written to it in that very moment: it goes back, for the next look to see.
            let back = DiskProgram([.exchange(.stage(stage), look.version.place)])
            effects.add(.disk(newJob(.nothing), [back]))
        }
        guard look.tries < RecoveryState.looksMax else { return }
        let due = now.monotonicMilliseconds + limits.lateWriterMilliseconds
        apply.late.append(
            LateLook(dueMilliseconds: due, version: look.version, isShared: look.isShared, tries: look.tries + 1))
    }

    /// The file is another: what history says of it has to say so, or nobody could bring it back.
    mutating func keepSecured(_ version: KeptVersion, as found: Stat?, into effects: inout Effects) {
        guard let found, found.kind == version.stat.kind, found.size == version.stat.size,
            found.modified == version.stat.modified
        else { return }
        var batch = Batch()
        batch.add(.putVersion(version.with(stat: found)))
        store(&batch, into: &effects)
    }
}
