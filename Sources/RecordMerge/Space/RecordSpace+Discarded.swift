/// Groups of records that a person discarded, and what would come of taking that back.
///
/// Such a decision deletes all of a group in one change set, and the one whose trouble it is twice. No save deletes a record
/// twice, so it is told from what people delete as long as the deletes are kept, also once what was saved is forgotten.
public import SyncModel

extension RecordSpace {
    public struct Discarded: Hashable, Sendable {
        /// Whose trouble it was.
        public let leader: RecordID
        /// All that went with it and are still deleted by that, itself included. By id.
        public let records: [RecordID]
        public let wallMilliseconds: UInt64
    }

    /// Of one group, with its leader or without it if that is not there to be deleted.
    public static func discard(_ leader: RecordID, with group: [RecordID]) -> [Operation] {
        let others = group.filter { $0 != leader }
        return ([leader] + others + [leader]).map { Operation($0, .delete) }
    }

    /// By the id of their leaders.
    public var discarded: [Discarded] {
        view.dead.compactMap { id in
            let twice = (traces[id]?.writes ?? []).map(\.set).filter { deletes(of: id, in: $0) > 1 }
            guard !twice.isEmpty, let set = standingDeletes(of: id).last(where: twice.contains) else { return nil }
            return Discarded(
                leader: id, records: deadTogether(with: id), wallMilliseconds: sets[set]?.time.wallMilliseconds ?? 0)
        }
    }

    /// When this author last deleted them, of those where that was such a decision.
    public func lastDiscards(of ids: [RecordID], by author: Party) -> SortedMap<RecordID, HybridTime> {
        var discards: SortedMap<RecordID, HybridTime> = [:]
        var known: SortedMap<Int, Bool> = [:]
        for id in ids {
            guard let arrival = lastDelete(of: id, by: author), let set = sets[arrival] else { continue }
            let isDiscard = known[arrival] ?? RecordSpace.isDiscard(set)
            known[arrival] = isDiscard
            if isDiscard { discards[id] = set.time }
        }
        return discards
    }

    /// By the arrival of its set.
    private func lastDelete(of id: RecordID, by author: Party) -> Int? {
        var last: (arrival: Int, time: HybridTime)?
        for place in traces[id]?.writes ?? [] {
            guard let set = sets[place.set], set.author == author,
                set.operations[place.place].action == .delete, set.time >= last?.time ?? .zero
            else { continue }
            last = (place.set, set.time)
        }
        return last?.arrival
    }

    /// No save deletes a record twice.
    private static func isDiscard(_ set: ChangeSet) -> Bool {
        var deleted: SortedMap<RecordID, Bool> = [:]
        return set.operations.contains { operation in
            operation.action == .delete && deleted.updateValue(true, forKey: operation.record) != nil
        }
    }

    /// All that are dead by a change set by which this one is.
    public func deadTogether(with id: RecordID) -> [RecordID] {
        var together: SortedMap<RecordID, Bool> = [:]
        for set in standingDeletes(of: id) {
            for operation in sets[set]?.operations ?? [] where operation.action == .delete {
                if standingDeletes(of: operation.record).contains(set) { together[operation.record] = true }
            }
        }
        return Array(together.keys)
    }

    /// Another one, as it would be if somebody who has seen everything took these deletes back.
    public func restoring(_ ids: [RecordID]) -> RecordSpace {
        let end = LogPosition(epoch: Epoch(raw: .max), seq: 1)
        let time = sets.map(\.value.time).max() ?? .zero
        var space = self
        space.add([
            ChangeSet(
                author: .first, position: end, time: time.next, seen: Applied(first: end, second: end),
                operations: ids.map { Operation($0, .restore) })
        ])
        return space
    }

    /// By the arrival of their sets; none if it is not dead.
    private func standingDeletes(of id: RecordID) -> [Int] {
        guard view.deadRecords.contains(key: id), let trace = traces[id] else { return [] }
        let fold = graph(of: [id]).fold
        guard let number = fold.number(of: id) else { return [] }
        let standing = fold.states[number].standingDeletes(in: fold.history).map {
            fold.history.changes[Int($0.change)]
        }
        return SortedMap(trace.writes.map { ($0.set, true) }).keys.filter { arrival in
            guard let set = sets[arrival], deletes(of: id, in: arrival) > 0 else { return false }
            return standing.contains { $0.author == set.author && $0.position == set.position }
        }
    }

    private func deletes(of id: RecordID, in set: Int) -> Int {
        traces[id]?.writes.count { place in
            place.set == set && sets[set]?.operations[place.place].action == .delete
        } ?? 0
    }
}
