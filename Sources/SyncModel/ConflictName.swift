/// The name of a conflict copy: `name.conflict-<node>-<YYYYMMDD>-<HHMMSS>-<6 hex>.ext`, UTC.
/// Node, time and hash are those of the losing version, so both nodes would call it the same.
public enum ConflictName {
    public static func path(for path: Path, losing content: Content, node: [UInt8], time: HybridTime) -> Path? {
        guard let parent = path.parent, let name = path.name else { return nil }
        let tag = tag(losing: content, node: node, time: time)
        let (stem, suffix) = split(name.bytes)
        let room = Limits.nameBytesMax - tag.count - suffix.count
        guard room > 0 else { return nil }
        guard let copy = Name(beginning(of: stem, room: room) + tag + suffix) else { return nil }
        return Path(parent.appending(copy).bytes)
    }

    /// True if a copy of `original` is called like `copy`. Of a long name only the beginning is in that of its copy, so that two originals may fit.
    public static func isNamed(_ copy: Path, after original: Path) -> Bool {
        guard let parent = original.parent, let name = original.name, parent == copy.parent,
            let pieces = pieces(of: copy)
        else { return false }
        let (stem, suffix) = split(name.bytes)
        let room = Limits.nameBytesMax - pieces.tag.count - suffix.count
        return room > 0 && suffix == pieces.suffix && beginning(of: stem, room: room) == pieces.stem
    }

    /// If the name of a copy is so long that the one it was made of may have been longer still: what that begins with. `parts` tells no more.
    public static func cutOriginal(of copy: Path) -> Path? {
        guard let parent = copy.parent, let name = copy.name, let pieces = pieces(of: copy),
            name.bytes.count > Limits.nameBytesMax - letterBytesMax
        else { return nil }
        return Name(pieces.stem).map { parent.appending($0) }
    }

    /// True if a file is called like a conflict copy: it stands for an open conflict until a person removes or renames it.
    public static func isConflictCopy(_ path: Path) -> Bool {
        guard let name = path.name?.bytes, name.count > marker.count else { return false }
        var start = 0
        while start + marker.count < name.count {
            if name[start...].starts(with: marker), hasTag(name[(start + marker.count)...]) { return true }
            start += 1
        }
        return false
    }

    /// What the name of a conflict copy tells: of which path, by whom, and when it was written, to the second (milliseconds since 1970; nil if
    /// there is no such time). Nil for any other name.
    public static func parts(of copy: Path) -> (original: Path, node: [UInt8], milliseconds: Int64?)? {
        guard let parent = copy.parent, let pieces = pieces(of: copy) else { return nil }
        let tag = pieces.tag.dropFirst(marker.count)
        // The date, the time and the hash with their dashes.
        let node = tag.dropLast("-YYYYMMDD-HHMMSS-xxxxxx".utf8.count)
        let time = milliseconds(of: tag.dropLast("-xxxxxx".utf8.count).suffix("YYYYMMDD-HHMMSS".utf8.count))
        guard let original = Name(pieces.stem + pieces.suffix) else { return nil }
        return (parent.appending(original), Array(node), time)
    }

    private static func pieces(of copy: Path) -> (stem: [UInt8], tag: [UInt8], suffix: [UInt8])? {
        guard let name = copy.name?.bytes else { return nil }
        // A copy of a copy was made of what the last tag does not name.
        for start in name.indices.reversed() where start > 0 && name[start...].starts(with: marker) {
            let rest = name[(start + marker.count)...]
            guard hasTag(rest) else { continue }
            let end = rest.firstIndex(of: 0x2E) ?? rest.endIndex
            return (Array(name[..<start]), Array(name[start..<end]), Array(name[end...]))
        }
        return nil
    }

    private static let marker: [UInt8] = Array(".conflict-".utf8)

    /// `<node>-<8 digits>-<6 digits>-<6 hex>` and then the end or a suffix; the node may contain dashes.
    private static func hasTag(_ bytes: ArraySlice<UInt8>) -> Bool {
        let tail = bytes.prefix { $0 != 0x2E }
        let parts = tail.split(separator: 0x2D, omittingEmptySubsequences: false)
        guard parts.count >= 4 else { return false }
        let last = Array(parts.suffix(3))
        let isDigit = { (byte: UInt8) in byte >= 0x30 && byte <= 0x39 }
        let isHex = { (byte: UInt8) in isDigit(byte) || byte >= 0x61 && byte <= 0x66 }
        return last[0].count == 8 && last[0].allSatisfy(isDigit) && last[1].count == 6 && last[1].allSatisfy(isDigit)
            && last[2].count == 6 && last[2].allSatisfy(isHex)
    }

    /// Of `YYYYMMDD-HHMMSS`.
    private static func milliseconds(of stamp: ArraySlice<UInt8>) -> Int64? {
        var rest = stamp
        func next(_ digits: Int) -> Int64 {
            defer { rest = rest.dropFirst(digits) }
            return rest.prefix(digits).reduce(0) { $0 * 10 + Int64($1) - 0x30 }
        }
        let (year, month, day) = (next(4), next(2), next(2))
        rest = rest.dropFirst()
        let (hour, minute, second) = (next(2), next(2), next(2))
        return CalendarTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)?
            .milliseconds
    }

    private static func tag(losing content: Content, node: [UInt8], time: HybridTime) -> [UInt8] {
        // A year of five digits would not fit.
        let stamp = CalendarTime(milliseconds: Int64(clamping: time.wallMilliseconds))
        let safe = safeName(of: node)
        let text = "-\(stamp.date.joined())-\(stamp.time.joined())-\(hash(of: content).hex(digits: 6))"
        return marker + safe + Array(text.utf8)
    }

    /// As a node is called in the names of copies.
    public static func safeName(of node: [UInt8]) -> [UInt8] {
        node.prefix(Limits.nodeNameBytesMax).map { byte in
            let isPlain = byte >= 0x30 && byte <= 0x39 || byte >= 0x41 && byte <= 0x5A || byte >= 0x61 && byte <= 0x7A
            return isPlain || byte == 0x5F ? byte : 0x2D
        }
    }

    private static func hash(of content: Content) -> Digest {
        switch content {
        case .absent, .directory: .zero
        case .file(let id, _): id.digest
        case .symlink(let target): SHA256.digest(of: target)
        }
    }

    /// A letter outside of ASCII is not cut in two: a name that was text is text afterwards.
    private static func beginning(of stem: [UInt8], room: Int) -> [UInt8] {
        guard stem.count > room else { return stem }
        let isInside = { (index: Int) in stem[index] & 0xC0 == 0x80 }
        let end = (max(room - letterBytesMax + 1, 1)...room).last { !isInside($0) }
        return Array(stem.prefix(end ?? room))
    }

    /// As many bytes as one letter has in UTF-8.
    private static let letterBytesMax = 4

    /// The suffix is what follows the last dot, unless the name begins with that dot.
    private static func split(_ name: [UInt8]) -> (stem: [UInt8], suffix: [UInt8]) {
        guard let dot = name.lastIndex(of: 0x2E), dot > 0, name.count - dot <= 32 else { return (name, []) }
        return (Array(name[..<dot]), Array(name[dot...]))
    }
}
