/// What a history may forget: writes that somebody who knew them has overtaken, and what was deleted so long ago that
/// nobody can take it back (`RecordView.retentionMilliseconds`). The rest says the same, now and with everything that
/// can still come.
///
/// Only a stable part is looked at: what every set outside it, made already or yet to be made, has seen. So whatever
/// comes overtakes the stable writes that it meets, and finds none of their deletes concurrent; and it has a later time
/// than any of them.
import SyncModel

extension Applied {
    /// `self` is what both nodes have applied; what the peer says of itself must have come after all it had made until
    /// then. The answer is so much of it as every set beyond it has seen; `changes` are all that are known.
    public func stable(in changes: some Collection<ChangeSet>) -> Applied {
        var stable = self
        var isSettled = false
        while !isSettled {
            isSettled = true
            for change in changes where change.position > stable[change.author] {
                let other = change.author.other
                if change.seen[other] >= stable[other] { continue }
                stable[other] = change.seen[other]
                isSettled = false
            }
        }
        return stable
    }
}

/// One history without what it may forget.
public struct Compaction {
    private let history: History
    private let stable: Applied
    /// Of the stable part alone; its numbers of changes are those of `Fold.history`.
    private let fold: Fold
    private let graves: Graves
    private var kept: SortedMap<Write, Bool> = [:]
    /// Records of which something is kept that was overtaken, and not by all that came after it.
    private var loose: SortedMap<Int, Bool> = [:]

    /// `stable` as `Applied.stable` says it.
    public init(of changes: some Sequence<ChangeSet>, model: Model, stable: Applied) {
        let index = ModelIndex(model)
        history = History(changes)
        self.stable = stable
        fold = Fold(History(history.changes.filter { $0.position <= stable[$0.author] }), model: index)
        graves = Graves(fold, whole: Graph(Fold(history, model: index)))
        for record in fold.records.indices { keep(record) }
        keepOvertakers()
    }

    /// In the order K. Of sets of which nothing is left only the last of each author and epoch is there, empty: whoever reads
    /// no more than this knows how far the logs went.
    public var changes: [ChangeSet] {
        let (bases, ends) = (bases, ends)
        let left = fold.history.changes.enumerated().compactMap { number, set -> ChangeSet? in
            let part = part(of: set, UInt32(number), bases)
            let isEnd = ends[LogEnd(of: set)] == set.position.seq
            return part.operations.isEmpty && part.files.isEmpty && !isEnd ? nil : part
        }
        return History(left + history.changes.filter { $0.position > stable[$0.author] }).changes
    }

    private func part(of set: ChangeSet, _ number: UInt32, _ bases: SortedMap<Save, UInt32>) -> ChangeSet {
        let operations = set.operations.enumerated().map { (number: set.number(of: $0.offset), operation: $0.element) }
        let left = operations.filter { kept[Write(change: number, index: $0.number)] == true }
        let files = set.files.filter { file in
            bases[Save(author: set.author, path: file.path)] == number && file.content != nil
        }
        return ChangeSet(set, keeping: left, files: files)
    }

    /// Which set has the latest save of each file by each author: his next one may be told as a change to it.
    private var bases: SortedMap<Save, UInt32> {
        var bases: SortedMap<Save, UInt32> = [:]
        for (number, set) in fold.history.changes.enumerated() {
            for file in set.files where file.content != nil {
                bases[Save(author: set.author, path: file.path)] = UInt32(number)
            }
        }
        return bases
    }

    private var ends: SortedMap<LogEnd, UInt64> {
        var ends: SortedMap<LogEnd, UInt64> = [:]
        for set in fold.history.changes {
            ends[LogEnd(of: set)] = max(set.position.seq, ends[LogEnd(of: set)] ?? 0)
        }
        return ends
    }

    private struct Save: Comparable {
        let author: Party
        let path: Path

        static func < (left: Save, right: Save) -> Bool { (left.path, left.author) < (right.path, right.author) }
    }

    private struct LogEnd: Comparable {
        let author: Party
        let epoch: Epoch

        init(of set: ChangeSet) {
            author = set.author
            epoch = set.position.epoch
        }

        static func < (left: LogEnd, right: LogEnd) -> Bool { (left.author, left.epoch) < (right.author, right.epoch) }
    }
}

// MARK: - What is kept of one record

