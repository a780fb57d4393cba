/// Parts that several blobs share; the primitives are in `Blob.swift`.
///
/// ```
/// stat       flags: bits 0-2 the kind, bit 3 a size, bit 4 a mode, bit 5 a modification time follows
///            device · inode · birth time · change time · size? · mode? · modification time?
///            What does not follow is as in the entry that the stat stands beside.
/// revision   origin · flags: bit 0 moved from, bit 1 moved to · vector · entry · 3 origins · path? · path?
/// ```
import SyncModel

extension BlobWriter {
    /// `entry` is what stands beside it: most stats of the base say the same once more.
    mutating func put(_ stat: Stat, beside entry: Entry = .absent) {
        let hasSize = stat.size != entry.content.size
        let hasMode = stat.mode != entry.mode
        let hasTime = stat.modified != entry.modified
        put(byte: stat.kind.rawValue | (hasSize ? 8 : 0) | (hasMode ? 16 : 0) | (hasTime ? 32 : 0))
        put(number: stat.identity.device)
        put(number: stat.identity.inode)
        put(stat.identity.birth)
        put(stat.changed)
        if hasSize { put(number: stat.size) }
        if hasMode { put(number: UInt64(stat.mode)) }
        if hasTime { put(stat.modified) }
    }

    mutating func put(_ revision: Revision) {
        put(revision.origin)
        put(byte: (revision.movedFrom == nil ? 0 : 1) | (revision.movedTo == nil ? 0 : 2))
        put(revision.seen)
        put(revision.entry)
        put(revision.origins)
        if let path = revision.movedFrom { put(path) }
        if let path = revision.movedTo { put(path) }
    }
}

extension BlobReader {
    mutating func stat(beside entry: Entry = .absent) throws(BlobError) -> Stat {
        let flags = try byte()
        guard flags < 64, let kind = FileKind(rawValue: flags & 7) else { throw .damaged }
        let (device, inode) = (try number(), try number())
        let identity = FileIdentity(device: device, inode: inode, birth: try time())
        let changed = try time()
        let size = flags & 8 == 0 ? entry.content.size : try number()
        guard let mode = UInt16(exactly: flags & 16 == 0 ? UInt64(entry.mode) : try number()), mode <= 0o777 else {
            throw .damaged
        }
        let modified = flags & 32 == 0 ? entry.modified : try time()
        return Stat(identity: identity, kind: kind, mode: mode, size: size, modified: modified, changed: changed)
    }

    mutating func revision() throws(BlobError) -> Revision {
        let origin = try origin()
        let flags = try byte()
        if flags > 3 { throw .damaged }
        let (seen, entry, origins) = (try vector(), try entry(), try origins())
        let movedFrom = flags & 1 == 0 ? nil : try path()
        let movedTo = flags & 2 == 0 ? nil : try path()
        return Revision(
            origin: origin, seen: seen, entry: entry, origins: origins, movedFrom: movedFrom, movedTo: movedTo)
    }
}
