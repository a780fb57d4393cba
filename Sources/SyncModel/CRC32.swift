/// CRC-32 (ISO-HDLC, the one of zlib): tells a torn or mangled frame or stored blob from a whole one. It is no protection
/// against an enemy; on the link that is TLS.
public enum CRC32 {
    /// The sum over bytes. The shell has one that uses what the processor has for it.
    public typealias Checksum = @Sendable (ArraySlice<UInt8>) -> UInt32

    /// Bytes taken at a time: every byte of the content passes through here on its way, on both nodes.
    private static let stride = 8

    /// Table `n` moves a byte past `n` more: 8 tables of 256, one behind the other.
    private static let tables: [UInt32] = {
        var tables: [UInt32] = (0..<256).map { index in
            var value = UInt32(index)
            for _ in 0..<8 { value = value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
            return value
        }
        for index in 256..<stride * 256 {
            let nearer = tables[index - 256]
            tables.append(tables[Int(nearer & 0xFF)] ^ (nearer >> 8))
        }
        return tables
    }()

    /// The sum over what `previous` was over, and then `bytes`.
    public static func checksum(_ bytes: ArraySlice<UInt8>, after previous: UInt32 = 0) -> UInt32 {
        let (bytes, tables) = (bytes.span, tables.span)
        var value = ~previous
        var at = 0
        while bytes.count &- at >= stride {
            let low = value ^ word(bytes, at)
            let high = word(bytes, at &+ 4)
            value = entry(7, low, tables) ^ entry(6, low >> 8, tables)
            value ^= entry(5, low >> 16, tables) ^ entry(4, low >> 24, tables)
            value ^= entry(3, high, tables) ^ entry(2, high >> 8, tables)
            value ^= entry(1, high >> 16, tables) ^ entry(0, high >> 24, tables)
            at &+= stride
        }
        while at < bytes.count {
            value = entry(0, value ^ UInt32(bytes[at]), tables) ^ (value >> 8)
            at &+= 1
        }
        return ~value
    }

    private static func entry(_ table: Int, _ byte: UInt32, _ tables: borrowing Span<UInt32>) -> UInt32 {
        tables[table &* 256 &+ Int(byte & 0xFF)]
    }

    private static func word(_ bytes: borrowing Span<UInt8>, _ at: Int) -> UInt32 {
        UInt32(bytes[at]) | UInt32(bytes[at &+ 1]) << 8 | UInt32(bytes[at &+ 2]) << 16 | UInt32(bytes[at &+ 3]) << 24
    }
}
