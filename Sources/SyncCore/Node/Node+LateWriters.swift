import SyncModel

/// A displaced file that is looked at once more.
struct LateLook: Sendable {
    let dueMilliseconds: UInt64
    var version: KeptVersion
    /// It could not be seen at the first look: the folder may have been away, or the disk failed.
    var isSecond = false
    /// It has been seen to be written to, and could not be brought back yet.
    var isWritten = false
    /// It has another name in the folder: what is written by that would be written over what history has.
    var isShared = false
    /// How often it has been tried in vain to write it anew.
    var tries = 0
}

/// Programs that still held a file open when it was displaced: what they write into it comes back into the tree.
extension Node {
    /// Counted from when it was displaced, also after a restart: how far back the next start asks is counted from there as well.
    @discardableResult
    mutating func expectLateWriter(of version: KeptVersion, isShared: Bool = false) -> LateLook {
        let patience = Int64(clamping: limits.lateWriterMilliseconds)
        let left = min(max(0, version.keptMilliseconds + patience - now.wallMilliseconds), patience)
        let due = now.monotonicMilliseconds + UInt64(left)
        let look = LateLook(dueMilliseconds: due, version: version, isShared: isShared)
        apply.late.append(look)
        return look
    }

    mutating func noteEarlier(_ version: KeptVersion) {
        if recovery.isAfterCrash, !version.isOurCopy { apply.unsyncedVersions[version.id] = true }
    }

    /// It has come back and can be read; who finds it there is to know that it may not be on the disk.
    mutating func noteUnsynced(_ version: KeptVersion, at path: Path, hasFailed: Bool = false) {
        guard hasFailed || apply.unsyncedVersions.removeValue(forKey: version.id) != nil,
            watch.unwritten.count < limits.notedPathsMax
        else { return }
        watch.unwritten[path] = version.stat.identity
    }

    /// The sign of life, by which the next start asks for what was displaced a moment before: it does not pass what is
    /// still to be looked at. (A stop waits for no look, and looks wait for a folder that is away.)
    var signOfLife: Int64 {
        let patience = Int64(clamping: limits.lateWriterMilliseconds)
        return unsettledVersions.reduce(timers.alive(at: now)) { min($0, $1.keptMilliseconds + patience) }
    }

    /// Displaced files that have not been looked at to the end, or have been written to and are not back yet.
    /// (Nothing else is at work in the lane when a sign of life is given.)
    private var unsettledVersions: [KeptVersion] {
        var versions = apply.late.map(\.version)
        for (_, purpose) in jobs { versions += purpose.lateVersions }
        for transaction in lane.waiting { versions += transaction.lateVersions }
        for entry in stores.line { versions += entry.after.lateVersions }
        return versions
    }

    /// By another name that such a file has we have set its time: that is no late write, if it was until then as it had been displaced.
    mutating func noteRetimed(_ items: [AppliedItem]) {
        if apply.late.isEmpty { return }
        var retimed = SortedMap<FileIdentity, (before: Stat, after: Stat)>()
        for item in items {
            if let after = item.retimed, let before = item.task.adoptedFrom?.stat ?? item.task.stat {
                retimed[after.identity] = (before, after)
            }
        }
        if retimed.isEmpty { return }
        apply.late = Deque(
            apply.late.map { look in
                let known = look.version.stat
                guard let stats = retimed[known.identity], known.isSameContent(as: stats.before) else { return look }
                var look = look
                look.version = look.version.with(stat: stats.after)
                return look
            })
    }

    /// Displaced files are looked at once more when they should have been quiet. (The disk may be faster than the lane, in which something
    /// follows of each look.)
    mutating func pumpLateWriters(into effects: inout Effects) {
        guard watch.root == .healthy, max(apply.lateLooks, lane.waiting.count) < ApplyState.lateLooksMax else { return }
        var due: [LateLook] = []
        while due.count < limits.batchPathsMax, let first = apply.late.first,
            first.dueMilliseconds <= now.monotonicMilliseconds
        {
            _ = apply.late.popFirst()
            if first.isWritten { bringBack(first.version, into: &effects) } else { due.append(first) }
        }
        guard !due.isEmpty else { return }
        apply.lateLooks += 1
        effects.add(.disk(newJob(.lateCheck(due)), due.map { DiskProgram([.inspect($0.version.place)]) }))
    }

