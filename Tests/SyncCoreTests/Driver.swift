/// One real node in a world that answers only what a test lets it answer: a folder of a few files, a store that keeps what
/// it is given, and a link whose other end is the test.
import SyncCore
import SyncModel

struct Driver {
    /// What does not answer for now.
    struct Silence: OptionSet {
        let rawValue: UInt8

        static let loads = Silence(rawValue: 1)
        static let stores = Silence(rawValue: 2)
        static let disk = Silence(rawValue: 4)
        /// Whole files are not read: what else the disk is asked is answered.
        static let reading = Silence(rawValue: 8)
    }

    private(set) var node = Node()
    /// Every effect, in order.
    private(set) var emitted: [Effect] = []
    /// Every event, in order, with its moment.
    private(set) var events: [(event: Event, moment: Moment)] = []
    /// What was asked and is not answered yet.
    private(set) var waiting: [Effect] = []
    private(set) var shelf = Shelf()
    /// Promises to the peer that were not durable when they were made.
    private(set) var broken: [String] = []
    var silence: Silence = []
    var root = RootState.healthy
    var files = SortedMap<Path, Item>()
    /// What can be neither looked at nor read.
    var faults = SortedMap<Path, DiskError>()
    /// What can be looked at, and not be read.
    var unreadable = SortedMap<Path, DiskError>()
    private(set) var milliseconds: UInt64 = 1_000
    /// How far somebody has put the wall clock forward.
    var clockLead: Int64 = 0

    struct Item {
        let stat: Stat
        let content: Content
    }

    static let own = NodeID(SHA256.digest(of: Array("left".utf8)))
    static let peer = NodeID(SHA256.digest(of: Array("right".utf8)))
    static let link = LinkID(raw: 1)
    static let wallStart: Int64 = 1_795_000_000_000

    static var record: NodeRecord {
        var record = NodeRecord(id: own, name: Array("left".utf8), folder: FolderID(.zero))
        record.peer = peer
        return record
    }

    static func start(
        _ record: NodeRecord = record, settings: Settings = Settings(), limits: Limits = Limits(),
        powerWasLost: Bool = false
    ) -> Event {
        .started(
            Start(
                node: record, settings: settings, limits: limits, program: Array("test".utf8), nonce: 7,
                powerWasLost: powerWasLost))
    }

    // MARK: Events

    mutating func happen(_ event: Event) {
        var effects = Effects()
        let moment = Moment(
            monotonicMilliseconds: milliseconds,
            wallMilliseconds: Driver.wallStart + Int64(milliseconds) + clockLead)
        node.step(event, at: moment, into: &effects)
        events.append((event, moment))
        emitted += effects.list
        waiting += effects.list.filter { Driver.kind(of: $0) != nil }
        for effect in effects.list { judge(effect) }
    }

    /// What may be answered now: the store works strictly in order, the disk in any.
    var answerable: [Int] {
        var isStoreBusy = false
        return waiting.indices.filter { index in
            guard let kind = Driver.kind(of: waiting[index]) else { return false }
            if kind == .disk || kind == .reading { return silence.isDisjoint(with: [.disk, kind]) }
            defer { isStoreBusy = true }
            return !isStoreBusy && !silence.contains(kind)
        }
    }

    mutating func answer(at index: Int) {
        let effect = waiting.remove(at: index)
        if let event = answer(to: effect) { happen(event) }
    }

    /// Answers what may be answered until nothing is asked any more.
    mutating func settle() {
        for _ in 0..<50_000 {
            guard let index = answerable.first else { return }
            answer(at: index)
        }
        broken.append("the node does not come to rest")
    }

