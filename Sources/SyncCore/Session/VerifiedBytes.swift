/// Bytes of the other node that hash to what was asked for. What came over the wire is `ChunkData` or `SmallContent`, and neither can be
/// written to the stage: the way there leads through here.
import SyncModel

struct VerifiedBytes: Hashable, Sendable {
    let bytes: [UInt8]
    let chunk: Chunk

    private init(_ bytes: [UInt8], _ chunk: Chunk) {
        self.bytes = bytes
        self.chunk = chunk
    }

    /// Nil if they are other bytes than the chunk's.
    init?(_ bytes: [UInt8], as chunk: Chunk, by digest: SHA256.Function) {
        guard bytes.count == Int(chunk.length), digest(bytes) == chunk.digest else { return nil }
        self.init(bytes, chunk)
    }

    /// A whole content of one chunk; nil if it is another content.
    init?(_ small: SmallContent, size: UInt64, by digest: SHA256.Function) {
        let chunk = Chunk(digest: digest(small.bytes), length: UInt32(small.bytes.count))
        guard ChunkList([chunk]).contentID(by: digest) == small.id.digest, UInt64(small.bytes.count) == size else {
            return nil
        }
        self.init(small.bytes, chunk)
    }
}
