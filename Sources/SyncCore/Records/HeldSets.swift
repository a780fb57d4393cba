/// Change sets that are stored and shown to nobody here: those that need a model or a program that this node does not have, and those
/// that were made by somebody who had seen one of these and are about the same records. Everything else goes on, and what this
/// node sends is never held. Who gets what was missing reads all sets anew at its next start.
import RecordMerge
import SyncModel

struct HeldSets: Sendable {
    private(set) var count = 0
    /// Some of them were made by a newer program than this one.
    private(set) var areNewer = false
    /// Models that some of them need, and this node lacks in that version.
    private(set) var models: [[UInt8]] = []
    /// The last set of the peer before the first of its that is held.
    private(set) var before: LogPosition?
    /// The first held set of each author that writes to a record.
    private var writers = SortedMap<RecordID, First>()
    /// The same of the files that they save.
    private var files = SortedMap<Path, First>()
    /// Those of a model that this node has, in a version that it has not, whose authors could not read them either.
    private(set) var unread: [ChangeSet] = []
    /// Their places in `unread`, by what they save.
    private var unreadPlaces = SortedMap<Path, [Int]>()
    /// What the peer has saved by one of them, and nobody has looked for in the folder yet.
    private var unreadNews: [Path] = []
    /// The last set of the peer that is in the view.
    private var lastRead = LogPosition.none

    private struct First: Sendable {
        var first: LogPosition?
        var second: LogPosition?

        subscript(party: Party) -> LogPosition? { party == .first ? first : second }

        mutating func note(_ position: LogPosition, by author: Party) {
            switch author {
            case .first: first = min(first ?? position, position)
            case .second: second = min(second ?? position, position)
            }
        }
    }

    var isEmpty: Bool { count == 0 }

    /// Saved by somebody whose model does not read it, and here nobody reads it either.
    struct UnreadSave {
        let set: ChangeSet
        let file: ChangeSet.SavedFile

        var version: Int { self.set.needs.modelVersion }

        /// It stays where both have been saved.
        func precedes(_ other: UnreadSave) -> Bool {
            version == other.version ? set.precedes(other.set) : version < other.version
        }
    }

    /// It cannot be read here; `isRead` tells of which models it can. Of an unread one its files are told of, one by one.
    mutating func hold(_ stored: StoredChangeSet, unread set: ChangeSet?, _ isRead: (Needs) -> Bool) {
        note(stored)
        if let set {
            for file in set.files { unreadPlaces[file.path, default: []].append(unread.count) }
            if stored.author == .peer { unreadNews += set.files.map(\.path) }
            unread.append(set)
            note(set.operations.map(\.record), set.files.map(\.path), set.author, set.position)
            return
        }
        let isBeyondUs = ChangeSetCodec.isBeyondUs(stored.bytes)
        areNewer = areNewer || isBeyondUs
        guard let prologue = ChangeSetCodec.prologue(of: stored.bytes) else { return }
        let model = prologue.needs.model
        if !isBeyondUs, !isRead(prologue.needs), !models.contains(model) { models.append(model) }
        note(prologue.records, prologue.paths, prologue.author, prologue.position)
    }

    /// It can be read. Nil, and held, if what it was made on cannot be.
    mutating func admit(_ stored: StoredChangeSet, _ set: ChangeSet, _ model: Model, by own: Party) -> AdmittedSet? {
        if set.author != own, areNeeded(by: set, model) {
            note(stored)
            note(set.operations.map(\.record), set.files.map(\.path), set.author, set.position)
            return nil
        }
        if stored.author == .peer { lastRead = max(lastRead, stored.position) }
        return AdmittedSet(set)
    }

    private mutating func note(_ stored: StoredChangeSet) {
        count += 1
        if stored.author == .peer, before == nil { before = lastRead }
    }

    private mutating func note(_ records: [RecordID], _ paths: [Path], _ author: Party, _ position: LogPosition) {
        for record in records { writers[record, default: First()].note(position, by: author) }
        for path in paths { files[path, default: First()].note(position, by: author) }
    }

    /// Paths of which an unread state is known.
    var unreadPaths: [Path] { Array(unreadPlaces.keys) }

    mutating func takeUnreadNews() -> [Path] {
        defer { unreadNews = [] }
        return unreadNews
    }

    /// Nothing is held but what the folders show: whoever goes on with it has seen it.
    var areShown: Bool { count == unread.count }

    func unreadSave(of content: Content, at path: Path) -> UnreadSave? {
        guard case .file(let id, _) = content, let place = unreadPlace(of: id, at: path) else { return nil }
        let set = unread[place]
        return set.files.first { $0.path == path && $0.content == id }.map { UnreadSave(set: set, file: $0) }
    }

    /// The last one that saved it there, as its place in `unread`.
    private func unreadPlace(of content: ContentID, at path: Path) -> Int? {
        unreadPlaces[path]?.last { place in
            unread[place].files.contains { $0.path == path && $0.content == content }
        }
    }

    /// Those that somebody misses, where these are the unread states that stand at their paths. One that has been
    /// deleted or overtaken is kept for who can read it one day, and nothing waits for it.
    func missedCount(_ standing: SortedMap<Path, ContentID>) -> Int {
        let places = standing.compactMap { unreadPlace(of: $0.value, at: $0.key) }
        return count - unread.count + SortedMap(places.map { ($0, true) }).count
    }

    /// What was saved there is told by nothing that this node can read.
    func hasSave(of path: Path) -> Bool { files.contains(key: path) }
    func hasSave(of path: Path, by author: Party) -> Bool { files[path]?[author] != nil }

    /// Somebody who had seen a held set goes on with what that did.
    func areNeeded(by set: ChangeSet, _ model: Model) -> Bool {
        // What was made on a state that nobody here reads is told so that it can be read without it.
        guard !writers.isEmpty, !areShown else { return false }
        return set.touched(model).contains { record in
            guard let first = writers[record] else { return false }
            return [Party.first, .second].contains { author in
                first[author].map { author == set.author ? $0 < set.position : $0 <= set.seen[author] } ?? false
            }
        }
    }

    /// Some of these records are about to be written to by somebody who was not shown what the peer did to them.
    func concern(_ operations: [Operation], _ model: Model, by peer: Party) -> Bool {
        guard !writers.isEmpty else { return false }
        return operations.contains { operation in
            operation.touched(model).contains { writers[$0]?[peer] != nil }
        }
    }
}

/// A change set that may be taken in: everything that it was made on can be read here. A held one never becomes this.
struct AdmittedSet: Hashable, Sendable {
    let set: ChangeSet

    fileprivate init(_ set: ChangeSet) {
        self.set = set
    }

    /// Made by this node a moment ago, of what it shows.
    init(made set: ChangeSet) {
        self.init(set)
    }
}

extension ChangeSet {
    fileprivate func touched(_ model: Model) -> [RecordID] { operations.flatMap { $0.touched(model) } }
}

extension Operation {
    /// What it writes to, and what it names.
    fileprivate func touched(_ model: Model) -> [RecordID] {
        let named: (PropertyName, [UInt8])?
        switch action {
        case .insert, .delete, .restore, .set: named = nil
        case .link(let name, let target, order: _): named = target.map { (name, $0) }
        case .add(let name, let target, order: _): named = (name, target)
        case .remove(let name, let target): named = (name, target)
        }
        guard let (name, key) = named, let target = model.entity(record.entity)?.side(name)?.to else { return [record] }
        return [record, RecordID(target, key)]
    }
}
