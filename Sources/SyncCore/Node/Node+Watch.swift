import SyncModel

/// What is to be looked at, read and scanned next, and what came back of it: a notice is never believed, only followed up.
extension Node {
    mutating func note(_ notices: [Notice]) {
        if phase == .recovering { noteDuringRecovery(notices) }
        guard phase == .running else { return }
        var before: Notice?
        for notice in notices where !notice.path.isReserved && !notice.path.isRoot {
            noteHandled(notice)
            noteWriting(notice)
            if before?.kind == .gone, notice.kind == .touched { noteRenamed(to: notice.path) }
            before = notice
            if book(of: notice.path) != nil { records.noteTouch(notice.path, at: now.monotonicMilliseconds) }
            let isFirst = notice.kind == .touched && watch.young.removeValue(forKey: notice.path) != nil
            // What cannot be named below it is found by a scan only.
            if isFirst || notice.path.mayRefuseChild { rescan(notice.path) }
            if isFirst { lookAtUnstored(below: notice.path) }
            if notice.kind == .closed { noteClose(notice.path) }
            if notice.kind == .writing, !apply.touches(notice.path) {
                // Wait for the close; a program that never closes is looked at after a pause all the same.
                watch.changing[notice.path] = now.monotonicMilliseconds + limits.changingRetryMilliseconds
                continue
            }
            look(at: notice.path, sawWriting: notice.kind == .writing)
            // Another directory in its place may have the times of this one, and its number.
            if notice.kind == .gone, watch.goneMeanwhile.count < limits.notedPathsMax {
                watch.goneMeanwhile[notice.path] = true
            }
            // A change inside changes the directory's own time.
            if let parent = notice.path.parent, !parent.isRoot { look(at: parent) }
        }
        if max(watch.toInspect.count, watch.closed.count) > limits.notedPathsMax {
            watch.toInspect.removeAll()
            watch.noticed.removeAll()
            watch.closed.removeAll()
            rescanAfterLoss()
            // What waited for one of these looks, or is gone without having been known, is in no scan.
            plan.afterLook.removeAll()
            plan.startRound()
        }
    }

    /// What changes while recovery is at work, the first scan sees; but not that it was somebody who changed it, nor, if its times do not
    /// show it, that it was written to.
    private mutating func noteDuringRecovery(_ notices: [Notice]) {
        for notice in notices where !notice.path.isReserved && !notice.path.isRoot {
            noteHandled(notice)
            guard notice.kind == .writing, watch.noticed.count < limits.notedPathsMax else { continue }
            noteWriting(notice)
            look(at: notice.path)
        }
    }

    /// What waits for nobody to write to this file any more need not wait for its next try.
    private mutating func noteClose(_ path: Path) {
        watch.closed[path] = true
        if plan.resting.removeValue(forKey: path) != nil { plan.afterLook[path] = true }
    }

    mutating func noteHandled(_ notice: Notice) {
        guard notice.kind == .writing || notice.kind == .gone else { return }
        if notice.kind == .gone, watch.unmade.removeValue(forKey: notice.path) != nil { return }
        guard noteHandled(notice.path, notice.kind == .writing ? .written : .takenAway) else { return }
        // What is being looked at or read, or scanned, may be from before, and so what the cut left: also that nothing is there.
        watch.overtake(notice.path)
    }

    /// Somebody has done something there: true if what stands at the path was in doubt. What the rules left out is longer than all else.
    @discardableResult
    mutating func noteHandled(_ path: Path, _ handling: WatchState.Handling = .takenAway) -> Bool {
        let isInDoubt =
            record.distrustSince != nil
            || record.distrustOfIgnored != nil && watch.rules.isIgnored(path.bytes, isDirectory: false)
        guard isInDoubt, watch.handled.count < limits.notedPathsMax else { return false }
        if watch.handled[path] != .written { watch.handled[path] = handling }
        return true
    }

    /// What was written before its name went is looked for when the name is found gone.
    private mutating func noteWriting(_ notice: Notice) {
        let isFormer = watch.former.contains(key: notice.path)
        if notice.kind == .writing || isFormer && notice.kind != .gone {
            if watch.noticed[notice.path] != 0 { watch.noticed[notice.path] = now.wallMilliseconds }
        } else if notice.kind == .gone, !isFormer {
            watch.noticed[notice.path] = nil
        }
    }

