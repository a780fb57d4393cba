package import SyncModel

/// INV-24. Many deletes at once are a question, not a change.
package final class MassLossGuard: DiskInvariant, StoreInvariant {
    package static let id = "INV-24"
    package static let sentence = """
        When people at one machine delete at one moment more files than the fuse allows, or the folder is emptied, no more than the \
        fuse allows of it is deleted on the other machine before somebody approves. (What stands there under another name as \
        well, one that was not deleted with it, is renamed and not lost. What the rules left out \
        until the log had told of the rest is counted apart.)
        """

    private let fuseFiles: Int
    private let fusePercent: Int
    private var approvals: [Int64] = []
    /// Deletes applied so far, by the number of the mass deletion that caused them.
    private var applied: [Int: Applied] = [:]  // lookup only
    /// What the daemon of each machine has put where nothing was, and when.
    private var arrivals: [[(path: Path, time: Int64)]] = [[], []]
    /// What it has taken away, and when.
    private var departures: [[(path: Path, time: Int64)]] = [[], []]
    /// What was taken away so shortly before counts as there still: the batch that did it may not be over.
    private static let batchMilliseconds: Int64 = 2_000

    /// When the rules of each machine last let go of what they had left out.
    private var letGo: [SortedMap<Path, Int64>] = [[:], [:]]
    /// When its log last told that something is deleted.
    private var told: [SortedMap<Path, Int64>] = [[:], [:]]

    private struct Applied {
        /// Each once: what had to go back to its place after a failure goes again.
        var paths: SortedMap<Path, Bool> = [:]
        var isTold = false
    }

    package init(settings: Settings = Settings()) {
        fuseFiles = settings.deleteFuseFiles
        fusePercent = settings.deleteFusePercent
    }

    package func see(_ act: OperatorAct, _ court: inout Court) {
        if act.kind == .approvedDeletes { approvals.append(court.now) }
    }

    package func see(_ act: StoreAct, _ court: inout Court) {
        if court.ledger.bursts.isEmpty { return }
        for operation in act.batch.operations {
            if case .putRow(let row) = operation {
                guard row.condition != .ignored, act.store.rows[row.path]?.condition == .ignored else { continue }
                letGo[act.machine][row.path] = court.now
            } else if case .appendLog(let record) = operation {
                guard case .put(let path, let revision) = record.change, revision.entry.isAbsent else { continue }
                told[act.machine][path] = court.now
            }
        }
    }

    package func see(_ act: DiskAct, _ court: inout Court) {
        guard act.error == nil else { return }
        for change in act.treeChanges where change.after.isContent && !change.before.isContent {
            arrivals[act.machine].append((change.path, court.now))
        }
        for change in act.treeChanges where change.before.isContent && change.after == .absent {
            departures[act.machine].append((change.path, court.now))
            for (number, burst) in court.ledger.bursts.enumerated() where burst.machine != act.machine {
                guard burst.paths.contains(key: change.path), isTooMuch(burst) else { continue }
                if approvals.contains(where: { $0 >= burst.time }) { continue }
                if court.ledger.wentAgain(change.path, since: burst) { continue }
                if isOfEarlier(change.path, burst, on: act.machine, court) { continue }
                if court.ledger.wasRemoved(change.path, on: act.machine, at: court.now) { continue }
                if act.places(change.before).contains(where: { !burst.paths.contains(key: $0) }) { continue }
                note(change.path, number, burst, on: act.machine, &court)
            }
        }
    }

    /// What goes had gone before, somebody had approved of that, and the other machine had heard of neither, nor of what was there again meanwhile.
    private func isOfEarlier(_ path: Path, _ burst: Ledger.Burst, on machine: Int, _ court: Court) -> Bool {
        court.ledger.bursts.contains { earlier in
            earlier.machine == burst.machine && earlier.time < burst.time && earlier.paths.contains(key: path)
                && approvals.contains { $0 >= earlier.time && $0 < burst.time }
                && !arrivals[machine].contains { $0.path == path && $0.time >= earlier.time }
        }
    }

    /// Nobody looks at what the rules leave out. Once they let go of it, it is found missing, and nobody can tell when it
    /// went: not that it was at one moment with what the other node has been told of by then.
    private func isApart(_ path: Path, _ other: Path, _ burst: Ledger.Burst) -> Bool {
        wasLeftOut(path, until: other, burst) || wasLeftOut(other, until: path, burst)
    }

    /// Until the log told of the other.
    private func wasLeftOut(_ path: Path, until other: Path, _ burst: Ledger.Burst) -> Bool {
        let log = told[burst.machine]
        guard let free = letGo[burst.machine][path], let earlier = log[other], let later = log[path] else {
            return false
        }
        return burst.time <= earlier && earlier < free && free <= later
    }

    /// Who learns of the deletes one by one, by late notices, cannot know that there are more: what the fuse allows by itself
    /// may go.
    private func note(
        _ path: Path, _ number: Int, _ burst: Ledger.Burst, on machine: Int, _ court: inout Court
    ) {
        var sum = applied[number] ?? Applied()
        defer { applied[number] = sum }
        guard sum.paths.updateValue(true, forKey: path) == nil else { return }
        let gone = sum.paths.map(\.key).filter { !isApart($0, path, burst) }
        let arrived = arrivals[burst.machine].filter { $0.time >= burst.time }.map(\.path)
        let departing = departures[burst.machine].filter {
            $0.time <= burst.time && $0.time > burst.time - MassLossGuard.batchMilliseconds
                && !burst.all.contains(key: $0.path)
        }.map(\.path)
        guard !sum.isTold, isTooMuch(gone, burst),
            isTooMuch(gone, court.ledger.enlarged(burst, by: arrived + departing))
        else {
            return
        }
        sum.isTold = true
        court.find(
            self, on: machine,
            "\(gone.count) of \(burst.paths.count) files deleted at one moment went without anybody's approval, \(path) last"
        )
    }

    private func isTooMuch(_ gone: [Path], _ burst: Ledger.Burst) -> Bool {
        if gone.count > fuseFiles && gone.count * 100 > fusePercent * burst.filesBefore { return true }
        return burst.tops.contains { top, files in
            let count = gone.count { $0.top == top }
            return count > fuseFiles && count * 100 > fusePercent * files.before
        }
    }

    private func isTooMuch(_ burst: Ledger.Burst) -> Bool {
        if burst.paths.count <= fuseFiles { return false }
        if burst.paths.count * 100 > fusePercent * burst.filesBefore { return true }
        return burst.tops.contains {
            $0.value.deleted > fuseFiles && $0.value.deleted * 100 > fusePercent * $0.value.before
        }
    }
}
