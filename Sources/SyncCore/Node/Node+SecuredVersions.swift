import SyncModel

/// What a process has set aside that did not end in order may be nowhere but in the memory of the machine: if its sync failed, no later one
/// tells of it, and the next power cut takes what history has promised. Once nobody writes to it any more, such a version is written anew from
/// what can be read, and that takes its place under its own number. So is, at once, what has other names in the folder: somebody may write by
/// one of them. (What he wrote by the time it is copied, or while somebody has it open, is in it.)
extension Node {
    mutating func secure(_ looks: [LateLook], into effects: inout Effects) {
        var unsynced: [Replacing] = []
        var unwritten: [FileIdentity] = []
        for look in looks {
            let version = look.version
            let isUnsynced = apply.unsyncedVersions.contains(key: version.id) && !watch.isFirstSinceCut
            guard isUnsynced || look.isShared, version.stat.kind == .file, version.stat.size > 0 else { continue }
            // (What stands in the folder by another name of the file is to be staged anew.)
            if isUnsynced, look.tries == 0 { unwritten.append(version.stat.identity) }
            guard !apply.givingBack.contains(key: version.id) else { continue }
            let stage = nextStage()
            apply.givingBack[version.id] = true
            if look.isShared {
                effects.add(.disk(newJob(.securing(look, stage)), [securing(version, by: .stage(stage))]))
            } else {
                unsynced.append(Replacing(look: look, stage: stage, old: version.with(id: nextVersion())))
            }
        }
        if !unwritten.isEmpty { enqueue(.namesakes(unwritten, areUnwritten: true)) }
        if !unsynced.isEmpty {
            apply.lateLooks += 1
            effects.add(.disk(newJob(.copyingUnsynced(unsynced)), unsynced.map(\.copying)))
        }
    }

    // MARK: Files that have no other name

    /// Who has it open, where nobody can see that, would write to what is thrown away: it goes on as a version beside the one that has been
    /// written anew.
    struct Replacing: Sendable {
        let look: LateLook
        let stage: StageName
        /// Its first file.
        let old: KeptVersion
        /// As it lies in the stage.
        var new: Stat?

        private var version: KeptVersion { look.version }

        fileprivate var copying: DiskProgram {
            DiskProgram(
                [.expectUnheld(version.place)]
                    + version.copying(to: .stage(stage), mode: version.stat.mode, modified: version.stat.modified)
                    + [.inspect(.stage(stage))])
        }

        fileprivate var intent: Intent {
            Intent(
                stage: stage, path: version.path, action: .rename(from: version.path), expected: version.stat,
                displaced: old.displaced)
        }

        fileprivate var exchanging: DiskProgram {
            let staged = Place.stage(stage)
            return DiskProgram([
                .expectUnheld(version.place), .expectContent(version.place, version.stat),
                .exchange(staged, version.place), .expectContent(staged, version.stat), .move(staged, to: old.place),
                .syncParent(version.place), .inspect(version.place), .inspect(old.place),
            ])
        }

        /// The operation that makes it so; that it is the same file, and its move, come after it.
        fileprivate static let exchange = 2

        fileprivate var back: DiskProgram { DiskProgram([.exchange(.stage(stage), version.place)]) }
    }

    mutating func finishCopyingUnsynced(
        _ copies: [Replacing], _ results: [DiskResult], into effects: inout Effects
    ) {
        var made: [Replacing] = []
        for (copy, result) in zip(copies, results) {
            guard result.failure == nil, let stat = result.inspected.first.flatMap(\.self) else {
                // (Before it is made, the version is looked at.)
                if let failure = result.failure, failure.index > 1 { plan.abandoned.append(copy.stage) }
                secureLater(copy.look)
                continue
            }
            var copy = copy
            copy.new = stat
            made.append(copy)
        }
        guard !made.isEmpty else { return apply.lateLooks -= 1 }
        var batch = Batch()
        for copy in made { batch.add(.putIntent(copy.intent)) }
        store(&batch, then: .run(.replacingUnsynced(made), made.map(\.exchanging)), into: &effects)
    }

    mutating func finishReplacingUnsynced(
        _ replaced: [Replacing], _ results: [DiskResult], into effects: inout Effects
    ) {
        var batch = Batch()
        var back: [Replacing] = []
        for (replacing, result) in zip(replaced, results) {
            let failed = result.failure?.index ?? .max
            if failed > Replacing.exchange, failed <= Replacing.exchange + 2 {
                // Somebody has written to it in that very moment, or the disk fails: it goes back, for the next look to see.
                back.append(replacing)
                continue
            }
            batch.add(.dropIntent(replacing.stage))
            guard failed > Replacing.exchange, let new = replacing.new else {
                plan.abandoned.append(replacing.stage)
                secureLater(replacing.look)
                continue
            }
            let (version, old) = (replacing.look.version, replacing.old)
            apply.givingBack[version.id] = nil
            apply.unsyncedVersions[version.id] = nil
            batch.add(.putVersion(version.with(stat: result.inspected.first.flatMap(\.self) ?? new)))
            batch.add(.putVersion(old.with(stat: result.inspected.dropFirst().first.flatMap(\.self) ?? old.stat)))
        }
        if !batch.isEmpty { store(&batch, into: &effects) }
        guard !back.isEmpty else { return apply.lateLooks -= 1 }
        effects.add(.disk(newJob(.leavingUnsynced(back)), back.map(\.back)))
    }

    /// (Where it cannot go back, the next start finds the intent.)
    mutating func finishLeavingUnsynced(
        _ left: [Replacing], _ results: [DiskResult], into effects: inout Effects
    ) {
        apply.lateLooks -= 1
        var batch = Batch()
        for (replacing, result) in zip(left, results) {
            guard result.failure == nil else {
                apply.givingBack[replacing.look.version.id] = nil
                continue
            }
            plan.abandoned.append(replacing.stage)
            secureLater(replacing.look)
            batch.add(.dropIntent(replacing.stage))
        }
        if !batch.isEmpty { store(&batch, into: &effects) }
    }

    private mutating func secureLater(_ look: LateLook) {
        apply.givingBack[look.version.id] = nil
        guard look.tries < RecoveryState.looksMax else { return }
        let due = now.monotonicMilliseconds + limits.lateWriterMilliseconds
        apply.late.append(
            LateLook(dueMilliseconds: due, version: look.version, isShared: look.isShared, tries: look.tries + 1))
    }

    // MARK: Files that have other names

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
        secureLater(look)
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

extension KeptVersion {
    /// Under another number, the same (`Replacing`).
    func isAlike(_ other: KeptVersion) -> Bool { id != other.id && other.with(id: id, stat: stat) == self }
}