    /// Whoever wrote by this name and was not looked at yet has written to another file than the one that has come to it since, perhaps made
    /// before that was told: what stands here now was all made after what he did.
    private mutating func noteRenamed(to path: Path) {
        if watch.noticed[path] != nil, !watch.former.contains(key: path) { watch.noticed[path] = 0 }
        if record.distrustSince != nil, watch.named.count < limits.notedPathsMax { watch.named[path] = true }
    }

    mutating func look(at path: Path, sawWriting: Bool = false) {
        guard !path.isRoot, !path.isReserved else { return }
        if apply.touches(path) {
            watch.deferred[path] = sawWriting || watch.deferred[path] == true
        } else {
            watch.toInspect[path] = true
        }
    }

    /// The first whole scan is done: from here on, what is found was made since; but not what is in directories that it could not read.
    private mutating func endFirstScan(into effects: inout Effects) {
        let unseen = watch.unseen
        watch.unseen = SortedMap(watch.unreadable.filter { path, _ in unseen.map { isBelowOrIn(path, $0) } ?? true })
        if watch.unreadable.isEmpty { endDistrust(into: &effects) }
    }

    /// And after a power cut it is what somebody wrote.
    private mutating func endDistrust(into effects: inout Effects) {
        guard let since = record.distrustSince else { return }
        record.distrustOfIgnored = min(record.distrustOfIgnored ?? since, since)
        record.endDistrust()
        watch.handled.removeAll { path, _ in !watch.rules.isIgnored(path.bytes, isDirectory: false) }
        watch.unmade.removeAll()
        watch.strays.removeAll()
        watch.toldStates.removeAll()
        watch.toldDirectories.removeAll()
        watch.renamed.removeAll()
        watch.arrived.removeAll()
        watch.named.removeAll()
        watch.stirred.removeAll()
        watch.swept.removeAll()
        var batch = Batch()
        store(&batch, into: &effects)
    }

    /// Notices were lost.
    mutating func rescanAfterLoss() {
        watch.leftOut.removeAll()
        lookAtUnstored(below: .root)
        watch.isInspectionLost = watch.isInspecting
        lookAtRules()
        rescanAll()
    }

    /// What is being looked at or read this moment may be from before something that nobody has told of, and where it is new a scan has
    /// no row to compare with: what is gone by then would be in no difference. So it is with what is being put in its place, and is in no
    /// row yet, and with rows that are not stored yet.
    private mutating func lookAtUnstored(below directory: Path) {
        for (_, purpose) in jobs {
            guard case .inspection(let paths) = purpose else { continue }
            for path in paths where path.isBelow(directory) { look(at: path) }
        }
        for (path, _) in watch.hashing where path.isBelow(directory) { watch.afterReading[path] = true }
        for (path, _) in apply.writing where path.isBelow(directory) { look(afterBatch: path) }
        for path in stores.line.flatMap(\.shown) where path.isBelow(directory) { look(at: path) }
    }

    mutating func rescanAll() {
        watch.wholeScanEnded = false
        watch.toScan.removeAll()
        watch.toScan[.root] = true
        if watch.scan?.isWhole == true { watch.scan?.after = nil }
    }

    mutating func rescan(_ directory: Path) {
        if watch.toScan.contains(key: .root) { return }
        watch.toScan[directory] = true
    }

    mutating func pumpWatch(into effects: inout Effects) {
        guard phase == .running, !record.isForked else { return }
        // Not while a batch runs: its end does it too, and most of what waits is waiting for that.
        if apply.batch == nil, !watch.deferred.isEmpty || !plan.afterBatch.isEmpty { releaseDeferred() }
        guard watch.rulesAreLoaded, !recovery.isRenumbering else { return }
        pumpInspection(into: &effects)
        guard watch.root == .healthy else { return }
        pumpHashing(into: &effects)
        pumpScan(into: &effects)
        if watch.heedsMore, watch.isIdle, lane.isIdle { watch.heedsMore = false }
        let isAllSeen = watch.unseen?.isEmpty == false && watch.unreadable.isEmpty
        if watch.wholeScanEnded || isAllSeen, watch.isIdle, lane.isIdle {
            watch.wholeScanEnded = false
            endFirstScan(into: &effects)
        }
    }

