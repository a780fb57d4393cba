import Glibc
import SyncModel
import Testing

@testable import SyncDaemon

@Suite("What ends the process while it is parsed") struct ParsingWatchTests {
    private let file: [UInt8]

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

    /// False if it is not parsed.
    private func parses(_ text: String, by watch: ParsingWatch) -> Bool {
        watch.parse(Array(text.utf8)) { true } ?? false
    }

    /// A process that does not get to the end of it: what is in the file meanwhile is what it leaves behind. False if it is not parsed.
    private func diesOf(_ text: String, _ watch: ParsingWatch) throws -> Bool {
        let mark = try #require(MarkFile(file))
        guard let left = watch.parse(Array(text.utf8), { mark.read(limit: 1 << 16) }) else { return false }
        mark.write(left, at: 0)
        mark.cut(at: left.count)
        return true
    }

    @Test("Is parsed a second time, and no third") func twoDeaths() throws {
        for _ in 0..<2 { #expect(try diesOf("poison", try watch())) }
        let third = try watch()
        #expect(!parses("poison", by: third))
        #expect(parses("another", by: third))
        #expect(!parses("poison", by: try watch()))
    }

    @Test("Who gets to the end of it clears what was held against it") func cleared() throws {
        #expect(try diesOf("once", try watch()))
        #expect(parses("once", by: try watch()))
        #expect(try diesOf("once", try watch()))
        #expect(parses("once", by: try watch()))
    }

    @Test("Another version of the program tries again") func upgraded() throws {
        for _ in 0..<2 { #expect(try diesOf("poison", try watch())) }
        #expect(parses("poison", by: try watch(version: "2")))
    }

    @Test("A process that ends between two inputs has died of neither") func between() throws {
        for _ in 0..<3 { #expect(parses("fine", by: try watch())) }
    }

    @Test("Of two at once one waits: what is in the file when the process ends is what it died of") func oneAtATime()
        async throws
    {
        let watch = try watch()
        let mark = try #require(MarkFile(file))
        let most = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                let text = Array("text \(number)".utf8)
                group.addTask {
                    watch.parse(text) {
                        // (The digest in the slot is that of what is being parsed.)
                        Array(mark.read(limit: 1 << 16).dropFirst(33).prefix(32)) == SHA256.digest(of: text).bytes
                    } ?? false
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(most == 8)
    }
}
