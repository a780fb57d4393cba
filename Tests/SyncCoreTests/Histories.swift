/// Small histories of one path on two nodes, made the way `Node` makes them: `Replica` follows `Node.revise`, the import and
/// the apply; `History` is both replicas and what really happened, told without version vectors; `Scope` enumerates.
/// `ResolutionTests` checks what it enumerates.
import SyncCore
import SyncModel

enum Side: Int, CaseIterable, Hashable {
    case left = 0
    case right = 1

    var other: Side { self == .left ? .right : .left }
}

/// What a user can do to a path between two looks of the daemon.
enum Act: Hashable, CaseIterable {
    case writeA
    case writeB
    case link
    case makeDirectory
    case remove
    case changeMode
    case touch

    static let fileA = Content.file(ContentID(SHA256.digest(of: Array("a".utf8))), size: 1)
    static let fileB = Content.file(ContentID(SHA256.digest(of: Array("b".utf8))), size: 1)
    static let symlink = Content.symlink(Array("there".utf8))

    /// What is there afterwards; nil where the act is none. `number` makes every mode and time of a history its own.
    func entry(after before: Entry?, number: Int) -> Entry? {
        let time = Timestamp(seconds: 1_000_000, nanoseconds: UInt32(number))
        switch self {
        case .writeA: return replaced(before, by: Act.fileA, time)
        case .writeB: return replaced(before, by: Act.fileB, time)
        case .link: return replaced(before, by: Act.symlink, time)
        case .makeDirectory: return replaced(before, by: .directory, time)
        case .remove:
            guard var entry = before else { return nil }
            entry.content = .absent
            return entry
        case .changeMode:
            guard let before, before.content.kind != .symlink else { return nil }
            return Entry(content: before.content, mode: 0o600 + UInt16(number), modified: before.modified)
        case .touch:
            guard let before else { return nil }
            return Entry(content: before.content, mode: before.mode, modified: time)
        }
    }

    private func replaced(_ before: Entry?, by content: Content, _ time: Timestamp) -> Entry? {
        if before?.content == content { return nil }
        let mode: UInt16
        switch content.kind {
        case .symlink: mode = 0o777
        case .directory: mode = 0o755
        case .file, .special, nil: mode = before?.content.kind == .file ? before?.mode ?? 0o644 : 0o644
        }
        return Entry(content: content, mode: mode, modified: time)
    }
}

/// One node's view of one path.
struct Replica {
    let reconciler: Reconciler
    /// The wall clock stands still, so that only causes order times and ties are frequent.
    let wallMilliseconds: Int64
    private(set) var row = Row(path: place("x"))
    private(set) var log: [Revision] = []
    private(set) var imported = 0
    /// Contents that went on under the name of a conflict copy.
    private(set) var copies: [Content] = []
    private var clock = HybridClock()

    init(ownKeyIsSmaller: Bool, wallMilliseconds: Int64) {
        reconciler = Reconciler(precedence: Precedence(ownKeyIsSmaller: ownKeyIsSmaller))
        self.wallMilliseconds = wallMilliseconds
    }

    static let epoch = Epoch(number: 1, nonce: 7)

    var resolution: Resolution { reconciler.resolution(of: row) }

    /// Takes in entries of the other log up to `count`.
    mutating func take(_ other: [Revision], upTo count: Int) {
        for revision in other[imported..<max(imported, count)] {
            clock.witness(revision.origin.time)
            row.join(revision.flipped)
            if reconciler.losesUnseen(row) { row.owesCopy = true }
        }
        imported = max(imported, count)
    }

    /// Brings the disk to the wanted state.
    mutating func apply() {
        guard row.needsApply else { return }
        let wanted = resolution
        var makesCopy = false
        switch reconciler.step(from: row, to: wanted) {
        case .replace(.conflictCopy), .replaceByDirectory(.conflictCopy), .remove(.conflictCopy): makesCopy = true
        case .replace, .replaceByDirectory, .remove, .agree, .adjust, .place, .makeDirectory, .replaceDirectory,
            .removeDirectory:
            break
        }
        if makesCopy, let disk = row.disk { copies.append(disk.entry.content) }
        show(wanted.entry, wanted.origins)
        row.reflected = row.reflected.joined(with: wanted.version)
        row.owesCopy = false
        if makesCopy, row.heads.count > 1, let disk = row.disk { revise(to: disk.entry) }
    }

