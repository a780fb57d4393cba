import Glibc
import SyncCore
import SyncModel
import Testing

@testable import SyncDaemon

@Suite("What ends the process while it is parsed") struct ParsingWatchTests {
    private let file: [UInt8]
    private let job = JobID(raw: 7)

    init() throws {
        var template = Array("/tmp/syncd-test-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        file = template.dropLast().map { UInt8(bitPattern: $0) } + Array("/parsing".utf8)
    }

    /// One process after the other, each with the same file.
    private func watch(version: String = "1") throws -> ParsingWatch {
        let watch = ParsingWatch(file: file, version: version) { SHA256.digest(of: $0) }
        return try #require(watch)
    }

    private func read(_ text: String, by watch: ParsingWatch, isParsed: Bool = true) -> ReadOutcome? {
        let request = ReadRequest(place: .tree(.root), expected: nil, offset: 0, length: 9, isParsed: isParsed)
        watch.expect(job, [request])
        guard case .readFinished(job, let outcomes) = watch.begin(.readFinished(job, [.bytes(Array(text.utf8))])) else {
            return nil
        }
        return outcomes.first
    }

    @Test("Is parsed a second time, and no third") func twoDeaths() throws {
        for _ in 0..<2 { #expect(read("poison", by: try watch()) == .bytes(Array("poison".utf8))) }
        let third = try watch()
        #expect(read("poison", by: third) == .poisoned)
        third.end()
        #expect(read("another", by: third) == .bytes(Array("another".utf8)))
        third.end()
        #expect(read("poison", by: try watch()) == .poisoned)
    }

    @Test("Who gets to the end of it clears what was held against it") func cleared() throws {
        #expect(read("once", by: try watch()) == .bytes(Array("once".utf8)))
        let second = try watch()
        #expect(read("once", by: second) == .bytes(Array("once".utf8)))
        second.end()
        for _ in 0..<2 {
            let next = try watch()
            #expect(read("once", by: next) == .bytes(Array("once".utf8)))
            next.end()
        }
    }

    @Test("Another version of the program tries again") func upgraded() throws {
        for _ in 0..<2 { _ = read("poison", by: try watch()) }
        #expect(read("poison", by: try watch(version: "2")) == .bytes(Array("poison".utf8)))
    }

    @Test("What is only read and sent on is nobody's business") func notParsed() throws {
        for _ in 0..<3 { #expect(read("sent", by: try watch(), isParsed: false) == .bytes(Array("sent".utf8))) }
    }

    @Test("A process that ends between two inputs has died of neither") func between() throws {
        for _ in 0..<3 {
            let watch = try watch()
            #expect(read("fine", by: watch) == .bytes(Array("fine".utf8)))
            watch.end()
        }
    }
}
