/// The view of one model, kept up to date: it takes change sets as they come, and folds and repairs anew only what hangs
/// together with what they touch. After every step it is what `RecordView(of:model:)` would make of all sets so far,
/// whatever the order they came in.
///
/// Records hang together by what they want (`Ties`), and by standing for the same thing. See `RecordSpace+Repair`.
public import SyncModel

public struct RecordSpace: Sendable {
    public let model: Model
    public internal(set) var view = RecordView()
    let index: ModelIndex
    /// By the order of arrival.
    private(set) var sets: SortedMap<Int, ChangeSet> = [:]
    /// Those beyond `forgotten`.
    private var known: SortedMap<SetName, Bool> = [:]
    /// Of what is before this less may be left than there was; it is known all the same.
    public private(set) var forgotten: Applied
    var traces: SortedMap<RecordID, Trace> = [:]
    /// Records that are there, by what they stand for.
    var namesakes: SortedMap<IdentityKey, SortedMap<RecordID, Bool>> = [:]
    /// By path: the live records that stand there.
    var files: SortedMap<Path, SortedMap<RecordID, Bool>> = [:]
    /// The last save of each file by each author, by the order of arrival: one of them is its base.
    private var saves: SortedMap<Path, BaseSaves> = [:]

    /// What is different after a step.
    public struct Change: Hashable, Sendable {
        /// All of which the view says anything else than before.
        public internal(set) var records: [RecordID] = []
        /// Those of them whose entry in quarantine, or among what was dropped, came, went or changed.
        public internal(set) var quarantine: [RecordID] = []
        /// Those of them that have come into quarantine.
        public internal(set) var quarantined: [RecordID] = []
        /// Those of them that repair has put elsewhere than what was written would have them (`RecordView.repaired`), and had not before.
        public internal(set) var repaired: [RecordID] = []
        /// Those of them that became or ceased to be second names, or stand for another.
        public internal(set) var aliases: [RecordID] = []
        /// Files that may read otherwise now, those that no record stands in any more included.
        public internal(set) var files: [Path] = []

        /// What two steps, one after the other, have made different; some of it may be named twice.
        public static func += (change: inout Change, next: Change) {
            change.records += next.records
            change.quarantine += next.quarantine
            change.quarantined += next.quarantined
            change.repaired += next.repaired
            change.aliases += next.aliases
            change.files += next.files
        }
    }

    /// What the space knows of a record besides its place in the view.
    struct Trace {
        var writes: [OperationPlace] = []
        var ties = Ties()
        /// What it stands for, while it is there.
        var key: IdentityKey?
        var isEverDeleted = false

        mutating func forgetWrites() {
            writes = []
            isEverDeleted = false
        }
    }

    /// An operation by the arrival of its set and its place there.
    struct OperationPlace: Comparable {
        let set: Int
        let place: Int

        static func < (left: OperationPlace, right: OperationPlace) -> Bool {
            left.set == right.set ? left.place < right.place : left.set < right.set
        }
    }

    private struct SetName: Comparable {
        let author: Party
        let position: LogPosition

        static func < (left: SetName, right: SetName) -> Bool {
            (left.author, left.position) < (right.author, right.position)
        }
    }

    public init(model: Model) {
        self.init(of: [], model: model)
    }

    /// `changes` may be what `forget` left of a history.
    public init(of changes: some Sequence<ChangeSet>, model: Model, forgotten: Applied = .none) {
        self.model = model
        self.forgotten = forgotten
        index = ModelIndex(model)
        take(changes)
    }

    /// All that it has taken and not forgotten, each set once.
    public var history: [ChangeSet] { Array(sets.values) }

    /// How many sets that is.
    public var count: Int { sets.count }

    /// Writes the files of the view; made without a walk over its records.
    public var renderer: RecordRenderer { RecordRenderer(model: model, view: view, files: files) }

    /// Sets that it knows already are passed over.
    @discardableResult
    public mutating func add(_ changes: some Sequence<ChangeSet>) -> Change {
        take(changes.filter { $0.position > forgotten[$0.author] })
    }

    /// What it was given so far up to there is what was left of more.
    public mutating func noteForgotten(through stable: Applied) {
        forgotten = Applied(first: max(forgotten.first, stable.first), second: max(forgotten.second, stable.second))
        known.removeAll { [forgotten] name, _ in name.position <= forgotten[name.author] }
    }

    /// Drops of the history what nobody will miss; the view stays as it is. `stable` as `Applied.stable` says it.
    public mutating func forget(_ stable: Applied) {
        let left = Compaction(of: sets.values, model: model, stable: stable).changes
        noteForgotten(through: stable)
        sets = SortedMap(left.enumerated().map { ($0.offset, $0.element) })
        saves = [:]
        for id in Array(traces.keys) { traces.update(id) { $0.forgetWrites() } }
        for (number, set) in sets {
            note(set, as: number)
            for (place, file) in set.files.enumerated() where file.content != nil {
                noteSave(of: file.path, at: BaseSaves.Place(number, place))
            }
        }
        traces.removeAll { _, trace in trace.writes.isEmpty && trace.ties.isEmpty }
    }

    @discardableResult
    private mutating func take(_ changes: some Sequence<ChangeSet>) -> Change {
        var news = News()
        for set in changes {
            let name = SetName(author: set.author, position: set.position)
            if known.updateValue(true, forKey: name) == nil { take(set, as: sets.count, &news) }
        }
        return settle(news)
    }

    /// What a step brings.
    struct News {
        /// True for records of which only values are written that no rule but their own type looks at.
        var isPlain: SortedMap<RecordID, Bool> = [:]
        var files: SortedMap<Path, Bool> = [:]
    }

    private mutating func take(_ set: ChangeSet, as number: Int, _ news: inout News) {
        sets[number] = set
        note(set, as: number)
        for operation in set.operations {
            tie(operation.record, toTargetsOf: operation.action)
            news.isPlain[operation.record] = news.isPlain[operation.record] != false && isPlain(operation)
        }
        for (place, file) in set.files.enumerated() where file.content != nil {
            take(file.path, at: BaseSaves.Place(number, place), &news)
        }
    }

    private mutating func note(_ set: ChangeSet, as number: Int) {
        for (place, operation) in set.operations.enumerated() {
            traces[operation.record, default: Trace()].writes.append(OperationPlace(set: number, place: place))
            if operation.action == .delete { traces[operation.record, default: Trace()].isEverDeleted = true }
        }
    }

    @discardableResult
    private mutating func noteSave(of path: Path, at place: BaseSaves.Place) -> Bool {
        saves[path, default: BaseSaves()].note(place) { [sets] in sets[$0] }
    }

    private mutating func take(_ path: Path, at place: BaseSaves.Place, _ news: inout News) {
        guard noteSave(of: path, at: place), let base = saves[path]?.base(model, among: { sets[$0] }) else { return }
        if view.bases.updateValue(base, forKey: path) != base { news.files[path] = true }
    }

    private func isPlain(_ operation: Operation) -> Bool {
        guard case .set(let name, _) = operation.action else { return false }
        return index.entity(operation.record.entity).map { !model.entities[$0].identity.contains(name) } ?? true
    }
}
