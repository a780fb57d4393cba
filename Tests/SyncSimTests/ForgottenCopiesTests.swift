import SyncModel
import Testing

@testable import SyncSim

@Suite("What a node that was set back was to copy, and knows no more")
struct ForgottenCopiesTests {
    /// It stands on the first machine, and is the second entry of its log.
    private let loser = Row.file("1", at: "a", seq: 2)

    /// What stands on the second machine: how much of the first one's log its author had seen, and how much the row has
    /// taken in since.
    private func winner(_ text: String = "2", seq: UInt64 = 3, seen: UInt64 = 0, reflected: UInt64 = 2) -> Row {
        let file = Seen.file(text, at: "a")
        var row = Row(of: file, at: "a", seq: seq)
        row.heads = [Revision(file.entry, seq: seq, seen: VersionVector(own: .none, peer: .number(seen)))]
        row.reflected = VersionVector(own: .number(seq), peer: .number(reflected))
        return row
    }

    private func told(_ row: Row, in copies: ForgottenCopies, by machine: Int = 1) -> [Value] {
        copies.told(in: StoreBatch([.putRow(row)]), by: machine).map(\.value)
    }

    @Test("It may be history at once where the other node tells already that it has been seen") func toldAlready() {
        var copies = ForgottenCopies()
        let isTold = copies.forget(.text("1"), loser, other: winner(seen: 2), toldBy: 1)
        #expect(isTold)
        #expect(told(winner("3", seq: 4, seen: 2), in: copies) == [])
    }

    @Test("Where it counts as seen there, it may once somebody has changed the winner before that node has heard")
    func toldLater() {
        var copies = ForgottenCopies()
        let isTold = copies.forget(.text("1"), loser, other: winner(), toldBy: 1)
        #expect(!isTold)
        #expect(told(winner(), in: copies) == [])
        #expect(told(winner("3", seq: 4, seen: 1), in: copies) == [])
        #expect(told(winner("3", seq: 4, seen: 2), in: copies, by: 0) == [])
        #expect(told(winner("3", seq: 4, seen: 2), in: copies) == [.text("1")])
        copies.heardOfSetback(1)
        #expect(told(winner("3", seq: 4, seen: 2), in: copies) == [])
    }

    @Test("It may not where the copy is still on record as owed, or the other node had not taken the loser in")
    func owedAsBefore() {
        var owing = loser
        owing.owesCopy = true
        for (row, reflected) in [(owing, 2), (loser, 1)] as [(Row, UInt64)] {
            var copies = ForgottenCopies()
            let isTold = copies.forget(.text("1"), row, other: winner(reflected: reflected), toldBy: 1)
            #expect(!isTold)
            #expect(told(winner("3", seq: 4, seen: 2), in: copies) == [])
        }
    }

    @Test("Then it is owed to history, and no more to the folder") func demand() {
        var ledger = Ledger()
        ledger.wrote("1", at: "a", on: 0)
        #expect(ledger.demand(of: .text("1"), at: at("a")) == .atPath)
        ledger.forgotCopy(of: .text("1"), at: at("a"))
        #expect(ledger.demand(of: .text("1"), at: at("a")) == .kept)
    }
}
