import SyncModel

/// From "it is not there" to "it was deleted": only with a healthy root, after everything that could explain the absence
/// as a move has been looked at, and never more at once than the fuse allows without a person's consent.
struct DeleteState: Sendable {
    /// Paths seen missing by a look, waiting for their decision.
    var candidates = SortedMap<Path, Bool>()
    /// Where a missing file's content was found, for the hint in the log.
    var movedTo = SortedMap<Path, Path>()
    /// Files deleted in the last window without a person's consent: when, how many, and as many of them as can still turn out to have
    /// been renamed.
    var recent = Deque<Recent>()
    /// What was deleted in the last window in which a process lived. A whole scan tells what went meanwhile: from then on it is recent.
    var recalled: [Path] = []
    /// One judgement at a time, from the first count to the last delete: another meanwhile would count the same twice, and delete
    /// in the place of the first what nobody has judged.
    private(set) var isJudging = false
    /// Since when what is judged, or was put off, has waited for that (monotonic milliseconds).
    private(set) var judgedSince: UInt64?
    /// A scan has ended, or more is missing than was judged: all of it is to be counted. True if it was a whole scan.
    var wantedTally: Bool?
    /// What has been marked missing since the count that is being judged began: true if it was not missing before.
    var markedSince: SortedMap<Path, Bool>?
    /// A person has agreed to what is missing, and is answered when it is deleted.
    private(set) var approval: CommandID?
    /// What went after he said so: he knew nothing of it.
    private var goneSinceApproval: SortedMap<Path, Bool>?
    /// What has gone since people were told how much is held, and is in no number that they know. Nil if nothing
    /// is held.
    private var goneSinceTold: SortedMap<Path, Bool>?
    /// A person wants them back, but they were on the move, or being written, when he said so.
    var refused = SortedMap<Path, Bool>()
    /// How many transactions that bring some of these back are under way.
    var takingBack = 0
    /// Who said so is answered when none of what he wants back is left to be written down.
    var rejections: [CommandID] = []
    /// Something of what is held has turned up under another name, or all of it is back.
    var mustRecount = false
    /// How many files are missing: those of the last count of all, and what has come to them and gone from them since.
    private(set) var missingFiles = 0
    /// How far a count of all has come: what is missing beyond is still to be counted.
    private var countedThrough: Path?
    /// When the oldest candidate was noted (monotonic milliseconds).
    var since: UInt64?
    /// When the latest was noted.
    var latest: UInt64 = 0
    /// The judgement has been put off.
    var delay: Delay?
    /// Directories whose contents are still being marked missing: they are judged together with them.
    var flagging = 0

    struct Delay: Sendable {
        /// Since the first time it was put off (monotonic milliseconds).
        let since: UInt64
        let reason: Reason

        enum Reason {
            /// Too much is missing, and something is being read that could explain it.
            case reads
            /// A directory that turned up elsewhere is in doubt.
            case moves
            /// The scan of a directory has found something missing, and more that may have gone in the same breath is still being looked at.
            case looks
        }

        func end(_ limits: Limits) -> UInt64 {
            let patiences: UInt64 =
                switch reason {
                case .reads: DeleteState.patiencesMax
                case .moves, .looks: 1
                }
            return since + patiences * limits.deletePatienceMilliseconds
        }
    }

    struct Recent: Sendable {
        let atMilliseconds: UInt64
        var count: Int
        var files: [GoneFile]
        /// Of what earlier processes deleted only the paths are known.
        var paths: [Path] = []
        /// All that could have gone with it has been looked at since: nothing waits for a look, or for a batch to end.
        var isWhole = false
    }

    static let recentFilesMax = 1_024
    /// What waited for a batch or a look is judged with what went before it, but no longer than so many windows.
    static let windowsMax: UInt64 = 6
    /// How many times the patience a slow disk gets, to read what could explain that too much is missing.
    static let patiencesMax: UInt64 = 5

    var isApproved: Bool { approval != nil }

    var isIdle: Bool {
        candidates.isEmpty && !isJudging && wantedTally == nil && !isApproved && !mustRecount && flagging == 0
            && refused.isEmpty
    }