    /// A version that was given back to a person is not there any more; another file may be in its place.
    mutating func finishLateCheck(_ looks: [LateLook], _ results: [DiskResult], into effects: inout Effects) {
        apply.lateLooks -= 1
        var late: [KeptVersion] = []
        var quiet: [LateLook] = []
        var shared: [FileIdentity] = []
        for (look, result) in zip(looks, results) {
            guard let stat = result.inspected.first ?? nil else {
                lookAgain(look)
                continue
            }
            let version = look.version
            if stat.identity != version.stat.identity {
                // (Written anew, perhaps, by a process that did not get to say so.)
                if apply.unsyncedVersions.contains(key: version.id) {
                    keepSecured(version, as: stat, into: &effects)
                }
                // (Who has it open by the name it had writes to what stands under the others, and nobody tells of it by these.)
                if look.isShared { shared.append(version.stat.identity) }
            } else if stat.isSameContent(as: version.stat) || stat.kind == .symlink {
                // (Nobody can write to a link, whatever a cut has made of its time.)
                quiet.append(look)
            } else {
                late.append(version.with(stat: stat))
            }
        }
        if !shared.isEmpty { enqueue(.namesakes(shared)) }
        secure(quiet, into: &effects)
        if !late.isEmpty { enqueue(.lateWriters(late)) }
    }

    private mutating func lookAgain(_ look: LateLook) {
        guard !look.isSecond else { return }
        timers.rootSuspect = .missing
        let due = now.monotonicMilliseconds + limits.lateWriterMilliseconds
        apply.late.append(
            LateLook(dueMilliseconds: due, version: look.version, isSecond: true, isShared: look.isShared))
    }

    /// A program that still held a displaced file open has written to it: what it wrote goes back into the tree.
    mutating func rescueLateWrites(_ versions: [KeptVersion], _ answers: inout Answers, into effects: inout Effects) {
        let namesakes = answers.rows()
        for version in versions {
            let chunks = version.contentID == nil ? nil : answers.chunkList()
            if namesakes.contains(where: { isShown(version, by: $0) }) { continue }
            if let chunks, chunks.size == version.stat.size {
                verify(version, chunks, into: &effects)
            } else {
                rescue(version, into: &effects)
            }
        }
    }

    /// Times change also when only a time is set, by whatever name: as long as every chunk is what it was, nobody has
    /// written. (They are copied to one place, because what copies them compares them.)
    private mutating func verify(_ version: KeptVersion, _ list: ChunkList, into effects: inout Effects) {
        let stage = nextStage()
        var program = DiskProgram([.createFile(.stage(stage))])
        var offset: UInt64 = 0
        for chunk in list.chunks {
            let length = UInt64(chunk.length)
            program.operations.append(
                .copy(
                    from: version.place, offset: offset, length: length, to: .stage(stage), at: 0,
                    digest: chunk.digest))
            offset += length
        }
        effects.add(.disk(newJob(.lateVerify(version, stage)), [program]))
    }

    mutating func finishLateVerify(
        _ version: KeptVersion, _ stage: StageName, _ results: [DiskResult], into effects: inout Effects
    ) {
        let failure = results.first?.failure
        if failure?.index != 0 { plan.abandoned.append(stage) }
        if failure != nil { rescue(version, into: &effects) }
    }

    mutating func rescue(_ version: KeptVersion, into effects: inout Effects) {
        effects.add(.report(.note(Note(code: .itemLateWrite, subject: version.path.bytes))))
        bringBack(version, into: &effects)
    }

    private mutating func bringBack(_ version: KeptVersion, into effects: inout Effects) {
        guard let refuge = refuge(for: version.path) else { return }
        let program = rescue(version, to: refuge)
        let intent = announce(refuge, from: version)
        run([program], for: .lateRescue(refuge, version, intent.stage), after: intent, into: &effects)
    }

