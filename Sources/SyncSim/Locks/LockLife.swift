import Coordination
import SyncCore
import SyncModel

/// What programs that lock and show files have asked for in one world, and what came of it.
final class LockLife {
    struct Wish {
        let claim: Claim
        let command: CommandID
        var isHeld = false
    }

    /// By machine, and the claim.
    var wishes: [SortedMap<Claim.ID, Wish>] = [[:], [:]]
    /// Presenters that are registered, by machine.
    var presenters: [[PresenterID]] = [[], []]
    /// Questions without an answer, by machine.
    var questions: [[Question]] = [[], []]
    var history = LockHistory()
    private var lastNumber: UInt64 = 0

    func newNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// The process has begun or ended, and knows of nobody.
    func forget(_ machine: Int, at time: Int64) {
        wishes[machine] = [:]
        presenters[machine] = []
        questions[machine] = []
        history.turned(machine, at: time)
    }
}
