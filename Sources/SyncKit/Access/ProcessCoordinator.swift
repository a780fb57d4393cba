import ControlProtocol
import ControlSocket
import Coordination
import Disk
import SyncModel
import Synchronization

/// Coordinates what one process does, by the machine `Coordination`; what other processes do is the business of the brokers behind it.
final class ProcessCoordinator: FileCoordinator {
    private struct State {
        var machine = Coordinator()
        var lastNumber: UInt64 = 0
        var waiting: [ClaimID: CheckedContinuation<Grant, any Error>] = [:]
        var presenters: [PresenterID: AsyncStream<Delivery>.Continuation] = [:]
        var timer: (due: UInt64, task: Task<Void, Never>)?
        /// What is held against other processes, by the claim.
        var held: [ClaimID: HeldPaths] = [:]
        /// What brokers know of the presenters.
        var shown: [PresenterID: [any ShownAccess]] = [:]
    }

    private enum Delivery: Sendable {
        case question(Question)
        /// Of another process.
        case distant(Question.Kind, savesFirst: Bool, reply: @Sendable (PresenterAnswer) -> Void)
        case news(FileNews)
    }

    private let state = Mutex(State())
    private let clock: any DocumentClock
    /// Asked in this order.
    private let brokers: [any AccessBroker]

    init(clock: any DocumentClock, brokers: [any AccessBroker]) {
        self.clock = clock
        self.brokers = brokers
    }

    // MARK: Access

    func withAccess<Result: Sendable>(
        _ accesses: [FileAccess], for purpose: String?, within patience: Duration?,
        _ body: @Sendable (FileGrant) async throws -> Result
    ) async throws -> Result {
        let begun = clock.milliseconds
        let wanted = try accesses.map(HeldPaths.Item.init)
        let id = ClaimID(newNumber())
        let request = ClaimRequest(
            id: id, client: 0, purpose: purpose, accesses: try wanted.map(ProcessCoordinator.access),
            patienceMilliseconds: patience?.milliseconds)
        let granted = try await grant(request)
        let left = patience.map { $0 - .milliseconds(clock.milliseconds - begun) }
        var all = HeldPaths(purpose: purpose ?? "", items: wanted, isRead: accesses.allSatisfy(\.isRead))
        for index in wanted.indices { all.items[index].path = [UInt8(ascii: "/")] + granted.paths[index].bytes }
        var deeds: [FileDeed] = []
        defer { end(id, deeds) }
        return try await holding(id, all, granted.fence, within: left, &deeds, body)
    }

    /// What is held against other processes ends before the claim does: whoever is granted next is not to find it held.
    private func holding<Result: Sendable>(
        _ id: ClaimID, _ all: HeldPaths, _ fence: UInt64, within patience: Duration?, _ deeds: inout [FileDeed],
        _ body: @Sendable (FileGrant) async throws -> Result
    ) async throws -> Result {
        let (held, wanted) = try await hold(id, all, within: patience)
        let scope = AccessScope(within: AccessScope.current)
        let grant = FileGrant(
            paths: wanted.items.map { DocumentPath($0.path + $0.within) },
            fence: held.compactMap(\.fence).first ?? fence,
            number: fence, held: held)
        defer {
            deeds = grant.deeds
            scope.end()
            release(id, held, deeds)
        }
        return try await AccessScope.$current.withValue(scope) { try await body(grant) }
    }

    private func hold(
        _ id: ClaimID, _ all: HeldPaths, within patience: Duration?
    ) async throws -> (held: [any HeldAccess], wanted: HeldPaths) {
        var (all, held): (HeldPaths, [any HeldAccess]) = (all, [])
        let isNested = AccessScope.current?.isOpen == true
        do {
            for broker in brokers {
                let wanted = broker.knowsPurposes ? all : state.withLock { all.without($0.held) }
                guard !wanted.items.isEmpty,
                    let access = try await broker.hold(wanted, within: patience, isNested: isNested)
                else {
                    continue
                }
                held.append(access)
                all.follow(access.moved)
            }
        } catch {
            for access in held { access.release([]) }
            throw error
        }
        state.withLock { $0.held[id] = all.without($0.held) }
        return (held, all)
    }

    private func release(_ id: ClaimID, _ held: [any HeldAccess], _ deeds: [FileDeed]) {
        state.withLock { $0.held[id] = nil }
        for access in held.reversed() { access.release(deeds) }
    }

