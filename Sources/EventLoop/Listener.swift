internal import CLibuv
internal import Glibc

/// Accepts connections, over TCP or on a unix socket.
///
/// `[::]` takes IPv4 as well. A host name is resolved then and there: listeners are made before the loop runs.
public final class Listener {
    /// The port in use, also when the endpoint left the choice to the system. Nil for a unix socket.
    public private(set) var boundPort: UInt16?

    private let cell: HandleCell
    private let loop: Loop
    private let isTCP: Bool

    /// Connections the kernel holds ready for us to accept.
    private static let backlog: Int32 = 128

    /// `mode` is for a unix socket's file; nil leaves it to the umask. The listener takes every connection and hands
    /// it on: how many are too many is for the owner of `onConnection` to say.
    public init(
        loop: Loop, endpoint: Endpoint, mode: UInt16? = nil, onConnection: @escaping (Stream) -> Void
    ) throws(LoopError) {
        self.loop = loop
        switch endpoint {
        case .tcp(let host, let port):
            isTCP = true
            cell = try Self.bindTCP(loop, host: host, port: port, "listen on \(endpoint)")
        case .unix(let path):
            isTCP = false
            cell = try Self.bindUnix(loop, path: path, mode: mode, "listen on \(endpoint)")
        }
        cell.onEvent = { [self] status in accept(status, onConnection) }
        let answer = unsafe uv_listen(cell.stream, Self.backlog) { handle, status in
            unsafe HandleCell.deliver(Int(status), to: handle)
        }
        guard answer == 0 else {
            cell.close()
            throw LoopError(operation: "listen on \(endpoint)", code: answer)
        }
        if isTCP { boundPort = unsafe SocketAddress { unsafe uv_tcp_getsockname(cell.tcp, $0, $1) }?.port }
    }

    /// Stops accepting and removes a unix socket's file. Connections already made live on.
    public func close() { cell.close() }

    private func accept(_ status: Int, _ onConnection: (Stream) -> Void) {
        // An error here, such as too many open files, concerns one connection that libuv has dropped already.
        guard status == 0 else { return }
        do throws(LoopError) {
            let stream = try Stream(loop: loop, isTCP: isTCP)
            guard unsafe uv_accept(cell.stream, stream.cell.stream) == 0 else { return stream.close() }
            stream.connectionMade()
            onConnection(stream)
        } catch {
            // libuv cannot fail to begin a socket that has no descriptor yet; were it to, the kernel drops the
            // connection.
        }
    }

    private static func bindTCP(
        _ loop: Loop, host: String, port: UInt16, _ operation: String
    ) throws(LoopError) -> HandleCell {
        let addresses = try Resolver.addresses(of: host, port: port, isForListening: true).get()
        do throws(LoopError) {
            return try bindFirst(loop, addresses, operation)
        } catch {
            // A machine booted without IPv6 has no `::`, yet "every address" still has a meaning there.
            guard error.code == UV_EAFNOSUPPORT.rawValue, host == "::",
                let everyIPv4 = SocketAddress(numeric: "0.0.0.0", port: port)
            else { throw error }
            return try bindFirst(loop, [everyIPv4], operation)
        }
    }

    private static func bindFirst(
        _ loop: Loop, _ addresses: [SocketAddress], _ operation: String
    ) throws(LoopError) -> HandleCell {
        let cell = try HandleCell(UV_TCP, in: loop, operation) { unsafe uv_tcp_init(loop.memory, $0.tcp) }
        guard let address = addresses.first else {
            cell.close()
            throw LoopError(operation: operation, code: LoopError.unknownHost)
        }
        let answer = unsafe address.withPointer { unsafe uv_tcp_bind(cell.tcp, $0, 0) }
        guard answer == 0 else {
            cell.close()
            throw LoopError(operation: operation, code: answer)
        }
        return cell
    }

    private static func bindUnix(
        _ loop: Loop, path: [UInt8], mode: UInt16?, _ operation: String
    ) throws(LoopError) -> HandleCell {
        let socket = try UnixSocket.bind(path: path, mode: mode)
        let cell: HandleCell
        do throws(LoopError) {
            cell = try HandleCell(UV_NAMED_PIPE, in: loop, operation) { unsafe uv_pipe_init(loop.memory, $0.pipe, 0) }
        } catch {
            socket.removeFile()
            Glibc.close(socket.descriptor)
            throw error
        }
        cell.onClose = { socket.removeFile() }
        let answer = unsafe uv_pipe_open(cell.pipe, socket.descriptor)
        guard answer == 0 else {
            cell.close()
            Glibc.close(socket.descriptor)
            throw LoopError(operation: operation, code: answer)
        }
        return cell
    }
}
