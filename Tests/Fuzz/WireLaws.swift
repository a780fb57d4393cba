/// What comes from the other node: frames, entries of its log, records inside of TLS, compressed frames.
import Compression
import Crypto
import SyncCore
import SyncModel

@testable import Transport

extension Law {
    static let wireLaws = [frameLaw, logLaw, recordLaw, compressionLaw, renewalLaw]

    /// The input is type and body of a frame; length and checksum are put around it. As it is, it is decoded too.
    private static let frameLaw = Law("frames") { bytes throws(Broken) in
        _ = FrameCodec.decode(bytes)
        var writer = ByteWriter(capacity: bytes.count + 8)
        writer.put(UInt32(bytes.count + 4))
        writer.putRaw(bytes)
        writer.put(CRC32.checksum(bytes[...]))
        guard let frame = FrameCodec.decode(writer.bytes) else { return }
        // What a later version says is skipped, with its body.
        if case .unknown = frame { return }
        let again = FrameCodec.encode(frame)
        // A reason that only a later version has becomes one of ours.
        if case .halt = frame { return try demand(FrameCodec.decode(again) == frame, "\(frame) is read as another") }
        // Behind the greeting of a later version may be anything.
        if case .hello(let hello) = frame, hello.versionMin > Hello.protocolMax {
            try demand(
                writer.bytes.dropFirst(4).starts(with: again.dropFirst(4).dropLast(4)),
                "a later greeting is read as another")
            return try checkLimits(of: frame)
        }
        try demand(again == writer.bytes, "a frame does not come back as it was: \(again)")
        try checkLimits(of: frame)
    }

    private static func checkLimits(of frame: Frame) throws(Broken) {
        switch frame {
        case .hello(let hello):
            try demand(hello.name.count <= Limits.nodeNameBytesMax, "a name of \(hello.name.count) bytes")
            try demand(hello.features.count <= Limits.featureCountMax, "\(hello.features.count) features")
            try demand(hello.versionMin <= hello.versionMax, "versions in the wrong order")
        case .rows(let rows), .expansion(_, let rows, _):
            for row in rows { try checkNamed(row.path) }
        case .chunkList(let page):
            try demand(page.chunks.count <= Limits.chunksPerPageMax, "a page of \(page.chunks.count) chunks")
            try demand(Int(page.first) + page.chunks.count <= Int(page.total), "a page beyond its list")
        case .changeSet(let piece):
            try demand(Int(piece.offset) + piece.bytes.count <= Int(piece.total), "a piece beyond its set")
        case .claim(let claim):
            try demand(claim.paths.count <= Limits.claimedPathsMax, "\(claim.paths.count) paths")
        default: break
        }
    }

    /// A path that a peer may name.
    private static func checkNamed(_ path: Path) throws(Broken) {
        try demand(!path.isRoot && !path.isReserved && Path(path.bytes) == path, "\(path) was let in")
        try demand(
            path.bytes.count <= Limits.pathBytesMax && path.depth <= Limits.pathDepthMax, "a path that is too long")
    }

    private static let logLaw = Law("log") { bytes throws(Broken) in
        let node = NodeID(Digest.zero)
        let before = LogHead(position: LogPosition(epoch: Epoch(raw: 1), seq: 1), chain: .zero)
        guard case .record(let record) = LogCodec.decode(bytes, after: before, node: node) else { return }
        try demand(LogCodec.encode(record) == bytes, "other bytes come back: \(LogCodec.encode(record))")
        let chain = LogCodec.chain(of: bytes, at: record.head.position, after: before, node: node)
        try demand(chain == record.head.chain, "another chain")
        switch record.change {
        case .put(let path, let revision):
            try checkNamed(path)
            try demand(revision.entry.mode <= 0o777, "mode \(revision.entry.mode)")
        case .relocate(let move):
            try checkNamed(move.from)
            try checkNamed(move.to)
        }
    }

