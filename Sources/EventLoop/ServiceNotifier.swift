internal import CLibuv
internal import Glibc

/// Tells systemd how the service is doing, as `sd_notify(3)` does, without its library: one datagram per message.
public struct ServiceNotifier: Sendable {
    /// How long systemd waits for `WATCHDOG=1` before it restarts the service; nil when it does not. Ping at half of
    /// it.
    public let watchdogMicroseconds: UInt64?

    private let address: [UInt8]

    /// Nil when nobody asked for notifications: the program was started by hand, or by another service manager.
    public init?() {
        self.init { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
    }

    /// With the variables handed in: `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    init?(variable: (String) -> String?) {
        // An absolute path, or `@` and a name that lives only in the kernel; systemd documents a few others for
        // containers and virtual machines, which never start a plain service.
        guard let socket = variable("NOTIFY_SOCKET"), socket.hasPrefix("/") || socket.hasPrefix("@"),
            (2..<MemoryLayout.size(ofValue: sockaddr_un().sun_path)).contains(socket.utf8.count)
        else { return nil }
        address = socket.hasPrefix("@") ? [0] + socket.utf8.dropFirst() : Array(socket.utf8)
        let isForUs = variable("WATCHDOG_PID").map { $0 == String(getpid()) } ?? true
        let period = variable("WATCHDOG_USEC").flatMap { UInt64($0) } ?? 0
        watchdogMicroseconds = isForUs && period > 0 ? period : nil
    }

    /// That what follows, up to the next `READY=1`, reads the configuration again. systemd wants to know when that began, by
    /// the clock that it goes by itself, or it takes the message for one of an earlier time.
    public func sendReloading() {
        send("RELOADING=1\nMONOTONIC_USEC=\(Clock.serviceMicroseconds())")
    }

    /// Lines as systemd knows them: `READY=1`, `STATUS=…`, `WATCHDOG=1`, `STOPPING=1`. Whether it arrived cannot be
    /// known and changes nothing, so failures are not told.
    public func send(_ text: String) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &target.sun_path) { unsafe $0.copyBytes(from: address) }
        // An abstract name ends where the address ends, so the length must be exact.
        let length = socklen_t(MemoryLayout<sa_family_t>.size + address.count)
        let message = Array(text.utf8)
        unsafe withUnsafePointer(to: &target) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = unsafe sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
