/// What a row says of itself: what it still wants, and whether it belongs in the list of pending paths.
import SyncModel
import Testing

struct RowTests {
    private static let file = Entry(
        content: .file(ContentID(SHA256.digest(of: [1])), size: 1), mode: 0o644,
        modified: Timestamp(seconds: 5, nanoseconds: 6))

    private static func position(_ seq: UInt64) -> LogPosition {
        LogPosition(epoch: Epoch(number: 1, nonce: 1), seq: seq)
    }

    private static func origin(_ author: Author, _ seq: UInt64) -> Origin {
        Origin(author: author, position: position(seq), time: HybridTime(wallMilliseconds: Int64(seq)))
    }

    private static func revision(_ author: Author, _ seq: UInt64, seen: VersionVector = .none) -> Revision {
        let origin = origin(author, seq)
        return Revision(origin: origin, seen: seen, entry: file, origins: Origins(all: origin))
    }

    private static func row(_ heads: [Revision], reflected: VersionVector) -> Row {
        var row = Row(path: path("a"))
        for head in heads { row.join(head) }
        row.reflected = reflected
        return row
    }

    @Test("a row wants something while the disk does not show all that is known") func needsApply() {
        let own = RowTests.revision(.own, 3)
        let peer = RowTests.revision(.peer, 4)
        let none = VersionVector.none
        let first = VersionVector(own: RowTests.position(3), peer: .none)
        let both = VersionVector(own: RowTests.position(3), peer: RowTests.position(4))
        let later = VersionVector(own: RowTests.position(9), peer: RowTests.position(9))
        #expect(!RowTests.row([], reflected: none).needsApply)
        #expect(RowTests.row([own], reflected: none).needsApply)
        #expect(!RowTests.row([own], reflected: first).needsApply)
        #expect(RowTests.row([own, peer], reflected: first).needsApply)
        #expect(!RowTests.row([own, peer], reflected: both).needsApply)
        #expect(!RowTests.row([own, peer], reflected: later).needsApply)
        var damaged = RowTests.row([own, peer], reflected: both)
        damaged.condition = .damaged
        #expect(damaged.needsApply)
    }

    @Test("a path is pending while anything is open about it, unless the rules leave it out") func isUnsettled() {
        let shown = VersionVector(own: RowTests.position(1), peer: .none)
        var settled = RowTests.row([RowTests.revision(.own, 1)], reflected: shown)
        #expect(!settled.isUnsettled)
        settled.waiting = Row.Waiting(reason: .pathBusy, sinceMilliseconds: 1)
        #expect(settled.isUnsettled)
        settled.waiting = nil
        for (condition, isPending) in [
            (Row.Condition.normal, false), (.missing, true), (.damaged, true), (.ignored, false),
        ] {
            settled.condition = condition
            #expect(settled.isUnsettled == isPending)
        }
        var wanting = RowTests.row([RowTests.revision(.peer, 1)], reflected: .none)
        #expect(wanting.isUnsettled)
        wanting.condition = .ignored
        #expect(!wanting.isUnsettled)
    }

    @Test("the heads are what nobody has seen, one of an author at most") func join() {
        let first = RowTests.revision(.own, 1)
        let second = RowTests.revision(.own, 2, seen: first.version)
        let other = RowTests.revision(.peer, 1)
        let answer = RowTests.revision(.peer, 2, seen: second.version.joined(with: other.version))
        var row = Row(path: path("a"))
        for revision in [second, other, first, second] { row.join(revision) }
        #expect(row.heads == [second, other])
        #expect(row.version == VersionVector(own: RowTests.position(2), peer: RowTests.position(1)))
        #expect(row.head(by: .own) == second && row.head(by: .peer) == other)
        row.join(answer)
        #expect(row.heads == [answer] && row.head(by: .own) == nil)
        for revision in [first, second, other] { row.join(revision) }
        #expect(row.heads == [answer])
    }

    @Test("what a revision includes: itself and what its author had seen") func includes() {
        let revision = RowTests.revision(
            .own, 5, seen: VersionVector(own: RowTests.position(3), peer: RowTests.position(7)))
        #expect(revision.includes(RowTests.origin(.own, 5)) && revision.includes(RowTests.origin(.own, 3)))
        #expect(!revision.includes(RowTests.origin(.own, 4)) && !revision.includes(RowTests.origin(.own, 6)))
        #expect(revision.includes(RowTests.origin(.peer, 7)) && !revision.includes(RowTests.origin(.peer, 8)))
        #expect(revision.version == VersionVector(own: RowTests.position(5), peer: RowTests.position(7)))
    }

