package import SyncModel

/// The simulated store: every operation and query of `SyncModel/Store.swift`, in memory, with the indexes that the real
/// one keeps in SQLite. A value: a copy is an image of the state directory and costs nothing until one side changes. The judges are
/// shown one with each batch and each operation of a disk, so that what is in it lies in a box.
package struct VirtualStore: Sendable {
    /// An array of one element: a box with the semantics of a value.
    private var state: ContiguousArray<StoreState>

    package init(node: NodeRecord) { state = [StoreState(node: node)] }

    package var node: NodeRecord { state[0].node }
    package var rows: SortedMap<Path, Row> { state[0].rows }
    package var log: SortedMap<LogPosition, LogRecord> { state[0].log }
    package var intents: SortedMap<StageName, Intent> { state[0].intents }
    package var versions: SortedMap<VersionID, KeptVersion> { state[0].versions }
    package var batches: Int { state[0].batches }
    /// The boot in which a process used it last; 0 before the first. An image that is put back tells of the boot it was made in.
    package var boot: Int { state[0].boot }
    /// No process has used it yet.
    package var isFresh: Bool { state[0].isFresh }

    package mutating func perform(_ batch: StoreBatch) { state[0].perform(batch) }
    package func answer(_ query: StoreQuery) -> StoreAnswer { state[0].answer(query) }

    /// What the shell writes by itself at a start. True after a power cut.
    package mutating func noteBoot(_ current: Int, _ limits: Limits, at now: Moment) -> Bool {
        state[0].noteBoot(current, limits, at: now)
    }

    /// As the shell does when the node is to have another partner: what two logs have told goes, kept versions and intents stay.
    package mutating func forgetPeer() { state[0].forgetPeer() }
}

/// What is in a store.
private struct StoreState: Sendable {
    private(set) var node: NodeRecord
    private(set) var rows: SortedMap<Path, Row> = [:]
    private(set) var log: SortedMap<LogPosition, LogRecord> = [:]
    private(set) var intents: SortedMap<StageName, Intent> = [:]
    private(set) var versions: SortedMap<VersionID, KeptVersion> = [:]
    private var changeSets: SortedMap<SetKey, StoredChangeSet> = [:]
    private(set) var batches = 0
    private(set) var boot = 0

    // Indexes over `rows`.
    private var unsettled: SortedMap<Path, Void> = [:]
    private var ignoreFiles: SortedMap<Path, Void> = [:]
    private var conflictCopies: SortedMap<Path, Void> = [:]
    private var guarded: SortedMap<Path, Void> = [:]
    private var identities: SortedMap<IdentityKey, Void> = [:]
    private var contents: SortedMap<ContentKey, Void> = [:]
    private var leftOut: SortedMap<ContentKey, Void> = [:]

    // Chunk lists, and where each chunk lies in the contents that have one.
    private var chunkLists: SortedMap<ContentID, ChunkList> = [:]
    private var chunkPlaces: SortedMap<ChunkKey, UInt64> = [:]
    /// Contents with a chunk list and no row, by the batch since which that is so: oldest first.
    private var unheld: SortedMap<UnheldKey, Void> = [:]
    private var unheldSince: SortedMap<ContentID, Int> = [:]

    /// A chunk list may be stored some batches before the row that holds its content, or outlive a row that is about to
    /// come back under another path. After so many batches nobody waits for it any more.
    private static let unheldBatchesMax = 64

    init(node: NodeRecord) {
        self.node = node
    }

    mutating func perform(_ batch: StoreBatch) {
        batches += 1
        for operation in batch.operations { perform(operation) }
        pruneChunks()
    }

    mutating func noteBoot(_ current: Int, _ limits: Limits, at now: Moment) -> Bool {
        let wasLost = !isFresh && boot != current
        // It has that on record before it takes note of the boot.
        if wasLost { node.distrust(limits, at: now) }
        boot = current
        return wasLost
    }

    var isFresh: Bool { boot == 0 }

    mutating func forgetPeer() {
        var after = StoreState(node: node)
        after.node.forgetPeer()
        (after.intents, after.versions, after.batches, after.boot) = (intents, versions, batches + 1, boot)
        self = after
    }

