import SyncModel
import Testing

@testable import SyncCore

@Suite("What recovery makes of a row whose file the last process has taken away")
struct TakenTests {
    @Test("INV-10: a row that shows all that is known is left to a look; one that waits for a delete has it done")
    func taken() throws {
        var row = Row.file("1", at: "a")
        row.owesCopy = true
        let taken = RecoveryState.Taken(path: row.path, identity: row.disk?.stat.identity)
        #expect(Node().settled(row, taken) == nil)
        row.join(Revision(.absent, by: .peer, seq: 1, seen: row.version))
        let settled = try #require(Node().settled(row, taken))
        #expect(settled.disk == nil && settled.reflected == settled.version)
    }
}
