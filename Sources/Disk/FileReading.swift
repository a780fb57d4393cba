/// Cuts and hashes a file piece by piece, with OpenSSL and without reading its holes. The list is the one that
/// `ContentHasher` makes of the same bytes.
import Crypto
import SyncModel

/// The caller looks at the file before and after: in between it may change under our hands.
struct FileReading: ~Copyable {
    private let file: OpenFile
    private let parameters: ChunkerParameters
    /// Nil where no hole is looked for.
    private let zeros: ZeroChunk?

    private var list = ChunkList()
    private var chunker: Chunker
    /// Where in the file the chunker began to count.
    private var base: UInt64 = 0
    /// Of the current chunk.
    private var hasher = SHA256Stream()
    /// Bytes of the file so far.
    private var offset: UInt64 = 0
    private var buffer: [UInt8]

    init(_ file: OpenFile, mayHaveHoles: Bool, _ parameters: ChunkerParameters) {
        self.file = file
        self.parameters = parameters
        zeros = mayHaveHoles ? ZeroChunk(parameters) : nil
        chunker = Chunker(parameters)
        buffer = [UInt8](repeating: 0, count: Int(max(1, min(Folder.blockBytes, file.status.size))))
    }

    /// Reads on; false at the end of the file.
    mutating func advance() throws(Failure) -> Bool {
        if let zeros, try skipHole(zeros.chunk) { return true }
        let count = try file.descriptor.fill(&buffer, at: offset)
        if count == 0 { return false }
        if count < buffer.count { buffer.removeLast(buffer.count - count) }
        feed(buffer)
        return true
    }

    consuming func finish() -> ChunkList {
        if let end = chunker.finish() { close(at: base + UInt64(end)) }
        return list
    }

    private mutating func feed(_ bytes: [UInt8]) {
        let before = chunker.offset
        var start = 0
        for cut in chunker.consume(bytes) {
            hasher.update(bytes[start..<cut - before])
            close(at: base + UInt64(cut))
            start = cut - before
        }
        hasher.update(bytes[start...])
        offset += UInt64(bytes.count)
    }

    private mutating func close(at cut: UInt64) {
        var ended = SHA256Stream()
        swap(&hasher, &ended)
        list.append(Chunk(digest: Digest(sha256: ended.finish()), length: UInt32(cut - list.size)))
    }

    /// False if there is no hole here that is worth it.
    private mutating func skipHole(_ zeros: Chunk) throws(Failure) -> Bool {
        let size = file.status.size
        let end = min(size, try file.descriptor.nextData(from: offset) ?? size)
        guard end > offset, end - offset >= 2 * UInt64(parameters.maximum) else { return false }
        feedZerosToCut()
        let count = (end - offset) / UInt64(zeros.length)
        for _ in 0..<count { list.append(zeros) }
        offset += count * UInt64(zeros.length)
        chunker = Chunker(parameters)
        base = offset
        return true
    }

    /// Ends the current chunk in the hole, which is long enough for that.
    private mutating func feedZerosToCut() {
        if offset == list.size { return }
        let longest = [UInt8](repeating: 0, count: parameters.maximum)
        var trial = chunker
        guard let cut = trial.consume(longest).first else { return }
        feed(Array(longest[..<(cut - chunker.offset)]))
    }
}

/// What a long run of zero bytes is cut into: always the same chunk, so that a hole of a terabyte need not be read.
///
/// A fresh chunker that is fed zeros cuts them at some length and is then fresh again; wherever a chunk begins with at
/// least so many zeros, that cut is known without looking.
struct ZeroChunk {
    let chunk: Chunk

    init(_ parameters: ChunkerParameters) {
        var chunker = Chunker(parameters)
        let longest = [UInt8](repeating: 0, count: parameters.maximum)
        let length = chunker.consume(longest).first ?? parameters.maximum
        chunk = Chunk(digest: Digest(sha256: SHA256Stream.hash(Array(longest[..<length]))), length: UInt32(length))
    }
}

extension Digest {
    /// What OpenSSL says.
    init(sha256 bytes: [UInt8]) {
        guard let digest = Digest(bytes: bytes) else { preconditionFailure("SHA-256 gives 32 bytes") }
        self = digest
    }
}
