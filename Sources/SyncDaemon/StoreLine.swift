import EventLoop
import Store
import SyncCore
import SyncModel

/// The way to the store: one thread performs requests strictly in their order. What the core gives while it works is
/// performed together, consecutive batches as one transaction.
///
/// The core is told of a commit at once, and another thread syncs: when the store has nothing to do, so that what follows from one
/// commit to the next ends in one sync, or when somebody has waited long. Until then what the core does about it waits in `OutputGate`.
///
/// The first failure is the last thing the store did for the core: whatever the core gives afterwards fails too, so that
/// nothing is written behind a hole.
final class StoreLine {
    private enum Request: Sendable {
        case load(JobID, [StoreQuery])
        case store(JobID, StoreBatch)
    }

    /// What is done at one go on the store's thread.
    private enum Step {
        /// From the core.
        case requests([Request])
        /// From the shell.
        case question(() -> Void)
    }

    private let store: Store
    private let worker: WorkerPool
    private let syncer: WorkerPool
    private let post: (Event) -> Void
    var onFailure: (StoreError) -> Void = { _ in }
    /// So many commits have been made; the core is about to be told.
    var onCommitted: (UInt64) -> Void = { _ in }
    /// So many commits are durable.
    var onDurable: (UInt64) -> Void = { _ in }
    /// What was committed will never be durable, and is the last thing the store did.
    var onLost: (StoreError) -> Void = { _ in }
    /// A batch is durable.
    var onStored: (StoreBatch) -> Void = { _ in }
    private var waiting = Deque<Step>()
    /// What comes after everything that waits.
    private var gathered: [Request] = []
    private var isBusy = false
    private var hasFailed = false
    private let pause: Timer
    /// Commits that have been made, and that are durable.
    private var committed: UInt64
    private var durable: UInt64
    /// What is committed and not known to be durable, with the number of its commit.
    private var unsynced = Deque<(commit: UInt64, batch: StoreBatch)>()
    private var isSyncing = false
    /// A sync has failed.
    private(set) var isLost = false
    private let patience: Timer

    /// For so long nobody has asked for anything.
    private static let pauseMilliseconds: UInt64 = 100
    /// So long, and up to one more, a store that is busy keeps those waiting who need a sync.
    private static let patienceMilliseconds: UInt64 = 1

    init(_ store: Store, loop: Loop, worker: WorkerPool, syncer: WorkerPool, post: @escaping (Event) -> Void) {
        self.store = store
        self.worker = worker
        self.syncer = syncer
        self.post = post
        committed = store.commits
        durable = store.durable
        pause = Timer(loop: loop)
        patience = Timer(loop: loop)
    }

    /// To be called before the workers are closed.
    func close() {
        pause.close()
        patience.close()
    }

    func load(_ job: JobID, _ queries: [StoreQuery]) { add(.load(job, queries)) }
    func store(_ job: JobID, _ batch: StoreBatch) { add(.store(job, batch)) }

    /// Asks the store once everything that was given before is durable, or has failed.
    func ask<Value: Sendable>(
        _ body: @escaping @Sendable (Store) throws(StoreError) -> Value,
        then: @escaping (Result<Value, StoreError>) -> Void
    ) {
        let store = store
        closeStep()
        waiting.append(
            .question { [self] in
                worker.run({
                    StoreLine.sync(store).map { _ in Result { () throws(StoreError) in try body(store) } }
                }) { [self] answer in
                    isBusy = false
                    switch answer {
                    case .success(let result):
                        note(committed: store.commits)
                        note(durable: store.durable)
                        then(result)
                    case .failure(let error):
                        lose(error)
                        then(.failure(error))
                    }
                    work()
                }
            })
        work()
    }

    /// Nothing waits and nothing is being done.
    private var isIdle: Bool { !isBusy && waiting.isEmpty && gathered.isEmpty }

    /// Nor is there anything left to be synced. (More may be durable than was committed here: others write to the store as well.)
    var isQuiet: Bool { isIdle && !isSyncing && (committed <= durable || isLost) }

    private func add(_ request: Request) {
        gathered.append(request)
        work()
    }

    private func closeStep() {
        if !gathered.isEmpty { waiting.append(.requests(gathered)) }
        gathered = []
    }

    private func work() {
        guard !isBusy else { return }
        if waiting.isEmpty { closeStep() }
        guard let step = waiting.popFirst() else { return }
        isBusy = true
        switch step {
        case .question(let ask): ask()
        case .requests(let requests): perform(requests)
        }
    }

