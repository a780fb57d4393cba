/// Records that a delete would have left others incomplete without, and whose deleter could not know it, are there
/// again.
extension Graph {
    /// One round: everything that the records there now bring back. False if that is nothing.
    mutating func reviveRequired() -> Bool {
        var back: [Int] = []
        for record in fold.records.indices where isThere(record) {
            for slot in slots(of: record) where slot.end.isRequired {
                if let partner = missed(by: record, at: slot) { back.append(partner) }
            }
        }
        for record in fold.records.indices where lives[record] == .dead && isDenied(record) { back.append(record) }
        for record in back { lives[record] = .alive }
        return !back.isEmpty
    }

    private func isThere(_ record: Int) -> Bool {
        lives[record] == .alive && names[record] == record
    }

    /// Who is to come back because every candidate for this place is dead.
    private func missed(by record: Int, at slot: ModelIndex.Slot) -> Int? {
        let candidates = edges(at: record, by: slot).compactMap { number in
            edges[number].other(than: record).map { (partner: $0, write: edges[number].write) }
        }
        guard let latest = candidates.first, candidates.allSatisfy({ lives[$0.partner] == .dead }) else { return nil }
        if isUnknown(latest.write, toDeletersOf: latest.partner) { return latest.partner }
        return diedTogether(record, latest.partner) ? latest.partner : nil
    }

    /// None of those who deleted the record had seen this write, and it did not come too late.
    private func isUnknown(_ write: Write, toDeletersOf record: Int) -> Bool {
        fold.states[record].standingDeletes(in: fold.history).allSatisfy { delete in
            !fold.history.saw(delete, write) && !fold.history.isTooLate(write, for: delete)
        }
    }

    /// What a record that came back needs, and the same change set took along, comes back too.
    private func diedTogether(_ revived: Int, _ partner: Int) -> Bool {
        let undone = fold.states[revived].standingDeletes(in: fold.history).map(\.change)
        let deletes = fold.states[partner].standingDeletes(in: fold.history)
        return deletes.allSatisfy { undone.contains($0.change) }
    }

    /// Something there hangs on a side that denies deletes, and the deleter had not seen it.
    private func isDenied(_ record: Int) -> Bool {
        slots(of: record).contains { slot in
            slot.end.onDelete == .deny
                && edges(at: record, by: slot).contains { number in
                    guard let partner = edges[number].other(than: record) else { return false }
                    return lives[partner] == .alive && isUnknown(edges[number].write, toDeletersOf: record)
                }
        }
    }
}