    private mutating func perform(_ operation: StoreOperation) {
        switch operation {
        case .putRow(let row): put(row)
        case .dropRow(let path): drop(path)
        case .relocate(let relocation): relocate(relocation)
        case .appendLog(let record): log[record.head.position] = record
        case .dropLog(let through): dropLog(through)
        case .putNode(let record): node = record
        case .putIntent(let intent): intents[intent.stage] = intent
        case .dropIntent(let stage): intents[stage] = nil
        case .putVersion(let version): versions[version.id] = version
        case .dropVersion(let id): versions[id] = nil
        case .putChunks(let content, let list): putChunks(list, of: content)
        case .putChangeSet(let set): changeSets[SetKey(author: set.author, position: set.position)] = set
        case .dropChangeSets(let author, let through):
            changeSets.removeAll { key, _ in key.author == author && key.position <= through }
        }
    }

    func answer(_ query: StoreQuery) -> StoreAnswer {
        switch query {
        case .rows(let paths): .rows(rows(at: paths))
        case .below(let directory, let after, let limit): .rows(rows(below: directory, after: after, limit: limit))
        case .unsettled(let cursor, let ascending, let limit):
            .rows(unsettledRows(cursor: cursor, ascending: ascending, limit: limit))
        case .identities(let identities): .rows(rows(with: identities))
        case .contents(let contents): .rows(rows(holding: contents))
        case .ignoreFiles: .rows(ignoreFiles.keys.compactMap { rows[$0] })
        case .conflictCopies(let limit): .rows(conflictCopies.keys.prefix(limit).compactMap { rows[$0] })
        case .guarded(let after, let limit): .rows(rows(guardedAfter: after, limit: limit))
        case .summary(let directory): .summary(summary(of: directory))
        case .chunkList(let content): .chunkList(chunkLists[content])
        case .chunkSources(let digests): .chunkSources(digests.compactMap(source))
        case .log(let after, let limit): .log(records(after: after, limit: limit))
        case .latestLog(let limit): .log(log.map(\.value).suffix(limit))
        case .logRecord(let position): .logRecord(log[position])
        case .intents: .intents(Array(intents.values))
        case .versions(let path, let limit): .versions(keptVersions(of: path, limit: limit))
        case .versionsBelow(let directory): .versions(versions.values.filter { $0.path.isBelow(directory) }.reversed())
        case .versionsKept(let since, let limit):
            .versions(versions.values.filter { $0.keptMilliseconds >= since }.suffix(limit).reversed())
        case .prunable(let limit): prunable(limit)
        case .changeSets(let author, let after, let limit):
            .changeSets(sets(by: author.map { [$0] } ?? [.own, .peer], after: after, limit: limit))
        }
    }
}

// MARK: Changes

extension StoreState {
    private mutating func put(_ row: Row) {
        let replaced = rows.updateValue(row, forKey: row.path)
        index(row, replacing: replaced)
    }

    private mutating func drop(_ path: Path) {
        guard let dropped = rows.removeValue(forKey: path) else { return }
        index(nil, replacing: dropped)
    }

    /// Both halves of every row are computed from the rows as they were, whatever the order in which they are put.
    private mutating func relocate(_ relocation: Relocation) {
        var changed: [Row] = []
        for (path, row) in rows.range(from: relocation.from) {
            guard path == relocation.from || path.isBelow(relocation.from) else { break }
            guard let target = path.rebased(from: relocation.from, to: relocation.to),
                let (old, new) = relocation.applied(to: row, replacing: rows[target])
            else { continue }
            changed.append(old)
            changed.append(new)
        }
        for row in changed { put(row) }
    }

    private mutating func dropLog(_ through: LogPosition) {
        while let first = log.first, first.key <= through { log[first.key] = nil }
    }

