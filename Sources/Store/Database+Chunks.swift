/// Chunk lists, and where each chunk lies in the contents that have one.
///
/// A list may be stored some batches before the row that holds its content, or outlive a row that is about to come back
/// under another path; after `unheldBatchesMax` batches nobody waits for it any more. Lists are kept in pages, because
/// that of a very large file would be longer than SQLite lets one value be.
import SyncModel

extension Database {
    private static let unheldBatchesMax: Int64 = 64

    func put(_ list: ChunkList, of content: ContentID) throws(StoreError) {
        // Whoever stores a list again is about to need it.
        if pending.contents[content] == nil { pending.contents[content] = .unknown }
        for (page, chunks) in ChunkPages.pages(of: list, content: content).enumerated() {
            let isNew = try connection.run(
                .putChunkPage, .bytes(content.digest.bytes), .integer(Int64(page)), .bytes(chunks))
            guard isNew else { return }
        }
        // Where a content ends says nothing of where another is cut: the one chunk of a small one is hardly ever in a larger.
        guard list.chunks.count > 1 else { return }
        for place in Database.firstPlaces(in: list) {
            try connection.run(
                .putChunkPlace, .bytes(place.digest.beginning), .bytes(content.digest.beginning),
                .integer(Int64(bitPattern: place.start)), .integer(Int64(place.length)))
        }
    }

    func chunkList(of content: ContentID) throws(StoreError) -> ChunkList? {
        // Grown in place: that of a very large file must not be copied with each of its pages.
        var list = ChunkList()
        var isKnown = false
        try connection.each(.chunkPages, [.bytes(content.digest.bytes)]) { statement throws(StoreError) in
            let (page, sealed) = (Int(statement.integer(0)), statement.bytes(1))
            isKnown = true
            try decoded("a chunk list") { () throws(BlobError) in
                try ChunkPages.append(sealed, page: page, of: content, to: &list)
            }
            return true
        }
        return isKnown ? list : nil
    }

    func chunkSources(of digests: [Digest]) throws(StoreError) -> [ChunkSource] {
        // Neighbours mostly come from one file: who holds it is asked once.
        var holders: [ContentID.Beginning: Path?] = [:]
        var sources: [ChunkSource] = []
        for digest in digests {
            try connection.each(.chunkPlaces, [.bytes(digest.beginning)]) { statement throws(StoreError) in
                guard let content = ContentID.Beginning(statement.bytes(0)) else {
                    throw .damaged(StoreFault("read a chunk's place", "it is in no content"))
                }
                if holders[content] == nil {
                    holders[content] = .some(try holder(content.searchKey, where: content.isOf)?.path)
                }
                guard let path = holders[content] ?? nil else { return true }
                let start = UInt64(bitPattern: statement.integer(1))
                let length = UInt32(truncatingIfNeeded: statement.integer(2))
                sources.append(ChunkSource(digest: digest, path: path, offset: start, length: length))
                return false
            }
        }
        return sources
    }

    /// Contents that are at no path any more, and have a list, are counted from now on. Done at the end of a batch at
    /// the latest; doing it earlier as well changes nothing.
    func settleContents() throws(StoreError) {
        for (content, holding) in pending.contents {
            let key = Value.bytes(content.digest.bytes)
            let isHeld = holding == .held ? true : try holder(content.searchKey) { $0 == content } != nil
            if isHeld {
                try connection.run(.dropUnheld, key)
            } else if try hasChunkList(content) {
                try connection.run(.putUnheld, key, .integer(batches))
            }
        }
        pending.contents = [:]
    }

    func forgetChunks() throws(StoreError) {
        var forgotten: [[UInt8]] = []
        let last = Value.integer(batches - Database.unheldBatchesMax - 1)
        try connection.each(.unheldUpTo, [last]) { statement throws(StoreError) in
            forgotten.append(statement.bytes(0))
            return true
        }
        for key in forgotten {
            guard let digest = Digest(bytes: key) else {
                throw .damaged(StoreFault("forget a chunk list", "it is of no content"))
            }
            try forget(ContentID(digest))
        }
    }

    private func forget(_ content: ContentID) throws(StoreError) {
        if let list = try chunkList(of: content) {
            for place in Database.firstPlaces(in: list) {
                try connection.run(
                    .dropChunkPlace, .bytes(place.digest.beginning), .bytes(content.digest.beginning))
            }
        }
        recentLists.forget(content)
        try connection.run(.dropChunkPages, .bytes(content.digest.bytes))
        try connection.run(.dropUnheld, .bytes(content.digest.bytes))
    }

    private func hasChunkList(_ content: ContentID) throws(StoreError) -> Bool {
        try connection.first(.hasChunkList, .bytes(content.digest.bytes)) { _ in true } ?? false
    }

    private struct Place {
        let digest: Digest
        let start: UInt64
        let length: UInt32
    }

    /// In the order of the digests, so that writing many goes through the table once from its beginning to its end; a
    /// chunk that comes twice with its first place first, which is the one that stays. A hole is millions of equal chunks,
    /// one after the other: all but the first are left out at once.
    private static func firstPlaces(in list: ChunkList) -> [Place] {
        var start: UInt64 = 0
        var places: [Place] = []
        for chunk in list.chunks {
            if places.last?.digest != chunk.digest {
                places.append(Place(digest: chunk.digest, start: start, length: chunk.length))
            }
            start += UInt64(chunk.length)
        }
        return places.sorted { ($0.digest, $0.start) < ($1.digest, $1.start) }
    }
}

extension Digest {
    /// Half of it, which is as much as the table of places holds. Nothing can be lost by a false find: whoever copies a
    /// chunk compares its whole digest.
    fileprivate var beginning: [UInt8] { words.0.key + words.1.key }
}

extension ContentID {
    /// A content by the first half of its digest.
    fileprivate struct Beginning: Hashable {
        private let first: UInt64
        private let second: UInt64

        init?(_ key: [UInt8]) {
            var reader = ByteReader(key)
            guard let first = reader.uint64(), let second = reader.uint64(), reader.isAtEnd else { return nil }
            self.first = first
            self.second = second
        }

        var searchKey: Int64 { Int64(bitPattern: first) }

        func isOf(_ content: ContentID) -> Bool {
            content.digest.words.0 == first && content.digest.words.1 == second
        }
    }
}
