/// Blobs: everything that goes in comes out, nothing that is mangled brings the program down or passes for whole.
import SyncModel
import Testing

@testable import Store

@Suite("What is stored as a blob")
struct CodecTests {
    @Test("every value comes back as it was", arguments: 0..<20) func roundTrips(seed: Int) throws {
        var draws = Draws(seed: UInt64(seed), stream: "codec")
        for _ in 0..<40 {
            let row = draws.row()
            let key = PathKey.bytes(of: row.path)
            #expect(try RowCodec.decode(RowCodec.encode(row, key: key), key: key) == row)

            let node = draws.node()
            #expect(try NodeCodec.decode(NodeCodec.encode(node)) == node)

            let record = draws.record()
            #expect(try RecordCodec.decode(RecordCodec.encode(record), key: record.head.position.key) == record)

            let intent = draws.intent()
            #expect(try IntentCodec.decode(IntentCodec.encode(intent), key: intent.stage.raw.key) == intent)

            let kept = draws.keptVersion()
            #expect(try VersionCodec.decode(VersionCodec.encode(kept), key: kept.id.raw.key) == kept)

            let sums = draws.sums()
            #expect(try SumsCodec.decode(SumsCodec.encode(sums, key: [1]), key: [1]) == sums)
        }
    }

    @Test("sums of version 1, which count what the rules leave out, are counted again") func earlierSums() throws {
        var draws = Draws(seed: 2, stream: "codec")
        var sums = draws.sums()
        sums.isStale = false
        let payload = Array(SumsCodec.encode(sums, key: [1]).dropFirst().dropLast(4))
        let decoded = try SumsCodec.decode(Blob.seal(payload, version: 1, key: [1]), key: [1])
        sums.isStale = true
        #expect(decoded == sums)
    }

    @Test("a field that is new in the vocabulary is missed here") func everyFieldIsStored() throws {
        var draws = Draws(seed: 1)
        let row = draws.row(at: try place("a"))
        let revision = draws.revision()
        let stat = draws.stat(beside: .absent)
        let disk = Row.DiskState(entry: .absent, stat: stat, origins: draws.origins())
        // If one of these fails: store the new field in a new version of its codec, and read the old version too.
        #expect(Mirror(reflecting: row).children.count == 8)
        #expect(Mirror(reflecting: draws.formatMark()).children.count == 4)
        #expect(Mirror(reflecting: disk).children.count == 5)
        #expect(Mirror(reflecting: revision).children.count == 6)
        #expect(Mirror(reflecting: stat).children.count == 6)
        #expect(Mirror(reflecting: Entry.absent).children.count == 3)
        #expect(Mirror(reflecting: draws.node()).children.count == 35)
        #expect(Mirror(reflecting: draws.record()).children.count == 3)
        #expect(Mirror(reflecting: draws.intent()).children.count == 7)
        #expect(Mirror(reflecting: draws.keptVersion()).children.count == 8)
        #expect(Mirror(reflecting: SubtreeSummary()).children.count == 9)
    }

    @Test("any bytes under a good seal are read or refused, never a trap", arguments: 0..<20) func isTotal(seed: Int) {
        var draws = Draws(seed: UInt64(seed), stream: "hostile")
        for _ in 0..<150 {
            let (row, record, intent) = (draws.row(), draws.record(), draws.intent())
            let (kept, key) = (draws.keptVersion(), PathKey.bytes(of: row.path))
            let stage = intent.stage.raw.key
            tolerate { _ = try RowCodec.decode(draws.forge(RowCodec.encode(row, key: key), key: key), key: key) }
            tolerate { _ = try NodeCodec.decode(draws.forge(NodeCodec.encode(draws.node()), key: [])) }
            tolerate {
                let position = record.head.position.key
                _ = try RecordCodec.decode(draws.forge(RecordCodec.encode(record), key: position), key: position)
            }
            tolerate { _ = try IntentCodec.decode(draws.forge(IntentCodec.encode(intent), key: stage), key: stage) }
            tolerate {
                let id = kept.id.raw.key
                _ = try VersionCodec.decode(draws.forge(VersionCodec.encode(kept), key: id), key: id)
            }
            tolerate {
                _ = try SumsCodec.decode(draws.forge(SumsCodec.encode(draws.sums(), key: []), key: []), key: [])
            }
        }
    }

