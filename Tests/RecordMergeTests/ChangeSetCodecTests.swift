/// Change sets as bytes: there and back, held by those who know too little, and refused where anything is wrong.
import Foundation
import SyncModel
import Testing

@testable import RecordMerge

@Suite("change sets as bytes")
struct ChangeSetCodecTests {
    // MARK: Deltas

    @Test("a delta gives back what it was made from: all short strings over two letters") func deltas() {
        let strings = (0...5).flatMap { ChangeSetCodecTests.strings(over: [7, 9], length: $0) }
        for base in strings {
            for result in strings {
                let delta = ByteDelta(from: base, to: result)
                #expect(delta.applied(to: base, bytesMax: 5) == result)
                #expect(delta.middle.isEmpty || result.count == 0 || delta.applied(to: base, bytesMax: 0) == nil)
            }
        }
    }

    @Test("a delta is never applied to what is too short for it, nor beyond its bound") func badDeltas() {
        for (prefix, suffix) in [(4, 0), (0, 4), (2, 2), (-1, 0), (.max, .max)] {
            let delta = ByteDelta(prefixBytes: prefix, suffixBytes: suffix, middle: [])
            #expect(delta.applied(to: [1, 2, 3], bytesMax: 100) == nil)
        }
        let whole = ByteDelta(prefixBytes: 1, suffixBytes: 1, middle: [8, 8])
        #expect(whole.applied(to: [1, 2, 3], bytesMax: 3) == nil)
        #expect(whole.applied(to: [1, 2, 3], bytesMax: 4) == [1, 8, 8, 3])
    }

    private static func strings(over letters: [UInt8], length: Int) -> [[UInt8]] {
        (0..<length).reduce([[]]) { strings, _ in strings.flatMap { string in letters.map { string + [$0] } } }
    }

    // MARK: There and back

    @Test("every set of random histories comes back as it was") func roundTrips() throws {
        for seed in 0..<Effort.times(300) {
            var chance = HistoryMaker(seed: UInt64(seed))
            for set in try chance.history(actsMax: 12).all {
                let bytes = try #require(ChangeSetCodec.encode(set))
                #expect(ChangeSetCodec.decode(bytes) == .set(set))
            }
        }
    }

    @Test("what is left of a set keeps the numbers of its operations") func gaps() throws {
        let set = ChangeSetCodecTests.everything
        let kept = [1, 3, 7].map { (number: UInt32($0), operation: set.operations[$0]) }
        let rest = ChangeSet(set, keeping: kept, files: [])
        let bytes = try #require(ChangeSetCodec.encode(rest))
        #expect(ChangeSetCodec.decode(bytes) == .set(rest))
        #expect(rest.operations.indices.map(rest.number) == [1, 3, 7])
    }

