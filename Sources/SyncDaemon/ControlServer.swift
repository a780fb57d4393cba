import Config
import ControlProtocol
import Coordination
import EventLoop
import SyncCore
import SyncModel

/// The control socket: who may speak, and what they ask, line by line. What is asked is answered by `Daemon+Requests`.
final class ControlServer {
    /// What a client may do, by who it is.
    enum Right: Comparable {
        case nothing
        case read
        case change
    }

    private let loop: Loop
    private var listener: Listener?
    private var clients: [ClientID: ControlClient] = [:]
    private var lastClient = ClientID(0)
    private let rights: (PeerCredentials) -> Right
    private let answer: (Asker) -> Void

    /// More at once are turned away, so that a script in a loop cannot take all descriptors.
    private static let clientsMax = 256
    /// Of these so many may be people who may not even ask: they cannot keep those out who may.
    private static let strangersMax = 16

    init(
        loop: Loop, path: [UInt8], rights: @escaping (PeerCredentials) -> Right,
        answer: @escaping (Asker) -> Void
    ) throws(LoopError) {
        self.loop = loop
        self.rights = rights
        self.answer = answer
        listener = nil
        // Anybody may connect: who it is decides what is answered.
        listener = try Listener(loop: loop, endpoint: .unix(path: path), mode: 0o666) { [unowned self] in accept($0) }
    }

    private func accept(_ stream: Stream) {
        guard clients.count < ControlServer.clientsMax, let credentials = stream.peerCredentials() else {
            return stream.close()
        }
        let right = rights(credentials)
        guard right > .nothing || clients.values.count(where: { $0.right == .nothing }) < ControlServer.strangersMax
        else {
            return stream.close()
        }
        lastClient = lastClient.next
        let id = lastClient
        let client = ControlClient(id: id, stream: stream, right: right, user: credentials.user)
        clients[id] = client
        client.begin(
            answer: { [unowned self] in answer($0) },
            end: { [unowned self] in clients[id] = nil })
    }

    func close() {
        listener?.close()
        listener = nil
        for client in clients.values { client.close() }
        clients = [:]
    }
}

extension ControlServer {
    /// At the place the configuration names.
    static func open(
        _ loop: Loop, _ configuration: Configuration, rights: @escaping (PeerCredentials) -> Right,
        answer: @escaping (Asker) -> Void
    ) throws(Refusal) -> ControlServer {
        let path = configuration.node.control
        // The service manager makes its directory; whoever starts the daemon by hand does not know that it is wanted.
        if let slash = path.lastIndex(of: 0x2F), slash > 0 {
            System.makeDirectory(Array(path[..<slash]), mode: 0o755)
        }
        do throws(LoopError) {
            return try ControlServer(loop: loop, path: path, rights: rights, answer: answer)
        } catch {
            let another = "choose another place with control = in the section [node]"
            let (exit, cure): (Refusal.Exit, String) =
                switch error.code {
                case LoopError.addressInUse: (.inUse, "Another syncd answers there; stop it first.")
                // A directory that is not there could not be made.
                case LoopError.noPermission, LoopError.notPermitted, LoopError.noSuchFile:
                    (.permission, "Make its directory and let syncd write there, or \(another).")
                default: (.configuration, "Mend what is at that path, or \(another).")
                }
            throw Refusal(
                exit: exit,
                text: "the control socket \(Path.quote(path)) cannot be opened: \(error.text). \(cure)")
        }
    }
}

/// Says what a client may do: read for everybody in the daemon's group; change for root, the daemon's own user and the
/// group of administrators.
struct Doorman {
    /// Asked once: a daemon that is up reads no database of the system any more.
    private let administrators = System.group("syncd-admin")

    func right(of credentials: PeerCredentials) -> ControlServer.Right {
        if credentials.user == 0 || credentials.user == System.userID { return .change }
        if let administrators, credentials.isMember(of: administrators) { return .change }
        return credentials.isMember(of: System.groupID) ? .read : .nothing
    }
}