    private func tolerate(_ decode: () throws -> Void) {
        #expect {
            try decode()
            throw BlobError.damaged
        } throws: {
            $0 is BlobError
        }
    }

    @Test("a changed bit anywhere, another key, a cut or a longer blob is damage") func sealIsTight() throws {
        var draws = Draws(seed: 3, stream: "seal")
        let row = draws.row(at: try place("a/b"))
        let key = PathKey.bytes(of: row.path)
        let sealed = RowCodec.encode(row, key: key)
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << UInt8(bit)
                #expect(throws: BlobError.damaged) { try RowCodec.decode(changed, key: key) }
            }
            #expect(throws: BlobError.damaged) { try RowCodec.decode(Array(sealed[..<index]), key: key) }
        }
        #expect(throws: BlobError.damaged) { try RowCodec.decode(sealed + [0], key: key) }
        #expect(throws: BlobError.damaged) { try RowCodec.decode(sealed, key: Array("a/c".utf8)) }
    }

    @Test("a whole blob of a later version, or with a word that is not known, was written by a newer program")
    func later() throws {
        let row = Row(path: try place("a"))
        let key = PathKey.bytes(of: row.path)
        let payload = Array(RowCodec.encode(row, key: key).dropFirst().dropLast(4))
        #expect(throws: BlobError.newer) {
            try RowCodec.decode(Blob.seal(payload, version: RowCodec.version + 1, key: key), key: key)
        }
        // Waiting, with a code of tomorrow.
        let waiting: [UInt8] = [32, 0, 3] + Array("x.y".utf8) + [0, 0]
        #expect(throws: BlobError.newer) {
            try RowCodec.decode(Blob.seal(waiting, version: RowCodec.version, key: key), key: key)
        }
    }

    @Test("a settled file takes a hundred bytes and a few") func settledIsSmall() throws {
        let path = try place("projects/plan.txt")
        let time = Timestamp(seconds: 1_790_000_000, nanoseconds: 123_456_789)
        let content = ContentID(SHA256.digest(of: [1]))
        let entry = Entry(content: .file(content, size: 20_000), mode: 0o644, modified: time)
        let position = LogPosition(epoch: Epoch(number: 3, nonce: 0xABCD_EF01), seq: 100_000)
        let origin = Origin(author: .own, position: position, time: HybridTime(wallMilliseconds: 1_790_000_000_000))
        var row = Row(path: path)
        row.heads = [Revision(origin: origin, seen: .none, entry: entry, origins: Origins(all: origin))]
        let identity = FileIdentity(device: 65_024, inode: 1_000_000, birth: time)
        let stat = Stat(identity: identity, kind: .file, mode: 0o644, size: 20_000, modified: time, changed: time)
        row.disk = Row.DiskState(entry: entry, stat: stat, origins: Origins(all: origin))
        row.reflected = row.version
        #expect(RowCodec.encode(row, key: []).count < 120)
    }
}

extension Draws {
    mutating func sums() -> Sums {
        var sums = Sums()
        sums.summary.contents = SubtreeSummary.Contents(liveRows: number(), fingerprint: number())
        sums.summary.files = Int(signed())
        sums.summary.directories = Int(signed())
        sums.summary.unsettled = Int(signed())
        sums.summary.missing = Int(signed())
        sums.summary.pendingRows = Int(signed())
        sums.summary.entangled = Int(signed())
        sums.summary.ownLatest = position()
        sums.summary.peerLatest = position()
        sums.bytes = number()
        sums.isStale = random.chance(percent: 50)
        return sums
    }

    /// The payload mangled, and sealed again as if it were whole.
    mutating func forge(_ sealed: [UInt8], key: [UInt8]) -> [UInt8] {
        var payload = Array(sealed.dropFirst().dropLast(4))
        for _ in 0...random.below(3) {
            switch random.below(4) {
            case 0: payload.removeLast(random.below(payload.count + 1))
            case 1: payload.insert(UInt8(random.below(256)), at: random.below(payload.count + 1))
            default: if !payload.isEmpty { payload[random.below(payload.count)] = UInt8(random.below(256)) }
            }
        }
        return Blob.seal(payload, version: sealed[0], key: key)
    }
}