    /// Whatever is promised to the peer must be on the shelf.
    private mutating func judge(_ effect: Effect) {
        guard case .send(_, let bytes) = effect, let frame = FrameCodec.decode(bytes) else { return }
        let record = shelf.record ?? Driver.record
        let imported = record.importedEpochs + [record.importedHead, .none]
        switch frame {
        case .hello(let hello):
            let isStored = hello.ownHead == .none || hello.ownHead == shelf.log.last?.head
            if !isStored { broken.append("a hello names \(hello.ownHead)") }
            if !hello.known.allSatisfy(imported.contains) { broken.append("a hello claims \(hello.known)") }
        case .log(let entries):
            let stored = shelf.log.map(LogCodec.encode)
            if !entries.allSatisfy(stored.contains) { broken.append("an entry is sent that is not stored") }
        case .acknowledge(let acknowledgement):
            if acknowledgement.head.position > record.importedHead.position { broken.append("\(acknowledgement)") }
        case .rows, .rowsEnd, .want, .wantChanged, .chunkList, .changedList, .wantChunks, .chunks, .contents, .gone,
            .later, .rolledBack, .expand, .expansion, .ping, .pong, .records, .changeSet, .setsTaken, .setsShown,
            .setsBase,
            .formats, .claim, .claimAnswer, .releaseClaim, .claimWaits, .pausing, .holding, .halt, .unknown:
            break
        }
    }

    /// Starts a node and lets it come to rest.
    static func running(
        _ record: NodeRecord = record, files: SortedMap<Path, Item> = [:], shelf: Shelf = Shelf(),
        settings: Settings = Settings(), limits: Limits = Limits(), powerWasLost: Bool = false
    ) -> Driver {
        var driver = Driver()
        driver.shelf = shelf
        driver.files = files
        driver.happen(start(record, settings: settings, limits: limits, powerWasLost: powerWasLost))
        driver.settle()
        return driver
    }

    /// Lets time pass until the node wants to be woken.
    mutating func sleep() {
        sleepWithoutAnswers()
        settle()
    }

    /// It is woken so much later, whatever it wished for.
    mutating func oversleep(_ pause: UInt64) {
        milliseconds += pause
        happen(.deadline)
        settle()
    }

    /// How often the file was to be read whole.
    func reads(of path: Path) -> Int {
        emitted.count { if case .hash(_, let paths) = $0 { paths.contains(path) } else { false } }
    }

    /// How often somebody looked at the path.
    func looks(at path: Path) -> Int {
        emitted.count { if case .inspect(_, let paths) = $0 { paths.contains(path) } else { false } }
    }

    /// How often our log was read from the store to be sent.
    var logReads: Int {
        emitted.count { effect in
            if case .load(_, let queries) = effect, case .log? = queries.first { true } else { false }
        }
    }

    /// When the node wants to be woken.
    private var wish: UInt64? {
        for case .wake(let time) in emitted.reversed() { return time }
        return nil
    }

    mutating func sleepWithoutAnswers() {
        guard let time = wish, time > milliseconds else { return }
        milliseconds = time
        happen(.deadline)
    }

    /// Tells each list half a second after the one before.
    mutating func notice(_ lists: [[Notice]]) {
        for list in lists {
            happen(.noticed(list))
            settle()
            let end = milliseconds + 500
            while let time = wish, time > milliseconds, time <= end { sleep() }
            milliseconds = end
        }
    }

    mutating func receive(_ frame: Frame) { happen(.received(Driver.link, FrameCodec.encode(frame))) }

    /// Connects and greets as a peer that knows this much of our log, and offers this.
    mutating func greet(known: [LogHead] = [], ownHead: LogHead = .none, features: [[UInt8]] = []) {
        happen(.connected(Driver.link))
        settle()
        var hello = Driver.hello(known: known, ownHead: ownHead)
        hello.features = features
        receive(.hello(hello))
        settle()
    }

    static func hello(known: [LogHead] = [], ownHead: LogHead = .none, versions: (UInt16, UInt16) = (1, 1)) -> Hello {
        Hello(
            versionMin: versions.0, versionMax: versions.1, features: [], name: Array("right".utf8), program: [],
            wallMilliseconds: wallStart, ownHead: ownHead, known: known)
    }

    /// Brings about what is a reason not to be in sync, and asks for the status.
    mutating func stand(still reason: MessageCode) {
        switch reason {
        case .peerAway: happen(.disconnected(Driver.link))
        case .nodePaused: happen(.command(CommandID(raw: 2), .pause))
        case .peerPaused: receive(.pausing(true))
        default: break
        }
        settle()
        happen(.command(CommandID(raw: 1), .status))
        settle()
    }

    // MARK: What it said

    var sent: [Frame] {
        emitted.compactMap { effect in
            if case .send(_, let bytes) = effect { return FrameCodec.decode(bytes) }
            return nil
        }
    }

