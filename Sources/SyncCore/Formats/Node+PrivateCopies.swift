import RecordMerge
import SyncModel

/// Of every guarded file that this node's programs do not understand, and of every document of records in no version that makes sense, a
/// copy is kept among the versions: what one of them writes over it can be put right also while the other node is away.
extension Node {
    mutating func pumpPrivateCopies() {
        guard isWorking, formats.keeping == nil,
            let (path, content) = formats.toKeep.first(where: { !isBeingLookedAt($0.key) && !apply.touches($0.key) })
        else { return }
        formats.toKeep[path] = nil
        formats.keeping = path
        enqueue(.keepNewer(path, content))
    }

    mutating func keepNewer(
        _ path: Path, _ content: ContentID, _ answers: inout Answers, into effects: inout Effects
    ) {
        formats.keeping = nil
        let row = answers.rows().first
        let list = answers.chunkList()
        let kept = answers.versions().filter { $0.reason == .formatNewer }
        if isBeingLookedAt(path) || apply.touches(path) {
            // It may be another by now.
            formats.toKeep[path] = content
            return
        }
        guard !kept.contains(where: { $0.contentID == content }),
            let (version, list) = savedToKeep(path, content) ?? row.flatMap({ shownToKeep($0, content, list) })
        else { return }
        let stage = nextStage()
        let staged = Place.stage(stage)
        var operations: [DiskOperation] = [.expect(.tree(path), version.stat), .createFile(staged)]
        var offset: UInt64 = 0
        for chunk in list.chunks {
            operations.append(
                .copy(
                    from: .tree(path), offset: offset, length: UInt64(chunk.length), to: staged, at: offset,
                    digest: chunk.digest))
            offset += UInt64(chunk.length)
        }
        operations += [.setModified(staged, version.entry.modified), .syncFile(staged), .inspect(staged)]
        formats.keeping = path
        let past = kept.filter { isPast($0, row) }.map(\.id)
        effects.add(.disk(newJob(.keepingNewer(version, past: past, stage)), [DiskProgram(operations)]))
    }

    /// Over a document of records an older program may have saved since, and that was told of: what it overwrote is nowhere else.
    private func isPast(_ copy: KeptVersion, _ row: Row?) -> Bool {
        guard records.found.contains(key: copy.path), let told = row?.disk?.origins.content.time else { return true }
        return copy.keptMilliseconds >= Int64(clamping: told.wallMilliseconds)
    }

    private mutating func shownToKeep(
        _ row: Row, _ content: ContentID, _ list: ChunkList?
    ) -> (KeptVersion, ChunkList)? {
        guard row.condition == .normal, !row.owesCopy, let disk = row.disk,
            case .file(content, let size) = disk.entry.content, let list, list.size == size
        else { return nil }
        return (kept(row, disk, .formatNewer), list)
    }

    /// A document of records that nobody can read: no row and no set tells of it, and a program may save over it.
    private mutating func savedToKeep(_ path: Path, _ content: ContentID) -> (KeptVersion, ChunkList)? {
        guard let finding = records.found[path], case .file(content, _) = finding.entry.content,
            let stat = finding.stat, let saved = finding.saved
        else { return nil }
        let version = KeptVersion(
            id: nextVersion(), path: path, entry: finding.entry, stat: stat, author: .own,
            keptMilliseconds: now.wallMilliseconds, reason: .formatNewer)
        return (version, saved.chunks)
    }

    /// It lies in the stage, whole. Before it goes among the versions that is written down: of a file there that no record tells of
    /// nobody would ever know.
    mutating func finishKeepingNewer(
        _ version: KeptVersion, past: [VersionID], _ stage: StageName, _ results: [DiskResult],
        into effects: inout Effects
    ) {
        formats.keeping = nil
        guard let result = results.first, result.failure == nil, let stat = result.inspected.first ?? nil else {
            // The file is being changed, or the disk is full: the next state of it is tried again, or this one where it comes back.
            if results.first?.failure?.index != 0 { plan.abandoned.append(stage) }
            return
        }
        formats.keeping = version.path
        let placing = version.placing(from: stage, stat)
        run(
            [placing.program], for: .placingNewer(version.with(stat: stat), past: past, stage), after: placing.intent,
            into: &effects)
    }

    /// The copy of an earlier state has become a version like any other by now, but nobody has seen it replaced: it goes.
    mutating func finishPlacingNewer(
        _ version: KeptVersion, past: [VersionID], _ stage: StageName, _ results: [DiskResult],
        into effects: inout Effects
    ) {
        formats.keeping = nil
        guard let result = results.first else { return }
        var batch = Batch()
        batch.add(.dropIntent(stage))
        if result.failure?.index == 0 {
            plan.abandoned.append(stage)
            store(&batch, into: &effects)
            return
        }
        batch.add(.putVersion(version.with(stat: result.inspected.first.flatMap(\.self) ?? version.stat)))
        store(&batch, into: &effects)
        if !past.isEmpty {
            effects.add(.disk(newJob(.pruning(past)), past.map { DiskProgram([.discard(.version($0))]) }))
        }
    }

    /// The store forgets how a content is cut some time after the file has changed. A copy that is to go back to its place is read for that.
    /// False if it is too large.
    mutating func readKept(_ version: KeptVersion, for wanted: WantedContent, into effects: inout Effects) -> Bool {
        readHere(version.place, version.stat.size, for: wanted, version: version.id, into: &effects)
    }

    /// So is a file that the rules leave out here, if both nodes would wait for each other for what it holds.
    mutating func readLeftOut(_ row: Row, for wanted: WantedContent, into effects: inout Effects) -> Bool {
        guard let stat = row.disk?.stat else { return false }
        return readHere(.tree(row.path), stat.size, for: wanted, version: nil, into: &effects)
    }

    private mutating func readHere(
        _ place: Place, _ size: UInt64, for wanted: WantedContent, version: VersionID?, into effects: inout Effects
    ) -> Bool {
        guard size <= Node.keptBytesMax else { return false }
        let request = ReadRequest(place: place, expected: nil, offset: 0, length: Int(clamping: size))
        effects.add(.read(newJob(.readingKept(wanted, version)), [request]))
        return true
    }

    mutating func finishReadingKept(
        _ wanted: WantedContent, _ version: VersionID?, _ outcomes: [ReadOutcome], into effects: inout Effects
    ) {
        // A record that leads nowhere must not have anybody wait for what it tells of.
        if let version, case .failed(.notFound)? = outcomes.first { enqueue(.dropVersions([version])) }
        guard var task = plan.tasks[wanted.path], task.content == wanted.content, task.state == .locating else {
            return
        }
        if case .bytes(let bytes)? = outcomes.first {
            let list = ContentHasher.chunks(of: bytes, limits.chunking)
            if ContentID(list.contentID) == wanted.content {
                var batch = Batch()
                batch.add(.putChunks(wanted.content, list))
                store(&batch, into: &effects)
                plan.toLocate.append(wanted)
                return
            }
        }
        task.state = .fetching
        plan.tasks[wanted.path] = task
        begin(wanted.content, for: task, copying: nil)
    }

    private static let keptBytesMax: UInt64 = 4 << 20

    /// A copy is kept as long as the file is not understood.
    func isNeeded(_ version: KeptVersion) -> Bool {
        version.reason == .formatNewer
            && alarms.raised.contains { alarm in
                alarm.key.subject == version.path.bytes && alarm.key.format?.node == .own
                    && alarm.key.format?.supported != nil
            }
    }
}
