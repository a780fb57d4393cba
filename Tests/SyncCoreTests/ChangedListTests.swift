import SyncModel
import Testing

@testable import SyncCore

@Suite("Chunk lists told by what differs") struct ChangedListTests {
    private let old = ContentID(SHA256.digest(of: [1]))
    private let new = ContentID(SHA256.digest(of: [2]))

    private func list(_ numbers: some Sequence<Int>) -> ChunkList {
        ChunkList(numbers.map { Chunk(digest: SHA256.digest(of: [UInt8($0)]), length: UInt32($0 + 1)) })
    }

    private func told(_ list: ChunkList, since known: ChunkList) -> ChangedList? {
        ChangedList(of: new, list, since: old, known)
    }

    @Test("a chunk changed in the middle is three parts, and they make the list again") func middle() throws {
        let (known, new) = (list(0..<20), list([0, 1, 2, 3, 90] + Array(5..<20)))
        let changed = try #require(told(new, since: known))
        #expect(
            changed.parts == [.known(first: 0, count: 4), .other(new.chunks[4]), .known(first: 5, count: 15)])
        #expect(changed.applied(to: known, countMax: 20) == new.chunks)
    }

    @Test("chunks that moved, come twice or are gone are told, too") func anyOrder() throws {
        let known = list(0..<30)
        for numbers in [Array(20..<30) + Array(0..<20), Array(0..<30) + Array(0..<30), Array(5..<25)] {
            let changed = try #require(told(list(numbers), since: known))
            #expect(changed.parts.count <= 2)
            #expect(changed.applied(to: known, countMax: 60) == list(numbers).chunks)
        }
    }

    @Test("what has little in common is not worth it") func different() {
        #expect(told(list(0..<10), since: list(100..<110)) == nil)
        #expect(told(list(0..<1), since: list(0..<1)) == nil)
    }

    @Test("parts that are not in the known list, or make too long a one, make none") func refused() {
        let known = list(0..<4)
        func applied(_ parts: [ChangedList.Part]) -> [Chunk]? {
            ChangedList(content: new, base: old, parts: parts).applied(to: known, countMax: 8)
        }
        #expect(applied([.known(first: 0, count: 4), .known(first: 0, count: 4)])?.count == 8)
        #expect(applied([.known(first: 1, count: 4)]) == nil)
        #expect(applied([.known(first: .max, count: .max)]) == nil)
        #expect(applied([.known(first: 0, count: 4), .known(first: 0, count: 4), .other(known.chunks[0])]) == nil)
    }
}