    var hellos: [Hello] {
        sent.compactMap { frame in
            if case .hello(let hello) = frame { return hello }
            return nil
        }
    }

    /// What was said first on a link.
    func hello(on link: LinkID) -> Hello? {
        for case .send(link, let bytes) in emitted {
            if case .hello(let hello)? = FrameCodec.decode(bytes) { return hello }
        }
        return nil
    }

    var acknowledgements: [Acknowledgement] {
        sent.compactMap { frame in
            if case .acknowledge(let acknowledgement) = frame { return acknowledgement }
            return nil
        }
    }

    /// How often contents were asked for.
    var wishes: Int { sent.count { frame in if case .want = frame { true } else { false } } }

    /// Entries of our log that were sent.
    var sentEntries: [[UInt8]] {
        sent.flatMap { frame -> [[UInt8]] in
            if case .log(let entries) = frame { return entries }
            return []
        }
    }

    /// The alerts that are raised, by their code.
    var alerts: [MessageCode] {
        var raised = SortedMap<AlertKey, Bool>()
        for effect in emitted {
            guard case .report(let report) = effect else { continue }
            switch report {
            case .raised(let alert): raised[alert.key] = true
            case .cleared(let key): raised[key] = nil
            case .raisedAgain, .note, .peerIs: break
            }
        }
        return raised.map(\.key.code)
    }

    /// What is known of an alert that is raised.
    func facts(of code: MessageCode) -> AlertFacts? {
        var facts: AlertFacts?
        for effect in emitted {
            guard case .report(let report) = effect else { continue }
            switch report {
            case .raised(let alert), .raisedAgain(let alert): if alert.key.code == code { facts = alert.facts }
            case .cleared(let key): if key.code == code { facts = nil }
            case .note, .peerIs: break
            }
        }
        return facts
    }

    /// What was told and is over with that, by its code.
    var notes: [MessageCode] {
        emitted.compactMap { effect in
            if case .report(.note(let note)) = effect { return note.code }
            return nil
        }
    }

    /// Why commands were refused.
    var refusals: [MessageCode] {
        emitted.compactMap { effect in
            if case .answer(_, .refused(let code)) = effect { return code }
            return nil
        }
    }

    var closings: [MessageCode] {
        emitted.compactMap { effect in
            if case .close(_, let code) = effect { return code }
            return nil
        }
    }

    var endings: [FinishReason] {
        emitted.compactMap { effect in
            if case .finish(let reason) = effect { return reason }
            return nil
        }
    }

    var statuses: [Status] {
        emitted.compactMap { effect in
            if case .answer(_, .status(let status)) = effect { return status }
            return nil
        }
    }

    /// Work in the folder or its stage, other than looking at the root.
    var folderWork: [Effect] {
        emitted.filter { effect in
            switch effect {
            case .scan, .hash, .read, .parse, .disk, .listStage: true
            case .inspect(_, let paths): !paths.isEmpty
            case .load, .store, .send, .close, .wake, .report, .answer, .program, .finish: false
            }
        }
    }

    // MARK: The world

    private static func kind(of effect: Effect) -> Silence? {
        switch effect {
        case .load: .loads
        case .store: .stores
        case .hash: .reading
        case .scan, .inspect, .read, .parse, .disk, .listStage: .disk
        case .send, .close, .wake, .report, .answer, .program, .finish: nil
        }
    }

    private mutating func answer(to effect: Effect) -> Event? {
        switch effect {
        case .load(let job, let queries): return .loaded(job, queries.map { shelf.answer($0) })
        case .store(let job, let batch):
            shelf.perform(batch)
            return .stored(job)
        case .inspect(let job, let paths):
            let results = paths.map { path -> Inspection.Result in
                if let fault = faults[path] { return .failed(fault) }
                return files[path].map { .found($0.stat) } ?? .absent
            }
            return .inspected(job, Inspection(root: root, results: results))
        case .scan(let job, let request, _): return .scanned(job, scan(request))
        case .hash(let job, let paths): return .hashed(job, paths.map(hash))
        case .read(let job, let requests): return .readFinished(job, requests.map(read))
        case .parse(let job, _): return .parsed(job, .failed(.notFound))
        case .disk(let job, let programs): return .diskFinished(job, programs.map(Driver.run))
        case .listStage(let job): return .stageListed(job, [])
        case .send, .close, .wake, .report, .answer, .program, .finish: return nil
        }
    }

