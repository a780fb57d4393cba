import Coordination
import SyncModel

/// A file that a person wants out of the folder and kept: his own deletion, but one that this node keeps the version of too.
/// The file goes among the versions, and what the next look finds missing is told to the peer as any deletion is.
extension Node {
    mutating func setAside(_ id: CommandID, _ path: Path, _ answers: inout Answers, into effects: inout Effects) {
        let isDue = takeOrder(of: id, at: path)
        guard isWorking else { return effects.add(.answer(id, .refused(standstill))) }
        guard let row = answers.rows().first, let disk = row.disk, !disk.entry.content.isDirectory, !path.isReserved
        else { return effects.add(.answer(id, .refused(.requestNotFound))) }
        guard !apply.touches(path), row.condition == .normal else {
            return effects.add(.answer(id, .refused(.pathBusy)))
        }
        if !isDue {
            switch turn(of: .setAside(id), at: path, [Access(path, .write(.deleting))], into: &effects) {
            case .come: break
            case .later: return
            case .taken: return effects.add(.answer(id, .refused(.lockHeld)))
            }
        }
        let version = kept(row, disk, .versionKept)
        let intent = Intent(
            stage: nextStage(), path: path, action: .remove, expected: disk.stat, displaced: .version(version))
        let (here, staged, there) = (Place.tree(path), Place.stage(intent.stage), version.place)
        // Whoever wrote it may not have synced it, and it may be the only one. (Before it goes: in the tree it can be written anew.) And only
        // what has been seen to be what was to go is a version, as with any removal.
        let program = DiskProgram(
            [.expect(here, disk.stat), .expectUnheld(here)] + (version.isFile ? [.syncFile(here)] : []) + [
                .move(here, to: staged), .expectContent(staged, disk.stat), .move(staged, to: there),
                .syncParent(there), .syncParent(here), .inspect(there),
            ])
        apply.restoring[path] = true
        run([program], for: .settingAside(id, version, intent.stage), after: intent, into: &effects)
    }

    mutating func finishSettingAside(
        _ id: CommandID, _ version: KeptVersion, _ intent: StageName, _ results: [DiskResult],
        into effects: inout Effects
    ) {
        let failure = results.first?.failure
        let moved = version.isFile ? 4 : 3
        if let failure, failure.index == moved || failure.index == moved + 1 {
            // A save in that very moment, or nobody can tell, or the disk failed: it goes back to its place.
            let here = Place.tree(version.path)
            let program = DiskProgram([.move(.stage(intent), to: here), .syncParent(here)])
            effects.add(.disk(newJob(.bringingBack(id, version, intent)), [program]))
            return
        }
        endSettingAside(version.path)
        if let failure, failure.index < moved {
            if version.isFile, failure.index == 2, failure.error == .inputOutput {
                return enqueue(.keepUnwritten(id, version, intent))
            }
            return end(settingAside: intent, .refused(Node.reason(for: failure.error)), id, into: &effects)
        }
        if let failure, failure.error == .inputOutput, failure.index <= moved + 3 {
            // Names that may not be on the disk must not be promised: the next start sees to it by the intent.
            effects.add(.answer(id, .refused(Node.reason(for: failure.error))))
            timers.mustStop = true
            return
        }
        let found = results.first?.inspected.first ?? nil
        let answer = failure.map { Answer.refused(Node.reason(for: $0.error)) } ?? .done
        // (Who has written to it on the way there is a late writer like any other, and shows against what was to be set aside.)
        let stat = found.flatMap { $0.isSameContent(as: version.stat) ? $0 : nil } ?? version.stat
        keep(settingAside: version.with(stat: stat), intent, answer, id, into: &effects)
    }

    /// It could not be synced, and no later sync tells of that: the row does before the intent goes, for the process may end at once.
    mutating func keepUnwritten(
        _ id: CommandID, _ version: KeptVersion, _ intent: StageName, _ answers: inout Answers,
        into effects: inout Effects
    ) {
        var batch = Batch()
        if let old = answers.rows().first, old.disk?.stat.identity == version.stat.identity {
            var row = old
            row.disk?.isUnwritten = true
            put(row, replacing: old, in: &batch, into: &effects)
            plan.want(row.path)
        }
        batch.add(.dropIntent(intent))
        store(&batch, then: .answer(id, .refused(Node.reason(for: .inputOutput))), into: &effects)
    }

    /// Where its name was taken in that moment, or its directory has gone, only the next start can find a place for it.
    mutating func finishBringingBack(
        _ id: CommandID, _ version: KeptVersion, _ intent: StageName, _ results: [DiskResult],
        into effects: inout Effects
    ) {
        endSettingAside(version.path)
        if results.first?.failure == nil {
            end(settingAside: intent, .refused(.pathBusy), id, into: &effects)
        } else {
            effects.add(.answer(id, .refused(.pathBusy)))
            timers.mustStop = true
        }
    }

    private mutating func endSettingAside(_ path: Path) {
        apply.restoring[path] = nil
        look(at: path)
        if let parent = path.parent { look(at: parent) }
    }

    private mutating func keep(
        settingAside version: KeptVersion, _ intent: StageName, _ answer: Answer, _ id: CommandID,
        into effects: inout Effects
    ) {
        var batch = Batch()
        batch.add(.putVersion(version))
        batch.add(.dropIntent(intent))
        expectLateWriter(of: version)
        effects.add(.report(.note(Note(code: .versionKept, subject: version.path.bytes))))
        store(&batch, then: .answer(id, answer), into: &effects)
    }

    private mutating func end(
        settingAside intent: StageName, _ answer: Answer, _ id: CommandID, into effects: inout Effects
    ) {
        var batch = Batch()
        batch.add(.dropIntent(intent))
        store(&batch, then: .answer(id, answer), into: &effects)
    }
}

extension KeptVersion {
    fileprivate var isFile: Bool { entry.content.kind == .file }
}
