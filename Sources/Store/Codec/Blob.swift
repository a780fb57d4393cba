/// The bytes of everything state.db holds as a blob. Each blob is sealed:
///
/// ```
/// 1 version of its codec · payload · 4 CRC-32, big-endian, over its key, the version and the payload
/// ```
/// The sum covers the key too, so that a row which the file system or the disk has put in another's place is found out.
/// A whole blob of a later version was written by a newer program; anything else that cannot be read is damage.
///
/// Payloads are written with `BlobWriter` and read with `BlobReader`:
/// ```
/// number     LEB128: seven bits a byte, the lowest first, bit 7 on all but the last; signed numbers zigzag
/// bytes      number, bytes
/// time       signed seconds · 4 nanoseconds
/// position   0 none · 1 epoch (8), number · 2+n the n-th epoch that this blob wrote in full, number
/// origin     0 own, 1 peer: position, hybrid time (8) · 2+n the n-th origin that this blob wrote in full
/// entry      0 absent, 1 file: digest, size, 2 directory, 3 symlink: bytes; then mode, time · 4+n the n-th entry
/// stat       see `Blob+Parts`
/// ```
/// A row says most of its times, epochs and contents twice and more often; the references make it a third as long.
import SyncModel

/// Why a blob could not be read.
enum BlobError: Error {
    case damaged
    /// It is whole, and of a later version or with a word this program does not know.
    case newer
}

enum Blob {
    static func seal(_ payload: [UInt8], version: UInt8, key: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: payload.count + 5)
        writer.put(version)
        writer.putRaw(payload)
        writer.put(sum(of: writer.bytes[...], key: key))
        return writer.bytes
    }

    /// A reader of the payload, if the seal is whole.
    static func open(_ sealed: [UInt8], version: UInt8, key: [UInt8]) throws(BlobError) -> BlobReader {
        guard sealed.count >= 5 else { throw .damaged }
        var tail = ByteReader(sealed[(sealed.count - 4)...])
        guard tail.uint32() == sum(of: sealed.dropLast(4), key: key) else { throw .damaged }
        if sealed[0] != version { throw sealed[0] > version ? .newer : .damaged }
        return BlobReader(sealed[1..<(sealed.count - 4)])
    }

    private static func sum(of bytes: ArraySlice<UInt8>, key: [UInt8]) -> UInt32 {
        CRC32.checksum(bytes, after: CRC32.checksum(key[...]))
    }
}

extension UInt64 {
    /// As a key: big-endian, so that SQLite orders it as a number.
    var key: [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.put(self)
        return writer.bytes
    }
}

extension LogPosition {
    var key: [UInt8] { epoch.raw.key + seq.key }

    init(key: [UInt8]) throws(BlobError) {
        var reader = ByteReader(key)
        guard let epoch = reader.uint64(), let seq = reader.uint64(), reader.isAtEnd else { throw .damaged }
        self.init(epoch: Epoch(raw: epoch), seq: seq)
    }
}
