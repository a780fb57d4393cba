/// Where this node stands with the records: the books, the saves that are not told of yet, and the two logs of change sets.
///
/// How it goes: a save of a file that a model claims is no revision yet (`Node+Records`). Once the files that were saved
/// together are there, they become one change set, and in the same batch of the store the revisions of their rows. The peer gets
/// the set before the revisions (`Node+RecordLink`), so whatever a row says was written there is known here. From the sets both
/// nodes make the same files. Where the rows would resolve to something else, each says in its log what is to be there
/// (`Node+RecordFiles`); from there on it is a file like any other.
import RecordMerge
import SyncModel

struct RecordState: Sendable {
    var books: [RecordBook] = []
    /// What models with faults are about.
    var heldFiles = HeldFiles()
    /// The change sets that the store has are in the books.
    var isLoaded = false
    /// By the clock on the wall.
    var openedAt: Int64 = 0
    /// By the clock on the wall: what was changed until then was changed while another process ran, which may have shown more
    /// before it had word of that.
    var untoldUntil: Int64 = 0
    /// All rows have been gone through since: `unshown` says of every file what it does not show.
    var isAdopted = false

    /// What was saved and is not in a change set yet.
    var found = SortedMap<Path, Finding>()
    /// Of these, what is being read.
    var reading = SortedMap<Path, Bool>()
    /// Of these, what waits for its author to save it again, and why.
    var waiting = SortedMap<Path, MessageCode>()
    /// What people have been told of that.
    var alarmed = SortedMap<Path, AlertKey>()
    /// What stood in files before their model came, or a peer, and no set tells of yet: their rows speak of it already (`Node+Stock`).
    var adopted = SortedMap<Path, Adopted>()
    /// Files that rules have let go of, and that nobody has found there since, and when (monotonic milliseconds).
    private var letGo = SortedMap<Path, UInt64>()
    /// All that the peer had to say when it greeted us has been heard since this process began.
    var hasMetPeer = false
    /// All the sets are here that it spoke of then, and those of its own that this node had lost. Of the rest that it had to say there may be more.
    var hasHeardPeer = false
    /// Files of which the peer is to tell what stands there in its folder: that is all they wait for.
    var owed = SortedMap<Path, Bool>()
    /// When what was found is to be told of, and since when it has been put off for more (monotonic milliseconds).
    var dueAt: UInt64?
    var firstFoundAt: UInt64 = 0
    /// When a lock ended under which something was saved: not all of it may have been looked at (monotonic milliseconds).
    var lockEndedAt: UInt64?
    /// This node has joined another and does not know yet what that has: until then it makes no singleton.
    var awaitsFirstImport = false
    /// Of each model, since when its saves cannot be told of as they are: those of another may be told of all the time.
    var invalidSince = SortedMap<Int, UInt64>()
    /// Since when deletes wait for what is being read.
    var goingSince: UInt64?
    var isTelling = false
    /// Not all that was in the folder when this process began has been told of yet: a record may lack only what is still to be told.
    private(set) var isTakingStock = true
    /// When this process began (monotonic milliseconds).
    var stockSince: UInt64 = 0
    /// What would have to change in the folder for that lack.
    var heldForStock = SortedMap<Path, Bool>()

    /// Sets of the peer were taken in and are not in the view yet; how many the folder had been shown before. Nothing else is done
    /// meanwhile.
    var imported: LogPosition?
    /// What repair has done to records because of what the peer sent, since this process began.
    var importRepairs = RepairCount()
    /// Files that may have to be something else than their rows say.
    var toMatch = SortedMap<Path, Bool>()
    var isMatching = false
    /// Files that a set of the peer says were saved there: its rows say so too, and are as good as here. Until when they are
    /// waited for (monotonic milliseconds).
    var awaited = SortedMap<Path, UInt64>()
    /// Files of which the folder does not show yet what came of the sets.
    var unshown = SortedMap<Path, Unshown>()
    /// Of files that have come to show it, what they did not until when (monotonic milliseconds).
    private var shownAt = SortedMap<Path, Shown>()
    /// Files that were to come whole, of late, and when that was so first (monotonic milliseconds): whoever has deleted something before that did
    /// not see them.
    private(set) var come = SortedMap<Path, UInt64>()
    /// Files to whose records the peer has written, and what of its sets was known before. It need have changed nothing in them; until something is
    /// put there, or saved by somebody who knew of it, they may have gone before it came.
    private var unmet = SortedMap<Path, LogPosition>()
    /// Files that are gone without a notice: nobody knows what whoever took them away can have seen.
    private var missed = SortedMap<Path, Bool>()
    /// Of files that somebody has just touched, by the notices, what was so when he did: he can have known no more.
    private(set) var touched = SortedMap<Path, Touch>()

