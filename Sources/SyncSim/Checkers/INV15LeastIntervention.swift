import SyncModel

/// INV-15. One conflict copy for each losing value, none for one that is at the path anyway.
package final class LeastIntervention: Invariant {
    package static let id = "INV-15"
    package static let sentence =
        "The conflict copies of a path differ from one another and from what stands at the path."

    /// A node was put back to before it had rescued what was written late: it does so once more, under another name.
    private var isSetBack = false

    package init() {}

    package func see(_ act: OperatorAct, _ court: inout Court) {
        switch act.kind {
        case .restoredImage, .restoredState: isSetBack = true
        case .restoredTree, .wipedState, .approvedDeletes, .rejectedDeletes, .damagedRoot: break
        }
    }

    package func see(_ sight: Sight, _ court: inout Court) {
        // Who was restored to an older state cannot know which copies he has made before.
        guard !court.ledger.hasForgotten else { return }
        for (index, machine) in sight.machines.enumerated() {
            for (path, seen) in machine.tree where ConflictFamily.base(of: path) != nil {
                judge(path, seen.value, on: index, machine, &court)
            }
        }
    }

    private func judge(_ copy: Path, _ value: Value, on index: Int, _ machine: MachineSight, _ court: inout Court) {
        // A person may have put it there, or back to what it was.
        if court.ledger.pages[copy] != nil { return }
        let head = ConflictFamily.head(of: copy)
        if let page = court.ledger.pages[head], page.acts.last(where: { $0.after == value })?.isRacing == true {
            return
        }
        if machine.value(at: head) == value, isPlain(value, court.ledger.pages[head]),
            !hasLostToDirectory(value, court.ledger.pages[head])
        {
            court.find(self, on: index, "\(copy) holds the same as \(head)")
        }
        if isSetBack { return }
        for other in machine.copies(of: head) where other.path < copy && other.value == value {
            if writes(of: value, court.ledger.pages[head]) > 1 { continue }
            if court.ledger.pages[other.path] != nil { continue }
            court.find(self, on: index, "\(copy) holds the same as \(other.path)")
        }
    }

    /// Written once, and not left by a power cut as well: it cannot have lost and come back later. (What is written to a file that is
    /// also a kept version of this path is written here too.)
    private func isPlain(_ value: Value, _ page: Ledger.Page?) -> Bool {
        writes(of: value, page) == 1 && page?.wasLeft(value) == false && page?.isEntangled == false
    }

    /// Its copy was made when it had lost to a directory, of which the maker let go without having seen it: it may win against what he
    /// has put there since.
    private func hasLostToDirectory(_ value: Value, _ page: Ledger.Page?) -> Bool {
        guard let page, let maker = page.acts.last(where: { $0.after == value }) else { return false }
        return page.acts.contains { letGo in
            letGo.before == .directory && letGo.machine != maker.machine && !letGo.seen.contains(maker.number)
                && !maker.seen.contains(letGo.number)
        }
    }

    /// What was written more than once may have lost more than once.
    private func writes(of value: Value, _ page: Ledger.Page?) -> Int {
        page?.acts.filter { $0.after == value }.count ?? 0
    }
}
