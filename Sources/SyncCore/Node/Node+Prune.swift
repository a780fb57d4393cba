import SyncModel

/// How long versions are kept. Their promise is a time by the wall clock; a clock that leaps forward, by mistake or because it is set
/// right after a wrong start, makes none of them old: nothing goes by its age until the clock has gone without a leap for as long as the
/// promise lasts. Whatever was kept before the leap is past it then.
extension Node {
    /// A machine may have been switched off for as long as its clock says, if that is not long compared with the promise.
    mutating func noteTimeAway() {
        let away = now.wallMilliseconds - record.aliveMilliseconds
        if record.steadySince == nil || away > settings.keepVersionsMilliseconds / 4 {
            record.steadySince = now.wallMilliseconds
        }
    }

    /// What a clock may be corrected by is little compared with the promise.
    mutating func noteLeap(of milliseconds: Int64) {
        let isLeap = milliseconds > settings.keepVersionsMilliseconds / 30
        // (Since a time to come: the clock has been put back.)
        if isLeap || record.steadySince.map({ $0 > now.wallMilliseconds }) != false {
            record.steadySince = now.wallMilliseconds
        }
    }

    /// What was kept before this is past its promise.
    private var promisedSince: Int64 {
        let since = now.wallMilliseconds - settings.keepVersionsMilliseconds
        return record.steadySince.map { $0 <= since } == true ? since : .min
    }

    /// Versions past their promise, oldest first: those that are too old, and as many more as take the room that is too
    /// much. What was kept just now stays all the same: somebody may still be writing to it, or looking for it.
    mutating func prune(_ answers: inout Answers, into effects: inout Effects) {
        guard phase == .running else { return }
        let (versions, bytes) = answers.prunable()
        let limit = promisedSince
        let young = now.wallMilliseconds - limits.youngVersionMilliseconds
        var rest = bytes
        var past: [KeptVersion] = []
        for version in versions where !isNeeded(version) {
            let isTooMuch = rest > settings.keepVersionsBytes && version.keptMilliseconds < young
            guard version.keptMilliseconds < limit || isTooMuch else { continue }
            rest -= min(rest, version.entry.content.size)
            past.append(version)
        }
        guard !past.isEmpty else { return }
        effects.add(.disk(newJob(.pruning(past.map(\.id))), past.map { DiskProgram([.discard($0.place)]) }))
    }

    mutating func finishPruning(_ versions: [VersionID], _ results: [DiskResult], into effects: inout Effects) {
        let gone = zip(versions, results).filter { $1.failure == nil || $1.failure?.error == .notFound }.map(\.0)
        guard let first = gone.first else { return }
        // A name that comes back after a power cut would be on no record.
        let places: [DiskOperation] = [.syncParent(.version(first)), .syncParent(.quarantine(first))]
        effects.add(.disk(newJob(.pruned(gone)), places.map { DiskProgram([$0]) }))
    }

    mutating func finishPruned(_ gone: [VersionID], _ results: [DiskResult], into effects: inout Effects) {
        if results.contains(where: { $0.failure != nil }) { return }
        effects.add(.report(.note(Note(code: .versionPruned))))
        enqueue(.dropVersions(gone))
        // There may be more where these came from.
        enqueue(.prune)
    }
}