    /// When sets of the peer came, of late.
    private var heard = Deque<Heard>()
    /// The last of them before that.
    private var heardBefore = LogPosition.none

    /// The alerts about records that are in quarantine.
    var contested = SortedMap<AlertKey, Bool>()

    /// Their files.
    var shelf = RecordShelf()

    /// The last change sets in the books, and those of which that is durable.
    var known = SetHeads()
    var durable = SetHeads()
    /// What the peer relies on, as far as that is durable (`NodeRecord.SetMarks`).
    var promised = LogPosition.none
    var epochHasBegun = false
    /// The last of this node's own that the process before this one wrote.
    var before = LogPosition.none
    /// The last of this node's own in each epoch.
    var ownEnds = SortedMap<Epoch, UInt64>()
    /// Sets that are stored and have no part in the view.
    var held = HeldSets()
    /// What no model here reads and people are told of: that it stands at the path, or is to.
    var standingUnread = SortedMap<Path, ContentID>()

    /// Some of what was found stands in the folder. (What rules leave out nobody looks for there.)
    func hasSavedFile(under rules: IgnoreRules) -> Bool {
        found.contains { !$0.value.entry.isAbsent && !rules.isIgnored($0.key.bytes, isDirectory: false) }
    }

    /// What was found and does not wait for its author; as much of it as one change set may hold.
    func toTell(where mayBeTold: (Path) -> Bool = { _ in true }) -> [Path] {
        var paths: [Path] = []
        var bytes = 0
        for (path, finding) in found where !waiting.contains(key: path) && mayBeTold(path) {
            bytes += finding.saved?.bytes.count ?? 0
            if !paths.isEmpty, paths.count >= RecordState.setPathsMax || bytes > RecordState.setBytesMax { break }
            paths.append(path)
        }
        return paths
    }

    /// What every save that is still to be told of will have seen of the peer's sets.
    func shown(at milliseconds: UInt64) -> LogPosition {
        var shown = known.peer
        for (_, finding) in found {
            shown = min(shown, finding.seen)
            // (What would go with it may be among them.)
            if finding.entry.isAbsent { for (_, unshown) in finding.unshown { shown = min(shown, unshown.after) } }
        }
        for (_, unshown) in unshown { shown = min(shown, unshown.after) }
        // (Nor need he have seen what has come to be shown a moment ago.)
        for (_, recent) in shownAt where recent.isRecent(at: milliseconds) { shown = min(shown, recent.unshown.after) }
        // (Of what somebody has just done no notice may have come yet.)
        shown = min(shown, heardLongAgo(at: milliseconds))
        for (_, touch) in touched where isOpen(touch, at: milliseconds) {
            shown = min(shown, touch.seen, touch.seenIfGone)
            // (What would go with what he took away may be among them.)
            if touch.isHeld { for (_, unshown) in touch.unshown { shown = min(shown, unshown.after) } }
        }
        return missed.isEmpty ? shown : .none
    }

    mutating func noteHeard(at now: Moment) {
        heard.append(
            Heard(
                milliseconds: now.monotonicMilliseconds, wallMilliseconds: now.wallMilliseconds, position: known.peer))
        while let first = heard.first,
            heard.count > RecordState.heardMax
                || first.milliseconds + RecordState.touchMilliseconds < now.monotonicMilliseconds
        {
            heardBefore = max(heardBefore, first.position)
            _ = heard.popFirst()
        }
    }