    mutating func wantTally(isWhole: Bool) { wantedTally = isWhole || wantedTally == true }

    /// To what he was told of.
    mutating func approve(_ id: CommandID) {
        approval = id
        goneSinceApproval = goneSinceTold ?? SortedMap()
    }

    /// Nil unless a person has agreed to what was missing: it is deleted now.
    mutating func takeApproval() -> CommandID? {
        defer { approval = nil }
        return approval
    }

    mutating func noteMissing(_ path: Path, isNew: Bool) {
        let isUncounted = isNew || markedSince?[path] == true
        markedSince?[path] = isUncounted
        if isNew {
            goneSinceTold?[path] = true
            goneSinceApproval?[path] = true
        }
    }

    /// An earlier process has told of what is held.
    mutating func recallHold() { goneSinceTold = SortedMap() }

    /// People are told how much is held. In the first number is what was counted or judged, in later ones all that is
    /// missing by now.
    mutating func noteTold(_ tally: DeleteTally, isFirst: Bool) {
        if tally.paths == nil {
            goneSinceTold = SortedMap((markedSince ?? SortedMap()).filter { _, isUncounted in isUncounted })
        } else {
            goneSinceTold = isFirst ? candidates : SortedMap()
        }
    }

    mutating func endHold() { goneSinceTold = nil }

    mutating func beginCount() {
        markedSince = SortedMap()
        missingFiles = 0
    }

    /// Of the next page, or the last.
    mutating func noteCounted(_ files: Int, through path: Path?) {
        missingFiles += files
        countedThrough = path
    }

    /// A row has changed: one file more may be missing now, or one less. True if it was the last.
    mutating func noteChange(of old: Row?, to row: Row) -> Bool {
        let (was, isMissing) = (old?.isMissingFile == true, row.isMissingFile)
        if was == isMissing { return false }
        if let countedThrough, row.path > countedThrough { return false }
        missingFiles += isMissing ? 1 : -1
        return missingFiles == 0
    }

    /// What has been marked missing since what this is about was counted, or agreed to.
    func marked(since pass: DeletePass) -> SortedMap<Path, Bool>? {
        pass.isApproved ? goneSinceApproval : markedSince
    }

    mutating func beginJudgement(since: UInt64) {
        isJudging = true
        judgedSince = judgedSince ?? since
    }

    mutating func endJudgement() {
        isJudging = false
        judgedSince = nil
        markedSince = nil
        // (The judgement before it is no end of what waits for it.)
        if !isApproved { goneSinceApproval = nil }
        delay = nil
    }

    /// It is begun again once there is more to judge by.
    mutating func putOff(_ tally: DeleteTally, _ delay: Delay) {
        let since = judgedSince
        beginAgain(tally)
        (self.delay, judgedSince) = (delay, since)
    }

    mutating func beginAgain(_ tally: DeleteTally) {
        endJudgement()
        if let paths = tally.paths { note(paths) } else { wantTally(isWhole: tally.isWhole) }
    }

    mutating func note(_ paths: [Path]) {
        for path in paths { candidates[path] = true }
    }

    /// It has only been moved. What comes next waits anew, as long as it is to.
    mutating func forget(_ path: Path) {
        candidates[path] = nil
        guard candidates.isEmpty else { return }
        since = nil
        if !isJudging, wantedTally == nil { (delay, judgedSince) = (nil, nil) }
    }

    mutating func noteDeleted(_ files: [GoneFile], atMilliseconds time: UInt64) {
        let room = max(0, DeleteState.recentFilesMax - recent.reduce(0) { $0 + $1.files.count })
        recent.append(Recent(atMilliseconds: time, count: files.count, files: Array(files.prefix(room))))
    }

    func recentFiles(below top: Path) -> Int {
        recent.reduce(recalled.count { $0.isBelow(top) }) { count, gone in
            count + gone.files.count { $0.path.isBelow(top) } + gone.paths.count { $0.isBelow(top) }
        }
    }

    /// The node has come to rest.
    mutating func noteRest() {
        guard recent.last?.isWhole == false else { return }
        for index in recent.indices { recent[index].isWhole = true }
    }

