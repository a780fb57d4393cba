import Glibc
import SyncCore
import SyncModel
import SyncSim

/// What the core costs, without any disk or network: time per step, memory per entry, and whether a first merge is linear.
/// Figures, not tests: the goals are stated beside them, and machines differ.
enum Bench {
    static func run() -> Bool {
        let entries = 1_000_000
        System.say("syncsim --bench: the core alone, store and shell not counted")
        // First, while the process is small: the memory of the model is what the process grows by.
        edits(among: entries)
        merges(upTo: entries)
        let isMeasured = RecordBench.run()
        System.say("\(isMeasured ? 4 : 3) passed, \(isMeasured ? 0 : 1) failed, 0 skipped")
        return isMeasured
    }

    // MARK: Single edits in a large folder

    private static func edits(among entries: Int) {
        let before = System.residentBytes
        var shell = Shell(entries: entries, withLog: false)
        let model = System.residentBytes - before
        System.say(
            "model store: \(model / entries) bytes per entry at \(entries) entries (all of it in the store; the node keeps none)"
        )
        shell.start()
        shell.reset()
        var random = SeededRandom(seed: 1)
        for number in 0..<20_000 {
            shell.edit(random.below(entries), number)
        }
        System.say(
            "edits: \(shell.steps) steps for 20000 edits, \(shell.nanoseconds / shell.steps) ns per step on average"
                + " (goal 5000), \(shell.nanoseconds / 20_000) ns per edit, slowest step \(shell.slowest / 1_000) µs")
        System.say("node after it: \(shell.node.footprint)")
    }

    // MARK: First merge

    private static func merges(upTo entries: Int) {
        for count in [entries / 8, entries / 4, entries / 2, entries] {
            var shell = Shell(entries: count, withLog: false)
            shell.start()
            shell.reset()
            shell.importTwin(entries: count)
            System.say(
                "first merge of two trees of \(count) equal entries each: \(shell.nanoseconds / count) ns per entry,"
                    + " \(shell.steps) steps, \(shell.unsettled) unsettled at the end")
        }
    }
}

/// A node with a store and the simplest shell: everything asked for is answered at once and well.
private struct Shell {
    var node = Node()
    var store: VirtualStore
    var steps = 0
    var nanoseconds = 0
    var slowest = 0
    private var pending = Deque<Event>()
    private var time: UInt64 = 1_000_000
    private var edited = SortedMap<Path, Int>()
    private let entries: Int
    private let own = NodeID(SHA256.digest(of: [1]))
    private let peer = NodeID(SHA256.digest(of: [2]))
    private var peerHead = LogHead.none

    init(entries: Int, withLog: Bool) {
        self.entries = entries
        var record = NodeRecord(id: own, name: Array("alpha".utf8), folder: FolderID(.zero))
        record.peer = peer
        record.peerName = Array("beta".utf8)
        let last = LogPosition(epoch: Epoch(number: 1, nonce: 1), seq: UInt64(entries))
        record.ownHead = LogHead(position: last, chain: SHA256.digest(of: [3]))
        record.prunedThrough = record.ownHead
        record.acknowledged = record.ownHead
        store = VirtualStore(node: record)
        var batch = StoreBatch()
        for number in 0..<entries {
            batch.operations.append(.putRow(Shell.row(number)))
            if batch.operations.count == 10_000 {
                store.perform(batch)
                batch = StoreBatch()
            }
        }
        store.perform(batch)
    }

    var unsettled: Int {
        if case .summary(let summary) = store.answer(.summary(.root)) { return summary.pendingRows }
        return -1
    }

    mutating func reset() {
        steps = 0
        nanoseconds = 0
        slowest = 0
    }

    mutating func start() {
        let start = Start(
            node: store.node, settings: Settings(), limits: Limits(), program: Array("bench".utf8), nonce: 7,
            powerWasLost: false)
        give(.started(start))
    }

    mutating func edit(_ number: Int, _ version: Int) {
        let path = Shell.path(number)
        edited[path] = version
        give(.noticed([Notice(path: path, kind: .touched)]))
    }

    /// The peer created the same files by itself: every entry is concurrent and equal.
    mutating func importTwin(entries: Int) {
        let link = LinkID(raw: 1)
        give(.connected(link))
        let hello = Hello(
            versionMin: 1, versionMax: 1, features: [], name: Array("beta".utf8), program: [],
            wallMilliseconds: Int64(time), ownHead: .none, known: [store.node.ownHead])
        give(.received(link, FrameCodec.encode(.hello(hello))))
        var batch: [[UInt8]] = []
        for number in 0..<entries {
            let position = LogPosition(epoch: Epoch(number: 1, nonce: 9), seq: UInt64(number + 1))
            let origin = Origin(author: .own, position: position, time: HybridTime(wallMilliseconds: 1_000))
            let revision = Revision(
                origin: origin, seen: .none, entry: Shell.entry(number), origins: Origins(all: origin))
            let record = LogCodec.record(
                .put(Shell.path(number), revision), at: position, time: origin.time, after: peerHead, node: peer)
            peerHead = record.head
            batch.append(LogCodec.encode(record))
            if batch.count == 256 || number == entries - 1 {
                give(.received(link, FrameCodec.encode(.log(batch))))
                batch = []
            }
        }
    }