    private mutating func pumpInspection(into effects: inout Effects) {
        // What is out of its place for a moment is soon back: asking meanwhile would only mean to ask again. And what
        // a new rule leaves out is not to be told because nobody has read that yet.
        guard !watch.isInspecting, !watch.toInspect.isEmpty, watch.root == .healthy, apply.moving.isEmpty,
            watch.rulesBeingRead == 0
        else { return }
        var paths: [Path] = []
        while paths.count < limits.batchPathsMax,
            let next = (watch.toInspect.first(after: watch.inspectedThrough) ?? watch.toInspect.first)?.key
        {
            watch.toInspect[next] = nil
            watch.inspectedThrough = next
            paths.append(next)
        }
        paths.sort()
        watch.isInspecting = true
        watch.isInspectionTainted = false
        watch.sinceInspection = SortedMap()
        effects.add(.inspect(newJob(.inspection(paths)), paths))
    }

    private mutating func pumpHashing(into effects: inout Effects) {
        // One read of a path at a time: of two, the older could come back last, and times may be too coarse to tell.
        var busy: [Path] = []
        defer { for path in busy { watch.toHash[path] = true } }
        while watch.hashJobs < 2, !watch.toHash.isEmpty {
            var paths: [Path] = []
            while paths.count < limits.batchPathsMax, let next = watch.toHash.popFirst() {
                if apply.touches(next.key) {
                    watch.deferred[next.key] = true
                } else if watch.hashing.contains(key: next.key) {
                    busy.append(next.key)
                } else {
                    paths.append(next.key)
                    watch.hashing[next.key] = true
                }
            }
            if paths.isEmpty { return }
            watch.hashJobs += 1
            effects.add(.hash(newJob(.hashing(paths, sinceMilliseconds: now.wallMilliseconds)), paths))
        }
    }

    private mutating func pumpScan(into effects: inout Effects) {
        if watch.scan == nil, let next = watch.toScan.popFirst() {
            watch.scan = WatchState.Scan(directory: next.key, after: nil)
            // It goes through everything below as well. (A tree that is new asks for each directory of it.)
            for directory in watch.toScan.paths(in: next.key) { watch.toScan[directory] = nil }
        }
        // One chunk at a time, and not faster than what it found is looked at. (It meets the rows as they are stored: what is back
        // and not yet marked as missing there, or gone from a directory that is not yet moved there, would be no difference.)
        guard let scan = watch.scan, scan.job == nil, watch.observing == 0, apply.moving.isEmpty,
            watch.toHash.count + watch.hashing.count < limits.batchPathsMax * 4, !stores.isMarking,
            watch.toInspect.count < limits.notedPathsMax + limits.batchPathsMax * 4
        else { return }
        let job = newJob(.scan)
        watch.scan?.job = job
        watch.isScanTainted = false
        watch.sinceScan = SortedMap()
        let request = ScanRequest(
            directory: scan.directory, after: scan.after, limit: limits.scanChunkMax,
            distrustSince: record.distrustSince)
        effects.add(.scan(job, request, watch.rules))
    }

    // MARK: What came back

    mutating func finishInspection(_ job: JobID, _ inspection: Inspection, into effects: inout Effects) {
        guard let purpose = jobs.removeValue(forKey: job) else { return }
        judgeRoot(inspection.root, into: &effects)
        if case .moveCheck(let move, let rows, let next) = purpose {
            finishMoveCheck(move, rows, next: next, inspection)
            return
        }
        if case .batchRootCheck = purpose {
            finishRootCheck(of: inspection.root)
            return
        }
        guard case .inspection(let paths) = purpose else {
            timers.isCheckingRoot = false
            return
        }
        guard inspection.root == .healthy, !watch.isInspectionTainted else {
            endInspection()
            for path in paths { look(at: path) }
            return
        }
        var looks: [Look] = []
        for (path, result) in zip(paths, inspection.results) {
            switch result {
            case .found(let stat): looks.append(Look(path: path, stat: stat))
            case .absent: looks.append(Look(path: path, stat: nil))
            case .failed:
                let tries = watch.failing.removeValue(forKey: path) ?? 0
                if watch.failing.count < WatchState.youngMax { watch.failing[path] = tries + 1 }
                watch.changing[path] = now.monotonicMilliseconds + limits.retryPause(afterTries: tries + 1)
                continue
            }
            if !watch.failing.isEmpty { watch.failing[path] = nil }
        }
        var news: [Look] = []
        for look in looks {
            if isEcho(look) { records.forgetTouch(look.path) } else { news.append(look) }
        }
        if news.isEmpty { return endInspection() }
        watch.observing += 1
        enqueue(.observe(news, source: .inspection))
    }

