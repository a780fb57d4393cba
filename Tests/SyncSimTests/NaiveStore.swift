import SyncModel

/// The store's contract in its plainest form: lists, and a walk over all of them for every question.
/// `VirtualStore` must give the same answers.
struct NaiveStore {
    private(set) var rows: [Row] = []
    private(set) var log: [LogRecord] = []
    private(set) var intents: [Intent] = []
    private(set) var versions: [KeptVersion] = []
    private(set) var node: NodeRecord
    private(set) var chunkLists: [Chunks] = []

    struct Chunks {
        let content: ContentID
        let list: ChunkList
        /// Batches since a row last held the content, or the list was stored.
        var idle = 0
        /// Nobody held the content for so long that a store may have forgotten the list, until it is stored anew.
        var mayBeForgotten = false
    }

    private var changeSets: [StoredChangeSet] = []

    init(node: NodeRecord) {
        self.node = node
    }

    mutating func perform(_ batch: StoreBatch) {
        for operation in batch.operations {
            switch operation {
            case .putRow(let row): put(row)
            case .dropRow(let path): rows.removeAll { $0.path == path }
            case .relocate(let relocation):
                let before = rows
                for row in before where row.path == relocation.from || row.path.isBelow(relocation.from) {
                    guard let target = row.path.rebased(from: relocation.from, to: relocation.to) else { continue }
                    let replaced = before.first { $0.path == target }
                    guard let (old, new) = relocation.applied(to: row, replacing: replaced) else { continue }
                    put(old)
                    put(new)
                }
            case .putChangeSet(let set):
                changeSets.removeAll { $0.author == set.author && $0.position == set.position }
                changeSets.append(set)
            case .dropChangeSets(let author, let through):
                changeSets.removeAll { $0.author == author && $0.position <= through }
            case .appendLog(let record):
                log.removeAll { $0.head.position == record.head.position }
                log.append(record)
            case .dropLog(let through): log.removeAll { $0.head.position <= through }
            case .putNode(let record): node = record
            case .putIntent(let intent):
                intents.removeAll { $0.stage == intent.stage }
                intents.append(intent)
            case .dropIntent(let stage): intents.removeAll { $0.stage == stage }
            case .putVersion(let version):
                versions.removeAll { $0.id == version.id }
                versions.append(version)
            case .dropVersion(let id): versions.removeAll { $0.id == id }
            case .putChunks(let content, let list):
                chunkLists.removeAll { $0.content == content }
                chunkLists.append(Chunks(content: content, list: list))
            }
        }
        for index in chunkLists.indices {
            chunkLists[index].idle = isHeld(chunkLists[index].content) ? 0 : chunkLists[index].idle + 1
            if chunkLists[index].idle > 60 { chunkLists[index].mayBeForgotten = true }
        }
    }

    private mutating func put(_ row: Row) {
        rows.removeAll { $0.path == row.path }
        rows.append(row)
    }

    func isHeld(_ content: ContentID) -> Bool { rows.contains { holds($0, content) } }

    func holds(_ row: Row, _ content: ContentID, _ condition: Row.Condition = .normal) -> Bool {
        guard row.condition == condition, case .file(content, _) = row.disk?.entry.content else { return false }
        return true
    }

    private func sorted(_ isWanted: (Row) -> Bool) -> [Row] {
        rows.filter(isWanted).sorted { $0.path < $1.path }
    }

    /// Nil for the questions about chunks, whose answers are checked by what they must and may hold.
    func answer(_ query: StoreQuery) -> StoreAnswer? {
        switch query {
        case .rows(let paths): return .rows(sorted { paths.contains($0.path) })
        case .below(let directory, let after, let limit):
            let below = sorted { row in row.path.isBelow(directory) && after.map { $0 < row.path } ?? true }
            return .rows(Array(below.prefix(limit)))
        case .unsettled(let cursor, true, let limit):
            return .rows(Array(sorted { row in row.isUnsettled && cursor.map { $0 < row.path } ?? true }.prefix(limit)))
        case .unsettled(let cursor, false, let limit):
            let before = sorted { row in row.isUnsettled && cursor.map { row.path < $0 } ?? true }
            return .rows(Array(before.reversed().prefix(limit)))
        case .identities(let wanted):
            return .rows(sorted { row in row.disk.map { wanted.contains($0.stat.identity) } ?? false })
        case .contents(let wanted):
            let firsts = wanted.compactMap { content in
                (sorted { holds($0, content) }.first ?? sorted { holds($0, content, .ignored) }.first)?.path
            }
            return .rows(sorted { firsts.contains($0.path) })
        case .ignoreFiles: return .rows(sorted { $0.disk != nil && $0.path.name == Name(".syncignore") })
        case .conflictCopies(let limit):
            return .rows(Array(sorted { $0.disk != nil && ConflictName.isConflictCopy($0.path) }.prefix(limit)))
        case .guarded(let after, let limit):
            let marked = sorted { row in row.format != nil && after.map { row.path > $0 } ?? true }
            return .rows(Array(marked.prefix(limit)))
        case .summary(let directory):
            var summary = SubtreeSummary()
            for row in sorted({ $0.path == directory || $0.path.isBelow(directory) }) {
                summary.count(row, below: directory)
            }
            return .summary(summary)
        case .chunkList, .chunkSources: return nil
        case .changeSets(let author, let after, let limit):
            let authors: [Author] = author.map { [$0] } ?? [.own, .peer]
            let found = authors.flatMap { author in
                changeSets.filter { $0.author == author && after < $0.position }
                    .sorted { $0.position < $1.position }.prefix(limit)
            }
            return .changeSets(found)
        case .log(let after, let limit):
            let later = log.filter { $0.head.position > after }.sorted { $0.head.position < $1.head.position }
            return .log(Array(later.prefix(limit)))
        case .latestLog(let limit):
            return .log(Array(log.sorted { $0.head.position < $1.head.position }.suffix(limit)))
        case .logRecord(let position): return .logRecord(log.first { $0.head.position == position })
        case .intents: return .intents(intents.sorted { $0.stage < $1.stage })
        case .versions(.some(let path), let limit):
            return .versions(Array(versions.filter { $0.path == path }.sorted { $1.id < $0.id }.prefix(limit)))
        case .versions(nil, let limit): return .versions(Array(versions.sorted { $0.id < $1.id }.prefix(limit)))
        case .versionsBelow(let directory):
            return .versions(versions.filter { $0.path.isBelow(directory) }.sorted { $1.id < $0.id })
        case .versionsKept(let since, let limit):
            let young = versions.filter { $0.keptMilliseconds >= since }
            return .versions(Array(young.sorted { $1.id < $0.id }.prefix(limit)))
        case .prunable(let limit):
            let outside = versions.filter(\.isPrunable).sorted { $0.id < $1.id }
            return .prunable(Array(outside.prefix(limit)), bytes: outside.map(\.entry.content.size).reduce(0, +))
        }
    }
}