    func isPast(_ gone: Recent, atMilliseconds time: UInt64, window: UInt64) -> Bool {
        gone.atMilliseconds + (gone.isWhole ? window : window * DeleteState.windowsMax) < time
    }

    mutating func endRecall(atMilliseconds time: UInt64) {
        if recalled.isEmpty { return }
        recent.append(Recent(atMilliseconds: time, count: recalled.count, files: [], paths: recalled))
        recalled = []
    }

    /// What was deleted a moment ago and stands under another name now has only been renamed.
    mutating func forgive(_ living: LivingFiles) {
        for index in recent.indices {
            let lost = recent[index].files.filter { !living.contain($0) }
            recent[index].count -= recent[index].files.count - lost.count
            recent[index].files = lost
        }
    }
}

extension Row {
    fileprivate var isMissingFile: Bool {
        condition == .missing && disk?.entry.content.isDirectory == false
    }
}

/// A file that is gone from its name. It may live on under another: then it was renamed, and nothing is lost.
struct GoneFile: Sendable {
    let path: Path
    let identity: FileIdentity
    let content: Content

    /// Nil for a directory.
    init?(_ row: Row) {
        guard let disk = row.disk, !disk.entry.content.isDirectory else { return nil }
        path = row.path
        identity = disk.stat.identity
        content = disk.entry.content
    }
}

/// What stands in the folder, by identity. (Nobody looks at what the rules leave out, and its row goes on saying that it is there.)
struct LivingFiles: Sendable {
    private let rows: Namesakes

    init(_ list: [Row]) {
        rows = Namesakes(list.filter { $0.condition != .missing && $0.condition != .ignored })
    }

    /// Under another name, edited or not. Where births are coarse, a new file may have the identity of one that is gone.
    func contain(_ file: GoneFile) -> Bool {
        rows[file.identity].contains { row in
            row.path != file.path && (file.identity.isUnique || row.disk?.entry.content == file.content)
        }
    }
}

/// How much is missing, counted before anything is believed.
struct DeleteTally: Sendable {
    /// The whole folder was scanned, not a part of it.
    let isWhole: Bool
    /// What it is about, if that is not everything that is missing.
    var paths: [Path]?
    /// Everything that is missing, and how many of it are no directories: the fuse is about files.
    var count = 0
    var files = 0
    /// Files by top-level directory; only as many as can matter.
    var tops = SortedMap<Path, Int>()
    static let topsMax = 32
    /// How many of these files live on under another name: the fuse is about what is lost.
    var renamed = 0
    var renamedTops = SortedMap<Path, Int>()

    var lost: Int { files - renamed }
    /// By top-level directory.
    var lostTops: [(key: Path, lost: Int, renamed: Int)] {
        tops.map { top, count in
            let renamed = renamedTops[top] ?? 0
            return (top, count - renamed, renamed)
        }
    }

    init(isWhole: Bool) {
        self.isWhole = isWhole
    }

    mutating func count(_ row: Row) {
        count += 1
        guard row.disk?.entry.content.isDirectory == false else { return }
        files += 1
        guard let top = row.path.top, top != row.path else { return }
        if tops.contains(key: top) || tops.count < DeleteTally.topsMax { tops[top, default: 0] += 1 }
    }

    mutating func forgive(_ file: GoneFile) {
        renamed += 1
        if let top = file.path.top, tops.contains(key: top) { renamedTops[top, default: 0] += 1 }
    }
}

/// One pass through what is missing, in descending order. What has been marked since it was counted, or agreed to, waits for the next
/// count, and no directory goes before what is in it.
struct DeletePass: Sendable {
    /// The command by which a person has agreed to it, and which is answered at the end. Nil where nobody had to.
    let approval: CommandID?
    /// Everything that is judged stands under another name: none of it is lost, however soon more goes.
    var isRename = false
    /// The last row that was passed over.
    private(set) var skipped: Path?

    init(approval: CommandID? = nil, isRename: Bool = false) {
        self.approval = approval
        self.isRename = isRename
    }

    var isApproved: Bool { approval != nil }