    private func scan(_ request: ScanRequest) -> ScanChunk {
        let known = shelf.rows.map(\.key)
        let paths = SortedMap((known + files.map(\.key)).map { ($0, true) })
        let differences = paths.compactMap { path, _ in
            path.isBelow(request.directory)
                ? ScanJoin.difference(at: path, row: shelf.rows[path], stat: files[path]?.stat) : nil
        }
        let unreadable = faults.filter { $0.value == .permission && $0.key.isBelow(request.directory) }.map(\.key)
        return ScanChunk(differences: differences, resume: nil, root: root, unreadable: unreadable)
    }

    /// Nothing of the folder is kept but its stats.
    private func read(_ request: ReadRequest) -> ReadOutcome {
        guard case .tree(let path) = request.place, let fault = faults[path] else { return .failed(.notFound) }
        return .failed(fault)
    }

    private func hash(_ path: Path) -> HashOutcome {
        if let fault = unreadable[path] { return .failed(fault) }
        guard let item = files[path] else { return .absent }
        return .content(item.content, ChunkList(), item.stat)
    }

    /// Nothing is there, and looking for it succeeds: enough for a recovery that has nothing to recover.
    private static func run(_ program: DiskProgram) -> DiskResult {
        DiskResult(
            inspected: program.operations.compactMap { operation in
                if case .inspect = operation { return .some(nil) }
                return nil
            })
    }
}

extension Driver.Item {
    /// A file of one chunk with these bytes.
    static func file(
        _ text: String, inode: UInt64, modified: Timestamp, bornNanoseconds: UInt32 = 0
    ) -> Driver.Item {
        let bytes = Array(text.utf8)
        let id = ContentID(ContentHasher.chunks(of: bytes).contentID)
        let birth = Timestamp(seconds: 0, nanoseconds: bornNanoseconds)
        let stat = Stat(
            identity: FileIdentity(device: 1, inode: inode, birth: birth), kind: .file, mode: 0o644,
            size: UInt64(bytes.count), modified: modified, changed: modified)
        return Driver.Item(stat: stat, content: .file(id, size: UInt64(bytes.count)))
    }

    static func directory(inode: UInt64, changed: Timestamp) -> Driver.Item {
        let stat = Stat(
            identity: FileIdentity(device: 1, inode: inode, birth: .zero), kind: .directory, mode: 0o755, size: 0,
            modified: changed, changed: changed)
        return Driver.Item(stat: stat, content: .directory)
    }

    /// The same file with other bytes.
    func edited(_ text: String, at wallMilliseconds: Int64) -> Driver.Item {
        let time = Timestamp(milliseconds: wallMilliseconds)
        let other = Driver.Item.file(text, inode: stat.identity.inode, modified: time)
        var stat = other.stat
        stat.identity = self.stat.identity
        return Driver.Item(stat: stat, content: other.content)
    }

    /// The same, as if it had so many bytes.
    func enlarged(to size: UInt64) -> Driver.Item {
        var stat = stat
        stat.size = size
        guard case .file(let id, _) = content else { return self }
        return Driver.Item(stat: stat, content: .file(id, size: size))
    }

    func renamed(at wallMilliseconds: Int64) -> Driver.Item {
        var stat = stat
        stat.changed = Timestamp(milliseconds: wallMilliseconds)
        return Driver.Item(stat: stat, content: content)
    }
}

/// A store that keeps rows, the log, the node's record and versions, and has nothing of all the rest.
struct Shelf {
    var versions = SortedMap<VersionID, KeptVersion>()
    private(set) var rows = SortedMap<Path, Row>()
    private(set) var log: [LogRecord] = []
    private(set) var record: NodeRecord?

    mutating func perform(_ batch: StoreBatch) {
        for operation in batch.operations {
            switch operation {
            case .putRow(let row): rows[row.path] = row
            case .dropRow(let path): rows[path] = nil
            case .appendLog(let entry): log.append(entry)
            case .dropLog(let position): log.removeAll { $0.head.position <= position }
            case .putNode(let node): record = node
            case .putVersion(let version): versions[version.id] = version
            case .dropVersion(let id): versions[id] = nil
            case .relocate, .putIntent, .dropIntent, .putChunks, .putChangeSet, .dropChangeSets: break
            }
        }
    }