    /// The file has another name in the tree, and was seen there just as it is now: who changed it has it where he did so.
    private func isShown(_ version: KeptVersion, by row: Row) -> Bool {
        guard row.condition == .normal, let disk = row.disk else { return false }
        return version.stat.isSameContent(as: disk.stat)
    }

    /// Who wrote into it has nothing of it but this file, and may not have synced it.
    private func rescue(_ version: KeptVersion, to path: Path) -> DiskProgram {
        DiskProgram([
            .expectIdentity(version.place, version.stat.identity, version.stat.kind),
            .move(version.place, to: .tree(path)),
            .syncParent(.tree(path)), .syncParent(version.place), .syncFile(.tree(path)),
        ])
    }

    /// All is done but the last of it, the sync of the file.
    private func isUnwritten(_ failure: DiskResult.Failure?, _ program: DiskProgram) -> Bool {
        failure?.error == .inputOutput && failure?.index == program.operations.count - 1
    }

    mutating func finishLateRescue(
        _ path: Path, _ version: KeptVersion, _ intent: StageName, _ results: [DiskResult], into effects: inout Effects
    ) {
        let isUnwritten = isUnwritten(results.first?.failure, rescue(version, to: path))
        let failure = isUnwritten ? nil : results.first?.failure?.error
        if failure == nil { noteUnsynced(version, at: path, hasFailed: isUnwritten) }
        if failure == .notFound || failure == .notDirectory, path.depth > 1, let name = path.name {
            // Its directory is gone by now: to the top of the folder, then.
            let top = Path.root.appending(name)
            let program = rescue(version, to: top)
            let next = announce(top, from: version)
            var batch = Batch()
            batch.add(.dropIntent(intent))
            batch.add(.putIntent(next))
            store(&batch, then: .run(.lateRescue(top, version, next.stage), [program]), into: &effects)
            return
        }
        if failure == nil { look(at: path) }
        // What failed is the disk, not the version: it is tried again.
        if let failure, failure != .notFound, failure != .notDirectory, failure != .mismatch {
            let due = now.monotonicMilliseconds + limits.lateWriterMilliseconds
            apply.late.append(LateLook(dueMilliseconds: due, version: version, isWritten: true))
        }
        var batch = Batch()
        batch.add(.dropIntent(intent))
        if failure == nil { batch.add(.dropVersion(version.id)) }
        store(&batch, into: &effects)
    }
}

extension Node.Purpose {
    /// Displaced files that are being looked at, or brought back.
    fileprivate var lateVersions: [KeptVersion] {
        if case .lateCheck(let looks) = self { return looks.map(\.version) }
        if case .lateVerify(let version, _) = self { return [version] }
        if case .lateRescue(_, let version, _) = self { return [version] }
        return []
    }
}

extension Transaction {
    fileprivate var lateVersions: [KeptVersion] {
        if case .lateWriters(let versions) = self { versions } else { [] }
    }
}

extension AfterStored {
    fileprivate var lateVersions: [KeptVersion] {
        if case .run(let purpose, _) = self { purpose.lateVersions } else { [] }
    }
}

extension KeptVersion {
    /// Not what has made room, but a copy that we have made and synced before it went among the versions.
    fileprivate var isOurCopy: Bool {
        reason == RecordShelf.reason || reason == .formatNewer || reason == .versionRestored
    }

    var contentID: ContentID? {
        if case .file(let id, _) = entry.content { id } else { nil }
    }

    func with(
        id: VersionID? = nil, stat: Stat? = nil, keptMilliseconds: Int64? = nil
    ) -> KeptVersion {
        KeptVersion(
            id: id ?? self.id, path: path, entry: entry, stat: stat ?? self.stat, author: author,
            keptMilliseconds: keptMilliseconds ?? self.keptMilliseconds, reason: reason, isQuarantined: isQuarantined)
    }
}