    mutating func covers(_ path: Path, markedSince: SortedMap<Path, Bool>?) -> Bool {
        let isNew = markedSince?.contains(key: path) == true
        guard isNew || skipped?.isBelow(path) == true else { return true }
        skipped = path
        return false
    }
}

extension Node {
    /// A missing path is judged once nothing is being read that might turn out to be the same file elsewhere.
    mutating func pumpDeletes() {
        // (What is in a directory that cannot be read may have gone with the rest.)
        if watch.isIdle && watch.unreadable.isEmpty && apply.isIdle && lane.isIdle && deletes.isIdle {
            deletes.noteRest()
        }
        pumpRefused()
        guard !deletes.isJudging, !startJudgementOfAll(), isWorking, deletes.flagging == 0,
            !deletes.candidates.isEmpty || deletes.mustRecount
        else { return }
        if isHoldPutOff {
            // (They are marked by now, and counted with the rest.)
            deletes.candidates.removeAll()
            deletes.since = nil
            return
        }
        let since = deletes.since ?? now.monotonicMilliseconds
        deletes.since = since
        guard watch.observing == 0, !watch.isScanning else { return }
        // A file that is written all the time must not hold up every delete.
        let isOverdue = now.monotonicMilliseconds >= since + limits.deletePatienceMilliseconds
        guard
            isOverdue || watch.toHash.isEmpty && watch.hashing.isEmpty && watch.toInspect.isEmpty && !watch.isInspecting
        else { return }
        if !isOverdue, isBurst {
            let isQuiet = now.monotonicMilliseconds >= deletes.latest + limits.deleteQuietMilliseconds
            guard isQuiet, goneUnseen == 0 else { return }
        }
        deletes.since = nil
        deletes.beginJudgement(since: since)
        if deletes.candidates.isEmpty {
            deletes.mustRecount = false
            enqueue(.tallyMissing(after: nil, DeleteTally(isWhole: false)))
        } else {
            enqueue(.judge(deletes.candidates.map(\.key)))
            deletes.candidates.removeAll()
        }
    }

    /// What a person has agreed to, or what a whole scan has found, waits for nothing but the judgement before it; what the scan of a directory has
    /// found for the looks under way as well; and too much that was found for what may explain it.
    private mutating func startJudgementOfAll() -> Bool {
        if let approval = deletes.takeApproval() {
            enqueue(.deleteMissing(before: nil, DeletePass(approval: approval)))
        } else if let isWhole = deletes.wantedTally {
            if !isWhole, deletes.delay == nil { deletes.delay = delay(for: .looks) }
            guard !isDelayed else { return false }
            deletes.wantedTally = nil
            enqueue(.tallyMissing(after: nil, DeleteTally(isWhole: isWhole)))
        } else {
            return false
        }
        deletes.beginJudgement(since: deletes.delay?.since ?? now.monotonicMilliseconds)
        return true
    }

    /// Too much was counted, and all of it is counted again once what may explain it has been read. Until then none of it is judged by itself,
    /// or a part would go that is small enough, from a whole that is to be held.
    private var isHoldPutOff: Bool { deletes.wantedTally != nil && deletes.delay?.reason == .reads }

    /// More goes than people delete one by one. Then it is judged together once no more comes, or most of a mass deletion
    /// would be believed before there is enough of it to be held.
    private var isBurst: Bool {
        let first = now.monotonicMilliseconds - min(now.monotonicMilliseconds, limits.deleteBurstMilliseconds)
        let justGone = deletes.recent.reduce(0) { $0 + ($1.atMilliseconds >= first ? $1.count : 0) }
        let gone = deletes.candidates.count + justGone + goneUnseen
        return gone > min(limits.deleteBurstFiles, settings.deleteFuseFiles / 4)
    }

    /// Told of as gone, and looked at only once what is being applied there is over.
    private var goneUnseen: Int { watch.deferred.keys.count { watch.goneMeanwhile.contains(key: $0) } }