    @Test("seen from the other node and back it is the same") func flipping() {
        let revision = Revision(
            origin: RowTests.origin(.own, 5),
            seen: VersionVector(own: RowTests.position(3), peer: RowTests.position(7)), entry: RowTests.file,
            origins: Origins(
                content: RowTests.origin(.peer, 7), mode: RowTests.origin(.own, 3), time: RowTests.origin(.own, 5)),
            movedFrom: path("b"), movedTo: path("c"))
        let flipped = revision.flipped
        #expect(flipped.flipped == revision && flipped != revision)
        #expect(flipped.origin.author == .peer && flipped.seen.own == RowTests.position(7))
        #expect(flipped.origins.content.author == .own && flipped.entry == revision.entry)
        #expect(flipped.movedFrom == path("b") && flipped.movedTo == path("c"))
        #expect(flipped.version == revision.version.flipped)
    }

    // MARK: Positions and knowledge

    @Test("sequence numbers are dense and epochs go up") func follows() {
        let (one, two) = (Epoch(number: 1, nonce: 9), Epoch(number: 2, nonce: 3))
        func at(_ epoch: Epoch, _ seq: UInt64) -> LogPosition { LogPosition(epoch: epoch, seq: seq) }
        #expect(at(one, 1).follows(.none) && at(one, 2).follows(at(one, 1)) && at(two, 1).follows(at(one, 7)))
        #expect(!at(one, 1).follows(at(one, 1)) && !at(one, 3).follows(at(one, 1)) && !at(two, 2).follows(at(one, 1)))
        #expect(!at(one, 1).follows(at(two, 1)) && !at(one, 0).follows(at(one, .max)))
        #expect(at(one, .max) < at(two, 1) && at(one, 1) < at(one, 2) && one.number == 1)
        #expect(Epoch(number: .max, nonce: 0) > Epoch(number: .max - 1, nonce: .max))
    }

    @Test("joining knowledge is the least that covers both") func vectors() {
        var random = SeededRandom(seed: 11)
        func draw() -> VersionVector {
            VersionVector(
                own: RowTests.position(UInt64(random.below(3))), peer: RowTests.position(UInt64(random.below(3))))
        }
        for _ in 0..<500 {
            let (a, b) = (draw(), draw())
            let both = a.joined(with: b)
            #expect(both.covers(a) && both.covers(b) && both == b.joined(with: a))
            #expect(a.covers(b) == (both == a))
            #expect(a.flipped.joined(with: b.flipped) == both.flipped && a.covers(b) == a.flipped.covers(b.flipped))
        }
    }

    @Test("later than is a total order that both nodes share") func precedence() {
        var random = SeededRandom(seed: 12)
        func draw() -> Origin {
            Origin(
                author: random.chance(percent: 50) ? .own : .peer,
                position: RowTests.position(UInt64(random.below(3))), time: HybridTime(raw: UInt64(random.below(3))))
        }
        for ownKeyIsSmaller in [true, false] {
            let here = Precedence(ownKeyIsSmaller: ownKeyIsSmaller)
            let there = Precedence(ownKeyIsSmaller: !ownKeyIsSmaller)
            for _ in 0..<2_000 {
                let (a, b, c) = (draw(), draw(), draw())
                #expect(here.isLater(a, than: b) == there.isLater(a.flipped, than: b.flipped))
                #expect(a == b ? !here.isLater(a, than: b) : here.isLater(a, than: b) != here.isLater(b, than: a))
                if here.isLater(a, than: b) && here.isLater(b, than: c) { #expect(here.isLater(a, than: c)) }
                if a.time > b.time { #expect(here.isLater(a, than: b)) }
            }
        }
    }

    // MARK: Entries

    @Test("entries agree if a user could not tell them apart") func agreement() {
        let file = RowTests.file
        var other = file
        #expect(file.agrees(with: other))
        other.mode = 0o600
        #expect(!file.agrees(with: other))
        other = file
        other.modified = .zero
        #expect(!file.agrees(with: other))
        var gone = file
        gone.content = .absent
        #expect(gone.agrees(with: .absent) && !gone.agrees(with: file))
        #expect(Entry(content: .directory, mode: 0o7755, modified: .zero).mode == 0o755)
    }

    @Test("a look is the same file only while nothing touched it") func stats() {
        let identity = FileIdentity(device: 1, inode: 2, birth: .zero)
        let time = Timestamp(seconds: 9, nanoseconds: 1)
        let stat = Stat(identity: identity, kind: .file, mode: 0o644, size: 5, modified: time, changed: time)
        var renamed = stat
        renamed.changed = Timestamp(seconds: 9, nanoseconds: 2)
        #expect(stat.isUntouched(since: stat) && !renamed.isUntouched(since: stat))
        #expect(renamed.isSameContent(as: stat))
        var other = stat
        other.size = 6
        #expect(!other.isSameContent(as: stat))
        other = stat
        other.modified = Timestamp(seconds: 9, nanoseconds: 2)
        #expect(!other.isSameContent(as: stat))
        other = stat
        other.mode = 0o600
        #expect(!other.isUntouched(since: stat) && other.isSameContent(as: stat))
        var directory = stat
        directory.kind = .directory
        var grown = directory
        grown.size = 4_096
        #expect(grown.isUntouched(since: directory) && !directory.isUntouched(since: stat))
    }
}
