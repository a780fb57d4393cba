// Folders, rows and logs for trials, each in one line. A folder is written as the simulator sketches it: "a=1  d/  l->a  p|".
import SyncCore
import SyncModel

@testable import SyncSim

extension Sight {
    /// Two folders, each with the rows of a node that knows exactly this; all of it was written on the first machine.
    init(_ one: String, _ two: String, look: Int = 1, stuck: [String] = []) {
        self.init(
            machines: [MachineSight(one, machine: 0), MachineSight(two, machine: 1)], look: look,
            stuck: stuck.map { at($0) })
    }

    /// The same folder twice.
    init(both: String, look: Int = 1) { self.init(both, both, look: look) }
}

extension MachineSight {
    init(_ sketch: String, machine: Int) {
        self.init(tree: [:], store: .fresh(machine))
        for word in sketch.split(separator: " ") { stand(word) }
        for (path, seen) in tree {
            store.put(Row(of: seen, at: path.description, by: machine == 0 ? .own : .peer))
        }
    }

    /// Its rules leave this path out, and their own file as well. The text stands there, and was told to nobody.
    mutating func keepToItself(_ place: String, _ text: String? = nil) {
        let path = at(place)
        ignores = { $0 == path }
        keepsToItself = { $0 == path }
        unsynced[path] = text.map { .text($0) }
        untold = unsynced
    }

    private mutating func stand(_ word: Substring) {
        if let equals = word.firstIndex(of: "=") {
            stand(word[..<equals]) { .file(String(word[word.index(after: equals)...]), at: $0) }
        } else if word.hasSuffix("/") {
            stand(word.dropLast()) { .directory(at: $0) }
        } else if word.hasSuffix("|") {
            unsynced[at(String(word.dropLast()))] = .special
        } else if let head = word.firstIndex(of: ">") {
            stand(word[..<head].dropLast()) { .symlink(to: String(word[word.index(after: head)...]), at: $0) }
        }
    }

    /// With the directories above it.
    private mutating func stand(_ place: Substring, _ seen: (String) -> Seen) {
        let path = at(String(place))
        if let parent = path.parent, !parent.isRoot { stand(parent.description[...]) { .directory(at: $0) } }
        tree[path] = seen(String(place))
    }
}

extension Seen {
    static func file(_ text: String, at place: String, mode: UInt16 = 0o644, seconds: Int64 = 7) -> Seen {
        let bytes = utf8(text)
        let content = Content.file(ContentID(ContentHasher.chunks(of: bytes).contentID), size: UInt64(bytes.count))
        return Seen(.file(bytes), content, at: place, mode: mode, seconds: seconds)
    }

    static func directory(at place: String) -> Seen { Seen(.directory, .directory, at: place, mode: 0o755) }

    static func symlink(to target: String, at place: String) -> Seen {
        Seen(.symlink(to: utf8(target)), .symlink(utf8(target)), at: place, mode: 0o777)
    }

    private init(_ value: Value, _ content: Content, at place: String, mode: UInt16, seconds: Int64 = 7) {
        self.init(
            value: value, entry: Entry(content: content, mode: mode, modified: .seconds(seconds)),
            identity: .of(place))
    }

    /// As a look at it would have told.
    var stat: Stat {
        Stat(
            identity: identity, kind: entry.content.kind ?? .file, mode: entry.mode, size: entry.content.size,
            modified: entry.modified, changed: entry.modified)
    }
}

extension Row {
    /// What a node knows that has seen just this and nothing before: one head, shown on the disk.
    init(of seen: Seen, at place: String, by author: Author = .own, seq: UInt64 = 1) {
        self.init(path: at(place))
        let revision = Revision(seen.entry, by: author, seq: seq)
        disk = DiskState(entry: seen.entry, stat: seen.stat, origins: revision.origins)
        heads = [revision]
        reflected = version
    }

    static func file(_ text: String, at place: String, by author: Author = .own, seq: UInt64 = 1) -> Row {
        Row(of: .file(text, at: place), at: place, by: author, seq: seq)
    }

    static func directory(at place: String) -> Row { Row(of: .directory(at: place), at: place) }
}

extension Revision {
    /// Stamped with second `seq`.
    init(_ entry: Entry, by author: Author = .own, seq: UInt64, seen: VersionVector = .none, seconds: UInt64? = nil) {
        let origin = Origin(author: author, position: .number(seq), time: .seconds(seconds ?? seq))
        self.init(origin: origin, seen: seen, entry: entry, origins: Origins(all: origin))
    }
}

extension LogPosition {
    static func number(_ seq: UInt64) -> LogPosition {
        seq == 0 ? .none : LogPosition(epoch: Epoch(number: 1, nonce: 1), seq: seq)
    }
}

extension HybridTime {
    static func seconds(_ seconds: UInt64) -> HybridTime { HybridTime(wallMilliseconds: Int64(seconds) * 1_000) }
}

extension Timestamp {
    static func seconds(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds, nanoseconds: 0) }
}

extension FileIdentity {
    /// Of the file that was made at this path; goes where the file goes.
    static func of(_ place: String) -> FileIdentity {
        let inode = place.utf8.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) }
        return FileIdentity(device: 1, inode: inode, birth: .zero)
    }
}

extension VirtualStore {
    static func fresh(_ machine: Int) -> VirtualStore { VirtualStore(node: Machine.freshRecord(machine, seed: 1)) }

    mutating func put(_ row: Row) { perform(StoreBatch([.putRow(row)])) }

    /// The node's own record with a change to it.
    func node(_ change: (inout NodeRecord) -> Void) -> NodeRecord {
        var record = node
        change(&record)
        return record
    }
}

/// The log of a machine as it grows, entry by entry.
struct SmallLog {
    private let node: NodeID
    private(set) var records: [LogRecord] = []

    init(_ machine: Int) { node = VirtualStore.fresh(machine).node.id }

    var head: LogHead { records.last?.head ?? .none }

    /// The next entry: a file at a path, or nothing there any more.
    @discardableResult
    mutating func put(_ text: String?, at place: String, skipping: UInt64 = 0) -> LogRecord {
        let entry = text.map { Seen.file($0, at: place).entry } ?? .absent
        let seq = head.position.seq + 1 + skipping
        return append(.put(at(place), Revision(entry, seq: seq)), seq: seq)
    }

    @discardableResult
    mutating func move(_ from: String, to: String) -> LogRecord {
        let seq = head.position.seq + 1
        return append(.relocate(Relocation(from, to: to, seq: seq)), seq: seq)
    }

    private mutating func append(_ change: LogRecord.Change, seq: UInt64) -> LogRecord {
        let record = LogCodec.record(change, at: .number(seq), time: .seconds(seq), after: head, node: node)
        records.append(record)
        return record
    }
}

extension Relocation {
    init(_ from: String, to: String, seq: UInt64 = 2) {
        self.init(
            from: at(from), to: at(to), origin: Origin(author: .own, position: .number(seq), time: .seconds(seq)),
            seenPeer: .none, summary: SubtreeSummary.Contents())
    }
}

extension StageName {
    /// Of `stage1`.
    static let first = StageName(raw: 1)
}

extension VersionID {
    /// Of `version1`.
    static let first = VersionID(raw: 1)
}
