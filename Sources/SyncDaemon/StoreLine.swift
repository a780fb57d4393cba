import EventLoop
import Store
import SyncCore
import SyncModel

/// The way to the store: one thread performs requests strictly in their order. What waits while it works is performed
/// together, consecutive batches as one transaction with one fsync.
final class StoreLine {
    private enum Request: Sendable {
        case load(JobID, [StoreQuery])
        case store(JobID, StoreBatch)
        /// A small fact of the shell; nobody waits for it.
        case keep(String, [UInt8]?)
    }

    private let store: Store
    private let worker: WorkerPool
    private let post: (Event) -> Void
    var onFailure: (StoreError) -> Void = { _ in }
    private var waiting: [Request] = []
    private var isBusy = false

    init(_ store: Store, worker: WorkerPool, post: @escaping (Event) -> Void) {
        self.store = store
        self.worker = worker
        self.post = post
    }

    func load(_ job: JobID, _ queries: [StoreQuery]) { add(.load(job, queries)) }
    func store(_ job: JobID, _ batch: StoreBatch) { add(.store(job, batch)) }

    func keep(_ key: String, _ value: [UInt8]?) { add(.keep(key, value)) }

    private func add(_ request: Request) {
        waiting.append(request)
        work()
    }

    private func work() {
        guard !isBusy, !waiting.isEmpty else { return }
        isBusy = true
        let (requests, store) = (waiting, store)
        waiting = []
        worker.run({ StoreLine.perform(requests, on: store) }) { [self] outcome in
            isBusy = false
            if let failure = outcome.failure { onFailure(failure) }
            outcome.events.forEach(post)
            work()
        }
    }

    private struct Outcome: Sendable {
        var events: [Event] = []
        var failure: StoreError?
    }

    private static func perform(_ requests: [Request], on store: Store) -> Outcome {
        var outcome = Outcome()
        var (jobs, batch) = ([JobID](), StoreBatch())
        func settle() {
            guard !jobs.isEmpty else { return }
            do throws(StoreError) {
                try store.perform(batch)
                outcome.events += jobs.map { .stored($0) }
            } catch {
                outcome.failure = error
                outcome.events += jobs.map { .storeFailed($0) }
            }
            (jobs, batch) = ([], StoreBatch())
        }
        for request in requests where outcome.failure == nil {
            switch request {
            case .store(let job, let more):
                jobs.append(job)
                batch.operations += more.operations
            case .load(let job, let queries):
                settle()
                guard outcome.failure == nil else { continue }
                answer(job, queries, from: store, into: &outcome)
            case .keep(let key, let value):
                do throws(StoreError) { try store.setValue(key, value) } catch { outcome.failure = error }
            }
        }
        if outcome.failure == nil { settle() }
        return outcome
    }

    /// What cannot be read cannot be worked on: the node stops as it does when nothing can be written.
    private static func answer(_ job: JobID, _ queries: [StoreQuery], from store: Store, into outcome: inout Outcome) {
        do throws(StoreError) {
            var answers: [StoreAnswer] = []
            for query in queries { answers.append(try store.answer(query)) }
            outcome.events.append(.loaded(job, answers))
        } catch {
            outcome.failure = error
            outcome.events.append(.storeFailed(job))
        }
    }
}