    private mutating func index(_ row: Row?, replacing old: Row?) {
        guard let path = row?.path ?? old?.path else { return }
        let isUnsettled = row?.isUnsettled ?? false
        if isUnsettled != (old?.isUnsettled ?? false) { unsettled[path] = isUnsettled ? () : nil }
        if (old?.disk == nil) != (row?.disk == nil), let name = path.name {
            let isLive: Void? = row?.disk == nil ? nil : ()
            if name.bytes == IgnoreRules.fileName { ignoreFiles[path] = isLive }
            if ConflictName.isConflictCopy(path) { conflictCopies[path] = isLive }
        }

        if (old?.format == nil) != (row?.format == nil) { guarded[path] = row?.format == nil ? nil : () }

        let (before, after) = (old?.disk, row?.disk)
        if before?.stat.identity != after?.stat.identity {
            if let before { identities[IdentityKey(identity: before.stat.identity, path: path)] = nil }
            if let after { identities[IdentityKey(identity: after.stat.identity, path: path)] = () }
        }
        if let content = old?.leftOutContent { leftOut[ContentKey(content: content, path: path)] = nil }
        if let content = row?.leftOutContent { leftOut[ContentKey(content: content, path: path)] = () }
        let (left, held) = (old?.heldContent, row?.heldContent)
        guard left != held else { return }
        if let held {
            contents[ContentKey(content: held, path: path)] = ()
            noteHeld(held)
        }
        if let left {
            contents[ContentKey(content: left, path: path)] = nil
            noteUnheld(left)
        }
    }
}

// MARK: Chunk lists

extension StoreState {
    private mutating func putChunks(_ list: ChunkList, of content: ContentID) {
        // Whoever stores a list again is about to need it.
        noteHeld(content)
        defer { noteUnheld(content) }
        guard chunkLists.updateValue(list, forKey: content) == nil, list.chunks.count > 1 else { return }
        var offset: UInt64 = 0
        for chunk in list.chunks {
            let key = ChunkKey(digest: chunk.digest, content: content)
            // The first place is as good as any other.
            if !chunkPlaces.contains(key: key) { chunkPlaces[key] = offset }
            offset += UInt64(chunk.length)
        }
    }

    private mutating func noteHeld(_ content: ContentID) {
        guard let since = unheldSince.removeValue(forKey: content) else { return }
        unheld[UnheldKey(batch: since, content: content)] = nil
    }

    private mutating func noteUnheld(_ content: ContentID) {
        guard chunkLists.contains(key: content), !isHeld(content), !unheldSince.contains(key: content) else { return }
        unheldSince[content] = batches
        unheld[UnheldKey(batch: batches, content: content)] = ()
    }

    private mutating func pruneChunks() {
        while let (key, _) = unheld.first, key.batch + StoreState.unheldBatchesMax < batches {
            unheld[key] = nil
            unheldSince[key.content] = nil
            guard let list = chunkLists.removeValue(forKey: key.content) else { continue }
            for chunk in list.chunks { chunkPlaces[ChunkKey(digest: chunk.digest, content: key.content)] = nil }
        }
    }

    private func isHeld(_ content: ContentID) -> Bool { holder(of: content) != nil }

    /// The first path, in path order, whose disk holds the content.
    private func holder(of content: ContentID) -> Path? {
        StoreState.first(of: content, in: contents)
    }

    private static func first(of content: ContentID, in paths: SortedMap<ContentKey, Void>) -> Path? {
        guard let (key, _) = paths.first(from: ContentKey(content: content, path: .root)), key.content == content
        else { return nil }
        return key.path
    }

    private func source(of digest: Digest) -> ChunkSource? {
        for (key, offset) in chunkPlaces.range(from: ChunkKey(digest: digest, content: ContentID(.zero))) {
            guard key.digest == digest else { return nil }
            guard let path = holder(of: key.content), let list = chunkLists[key.content],
                let chunk = list.chunks.first(where: { $0.digest == digest })
            else { continue }
            return ChunkSource(digest: digest, path: path, offset: offset, length: chunk.length)
        }
        return nil
    }
}

// MARK: Queries

extension StoreState {
    private func rows(at paths: [Path]) -> [Row] {
        if paths.count == 1 { return paths.compactMap { rows[$0] } }
        var found: [Row] = []
        var last: Path?
        for path in paths.sorted() where path != last {
            last = path
            if let row = rows[path] { found.append(row) }
        }
        return found
    }

    private func rows(below directory: Path, after: Path?, limit: Int) -> [Row] {
        var found: [Row] = []
        let start = after.map { max($0, directory) } ?? directory
        for (path, row) in rows.range(from: start) {
            guard found.count < limit, path == directory || path.isBelow(directory) else { break }
            if path != directory && path != after { found.append(row) }
        }
        return found
    }

    private func unsettledRows(cursor: Path?, ascending: Bool, limit: Int) -> [Row] {
        var found: [Row] = []
        if ascending {
            for (path, _) in unsettled.range(from: cursor ?? .root) {
                guard found.count < limit else { break }
                if path != cursor, let row = rows[path] { found.append(row) }
            }
            return found
        }
        var next = cursor.map { unsettled.last(before: $0) } ?? unsettled.last
        while found.count < limit, let entry = next {
            if let row = rows[entry.key] { found.append(row) }
            next = unsettled.last(before: entry.key)
        }
        return found
    }

