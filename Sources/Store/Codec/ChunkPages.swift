/// Chunk lists as they are stored. A page is a blob of version 1 whose key is the content and the number of the page:
/// 36 bytes a chunk, its digest and its length (4, big-endian), `Limits.chunksPerPageMax` chunks at most.
import SyncModel

enum ChunkPages {
    static let version: UInt8 = 1

    /// An empty content has one empty page: it has a list, and that is known.
    static func pages(of list: ChunkList, content: ContentID) -> [[UInt8]] {
        let count = max(1, (list.chunks.count + Limits.chunksPerPageMax - 1) / Limits.chunksPerPageMax)
        return (0..<count).map { page in
            let start = page * Limits.chunksPerPageMax
            let end = min(list.chunks.count, start + Limits.chunksPerPageMax)
            var writer = ByteWriter(capacity: (end - start) * chunkBytes)
            for chunk in list.chunks[start..<end] {
                writer.put(chunk.digest)
                writer.put(chunk.length)
            }
            return Blob.seal(writer.bytes, version: version, key: key(content, page))
        }
    }

    static func append(
        _ sealed: [UInt8], page: Int, of content: ContentID, to list: inout ChunkList
    ) throws(BlobError) {
        var reader = try Blob.open(sealed, version: version, key: key(content, page))
        // A page in the middle that is missing would shift all that follows.
        guard list.chunks.count == page * Limits.chunksPerPageMax else { throw .damaged }
        while !reader.isAtEnd {
            let digest = try reader.digest()
            list.append(Chunk(digest: digest, length: UInt32(truncatingIfNeeded: try reader.fixed(width: 4))))
        }
    }

    private static func key(_ content: ContentID, _ page: Int) -> [UInt8] {
        content.digest.bytes + UInt64(page).key
    }

    private static let chunkBytes = 36
}
