import Glibc

/// A file as the medium of a disk. It is never synced: the machine it lies on keeps its power.
struct Image: Medium {
    let size: Int
    private let descriptor: CInt

    init(path: String) throws(MediumError) {
        descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last }
        let end = lseek(descriptor, 0, SEEK_END)
        guard end >= 0 else { throw .last }
        size = end
    }

    func read(at offset: Int, count: Int) throws(MediumError) -> [UInt8] {
        var failure: MediumError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                // The buffer holds `count` bytes, of which `filled` are there.
                let step = unsafe pread(
                    descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, offset + filled)
                if step < 0, errno == EINTR { continue }
                guard step > 0 else {
                    failure = step < 0 ? .last : MediumError(number: EIO)
                    break
                }
                filled += step
            }
        }
        if let failure { throw failure }
        return bytes
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(MediumError) {
        var written = 0
        while written < bytes.count {
            // Alive for the call, and `written` lies within it.
            let step = unsafe bytes.withUnsafeBytes {
                unsafe pwrite(
                    descriptor, $0.baseAddress?.advanced(by: written), bytes.count - written, offset + written)
            }
            if step < 0, errno == EINTR { continue }
            guard step > 0 else { throw step < 0 ? .last : MediumError(number: EIO) }
            written += step
        }
    }
}

extension MediumError {
    /// Of the call that has just failed.
    static var last: MediumError { MediumError(number: errno) }
}
