import ControlProtocol
import Dispatch
import Glibc
import SyncKit
import SyncModel
import Synchronization
import Testing

/// Where a daemon would listen: it says what a test has it say, to whoever came last.
final class ScriptedDaemon: Sendable {
    private struct State {
        var client: Int32?
        var calls: [ControlCall] = []
    }

    private let listener: Int32
    private let folder: DocumentPath
    private let answer: @Sendable (ControlCall) -> [ControlReply]
    private let state = Mutex(State())

    /// `answer` is asked about everything but `status`.
    init(
        _ path: DocumentPath, folder: DocumentPath, answer: @escaping @Sendable (ControlCall) -> [ControlReply]
    ) throws {
        listener = try listening(at: path)
        self.folder = folder
        self.answer = answer
        DispatchQueue(label: "scripted").async { [weak self, listener] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let self else { return }
                self.state.withLock { $0.client = client }
                DispatchQueue(label: "scripted client").async { [weak self] in
                    ScriptedDaemon.hear(client) { self?.take($0) }
                }
            }
        }
    }

    deinit {
        hangUp()
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    var calls: [ControlCall] { state.withLock { $0.calls } }

    func say(_ reply: ControlReply) {
        guard let client = state.withLock({ $0.client }) else { return }
        let line = reply.bytes
        // The pointer is used for the time of the call only.
        _ = unsafe line.withUnsafeBytes { unsafe send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// Whoever came last is without a daemon; he may come again.
    func hangUp() { if let client = state.withLock({ $0.client }) { shutdown(client, Int32(SHUT_RDWR)) } }

    private func take(_ line: [UInt8]) {
        guard let call = try? ControlCall(line: line) else { return }
        state.withLock { $0.calls.append(call) }
        guard case .status = call.request else { return answer(call).forEach(say) }
        let status = StatusDocument(
            node: .init(name: [], id: NodeID(Digest(words: (0, 0, 0, 0))), program: "", uptimeSeconds: 0), peer: nil,
            folder: .init(path: folder.bytes, state: .inSync, files: 0, directories: 0, bytes: 0), inSync: true)
        say(.result(call.id, status.json))
    }

    private static func hear(_ client: Int32, _ take: ([UInt8]) -> Void) {
        var lines = LineBuffer()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            // The buffer is used for the time of the call only.
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(client, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { break }
            lines.append(Array(buffer[..<count]))
            while case .line(let line) = lines.next() { take(line) }
        }
        close(client)
    }
}