    func answer(_ query: StoreQuery) -> StoreAnswer {
        switch query {
        case .rows(let paths): .rows(SortedMap(paths.map { ($0, true) }).compactMap { rows[$0.key] })
        case .below(let directory, let after, let limit):
            .rows(page(limit) { $0.path.isBelow(directory) && $0.path > (after ?? .root) })
        case .unsettled(let cursor, true, let limit):
            .rows(page(limit) { $0.isUnsettled && $0.path > (cursor ?? .root) })
        case .unsettled(let cursor, false, _):
            .rows(page(.max) { row in row.isUnsettled && cursor.map { row.path < $0 } != false }.reversed())
        case .identities(let identities):
            .rows(page(.max) { row in row.disk.map { identities.contains($0.stat.identity) } ?? false })
        case .contents, .ignoreFiles, .conflictCopies, .guarded: .rows([])
        case .summary(let directory): .summary(summary(of: directory))
        case .chunkList: .chunkList(nil)
        case .chunkSources: .chunkSources([])
        case .log(let position, let limit): .log(Array(log.filter { $0.head.position > position }.prefix(limit)))
        case .latestLog(let limit): .log(Array(log.suffix(limit)))
        case .logRecord(let position): .logRecord(log.first { $0.head.position == position })
        case .intents: .intents([])
        case .changeSets: .changeSets([])
        case .versions(let path, let limit):
            .versions(Array(kept { path == nil || $0.path == path }.prefix(limit)))
        case .versionsBelow(let directory): .versions(kept { $0.path.isBelow(directory) })
        case .versionsKept(let since, let limit):
            .versions(Array(kept { $0.keptMilliseconds >= since }.prefix(limit)))
        case .prunable(let limit):
            .prunable(
                Array(kept(\.isPrunable).prefix(limit)),
                bytes: kept(\.isPrunable).map(\.entry.content.size).reduce(0, +))
        }
    }

    private func kept(_ isWanted: (KeptVersion) -> Bool) -> [KeptVersion] { versions.map(\.value).filter(isWanted) }

    private func page(_ limit: Int, _ isWanted: (Row) -> Bool) -> [Row] {
        Array(rows.map(\.value).filter(isWanted).prefix(limit))
    }

    private func summary(of directory: Path) -> SubtreeSummary {
        var summary = SubtreeSummary()
        for (path, row) in rows where path.isBelow(directory) { summary.count(row, below: directory) }
        return summary
    }
}

/// The log of the other node, of paths that exist nowhere: nothing has to be fetched or written.
struct PeerLog {
    private(set) var entries: [[UInt8]] = []
    private(set) var heads: [LogHead] = []

    /// `isSeen`: by somebody who knew the entry before.
    mutating func append(
        epoch number: UInt32, path: String, entry: Entry = .absent, aheadMilliseconds: Int64 = 0, isSeen: Bool = false
    ) {
        let previous = heads.last ?? .none
        let epoch = Epoch(number: number, nonce: 3)
        let isNext = previous.position.epoch == epoch
        let position = LogPosition(epoch: epoch, seq: isNext ? previous.position.seq + 1 : 1)
        let time = Driver.wallStart + Int64(heads.count) + aheadMilliseconds
        let origin = Origin(author: .own, position: position, time: HybridTime(wallMilliseconds: time))
        let seen = VersionVector(own: isSeen ? previous.position : .none, peer: .none)
        let revision = Revision(origin: origin, seen: seen, entry: entry, origins: Origins(all: origin))
        let record = LogCodec.record(
            .put(place(path), revision), at: position, time: origin.time, after: previous, node: Driver.peer)
        entries.append(LogCodec.encode(record))
        heads.append(record.head)
    }

    /// Leaves what is to be sent to who knows this much.
    mutating func dropEntries(through known: LogHead?) {
        guard let index = heads.firstIndex(where: { $0 == known }) else { return }
        entries.removeFirst(index + 1)
    }
}
