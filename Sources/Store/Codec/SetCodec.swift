/// A change set of records as a blob, version 1: the payload is what the core wrote.
import SyncModel

enum SetCodec {
    private static let version: UInt8 = 1

    static func encode(_ set: StoredChangeSet) -> [UInt8] {
        Blob.seal(set.bytes, version: version, key: key(set.author, set.position))
    }

    static func decode(_ sealed: [UInt8], by author: Author, at position: LogPosition) throws(BlobError)
        -> StoredChangeSet
    {
        StoredChangeSet(
            author, position, try Blob.open(sealed, version: version, key: key(author, position)).rest)
    }

    private static func key(_ author: Author, _ position: LogPosition) -> [UInt8] { [author.rawValue] + position.key }
}