    /// Paths missed by looks: the usual case of a few deletes.
    mutating func judge(_ paths: [Path], _ answers: inout Answers, into effects: inout Effects) {
        guard isWorking else {
            deletes.endJudgement()
            deletes.note(paths)
            return
        }
        var tally = DeleteTally(isWhole: false)
        let rows = withoutUnfinishedSaves(answers.rows().filter { $0.condition == .missing })
        for row in rows { tally.count(row) }
        if !rows.isEmpty, record.held != nil || tally.files + recentDeletes() > settings.deleteFuseFiles {
            tally.paths = rows.map(\.path)
            enqueue(.findRenamed(tally, rows.compactMap(GoneFile.init), next: nil))
            return
        }
        deletes.endJudgement()
        delete(rows, into: &effects)
    }

    /// Paths missed by a scan are marked in the store; this counts them, page by page.
    mutating func tallyMissing(_ tally: DeleteTally, _ answers: inout Answers, into effects: inout Effects) {
        var tally = tally
        let rows = answers.rows()
        if deletes.markedSince == nil { deletes.beginCount() }
        let before = tally.files
        for row in rows where row.condition == .missing { tally.count(row) }
        let next = rows.count == limits.batchPathsMax ? rows.last?.path : nil
        deletes.noteCounted(tally.files - before, through: next)
        let files = rows.filter { $0.condition == .missing }.compactMap(GoneFile.init)
        if files.isEmpty && deletes.recent.isEmpty {
            finishTally(tally, next: next, into: &effects)
        } else {
            enqueue(.findRenamed(tally, files, next: next))
        }
    }

    /// The halves of a rename may be told of far apart, in any order, and long after one of them was believed.
    mutating func findRenamed(
        _ tally: DeleteTally, _ files: [GoneFile], next: Path?, _ answers: inout Answers,
        into effects: inout Effects
    ) {
        // (What is in a directory that cannot be read may have gone with the rest.)
        let standing = answers.rows().filter { !isBelowOrIn($0.path, watch.unreadable) && !watch.hasLeft($0) }
        let living = LivingFiles(standing)
        deletes.forgive(living)
        var tally = tally
        // (What is held back is not told, so nothing is lost by it.)
        for file in files where living.contain(file) || isHeldBack(file.path) { tally.forgive(file) }
        finishTally(tally, next: next, into: &effects)
    }

    private mutating func finishTally(_ tally: DeleteTally, next: Path?, into effects: inout Effects) {
        if let next {
            enqueue(.tallyMissing(after: next, tally))
            return
        }
        if tally.count == 0 { releaseHold(tally.isWhole ? .fuseRejected : nil, into: &effects) }
        if tally.isWhole {
            if tally.count == 0 { deletes.endRecall(atMilliseconds: now.monotonicMilliseconds) }
            endInitialScan()
        }
        if tally.count > 0 { enqueue(.judgeWithSums(tally)) } else { deletes.endJudgement() }
    }

    /// The fuse: what is marked missing is deleted, or all of it is held for a person.
    mutating func judge(_ tally: DeleteTally, _ answers: inout Answers, into effects: inout Effects) {
        guard isWorking else {
            deletes.endJudgement()
            rescanAll()
            return
        }
        // A person has agreed to what was counted while it was: it goes first, and is not held once more.
        if deletes.isApproved { return deletes.beginAgain(tally) }
        let total = answers.summary()
        let recent = recentDeletes()
        let files = tally.lost + recent
        // What was believed before is gone; directories that go after it, and names that files have left, are no loss to hold. (Nor is such a
        // name one more file that stays.)
        var isTooMuch =
            tally.lost > 0 && files > settings.deleteFuseFiles
            && files * 100 > settings.deleteFusePercent * (total.files - tally.renamed + recent)
        for (top, count, renamed) in tally.lostTops {
            let gone = deletes.recentFiles(below: top)
            let below = answers.summary().files - renamed + gone
            let missing = count + gone
            if count > 0 && missing > settings.deleteFuseFiles
                && missing * 100 > settings.deleteFusePercent * below
            {
                isTooMuch = true
            }
        }
        if tally.isWhole { deletes.endRecall(atMilliseconds: now.monotonicMilliseconds) }
        // Nobody saw the files go: an emptied folder looks like this, and so does the wrong disk. (What was believed since it was
        // counted is in neither number: the rest may be as many by chance.)
        var isEmptied =
            tally.isWhole && tally.files >= 2 && tally.files >= total.files && total.missing >= tally.count
        if isExplained(tally, files: files) { releaseHold(nil, into: &effects) }
        if isTooMuch || isEmptied, record.held == nil {
            let delay = delay(for: .reads)
            if waits(delay) { return deletes.putOff(tally, delay) }
        }
        // What a save of records is to tell of has no row yet, and stands there. (Unless it was not looked at since: it may have gone with the rest.)
        if isEmptied, !isLooking, records.hasSavedFile(under: watch.rules) { isEmptied = false }
        if isTooMuch || isEmptied || record.held != nil {
            hold(tally, code: isEmptied ? .rootEmptied : .fuseDeletes, into: &effects)
            deletes.endJudgement()
        } else if case let delay = delay(for: .moves), waits(delay) {
            deletes.putOff(tally, delay)
        } else if let paths = tally.paths {
            enqueue(.deleteJudged(paths, isRename: tally.lost == 0))
        } else {
            enqueue(.deleteMissing(before: nil, DeletePass(isRename: tally.lost == 0)))
        }
    }

