import Coordination
import SyncModel

/// A file that a person wants out of the folder and kept: his own deletion, but one that this node keeps the version of too.
/// The file goes among the versions, and what the next look finds missing is told to the peer as any deletion is.
extension Node {
    mutating func setAside(_ id: CommandID, _ path: Path, _ answers: inout Answers, into effects: inout Effects) {
        let isDue = takeOrder(of: id, at: path)
        guard isWorking else { return effects.add(.answer(id, .refused(.nodeHalted))) }
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
        let (here, there) = (Place.tree(path), version.place)
        // Whoever wrote it may not have synced it, and it may be the only one. (Before it goes: in the tree it can be written anew.)
        let program = DiskProgram(
            [.expect(here, disk.stat), .expectUnheld(here)] + (version.isFile ? [.syncFile(here)] : []) + [
                .move(here, to: there), .expectContent(there, disk.stat), .inspect(there), .syncParent(there),
                .syncParent(here),
            ])
        apply.restoring[path] = true
        run([program], for: .settingAside(id, version, intent.stage), after: intent, into: &effects)
    }

    mutating func finishSettingAside(
        _ id: CommandID, _ version: KeptVersion, _ intent: StageName, _ results: [DiskResult],
        into effects: inout Effects
    ) {
        apply.restoring[version.path] = nil
        look(at: version.path)
        if let parent = version.path.parent { look(at: parent) }
        let failure = results.first?.failure
        let moved = version.isFile ? 4 : 3
        if let failure, failure.index < moved {
            if version.isFile, failure.index == 2, failure.error == .inputOutput {
                watch.unwritten[version.path] = version.stat.identity
                watch.toHash[version.path] = true
            }
            return end(settingAside: intent, .refused(Node.reason(for: failure.error)), id, into: &effects)
        }
        let found = results.first?.inspected.first ?? nil
        if failure?.index == moved {
            // Another save in that very moment, or nobody can tell: it is looked at once more, and goes into the tree beside.
            effects.add(.disk(newJob(.bringingBack(id, version, intent)), [DiskProgram([.inspect(version.place)])]))
            return
        }
        let answer = failure.map { Answer.refused(Node.reason(for: $0.error)) } ?? .done
        keep(settingAside: version.with(stat: found ?? version.stat), intent, answer, id, into: &effects)
    }

    /// It has been moved, and nothing takes it away again: where it cannot be seen, it is a version of what it was. What somebody may have
    /// written in that moment the late look finds. Where nothing is, the intent stays: the next start finds what it tells of.
    mutating func finishBringingBack(
        _ id: CommandID, _ version: KeptVersion, _ intent: StageName, _ results: [DiskResult],
        into effects: inout Effects
    ) {
        let isUnseen = results.first?.failure != nil
        guard let stat = isUnseen ? version.stat : results.first?.inspected.first ?? nil else {
            return effects.add(.answer(id, .refused(.pathBusy)))
        }
        // A version in any case: it stays one if it cannot be brought back.
        keep(settingAside: version.with(stat: stat), intent, .refused(.pathBusy), id, into: &effects)
        if !stat.isSameContent(as: version.stat) { rescue(version.with(stat: stat), into: &effects) }
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
