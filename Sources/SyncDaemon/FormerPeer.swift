import SyncModel

/// A partner that this node was told to forget: what its earlier versions are told to be by, and what it is called if it comes back.
struct FormerPeer: Hashable, Sendable {
    let name: [UInt8]
    /// All it was known by.
    let keys: [[UInt8]]
    /// Versions with smaller numbers, down to those of the partner before, are by it; nil while that is not known.
    var versionsBefore: UInt64?

    static let rememberedMax = 16

    /// The oldest of very many are called like the one after them.
    static func remembered(_ formers: [FormerPeer]) -> [FormerPeer] { Array(formers.suffix(rememberedMax)) }
}

// MARK: On disk

/// Version 1, numbers big-endian: `1 version · 4 n, n × (4 length, name · 8 versions before · 4 k, k × (4 length, key))`, oldest first.
extension FormerPeer {
    private static let version: UInt8 = 1

    static func encoded(_ formers: [FormerPeer]) -> [UInt8] {
        var writer = ByteWriter()
        writer.put(version)
        writer.put(UInt32(formers.count))
        for former in formers {
            writer.putCounted(former.name)
            writer.put(former.versionsBefore ?? 0)
            writer.put(UInt32(former.keys.count))
            for key in former.keys { writer.putCounted(key) }
        }
        return writer.bytes
    }

    /// What cannot be read counts as nothing: it only tells of names.
    static func decoded(_ bytes: [UInt8]) -> [FormerPeer] {
        var reader = ByteReader(bytes)
        guard reader.byte() == version, let count = reader.uint32() else { return [] }
        var formers: [FormerPeer] = []
        for _ in 0..<min(count, UInt32(rememberedMax)) {
            guard let name = reader.counted(max: 256), let before = reader.uint64(), let keys = reader.uint32()
            else { return formers }
            var known: [[UInt8]] = []
            for _ in 0..<min(keys, UInt32(KnownPeer.earlierMax + 2)) {
                guard let key = reader.counted(max: KnownPeer.fingerprintBytes) else { return formers }
                known.append(key)
            }
            formers.append(FormerPeer(name: name, keys: known, versionsBefore: before))
        }
        return formers
    }
}