    /// However a stream is cut, the same records come out of it, or the same refusal; never is more held than was given.
    private static let recordLaw = Law("records") { bytes throws(Broken) in
        let whole = records(of: [bytes[...]])
        var random = SeededRandom(seed: UInt64(CRC32.checksum(bytes[...])))
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + 1 + random.below(9))
            pieces.append(bytes[start..<end])
            start = end
        }
        try demand(records(of: pieces) == whole, "cut in pieces it is something else")
        for record in whole.records {
            let message = PairingMessage(payload: record.payload)
            try demand(message.map { $0.payload == record.payload } ?? true, "a proof does not come back as it was")
        }
    }

    private struct Stream: Equatable {
        var records: [Record] = []
        var refusal: RecordReader.BadLength?
    }

    private static func records(of pieces: [ArraySlice<UInt8>]) -> Stream {
        var stream = Stream()
        var reader = RecordReader(limit: Record.pairingLimit)
        do throws(RecordReader.BadLength) {
            for piece in pieces {
                reader.append(Array(piece))
                while let record = try reader.next() { stream.records.append(record) }
            }
        } catch {
            stream.refusal = error
        }
        return stream
    }

    private static let compressionLaw = Law("compressed") { bytes throws(Broken) in
        let limit = 1 << 16
        if let plain = try? Zstd.decompress(bytes, limit: limit) {
            try demand(plain.count <= limit, "\(plain.count) bytes came out")
        }
        if let packed = Zstd.compress(bytes) {
            try demand(
                (try? Zstd.decompress(packed, limit: bytes.count)) == bytes, "packed and unpacked it is something else")
            try demand((try? Zstd.decompress(packed, limit: bytes.count - 1)) == nil, "more came out than was allowed")
        }
    }

    // MARK: A new key

    /// Keys that are no secret, so that an input says the same each time.
    private static let renewalKeys = [
        "MC4CAQAwBQYDK2VwBCIEIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "MC4CAQAwBQYDK2VwBCIEIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB",
        "MC4CAQAwBQYDK2VwBCIEIAICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC",
    ]
    .compactMap { try? IdentityKey(pem: Array("-----BEGIN PRIVATE KEY-----\n\($0)\n-----END PRIVATE KEY-----\n".utf8)) }

    /// 0 and an offer, or another byte and what is changed in the honest one: pairs of a place and what it is changed by, behind its end
    /// what follows it. Nothing proves a new key but what both keys have signed, for this session and this receiver.
    private static let renewalLaw = Law("renewals", bytesMax: 256) { bytes throws(Broken) in
        let keys = renewalKeys
        guard keys.count == 3 else { throw Broken("the keys of this law cannot be read") }
        let (present, new, receiver) = (keys[0], keys[1], keys[2])
        let renewal = Renewal(
            exporter: [UInt8](repeating: 7, count: Renewal.exporterBytes), sender: present.fingerprint,
            receiver: receiver.fingerprint)
        guard let honest = try? renewal.offer(new, by: present) else { throw Broken("nothing can be offered") }
        let payload = bytes.first == 0 ? Array(bytes.dropFirst()) : changed(honest, by: bytes.dropFirst())
        // (What a later version says behind the end is passed over.)
        let expected = payload.starts(with: honest) ? new.fingerprint : nil
        let found = renewal.check(payload)
        try demand(found == expected, "\(found, default: "nothing") is accepted, not \(expected, default: "nothing")")
        let others = [
            Renewal(exporter: [UInt8](repeating: 8, count: 32), sender: renewal.sender, receiver: renewal.receiver),
            Renewal(exporter: renewal.exporter, sender: renewal.receiver, receiver: renewal.sender),
            Renewal(exporter: renewal.exporter, sender: renewal.sender, receiver: new.fingerprint),
        ]
        for other in others { try demand(other.check(payload) == nil, "it is accepted where it was not said") }
    }

    private static func changed(_ offer: [UInt8], by changes: ArraySlice<UInt8>) -> [UInt8] {
        var offer = offer
        var rest = changes
        while let place = rest.popFirst(), let change = rest.popFirst() {
            if Int(place) < offer.count { offer[Int(place)] ^= change } else { offer.append(change) }
        }
        return offer
    }
}
