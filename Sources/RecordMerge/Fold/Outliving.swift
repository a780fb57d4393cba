/// Which deletes of one record do not count, and by which writes: those of somebody who did not know of the delete, or had the record as it had
/// outlived it, if nobody who knew of the write has deleted the record after all. (An edit of what outlived a delete long ago comes too late to take
/// that back. If it did not count against it all the same, it would count against no later one either.)
import SyncModel

struct Outliving {
    private let history: History
    /// Whatever was written to it, but for deletes.
    private let edits: [Write]
    /// Deletes that nobody who saw them took back.
    private let standing: [Write]
    /// By edit: true if it was there for whoever made that, but for deletes that have been taken back since.
    private var wasThere: SortedMap<Write, Bool> = [:]

    init(_ edits: [Write], standing: [Write], in history: History) {
        self.history = history
        self.edits = edits.sorted()
        self.standing = standing
    }

    var isDead: Bool {
        mutating get { !standing.allSatisfy { isOutlived($0) } }
    }

    private mutating func isOutlived(_ delete: Write) -> Bool { edit(against: delete, among: edits, standing) != nil }

    /// All by which anybody can tell that this delete does not count.
    mutating func witnesses(against delete: Write) -> [Write] {
        var witnesses: SortedMap<Write, Bool> = [:]
        var waiting = [edit(against: delete, among: edits, standing)]
        while let next = waiting.popLast() {
            guard let edit = next, witnesses.updateValue(true, forKey: edit) == nil else { continue }
            let (earlier, seen) = (known(to: edit, edits), known(to: edit, standing))
            for delete in seen { waiting.append(self.edit(against: delete, among: earlier, seen)) }
        }
        return Array(witnesses.keys)
    }

    private func known(to edit: Write, _ writes: [Write]) -> [Write] { writes.filter { history.saw(edit, $0) } }

    /// The first one, as whoever knows of these edits and deletes has it.
    private mutating func edit(against delete: Write, among edits: [Write], _ standing: [Write]) -> Write? {
        // (If there is none, nobody ever had it outlive this one: that is so of nearly all that is dead, and quickly told.)
        guard edits.contains(where: { history.areConcurrent($0, delete) }) else { return nil }
        let undeleted = edits.filter { edit in !standing.contains { history.saw($0, edit) } }
        if let unaware = undeleted.first(where: { history.areConcurrent($0, delete) }) { return unaware }
        for edit in undeleted where history.saw(edit, delete) && wasThere(for: edit) { return edit }
        return nil
    }

    private mutating func wasThere(for edit: Write) -> Bool {
        if let known = wasThere[edit] { return known }
        // (Sets may claim to have seen each other, and be asked in a circle.)
        wasThere[edit] = false
        let (earlier, seen) = (known(to: edit, edits), known(to: edit, standing))
        let answer = seen.allSatisfy { self.edit(against: $0, among: earlier, seen) != nil }
        wasThere[edit] = answer
        return answer
    }
}
