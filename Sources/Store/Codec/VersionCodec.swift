/// A kept version as a blob; its id is the key. Version 1:
///
/// ```
/// flags: bit 0 by the peer, bit 1 quarantined · path · entry · stat beside it · kept milliseconds (signed) · code (bytes)
/// ```
import SyncModel

enum VersionCodec {
    static let version: UInt8 = 1

    static func encode(_ kept: KeptVersion) -> [UInt8] {
        var writer = BlobWriter()
        writer.put(kept)
        return Blob.seal(writer.bytes, version: version, key: kept.id.raw.key)
    }

    static func decode(_ sealed: [UInt8], key: [UInt8]) throws(BlobError) -> KeptVersion {
        var reader = try Blob.open(sealed, version: version, key: key)
        var number = ByteReader(key)
        guard let id = number.uint64(), number.isAtEnd else { throw .damaged }
        let kept = try reader.keptVersion(VersionID(raw: id))
        try reader.finish()
        return kept
    }
}

extension BlobWriter {
    /// All but the id.
    mutating func put(_ kept: KeptVersion) {
        put(byte: kept.author.rawValue | (kept.isQuarantined ? 2 : 0))
        put(kept.path)
        put(kept.entry)
        put(kept.stat, beside: kept.entry)
        put(signed: kept.keptMilliseconds)
        put(kept.reason)
    }
}

extension BlobReader {
    mutating func keptVersion(_ id: VersionID) throws(BlobError) -> KeptVersion {
        let flags = try byte()
        if flags > 3 { throw .damaged }
        let (path, entry) = (try path(), try entry())
        let (stat, milliseconds) = (try stat(beside: entry), try signed())
        return KeptVersion(
            id: id, path: path, entry: entry, stat: stat, author: flags & 1 == 0 ? .own : .peer,
            keptMilliseconds: milliseconds, reason: try code(), isQuarantined: flags & 2 != 0)
    }
}
