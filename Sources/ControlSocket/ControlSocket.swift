public import ControlProtocol
import Glibc
import SyncModel
import Synchronization

/// The program's end of the daemon's Unix socket: bytes in, bytes out, and what went wrong as a `ControlError` with what to do about it.
/// The end of this object is the end of the connection, which also gives up whatever the daemon was still doing for it.
///
/// Any thread may send, one line at a time; one thread receives.
public final class ControlSocket: Sendable {
    private let descriptor: Int32
    private let sending = Mutex(())

    /// A daemon whose queue of clients stays full this long is stuck.
    private static let connectSeconds = 10

    public init(path: [UInt8]) throws(ControlError) {
        let capacity = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        guard !path.isEmpty, path.count < capacity, !path.contains(0) else {
            let text =
                "The path of the socket, \(NameText.printable(path)), is not from 1 to \(capacity - 1) bytes long."
            throw ControlError(.requestRefused, text: text, cure: "Choose a shorter one, in [node] control.")
        }
        descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ControlSocket.failure(errno, path) }
        ControlSocket.limitSending(descriptor)
        // After a throw the object is whole, and `deinit` closes.
        let result = ControlSocket.connect(descriptor, to: path)
        guard result == 0 else { throw ControlSocket.failure(result, path) }
    }

    deinit { close(descriptor) }

    public func send(_ line: [UInt8]) throws(ControlError) {
        let result = sending.withLock { _ in sendAll(line) }
        // Who does not read on may have said why before: that, or the end of the connection, is received next.
        if result != 0, result != EPIPE { throw ControlSocket.lost(result) }
    }

    /// What has come, or comes until the deadline (monotonic milliseconds); nothing after an interruption.
    public func receive(until deadline: Int64?) throws(ControlError) -> [UInt8] {
        try waitForBytes(until: deadline)
        return try receive(0)
    }

    /// Until something has come, or the connection has ended; now and then for nothing.
    public func waitForBytes() throws(ControlError) { try waitForBytes(until: nil) }

    /// What has come; nothing if nothing has.
    public func receiveAtOnce() throws(ControlError) -> [UInt8] { try receive(Int32(MSG_DONTWAIT)) }

    /// Whoever receives is told that the connection has ended.
    public func shutDown() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// True as long as the daemon has not closed the connection.
    public var isOpen: Bool {
        var byte: UInt8 = 0
        // The buffer is used for the time of the call only.
        let count = unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
    }

    public static var monotonicMilliseconds: Int64 {
        var time = timespec()
        // The structure is used for the time of the call only.
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    public static var processID: Int { Int(getpid()) }

    // MARK: Calls

    /// 0, or what went wrong.
    private func sendAll(_ line: [UInt8]) -> Int32 {
        var rest = line[...]
        while !rest.isEmpty {
            // The pointer is used for the time of the call only. A daemon that has gone is an error and no signal.
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 { rest = rest.dropFirst(count) }
            if count < 0, errno != EINTR { return errno }
        }
        return 0
    }

    private func receive(_ flags: Int32) throws(ControlError) -> [UInt8] {
        var count = 0
        // What is not filled is not looked at.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, filled in
            count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, flags)
            filled = max(0, count)
        }
        if count == 0 { throw ControlSocket.lost(nil) }
        if count < 0, errno != EINTR, errno != EAGAIN { throw ControlSocket.lost(errno) }
        return bytes
    }

    /// Also where there is no deadline: who waits in `recv` is woken whenever the daemon takes what was sent to it, for nothing.
    private func waitForBytes(until deadline: Int64?) throws(ControlError) {
        let left = deadline.map { max(0, $0 - ControlSocket.monotonicMilliseconds) } ?? -1
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // The structure is used for the time of the call only.
        let count = unsafe poll(&wanted, 1, Int32(clamping: left))
        if count == 0, let deadline, deadline <= ControlSocket.monotonicMilliseconds {
            throw ControlError(.controlSilent)
        }
    }

    private static func limitSending(_ descriptor: Int32) {
        var time = timeval(tv_sec: connectSeconds, tv_usec: 0)
        // Only a convenience: without it a stuck daemon keeps us waiting.
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// 0, or what went wrong.
    private static func connect(_ descriptor: Int32, to path: [UInt8]) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // The path was checked to fit with the zero that ends it, which is there from the start.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        while true {
            // `sockaddr_un` is one kind of `sockaddr`; the pointer is used for the time of the call only.
            let result = unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            if result == 0 { return 0 }
            if errno != EINTR { return errno }
        }
    }

    // MARK: Words

    private static func failure(_ code: Int32, _ socket: [UInt8]) -> ControlError {
        let place = NameText.printable(socket)
        switch code {
        case ENOENT, ECONNREFUSED, ENOTDIR:
            return ControlError(
                .controlNotRunning, text: "The daemon is not running: nobody listens at \(place) (\(text(of: code))).")
        case EACCES, EPERM:
            return ControlError(.controlPermission, text: "You may not use the socket \(place) (\(text(of: code))).")
        case EAGAIN:
            return ControlError(.controlSilent, text: "syncd does not take the connection at \(place): it is stuck.")
        default:
            return ControlError(.controlLost, text: "The socket \(place) cannot be used: \(text(of: code)).")
        }
    }

    private static func lost(_ code: Int32?) -> ControlError {
        let cause = code.map { " (\(text(of: $0)))" } ?? ""
        return ControlError(.controlLost, text: "The connection to syncd ended before the answer was there\(cause).")
    }

    /// What Linux calls it.
    private static func text(of code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        // Into our own buffer, used for the time of the call only, because other threads may ask, too.
        guard unsafe strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
