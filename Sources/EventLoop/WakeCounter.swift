internal import CLibuv
internal import Glibc

/// A counter of the kernel that another thread raises and the loop polls.
///
/// `uv_async_send` of libuv 1.44 wakes the loop before it is done itself: if it is interrupted there, which is likely because somebody has
/// just been woken, the loop spins and then gives way with `sched_yield` until it is done. With other programs on both processors that
/// took up to 4 ms.
final class WakeCounter: Sendable {
    let descriptor: Int32

    init() throws(LoopError) { descriptor = try LoopError.checkErrno(clibuv_eventfd(), "make a mailbox") }

    deinit { Glibc.close(descriptor) }

    /// From any thread. A counter that cannot be raised any more is readable as it is.
    func raise() {
        var one: UInt64 = 1
        unsafe _ = write(descriptor, &one, 8)
    }

    func clear() {
        var count: UInt64 = 0
        unsafe _ = read(descriptor, &count, 8)
    }
}
