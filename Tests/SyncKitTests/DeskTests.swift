import Disk
import SyncKit
import Synchronization
import Testing

/// Rows L11 and L12 of the design's sources: what the tests themselves are to be held to.
@Suite("the tests' own tools")
struct DeskTests {
    @Test("L11: waiting for what never comes fails, and waiting for what comes ends with it", .timeLimit(.minutes(1)))
    func waiting() async {
        await withKnownIssue("it is never true") { await until(within: .milliseconds(20)) { false } }
        let looks = Mutex(0)
        await until {
            looks.withLock { looks in
                looks += 1
                return looks == 3
            }
        }
        #expect(looks.withLock { $0 } == 3)
    }

    @Test("L12: two tests do not meet, and what one leaves behind is gone with it")
    func apart() throws {
        var first: Desk? = try Desk()
        let second = try Desk()
        try first?.write("list", "mine")
        #expect(first?.names == ["list"] && second.names == [])
        #expect(first?.path != second.path)
        let path = try #require(first?.path)
        first = nil
        #expect(throws: Item.Failure.self) { try Item.regularFiles(in: path.bytes) }
    }
}
