import Glibc

/// The few things the shell asks of Linux that belong to no adapter. The only file here that speaks to Glibc.
enum System {
    /// Writes as far as it can be written: a closed stderr is no reason to stop syncing.
    static func tell(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }

    static func environment(_ name: String) -> String? {
        // The value belongs to the environment, which nobody changes after the start.
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    static var userID: UInt32 { geteuid() }

    /// Names the run of the machine: another one means that it went down in between.
    static func bootID() -> [UInt8]? { contents(of: Array("/proc/sys/kernel/random/boot_id".utf8), limit: 128) }

    /// A small file whole; nil if it cannot be read or is larger than `limit`.
    static func contents(of path: [UInt8], limit: Int) -> [UInt8]? {
        let descriptor = unsafe open(terminated(path), O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var filled = 0
        while filled < bytes.count {
            let room = bytes.count - filled
            let count = unsafe bytes.withUnsafeMutableBytes { space in
                unsafe Glibc.read(
                    descriptor, UnsafeMutableRawBufferPointer(rebasing: space[filled...]).baseAddress, room)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return Array(bytes[..<filled]) }
            filled += count
        }
        return nil
    }

    /// Makes one directory; whether it was there already or cannot be made shows when it is used.
    static func makeDirectory(_ path: [UInt8], mode: UInt32) {
        _ = unsafe mkdir(terminated(path), mode)
    }

    /// The number of a group in the system's database of groups.
    static func group(_ name: String) -> UInt32? {
        guard let group = unsafe getgrnam(name) else { return nil }
        return unsafe group.pointee.gr_gid
    }

    private static func terminated(_ path: [UInt8]) -> [CChar] { path.map(CChar.init(bitPattern:)) + [0] }
}

extension System {
    static var groupID: UInt32 { getegid() }
    static var terminate: Int32 { SIGTERM }
    static var interrupt: Int32 { SIGINT }
    static var hangUp: Int32 { SIGHUP }
}