    /// The user's act has been seen. True if it became a revision; false if it was what was wanted anyway.
    mutating func see(_ entry: Entry) -> Bool {
        let wanted = resolution
        if !entry.isAbsent, row.needsApply, wanted.entry.agrees(with: entry) {
            show(wanted.entry, wanted.origins)
            row.reflected = row.version
            row.owesCopy = false
            return false
        }
        revise(to: entry)
        return true
    }

    private mutating func revise(to entry: Entry) {
        let time = clock.tick(wallMilliseconds: wallMilliseconds)
        let position = LogPosition(epoch: Replica.epoch, seq: UInt64(log.count + 1))
        let origin = Origin(author: .own, position: position, time: time)
        var origins = Origins(all: origin)
        if let disk = row.disk, !entry.isAbsent {
            if disk.entry.content == entry.content { origins.content = disk.origins.content }
            if disk.entry.mode == entry.mode { origins.mode = disk.origins.mode }
            if disk.entry.modified == entry.modified { origins.time = disk.origins.time }
        }
        let revision = Revision(origin: origin, seen: row.reflected, entry: entry, origins: origins)
        let isOwed = row.owesCopy && row.disk?.entry.content == entry.content
        row.join(revision)
        row.reflected.own = position
        show(entry, origins)
        row.owesCopy = false
        row.owesCopy = isOwed || reconciler.losesUnseen(row)
        log.append(revision)
    }

    private mutating func show(_ entry: Entry, _ origins: Origins) {
        row.disk = entry.isAbsent ? nil : Row.DiskState(entry: entry, stat: Replica.stat, origins: origins)
    }

    /// Nothing here looks at it.
    private static let stat = Stat(
        identity: FileIdentity(device: 1, inode: 1, birth: .zero), kind: .file, mode: 0, size: 0, modified: .zero,
        changed: .zero)
}

/// One step of a history.
struct Move: Hashable {
    let side: Side
    /// How much of the other's log was taken in before the act.
    let taken: Int
    /// Whether it had been brought to the disk by then.
    let applied: Bool
    let act: Act
}

struct History {
    var replicas: [Replica]
    private(set) var moves: [Move] = []
    /// Every revision with its causal past, as sets of revisions.
    private(set) var facts: [Fact] = []
    /// What a user replaced or deleted while looking at it.
    private(set) var overwritten: [Content] = []
    private var known: [Marks] = [[], []]
    private var shown: [Marks] = [[], []]

    /// A set of revisions of a history.
    struct Marks: OptionSet, Hashable {
        let rawValue: UInt32

        static func one(_ side: Side, _ index: Int) -> Marks {
            Marks(rawValue: 1 << UInt32(side.rawValue * 16 + index))
        }
    }

    /// A revision as the left node names it.
    struct Fact {
        let id: Marks
        let past: Marks
        let revision: Revision
    }

    init(leftKeyIsSmaller: Bool, leftWall: Int64, rightWall: Int64) {
        replicas = [
            Replica(ownKeyIsSmaller: leftKeyIsSmaller, wallMilliseconds: leftWall),
            Replica(ownKeyIsSmaller: !leftKeyIsSmaller, wallMilliseconds: rightWall),
        ]
    }

    /// What the left side made and the right side has taken over.
    mutating func agree(on act: Act) {
        precondition(self.act(Move(side: .left, taken: 0, applied: true, act: act)), "nothing is there yet")
        converge()
    }

    subscript(side: Side) -> Replica {
        get { replicas[side.rawValue] }
        set { replicas[side.rawValue] = newValue }
    }

    var leftOrder: Precedence { self[.left].reconciler.precedence }

    func count(_ side: Side) -> Int { moves.reduce(0) { $0 + ($1.side == side ? 1 : 0) } }

    /// The state before an act: the other's log taken in so far, and brought to the disk or not.
    mutating func catchUp(_ side: Side, to taken: Int, applies: Bool) {
        self[side].take(self[side.other].log, upTo: taken)
        for index in 0..<self[side].imported { known[side.rawValue].insert(.one(side.other, index)) }
        if applies {
            let before = self[side].log.count
            self[side].apply()
            shown[side.rawValue].formUnion(known[side.rawValue])
            if self[side].log.count > before { noteFact(side) }
        }
    }

    /// The last entry of a log, with what its node showed when it was written.
    private mutating func noteFact(_ side: Side) {
        guard let revision = self[side].log.last else { return }
        let id = Marks.one(side, self[side].log.count - 1)
        facts.append(
            Fact(id: id, past: shown[side.rawValue], revision: side == .left ? revision : revision.flipped))
        known[side.rawValue].insert(id)
        shown[side.rawValue].insert(id)
    }

