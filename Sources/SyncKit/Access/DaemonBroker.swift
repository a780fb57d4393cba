import ControlProtocol
import ControlSocket
import Coordination
import Disk
import RecordMerge
import SyncModel
import Synchronization

/// Asks a running syncd for a lock on what lies in its folder, and to be asked and told about what is shown there, so that other
/// programs, the daemon itself and the other node take part. Without a daemon, and elsewhere, nothing is asked.
final class DaemonBroker: AccessBroker {
    private struct State {
        var connection: DaemonFolder?
        /// Nobody listened: tried again then (monotonic milliseconds).
        var pauseEnds: UInt64 = 0
        /// What is shown now, whether there is a daemon or not.
        var shown: [UInt64: Shown] = [:]
        var lastShown: UInt64 = 0
        var keeper: Task<Void, Never>?
    }

    private struct Shown {
        var path: ShownPath
        let hear: @Sendable (ShownWord) -> Void
        /// What it is called over the connection it was told of last.
        var name: (connection: UInt64, presenter: String)?
        var told: UInt64?
        /// What the daemon has said of the file and is not over, as far as it was heard.
        var warnings: [FileWarning] = []

        mutating func note(_ news: FileNews) {
            guard case .warned(let warning) = news else { return }
            warnings.removeAll { $0.code == warning.code && $0.about == warning.about }
            if warning.isOpen { warnings.append(warning) }
        }
    }

    private let socket: DocumentPath
    private let mode: LockRequest.Mode
    private let clock: any DocumentClock
    private let state = Mutex(State())

    private static let pauseMilliseconds: UInt64 = 1_000
    /// A program that is stopped while it reads keeps who wants to write waiting no longer than one that does not answer. Who
    /// reads for longer finds out by looking at the file again, as everybody does who reads without a lock.
    private static let readMilliseconds: UInt64 = 10_000

    init(socket: DocumentPath, mode: LockRequest.Mode, clock: any DocumentClock) {
        self.socket = socket
        self.mode = mode
        self.clock = clock
    }

    deinit { state.withLock { $0.keeper?.cancel() } }

    var knowsPurposes: Bool { true }

    // MARK: Locks

    /// (The daemon finds circles itself.)
    func hold(_ wanted: HeldPaths, within patience: Duration?, isNested: Bool) async throws -> (any HeldAccess)? {
        guard let connected = try await connected() else { return nil }
        let inside = wanted.items.filter { connected.contains($0.path) }
        guard !inside.isEmpty else { return nil }
        let request = LockRequest(
            items: inside.map {
                .init(connected.argument($0.path), DaemonBroker.access($0.kind), coversContents: $0.coversContents)
            },
            isRead: wanted.isRead, mode: mode, timeoutMilliseconds: patience?.milliseconds,
            holdMilliseconds: wanted.isRead ? DaemonBroker.readMilliseconds : nil, outlivesConnection: false,
            purpose: wanted.purpose.isEmpty ? nil : wanted.purpose, holder: DaemonBroker.program,
            process: ControlSocket.processID)
        let connection = connected.connection
        let (number, taken) = (connection.newNumber(), TakenAway())
        do {
            let answer = try await connection.ask(
                .lock(request), as: number,
                late: { late in
                    DaemonBroker.id(late).map { connection.tell(.release(lock: $0, deeds: [], isQuiet: true)) }
                },
                after: { [weak taken] item in if (try? RevokedDocument(json: item)) != nil { taken?.note() } })
            guard let lock = try? LockDocument(json: answer) else { return nil }
            let places = zip(inside, lock.paths.map { connected.place($0) }).filter { $0.path != $1 }
            return HeldLock(
                fence: lock.fence, moved: Dictionary(places.map { ($0.path, $1) }) { first, _ in first }, taken: taken
            ) { deeds in
                connection.forget(number)
                connection.tell(.release(lock: lock.id, deeds: deeds.compactMap(connected.deed), isQuiet: true))
            }
        } catch let error as ControlError {
            // The daemon has gone: there is nobody to be coordinated with.
            if !connection.isOpen { return nil }
            throw CoordinationError(DaemonBroker.kind(of: error))
        }
    }

    private static func kind(of error: ControlError) -> CoordinationError.Kind {
        let code = error.code.known
        if code == .waitTimedOut {
            let holder = error.holder
            return .timedOut(
                process: holder?.process, purpose: holder?.purpose, heldMilliseconds: holder?.heldMilliseconds ?? 0)
        }
        if code == .lockCircle { return .wouldDeadlock([error.text]) }
        return code == .lockRefused ? .presenterFailed(error.text) : .refused(error.text)
    }

    private static func access(_ kind: Access.Kind) -> LockRequest.Access {
        switch kind {
        case .read(let savesFirst): savesFirst ? .read : .readAsIs
        case .write(.update): .update
        case .write(.deleting): .deleting
        case .write(.moving): .moving
        case .write(.replacing): .replacing
        case .write(.merging): .merging
        case .write(.metadata): .metadata
        }
    }

    /// For people who look at the list of locks.
    private static let program = CommandLine.arguments.first.map { String($0.split(separator: "/").last ?? "") } ?? ""

    private static func id(_ answer: JSON) -> String? { answer["id"]?.text }

    // MARK: Presenters

