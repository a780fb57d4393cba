/// Which deletes of one record do not count, and by which writes: those of somebody who did not know of the delete, or had the record as it had
/// outlived it, if nobody who knew of the write has deleted the record after all. (An edit of what outlived a delete long ago comes too late to take
/// that back. If it did not count against it all the same, it would count against no later one either.)
import SyncModel

struct Outliving {
    private let history: History
    private let all: Knowledge
    /// By edit: true if it was there for whoever made that, but for deletes that have been taken back since.
    private var wasThere: SortedMap<Write, Bool> = [:]

    /// What somebody knew of the record.
    private struct Knowledge {
        /// Whatever was written to it, but for deletes, in the order K.
        let edits: [Write]
        /// Deletes that nobody who saw them took back.
        let standing: [Write]
        /// Edits of which none of the deletes knew.
        let undeleted: [Write]

        init(_ edits: [Write], _ standing: [Write], _ history: History) {
            self.edits = edits
            self.standing = standing
            undeleted = edits.filter { edit in !standing.contains { history.saw($0, edit) } }
        }
    }

    init(_ edits: [Write], standing: [Write], in history: History) {
        self.history = history
        all = Knowledge(edits.sorted(), standing, history)
    }

    var isDead: Bool {
        mutating get { !outlivesAll(all) }
    }

    /// All by which anybody can tell that this delete does not count.
    mutating func witnesses(against delete: Write) -> [Write] {
        var witnesses: SortedMap<Write, Bool> = [:]
        var waiting = [edit(against: delete, among: all)]
        while let next = waiting.popLast() {
            guard let edit = next, witnesses.updateValue(true, forKey: edit) == nil else { continue }
            let known = knowledge(of: edit)
            for delete in known.standing { waiting.append(self.edit(against: delete, among: known)) }
        }
        return Array(witnesses.keys)
    }

    private func knowledge(of edit: Write) -> Knowledge {
        Knowledge(
            all.edits.filter { history.saw(edit, $0) }, all.standing.filter { history.saw(edit, $0) }, history)
    }

    private mutating func outlivesAll(_ known: Knowledge) -> Bool {
        known.standing.allSatisfy { edit(against: $0, among: known) != nil }
    }

    /// The first one, as whoever knows this much has it.
    private mutating func edit(against delete: Write, among known: Knowledge) -> Write? {
        // (If there is none, nobody ever had it outlive this one: that is so of nearly all that is dead, and quickly told.)
        guard known.edits.contains(where: { history.areConcurrent($0, delete) }) else { return nil }
        if let unaware = known.undeleted.first(where: { history.areConcurrent($0, delete) }) { return unaware }
        return known.undeleted.first { history.saw($0, delete) && wasThere(for: $0) }
    }

    private mutating func wasThere(for edit: Write) -> Bool {
        if let known = wasThere[edit] { return known }
        // (Sets may claim to have seen each other, and be asked in a circle.)
        wasThere[edit] = false
        let answer = outlivesAll(knowledge(of: edit))
        wasThere[edit] = answer
        return answer
    }
}