extension Compaction {
    private mutating func keep(_ record: Int) {
        let state = fold.states[record]
        if !graves.isGone[record] {
            keepValues(of: state)
            keep(state.last.map { [$0] } ?? [])
        }
        for register in state.links { keep(register.heads.map(\.write)) }
        let standing = state.standingDeletes(in: fold.history)
        let mayForget = !state.lives.isEmpty && standing.isEmpty && !mayBeSecondName(record)
        for (_, heads) in state.edges where !mayForget || heads.contains(where: { $0.order != nil }) {
            keep(heads.map(\.write))
        }
        keepLife(of: record, standing)
    }

    /// What one name takes out, another may have put in.
    private func mayBeSecondName(_ record: Int) -> Bool {
        guard let entity = fold.entities[record].map({ fold.model.model.entities[$0] }) else { return false }
        return entity.isSingleton || !entity.identity.isEmpty
    }

    private mutating func keep(_ writes: [Write]) {
        for write in writes { kept[write] = true }
    }

    private mutating func keepValues(of state: RecordState) {
        for register in state.values {
            keep(register.heads.map(\.write))
            if let base = base(of: register) { keep([base]) }
        }
    }

    /// What two heads had both seen last: they are merged with it.
    private func base(of register: RecordState.Register<JSONText?>) -> Write? {
        guard register.heads.count > 1 else { return nil }
        return register.older.map(\.write).last { older in
            register.heads.allSatisfy { fold.history.saw($0.write, older) }
        }
    }

    /// Its birth; where a delete stands all births and deaths, and of what each delete is weighed against as much as tips
    /// the scales.
    private mutating func keepLife(of record: Int, _ standing: [Write]) {
        let state = fold.states[record]
        if standing.isEmpty { return keep(Array(state.lives.prefix(1))) }
        // What tips the scales may have been made void by any of these, or taken out by what `keep` keeps for it.
        keep(state.lives + state.deletes)
        var outliving = state.outliving(standing, in: fold.history)
        for delete in standing { keep(outliving.witnesses(against: delete)) }
        // An edit stands for its whole set: another one of the same set must not take its place.
        let heads = state.heads
        let changes = SortedMap(heads.filter { kept[$0] == true }.map { ($0.change, true) })
        for edit in state.edits where changes.contains(key: edit.change) { keep([edit]) }
        let isHead = SortedMap(heads.map { ($0, true) })
        let overtaken = state.edits.filter { kept[$0] == true && !isHead.contains(key: $0) }
        let isLoose = overtaken.contains { edit in
            (heads + state.lives).contains { edit < $0 && !fold.history.saw($0, edit) }
        }
        if isLoose { loose[record] = true }
    }
}

// MARK: - What overtook what is kept

extension Compaction {
    /// What is written to one of these overtakes only what was written to the same.
    private enum Place: Equatable {
        case value(PropertyName)
        case link(PropertyName)
        case edge(PropertyName, [UInt8])

        /// Nil for what is about the record itself.
        init?(_ action: Operation.Action) {
            switch action {
            case .insert, .delete, .restore: return nil
            case .set(let name, _): self = .value(name)
            case .link(let name, _, _): self = .link(name)
            case .add(let name, let target, _), .remove(let name, let target): self = .edge(name, target)
            }
        }
    }

    /// A set may have seen less than the one before it of its author, because of what his folder did not show when he saved. So what stands
    /// in the end need not have seen all that was overtaken by what it has overtaken itself: without that between them this would stand again.
    private mutating func keepOvertakers() {
        for (record, writes) in looseWrites {
            // In the order K, so that whoever is kept is asked about as well.
            for (number, earlier) in writes.enumerated() where kept[earlier.write] == true {
                let later = writes[(number + 1)...].filter { later in
                    later.place == earlier.place && fold.history.saw(later.write, earlier.write)
                }
                guard let last = later.last?.write, !later.contains(where: { kept[$0.write] == true }) else { continue }
                keep([last] + fold.states[record].edits.filter { $0.change == last.change })
            }
        }
    }

    /// All of each loose record, in the order K.
    private var looseWrites: SortedMap<Int, [(write: Write, place: Place)]> {
        var writes: SortedMap<Int, [(write: Write, place: Place)]> = [:]
        if loose.isEmpty { return writes }
        for (number, set) in fold.history.changes.enumerated() {
            for (index, operation) in set.operations.enumerated() {
                guard let record = fold.number(of: operation.record), loose[record] == true,
                    let place = Place(operation.action)
                else { continue }
                writes[record, default: []].append(
                    (Write(change: UInt32(number), index: set.number(of: index)), place))
            }
        }
        return writes
    }
}