    func present(_ shown: ShownPath, hear: @escaping @Sendable (ShownWord) -> Void) async -> (any ShownAccess)? {
        let id = state.withLock { state in
            state.lastShown += 1
            state.shown[state.lastShown] = Shown(path: shown, hear: hear)
            return state.lastShown
        }
        if let connected = try? await connected() { tell(connected) }
        keep()
        return ShownFile { [weak self] in self?.withdraw(id) }
    }

    private func withdraw(_ id: UInt64) {
        let (gone, connection) = state.withLock { state in
            let gone = state.shown.removeValue(forKey: id)
            if state.shown.isEmpty {
                state.keeper?.cancel()
                state.keeper = nil
            }
            return (gone, state.connection?.connection)
        }
        guard let name = gone?.name, let connection, connection.number == name.connection else { return }
        connection.tell(.withdraw(presenter: name.presenter))
    }

    /// What the daemon does not know of yet, it is told. What is said first is heard first: whoever presents within an access is
    /// known before that is given back.
    private func tell(_ connected: DaemonFolder) {
        let connection = connected.connection.number
        let new = state.withLock { state in
            let new = state.shown.filter { $0.value.told != connection && connected.contains($0.value.path.path) }
            for id in new.keys { state.shown[id]?.told = connection }
            return new
        }
        for (id, shown) in new {
            let request = PresentRequest(
                path: connected.argument(shown.path.path), coversContents: true, purpose: shown.path.purpose)
            connected.connection.follow(.present(request)) { [weak self, weak channel = connected.connection] item in
                guard let channel, let line = try? PresenterLine(json: item) else { return }
                self?.take(line, for: id, DaemonFolder(connection: channel, folder: connected.folder))
            }
        }
    }

    private func take(_ line: PresenterLine, for id: UInt64, _ connected: DaemonFolder) {
        let connection = connected.connection
        switch line {
        case .registered(let presenter):
            let shown = state.withLock { state in
                state.shown[id]?.name = (connection.number, presenter)
                defer { state.shown[id]?.warnings = [] }
                return state.shown[id]
            }
            guard let shown else { return connection.tell(.withdraw(presenter: presenter)) }
            // What was over while nobody listened is told by nobody; the rest is told anew now.
            for old in shown.warnings {
                shown.hear(.news(.warned(FileWarning(code: old.code, about: old.about, isOpen: false))))
            }
        case .question(let question):
            let reply: @Sendable (PresenterAnswer) -> Void = { [weak connection] in
                connection?.tell(.answer(question: question.id, DaemonBroker.reply($0)))
            }
            guard let shown = state.withLock({ $0.shown[id] }) else { return reply(.ready) }
            shown.hear(.question(DaemonBroker.kind(question.kind), savesFirst: question.savesFirst, reply: reply))
        case .news(let news):
            let (shown, told) = state.withLock { state in
                if case .moved(let from, let target) = news, let old = state.shown[id]?.path {
                    let path = connected.place(old.path, following: from, to: target)
                    state.shown[id]?.path = ShownPath(path: path, purpose: old.purpose)
                }
                let told = state.shown[id].map { connected.news(news, $0.path.path) }
                if let told { state.shown[id]?.note(told) }
                return (state.shown[id], told)
            }
            if let shown, let told { shown.hear(.news(told)) }
        }
    }

    private static func kind(_ kind: PresenterLine.Question.Kind) -> Question.Kind {
        switch kind {
        case .read: .letRead
        case .write: .letWrite
        case .delete: .letDelete
        }
    }

    private static func reply(_ answer: PresenterAnswer) -> PresenterReply {
        switch answer {
        case .ready: .ready
        case .busy: .busy
        case .failed(let reason): .failed(reason)
        }
    }

    /// A daemon that comes, or comes back, is told of what is shown within a second.
    private func keep() {
        state.withLock { state in
            guard state.keeper == nil, !state.shown.isEmpty else { return }
            state.keeper = Task { [weak self, clock] in
                while !Task.isCancelled {
                    do { try await clock.sleep(until: clock.milliseconds + DaemonBroker.pauseMilliseconds) } catch {
                        return
                    }
                    guard let self else { return }
                    if let connected = try? await self.connected() { self.tell(connected) }
                }
            }
        }
    }

    // MARK: The connection

    private func connected() async throws -> DaemonFolder? {
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
            let made = DaemonFolder(connection: connection, folder: folder)
            // Whoever was faster is kept: one connection is one program.
            let connected = state.withLock { state in
                if state.connection?.connection.isOpen != true { state.connection = made }
                return state.connection ?? made
            }
            tell(connected)
            return connected
        } catch let error as CancellationError {
            throw error
        } catch {
            state.withLock { $0.pauseEnds = now + DaemonBroker.pauseMilliseconds }
            return nil
        }
    }
}

/// Whether the daemon has given a lock to somebody else, because it was held for too long.
private final class TakenAway: Sendable {
    private let isNoted = Atomic(false)

    var isSo: Bool { isNoted.load(ordering: .acquiring) }

    func note() { isNoted.store(true, ordering: .releasing) }
}

private struct HeldLock: HeldAccess {
    let fence: UInt64?
    let moved: [[UInt8]: [UInt8]]
    let taken: TakenAway
    let giveBack: @Sendable ([FileDeed]) -> Void

    var isOver: Bool { taken.isSo }

    func release(_ deeds: [FileDeed]) { giveBack(deeds) }
}

private struct ShownFile: ShownAccess {
    let end: @Sendable () -> Void

    func withdraw() { end() }
}