    /// Before any notice that may still come.
    private func heardLongAgo(at milliseconds: UInt64) -> LogPosition {
        let late = milliseconds - min(milliseconds, RecordState.lateNoticeMilliseconds)
        return heard.last { $0.milliseconds <= late }?.position ?? heardBefore
    }

    /// A set of the peer's after that one has written to what stands there.
    mutating func noteWritten(_ path: Path, after position: LogPosition) {
        // (Who is that busy does without.)
        if unmet.count >= RecordState.touchedMax { unmet.removeAll() }
        if unmet[path] == nil { unmet[path] = position }
    }

    /// What came of all sets has been put there, or saved by somebody who knew of them, or what was taken away there has been told of.
    mutating func noteMet(_ path: Path) { unmet[path] = nil }

    /// All that this node knows of the peer's was there from the beginning.
    mutating func beginHearing() { heardBefore = known.peer }

    /// What was known of the peer's sets when a file was changed. The notice of that may have come later. (What came in the very millisecond, or
    /// while the clock stood still, may have come after it.)
    func known(at stat: Stat?) -> LogPosition {
        guard let changed = stat?.changed.milliseconds else { return known.peer }
        return heard.last { $0.wallMilliseconds < changed }?.position ?? heardBefore
    }

    /// Somebody may still be at work on what he had then.
    private func isOpen(_ touch: Touch, at milliseconds: UInt64) -> Bool {
        touch.isHeld || touch.isRecent(at: milliseconds)
    }

    /// A notice says that somebody is at work on the file: the first one, unless nobody looked for long what came of it.
    mutating func noteTouch(_ path: Path, at milliseconds: UInt64) {
        if let touch = touched[path], touch.isRecent(at: milliseconds) { return }
        if touched.count >= RecordState.touchedMax { touched.removeAll() }
        touched[path] = newTouch(path, at: milliseconds)
    }

    /// What the file is to be has changed; what it was before it may not have shown either.
    mutating func noteUnshown(
        _ path: Path, after position: LogPosition, at milliseconds: UInt64 = 0, isWhole: Bool = false,
        names: SortedMap<RecordID, Bool>? = nil
    ) {
        unshown[path] = Unshown(after: position, since: milliseconds, isWhole: isWhole, names: names)
            .and(unshown[path])
    }

    /// It has long not shown what has come, or been told: whoever saves it now did not know of that, or saw it standing all the same.
    func isLongUnshown(_ path: Path, at milliseconds: UInt64) -> Bool {
        unshown[path].map { $0.since + RecordState.lateNoticeMilliseconds <= milliseconds } ?? false
    }

    /// Nothing was to be there until now.
    mutating func noteCome(_ path: Path, at milliseconds: UInt64) {
        // (Who is that busy does without.)
        if come.count >= RecordState.touchedMax { come.removeAll() }
        come[path] = milliseconds
    }

    /// It came of what was there already.
    mutating func forgetCome(_ path: Path) { come[path] = nil }

    /// The folder shows there what came of all sets.
    mutating func noteShown(_ path: Path, at milliseconds: UInt64) {
        guard let unshown = unshown.removeValue(forKey: path) else { return }
        // (Who is that busy does without.)
        if shownAt.count >= RecordState.touchedMax { shownAt.removeAll() }
        shownAt[path] = Shown(milliseconds: milliseconds, unshown: unshown)
    }

    /// What was not shown until a moment ago as well: the notice of what somebody did before that may have come only now.
    private mutating func hardlyShown(at milliseconds: UInt64) -> SortedMap<Path, Unshown> {
        if shownAt.isEmpty { return unshown }
        shownAt.removeAll { _, shown in !shown.isRecent(at: milliseconds) }
        var hardly = unshown
        for (path, shown) in shownAt {
            hardly[path] = shown.unshown.and(hardly[path])
        }
        return hardly
    }

    /// Somebody has taken the file away. What comes of that may be decided long after, and nothing but the notice says what he can have known.
    mutating func holdTouch(_ path: Path) {
        if touched.update(path, { $0.isHeld = true }) == nil { missed[path] = true }
    }

