import ControlProtocol
import RecordMerge
import SyncModel

/// Which change set each save of a record file is in, for the log: entries tell of files, and sets of what was written to records.
/// Holds no more than is asked of it, however many sets there are.
struct SavedSets: Sendable {
    /// What an entry says was saved. A set and the entries of its files are written in one batch, by one clock.
    struct Save: Hashable {
        let author: Author
        let path: Path
        /// Nil for a file that was deleted.
        let content: ContentID?
        let milliseconds: UInt64

        init?(_ author: Author, _ path: Path, _ content: Content, _ time: HybridTime) {
            switch content {
            case .absent: self.content = nil
            case .file(let id, _): self.content = id
            case .directory, .symlink: return nil
            }
            (self.author, self.path, milliseconds) = (author, path, time.wallMilliseconds)
        }

        fileprivate init(_ author: Author, _ path: Path, _ content: ContentID?, _ time: HybridTime) {
            (self.author, self.path, self.content) = (author, path, content)
            milliseconds = time.wallMilliseconds
        }
    }

    struct Found: Sendable {
        let operations: Int
        let line: LogLine.ChangeSet
    }

    private let wanted: Set<Save>
    private let paths: Set<Path>
    private(set) var found: [Save: Found] = [:]

    init(wanted: Set<Save>) {
        self.wanted = wanted
        paths = Set(wanted.map(\.path))
    }

    var isEmpty: Bool { wanted.isEmpty }

    mutating func look(at stored: StoredChangeSet) {
        guard let prologue = ChangeSetCodec.prologue(of: stored.bytes), prologue.paths.contains(where: paths.contains),
            let outline = ChangeSetCodec.outline(of: stored.bytes)
        else { return }
        let line = LogLine.ChangeSet(
            epoch: stored.position.epoch.raw, seq: stored.position.seq,
            records: prologue.records.prefix(LogLine.ChangeSet.recordsMax).map { Path.escape(Array("\($0)".utf8)) },
            recordCount: prologue.records.count, id: stored.position.setName)
        for (path, content) in zip(prologue.paths, outline.contents) {
            let save = Save(stored.author, path, content, prologue.time)
            if wanted.contains(save) { found[save] = Found(operations: outline.operationCount, line: line) }
        }
    }
}

extension LogPosition {
    /// What people are told of a change set at this place, by the log and by alerts: a number for its epoch, and its own.
    var setName: String { "\(epoch.number)/\(seq)" }
}
