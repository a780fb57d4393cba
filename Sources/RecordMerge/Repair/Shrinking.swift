/// Records that break a rule leave: first those that cannot be whoever wins, then those that lost a contest.
extension Repair {
    /// False if nothing had to leave.
    mutating func shrink(_ component: Component) -> Bool {
        let breaches = component.records.compactMap { record in
            breach(of: record).map { (record: record, reason: $0) }
        }
        let hard = breaches.filter { !$0.reason.isSoft }
        for breach in hard.isEmpty ? breaches : hard { places[breach.record] = .out(breach.reason) }
        return !breaches.isEmpty
    }

    /// What a live record lacks: something that nobody can give it before what another took from it.
    private func breach(of record: Int) -> Reason? {
        guard isLive(record) else { return nil }
        var soft: Reason?
        for (number, slot) in graph.slots(of: record).enumerated()
        where slot.end.isRequired && held[record][number] == 0 {
            let reason = reason(for: record, at: slot)
            if !reason.isSoft { return reason }
            soft = soft ?? reason
        }
        return soft
    }

    /// Why a place that is needed stayed empty.
    private func reason(for record: Int, at slot: ModelIndex.Slot) -> Reason {
        let candidates = graph.edges(at: record, by: slot).compactMap { graph.edges[$0].other(than: record) }
        guard let latest = candidates.first else { return .missing(relation: slot.relation, isOwner: slot.isOwner) }
        guard let holder = candidates.first(where: isLive) else {
            return .gone(relation: slot.relation, isOwner: slot.isOwner, partner: latest)
        }
        let winner = winner(at: holder, slot) ?? holder
        return .lostSlot(relation: slot.relation, isOwner: slot.isOwner, holder: holder, winner: winner)
    }

    /// Of those who took the places at the holder the earliest: the one who only just won.
    private func winner(at holder: Int, _ slot: ModelIndex.Slot) -> Int? {
        let opposite = graph.slots(of: holder).first { $0.relation == slot.relation && $0.isOwner != slot.isOwner }
        guard let opposite else { return nil }
        let taken = graph.edges(at: holder, by: opposite).last { isAccepted[$0] && graph.edges[$0].target != nil }
        return taken.flatMap { graph.edges[$0].other(than: holder) }
    }
}

extension Repair.Reason {
    /// Another has what it needs; if that one leaves, it may be.
    var isSoft: Bool {
        switch self {
        case .lostSlot: true
        case .invalidValue, .deletedWhileEdited, .missing, .gone: false
        }
    }

    /// It may come back by itself when there is room.
    var mayReturn: Bool {
        switch self {
        case .lostSlot, .missing, .gone: true
        case .invalidValue, .deletedWhileEdited: false
        }
    }
}
