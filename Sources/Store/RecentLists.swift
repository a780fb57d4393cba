/// Chunk lists that were asked for lately. A large file is served in many small portions, and decoding its whole list for
/// each would be most of the work. A list never changes: the content is named after it.
import SyncModel

struct RecentLists {
    /// The latest last.
    private var lists: [(content: ContentID, list: ChunkList)] = []

    /// Of all lists together; about five megabytes.
    private static let chunksMax = 131_072
    /// Small files are served once and then not again.
    private static let chunksMin = 16

    func list(of content: ContentID) -> ChunkList? { lists.last { $0.content == content }?.list }

    mutating func keep(_ list: ChunkList, of content: ContentID) {
        guard (RecentLists.chunksMin...RecentLists.chunksMax).contains(list.chunks.count) else { return }
        lists.append((content, list))
        while lists.reduce(0, { $0 + $1.list.chunks.count }) > RecentLists.chunksMax { lists.removeFirst() }
    }

    mutating func forget(_ content: ContentID) { lists.removeAll { $0.content == content } }
}

extension Database {
    func recentChunkList(of content: ContentID) throws(StoreError) -> ChunkList? {
        if let known = recentLists.list(of: content) { return known }
        let list = try chunkList(of: content)
        if let list { recentLists.keep(list, of: content) }
        return list
    }
}