    private mutating func give(_ event: Event) {
        pending.append(event)
        while let next = pending.popFirst() {
            time += 1
            var effects = Effects()
            let moment = Moment(monotonicMilliseconds: time, wallMilliseconds: Int64(time))
            let begin = System.workedNanoseconds
            node.step(next, at: moment, into: &effects)
            let spent = System.workedNanoseconds - begin
            steps += 1
            nanoseconds += spent
            slowest = max(slowest, spent)
            for effect in effects.list { answer(effect) }
        }
    }

    private mutating func answer(_ effect: Effect) {
        switch effect {
        case .load(let job, let queries): pending.append(.loaded(job, queries.map { store.answer($0) }))
        case .store(let job, let batch):
            store.perform(batch)
            pending.append(.stored(job))
        case .scan(let job, _, _):
            pending.append(.scanned(job, ScanChunk(differences: [], resume: nil, root: .healthy, unreadable: [])))
        case .inspect(let job, let paths):
            let results = paths.map { path in Inspection.Result.found(stat(path)) }
            pending.append(.inspected(job, Inspection(root: .healthy, results: results)))
        case .hash(let job, let paths):
            pending.append(.hashed(job, paths.map { .content(content($0), ChunkList(), stat($0)) }))
        case .read(let job, let requests):
            pending.append(.readFinished(job, requests.map { _ in .failed(.notFound) }))
        case .parse(let job, _): pending.append(.parsed(job, .failed(.notFound)))
        case .disk(let job, let programs):
            pending.append(.diskFinished(job, programs.map { _ in DiskResult() }))
        case .listStage(let job): pending.append(.stageListed(job, []))
        case .send(let link, let bytes): pending.append(.sent(link, bytes.count))
        case .close, .wake, .report, .answer, .program, .finish: break
        }
    }

    // MARK: The folder: 1,000 files to a directory

    private static func path(_ number: Int) -> Path {
        Path("d\(number / 1_000)/f\(number % 1_000)") ?? .root
    }

    private static func entry(_ number: Int) -> Entry {
        let id = ContentID(SHA256.digest(of: Array("content \(number)".utf8)))
        return Entry(
            content: .file(id, size: 100), mode: 0o644, modified: Timestamp(seconds: Int64(number), nanoseconds: 0))
    }

    private static func stat(_ number: Int) -> Stat {
        Stat(
            identity: FileIdentity(device: 1, inode: UInt64(number + 10), birth: .zero), kind: .file, mode: 0o644,
            size: 100, modified: Timestamp(seconds: Int64(number), nanoseconds: 0), changed: .zero)
    }

    private static func row(_ number: Int) -> Row {
        let position = LogPosition(epoch: Epoch(number: 1, nonce: 1), seq: UInt64(number + 1))
        let origin = Origin(author: .own, position: position, time: HybridTime(wallMilliseconds: 1_000))
        var row = Row(path: path(number))
        row.heads = [Revision(origin: origin, seen: .none, entry: entry(number), origins: Origins(all: origin))]
        row.disk = Row.DiskState(entry: entry(number), stat: stat(number), origins: Origins(all: origin))
        row.reflected = row.version
        return row
    }

    private func stat(_ path: Path) -> Stat {
        if path.depth == 1 {
            return Stat(
                identity: FileIdentity(device: 2, inode: Shell.number(of: path), birth: .zero), kind: .directory,
                mode: 0o755, size: 100, modified: Timestamp(seconds: 1, nanoseconds: 5), changed: .zero)
        }
        let number = (path.parent.map(Shell.number) ?? 0) * 1_000 + Shell.number(of: path)
        var stat = Shell.stat(Int(number))
        stat.modified = Timestamp(seconds: Int64(edited[path] ?? 0), nanoseconds: 5)
        return stat
    }

    /// The number at the end of a name: 7 of `d7`.
    private static func number(of path: Path) -> UInt64 {
        path.name?.bytes.dropFirst().reduce(0) { $0 * 10 + UInt64($1 &- UInt8(ascii: "0")) } ?? 0
    }

    private func content(_ path: Path) -> Content {
        let text = Array("edit \(edited[path] ?? 0)".utf8)
        return .file(ContentID(SHA256.digest(of: path.bytes + text)), size: 100)
    }
}
