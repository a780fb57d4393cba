/// Which files an entity claims: a path below the model's root, its last component with at most one star.
/// `notes/*.json` claims `notes/a.json` with the stem `a`, but neither `notes/.json` nor `notes/x/a.json`.
public import SyncModel

public struct FilePattern: Hashable, Sendable {
    /// Before the star, the directories included; the whole path where there is none.
    let prefix: [UInt8]
    /// After the star; nil where there is none.
    let suffix: [UInt8]?

    /// Nil unless it is a path with at most one star, and that in its last component.
    init?(_ text: [UInt8]) {
        let parts = text.split(separator: FilePattern.star, omittingEmptySubsequences: false)
        guard let path = Path(text), !path.isRoot, !path.isReserved, parts.count <= 2 else { return nil }
        prefix = Array(parts[0])
        suffix = parts.count == 2 ? Array(parts[1]) : nil
        if suffix?.contains(FilePattern.slash) == true { return nil }
    }

    /// Claims no file, because no path holds a NUL.
    static let nothing = FilePattern(prefix: [0], suffix: nil)

    private init(prefix: [UInt8], suffix: [UInt8]?) {
        self.prefix = prefix
        self.suffix = suffix
    }

    var hasStar: Bool { suffix != nil }

    public func claims(_ path: Path) -> Bool {
        suffix == nil ? path.bytes == prefix : stem(of: path) != nil
    }

    /// What stands where the star is; nil for files that are not claimed, and for patterns without a star.
    public func stem(of path: Path) -> [UInt8]? {
        guard let suffix, path.bytes.count > prefix.count + suffix.count else { return nil }
        guard path.bytes.starts(with: prefix), path.bytes.suffix(suffix.count).elementsEqual(suffix) else { return nil }
        let stem = path.bytes[prefix.count..<(path.bytes.count - suffix.count)]
        return stem.contains(FilePattern.slash) ? nil : Array(stem)
    }

    /// Nil for what cannot be a file name.
    public func path(forStem stem: [UInt8]) -> Path? {
        guard let suffix else { return Path(prefix) }
        let path = Path(prefix + stem + suffix)
        return path.flatMap { self.stem(of: $0) == stem ? $0 : nil }
    }

    /// True if some file could be claimed by both.
    func overlaps(_ other: FilePattern) -> Bool {
        guard let suffix else { return Path(prefix).map(other.claims) ?? false }
        guard let otherSuffix = other.suffix else { return other.overlaps(self) }
        let isSameDirectory = FilePattern.directory(prefix) == FilePattern.directory(other.prefix)
        return isSameDirectory && (prefix.starts(with: other.prefix) || other.prefix.starts(with: prefix))
            && FilePattern.isEnd(suffix, of: otherSuffix)
    }

    private static func isEnd(_ left: [UInt8], of right: [UInt8]) -> Bool {
        left.reversed().starts(with: right.reversed()) || right.reversed().starts(with: left.reversed())
    }

    /// The one that the files stand in; nil for that of the whole folder.
    var directory: Path? { Path(Array(FilePattern.directory(prefix))).flatMap { $0.isRoot ? nil : $0 } }

    private static func directory(_ prefix: [UInt8]) -> ArraySlice<UInt8> {
        prefix[..<(prefix.lastIndex(of: slash) ?? prefix.startIndex)]
    }

    private static let star = UInt8(ascii: "*")
    private static let slash = UInt8(ascii: "/")
}

extension FilePattern: CustomStringConvertible {
    public var description: String {
        String(decoding: prefix, as: UTF8.self) + (suffix.map { "*" + String(decoding: $0, as: UTF8.self) } ?? "")
    }
}
