public import SyncModel

/// A chunk list, told by what differs from that of another content: of a large file that was changed a little the list would
/// be more than the change.
public struct ChangedList: Hashable, Sendable {
    public enum Part: Hashable, Sendable {
        /// So many chunks of the known list, from there on.
        case known(first: UInt32, count: UInt32)
        case other(Chunk)
    }

    public var content: ContentID
    public var base: ContentID
    public var parts: [Part]

    public init(content: ContentID, base: ContentID, parts: [Part]) {
        self.content = content
        self.base = base
        self.parts = parts
    }

    /// Looking for the chunks of longer lists would hold up everything else.
    static let chunksMax = 1 << 17

    /// Nil if the two have too little in common for that to be worth it.
    init?(of content: ContentID, _ list: ChunkList, since base: ContentID, _ known: ChunkList) {
        guard max(list.chunks.count, known.chunks.count) <= ChangedList.chunksMax else { return nil }
        let places = SortedMap(known.chunks.enumerated().reversed().map { ($1.digest, UInt32($0)) })
        self.init(content: content, base: base, parts: [])
        for chunk in list.chunks { add(chunk, in: known.chunks, places) }
        guard parts.count <= min(Limits.chunksPerPageMax, list.chunks.count / 2) else { return nil }
    }

    private mutating func add(_ chunk: Chunk, in known: [Chunk], _ places: SortedMap<Digest, UInt32>) {
        if case .known(let first, let count)? = parts.last {
            let next = Int(first) + Int(count)
            if next < known.count, known[next] == chunk {
                parts[parts.count - 1] = .known(first: first, count: count + 1)
                return
            }
        }
        if let place = places[chunk.digest], known[Int(place)] == chunk {
            parts.append(.known(first: place, count: 1))
        } else {
            parts.append(.other(chunk))
        }
    }

    /// The whole list; nil if it is not made of the known one, or longer than it may be.
    func applied(to known: ChunkList, countMax: UInt64) -> [Chunk]? {
        var chunks: [Chunk] = []
        for part in parts {
            switch part {
            case .other(let chunk):
                chunks.append(chunk)
            case .known(let first, let count):
                guard UInt64(first) + UInt64(count) <= UInt64(known.chunks.count),
                    UInt64(chunks.count) + UInt64(count) <= countMax
                else { return nil }
                chunks += known.chunks[Int(first)..<Int(first + count)]
            }
        }
        return UInt64(chunks.count) <= countMax ? chunks : nil
    }
}
