/// The sums of a directory as a blob; the directory is the key. Version 2:
///
/// ```
/// 1 if the latest positions must be counted again, 0 · live rows · fingerprint (8) · files · directories · unsettled
/// missing · pending rows · entangled · bytes · latest own position · latest position of the peer
/// ```
/// Version 1 is the same, but what the rules leave out is among its files and directories: it must be counted again.
import SyncModel

enum SumsCodec {
    static let version: UInt8 = 2
    private static let versionWithIgnored: UInt8 = 1

    static func encode(_ sums: Sums, key: [UInt8]) -> [UInt8] {
        let summary = sums.summary
        var writer = BlobWriter()
        writer.put(byte: sums.isStale ? 1 : 0)
        writer.put(number: summary.contents.liveRows)
        writer.put(fixed: summary.contents.fingerprint, width: 8)
        for count in [
            summary.files, summary.directories, summary.unsettled, summary.missing, summary.pendingRows,
            summary.entangled,
        ] { writer.put(signed: Int64(count)) }
        writer.put(number: sums.bytes)
        writer.put(summary.ownLatest)
        writer.put(summary.peerLatest)
        return Blob.seal(writer.bytes, version: version, key: key)
    }

    static func decode(_ sealed: [UInt8], key: [UInt8]) throws(BlobError) -> Sums {
        let isOld = sealed.first == versionWithIgnored
        var reader = try Blob.open(sealed, version: isOld ? versionWithIgnored : version, key: key)
        var sums = Sums()
        sums.isStale = try reader.byte() != 0 || isOld
        sums.summary.contents.liveRows = try reader.number()
        sums.summary.contents.fingerprint = try reader.fixed(width: 8)
        sums.summary.files = try reader.int()
        sums.summary.directories = try reader.int()
        sums.summary.unsettled = try reader.int()
        sums.summary.missing = try reader.int()
        sums.summary.pendingRows = try reader.int()
        sums.summary.entangled = try reader.int()
        sums.bytes = try reader.number()
        sums.summary.ownLatest = try reader.position()
        sums.summary.peerLatest = try reader.position()
        try reader.finish()
        return sums
    }
}
