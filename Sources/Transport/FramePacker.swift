internal import Compression

/// Decides which frames travel compressed.
///
/// Trying costs time even when nothing comes of it, and content that does not shrink (pictures, archives) comes in long
/// runs: after each failure more of the large frames pass untried, up to a limit, until one shrinks again.
struct FramePacker {
    private var failures = 0
    private var untried = 0

    /// Below this the saving is less than a packet's overhead.
    private static let smallBytes = 256
    private static let largeBytes = 16 << 10
    private static let untriedMax = 31

    mutating func record(for frame: [UInt8]) -> Record {
        guard frame.count >= Self.smallBytes else { return Record(.frame, frame) }
        if frame.count >= Self.largeBytes, untried > 0 {
            untried -= 1
            return Record(.frame, frame)
        }
        guard let packed = Zstd.compress(frame) else {
            if frame.count >= Self.largeBytes {
                failures += 1
                untried = min(Self.untriedMax, 1 << min(failures, 5) - 1)
            }
            return Record(.frame, frame)
        }
        failures = 0
        return Record(.compressedFrame, packed)
    }
}
