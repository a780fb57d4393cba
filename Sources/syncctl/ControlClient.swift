import ControlProtocol
import ControlSocket
import SyncModel

/// The connection to the daemon, blocking, one request after the other.
final class ControlClient {
    private let socket: ControlSocket
    private var lines = LineBuffer()
    private var lastID: Int64 = 0

    init(socket path: [UInt8]) throws(ControlError) {
        socket = try ControlSocket(path: path)
    }

    /// The document that answers. Without patience as long as it takes.
    func ask(_ request: ControlRequest, patienceMilliseconds: Int64?) throws(ControlError) -> JSON {
        let id = try send(request)
        let deadline = patienceMilliseconds.map { ControlSocket.monotonicMilliseconds + $0 }
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
    var isOpen: Bool { socket.isOpen }

    private enum Answer {
        case result(JSON)
        case item(JSON)
    }

    private func send(_ request: ControlRequest) throws(ControlError) -> RequestID {
        lastID += 1
        let id = RequestID.number(lastID)
        try socket.send(ControlCall(id: id, request: request).bytes)
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
            case .none: lines.append(try socket.receive(until: deadline))
            }
        }
    }
}