    /// Cancelling ends a claim that waits, and never one that was granted: whoever has it goes on to use it.
    private func grant(_ request: ClaimRequest) async throws -> Grant {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiting in
                // Under one lock, so that who cancels finds either nobody who waits or the claim as well.
                let woken: [@Sendable () -> Void] = state.withLock { state in
                    if Task.isCancelled { return [{ waiting.resume(throwing: CancellationError()) }] }
                    state.waiting[request.id] = waiting
                    return step(.claim(request), &state)
                }
                for wake in woken { wake() }
            }
        } onCancel: {
            let woken: [@Sendable () -> Void] = state.withLock { state in
                guard let waiting = state.waiting.removeValue(forKey: request.id) else { return [] }
                return step(.end(claim: request.id, []), &state) + [{ waiting.resume(throwing: CancellationError()) }]
            }
            for wake in woken { wake() }
        }
    }

    private func end(_ id: ClaimID, _ deeds: [FileDeed]) {
        step(.end(claim: id, deeds.compactMap(ProcessCoordinator.deed)))
    }

    func isOver(_ grant: FileGrant) -> Bool {
        grant.isTakenAway || !state.withLock { $0.machine.isCurrent(fence: grant.number) }
    }

    // MARK: Presenters

    func present(_ presenter: any FilePresenter) async throws -> PresenterToken {
        let place = try ProcessCoordinator.place(await presenter.presentedPath)
        let id = PresenterID(newNumber())
        let (deliveries, sink) = AsyncStream.makeStream(of: Delivery.self)
        state.withLock { $0.presenters[id] = sink }
        // One after the other, so that what happened first is told first.
        Task { [weak self, weak presenter] in
            for await delivery in deliveries {
                // Who was let go of without a word shows nothing any more, and keeps nobody waiting.
                guard let presenter else {
                    await self?.withdraw(PresenterToken(id: id))
                    break
                }
                await self?.deliver(delivery, to: presenter)
            }
        }
        let purpose = presenter.purpose
        step(.register(Presenter(id: id, client: 0, purpose: purpose, path: place, coversContents: true)))
        let shown = ShownPath(path: [UInt8(ascii: "/")] + place.bytes, purpose: purpose)
        for broker in brokers {
            guard let access = await broker.present(shown, hear: { [weak self] in self?.hear($0, of: id, purpose) })
            else { continue }
            let isWanted = state.withLock { state in
                guard state.presenters[id] != nil else { return false }
                state.shown[id, default: []].append(access)
                return true
            }
            if !isWanted { access.withdraw() }
        }
        return PresenterToken(id: id)
    }

    func withdraw(_ token: PresenterToken) async {
        step(.withdraw(presenter: token.id))
        let (sink, shown) = state.withLock {
            ($0.presenters.removeValue(forKey: token.id), $0.shown.removeValue(forKey: token.id))
        }
        for access in shown ?? [] { access.withdraw() }
        sink?.finish()
    }

    /// From another process.
    private func hear(_ word: ShownWord, of id: PresenterID, _ purpose: String) {
        let sink = state.withLock { $0.presenters[id] }
        let woken: [@Sendable () -> Void] = state.withLock { state in
            guard sink != nil, case .news(.moved(let target)) = word,
                let place = Path(Array(target.bytes.dropFirst()))
            else {
                return []
            }
            // Registered anew it is elsewhere; what it owes an answer to was about the old place.
            let moved = Presenter(id: id, client: 0, purpose: purpose, path: place, coversContents: true)
            return step(.register(moved), &state)
        }
        for wake in woken { wake() }
        switch word {
        case .news(let news): sink?.yield(.news(news))
        case .question(let kind, let savesFirst, let reply):
            guard let sink else { return reply(.ready) }
            sink.yield(.distant(kind, savesFirst: savesFirst, reply: reply))
        }
    }

    private func deliver(_ delivery: Delivery, to presenter: any FilePresenter) async {
        switch delivery {
        case .question(let question):
            do {
                try await presenter.prepare(for: question.kind, savingFirst: question.savesFirst)
                step(.answer(question: question.id, .ready))
            } catch {
                step(.answer(question: question.id, .failed("\(error)")))
            }
        case .distant(let kind, let savesFirst, let reply):
            do {
                try await presenter.prepare(for: kind, savingFirst: savesFirst)
                reply(.ready)
            } catch {
                reply(.failed("\(error)"))
            }
        case .news(let news): await presenter.take(news)
        }
    }

    // MARK: The machine

    private func newNumber() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    private func step(_ event: Coordinator.Event) {
        for wake in state.withLock({ step(event, &$0) }) { wake() }
    }

    /// Whoever waits is to be woken outside the lock, because it may call in at once.
    private func step(_ event: Coordinator.Event, _ state: inout State) -> [@Sendable () -> Void] {
        var effects: [Coordinator.Effect] = []
        state.machine.step(event, at: clock.milliseconds, into: &effects)
        schedule(&state)
        return effects.compactMap { ProcessCoordinator.perform($0, &state) }
    }

    private static func perform(_ effect: Coordinator.Effect, _ state: inout State) -> (@Sendable () -> Void)? {
        switch effect {
        case .granted(let grant):
            let waiting = state.waiting.removeValue(forKey: grant.claim)
            return { waiting?.resume(returning: grant) }
        case .refused(let claim, let reason):
            let waiting = state.waiting.removeValue(forKey: claim)
            return { waiting?.resume(throwing: error(reason)) }
        case .ask(let question): state.presenters[question.presenter]?.yield(.question(question))
        case .tell(let presenter, let news):
            let shown = state.machine.place(ofPresenter: presenter)
            state.presenters[presenter]?.yield(.news(ProcessCoordinator.news(news, shown)))
        case .revoked: break  // seen by `isOver`
        }
        return nil
    }

    private func schedule(_ state: inout State) {
        let due = state.machine.nextDue
        guard due != state.timer?.due else { return }
        state.timer?.task.cancel()
        state.timer = due.map { due in
            let task = Task { [weak self, clock] in
                do { try await clock.sleep(until: due) } catch { return }
                self?.timeIsOver()
            }
            return (due, task)
        }
    }

    private func timeIsOver() {
        state.withLock { $0.timer = nil }
        step(.time)
    }

    // MARK: Words

    private static func place(_ path: DocumentPath) throws(CoordinationError) -> Path {
        guard let place = placeIfAny(path) else { throw CoordinationError(.noPlace) }
        return place
    }

    private static func placeIfAny(_ path: DocumentPath) -> Path? {
        Item.resolved(path.bytes).flatMap { Path(Array($0.dropFirst())) }
    }

    private static func access(_ item: HeldPaths.Item) throws(CoordinationError) -> Access {
        guard let path = Path(Array(item.path.dropFirst())) else { throw CoordinationError(.noPlace) }
        return Access(path, item.kind, coversContents: item.coversContents)
    }

    /// Nil if its directory has gone, so that nobody can show anything there.
    private static func deed(_ deed: FileDeed) -> Deed? {
        switch deed {
        case .changed(let path): placeIfAny(path).map { .changed($0) }
        case .deleted(let path): placeIfAny(path).map { .deleted($0) }
        case .moved(let path, let target):
            placeIfAny(path).flatMap { path in placeIfAny(target).map { .moved(path, to: $0) } }
        }
    }

    /// `shown` is where the presenter's file is by now: what was moved may be a directory above it, and what is within it is a part of it.
    private static func news(_ news: News, _ shown: Path?) -> FileNews {
        switch news {
        case .reacquired: .reacquired
        case .changed: .changed
        case .moved(_, let target):
            if let shown, shown != target, !shown.isBelow(target) {
                .changed
            } else {
                .moved(to: DocumentPath([UInt8(ascii: "/")] + (shown ?? target).bytes))
            }
        case .deleted(let path): if let shown, path.isBelow(shown) { .changed } else { .deleted }
        case .skipped: .skipped
        case .warned(let warning):
            .warned(
                FileWarning(
                    code: warning.code.rawValue, about: DocumentPath([UInt8(ascii: "/")] + warning.about.bytes),
                    isOpen: warning.isOpen))
        }
    }

    private static func error(_ refusal: ClaimRefusal) -> any Error {
        switch refusal {
        case .timedOut(_, let purpose, let held):
            CoordinationError(
                .timedOut(process: ControlSocket.processID, purpose: purpose, heldMilliseconds: held))
        case .wouldDeadlock(let circle): CoordinationError(.wouldDeadlock(circle))
        case .presenterFailed(let reason): CoordinationError(.presenterFailed(reason))
        case .withdrawn: CancellationError()
        case .tooMany: CoordinationError(.tooMany)
        }
    }
}