    private var isDelayed: Bool { deletes.delay.map { waits($0) } ?? false }

    private func delay(for reason: DeleteState.Delay.Reason) -> DeleteState.Delay {
        DeleteState.Delay(since: deletes.delay?.since ?? now.monotonicMilliseconds, reason: reason)
    }

    /// A slow disk may take longer than the patience to read what has only been renamed: nobody is to be alarmed before it has. But a file
    /// that is written all the time must not keep the alarm from them. Whoever hears that a directory is gone before he hears what has moved
    /// out of it finds that in it, and keeps both.
    private func waits(_ delay: DeleteState.Delay) -> Bool {
        guard now.monotonicMilliseconds < delay.end(limits) else { return false }
        return switch delay.reason {
        case .reads: !watch.toHash.isEmpty || !watch.hashing.isEmpty || isLooking
        case .moves: watch.movesInDoubt > 0
        case .looks: isLooking || goneUnseen > 0
        }
    }

    private var isLooking: Bool {
        !watch.toInspect.isEmpty || watch.isInspecting || watch.observing > 0 || watch.isScanning
    }

    /// What is held, or counted this very moment, may be the file that was found here: edited since, or as it was.
    mutating func noteTurnedUp(_ identity: FileIdentity, _ content: Content, at path: Path, _ namesakes: Namesakes) {
        guard record.held != nil || deletes.isJudging else { return }
        let isKnown = namesakes[identity].contains { other in
            other.path != path && other.condition == .missing
                && (identity.isUnique || other.disk?.entry.content == content)
        }
        if isKnown { deletes.mustRecount = true }
    }

    /// So much of what is held has only been renamed that the rest would not have been held, or no file of it is missing any more.
    private func isExplained(_ tally: DeleteTally, files: Int) -> Bool {
        guard tally.paths == nil else { return false }
        let isEmptied = alarms.raised.contains(key: AlertKey(code: .rootEmptied, subject: []))
        return tally.lost == 0 || tally.renamed > 0 && !isEmptied && files <= settings.deleteFuseFiles
    }

    private mutating func hold(_ tally: DeleteTally, code: MessageCode, into effects: inout Effects) {
        let isNew = record.held == nil
        // (What is looked at once more while it is held is counted already.)
        let files = isNew || tally.paths == nil ? tally.files : deletes.missingFiles
        // All files that were held are back, and what goes now is none.
        guard files > 0 else { return }
        deletes.noteTold(tally, isFirst: isNew)
        let since = record.held?.sinceMilliseconds ?? now.wallMilliseconds
        record.held = NodeRecord.HeldDeletes(
            id: record.held?.id ?? UInt64(clamping: now.wallMilliseconds), files: files, sinceMilliseconds: since)
        let raised = isNew || alarms.raised.contains(key: AlertKey(code: code)) ? code : nil
        if let raised { setAlarm(raised, AlertFacts.held(files), if: true, into: &effects) }
        var batch = Batch()
        store(&batch, into: &effects)
    }

