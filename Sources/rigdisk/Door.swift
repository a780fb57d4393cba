import Glibc

/// The socket on which one machine finds its disk. Blocking, for one client: the program has nothing else to do.
struct Door {
    private let client: CInt

    /// Waits until somebody connects.
    init(path: String) throws(MediumError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        // The last byte stays zero.
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw MediumError(number: ENAMETOOLONG)
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw .last }
        defer { close(listener) }
        unsafe unlink(path)
        // A unix address begins like any, and its size goes along.
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(listener, 1) == 0 else { throw .last }
        client = accept(listener, nil, nil)
        guard client >= 0 else { throw .last }
    }

    /// Nothing when the other end is gone, whichever way.
    func receive() -> [UInt8] {
        let capacity = 1 << 18
        return unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, filled in
            repeat {
                // The buffer holds `capacity` bytes.
                let count = unsafe read(client, buffer.baseAddress, capacity)
                if count < 0, errno == EINTR { continue }
                filled = max(count, 0)
                return
            } while true
        }
    }

    /// False when the other end is gone.
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            // Alive for the call, and `sent` lies within it.
            let step = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(client, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if step < 0, errno == EINTR { continue }
            guard step > 0 else { return false }
            sent += step
        }
        return true
    }
}
