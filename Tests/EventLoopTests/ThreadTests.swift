/// The two doors between threads: the mailbox and the worker pool.
import EventLoop
import Glibc
import Synchronization
import Testing

@Suite("mailbox and worker pool") struct ThreadTests {
    @Test("messages of one sender arrive in order, none lost, from many threads at once") func mailbox() throws {
        try withLoop { loop in
            let senders = 4
            let each = 5_000
            var received = [[Int]](repeating: [], count: senders)
            var total = 0
            var mailbox: Mailbox<(Int, Int)>?
            let pool = try WorkerPool(loop: loop, name: "senders", threads: senders)
            mailbox = try Mailbox(loop: loop) { sender, number in
                received[sender].append(number)
                total += 1
                guard total == senders * each else { return }
                mailbox?.close()
                pool.close()
                loop.stop()
            }
            let door = try #require(mailbox)
            for sender in 0..<senders {
                pool.run({ for number in 0..<each { door.post((sender, number)) } }, then: {})
            }
            loop.run()
            for sender in received { #expect(sender == Array(0..<each)) }
        }
    }

    @Test("a mailbox closed while it hands out a batch hands out no more") func closedInTheMiddle() throws {
        try withLoop { loop in
            var received = 0
            var mailbox: Mailbox<Int>?
            mailbox = try Mailbox(loop: loop) { _ in
                received += 1
                mailbox?.close()
                loop.stop()
            }
            for number in 0..<10 { mailbox?.post(number) }
            loop.run()
            #expect(received == 1)
        }
    }

    @Test("one thread does jobs in order and tells results in order, on the loop thread") func strictOrder() throws {
        try withLoop { loop in
            let pool = try WorkerPool(loop: loop, name: "store", threads: 1)
            let loopThread = pthread_self()
            let begun = Mutex<[Int]>([])
            var told: [Int] = []
            for number in 0..<3_000 {
                pool.run(
                    {
                        begun.withLock { $0.append(number) }
                        return pthread_self() == loopThread ? -1 : number
                    },
                    then: { result in
                        #expect(pthread_self() == loopThread)
                        told.append(result)
                        guard told.count == 3_000 else { return }
                        #expect(pool.outstanding == 0)
                        pool.close()
                        loop.stop()
                    })
            }
            #expect(pool.outstanding == 3_000)
            #expect(told.isEmpty, "no result comes before the loop turns")
            loop.run()
            #expect(told == Array(0..<3_000))
            #expect(begun.withLock { $0 } == Array(0..<3_000))
        }
    }

    @Test("several threads work at the same time") func parallel() throws {
        try withLoop { loop in
            let pool = try WorkerPool(loop: loop, name: "disk", threads: 2)
            // Each of the two jobs ends only when the other has begun.
            let begun = Atomic<Int>(0)
            var told = 0
            for _ in 0..<2 {
                pool.run(
                    {
                        begun.add(1, ordering: .sequentiallyConsistent)
                        while begun.load(ordering: .sequentiallyConsistent) < 2 { sched_yield() }
                    },
                    then: {
                        told += 1
                        guard told == 2 else { return }
                        pool.close()
                        loop.stop()
                    })
            }
            loop.run()
        }
    }

    @Test("close waits for the running job, drops the rest and tells nothing") func closing() throws {
        let loop = try Loop()
        let pool = try WorkerPool(loop: loop, name: "close", threads: 1)
        let begun = Atomic<Bool>(false)
        let ended = Atomic<Bool>(false)
        let second = Atomic<Bool>(false)
        pool.run(
            {
                begun.store(true, ordering: .sequentiallyConsistent)
                usleep(20_000)
                ended.store(true, ordering: .sequentiallyConsistent)
            }, then: { Issue.record("told after close") })
        pool.run({ second.store(true, ordering: .sequentiallyConsistent) }, then: { Issue.record("told after close") })
        while !begun.load(ordering: .sequentiallyConsistent) { sched_yield() }
        pool.close()
        let hasEnded = ended.load(ordering: .sequentiallyConsistent)
        let secondRan = second.load(ordering: .sequentiallyConsistent)
        #expect(hasEnded)
        #expect(!secondRan)
        #expect(pool.outstanding == 0)
        pool.run({ Issue.record("ran after close") }, then: {})
        pool.close()
        #expect(loop.openHandles == [])
        try loop.close()
    }

    @Test("threads carry the name of their pool and take no signals") func names() throws {
        try withLoop { loop in
            let pool = try WorkerPool(loop: loop, name: "a-name-that-is-long", threads: 1)
            pool.run(
                {
                    var blocked = sigset_t()
                    unsafe pthread_sigmask(SIG_BLOCK, nil, &blocked)
                    var name = [UInt8](repeating: 0, count: 32)
                    let file = unsafe open("/proc/thread-self/comm", O_RDONLY)
                    let count = unsafe read(file, &name, 32)
                    close(file)
                    let text = String(decoding: name.prefix(max(0, count - 1)), as: UTF8.self)
                    return (text, unsafe sigismember(&blocked, SIGTERM))
                },
                then: { name, isBlocked in
                    #expect(name == "a-name-that-is-")
                    #expect(isBlocked == 1)
                    pool.close()
                    loop.stop()
                })
            loop.run()
        }
    }
}
