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
        /// By the id of the lock.
        var held: [String: Held] = [:]
    }

    private struct Held {
        let purpose: String
        let paths: [[UInt8]]
        let isRead: Bool
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

    func hold(
        _ accesses: [FileAccess], _ paths: [DocumentPath], for purpose: String?, within patience: Duration?
    ) async throws -> (any HeldAccess)? {
        guard let connected = try await connected() else { return nil }
        let inside = zip(accesses, paths).filter { $0.1.bytes.starts(with: connected.folder + [UInt8(ascii: "/")]) }
        let wanted = Held(
            purpose: purpose ?? "", paths: inside.map(\.1.bytes), isRead: inside.allSatisfy { $0.0.isRead })
        guard !inside.isEmpty, !isHeld(wanted) else { return nil }
        let request = LockRequest(
            paths: wanted.paths.map { PathArgument(typed: $0, directory: [UInt8(ascii: "/")]) },
            isRead: wanted.isRead, mode: mode, timeoutMilliseconds: patience?.milliseconds,
            outlivesConnection: false, holder: purpose ?? "", process: ControlSocket.processID)
        let connection = connected.connection
        do {
            let answer = try await connection.ask(.lock(request)) { late in
                DaemonBroker.id(late).map { connection.tell(.release(lock: $0)) }
            }
            guard let id = DaemonBroker.id(answer) else { return nil }
            state.withLock { $0.held[id] = wanted }
            return HeldLock { [weak self] in
                self?.state.withLock { $0.held[id] = nil }
                connection.tell(.release(lock: id))
            }
        } catch let error as ControlError {
            // The daemon has gone: there is nobody to be coordinated with.
            if !connection.isOpen { return nil }
            if error.code.known == .waitTimedOut {
                throw CoordinationError(.timedOut(purpose: nil, heldMilliseconds: 0))
            }
            throw CoordinationError(.refused(error.text))
        }
    }

    /// An access of the same purpose has it already; the daemon knows of no purposes and would have it wait for itself.
    private func isHeld(_ wanted: Held) -> Bool {
        state.withLock { state in
            state.held.values.contains { held in
                held.purpose == wanted.purpose && !held.purpose.isEmpty && (!held.isRead || wanted.isRead)
                    && wanted.paths.allSatisfy(held.paths.contains)
            }
        }
    }

    private static func id(_ answer: JSON) -> String? { answer["id"]?.text }

    private func connected() async throws -> Connected? {
        let now = clock.milliseconds
        let (known, mayTry) = state.withLock { state in
            if state.connection?.connection.isOpen == false {
                state.connection = nil
                state.held = [:]
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

extension FileAccess {
    fileprivate var isRead: Bool {
        switch kind {
        case .read: true
        case .write: false
        }
    }
}
