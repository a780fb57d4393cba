/// What a node asks of its peer while its own disk cannot keep up.
import SyncCore
import SyncModel
import Testing

struct FetchTests {
    private static let chunk = 64
    private static let count = 200

    /// A hundredth of what real nodes have, so that a test has little to hash.
    private static var limits: Limits {
        var limits = Limits()
        limits.wantedBytesMax = 1_024
        limits.heldBytesMax = 2_048
        limits.chunking = ChunkerParameters(average: chunk)
        return limits
    }

    private static func bytes(_ index: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(index), count: chunk)
    }

    @Test("a disk slower than the link: what has come and is not written is bounded, and all of it comes in the end")
    func slowDisk() throws {
        let chunks = (0..<Self.count).map {
            Chunk(digest: SHA256.digest(of: Self.bytes($0)), length: UInt32(Self.chunk))
        }
        let content = ContentID(ChunkList(chunks).contentID)
        let size = UInt64(Self.count * Self.chunk)
        var peer = PeerLog()
        let entry = Entry(content: .file(content, size: size), mode: 0o644, modified: Timestamp(milliseconds: 1))
        peer.append(epoch: 1, path: "large", entry: entry)
        var driver = Driver.running(limits: Self.limits)
        driver.greet(ownHead: peer.heads[0])
        driver.receive(.log(peer.entries))
        driver.settle()
        driver.receive(.chunkList(ContentPage(content: content, first: 0, total: UInt32(Self.count), chunks: chunks)))
        driver.settle()

        driver.silence = .disk
        var given = Self.giveAll(content, after: 0, by: &driver)
        #expect(given * Self.chunk > Self.limits.wantedBytesMax, "it stops before it has reason to: \(given)")
        #expect(given * Self.chunk <= Self.limits.heldBytesMax + Self.limits.wantedBytesMax, "\(given)")

        driver.silence = []
        driver.settle()
        given = Self.giveAll(content, after: given, by: &driver)
        #expect(given == Self.count)
    }

    /// Sends what is asked for until nothing more is; how many chunks that makes with those `before`.
    private static func giveAll(_ content: ContentID, after before: Int, by driver: inout Driver) -> Int {
        var given = before
        while given < wishes(driver).count {
            for index in wishes(driver).dropFirst(given) {
                given += 1
                driver.receive(.chunks(content, [ChunkData(index: index, bytes: bytes(Int(index)))]))
            }
            driver.settle()
        }
        return given
    }

    private static func wishes(_ driver: Driver) -> [UInt32] {
        driver.sent.flatMap { frame -> [UInt32] in
            if case .wantChunks(_, let indexes) = frame { return indexes }
            return []
        }
    }
}