    private func rows(with wanted: [FileIdentity]) -> [Row] {
        var paths: [Path] = []
        for identity in wanted {
            for (key, _) in identities.range(from: IdentityKey(identity: identity, path: .root)) {
                guard key.identity == identity else { break }
                paths.append(key.path)
            }
        }
        return rows(at: paths)
    }

    private func rows(guardedAfter path: Path?, limit: Int) -> [Row] {
        let later = path.map { guarded.range(from: $0).map(\.key).filter { $0 != path } } ?? Array(guarded.keys)
        return later.prefix(limit).compactMap { rows[$0] }
    }

    private func rows(holding wanted: [ContentID]) -> [Row] {
        rows(at: wanted.compactMap { holder(of: $0) ?? StoreState.first(of: $0, in: leftOut) })
    }

    private func summary(of directory: Path) -> SubtreeSummary {
        var summary = SubtreeSummary()
        for (path, row) in rows.range(from: directory) {
            guard path == directory || path.isBelow(directory) else { break }
            summary.count(row, below: directory)
        }
        return summary
    }

    private func records(after position: LogPosition, limit: Int) -> [LogRecord] {
        var found: [LogRecord] = []
        for (key, record) in log.range(from: position) {
            guard found.count < limit else { break }
            if key != position { found.append(record) }
        }
        return found
    }

    private func sets(by authors: [Author], after position: LogPosition, limit: Int) -> [StoredChangeSet] {
        authors.flatMap { author in
            changeSets.range(from: SetKey(author: author, position: position)).lazy.map(\.value)
                .filter { $0.author == author && $0.position > position }.prefix(limit)
        }
    }

    private func prunable(_ limit: Int) -> StoreAnswer {
        let outside = versions.values.filter(\.isPrunable)
        let bytes = outside.reduce(UInt128(0)) { $0 + UInt128($1.entry.content.size) }
        return .prunable(Array(outside.prefix(limit)), bytes: UInt64(clamping: bytes))
    }

    /// Ids are given in the order of keeping, whatever the wall clock did meanwhile.
    private func keptVersions(of path: Path?, limit: Int) -> [KeptVersion] {
        guard let path else { return Array(versions.values.prefix(limit)) }
        return Array(versions.values.reversed().lazy.filter { $0.path == path }.prefix(limit))
    }
}

// MARK: Keys

extension StoreState {
    private struct IdentityKey: Comparable {
        let identity: FileIdentity
        let path: Path

        static func < (left: IdentityKey, right: IdentityKey) -> Bool {
            left.identity == right.identity ? left.path < right.path : left.identity < right.identity
        }
    }

    private struct ContentKey: Comparable {
        let content: ContentID
        let path: Path

        static func < (left: ContentKey, right: ContentKey) -> Bool {
            left.content == right.content ? left.path < right.path : left.content < right.content
        }
    }

    private struct ChunkKey: Comparable {
        let digest: Digest
        let content: ContentID

        static func < (left: ChunkKey, right: ChunkKey) -> Bool {
            left.digest == right.digest ? left.content < right.content : left.digest < right.digest
        }
    }

    private struct SetKey: Comparable {
        let author: Author
        let position: LogPosition

        static func < (left: SetKey, right: SetKey) -> Bool {
            left.author == right.author
                ? left.position < right.position : left.author.rawValue < right.author.rawValue
        }
    }

    private struct UnheldKey: Comparable {
        let batch: Int
        let content: ContentID

        static func < (left: UnheldKey, right: UnheldKey) -> Bool {
            left.batch == right.batch ? left.content < right.content : left.batch < right.batch
        }
    }
}

extension Row {
    /// The content that can be read at this path; what is missing, damaged or ignored is not looked after any more.
    fileprivate var heldContent: ContentID? { condition == .normal ? shownContent : nil }

    /// What stands there, and the rules leave out.
    fileprivate var leftOutContent: ContentID? { condition == .ignored ? shownContent : nil }

    private var shownContent: ContentID? {
        if case .file(let id, _) = disk?.entry.content { id } else { nil }
    }
}
