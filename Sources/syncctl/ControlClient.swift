import ControlProtocol
import Glibc
import SyncModel

/// The connection to the daemon: one Unix socket, blocking, one request after the other.
///
/// Everything that can go wrong on it is a `ControlError` with what to do about it. The end of this object is the end of
/// the connection, which also gives up whatever the daemon was still doing for it.
final class ControlClient {
    private let descriptor: Int32
    private let socket: [UInt8]
    private var lines = LineBuffer()
    private var lastID: Int64 = 0

    /// A daemon whose queue of clients stays full this long is stuck.
    private static let connectSeconds = 10

    init(socket: [UInt8]) throws(ControlError) {
        self.socket = socket
        let capacity = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        guard !socket.isEmpty, socket.count < capacity, !socket.contains(0) else {
            let text =
                "The path of the socket, \(NameText.printable(socket)), is not from 1 to \(capacity - 1) bytes long."
            throw ControlError(.requestRefused, text: text, cure: "Choose a shorter one, in [node] control.")
        }
        descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ControlClient.failure(errno, socket) }
        ControlClient.limitSending(descriptor)
        // After a throw the object is whole, and `deinit` closes.
        let result = ControlClient.connect(descriptor, to: socket)
        guard result == 0 else { throw ControlClient.failure(result, socket) }
    }

    deinit { close(descriptor) }

    /// The document that answers. Without patience as long as it takes.
    func ask(_ request: ControlRequest, patienceMilliseconds: Int64?) throws(ControlError) -> JSON {
        let id = try send(request)
        let deadline = patienceMilliseconds.map { System.monotonicMilliseconds + $0 }
        while true {
            if case .result(let document) = try answer(to: id, until: deadline) { return document }
        }
    }

    /// Hands each document of a stream to `take`, until the daemon ends it or `take` has had enough.
    func stream(_ request: ControlRequest, take: (JSON) -> Bool) throws(ControlError) {
        let id = try send(request)
        while true {
            switch try answer(to: id, until: nil) {
            case .item(let document): if !take(document) { return }
            case .result: return
            }
        }
    }

    /// True as long as the daemon has not closed the connection.
    var isOpen: Bool {
        var byte: UInt8 = 0
        // The buffer is used for the time of the call only.
        let count = unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
    }

    private enum Answer {
        case result(JSON)
        case item(JSON)
    }

    private func send(_ request: ControlRequest) throws(ControlError) -> RequestID {
        lastID += 1
        let id = RequestID.number(lastID)
        var rest = ControlCall(id: id, request: request).bytes[...]
        while !rest.isEmpty {
            // The pointer is used for the time of the call only. A daemon that has gone is an error and no signal.
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 { rest = rest.dropFirst(count) }
            if count < 0, errno != EINTR { throw ControlClient.lost(errno) }
        }
        return id
    }

    private func answer(to id: RequestID, until deadline: Int64?) throws(ControlError) -> Answer {
        while true {
            let line = try line(until: deadline)
            let reply: ControlReply
            do throws(DocumentError) {
                reply = try ControlReply(line: line)
            } catch {
                throw ControlError(.controlUnreadable, text: "What answered is not syncd: \(error.text).")
            }
            switch reply {
            case .result(id, let document): return .result(document)
            case .item(id, _, let document): return .item(document)
            case .refusal(let refusal) where refusal.id == id || refusal.id == nil: throw refusal.error
            case .result, .item, .refusal: continue  // an answer to something we have given up
            }
        }
    }

    private func line(until deadline: Int64?) throws(ControlError) -> [UInt8] {
        while true {
            switch lines.next() {
            case .line(let line): return line
            case .tooLong: throw ControlError(.controlUnreadable)
            case .none: lines.append(try receive(until: deadline))
            }
        }
    }

    private func receive(until deadline: Int64?) throws(ControlError) -> [UInt8] {
        try waitForBytes(until: deadline)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        // The buffer is used for the time of the call only.
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        if count == 0 { throw ControlClient.lost(nil) }
        if count < 0 {
            if errno == EINTR { return [] }
            throw ControlClient.lost(errno)
        }
        return Array(buffer[..<count])
    }

    private func waitForBytes(until deadline: Int64?) throws(ControlError) {
        guard let deadline else { return }
        let left = max(0, deadline - System.monotonicMilliseconds)
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // The structure is used for the time of the call only.
        let count = unsafe poll(&wanted, 1, Int32(clamping: left))
        if count == 0, deadline <= System.monotonicMilliseconds { throw ControlError(.controlSilent) }
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

    private static func failure(_ code: Int32, _ socket: [UInt8]) -> ControlError {
        let place = NameText.printable(socket)
        switch code {
        case ENOENT, ECONNREFUSED, ENOTDIR:
            return ControlError(
                .controlNotRunning,
                text: "The daemon is not running: nobody listens at \(place) (\(System.text(of: code))).")
        case EACCES, EPERM:
            return ControlError(
                .controlPermission, text: "You may not use the socket \(place) (\(System.text(of: code))).")
        case EAGAIN:
            return ControlError(.controlSilent, text: "syncd does not take the connection at \(place): it is stuck.")
        default:
            return ControlError(.controlLost, text: "The socket \(place) cannot be used: \(System.text(of: code)).")
        }
    }

    private static func lost(_ code: Int32?) -> ControlError {
        let cause = code.map { " (\(System.text(of: $0)))" } ?? ""
        return ControlError(.controlLost, text: "The connection to syncd ended before the answer was there\(cause).")
    }
}
