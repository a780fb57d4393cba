internal import CLibuv
internal import Synchronization

/// How other threads tell the loop something: `post` from anywhere, `receive` on the loop thread, in the order of
/// posting.
///
/// libuv's wake-ups melt together, so the messages wait in a queue under a lock and only the first of a batch wakes the
/// loop. The lock also gives the memory ordering that libuv 1.44 leaves out of `uv_async_send`, and keeps a sender from
/// waking a handle that is being closed. An open mailbox keeps `Loop.run()` going: somebody may still post.
public final class Mailbox<Message: Sendable>: Sendable {
    private let state = Mutex(State())

    private struct State {
        var waiting: [Message] = []
        var isWakePending = false
        /// Nil before the handle exists and from the moment it is being closed.
        var wake: WakePointer?
    }

    public convenience init(loop: Loop, receive: @escaping (Message) -> Void) throws(LoopError) {
        try self.init(loop: loop, onClose: {}, receive: receive)
    }

    /// `onClose` also runs when the loop closes what others left open.
    init(loop: Loop, onClose: @escaping () -> Void, receive: @escaping (Message) -> Void) throws(LoopError) {
        let cell = try HandleCell(UV_ASYNC, in: loop, "make a mailbox") {
            unsafe uv_async_init(loop.memory, $0.wake) { handle in unsafe HandleCell.deliver(0, to: handle) }
        }
        let wake = unsafe WakePointer(address: cell.wake)
        state.withLock { $0.wake = wake }
        // The cell outlives its closures: it lets go of them when closing begins.
        cell.onEvent = { [self, unowned cell] _ in
            for message in takeWaiting() where cell.isOpen { receive(message) }
        }
        cell.onClose = { [self] in
            shut()
            onClose()
        }
    }

    /// From any thread. After `close()` the message is dropped.
    public func post(_ message: Message) {
        state.withLock { state in
            guard let wake = state.wake else { return }
            state.waiting.append(message)
            if !state.isWakePending {
                state.isWakePending = true
                wake.send()
            }
        }
    }

    /// On the loop thread. Messages not yet received are dropped.
    public func close() {
        let wake = state.withLock { $0.wake }
        wake?.cell?.close()
    }

    private func takeWaiting() -> [Message] {
        state.withLock { state in
            state.isWakePending = false
            let batch = state.waiting
            state.waiting = []
            return batch
        }
    }

    private func shut() {
        let dropped = state.withLock { state in
            state.wake = nil
            let batch = state.waiting
            state.waiting = []
            return batch
        }
        // Freed only now: the end of a message may be code that posts.
        _ = dropped
    }
}

/// The address of the wake-up handle.
///
/// Sendable because `uv_async_send` is the one call that libuv allows from any thread, and `Mailbox` makes it only
/// under the lock under which the address is taken away before the handle is closed. `cell` is for the loop thread.
@safe private struct WakePointer: @unchecked Sendable {
    let address: UnsafeMutablePointer<uv_async_t>

    func send() {
        let answer = unsafe uv_async_send(address)
        precondition(answer == 0, "libuv documents no way in which waking an open loop can fail")
    }

    var cell: HandleCell? { unsafe HandleCell.cell(of: address) }
}
