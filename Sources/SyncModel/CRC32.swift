/// CRC-32 (ISO-HDLC, the one of zlib): tells a torn or mangled frame or stored blob from a whole one. It is no protection
/// against an enemy; on the link that is TLS.
public enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        var value = UInt32(index)
        for _ in 0..<8 { value = value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
        return value
    }

    /// The sum over what `previous` was over, and then `bytes`.
    public static func checksum(_ bytes: ArraySlice<UInt8>, after previous: UInt32 = 0) -> UInt32 {
        let table = table
        var value: UInt32 = ~previous
        for byte in bytes { value = table[Int((value ^ UInt32(byte)) & 0xFF)] ^ (value >> 8) }
        return ~value
    }
}
