/// A directory move as one entry: what becomes of each row below it, and the count by which both nodes know that they mean
/// the same directory.
import SyncModel
import Testing

@Suite("Relocation: one entry moves a directory")
struct RelocationTests {
    // MARK: The deleted half

    @Test("the old half is gone and settled, and remembers mode and time", arguments: 0..<10)
    func oldHalf(seed: Int) throws {
        var draw = RelocationDraw(seed: seed)
        for _ in 0..<100 {
            let (move, row, replaced) = (draw.relocation(), draw.row(), draw.replaced())
            let (old, _) = try #require(move.applied(to: row, replacing: replaced))
            let head = try #require(old.heads.first)
            #expect(old.path == row.path && old.disk == nil && old.heads.count == 1)
            #expect(!old.needsApply && !old.isUnsettled)
            #expect(head.entry.isAbsent && head.entry.mode == row.disk?.entry.mode)
            #expect(head.entry.modified == row.disk?.entry.modified)
            #expect(head.origin == move.origin && head.origins == Origins(all: move.origin))
            #expect(head.movedTo == row.path.rebased(from: move.from, to: move.to) && head.movedFrom == nil)
            #expect(old.version.covers(row.version) && old.version.covers(move.origin))
        }
    }

    // MARK: The half that lives on

    @Test("the new half is the same file, only its content comes from the move", arguments: 0..<10)
    func newHalf(seed: Int) throws {
        var draw = RelocationDraw(seed: seed)
        for _ in 0..<100 {
            let (move, row, replaced) = (draw.relocation(), draw.row(), draw.replaced())
            let (_, new) = try #require(move.applied(to: row, replacing: replaced))
            let (before, after) = (try #require(row.disk), try #require(new.disk))
            let head = try #require(new.heads.first)
            #expect(new.path == row.path.rebased(from: move.from, to: move.to) && new.heads.count == 1)
            #expect(!new.needsApply && !new.isUnsettled)
            #expect(after.entry == before.entry && after.stat == before.stat)
            #expect(after.origins.mode == before.origins.mode && after.origins.time == before.origins.time)
            #expect(after.origins.content == move.origin)
            #expect(head.entry == before.entry && head.origins == after.origins && head.origin == move.origin)
            #expect(head.movedFrom == row.path && head.movedTo == nil)
            #expect(new.version.covers(row.version) && new.version.covers(replaced?.version ?? .none))
            #expect(new.version.covers(move.origin))
        }
    }

    @Test("who is told of each half by itself comes to the same heads", arguments: 0..<10)
    func pathByPath(seed: Int) throws {
        var draw = RelocationDraw(seed: seed)
        for _ in 0..<100 {
            let (move, row, replaced) = (draw.relocation(), draw.row(), draw.replaced())
            let (old, new) = try #require(move.applied(to: row, replacing: replaced))
            var source = row
            for head in old.heads { source.join(head) }
            var target = replaced ?? Row(path: new.path)
            for head in new.heads { target.join(head) }
            #expect(source.heads == old.heads && target.heads == new.heads)
        }
    }

    @Test("both nodes make the same of a move, each in its own words", arguments: 0..<10)
    func seenFromTheOtherNode(seed: Int) throws {
        var draw = RelocationDraw(seed: seed)
        for _ in 0..<100 {
            let (move, row, replaced) = (draw.relocation(), draw.row(), draw.replaced())
            let here = try #require(move.applied(to: row, replacing: replaced))
            let there = try #require(move.flipped.applied(to: row.flipped, replacing: replaced?.flipped))
            #expect(there.old == here.old.flipped && there.new == here.new.flipped)
        }
    }

    @Test("a directory that goes and comes back is at its old path again and includes everything") func thereAndBack()
        throws
    {
        var draw = RelocationDraw(seed: 3)
        for _ in 0..<100 {
            let (there, row) = (draw.relocation(), draw.row())
            let gone = try #require(there.applied(to: row, replacing: nil))
            let back = draw.relocation(from: there.to, to: there.from)
            let (left, home) = try #require(back.applied(to: gone.new, replacing: gone.old))
            #expect(home.path == row.path && home.disk?.entry == row.disk?.entry && !home.isUnsettled)
            #expect(home.version.covers(gone.old.version) && home.version.covers(gone.new.version))
            #expect(left.path == gone.new.path && left.version.covers(gone.new.version))
        }
    }

    @Test("the directory itself moves, and what was believed missing does") func whichRows() throws {
        var draw = RelocationDraw(seed: 4)
        let move = draw.relocation(from: path("d"), to: path("e/f"))
        let moved = try #require(move.applied(to: draw.row(at: "d"), replacing: nil))
        #expect(moved.old.path == path("d") && moved.new.path == path("e/f"))
        var missing = draw.row(at: "d/x/y")
        missing.condition = .missing
        let (old, new) = try #require(move.applied(to: missing, replacing: nil))
        #expect(new.path == path("e/f/x/y") && old.condition == .normal && new.condition == .normal)
    }

    @Test("a file that was left out stays so while a power cut may have taken what was in it") func leftOut() throws {
        var draw = RelocationDraw(seed: 12)
        var move = draw.relocation(from: path("d"), to: path("e"))
        let doubts: [(since: Int64?, isYounger: Bool)] = [(nil, false), (Int64.min, true), (Int64.max, false)]
        for (since, isYounger) in doubts {
            move.distrustOfIgnored = since
            for content in [Content.file(RelocationDraw.id("1"), size: 1), .directory] {
                var row = draw.row(at: "d/x", content)
                for condition in [Row.Condition.ignored, .normal, .missing] {
                    row.condition = condition
                    let (old, new) = try #require(move.applied(to: row, replacing: nil))
                    let staysLeftOut = isYounger && condition == .ignored && content != .directory
                    #expect(old.condition == .normal && new.condition == (staysLeftOut ? .ignored : .normal))
                }
            }
        }
    }

    @Test("what is not on disk, not below the directory or has no room at the new path does not move") func excluded() {
        var draw = RelocationDraw(seed: 5)
        let move = draw.relocation(from: path("d"), to: path("e"))
        var deleted = draw.row(at: "d/x")
        deleted.disk = nil
        #expect(move.applied(to: deleted, replacing: nil) == nil)
        for place in ["c", "dd", "e", "e/d/x"] { #expect(move.applied(to: draw.row(at: place), replacing: nil) == nil) }
        let name = String(repeating: "n", count: Limits.nameBytesMax)
        let far = path(Array(repeating: name, count: 16).joined(separator: "/"))
        #expect(draw.relocation(from: path("d"), to: far).applied(to: draw.row(at: "d/x"), replacing: nil) == nil)
        #expect(draw.relocation(from: path("d"), to: far).applied(to: draw.row(at: "d"), replacing: nil) != nil)
    }

    @Test("seen from the other node and back it is the same move") func flipping() {
        var draw = RelocationDraw(seed: 6)
        for _ in 0..<200 {
            let move = draw.relocation()
            let flipped = move.flipped
            #expect(flipped.flipped == move && flipped != move)
            #expect(flipped.origin == move.origin.flipped)
            #expect(flipped.from == move.from && flipped.to == move.to)
            #expect(flipped.seenPeer == move.seenPeer && flipped.summary == move.summary)
        }
    }
}

@Suite("SubtreeSummary: what lies below a directory, in one pass")
struct SubtreeSummaryTests {
    @Test("the order in which rows are counted does not matter", arguments: 0..<10) func anyOrder(seed: UInt64) {
        var draw = RelocationDraw(seed: Int(seed))
        let rows = (0..<40).map { draw.anyRow(at: "d/\($0)") }
        #expect(SubtreeSummary(of: rows, below: "d") == SubtreeSummary(of: rows.shuffledBySeed(seed), below: "d"))
    }

    @Test("what was moved is counted the same at its new place, and nothing at the old", arguments: 0..<10)
    func survivesTheMove(seed: Int) throws {
        var draw = RelocationDraw(seed: seed)
        let move = draw.relocation(from: path("d"), to: path("somewhere/else"))
        let rows = [draw.row(at: "d")] + (0..<20).map { draw.row(at: "d/x\($0)/y") }
        let halves = try rows.map { try #require(move.applied(to: $0, replacing: nil)) }
        let before = SubtreeSummary(of: rows, below: "d")
        let after = SubtreeSummary(of: halves.map(\.new), below: "somewhere/else")
        #expect(after.contents == before.contents && before.contents.liveRows == 21)
        #expect(after.unsettled == 0 && after.missing == 0 && after.entangled == 0)
        #expect(SubtreeSummary(of: halves.map(\.old), below: "d").contents == SubtreeSummary.Contents())
    }

    @Test("each row is counted for what it is") func counts() {
        var draw = RelocationDraw(seed: 7)
        let file = draw.row(at: "d/a", .file(RelocationDraw.id("1"), size: 1))
        let directory = draw.row(at: "d/b", .directory)
        let link = draw.row(at: "d/c", .symlink([0x61]))
        let plain = SubtreeSummary(of: [file, directory, link], below: "d")
        #expect(plain.files == 2 && plain.directories == 1 && plain.contents.liveRows == 3)
        #expect(plain.unsettled == 0 && plain.missing == 0 && plain.pendingRows == 0 && plain.entangled == 0)

        var missing = file
        missing.condition = .missing
        var damaged = file
        damaged.condition = .damaged
        var waiting = file
        waiting.waiting = Row.Waiting(reason: .pathBusy, sinceMilliseconds: 0)
        var behind = file
        behind.reflected = .none
        var twoHeads = file
        twoHeads.heads += file.heads.map(\.flipped)
        twoHeads.reflected = twoHeads.version
        var ignored = file
        ignored.condition = .ignored
        let cases: [(Row, unsettled: Int, missing: Int, pending: Int, entangled: Int)] = [
            (missing, 0, 1, 1, 0), (damaged, 1, 0, 1, 0), (waiting, 1, 0, 1, 0), (behind, 1, 0, 1, 0),
            (twoHeads, 0, 0, 0, 1), (ignored, 0, 0, 0, 0),
        ]
        for (row, unsettled, missing, pending, entangled) in cases {
            let found = SubtreeSummary(of: [row], below: "d")
            #expect(found.unsettled == unsettled && found.missing == missing)
            #expect(found.pendingRows == pending && found.entangled == entangled)
            // (What the rules leave out is nothing that could be lost.)
            #expect(found.files == (row.condition == .ignored ? 0 : 1) && found.contents.liveRows == 1)
        }
    }

    @Test("what is not on disk counts by what is known of it only") func deletedRows() {
        var draw = RelocationDraw(seed: 8)
        var row = draw.row(at: "d/a")
        row.disk = nil
        row.heads = [draw.revision(.absent, at: (own: 7, peer: 9))]
        row.reflected = row.version
        let settled = SubtreeSummary(of: [row], below: "d")
        var expected = SubtreeSummary()
        expected.ownLatest = row.version.own
        expected.peerLatest = row.version.peer
        #expect(settled == expected && settled.ownLatest > .none && settled.peerLatest > .none)
        row.reflected = .none
        #expect(SubtreeSummary(of: [row], below: "d").unsettled == 1)
    }

    @Test("the latest entries of both logs are found, whichever row names them") func latest() {
        var draw = RelocationDraw(seed: 9)
        let rows = [(own: 3, peer: 8), (own: 9, peer: 1), (own: 4, peer: 4)].enumerated().map { index, seen in
            var row = draw.row(at: "d/\(index)")
            row.heads = [draw.revision(row.disk?.entry ?? .absent, at: (UInt64(seen.own), UInt64(seen.peer)))]
            return row
        }
        let found = SubtreeSummary(of: rows, below: "d")
        #expect(found.ownLatest == RelocationDraw.position(9) && found.peerLatest == RelocationDraw.position(8))
    }

    @Test("two nodes that hold different things do not agree on the fingerprint") func fingerprints() {
        var draw = RelocationDraw(seed: 10)
        let (one, two) = (RelocationDraw.id("1"), RelocationDraw.id("2"))
        func print(_ rows: [(String, Content, mode: UInt16)]) -> UInt64 {
            SubtreeSummary(of: rows.map { draw.row(at: $0.0, $0.1, mode: $0.mode) }, below: "d").contents.fingerprint
        }
        let folders: [[(String, Content, mode: UInt16)]] = [
            [("d/a", .file(one, size: 1), 0o644)],
            [("d/a", .file(two, size: 1), 0o644)],
            [("d/a", .file(one, size: 2), 0o644)],
            [("d/a", .file(one, size: 1), 0o600)],
            [("d/b", .file(one, size: 1), 0o644)],
            [("d/a/b", .file(one, size: 1), 0o644)],
            [("d/a", .directory, 0o755)],
            [("d/a", .symlink([0x61]), 0o777)],
            [("d/a", .symlink([0x62]), 0o777)],
            [("d/a", .file(one, size: 1), 0o644), ("d/b", .file(two, size: 1), 0o644)],
            [("d/a", .file(two, size: 1), 0o644), ("d/b", .file(one, size: 1), 0o644)],
        ]
        let prints = folders.map(print)
        #expect(Set(prints).count == folders.count)
    }

    @Test("times and what each node calls its entries are not part of the fingerprint") func indifferent() {
        var draw = RelocationDraw(seed: 11)
        for _ in 0..<100 {
            let row = draw.row(at: "d/a")
            var touched = row
            touched.disk?.entry.modified = Timestamp(seconds: -1, nanoseconds: 5)
            touched.disk?.stat = draw.stat(of: row.disk?.entry ?? .absent)
            let contents = SubtreeSummary(of: [row], below: "d").contents
            #expect(SubtreeSummary(of: [touched.flipped], below: "d").contents == contents)
        }
    }
}

extension SubtreeSummary {
    fileprivate init(of rows: [Row], below directory: String) {
        self.init()
        for row in rows { count(row, below: path(directory)) }
    }
}

extension Row {
    /// The same row as the other node would hold it.
    fileprivate var flipped: Row {
        var row = self
        row.heads = heads.map(\.flipped)
        row.reflected = reflected.flipped
        if let disk { row.disk?.origins = disk.origins.flipped }
        return row
    }
}

/// Rows and moves by chance.
private struct RelocationDraw {
    private var random: SeededRandom

    init(seed: Int) { random = SeededRandom(seed: UInt64(seed), stream: "relocation") }

    static func id(_ text: String) -> ContentID { ContentID(SHA256.digest(of: Array(text.utf8))) }

    static func position(_ seq: UInt64) -> LogPosition {
        seq == 0 ? .none : LogPosition(epoch: Epoch(number: 1, nonce: 5), seq: seq)
    }

    /// From `d` to `e`, later than anything a drawn row knows.
    mutating func relocation(from: Path = path("d"), to: Path = path("e")) -> Relocation {
        let origin = Origin(author: author(), position: RelocationDraw.position(100), time: time())
        return Relocation(
            from: from, to: to, origin: origin, seenPeer: RelocationDraw.position(UInt64(random.below(50))),
            summary: SubtreeSummary.Contents(liveRows: random.next(), fingerprint: random.next()))
    }

    /// On disk and settled: what a move may take along.
    mutating func row(at place: String? = nil, _ content: Content? = nil, mode: UInt16? = nil) -> Row {
        var row = Row(path: path(place ?? random.pick(["d", "d/x", "d/x/y", "d/z"]) ?? "d"))
        let entry = Entry(
            content: content ?? self.content(), mode: mode ?? UInt16(random.below(0o1000)),
            modified: Timestamp(seconds: Int64(random.range(-9...9)), nanoseconds: UInt32(random.below(1_000))))
        let revision = revision(entry, at: (UInt64(random.below(9)), UInt64(random.below(9))))
        row.disk = Row.DiskState(entry: entry, stat: stat(of: entry), origins: revision.origins)
        row.heads = [revision]
        row.reflected = row.version
        if place == nil, random.chance(percent: 20) { row.condition = .missing }
        return row
    }

    /// Of every condition, settled or not, with one head or two.
    mutating func anyRow(at place: String) -> Row {
        var row = row(at: place)
        if random.chance(percent: 30) { row.join(revision(.absent, at: (UInt64(random.below(20)), 0))) }
        if random.chance(percent: 30) { row.reflected = .none }
        if random.chance(percent: 30) { row.disk = nil }
        row.condition = random.pick([.normal, .normal, .missing, .damaged, .ignored]) ?? .normal
        return row
    }

    /// What stood for the new path before: nothing, or a deleted file.
    mutating func replaced() -> Row? {
        if random.chance(percent: 40) { return nil }
        var row = Row(path: path("e"))
        row.heads = [revision(.absent, at: (UInt64(random.below(60)), UInt64(random.below(60))))]
        row.reflected = row.version
        return row
    }

    /// Written by either node, which had seen so much of both logs before.
    mutating func revision(_ entry: Entry, at seen: (own: UInt64, peer: UInt64)) -> Revision {
        let seen = VersionVector(own: RelocationDraw.position(seen.own), peer: RelocationDraw.position(seen.peer))
        let author = author()
        let origin = Origin(author: author, position: max(seen[author], RelocationDraw.position(1)), time: time())
        return Revision(origin: origin, seen: seen, entry: entry, origins: origins())
    }

    mutating func stat(of entry: Entry) -> Stat {
        let identity = FileIdentity(device: 1, inode: random.next(), birth: .zero)
        return Stat(
            identity: identity, kind: entry.content.kind ?? .file, mode: entry.mode, size: entry.content.size,
            modified: entry.modified, changed: Timestamp(seconds: Int64(random.below(99)), nanoseconds: 0))
    }

    private mutating func content() -> Content {
        switch random.below(4) {
        case 0: .directory
        case 1: .symlink(random.bytes(random.range(1...5)))
        default: .file(RelocationDraw.id("\(random.below(3))"), size: UInt64(random.below(3)))
        }
    }

    private mutating func author() -> Author { random.chance(percent: 50) ? .own : .peer }

    private mutating func time() -> HybridTime { HybridTime(wallMilliseconds: Int64(random.below(1_000))) }

    private mutating func origins() -> Origins { Origins(content: origin(), mode: origin(), time: origin()) }

    private mutating func origin() -> Origin {
        Origin(author: author(), position: RelocationDraw.position(UInt64(random.range(1...9))), time: time())
    }
}