    mutating func endInspection() {
        watch.sinceInspection = nil
        watch.isInspecting = false
    }

    mutating func finishScan(_ job: JobID, _ chunk: ScanChunk, into effects: inout Effects) {
        guard jobs.removeValue(forKey: job) != nil, var scan = watch.scan, scan.job == job else { return }
        scan.job = nil
        if watch.isScanTainted {
            watch.scan = nil
            watch.toScan[scan.directory] = true
            return
        }
        guard chunk.root == .healthy else {
            // Whatever this chunk says was said by another folder.
            watch.scan = nil
            rescanAll()
            timers.rootSuspect = chunk.root
            return
        }
        let looks = chunk.differences.map { Look(path: $0.path, stat: $0.stat) }
        watch.observing += 1
        enqueue(.observe(looks, source: .scan))
        for path in chunk.unreadable { scan.unreadable[path] = .pathPermission }
        for path in chunk.unsupported { scan.unreadable[path] = .pathUnsupported }
        for look in looks where look.stat?.kind == .special && watch.leftSpecials.contains(key: look.path) {
            scan.specials[look.path] = true
        }
        if looks.contains(where: { $0.stat == nil }) { scan.sawAbsence = true }
        if watch.toScan.contains(key: .root) {
            // Asked to begin again: what follows is seen by the new scan.
            watch.scan = nil
        } else if let resume = chunk.resume {
            scan.after = resume
            watch.scan = scan
        } else {
            watch.scan = nil
            noteUnreadable(scan, into: &effects)
            forgetSpecials(notIn: scan)
            if scan.isWhole || scan.sawAbsence { deletes.wantTally(isWhole: scan.isWhole) }
            if scan.isWhole { watch.wholeScanEnded = true }
            lookAtFindings(below: scan.directory)
            // All that is in it counts as missing if it was not there itself: then it must count as missing too, or nobody would
            // look for the rest when it is back.
            if scan.sawAbsence, !scan.isWhole { look(at: scan.directory) }
        }
    }

    /// What could not be read is unknown: told once, and tried again until it can be.
    private mutating func noteUnreadable(_ scan: WatchState.Scan, into effects: inout Effects) {
        for (path, code) in watch.unreadable where path == scan.directory || path.isBelow(scan.directory) {
            if scan.unreadable[path] == code { continue }
            watch.unreadable[path] = nil
            tellForbidden(path, code, into: &effects)
        }
        for (path, code) in scan.unreadable {
            watch.unreadable[path] = code
            setAlarm(code, subject: path.bytes, if: true, into: &effects)
        }
    }

    /// Anything but a healthy root stops all work; a root that is healthy again is scanned from the beginning.
    mutating func judgeRoot(_ root: RootState, into effects: inout Effects) {
        if root == watch.root { return }
        let wasHealthy = watch.root == .healthy
        watch.root = root
        setAlarm(.rootMissing, if: root.code == .rootMissing, into: &effects)
        setAlarm(.rootReplaced, if: root.code == .rootReplaced, into: &effects)
        if root == .healthy {
            // What was read while it was away was read in another folder.
            if phase == .running { loadRulesAnew() }
            rescanAll()
            plan.startRound()
        } else if wasHealthy {
            watch.scan = nil
        }
    }

    mutating func finishHashing(_ job: JobID, _ outcomes: [HashOutcome]) {
        guard case .hashing(let paths, let since)? = jobs.removeValue(forKey: job) else { return }
        watch.hashJobs -= 1
        watch.observing += 1
        let reading = since...max(since, now.wallMilliseconds)
        enqueue(
            .hashed(
                zip(paths, outcomes).map { path, outcome in
                    HashedPath(path: path, outcome: outcome, isRacy: outcome.isRacy(during: reading))
                }))
    }
}
