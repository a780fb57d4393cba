import SyncModel
import Testing

/// The frozen values were computed by a separate program written from the specification in `Chunker.swift` and
/// `ChunkList.swift`. They are a format: never edit them.
struct ChunkerTests {
    private func cuts(_ bytes: [UInt8], _ parameters: ChunkerParameters = .standard) -> [Int] {
        var chunker = Chunker(parameters)
        let cuts = chunker.consume(bytes)
        return cuts + [chunker.finish()].compactMap { $0 }
    }

    @Test("the cuts of a seeded mebibyte are frozen, and so is its name") func frozen() {
        let bytes = SeededRandom.bytes(1 << 20, seed: 2024)
        #expect(
            cuts(bytes) == [
                152_348, 241_584, 313_856, 371_644, 395_976, 413_637, 512_253, 584_420, 639_351, 665_925, 879_905,
                945_011, 964_346, 1_034_139, 1_048_576,
            ])
        #expect(
            ContentHasher.chunks(of: bytes).contentID.hex()
                == "065db1679d1b9ffbf9c34636e17d99cb6469ef34f91406d4ef5bc7e06138c31e")
    }

    @Test("the small chunks of the simulator are frozen too") func frozenSmall() {
        let bytes = SeededRandom.bytes(1000, seed: 2025)
        let small = ChunkerParameters(average: 64)
        #expect(
            cuts(bytes, small) == [
                60, 152, 255, 325, 386, 410, 504, 569, 634, 686, 763, 782, 835, 879, 931, 952, 1000,
            ])
        #expect(
            ContentHasher.chunks(of: bytes, small).contentID.hex()
                == "f5bf9c6bf1db9d2e162e456095a5fd3178559d1c3f61375e0255dc790962ba3d")
    }

    @Test("empty and tiny contents have names too") func tiny() {
        let empty = ContentHasher.chunks(of: [])
        #expect(empty.chunks.isEmpty && empty.size == 0)
        #expect(empty.contentID.hex() == "e80ae9907c6e081cbaa16dae8d0c808619539403dff14d07e44d84b078d624ec")
        let abc = ContentHasher.chunks(of: Array("abc".utf8))
        #expect(abc.chunks == [Chunk(digest: SHA256.digest(of: Array("abc".utf8)), length: 3)])
        #expect(abc.contentID.hex() == "51c97640a3639751d9c253e92f5231679c75d3777bc0275d22788e1464d71e4f")
    }

    @Test("the pieces in which a content is fed make no difference", arguments: [16, 64, 1000, 4096])
    func pieces(average: Int) {
        var random = SeededRandom(seed: UInt64(average))
        let parameters = ChunkerParameters(average: average)
        let bytes = random.bytes(average * 40)
        let whole = ContentHasher.chunks(of: bytes, parameters)
        for pieceMax in [1, 7, average, average * 6] {
            var chunker = Chunker(parameters)
            var hasher = ContentHasher(parameters)
            var found: [Int] = []
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + random.range(0...pieceMax))
                let piece = Array(bytes[start..<end])
                found += chunker.consume(piece)
                hasher.update(piece)
                start = end
            }
            if let last = chunker.finish() { found.append(last) }
            #expect(found == cuts(bytes, parameters))
            #expect(hasher.finish() == whole)
        }
    }

    @Test("chunks keep their bounds and their mean, and are hashed one by one") func bounds() {
        let parameters = ChunkerParameters(average: 256)
        let bytes = SeededRandom.bytes(300_000, seed: 8)
        let list = ContentHasher.chunks(of: bytes, parameters)
        #expect(list.size == 300_000)
        #expect(list.chunks.dropLast().allSatisfy { $0.length >= 64 && $0.length <= 1024 })
        let mean = bytes.count / list.chunks.count
        #expect(mean > 230 && mean < 280)
        var start = 0
        for chunk in list.chunks {
            let end = start + Int(chunk.length)
            #expect(chunk.digest == SHA256.digest(of: Array(bytes[start..<end])))
            start = end
        }
    }

    @Test("bytes without a cut are cut at the maximum, and an end at a cut makes no empty chunk") func maximum() {
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        #expect(cuts(zeros) == [262_144, 524_288, 786_432, 1_048_576])
        #expect(cuts([UInt8](repeating: 0, count: 262_145)) == [262_144, 262_145])
    }

    @Test("an insertion or a removal changes the chunks around it and no others", arguments: 1...10)
    func edits(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let parameters = ChunkerParameters(average: 256)
        let before = random.bytes(64 << 10)
        var after = before
        let place = random.below(after.count - 100)
        if seed % 2 == 0 {
            after.insert(contentsOf: random.bytes(random.range(1...100)), at: place)
        } else {
            after.removeSubrange(place..<place + random.range(1...100))
        }
        let known = ContentHasher.chunks(of: before, parameters).chunks.map(\.digest).sorted()
        let new = ContentHasher.chunks(of: after, parameters).chunks.filter { !known.contains($0.digest) }
        #expect(!new.isEmpty && new.count <= 8)
    }

    @Test("the name of a content depends on every chunk, its length and their order") func contentID() {
        let a = Chunk(digest: SHA256.digest(of: [1]), length: 10)
        let b = Chunk(digest: SHA256.digest(of: [2]), length: 10)
        let longer = Chunk(digest: b.digest, length: 11)
        let lists = [[], [a], [b], [a, b], [b, a], [a, longer], [a, a]].map { ChunkList($0) }
        let names = lists.map(\.contentID)
        for (index, name) in names.enumerated() { #expect(!names[..<index].contains(name)) }
        #expect(ChunkList([a, longer]).size == 21)
        #expect(ChunkList([a, b]).contentID == names[3])
    }
}

extension SeededRandom {
    fileprivate static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SeededRandom(seed: seed)
        return random.bytes(count)
    }
}
