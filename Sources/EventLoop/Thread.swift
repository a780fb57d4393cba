internal import CLibuv
internal import Glibc

/// A POSIX thread for work that may block. Swift's own thread pool is for work that does not.
struct Thread {
    private let identity: pthread_t

    /// `name` shows in `top` and `gdb`; Linux keeps 15 bytes of it. Every signal stays with the loop thread: none can
    /// interrupt a system call in the middle of disk work.
    static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(LoopError) -> Thread {
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

        let box = Box(name: name, body: body)
        var identity = pthread_t()
        // The new thread takes this reference over, if there is one.
        let reference = unsafe Unmanaged.passRetained(box)
        let answer = unsafe pthread_create(&identity, nil, { unsafe Box.run($0) }, reference.toOpaque())
        guard answer == 0 else {
            unsafe reference.release()
            throw LoopError(operation: "start the thread \(name)", code: -answer)
        }
        return Thread(identity: identity)
    }

    /// Waits until the thread has ended. Once, and not after `detach`.
    func join() {
        let answer = pthread_join(identity, nil)
        precondition(answer == 0, "a thread was waited for twice, or by itself")
    }

    /// Lets the thread end by itself, whenever that is. The end of the process does not wait for it.
    func detach() {
        pthread_detach(identity)
    }

    private final class Box {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }

        static func run(_ opaque: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            guard let opaque = unsafe opaque else { return nil }
            let box = unsafe Unmanaged<Box>.fromOpaque(opaque).takeRetainedValue()
            unsafe clibuv_name_thread(String(decoding: box.name.utf8.prefix(15), as: UTF8.self))
            box.body()
            return nil
        }
    }
}