    /// It is missing no more.
    mutating func releaseTouch(_ path: Path) {
        touched.update(path) { $0.isHeld = false }
        missed[path] = nil
    }

    /// Nor is what was in a directory, by its old name, once that has another.
    mutating func releaseTouches(below directory: Path) {
        for path in touched.paths(in: directory) + missed.paths(in: directory) { releaseTouch(path) }
    }

    mutating func noteLetGo(_ path: Path, at milliseconds: UInt64) {
        if letGo.count < RecordState.touchedMax { letGo[path] = milliseconds }
    }

    /// No notice has come since that says that somebody is at work on it, nor of late before. (What whoever was at work on it long ago can have
    /// known may have been promised by now to have been seen.)
    func isLetGoUntouched(_ path: Path) -> Bool {
        letGo[path].map { since in touched[path].map { !$0.isRecent(at: since) } ?? true } ?? false
    }

    mutating func noteThere(_ path: Path) {
        if !letGo.isEmpty { letGo[path] = nil }
    }

    /// Nothing has come of it.
    mutating func forgetTouch(_ path: Path) {
        touched[path] = nil
        missed[path] = nil
    }

    mutating func takeTouch(_ path: Path, at milliseconds: UInt64) -> Touch {
        let touch = touched[path]
        forgetTouch(path)
        if let touch, isOpen(touch, at: milliseconds) { return touch }
        return newTouch(path, at: milliseconds)
    }

    private mutating func newTouch(_ path: Path, at milliseconds: UInt64) -> Touch {
        // (What came before any notice that may still come he can have known, whatever it wrote.)
        let met = unmet[path].map { max($0, heardLongAgo(at: milliseconds)) } ?? known.peer
        return Touch(
            milliseconds: milliseconds, seen: known.peer, seenIfGone: min(met, known.peer), told: known.own,
            unshown: hardlyShown(at: milliseconds))
    }

    /// Saved before this process watched.
    func isFromBefore(_ stat: Stat?) -> Bool { stat.map { $0.changed.milliseconds <= openedAt } ?? false }

    /// Saved while another process ran, which has not told of it: nobody knows any more what the folder showed then.
    func isUntold(_ stat: Stat?) -> Bool { stat.map { $0.changed.milliseconds <= untoldUntil } ?? false }

    /// A set of this node's own that its state has lost: it was set back.
    func lacks(_ position: LogPosition) -> Bool {
        position != .none && position.seq > ownEnds[position.epoch] ?? 0
    }

    mutating func noteOwn(_ position: LogPosition) {
        ownEnds[position.epoch] = max(position.seq, ownEnds[position.epoch] ?? 0)
    }

    /// Files that wait for no more than the first import.
    var barredCount: Int { waiting.count { $0.value == .waitingFirstImport } }

    mutating func endStocktaking() {
        isTakingStock = false
        for (path, _) in heldForStock { toMatch[path] = true }
        heldForStock = SortedMap()
    }

    mutating func endFirstImport(at milliseconds: UInt64) {
        awaitsFirstImport = false
        waiting.removeAll { _, code in code == .waitingFirstImport }
        if !found.isEmpty { dueAt = milliseconds }
    }

    /// Of the peer's sets, all that this node can show.
    var readable: LogPosition { min(known.peer, held.before ?? known.peer) }

    /// Held sets that somebody misses.
    var missedCount: Int { held.missedCount(standingUnread) }

    /// All in the folder is as the sets so far would have it, as far as rows can tell.
    var areMatched: Bool {
        books.isEmpty || isLoaded && imported == nil && toMatch.isEmpty && awaited.isEmpty && !isMatching
    }

    var repairs: RepairCount { books.reduce(into: RepairCount()) { $0 += $1.repairs } }
    var dead: [RecordID] { books.flatMap(\.view.dead) }
    var contestedCount: Int { books.reduce(0) { $0 + $1.contestedCount } }

    struct Adopted: Sendable {
        let content: Content
        /// The peer has it, or had it.
        let isShared: Bool
    }

