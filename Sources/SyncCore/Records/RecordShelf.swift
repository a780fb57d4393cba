/// Files of the records in quarantine, below `.syncd/quarantine`: what each of them says, as its file would, for whoever looks there
/// without asking syncd. They are kept versions like any others, but for as long as the record is in quarantine nothing prunes them.
import RecordMerge
import SyncModel

struct RecordShelf: Sendable {
    /// What lies there, by record.
    private(set) var files = SortedMap<RecordID, KeptVersion>()
    /// Records of which another file may have to lie there, or none.
    private(set) var due = SortedMap<RecordID, Bool>()
    /// The same, once there is room on the disk again.
    private var failed = SortedMap<RecordID, Bool>()
    /// What earlier processes have put there, by path, and no record has claimed yet. Nil until that is known.
    private(set) var found: SortedMap<Path, [KeptVersion]>?
    var isBusy = false

    /// By this the store knows them.
    static let reason = MessageCode.conflictSlot
    /// So many are looked at, and so many of them written, at a time.
    static let lookedAtMax = 64
    static let writtenMax = 16

    var isIdle: Bool { !hasWork && !isBusy }
    var hasWork: Bool { found == nil || found?.isEmpty == false || !due.isEmpty }

    mutating func note(_ records: [RecordID]) {
        for record in records { due[record] = true }
    }

    /// Everything is to be held against other books.
    mutating func noteAll() { note(Array(files.keys)) }

    mutating func begin(with versions: [KeptVersion]) {
        var found = SortedMap<Path, [KeptVersion]>()
        for version in versions where version.isQuarantined && version.reason == RecordShelf.reason {
            found[version.path, default: []].append(version)
        }
        self.found = found
    }

    mutating func popDue() -> RecordID? { due.popFirst()?.key }

    /// Put there by an earlier process, or by this one.
    mutating func claim(_ shelved: Shelved, for record: RecordID) -> Bool {
        if let file = files[record] { return file.path == shelved.path && file.entry.content == shelved.entry.content }
        guard let index = found?[shelved.path]?.firstIndex(where: { $0.entry.content == shelved.entry.content }) else {
            return false
        }
        files[record] = found?[shelved.path]?.remove(at: index)
        return true
    }

    mutating func put(_ version: KeptVersion, of record: RecordID) { files[record] = version }

    mutating func remove(_ record: RecordID) -> KeptVersion? { files.removeValue(forKey: record) }

    /// What no record in quarantine says.
    mutating func takeUnclaimed() -> [KeptVersion] {
        defer { found = [:] }
        return found?.values.flatMap(\.self) ?? []
    }

    mutating func fail(_ record: RecordID) { failed[record] = true }

    mutating func tryAgain() {
        note(Array(failed.keys))
        failed = [:]
    }
}

/// What is to lie in quarantine of a record.
struct Shelved: Sendable {
    let path: Path
    let entry: Entry
    let bytes: [UInt8]
    let author: Party
}

/// One file on its way there.
struct Shelving: Sendable {
    let record: RecordID
    let shelved: Shelved
    let stage: StageName
    /// Once it is written down.
    var version: KeptVersion?
}