    @Test("a file is written as changes to its base, and read only with that base") func bases() throws {
        let old = Array(String(repeating: #"{"title": "old"}"#, count: 20).utf8)
        let new = old.prefix(100) + Array("new".utf8) + old.dropFirst(110)
        let (was, now) = (ContentID(SHA256.digest(of: old)), ContentID(SHA256.digest(of: Array(new))))
        let path = try #require(Path("a"))
        let file = ChangeSet.SavedFile(path: path, content: now, bytes: Array(new), mode: 0o600, modified: .zero)
        let set = ChangeSetCodecTests.set([], files: [file])
        let bytes = try #require(ChangeSetCodec.encode(set) { _ in (was, old) })
        let whole = try #require(ChangeSetCodec.encode(set))
        #expect(bytes.count < whole.count - 200)
        #expect(ChangeSetCodec.decode(bytes) { _ in (was, old) } == .set(set))
        let prologue = try #require(ChangeSetCodec.prologue(of: bytes))
        #expect(ChangeSetCodec.decode(bytes) == .withoutBase(prologue, path, was))
        #expect(ChangeSetCodec.decode(bytes) { _ in (now, old) } == .withoutBase(prologue, path, was))
        // A base that is not what it is called gives another content than the one that was saved.
        #expect(ChangeSetCodec.decode(bytes) { _ in (was, old.reversed()) } == .broken)
    }

    // MARK: What a reader cannot read

    @Test("a reader that knows too little still knows whose it is and what it touches") func prologue() throws {
        let set = ChangeSetCodecTests.everything
        var newer = try #require(ChangeSetCodec.encode(set))
        newer[1] = 3
        let cut = Array(newer.dropLast(30))
        for bytes in [newer, cut] {
            guard case .beyondUs(let prologue) = ChangeSetCodec.decode(bytes) else {
                Issue.record("a newer version was read")
                continue
            }
            #expect(prologue.author == set.author && prologue.position == set.position && prologue.seen == set.seen)
            #expect(prologue.time == set.time && prologue.needs == set.needs)
            #expect(Set(prologue.records) == Set(set.operations.map(\.record)))
            #expect(prologue.paths == set.files.map(\.path))
        }
    }

    @Test("a set that needs an unknown feature is held") func features() throws {
        let needs = Needs(model: Array("m".utf8), modelVersion: 3, features: [5, .max])
        let bytes = try #require(ChangeSetCodec.encode(ChangeSetCodecTests.set([.insert(.named("A/1"))], needs: needs)))
        let prologue = try #require(ChangeSetCodec.prologue(of: bytes))
        #expect(prologue.needs == needs)
        #expect(ChangeSetCodec.decode(bytes) == .beyondUs(prologue))
        let many = Needs(model: [], modelVersion: 0, features: (0...UInt32(Limits.featureCountMax)).map(\.self))
        #expect(ChangeSetCodec.encode(ChangeSetCodecTests.set([], needs: many)) == nil)
    }

    @Test("the locks of files come back, and a program that knows none is told the same without them") func locks()
        throws
    {
        let base = Array(repeating: UInt8(ascii: "x"), count: 300)
        let known: ChangeSetCodec.Base = { _ in (ContentID(SHA256.digest(of: base)), base) }
        let plain = ChangeSetCodecTests.everything
        let bytes = try #require(ChangeSetCodec.encode(plain, base: known))
        for mask in 1..<8 {
            let set = plain.with(
                locks: plain.files.indices.map { place in
                    mask & (1 << place) == 0 ? nil : SaveLock(fence: .max - UInt64(place), isApart: place == 1)
                })
            let marked = try #require(ChangeSetCodec.encode(set, base: known))
            #expect(marked[1] == 2)
            #expect(ChangeSetCodec.decode(marked, base: known) == .set(set))
            #expect(ChangeSetCodec.withoutLocks(marked) == bytes)
            for length in marked.indices {
                #expect(ChangeSetCodec.decode(Array(marked[..<length]), base: known) == .broken)
                _ = ChangeSetCodec.withoutLocks(Array(marked[..<length]))
            }
            #expect(ChangeSetCodec.decode(marked + [0], base: known) == .broken)
        }
        #expect(ChangeSetCodec.withoutLocks(bytes) == bytes)
        // No lock at all is told in version 1, a file has one lock, and only files have any.
        let end = Array(bytes.dropFirst(2))
        let one: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 1]
        #expect(ChangeSetCodec.decode([0, 2] + end + [0, 0, 0, 1] + one, base: known) != .broken)
        #expect(ChangeSetCodec.decode([0, 2] + end + [0, 0, 0, 0], base: known) == .broken)
        #expect(ChangeSetCodec.decode([0, 2] + end + [0, 0, 0, 2] + one + one, base: known) == .broken)
        #expect(
            ChangeSetCodec.decode([0, 2] + end + [0, 0, 0, 1, 0, 0, 0, 9] + one.dropFirst(4), base: known) == .broken)
        #expect(ChangeSetCodec.decode([0, 0] + end, base: known) == .broken)
    }

