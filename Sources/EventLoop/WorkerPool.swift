internal import Synchronization

/// Threads for work that blocks. `run` is the only door: the job runs on a thread of the pool and shares nothing with
/// the loop; its result comes back as a value on the loop thread.
///
/// A pool of one thread does its jobs strictly in the order of the calls, and tells the results in that order: the
/// store's pool is one. The threads are the pool's own, so slow disk work never delays another pool.
public final class WorkerPool {
    private let loop: Loop
    private let queue = JobQueue()
    private var threads: [Thread] = []
    private var mailbox: Mailbox<UInt64>?
    /// What to do with the result of each job that has not been told yet. Looked up by the job's number, never walked.
    private var finishers: [UInt64: () -> Void] = [:]
    private var lastJob: UInt64 = 0

    /// `name` is what the threads are called in `top`, with their number behind it.
    public init(loop: Loop, name: String, threads count: Int) throws(LoopError) {
        precondition(count > 0, "a pool without threads never does anything")
        self.loop = loop
        mailbox = try Mailbox(
            loop: loop, onClose: { [self] in end() }, receive: { [self] job in finishers.removeValue(forKey: job)?() })
        do throws(LoopError) {
            for number in 1...count {
                let queue = queue
                let thread = try Thread.start(name: "\(name)-\(number)") { while let job = queue.next() { job() } }
                threads.append(thread)
            }
        } catch {
            close()
            throw error
        }
    }

    /// Runs `job` on a thread of the pool, then `then` with its result on the loop thread. After `close()` neither
    /// runs.
    public func run<Value: Sendable>(
        _ job: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) {
        loop.assertOnThread()
        guard let mailbox else { return }
        lastJob += 1
        let number = lastJob
        let slot = ResultSlot<Value>()
        finishers[number] = { if let value = slot.take() { then(value) } }
        queue.add {
            slot.put(job())
            mailbox.post(number)
        }
    }

    /// Jobs asked for whose `then` has not been called yet.
    public var outstanding: Int { finishers.count }

    /// Waits for the jobs that are running, drops those that have not begun, and ends the threads. No `then` is called
    /// any more: whoever needs the results waits until `outstanding` is 0 first.
    public func close() {
        loop.assertOnThread()
        mailbox?.close()
    }

    private func end() {
        mailbox = nil
        queue.end()
        for thread in threads { thread.join() }
        threads = []
        finishers = [:]
    }
}

/// Carries one result from the worker to the loop.
private final class ResultSlot<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    func put(_ result: Value) { value.withLock { $0 = result } }

    func take() -> Value? {
        value.withLock { value in
            let result = value
            value = nil
            return result
        }
    }
}
