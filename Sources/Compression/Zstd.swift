internal import CZstd

/// zstd for frames on the link and content on disk: whole buffers in, whole buffers out.
///
/// The level is fixed where a core of 2012 still outruns a gigabit link. What is decompressed is never larger than the
/// caller allows, whatever the bytes claim: neither the size in their header nor what comes out of them is believed
/// further than `limit`.
public enum Zstd {
    /// Of the library that is in use.
    public static var libraryVersion: String { unsafe String(cString: ZSTD_versionString()) }

    private static let level: Int32 = 1

    /// Compressed bytes must save at least a sixteenth, or the other side's work is not worth it.
    private static let savingShare = 16

    /// Nil if it does not pay: then send or keep the bytes as they are.
    public static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        // Room for what would pay and no more: zstd gives up by itself on bytes that do not shrink.
        let room = bytes.count - bytes.count / savingShare - 1
        guard room > 0 else { return nil }
        var written = 0
        let packed = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            written = unsafe bytes.withUnsafeBufferPointer { source in
                unsafe ZSTD_compress(buffer.baseAddress, room, source.baseAddress, source.count, level)
            }
            count = ZSTD_isError(written) == 0 ? written : 0
        }
        return ZSTD_isError(written) == 0 ? packed : nil
    }

    /// The original bytes of exactly one zstd frame. Refuses before allocating when the frame is larger than `limit`,
    /// or does not say how large it is: ours always do.
    public static func decompress(_ bytes: [UInt8], limit: Int) throws(ZstdError) -> [UInt8] {
        let size = try contentSize(of: bytes, limit: limit)
        var written = 0
        let plain = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            written = unsafe bytes.withUnsafeBufferPointer { source in
                unsafe ZSTD_decompress(buffer.baseAddress, size, source.baseAddress, source.count)
            }
            count = ZSTD_isError(written) == 0 ? written : 0
        }
        guard ZSTD_isError(written) == 0 else {
            throw .damaged(unsafe String(cString: ZSTD_getErrorName(written)))
        }
        guard written == size else { throw .damaged("the frame holds fewer bytes than it says") }
        return plain
    }

    private static func contentSize(of bytes: [UInt8], limit: Int) throws(ZstdError) -> Int {
        let (size, end) = unsafe bytes.withUnsafeBufferPointer { source in
            unsafe (
                ZSTD_getFrameContentSize(source.baseAddress, source.count),
                ZSTD_findFrameCompressedSize(source.baseAddress, source.count)
            )
        }
        switch size {
        case UInt64.max: throw .damaged("the size of the content is not stated")  // ZSTD_CONTENTSIZE_UNKNOWN
        case UInt64.max - 1: throw .damaged("this is no zstd frame")  // ZSTD_CONTENTSIZE_ERROR
        default: break
        }
        guard let size = Int(exactly: size), size <= limit else { throw .tooLarge(size: size, limit: limit) }
        guard ZSTD_isError(end) == 0, end == bytes.count else {
            throw .damaged("it is not one whole frame")
        }
        return size
    }
}

/// Why bytes could not be decompressed. Nothing was allocated for them beyond the limit.
public enum ZstdError: Error, Hashable, Sendable {
    /// What the bytes say they hold, against what the caller allows.
    case tooLarge(size: UInt64, limit: Int)
    case damaged(String)
}

extension ZstdError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooLarge(let size, let limit): "zstd: \(size) bytes of content, and at most \(limit) are allowed"
        case .damaged(let reason): "zstd: \(reason)"
        }
    }
}
