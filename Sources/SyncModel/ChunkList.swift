/// What a file's content is made of, and the one name it has on both nodes. Where the cuts fall is in `Chunker`.
///
/// Content id: SHA-256 of the following bytes, numbers big-endian.
/// ```
/// 15 bytes  "syncd content 1"
///  8 bytes  size of the content
///  8 bytes  number of chunks
/// 36 bytes  per chunk: SHA-256 of its bytes (32), its length (4)
/// ```
/// The prefix keeps it apart from the plain SHA-256 of the same bytes and from every other hash of ours; its number
/// changes whenever the cuts do.

public struct Chunk: Hashable, Sendable {
    /// Plain SHA-256 of the chunk's bytes.
    public let digest: Digest
    public let length: UInt32

    public init(digest: Digest, length: UInt32) {
        self.digest = digest
        self.length = length
    }
}

public struct ChunkList: Hashable, Sendable {
    public private(set) var chunks: [Chunk] = []
    /// Bytes of all chunks together.
    public private(set) var size: UInt64 = 0

    public init() {}

    public init(_ chunks: [Chunk]) {
        for chunk in chunks { append(chunk) }
    }

    public mutating func append(_ chunk: Chunk) {
        chunks.append(chunk)
        size += UInt64(chunk.length)
    }

    public var contentID: Digest {
        var hasher = SHA256()
        hasher.update(ChunkList.domain)
        hasher.update(bigEndian: size)
        hasher.update(bigEndian: UInt64(chunks.count))
        for chunk in chunks {
            hasher.update(chunk.digest)
            hasher.update(bigEndian: chunk.length)
        }
        return hasher.finish()
    }

    /// The same, by a faster function where the bytes are few enough to be written down for it.
    public func contentID(by digest: SHA256.Function) -> Digest {
        guard chunks.count <= ChunkList.writtenChunksMax else { return contentID }
        var writer = ByteWriter(capacity: 31 + chunks.count * 36)
        writer.putRaw(ChunkList.domain)
        writer.put(size)
        writer.put(UInt64(chunks.count))
        for chunk in chunks {
            writer.put(chunk.digest)
            writer.put(chunk.length)
        }
        return digest(writer.bytes)
    }

    private static let writtenChunksMax = 1 << 16
    private static let domain = Array("syncd content 1".utf8)
}

/// Cuts and hashes a content fed piece by piece, in plain Swift. The daemon's disk workers do the same with `Chunker`
/// and OpenSSL; the chunk list is equal.
public struct ContentHasher: Sendable {
    private var chunker: Chunker
    private var hasher = SHA256()
    private var list = ChunkList()

    public init(_ parameters: ChunkerParameters = .standard) {
        chunker = Chunker(parameters)
    }

    /// The chunk list of a whole content at hand.
    public static func chunks(of bytes: [UInt8], _ parameters: ChunkerParameters = .standard) -> ChunkList {
        var hasher = ContentHasher(parameters)
        hasher.update(bytes)
        return hasher.finish()
    }

    public mutating func update(_ bytes: [UInt8]) {
        let before = chunker.offset
        var start = 0
        for cut in chunker.consume(bytes) {
            hasher.update(bytes[start..<cut - before])
            close(at: cut)
            start = cut - before
        }
        hasher.update(bytes[start...])
    }

    public consuming func finish() -> ChunkList {
        if let end = chunker.finish() { close(at: end) }
        return list
    }

    private mutating func close(at cut: Int) {
        list.append(Chunk(digest: hasher.finish(), length: UInt32(UInt64(cut) - list.size)))
        hasher = SHA256()
    }
}