/// How far the daemon makes sure that nobody else writes; see `syncctl lock`.
public enum CoordinationMode: Hashable, Sendable {
    /// Programs of this node.
    case local
    /// Both nodes while they are connected.
    case pair
    /// Both nodes, or not at all.
    case strict
}

/// One for the whole process, so that all its parts meet. Where a file lies in the folder of a running syncd, other programs, the daemon
/// itself and the other node take part, too; elsewhere, and without the daemon, the programs of this machine that use the library. What anybody
/// else changes meanwhile is found when a save looks at what it has displaced.
public func makeFileCoordinator() -> any FileCoordinator { shared }

/// A separate one: for another daemon than the default one, another mode, or a clock of one's own. Without a socket no daemon is asked.
public func makeFileCoordinator(
    socket: DocumentPath?, mode: CoordinationMode = .pair, clock: any DocumentClock = makeSystemClock()
) -> any FileCoordinator {
    let daemon = socket.map { DaemonBroker(socket: $0, mode: mode.lock, clock: clock) }
    let brokers: [any AccessBroker] = daemon.map { [$0] } ?? []
    return ProcessCoordinator(clock: clock, brokers: brokers + [PathBroker(clock: clock)])
}

private let shared: any FileCoordinator = makeFileCoordinator(socket: DocumentPath("/run/syncd/default.sock"))

extension CoordinationMode {
    fileprivate var lock: LockRequest.Mode {
        switch self {
        case .local: .local
        case .pair: .pair
        case .strict: .strict
        }
    }
}

extension Duration {
    var milliseconds: UInt64 {
        let (seconds, attoseconds) = components
        // Three hundred years: nobody can sleep longer, and whoever wants to waits for ever.
        if seconds > Int64.max / 1_000_000_000 { return .max }
        return UInt64(max(0, seconds)) * 1_000 + UInt64(max(0, attoseconds) / 1_000_000_000_000_000)
    }
}
