internal import CLibuv
internal import Glibc

/// An IPv4 or IPv6 address with its port, as the system stores it.
struct SocketAddress: Sendable {
    private var storage: sockaddr_storage

    /// `192.0.2.7`, `2001:db8::7` or `fe80::1%eth0`. Nil for anything else: names need the resolver.
    init?(numeric host: String, port: UInt16) {
        var storage = sockaddr_storage()
        let isAddress = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            guard let start = bytes.baseAddress else { return false }
            return unsafe uv_ip4_addr(host, Int32(port), start.assumingMemoryBound(to: sockaddr_in.self)) == 0
                || uv_ip6_addr(host, Int32(port), start.assumingMemoryBound(to: sockaddr_in6.self)) == 0
        }
        guard isAddress else { return nil }
        self.storage = storage
    }

    /// What the resolver or the kernel wrote. Nil for families other than the two.
    init?(copying source: UnsafePointer<sockaddr>, length: Int) {
        guard unsafe [AF_INET, AF_INET6].contains(Int32(source.pointee.sa_family)),
            length <= MemoryLayout<sockaddr_storage>.size
        else { return nil }
        var storage = sockaddr_storage()
        unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(start: source, count: length))
        }
        self.storage = storage
    }

    /// Asks libuv for the address of one end of a connection.
    init?(_ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<Int32>) -> Int32) {
        var storage = sockaddr_storage()
        var length = Int32(MemoryLayout<sockaddr_storage>.size)
        let answer = unsafe withUnsafeMutableBytes(of: &storage) { bytes -> Int32 in
            guard let start = bytes.baseAddress else { return -1 }
            return unsafe ask(start.assumingMemoryBound(to: sockaddr.self), &length)
        }
        guard answer == 0 else { return nil }
        self.storage = storage
    }

    var isIPv6: Bool { Int32(storage.ss_family) == AF_INET6 }

    var port: UInt16 {
        // Both families keep the port in the same two bytes, in network order.
        unsafe withUnsafeBytes(of: storage) { unsafe UInt16($0[2]) << 8 | UInt16($0[3]) }
    }

    /// `192.0.2.7:4711` or `[2001:db8::7]:4711`. An IPv4 peer of a socket for both families is shown as what it is.
    var text: String {
        let host = hostText
        let mapped = "::ffff:"
        if host.hasPrefix(mapped), host.contains(".") { return "\(host.dropFirst(mapped.count)):\(port)" }
        return isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    private var hostText: String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            let answer = unsafe withPointer { unsafe uv_ip_name($0, start, buffer.count) }
            return answer == 0 ? unsafe String(cString: start) : "unknown"
        }
    }

    func withPointer<Value>(_ body: (UnsafePointer<sockaddr>) -> Value) -> Value {
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0) }
        }
    }
}