    mutating func releaseHold(_ code: MessageCode?, into effects: inout Effects) {
        guard record.held != nil else { return }
        record.held = nil
        deletes.endHold()
        setAlarm(.fuseDeletes, if: false, into: &effects)
        setAlarm(.rootEmptied, if: false, into: &effects)
        if let code { effects.add(.report(.note(Note(code: code)))) }
        var batch = Batch()
        store(&batch, into: &effects)
    }

    /// What is held by now waits with the rest.
    mutating func deleteJudged(isRename: Bool, _ answers: inout Answers, into effects: inout Effects) {
        deletes.endJudgement()
        let rows = answers.rows()
        if record.held == nil {
            delete(rows.filter { $0.condition == .missing }, isRecent: !isRename, into: &effects)
        }
    }

    /// Deletes what is marked missing and was judged; what has been marked since is judged anew.
    mutating func deleteMissing(_ pass: DeletePass, _ answers: inout Answers, into effects: inout Effects) {
        guard record.held == nil || pass.isApproved else { return deletes.endJudgement() }
        let rows = answers.rows()
        var pass = pass
        let marked = deletes.marked(since: pass)
        // (What a power cut may have given back since it was held is looked at before a person's consent counts. So is what was missed before
        // the cut where the scan could not read: nobody has looked since.)
        let doubted = rows.filter { row in
            guard row.condition == .missing, !isHandled(row.path) else { return false }
            return pass.isApproved
                ? isSuspect(row) : record.distrustSince != nil && isBelowOrIn(row.path, watch.unreadable)
        }
        for row in doubted { look(at: row.path) }
        if pass.isApproved, !doubted.isEmpty { deletes.wantTally(isWhole: false) }
        let isDoubted = SortedMap(doubted.map { ($0.path, true) })
        let judged = rows.filter { row in
            row.condition == .missing && !isDoubted.contains(key: row.path)
                && pass.covers(row.path, markedSince: marked)
        }
        let believed = pass.isApproved ? judged : withoutUnfinishedSaves(judged)
        delete(believed, isRecent: !pass.isRename && !pass.isApproved, into: &effects)
        if rows.count == limits.batchPathsMax, let last = rows.last {
            enqueue(.deleteMissing(before: last.path, pass))
            return
        }
        deletes.endJudgement()
        // (What is in a directory that was passed over may be being looked at yet.)
        if pass.skipped != nil { deletes.mustRecount = true }
        if let approval = pass.approval { saveAndAnswer(approval, into: &effects) }
    }

    /// `isRecent` if it counts with what goes next: it is lost, and no person has agreed to it.
    private mutating func delete(_ rows: [Row], isRecent: Bool = true, into effects: inout Effects) {
        guard !rows.isEmpty else { return }
        var batch = Batch()
        var files: [GoneFile] = []
        for old in rows.sorted(by: { $1.path < $0.path }) {
            // What was missing and has something in its place by now is no delete, and may be damage.
            guard let disk = old.disk, !watch.isToBeRead(old.path), !deletes.refused.contains(key: old.path) else {
                continue
            }
            if apply.touches(old.path) {
                watch.deferred[old.path] = true
                continue
            }
            var row = old
            // What is still being read may be this very file under its new name.
            noteStray(of: row)
            noteDeparted(disk)
            var gone = disk.entry
            gone.content = .absent
            if holdsBack(&row, .absent) {
                put(row, replacing: old, in: &batch, into: &effects)
                continue
            }
            if leaveToRecords(&row, gone, nil) { continue }
            let target = deletes.movedTo.removeValue(forKey: row.path)
            revise(&row, to: gone, stat: nil, movedTo: target, in: &batch)
            cancel(row.path)
            put(row, replacing: old, in: &batch, into: &effects)
            if target == nil, isRecent, let file = GoneFile(old) { files.append(file) }
        }
        deletes.noteDeleted(files, atMilliseconds: now.monotonicMilliseconds)
        store(&batch, into: &effects)
    }

