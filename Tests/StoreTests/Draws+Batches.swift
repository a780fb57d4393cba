/// What may be asked of a store, drawn by chance: batches of every operation, and every query.
import SyncModel

extension Draws {
    mutating func batch() -> StoreBatch {
        if random.chance(percent: 8) {
            return StoreBatch(ownMove() + (random.chance(percent: 50) ? [.putNode(node())] : []))
        }
        return StoreBatch((0..<random.range(0...6)).map { _ in operation() })
    }

    private mutating func operation() -> StoreOperation {
        switch random.below(20) {
        case 0...7: return .putRow(row())
        case 8: return .dropRow(path())
        case 9, 10: return relocation()
        case 11: return .appendLog(record())
        case 12: return .dropLog(through: position())
        case 13: return .putNode(node())
        case 14: return .putIntent(intent())
        case 15: return .dropIntent(stage())
        case 16: return .putVersion(keptVersion())
        case 17: return .dropVersion(VersionID(raw: UInt64(random.below(8))))
        default:
            let content = content()
            return .putChunks(content.id, content.list)
        }
    }

    /// Mostly a sound one; now and then one that leads into itself, which must not differ either.
    private mutating func relocation() -> StoreOperation {
        let (from, to) = (path(), path())
        let isSound = from != to && !from.isBelow(to) && !to.isBelow(from)
        return isSound || random.chance(percent: 10) ? .relocate(relocation(from: from, to: to)) : .dropRow(from)
    }

    /// A directory move as the core writes it down.
    mutating func ownMove() -> [StoreOperation] {
        let move = relocation(from: path(), to: path())
        let entry = LogRecord(
            head: LogHead(position: position(), chain: digest()), time: HybridTime(raw: number()),
            change: .relocate(move))
        return [.appendLog(entry), .relocate(move)]
    }

    /// One of each kind.
    mutating func queries() -> [StoreQuery] {
        let directory = random.chance(percent: 30) ? Path.root : path()
        let digests = content().list.chunks.map(\.digest) + [digest()]
        return [
            .rows((0..<random.below(6)).map { _ in path() }), .rows([path()]), .rows([.root]),
            .below(directory, after: maybe { $0.path() }, limit: limit()), .below(.root, after: nil, limit: .max),
            .unsettled(cursor: maybe { $0.path() }, ascending: true, limit: limit()),
            .unsettled(cursor: maybe { $0.path() }, ascending: false, limit: limit()),
            .identities((0..<random.below(4)).map { _ in identity() }),
            .contents((0..<random.below(4)).map { _ in content().id }), .ignoreFiles, .conflictCopies(limit: limit()),
            .guarded(after: maybe { $0.path() }, limit: limit()),
            .summary(.root), .summary(path()), .chunkList(content().id), .chunkSources(digests),
            .log(after: position(), limit: limit()), .log(after: .none, limit: .max), .latestLog(limit: limit()),
            .logRecord(position()),
            .intents,
            .versions(path(), limit: limit()), .versions(nil, limit: limit()), .versionsBelow(directory),
            .versionsKept(sinceMilliseconds: Int64(random.below(100)), limit: limit()), .prunable(limit: limit()),
        ]
    }

    private mutating func limit() -> Int { random.chance(percent: 20) ? .max : random.below(6) }
}