    private func perform(_ requests: [Request]) {
        let (store, hasFailed) = (store, hasFailed)
        worker.run({ StoreLine.outcome(of: requests, on: store, afterFailure: hasFailed) }) { [self] outcome in
            isBusy = false
            if let failure = outcome.failure {
                self.hasFailed = true
                onFailure(failure)
            }
            for batch in outcome.committed { unsynced.append((outcome.commits, batch)) }
            note(committed: outcome.commits)
            outcome.events.forEach(post)
            if !outcome.left.isEmpty { waiting.prepend(.requests(outcome.left)) }
            if !outcome.committed.isEmpty {
                pause.start(afterMilliseconds: StoreLine.pauseMilliseconds) { [self] in tidy() }
            }
            work()
        }
    }

    /// In a moment in which nobody waits for the store it does what some commit would have to do.
    private func tidy() {
        guard isQuiet, !hasFailed else { return }
        isBusy = true
        let store = store
        worker.run({ Result { () throws(StoreError) in try store.bringInJournal() } }) { [self] result in
            isBusy = false
            if case .failure(let error) = result {
                hasFailed = true
                onFailure(error)
            }
            work()
        }
    }

    // MARK: Syncs

    /// To be called at the end of a turn. `isAwaited`: something cannot leave before a sync.
    func sendOff(isAwaited: Bool) {
        guard committed > durable, !isSyncing, !isLost else { return }
        if isIdle { return sync() }
        guard isAwaited, !patience.isRunning else { return }
        patience.start(afterMilliseconds: StoreLine.patienceMilliseconds) { [self] in sync() }
    }

    private func sync() {
        patience.stop()
        guard committed > durable, !isSyncing, !isLost else { return }
        isSyncing = true
        let store = store
        syncer.run({ StoreLine.sync(store) }) { [self] result in
            isSyncing = false
            switch result {
            case .success(let commits): note(durable: commits)
            case .failure(let error): lose(error)
            }
        }
    }

    private static func sync(_ store: Store) -> Result<UInt64, StoreError> {
        Result { () throws(StoreError) in
            try store.sync()
            return store.durable
        }
    }

    private func note(committed commits: UInt64) {
        guard commits > committed else { return }
        committed = commits
        onCommitted(commits)
    }

    private func note(durable commits: UInt64) {
        guard commits > durable else { return }
        durable = commits
        while let first = unsynced.first, first.commit <= commits {
            _ = unsynced.popFirst()
            onStored(first.batch)
        }
        onDurable(commits)
    }

    private func lose(_ error: StoreError) {
        guard !isLost else { return }
        isLost = true
        hasFailed = true
        unsynced = Deque()
        onLost(error)
    }

    private struct Outcome: Sendable {
        var events: [Event] = []
        var committed: [StoreBatch] = []
        /// Of the store, afterwards.
        var commits: UInt64 = 0
        var failure: StoreError?
        /// Not done yet: what comes before it is to be told first.
        var left: [Request] = []
    }

    private static func outcome(of requests: [Request], on store: Store, afterFailure hasFailed: Bool) -> Outcome {
        var outcome = Outcome()
        var hasFailed = hasFailed
        var together: [(job: JobID, batch: StoreBatch)] = []
        func fail(_ error: StoreError) {
            hasFailed = true
            outcome.failure = error
        }
        func settle() {
            let jobs = together.map(\.job)
            if !hasFailed, !together.isEmpty {
                let all = StoreBatch(together.flatMap(\.batch.operations))
                do throws(StoreError) { try store.commit(all) } catch { fail(error) }
            }
            outcome.events += jobs.map { hasFailed ? .storeFailed($0) : .stored($0) }
            if !hasFailed { outcome.committed += together.map(\.batch) }
            together = []
        }
        for (index, request) in requests.enumerated() {
            switch request {
            case .store(let job, let batch) where batch.ownMove != nil:
                // The peer is told of the move while the rows are being changed.
                settle()
                together = [(job, batch)]
                settle()
                outcome.left = Array(requests[(index + 1)...])
                outcome.commits = store.commits
                return outcome
            case .store(let job, let batch): together.append((job, batch))
            case .load(let job, let queries):
                settle()
                var answers: [StoreAnswer] = []
                do throws(StoreError) {
                    for query in queries where !hasFailed { answers.append(try store.answer(query)) }
                } catch {
                    // What cannot be read cannot be worked on: the node stops as it does when nothing can be written.
                    fail(error)
                }
                outcome.events.append(hasFailed ? .storeFailed(job) : .loaded(job, answers))
            }
        }
        settle()
        outcome.commits = store.commits
        return outcome
    }
}
