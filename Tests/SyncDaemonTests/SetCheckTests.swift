import ControlProtocol
import RecordMerge
import SyncModel
import Testing

@testable import SyncDaemon

@Suite("stored change sets are looked at one by one") struct SetCheckTests {
    private static let epoch = Epoch(number: 3, nonce: 7)

    private static func hash(_ bytes: [UInt8]) -> Digest { SHA256.digest(of: bytes) }

    private static func file(_ text: String) throws -> ChangeSet.SavedFile {
        let bytes = Array(text.utf8)
        return ChangeSet.SavedFile(
            path: try #require(Path("d/a.json")), content: ContentID(hash(bytes)), bytes: bytes, mode: 0o644,
            modified: .zero)
    }

    /// Two saves of one file; the second is told as a change to the first.
    private static func sets() throws -> [StoredChangeSet] {
        let texts = ["one", "two"].map { #"{"v": "\#($0)", "long": "\#(String(repeating: "x", count: 200))"}"# }
        return try texts.indices.map { index in
            let position = LogPosition(epoch: epoch, seq: UInt64(index + 1))
            let set = ChangeSet(
                author: .first, position: position, time: HybridTime(wallMilliseconds: Int64(index)), seen: .none,
                operations: [Operation(RecordID("A", "a"), .set(PropertyName("v"), .string("\(index)")))],
                files: [try file(texts[index])])
            let before = index == 0 ? nil : try file(texts[0])
            let bytes = try #require(
                ChangeSetCodec.encode(set) { _ in
                    before.flatMap { file in file.content.flatMap { content in file.bytes.map { (content, $0) } } }
                })
            return StoredChangeSet(.own, position, bytes)
        }
    }

    @Test("each is read on what was saved before it") func whole() throws {
        let sets = try Self.sets()
        #expect(sets[1].bytes.count < sets[0].bytes.count, "the second is a change to the first")
        let check = SetCheck(sets, hash: Self.hash)
        #expect(check.count == 2 && check.isIntact && check.text == "each change set can be read")
    }

    @Test("one that is missing, cut or another's is told of by its number") func broken() throws {
        let sets = try Self.sets()
        let second = sets[1].position
        #expect(SetCheck([sets[1]], hash: Self.hash).firstBroken == second)
        let cut = StoredChangeSet(.own, second, Array(sets[1].bytes.dropLast()))
        #expect(SetCheck([sets[0], cut], hash: Self.hash).text == "the change set 3/2 cannot be read")
        let moved = StoredChangeSet(.own, LogPosition(epoch: Self.epoch, seq: 9), sets[0].bytes)
        #expect(SetCheck([moved], hash: Self.hash).firstBroken == moved.position)
    }

    @Test("what a newer program made waits, and so does what builds on it") func newer() throws {
        var sets = try Self.sets()
        sets[0] = StoredChangeSet(.own, sets[0].position, [0, 99] + sets[0].bytes.dropFirst(2))
        let check = SetCheck(sets, hash: Self.hash)
        #expect(check.isIntact && check.waiting == 2)
    }

    @Test(
        "a save is found in the set that tells of it, by author, content and time, with its records counted and some named"
    )
    func saved() throws {
        let path = try #require(Path("d/a.json"))
        let keys = (0..<100).map { RecordID("A", "r\($0)") }
        let file = try Self.file("{}")
        let position = LogPosition(epoch: Self.epoch, seq: 9)
        let time = HybridTime(wallMilliseconds: 77)
        let set = ChangeSet(
            author: .first, position: position, time: time, seen: .none,
            operations: keys.flatMap {
                [Operation($0, .insert), Operation($0, .set(PropertyName("v"), .string("x")))]
            },
            files: [file])
        let stored = StoredChangeSet(.own, position, try #require(ChangeSetCodec.encode(set)))
        let content = Content.file(try #require(file.content), size: 2)
        let save = try #require(SavedSets.Save(.own, path, content, time))
        let others = [
            SavedSets.Save(.peer, path, content, time), SavedSets.Save(.own, path, .absent, time),
            SavedSets.Save(.own, path, content, HybridTime(wallMilliseconds: 78)),
        ].compactMap(\.self)
        var sets = SavedSets(wanted: Set(others + [save]))
        sets.look(at: stored)
        #expect(Set(sets.found.keys) == [save])
        let found = try #require(sets.found[save])
        #expect(found.operations == 200 && found.line.recordCount == 100 && found.line.seq == 9)
        #expect(found.line.records == keys.prefix(32).map { "\($0)" })
        // As an alert about it calls it.
        #expect(found.line.id == "\(position.epoch.number)/9")
    }
}
