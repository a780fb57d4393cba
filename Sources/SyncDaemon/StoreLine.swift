import EventLoop
import Store
import SyncCore
import SyncModel

/// The way to the store: one thread performs requests strictly in their order. What the core gives while it works is
/// performed together, consecutive batches as one transaction with one fsync.
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
    private let post: (Event) -> Void
    var onFailure: (StoreError) -> Void = { _ in }
    /// A batch is durable.
    var onStored: (StoreBatch) -> Void = { _ in }
    private var waiting = Deque<Step>()
    /// What comes after everything that waits.
    private var gathered: [Request] = []
    private var isBusy = false
    private var hasFailed = false
    private let pause: Timer

    /// For so long nobody has asked for anything.
    private static let pauseMilliseconds: UInt64 = 100

    init(_ store: Store, loop: Loop, worker: WorkerPool, post: @escaping (Event) -> Void) {
        self.store = store
        self.worker = worker
        self.post = post
        pause = Timer(loop: loop)
    }

    /// To be called before the worker is closed.
    func close() { pause.close() }

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
                worker.run({ Result { () throws(StoreError) in try body(store) } }) { [self] result in
                    isBusy = false
                    then(result)
                    work()
                }
            })
        work()
    }

    /// Nothing waits and nothing is being done.
    var isQuiet: Bool { !isBusy && waiting.isEmpty && gathered.isEmpty }

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
            outcome.durable.forEach(onStored)
            outcome.events.forEach(post)
            if !outcome.left.isEmpty { waiting.prepend(.requests(outcome.left)) }
            if !outcome.durable.isEmpty {
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

    private struct Outcome: Sendable {
        var events: [Event] = []
        var durable: [StoreBatch] = []
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
                do throws(StoreError) { try store.perform(all) } catch { fail(error) }
            }
            outcome.events += jobs.map { hasFailed ? .storeFailed($0) : .stored($0) }
            if !hasFailed { outcome.durable += together.map(\.batch) }
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
        return outcome
    }
}
