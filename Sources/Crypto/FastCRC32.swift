/// CRC-32 (ISO-HDLC) with what the processor has for it: a dozen times as fast as a table, and everything on the link
/// passes through it on both nodes.
import CChecksum

public enum FastCRC32 {
    /// The sum over what `previous` was over and as many of the bytes as can be taken at once, and how many these were: all
    /// but the last fifteen at most, or none, if they are few or the processor cannot.
    public static func checksum(_ bytes: ArraySlice<UInt8>, after previous: UInt32 = 0) -> (sum: UInt32, taken: Int) {
        var taken = 0
        // The bytes are read during the call only.
        let sum = unsafe bytes.withUnsafeBytes {
            unsafe cchecksum_crc32($0.baseAddress, $0.count, previous, &taken)
        }
        return (sum, taken)
    }
}