/// One connection to the control socket.
final class ControlClient {
    let id: ClientID
    let right: ControlServer.Right
    let user: UInt32
    private let stream: Stream
    private var lines: LineBuffer
    private(set) var isOpen = true
    /// Called once, when the connection is over: what it waits for is forgotten.
    private var endings: [UInt64: () -> Void] = [:]
    private var lastEnding: UInt64 = 0

    /// A client that reads slower than this behind what is sent to it is let go.
    private static let pendingBytesMax = 16 << 20
    /// Longer than any request without a list in it: nobody without a right makes us hold, or parse, more.
    private static let lineOfStrangerBytesMax = 16 << 10
    /// Whoever may only look has so many requests under way at most, and more than one only of so many bytes together.
    static let requestsOfReaderMax = 256
    private static let bytesOfReaderMax = LineBuffer.lineBytesMax

    /// Requests that somebody means to answer, and the bytes of their lines.
    fileprivate var underWay = (requests: 0, bytes: 0)

    /// One of them, until nobody does any more.
    final class Stay {
        private weak var client: ControlClient?
        private let bytes: Int

        fileprivate init(with client: ControlClient, bytes: Int) {
            self.client = client
            self.bytes = bytes
            client.underWay.requests += 1
            client.underWay.bytes += bytes
        }

        deinit {
            client?.underWay.requests -= 1
            client?.underWay.bytes -= bytes
        }
    }

    /// What waits is held in memory. Whoever may change things is trusted with more than that.
    private var isCrowded: Bool {
        guard right < .change, underWay.requests > 1 else { return false }
        return underWay.requests > ControlClient.requestsOfReaderMax || underWay.bytes > ControlClient.bytesOfReaderMax
    }

    /// Whoever has more to say waits.
    var isBehind: Bool { stream.pendingBytes > ControlClient.pendingBytesMax / 16 }

    init(id: ClientID, stream: Stream, right: ControlServer.Right, user: UInt32) {
        self.id = id
        self.stream = stream
        self.right = right
        self.user = user
        lines = right == .nothing ? LineBuffer(lineBytesMax: Self.lineOfStrangerBytesMax) : LineBuffer()
    }

    func begin(answer: @escaping (Asker) -> Void, end: @escaping () -> Void) {
        whenOver(end)
        stream.onRead = { [unowned self] bytes in
            lines.append(bytes)
            takeLines(answer)
        }
        stream.onEnd = { [unowned self] _ in close() }
        stream.startReading()
    }

    /// Locks that end with this connection, and by which of `endings`.
    var endingsOfLocks: [Claim.ID: UInt64] = [:]

    /// Runs when the client goes away, or at once if it has gone; unless `forgetEnding` takes it back before.
    @discardableResult
    func whenOver(_ body: @escaping () -> Void) -> UInt64 {
        lastEnding += 1
        if isOpen { endings[lastEnding] = body } else { body() }
        return lastEnding
    }

    func forgetEnding(_ id: UInt64) { endings[id] = nil }

    func reply(_ reply: ControlReply) {
        guard isOpen else { return }
        stream.write(reply.bytes)
        if stream.pendingBytes > ControlClient.pendingBytesMax { close() }
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        stream.close()
        let endings = endings.sorted { $0.key < $1.key }
        self.endings = [:]
        for (_, body) in endings { body() }
    }

    private static let crowded = ControlError(
        .requestRefused, text: "too many requests of this connection wait for their answers",
        cure: "Wait for some of the answers, or close the connection and ask again.")

    private func takeLines(_ answer: (Asker) -> Void) {
        while isOpen {
            switch lines.next() {
            case .none: return
            case .tooLong:
                // A line that others may write is too long for a stranger only: what he lacks is the right.
                let denied = ControlRefusal(id: nil, error: ControlError(.controlPermission))
                reply(.refusal(right == .nothing ? denied : .lineTooLong))
                return close()
            case .line(let line):
                do throws(ControlRefusal) {
                    let call = try ControlCall(line: line)
                    let asker = Asker(call: call, client: self, stay: Stay(with: self, bytes: line.count))
                    if isCrowded { asker.refuse(ControlClient.crowded) } else { answer(asker) }
                } catch {
                    reply(.refusal(error))
                }
                // Whoever may not even ask has been told so, and has nothing more to say.
                if right == .nothing { close() }
            }
        }
    }
}