    /// False if the user cannot do it.
    mutating func act(_ move: Move) -> Bool {
        let side = move.side
        let before = self[side].row.disk?.entry
        guard let entry = move.act.entry(after: before, number: moves.count + 1) else { return false }
        moves.append(move)
        if let before, before.content != entry.content { overwritten.append(before.content) }
        if self[side].see(entry) {
            noteFact(side)
        } else {
            shown[side.rawValue].formUnion(known[side.rawValue])
        }
        return true
    }

    /// Both take in all there is and show it, until nothing is left to say.
    mutating func converge() {
        while Side.allCases.contains(where: { self[$0].imported < self[$0.other].log.count || self[$0].row.needsApply })
        {
            exchange()
            settle()
        }
    }

    /// Both take in all there is.
    mutating func exchange() {
        for side in Side.allCases { catchUp(side, to: self[side.other].log.count, applies: false) }
    }

    mutating func settle() {
        for side in Side.allCases { catchUp(side, to: self[side].imported, applies: true) }
    }

    /// The same with the sides exchanged: keys, clocks and acts.
    var mirrored: History {
        var mirror = History(
            leftKeyIsSmaller: !leftOrder.ownKeyIsSmaller, leftWall: self[.right].wallMilliseconds,
            rightWall: self[.left].wallMilliseconds)
        for move in moves {
            mirror.catchUp(move.side.other, to: move.taken, applies: move.applied)
            let twin = Move(side: move.side.other, taken: move.taken, applied: move.applied, act: move.act)
            precondition(mirror.act(twin), "what one side can do, the other can too")
        }
        return mirror
    }

    // MARK: What should come of it, from sets alone

    /// Revisions whose value of an aspect was neither replaced by one that knew it nor left behind by a decision.
    func living(_ aspect: KeyPath<Origins, Origin>) -> [Fact] {
        let claims = facts.filter { $0.revision.origins[keyPath: aspect].isSameEntry(as: $0.revision.origin) }
        return claims.filter { claim in
            !facts.contains { fact in
                fact.past.contains(claim.id)
                    && !fact.revision.origins[keyPath: aspect].isSameEntry(as: claim.revision.origin)
            }
        }
    }

    /// Where each side decided for what the other had decided against, no content lives: of the last decisions the later one stands.
    var lastClaims: [Fact] {
        let last = facts.filter { fact in !facts.contains { $0.past.contains(fact.id) } }
        return facts.filter { claim in
            last.contains { $0.revision.origins.content.isSameEntry(as: claim.revision.origin) }
        }
    }

    func latest(_ claims: [Fact]) -> Fact? {
        claims.max { leftOrder.isLater($1.revision.origin, than: $0.revision.origin) }
    }
}

/// All histories up to a number of acts a side.
struct Scope {
    let acts: [Act]
    /// Acts of the left and of the right side at most.
    let depth: [Int]
    /// Whether a user may act between the import of a change and its arrival on the disk.
    var actsBeforeApply = false

    /// Calls `visit` with every history in which the last act is new, and returns how many there were.
    func explore(from start: History, _ visit: (History) -> Void) -> Int {
        var count = 0
        for side in Side.allCases where start.count(side) < depth[side.rawValue] {
            for taken in start[side].imported...start[side.other].log.count {
                if isTwin(of: start, side, taken) { continue }
                for applies in [true, false] {
                    var state = start
                    state.catchUp(side, to: taken, applies: applies)
                    if !applies && (!actsBeforeApply || !state[side].row.needsApply) { continue }
                    for act in acts {
                        var next = state
                        guard next.act(Move(side: side, taken: taken, applied: applies, act: act)) else { continue }
                        visit(next)
                        count += 1 + explore(from: next, visit)
                    }
                }
            }
        }
        return count
    }

    /// Two acts in a row that know nothing of each other may as well have come the other way round: left goes first.
    private func isTwin(of start: History, _ side: Side, _ taken: Int) -> Bool {
        guard side == .left, start.moves.last?.side == .right else { return false }
        return taken < start[.right].log.count
    }
}

/// A path written in a test.
func place(_ text: String) -> Path {
    guard let path = Path(text) else { preconditionFailure("a test wrote \(text), which is no path") }
    return path
}
