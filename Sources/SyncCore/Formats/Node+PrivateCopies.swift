import RecordMerge
import SyncModel

/// Of every guarded file that this node's programs do not understand a copy is kept among the versions: what one of them writes
/// over it can be put right also while the other node is away.
extension Node {
    mutating func pumpPrivateCopies() {
        guard isWorking, !formats.isKeeping, let (path, content) = formats.toKeep.popFirst() else { return }
        formats.isKeeping = true
        enqueue(.keepNewer(path, content))
    }

    mutating func keepNewer(
        _ path: Path, _ content: ContentID, _ answers: inout Answers, into effects: inout Effects
    ) {
        formats.isKeeping = false
        let row = answers.rows().first
        let list = answers.chunkList()
        let kept = answers.versions().filter { $0.reason == .formatNewer }
        guard let row, row.condition == .normal, !row.owesCopy, !apply.touches(path), let disk = row.disk,
            case .file(content, let size) = disk.entry.content, let list, list.size == size,
            !kept.contains(where: { $0.entry.content == disk.entry.content })
        else { return }
        let version = self.kept(row, disk, .formatNewer)
        let stage = nextStage()
        let staged = Place.stage(stage)
        var operations: [DiskOperation] = [.expect(.tree(path), disk.stat), .createFile(staged)]
        var offset: UInt64 = 0
        for chunk in list.chunks {
            operations.append(
                .copy(
                    from: .tree(path), offset: offset, length: UInt64(chunk.length), to: staged, at: offset,
                    digest: chunk.digest))
            offset += UInt64(chunk.length)
        }
        operations += [
            .setModified(staged, disk.entry.modified), .syncFile(staged), .move(staged, to: version.place),
            .syncParent(version.place), .inspect(version.place),
        ]
        formats.isKeeping = true
        effects.add(.disk(newJob(.keepingNewer(version, past: kept.map(\.id), stage)), [DiskProgram(operations)]))
    }

    /// The copy of an earlier state has become a version like any other by now, but nobody has seen it replaced: it goes.
    mutating func finishKeepingNewer(
        _ version: KeptVersion, past: [VersionID], _ stage: StageName, _ results: [DiskResult],
        into effects: inout Effects
    ) {
        formats.isKeeping = false
        guard let result = results.first, result.failure == nil, let stat = result.inspected.first ?? nil else {
            // The file is being changed, or the disk is full: the next state of it is tried again.
            if results.first?.failure?.index != 0 { plan.abandoned.append(stage) }
            return
        }
        var batch = Batch()
        batch.add(.putVersion(version.with(stat: stat)))
        store(&batch, into: &effects)
        if !past.isEmpty {
            effects.add(.disk(newJob(.pruning(past)), past.map { DiskProgram([.discard(.version($0))]) }))
        }
    }

    /// A copy is kept as long as the file is not understood.
    func isNeeded(_ version: KeptVersion) -> Bool {
        version.reason == .formatNewer
            && alarms.raised.contains { $0.key.subject == version.path.bytes && $0.key.format?.node == .own }
    }
}