    private mutating func recentDeletes() -> Int {
        // (What went before what is judged now does not grow old while that waits.)
        let time = deletes.judgedSince ?? now.monotonicMilliseconds
        let window = limits.fuseWindowMilliseconds
        while let first = deletes.recent.first, deletes.isPast(first, atMilliseconds: time, window: window) {
            _ = deletes.recent.popFirst()
        }
        return deletes.recent.reduce(0) { $0 + $1.count } + deletes.recalled.count
    }

    /// A mass deletion must not go by and by, some files before each end of a process. (A path below which others went was
    /// a directory's. And with what was missing by then and not judged yet goes what went before that was missed, which may have waited as
    /// long as a judgement is put off.)
    mutating func recallDeletes(_ log: [LogRecord], areUnjudged: Bool) {
        // What it wrote last, it wrote alive; the sign of life may be older. (By its own clock, which shows that still. What the peer's has told of
        // since, if that is ahead, is no time that has passed.)
        let told = max(record.aliveMilliseconds, log.last.map { Int64(clamping: $0.time.wallMilliseconds) } ?? 0)
        let alive = min(told, now.wallMilliseconds)
        let wait = areUnjudged ? DeleteState.patiencesMax * limits.deletePatienceMilliseconds : 0
        let since = alive - Int64(clamping: limits.fuseWindowMilliseconds + wait)
        let gone = SortedMap(
            log.compactMap { record -> (Path, Bool)? in
                guard case .put(let path, let revision) = record.change, revision.entry.isAbsent,
                    revision.movedTo == nil, Int64(clamping: record.time.wallMilliseconds) >= since
                else { return nil }
                return (path, true)
            })
        deletes.recalled = gone.map(\.key).filter { gone.first(after: $0)?.key.isBelow($0) != true }
    }

    /// A person said no: what is missing comes back from the peer.
    mutating func rejectMissing(_ id: CommandID, _ answers: inout Answers, into effects: inout Effects) {
        let rows = answers.rows()
        reject(rows, into: &effects)
        if rows.count == limits.batchPathsMax, let last = rows.last {
            enqueue(.rejectMissing(id, after: last.path))
        } else {
            deletes.rejections.append(id)
            answerRejections(into: &effects)
        }
    }

    mutating func rejectRefused(_ answers: inout Answers, into effects: inout Effects) {
        deletes.takingBack -= 1
        reject(answers.rows(), into: &effects)
        answerRejections(into: &effects)
    }

    private mutating func answerRejections(into effects: inout Effects) {
        guard deletes.refused.isEmpty, deletes.takingBack == 0 else { return }
        for id in deletes.rejections { saveAndAnswer(id, into: &effects) }
        deletes.rejections = []
    }

    private mutating func reject(_ rows: [Row], into effects: inout Effects) {
        var batch = Batch()
        for old in rows where old.condition == .missing {
            if apply.touches(old.path) {
                refuse(old.path)
                continue
            }
            var row = old
            row.disk = nil
            row.condition = .damaged
            row.waiting = nil
            takeBackFinding(at: row.path)
            put(row, replacing: old, in: &batch, into: &effects)
            plan.want(row.path)
        }
        if !batch.isEmpty { store(&batch, into: &effects) }
    }

    /// What is too much to be remembered is judged anew.
    private mutating func refuse(_ path: Path) {
        if deletes.refused.count < limits.notedPathsMax {
            deletes.refused[path] = true
        } else {
            deletes.wantTally(isWhole: false)
        }
    }

    private mutating func pumpRefused() {
        if deletes.refused.isEmpty { return }
        let free = deletes.refused.map(\.key).filter { !apply.touches($0) }.prefix(limits.batchPathsMax)
        if free.isEmpty { return }
        for path in free { deletes.refused[path] = nil }
        deletes.takingBack += 1
        enqueue(.rejectRefused(Array(free)))
    }
}

extension AlertFacts {
    /// Deletes that wait for a person.
    static func held(_ files: Int) -> AlertFacts {
        AlertFacts(detail: files == 1 ? "1 file is held." : "\(files) files are held.", size: files)
    }
}
