import RecordMerge
import SyncModel

/// Keeps the files of records in quarantine (`RecordShelf`) as the view says: written in the stage, then announced, then put there.
extension Node {
    mutating func pumpShelf() {
        guard isWorking, keepsRecords, records.isAdopted, !records.shelf.isBusy, records.shelf.hasWork else { return }
        records.shelf.isBusy = true
        enqueue(records.shelf.found == nil ? .loadShelf : .shelve)
    }

    mutating func loadShelf(_ answers: inout Answers) {
        records.shelf.isBusy = false
        records.shelf.begin(with: answers.versions())
        for book in records.books { records.shelf.note(Array(book.view.quarantine.keys)) }
    }

    mutating func shelve(into effects: inout Effects) {
        records.shelf.isBusy = false
        guard isWorking else { return }
        var batch = Batch()
        var shelvings: [Shelving] = []
        var looks = 0
        while looks < RecordShelf.lookedAtMax, shelvings.count < RecordShelf.writtenMax,
            let record = records.shelf.popDue()
        {
            looks += 1
            let shelved = records.books.lazy.compactMap { $0.shelved(record) }.first
            if let shelved, records.shelf.claim(shelved, for: record) { continue }
            if let old = records.shelf.remove(record) { release(old, in: &batch) }
            if let shelved { shelvings.append(Shelving(record: record, shelved: shelved, stage: nextStage())) }
        }
        if looks == 0 { for version in records.shelf.takeUnclaimed() { release(version, in: &batch) } }
        if !batch.isEmpty { store(&batch, into: &effects) }
        guard !shelvings.isEmpty else { return }
        records.shelf.isBusy = true
        effects.add(.disk(newJob(.stagingRecords(shelvings)), shelvings.map(program)))
    }

    /// From here on it is a version like any other, wherever it lies.
    private func release(_ version: KeptVersion, in batch: inout Batch) {
        batch.add(
            .putVersion(
                KeptVersion(
                    id: version.id, path: version.path, entry: version.entry, stat: version.stat,
                    author: version.author,
                    keptMilliseconds: now.wallMilliseconds, reason: .versionKept, isQuarantined: true)))
    }

    private func program(for shelving: Shelving) -> DiskProgram {
        let (place, bytes) = (Place.stage(shelving.stage), shelving.shelved.bytes)
        var program = DiskProgram([.createFile(place)])
        for offset in stride(from: 0, to: bytes.count, by: limits.contentFrameBytesMax) {
            let part = bytes[offset..<min(offset + limits.contentFrameBytesMax, bytes.count)]
            program.operations.append(.write(place, offset: UInt64(offset), bytes: Array(part)))
        }
        program.operations += [
            .setMode(place, shelving.shelved.entry.mode), .setModified(place, shelving.shelved.entry.modified),
            .syncFile(place), .inspect(place),
        ]
        return program
    }

    /// They lie in the stage, whole. Of a file in quarantine that no record tells of nobody would ever know.
    mutating func finishStagingRecords(
        _ shelvings: [Shelving], _ results: [DiskResult], into effects: inout Effects
    ) {
        records.shelf.isBusy = false
        var batch = Batch()
        var placings: [Shelving] = []
        var programs: [DiskProgram] = []
        for (shelving, result) in zip(shelvings, results) {
            guard result.failure == nil, let stat = result.inspected.first.flatMap(\.self) else {
                failShelving(shelving, result.failure, into: &effects)
                continue
            }
            let shelved = shelving.shelved
            let version = KeptVersion(
                id: nextVersion(), path: shelved.path, entry: shelved.entry, stat: stat,
                author: shelved.author == ownParty ? .own : .peer, keptMilliseconds: now.wallMilliseconds,
                reason: RecordShelf.reason, isQuarantined: true)
            let step = version.placing(from: shelving.stage, stat)
            batch.add(.putIntent(step.intent))
            var placing = shelving
            placing.version = version
            placings.append(placing)
            programs.append(step.program)
        }
        guard !placings.isEmpty else { return }
        records.shelf.isBusy = true
        store(&batch, then: .run(.placingRecords(placings), programs), into: &effects)
    }

    mutating func finishPlacingRecords(
        _ placings: [Shelving], _ results: [DiskResult], into effects: inout Effects
    ) {
        records.shelf.isBusy = false
        var batch = Batch()
        for (placing, result) in zip(placings, results) {
            batch.add(.dropIntent(placing.stage))
            guard let version = placing.version, result.failure?.index != 0 else {
                failShelving(placing, result.failure, into: &effects)
                continue
            }
            let found = version.with(stat: result.inspected.first.flatMap(\.self) ?? version.stat)
            batch.add(.putVersion(found))
            records.shelf.put(found, of: placing.record)
        }
        store(&batch, into: &effects)
    }

    private mutating func failShelving(
        _ shelving: Shelving, _ failure: DiskResult.Failure?, into effects: inout Effects
    ) {
        // (The first operation makes it, or takes it away.)
        let isThere = shelving.version == nil ? failure?.index != 0 : true
        if isThere { plan.abandoned.append(shelving.stage) }
        records.shelf.fail(shelving.record)
        timers.retrySoon(at: now, limits)
        guard let failure else { return }
        let code = Node.reason(for: failure.error)
        if code == .diskFull || code == .diskError { setAlarm(code, failure.error.facts(), if: true, into: &effects) }
    }

    /// A person has taken it from there.
    mutating func noteTaken(_ version: KeptVersion) {
        guard version.isQuarantined else { return }
        for (record, file) in records.shelf.files where file.id == version.id {
            _ = records.shelf.remove(record)
            records.shelf.note([record])
        }
    }
}
