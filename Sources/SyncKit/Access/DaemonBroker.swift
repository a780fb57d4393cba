import ControlProtocol
import ControlSocket
import Coordination
import Disk
import RecordMerge
import SyncModel
import Synchronization

/// Asks a running syncd for a lock on what lies in its folder, so that other programs, the daemon itself and the other node take part.
/// Without a daemon, and elsewhere, nothing is asked.
final class DaemonBroker: AccessBroker {
    private struct State {
        var connection: Connected?
        /// Nobody listened: tried again then (monotonic milliseconds).
        var pauseEnds: UInt64 = 0
    }

    private struct Connected {
        let connection: DaemonConnection
        /// Of the folder, resolved.
        let folder: [UInt8]
    }

    private let socket: DocumentPath
    private let mode: LockRequest.Mode
    private let clock: any DocumentClock
    private let state = Mutex(State())

    private static let pauseMilliseconds: UInt64 = 1_000

    init(socket: DocumentPath, mode: LockRequest.Mode, clock: any DocumentClock) {
        self.socket = socket
        self.mode = mode
        self.clock = clock
    }

    func hold(_ wanted: HeldPaths, within patience: Duration?) async throws -> (any HeldAccess)? {
        guard let connected = try await connected() else { return nil }
        let inside = wanted.paths.filter { $0.starts(with: connected.folder + [UInt8(ascii: "/")]) }
        guard !inside.isEmpty else { return nil }
        let request = LockRequest(
            paths: inside.map { PathArgument(typed: $0, directory: [UInt8(ascii: "/")]) }, isRead: wanted.isRead,
            mode: mode, timeoutMilliseconds: patience?.milliseconds, outlivesConnection: false, holder: wanted.purpose,
            process: ControlSocket.processID)
        let connection = connected.connection
        do {
            let answer = try await connection.ask(.lock(request)) { late in
                DaemonBroker.id(late).map { connection.tell(.release(lock: $0)) }
            }
            guard let id = DaemonBroker.id(answer) else { return nil }
            return HeldLock { connection.tell(.release(lock: id)) }
        } catch let error as ControlError {
            // The daemon has gone: there is nobody to be coordinated with.
            if !connection.isOpen { return nil }
            if error.code.known == .waitTimedOut {
                throw CoordinationError(.timedOut(purpose: nil, heldMilliseconds: 0))
            }
            throw CoordinationError(.refused(error.text))
        }
    }

    private static func id(_ answer: JSON) -> String? { answer["id"]?.text }

    private func connected() async throws -> Connected? {
        let now = clock.milliseconds
        let (known, mayTry) = state.withLock { state in
            if state.connection?.connection.isOpen == false {
                state.connection = nil
            }
            return (state.connection, state.pauseEnds <= now)
        }
        if known != nil || !mayTry { return known }
        do {
            let connection = try DaemonConnection(path: socket.bytes)
            let status = try await connection.ask(.status(watch: false))
            guard let folder = Item.resolved(try StatusDocument(json: status).folder.path) else {
                return nil
            }
            let connected = Connected(connection: connection, folder: folder)
            state.withLock { $0.connection = connected }
            return connected
        } catch let error as CancellationError {
            throw error
        } catch {
            state.withLock { $0.pauseEnds = now + DaemonBroker.pauseMilliseconds }
            return nil
        }
    }
}

private struct HeldLock: HeldAccess {
    let giveBack: @Sendable () -> Void

    func release() { giveBack() }
}
