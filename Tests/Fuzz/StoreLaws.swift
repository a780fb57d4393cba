import SyncModel

/// What lies in state.db. The seal around a blob tells damage; behind it the codecs are to be as careful, for what an older or a newer
/// program has written.
@testable import Store

extension Law {
    static let storeLaws = [blobLaw, pathKeyLaw]

    /// 1 which codec · 1 length of the key, key · payload. A seal is put around the payload.
    private static let blobLaw = Law("blobs") { bytes throws(Broken) in
        var reader = ByteReader(bytes)
        guard let codec = reader.byte(), let count = reader.byte(), let key = reader.raw(Int(count)),
            let payload = reader.raw(reader.remaining)
        else { return }
        switch codec % 8 {
        case 0:
            try check(payload, RowCodec.version, key) { (sealed) throws(BlobError) in
                try RowCodec.decode(sealed, key: key)
            } encode: {
                RowCodec.encode($0, key: PathKey.bytes(of: $0.path))
            }
        case 1:
            try check(payload, VersionCodec.version, key) { (sealed) throws(BlobError) in
                try VersionCodec.decode(sealed, key: key)
            } encode: {
                VersionCodec.encode($0)
            }
        case 2:
            try check(payload, RecordCodec.version, key) { (sealed) throws(BlobError) in
                try RecordCodec.decode(sealed, key: key)
            } encode: {
                RecordCodec.encode($0)
            }
        case 3:
            try check(payload, IntentCodec.version, key) { (sealed) throws(BlobError) in
                try IntentCodec.decode(sealed, key: key)
            } encode: {
                IntentCodec.encode($0)
            }
        case 4:
            try check(payload, SumsCodec.version, key) { (sealed) throws(BlobError) in
                try SumsCodec.decode(sealed, key: key)
            } encode: {
                SumsCodec.encode($0, key: key)
            }
        case 5:
            try check(payload, NodeCodec.version, []) { (sealed) throws(BlobError) in
                try NodeCodec.decode(sealed)
            } encode: {
                NodeCodec.encode($0)
            }
        case 6: try checkPage(payload, key)
        default:
            // Not sealed at all: only a checksum that fits by chance lets it through.
            _ = try? RowCodec.decode(payload, key: key)
            _ = try? NodeCodec.decode(payload)
        }
    }

    /// What was read is written so that it reads as the same again.
    private static func check<Value: Equatable>(
        _ payload: [UInt8], _ version: UInt8, _ key: [UInt8], decode: ([UInt8]) throws(BlobError) -> Value,
        encode: (Value) -> [UInt8]
    ) throws(Broken) {
        let value: Value
        do throws(BlobError) {
            value = try decode(Blob.seal(payload, version: version, key: key))
        } catch {
            return
        }
        let again: Value
        do throws(BlobError) {
            again = try decode(encode(value))
        } catch {
            throw Broken("\(value) is written so that nobody can read it: \(error)")
        }
        try demand(again == value, "\(value) was written and read as \(again)")
    }

    private static func checkPage(_ payload: [UInt8], _ key: [UInt8]) throws(Broken) {
        let content = ContentID(SHA256.digest(of: key))
        let sealed = Blob.seal(payload, version: ChunkPages.version, key: content.digest.bytes + UInt64(0).key)
        var list = ChunkList()
        do throws(BlobError) {
            try ChunkPages.append(sealed, page: 0, of: content, to: &list)
        } catch {
            return
        }
        try demand(ChunkPages.pages(of: list, content: content) == [sealed], "a page does not come back as it was")
    }

    private static let pathKeyLaw = Law("keys") { bytes throws(Broken) in
        if let path = PathKey.path(of: bytes) {
            try demand(PathKey.bytes(of: path) == bytes, "\(path) has another key")
        }
        if let path = Path(bytes) {
            try demand(PathKey.path(of: PathKey.bytes(of: path)) == path, "\(path) has a key of another path")
        }
        let parts = bytes.parts(2).compactMap { Path($0) }
        guard parts.count == 2 else { return }
        let (one, other) = (PathKey.bytes(of: parts[0]), PathKey.bytes(of: parts[1]))
        try demand(
            (parts[0] < parts[1]) == one.lexicographicallyPrecedes(other), "paths and keys differ in their order")
        let below = PathKey.below(parts[0])
        let isWithin = !other.lexicographicallyPrecedes(below.from) && other.lexicographicallyPrecedes(below.upTo)
        try demand(isWithin == parts[1].isBelow(parts[0]), "what is below \(parts[0]) is not where its key says")
    }
}
