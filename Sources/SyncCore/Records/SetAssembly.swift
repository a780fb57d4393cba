import SyncModel

/// Change sets that come in pieces: one at a time, from its beginning to its end.
struct SetAssembly: Sendable {
    private var author = Author.own
    private var position = LogPosition.none
    private var total = 0
    private var bytes: [UInt8] = []

    /// `.some(nil)` until the set is whole; nil if the piece is not the next one.
    mutating func add(_ piece: SetPiece) -> StoredChangeSet?? {
        if piece.offset == 0 {
            (author, position, total) = (piece.author, piece.position, Int(piece.total))
            bytes = []
        }
        guard piece.author == author, piece.position == position, Int(piece.total) == total,
            Int(piece.offset) == bytes.count, !piece.bytes.isEmpty
        else { return nil }
        bytes += piece.bytes
        guard bytes.count == total else { return .some(nil) }
        defer { bytes = [] }
        return StoredChangeSet(author, position, bytes)
    }
}

extension SetPiece {
    private static let bytesMax = Limits.frameBytesMax / 2

    static func pieces(of set: StoredChangeSet) -> [SetPiece] {
        stride(from: 0, to: set.bytes.count, by: bytesMax).map { offset in
            let part = set.bytes[offset..<min(offset + bytesMax, set.bytes.count)]
            return SetPiece(
                author: set.author, position: set.position, total: UInt32(set.bytes.count), offset: UInt32(offset),
                bytes: Array(part))
        }
    }
}