    @Test("what its author did not read comes back with what it took the place of") func unreadSaves() throws {
        let old = Array(repeating: UInt8(ascii: "x"), count: 150) + Array("yz".utf8)
        let base: ChangeSetCodec.Base = { _ in (ContentID(SHA256.digest(of: old)), old) }
        for overwritten in [nil, Overwritten(bytes: nil), Overwritten(bytes: []), Overwritten(bytes: old)] {
            let set = ChangeSetCodecTests.unread(over: [overwritten, Overwritten(bytes: nil)])
            let bytes = try #require(ChangeSetCodec.encode(set, base: base))
            #expect(ChangeSetCodec.decode(bytes, base: base) == .set(set))
            #expect(set.isUnread)
            // Whoever has none of its author's earlier saves reads it all the same.
            if overwritten != nil { #expect(ChangeSetCodec.decode(bytes) == .set(set)) }
            for length in bytes.indices {
                #expect(ChangeSetCodec.decode(Array(bytes[..<length]), base: base) == .broken)
            }
            #expect(ChangeSetCodec.decode(bytes + [0], base: base) == .broken)
            #expect(ChangeSetCodec.withoutLocks(bytes) == bytes)
            #expect(ChangeSetCodec.outline(of: bytes)?.contents == set.files.map(\.content))
        }
        // There is one at least, each once, of a file that is there, and what it was is no longer than a document may be.
        let plain = try #require(ChangeSetCodec.encode(ChangeSetCodecTests.unread(over: [Overwritten(bytes: nil)])))
        let body = Array(plain.dropLast(4 + 4 + 1))
        let one: [UInt8] = [0, 0, 0, 0, 0]
        #expect(ChangeSetCodec.decode(body + [0, 0, 0, 1] + one) != .broken)
        #expect(ChangeSetCodec.decode(body + [0, 0, 0, 0]) == .broken)
        #expect(ChangeSetCodec.decode(body + [0, 0, 0, 2] + one + one) == .broken)
        #expect(ChangeSetCodec.decode(body + [0, 0, 0, 1] + [0, 0, 0, 2, 0]) == .broken)
        #expect(ChangeSetCodec.decode(body + [0, 0, 0, 1] + [0, 0, 0, 9, 0]) == .broken)
        let most: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
        #expect(ChangeSetCodec.decode(body + [0, 0, 0, 1, 0, 0, 0, 0, 1] + most + most + [0, 0, 0, 0]) == .broken)
    }

    @Test("two sets are split where both saved a file under a lock, apart, neither knowing of the other") func split()
        throws
    {
        let path = try #require(Path("a"))
        func set(_ author: Party, seeing other: UInt64, _ lock: SaveLock?) -> ChangeSet {
            let epoch = Epoch(number: 1, nonce: 1)
            var seen = Applied.none
            seen[author.other] = LogPosition(epoch: epoch, seq: other)
            let file = ChangeSet.SavedFile(deleted: path, mode: 0o600, modified: .zero)
            return ChangeSet(
                author: author, position: LogPosition(epoch: epoch, seq: 5), time: HybridTime(raw: 1), seen: seen,
                operations: [], files: [file.saved(under: lock)])
        }
        let (apart, together) = (SaveLock(fence: 1, isApart: true), SaveLock(fence: 2, isApart: false))
        let ours = set(.first, seeing: 4, apart)
        #expect(ours.splitLocks(with: set(.second, seeing: 4, together)) == [path])
        #expect(set(.second, seeing: 4, together).splitLocks(with: ours) == [path])
        #expect(ours.splitLocks(with: set(.second, seeing: 4, apart)) == [path])
        // One after the other, without a lock, both together, or by one node.
        #expect(ours.splitLocks(with: set(.second, seeing: 5, apart)).isEmpty)
        #expect(ours.splitLocks(with: set(.second, seeing: 4, nil)).isEmpty)
        #expect(set(.first, seeing: 4, together).splitLocks(with: set(.second, seeing: 4, together)).isEmpty)
        #expect(ours.splitLocks(with: set(.first, seeing: 4, apart)).isEmpty)
    }

    @Test("no cut and no changed byte is a trap, and no cut is read") func damage() throws {
        let base = Array(repeating: UInt8(ascii: "x"), count: 300)
        let known: ChangeSetCodec.Base = { _ in (ContentID(SHA256.digest(of: base)), base) }
        let bytes = try #require(ChangeSetCodec.encode(ChangeSetCodecTests.everything, base: known))
        #expect(ChangeSetCodec.decode(bytes, base: known) == .set(ChangeSetCodecTests.everything))
        for length in bytes.indices { #expect(ChangeSetCodec.decode(Array(bytes[..<length]), base: known) == .broken) }
        #expect(ChangeSetCodec.decode(bytes + [0], base: known) == .broken)
        var read = 0
        for offset in bytes.indices {
            for flip in [1, 2, 4, 8, 16, 32, 64, 128, 255] as [UInt8] {
                var damaged = bytes
                damaged[offset] ^= flip
                if case .set(let set) = ChangeSetCodec.decode(damaged, base: known) {
                    #expect(set != ChangeSetCodecTests.everything)
                    read += 1
                }
            }
        }
        #expect(read > 0)
    }

    @Test("what cannot be is refused") func nonsense() throws {
        let set = ChangeSetCodecTests.everything
        let twice = ChangeSetCodecTests.set([], files: [set.files[0], set.files[0]])
        #expect(ChangeSetCodec.decode(try #require(ChangeSetCodec.encode(twice))) == .broken)
        let path = try #require(Path(".syncd/x"))
        let ours = ChangeSetCodecTests.set([], files: [.init(deleted: path, mode: 0, modified: .zero)])
        #expect(ChangeSetCodec.decode(try #require(ChangeSetCodec.encode(ours))) == .broken)
        let kept = [5, 2].map { (number: UInt32($0), operation: set.operations[$0]) }
        let descending = ChangeSet(set, keeping: kept, files: [])
        #expect(ChangeSetCodec.decode(try #require(ChangeSetCodec.encode(descending))) == .broken)
        let early = ChangeSet(
            author: .first, position: set.position, time: set.time,
            seen: Applied(first: set.position, second: .none), operations: [])
        #expect(ChangeSetCodec.decode(try #require(ChangeSetCodec.encode(early))) == .broken)
    }

    // MARK: Vectors

    /// The bytes came from a separate program written from the specification.
    @Test("version 1: what was written once is read, and written the same") func vectors() throws {
        let lines = try ChangeSetCodecTests.lines(of: "change-set-1.txt")
        let base = Array(repeating: UInt8(ascii: "x"), count: 300)
        let known: ChangeSetCodec.Base = { _ in (ContentID(SHA256.digest(of: base)), base) }
        let sets = [
            ChangeSetCodecTests.set([]), ChangeSetCodecTests.everything,
            ChangeSet(
                ChangeSetCodecTests.everything,
                keeping: [2, 5].map { (UInt32($0), ChangeSetCodecTests.everything.operations[$0]) }, files: []),
        ]
        #expect(lines.count == sets.count)
        for (line, set) in zip(lines, sets) {
            #expect(ChangeSetCodec.decode(line, base: known) == .set(set))
            #expect(ChangeSetCodec.encode(set, base: known) == line)
        }
    }

    @Test("version 2: what was written once is read, and written the same") func vectorsOfLocks() throws {
        let lines = try ChangeSetCodecTests.lines(of: "change-set-2.txt")
        let base = Array(repeating: UInt8(ascii: "x"), count: 300)
        let known: ChangeSetCodec.Base = { _ in (ContentID(SHA256.digest(of: base)), base) }
        let set = ChangeSetCodecTests.everything.with(locks: [
            SaveLock(fence: 7, isApart: false), nil, SaveLock(fence: .max, isApart: true),
        ])
        #expect(lines.count == 1)
        #expect(ChangeSetCodec.decode(lines[0], base: known) == .set(set))
        #expect(ChangeSetCodec.encode(set, base: known) == lines[0])
    }

    @Test("feature 1: what was written once is read, and written the same") func vectorsOfUnreadSaves() throws {
        let lines = try ChangeSetCodecTests.lines(of: "change-set-unread.txt")
        let old = Array(repeating: UInt8(ascii: "x"), count: 180) + Array("z".utf8)
        let set = ChangeSetCodecTests.unread(over: [Overwritten(bytes: old), Overwritten(bytes: nil)])
        #expect(lines.count == 1)
        #expect(ChangeSetCodec.decode(lines[0]) == .set(set))
        #expect(ChangeSetCodec.encode(set) == lines[0])
    }

    @Test("INV-22: a set of a later program is beyond us, and tells what it is about") func nextSets() throws {
        let lines = try ChangeSetCodecTests.lines(of: "next-change-set.txt")
        #expect(lines.count == 2)
        for line in lines {
            guard case .beyondUs(let prologue) = ChangeSetCodec.decode(line) else {
                Issue.record("it is taken for \(ChangeSetCodec.decode(line))")
                continue
            }
            #expect(prologue.position.seq == 3 && prologue.needs.modelVersion == 4)
            #expect(
                prologue.records == [RecordID.named("A/1")] && prologue.paths == [Path("f.json")].compactMap(\.self))
        }
    }

    private static func lines(of name: String, thisFile: String = #filePath) throws -> [[UInt8]] {
        let folder = URL(fileURLWithPath: thisFile).deletingLastPathComponent().deletingLastPathComponent()
        let file = folder.appendingPathComponent("Vectors").appendingPathComponent(name)
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        return lines.filter { !$0.hasPrefix("#") }.map { line in
            let digits = line.utf8.compactMap { UInt8(String(UnicodeScalar($0)), radix: 16) }
            return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        }
    }

    // MARK: Examples

    private static func set(
        _ operations: [RecordMerge.Operation], files: [ChangeSet.SavedFile] = [], needs: Needs = .none
    ) -> ChangeSet {
        ChangeSet(
            author: .first, position: LogPosition(epoch: Epoch(number: 1, nonce: 2), seq: 3),
            time: HybridTime(wallMilliseconds: 1_795_226_584_000, counter: 7),
            seen: Applied(first: LogPosition(epoch: Epoch(number: 1, nonce: 2), seq: 2), second: .none),
            operations: operations, files: files, needs: needs)
    }

    private static let everything: ChangeSet = {
        let (a, b) = (RecordID.named("A/1"), RecordID.named("B/ä"))
        let around = RecordID(EntityName([]), Array("f".utf8))
        let operations: [RecordMerge.Operation] = [
            .insert(a), .set(a, "t", "x\n"), .link(a, "b", "ä"), .link(a, "b", nil, order: "\u{1}"),
            .insert(b), .add(b, "many", "1", order: "\u{7F}"), .remove(b, "many", ""),
            Operation(around, .set(PropertyName([0xFF]), nil)), .delete(a), .restore(a),
        ]
        let written = Array(repeating: UInt8(ascii: "x"), count: 200) + Array("yz".utf8)
        return set(
            operations,
            files: [
                file("f", written, modified: Timestamp(seconds: -1, nanoseconds: 999_999_999)),
                file("dir/empty", [], modified: Timestamp(seconds: .max, nanoseconds: 1)),
                .init(deleted: place("gone"), mode: 0o777, modified: .zero),
            ], needs: Needs(model: Array("org.example".utf8), modelVersion: 2))
    }()

    private static func unread(over overwritten: [Overwritten?]) -> ChangeSet {
        ChangeSet(
            author: everything.author, position: everything.position, time: everything.time, seen: everything.seen,
            operations: everything.operations,
            files: everything.files.enumerated().map { place, file in
                place < overwritten.count ? overwritten[place].map(file.unread) ?? file : file
            }, needs: Needs(model: Array("org.example".utf8), modelVersion: 4, features: [Needs.unreadSaves]))
    }

    private static func place(_ name: String) -> Path { Path(name) ?? .root }

    private static func file(_ name: String, _ bytes: [UInt8], modified: Timestamp) -> ChangeSet.SavedFile {
        .init(
            path: place(name), content: ContentID(SHA256.digest(of: bytes)), bytes: bytes, mode: 0o640,
            modified: modified)
    }
}

extension ChangeSet {
    fileprivate func with(locks: [SaveLock?]) -> ChangeSet {
        ChangeSet(
            author: author, position: position, time: time, seen: seen, operations: operations,
            files: zip(files, locks).map { $0.saved(under: $1) }, needs: needs)
    }
}
