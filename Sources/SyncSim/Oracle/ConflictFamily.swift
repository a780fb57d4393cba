package import SyncModel

/// Which path a conflict copy is a copy of, read from its name alone. Written apart from the daemon's `ConflictName`, so
/// that a mistake there is not repeated here.
package enum ConflictFamily {
    private static let marker = Array(".conflict-".utf8)
    /// `-YYYYMMDD-HHMMSS-hhhhhh`
    private static let tailLength = 1 + 8 + 1 + 6 + 1 + 6

    /// The path whose loser this is, one generation up; nil for an ordinary name.
    package static func base(of path: Path) -> Path? {
        guard let parent = path.parent, let name = path.name?.bytes, let tag = lastTag(in: name) else { return nil }
        guard let base = Name(Array(name[..<tag.lowerBound] + name[tag.upperBound...])) else { return nil }
        return parent.appending(base)
    }

    /// All generations up to the head of the family, the nearest first; none for an ordinary name.
    package static func bases(of path: Path) -> [Path] {
        var bases: [Path] = []
        while let base = base(of: bases.last ?? path) { bases.append(base) }
        return bases
    }

    /// The path at the head of the family: itself for an ordinary name.
    package static func head(of path: Path) -> Path { bases(of: path).last ?? path }

    /// True if the name is so long that it may have been cut to make room for the tag: but for the rest of a letter it fills all there is.
    package static func mayBeCut(_ copy: Path) -> Bool {
        (copy.name?.bytes.count ?? 0) > Limits.nameBytesMax - 4
    }

    /// True if `copy` is a conflict copy of `path`, or of a copy of it. A long name may have been cut to make room for the tag.
    package static func isCopy(_ copy: Path, of path: Path) -> Bool {
        guard copy.parent == path.parent, let original = path.name?.bytes else { return false }
        var next = base(of: copy)
        while let candidate = next {
            if candidate == path { return true }
            if let name = candidate.name?.bytes, isShortened(name, from: original) { return true }
            next = base(of: candidate)
        }
        return false
    }

    private static func isShortened(_ name: [UInt8], from original: [UInt8]) -> Bool {
        guard original.count > Limits.nameBytesMax - 110, name.count < original.count else { return false }
        let shared = zip(name, original).prefix { $0 == $1 }.count
        return original.suffix(name.count - shared).elementsEqual(name.suffix(name.count - shared))
    }

    private static func lastTag(in name: [UInt8]) -> Range<Int>? {
        var start = name.count - marker.count
        while start > 0 {
            if name[start...].starts(with: marker), let end = endOfTag(from: start, in: name) { return start..<end }
            start -= 1
        }
        return nil
    }

    /// A tag ends at a dot or at the end of the name, right after its tail.
    private static func endOfTag(from start: Int, in name: [UInt8]) -> Int? {
        var end = start + marker.count
        while end < name.count, name[end] != 0x2E { end += 1 }
        let tail = end - tailLength
        guard tail >= start + marker.count else { return nil }
        for (offset, byte) in name[tail..<end].enumerated() {
            switch offset {
            case 0, 9, 16: if byte != 0x2D { return nil }
            case 1...8, 10...15: if !(0x30...0x39).contains(byte) { return nil }
            default: if !(0x30...0x39).contains(byte) && !(0x61...0x66).contains(byte) { return nil }
            }
        }
        return end
    }
}
