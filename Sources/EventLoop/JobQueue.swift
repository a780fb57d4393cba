internal import Glibc

/// First in, first out, between the loop thread and the threads of one `WorkerPool`.
///
/// Sendable because every access to the stored variables is made while holding `mutex`. The standard library's `Mutex`
/// has no condition to wait on, hence the POSIX pair, which needs addresses that stay.
@safe final class JobQueue: @unchecked Sendable {
    typealias Job = @Sendable () -> Void

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    /// Nil before `first`: those have been taken. They leave the array many at a time.
    private var jobs: [Job?] = []
    private var first = 0
    private var hasEnded = false

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        let answers = unsafe (pthread_mutex_init(mutex, nil), pthread_cond_init(condition, nil))
        precondition(answers == (0, 0), "Linux makes a plain mutex and condition without asking for anything")
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    func add(_ job: @escaping Job) {
        locked { if !hasEnded { jobs.append(job) } }
        unsafe pthread_cond_signal(condition)
    }

    /// Waits for a job. Nil once the queue has ended.
    func next() -> Job? {
        locked {
            while first == jobs.count, !hasEnded { unsafe pthread_cond_wait(condition, mutex) }
            guard !hasEnded else { return nil }
            return takeFirst()
        }
    }

    private func takeFirst() -> Job? {
        let job = jobs[first]
        jobs[first] = nil
        first += 1
        if first == jobs.count || first >= 1_024 {
            jobs.removeFirst(first)
            first = 0
        }
        return job
    }

    /// Jobs not yet taken are dropped; every waiting thread gets nil.
    func end() {
        let dropped = locked {
            hasEnded = true
            let rest = jobs
            jobs = []
            first = 0
            return rest
        }
        unsafe pthread_cond_broadcast(condition)
        // Freed without the lock: a job may hold anything.
        _ = dropped
    }

    private func locked<Value>(_ body: () -> Value) -> Value {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body()
    }
}