    struct Finding: Sendable {
        let entry: Entry
        /// Nil for what is gone.
        let stat: Stat?
        /// What was read of it.
        var saved: SavedDocument?
        let isRacy: Bool
        /// It was in the folder before anybody watched: its author cannot be asked to mend it.
        let isOld: Bool
        /// No row knew of anything there.
        var isNew = false
        /// No row has ever shown anything there, nor did anybody write it while this process watched.
        var isUnrecorded = false
        /// The last set of the peer that was known when it was saved, and the last of this node's own.
        var seen = LogPosition.none
        var told = LogPosition.none
        /// What the folder did not show when it was saved.
        var unshown = SortedMap<Path, Unshown>()
        /// When somebody was first at work on it (monotonic milliseconds).
        var touchedAt: UInt64 = 0
        /// Rules may have left it out when it went.
        var wasLeftOut = false

        var mustBeRead: Bool { saved == nil && entry.content.kind == .file }
    }

    /// What a file does not show.
    struct Unshown: Sendable {
        /// What came of the peer's sets after this.
        var after: LogPosition
        /// The last of that came then (monotonic milliseconds), or before this process.
        var since: UInt64 = 0
        /// All of it: nothing was to be there, and by whoever's sets its records came, or came back, nobody has seen them yet.
        var isWhole = false
        /// That these records are second names: it may have each as a record of its own. Nil if nobody knows which.
        var names: SortedMap<RecordID, Bool>?

        func mayHave(_ name: RecordID) -> Bool { names?.contains(key: name) ?? true }

        /// What it shows by neither.
        func and(_ other: Unshown?) -> Unshown {
            guard let other else { return self }
            return Unshown(
                after: min(after, other.after), since: max(since, other.since), isWhole: isWhole || other.isWhole,
                names: allNames(with: other.names))
        }

        /// Whoever has saved it knows what he has saved, these second names among it.
        mutating func noteSaved(_ saved: SortedMap<RecordID, Bool>) {
            isWhole = false
            names = allNames(with: saved)
        }

        private func allNames(with others: SortedMap<RecordID, Bool>?) -> SortedMap<RecordID, Bool>? {
            guard var all = names, let others else { return nil }
            for (name, _) in others { all[name] = true }
            return all
        }
    }

    /// What whoever saved a file can have known of the peer's sets.
    struct Touch: Sendable {
        let milliseconds: UInt64
        let seen: LogPosition
        /// If he took it away: the notice may be late, and what is gone bears no time.
        let seenIfGone: LogPosition
        /// This node's own.
        let told: LogPosition
        let unshown: SortedMap<Path, Unshown>
        /// The file is missing.
        var isHeld = false

        func isRecent(at now: UInt64) -> Bool { milliseconds + RecordState.touchMilliseconds > now }
    }

    private struct Heard: Sendable {
        let milliseconds: UInt64
        let wallMilliseconds: Int64
        let position: LogPosition
    }

    private static let heardMax = 1_024

    private struct Shown: Sendable {
        let milliseconds: UInt64
        let unshown: Unshown

        func isRecent(at now: UInt64) -> Bool { milliseconds + RecordState.lateNoticeMilliseconds > now }
    }

    /// So late notices may come. Only deletes are judged by it, and the longer the more stays.
    private static let lateNoticeMilliseconds: UInt64 = 5_000
    static let touchMilliseconds: UInt64 = 30_000
    static let touchedMax = 4_096

    /// Nothing waits longer for what was in the folder before: to read all of it may take hours.
    static let stockPatienceMilliseconds: UInt64 = 60_000
    /// Who is not connected so long after his start is alone for longer.
    static let meetingPatienceMilliseconds: UInt64 = 10_000
    /// So many saves are told of at once, however fast more of them come.
    static let groupPathsMax = 256
    static let setPathsMax = 4_096
    static let setBytesMax = 32 << 20
    static let awaitedMilliseconds: UInt64 = 1_000
}

/// The last change set of each node.
struct SetHeads: Hashable, Sendable {
    var own = LogPosition.none
    var peer = LogPosition.none

    subscript(author: Author) -> LogPosition {
        get { author == .own ? own : peer }
        set {
            switch author {
            case .own: own = newValue
            case .peer: peer = newValue
            }
        }
    }
}
