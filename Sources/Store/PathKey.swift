/// How a path is written as a key of the database: its bytes, with 0x00 in the place of each slash.
///
/// ```
/// path  a/b!/c        61 2f 62 21 2f 63
/// key                 61 00 62 21 00 63
/// ```
/// No name holds a zero or a slash, so nothing is lost, and SQLite's order of blobs (byte by byte, the shorter first) becomes
/// the order of `Path`: a slash before every byte of a name, a directory right before what is below it. Everything strictly
/// below a directory `d` is the range from `d 00` up to `d 01`, a sibling's name begins at `d 01` at the earliest, and the
/// root is the empty key.
import SyncModel

enum PathKey {
    static func bytes(of path: Path) -> [UInt8] {
        path.bytes.map { $0 == slash ? 0 : $0 }
    }

    /// Total: nil for what no path is written as.
    static func path(of key: [UInt8]) -> Path? {
        if key.contains(slash) { return nil }
        return Path(key.map { $0 == 0 ? slash : $0 })
    }

    /// The keys of everything strictly below a directory.
    static func below(_ directory: Path) -> (from: [UInt8], upTo: [UInt8]) {
        // No key begins with a zero, and none with more 0xFF than a name has bytes.
        if directory.isRoot { return ([1], [UInt8](repeating: 0xFF, count: Limits.nameBytesMax + 1)) }
        let key = bytes(of: directory)
        return (key + [0], key + [1])
    }

    private static let slash: UInt8 = 0x2F
}
