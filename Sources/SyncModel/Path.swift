/// Names and paths of the shared folder, as the bytes Linux keeps.
///
/// Never `String`: Swift compares strings by canonical equivalence, which would make one file of two.
/// Text for people is made at the edge by `escaped`, and only there.

/// One component of a path: 1 to 255 bytes, no slash, no NUL, not `.` or `..`.
public struct Name: Hashable, Comparable, Sendable {
    public let bytes: [UInt8]

    public init?(_ bytes: [UInt8]) {
        guard Name.isValid(bytes[...]) else { return nil }
        self.bytes = bytes
    }

    /// For names written in this program; nil for what is no name.
    public init?(_ text: String) {
        self.init(Array(text.utf8))
    }

    static func isValid(_ bytes: ArraySlice<UInt8>) -> Bool {
        if bytes.isEmpty || bytes.count > Limits.nameBytesMax { return false }
        if bytes.count <= 2, bytes.allSatisfy({ $0 == 0x2E }) { return false }
        return !bytes.contains { $0 == 0x2F || $0 == 0 }
    }

    public static func < (left: Name, right: Name) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// A place in the shared folder, relative to its root. The root itself is the empty path.
///
/// Paths are ordered component by component, so a directory comes right before everything below it.
public struct Path: Hashable, Comparable, Sendable {
    /// Components joined by `/`; no slash at either end.
    public let bytes: [UInt8]

    public static let root = Path(unchecked: [])

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Total: nil for anything that is not a relative path of valid names within `Limits`.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count <= Limits.pathBytesMax else { return nil }
        var (start, depth) = (0, 0)
        for end in 0...bytes.count where !bytes.isEmpty && (end == bytes.count || bytes[end] == 0x2F) {
            depth += 1
            guard depth <= Limits.pathDepthMax, Name.isValid(bytes[start..<end]) else { return nil }
            start = end + 1
        }
        self.bytes = bytes
    }

    public init?(_ text: String) {
        self.init(Array(text.utf8))
    }

    public var isRoot: Bool { bytes.isEmpty }

    /// There are names that make no path below this one: it would be too deep or too long.
    public var mayRefuseChild: Bool {
        depth >= Limits.pathDepthMax || bytes.count + 1 + Limits.nameBytesMax > Limits.pathBytesMax
    }

    public var depth: Int {
        if bytes.isEmpty { return 0 }
        var count = 1
        for byte in bytes where byte == 0x2F { count += 1 }
        return count
    }

    /// The last component; nil for the root.
    public var name: Name? {
        guard !bytes.isEmpty else { return nil }
        guard let slash = bytes.lastIndex(of: 0x2F) else { return Name(bytes) }
        return Name(Array(bytes[(slash + 1)...]))
    }

    /// The first component; nil for the root.
    public var top: Path? {
        guard !bytes.isEmpty else { return nil }
        guard let slash = bytes.firstIndex(of: 0x2F) else { return self }
        return Path(unchecked: Array(bytes[..<slash]))
    }

    /// Nil for the root.
    public var parent: Path? {
        guard !bytes.isEmpty else { return nil }
        guard let slash = bytes.lastIndex(of: 0x2F) else { return .root }
        return Path(unchecked: Array(bytes[..<slash]))
    }

    /// The directories above, the topmost first, without the root.
    public var parents: [Path] {
        var parents: [Path] = []
        while let parent = (parents.last ?? self).parent, !parent.isRoot { parents.append(parent) }
        return parents.reversed()
    }

    public func appending(_ name: Name) -> Path {
        isRoot ? Path(unchecked: name.bytes) : Path(unchecked: Path.joined(bytes, name.bytes[...]))
    }

    private static func joined(_ directory: [UInt8], _ tail: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(directory.count + 1 + tail.count)
        bytes.append(contentsOf: directory)
        bytes.append(0x2F)
        bytes.append(contentsOf: tail)
        return bytes
    }

    /// True for everything strictly below `directory`.
    public func isBelow(_ directory: Path) -> Bool {
        if directory.isRoot { return !isRoot }
        let count = directory.bytes.count
        return bytes.count > count && bytes[count] == 0x2F && bytes.starts(with: directory.bytes)
    }

    /// They are the same, or one of them lies in the other.
    public func meets(_ other: Path) -> Bool { self == other || isBelow(other) || other.isBelow(self) }

    /// This path with its leading `from` replaced by `to`; nil if it is not `from` or below it, or grows too long.
    public func rebased(from: Path, to: Path) -> Path? {
        if self == from { return to }
        guard isBelow(from) else { return nil }
        let tail = from.isRoot ? bytes[...] : bytes[(from.bytes.count + 1)...]
        return Path(to.isRoot ? Array(tail) : Path.joined(to.bytes, tail))
    }

    /// The daemon's own folder, which is never synced.
    public var isReserved: Bool {
        bytes.starts(with: Path.reservedName) && (bytes.count == Path.reservedName.count || bytes[6] == 0x2F)
    }

    private static let reservedName: [UInt8] = Array(".syncd".utf8)

    public static func < (left: Path, right: Path) -> Bool {
        let shared = min(left.bytes.count, right.bytes.count)
        var index = 0
        while index < shared {
            let a = left.bytes[index]
            let b = right.bytes[index]
            if a != b {
                // A slash ends a component, so it orders before every byte a name may hold.
                if a == 0x2F { return true }
                if b == 0x2F { return false }
                return a < b
            }
            index += 1
        }
        return left.bytes.count < right.bytes.count
    }
}

extension Path: CustomStringConvertible {
    /// For traces and messages: escaped, so that no name can forge a line or hide in one.
    public var description: String { isRoot ? "." : Path.escape(bytes) }

    /// Printable ASCII as it is; everything else, and the backslash, as `\xNN`.
    public static func escape(_ bytes: [UInt8]) -> String { escaped(bytes) { _ in false } }

    /// In quotation marks: those in the name are escaped as well, so that it is seen where it ends.
    public static func quote(_ bytes: [UInt8]) -> String { "\"" + escaped(bytes) { $0 == 0x22 } + "\"" }

    public var quoted: String { isRoot ? "\".\"" : Path.quote(bytes) }

    private static func escaped(_ bytes: [UInt8], also isEscaped: (UInt8) -> Bool) -> String {
        let alphabet: [Character] = Array("0123456789abcdef")
        var text = ""
        for byte in bytes {
            if byte >= 0x20 && byte < 0x7F && byte != 0x5C && !isEscaped(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "\\x"
                text.append(alphabet[Int(byte >> 4)])
                text.append(alphabet[Int(byte & 15)])
            }
        }
        return text
    }
}

extension SortedMap where Key == Path {
    /// The directory, if it is there, and all that is below it.
    public func paths(in directory: Path) -> [Path] {
        var paths: [Path] = []
        for (path, _) in range(from: directory) {
            guard path == directory || path.isBelow(directory) else { break }
            paths.append(path)
        }
        return paths
    }
}
