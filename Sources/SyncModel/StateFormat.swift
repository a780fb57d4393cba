/// Of which version state.db is, told by its beginning: it is a database of SQLite, whose file format has 16 bytes that say so, the version as
/// a big-endian number at byte 60 and the program that it belongs to at byte 68. What of it lies in the journal only is not seen here.
public enum StateFormat {
    /// The version that this program writes: the number of the last step of `Schema`.
    public static let version = 4
    /// "sycd" in ASCII.
    public static let applicationID: Int32 = 0x7379_6364
    public static let headerBytes = 100

    /// Nil if it is none of ours.
    public static func version(in header: [UInt8]) -> Int? {
        guard header.count >= headerBytes, header.starts(with: magic), number(at: 68, in: header) == applicationID
        else { return nil }
        return Int(number(at: 60, in: header))
    }

    private static let magic = Array("SQLite format 3\0".utf8)

    private static func number(at offset: Int, in header: [UInt8]) -> Int32 {
        Int32(bitPattern: header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) })
    }
}
