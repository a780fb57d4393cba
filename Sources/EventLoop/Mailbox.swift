internal import CLibuv
internal import Synchronization

/// How other threads tell the loop something: `post` from anywhere, `receive` on the loop thread, in the order of
/// posting.
///
/// The messages wait in a queue under a lock, and only the first of a batch wakes the loop (`WakeCounter`), after it has let go of the
/// lock: the loop takes that at once. An open mailbox keeps `Loop.run()` going: somebody may still post.
public final class Mailbox<Message: Sendable>: Sendable {
    private let state = Mutex(State())

    private struct State {
        var waiting: [Message] = []
        var isWakePending = false
        /// Nil before the handle exists and from the moment it is being closed.
        var wake: WakeHandle?
    }

    public convenience init(loop: Loop, receive: @escaping (Message) -> Void) throws(LoopError) {
        try self.init(loop: loop, onClose: {}, receive: receive)
    }

    /// `onClose` also runs when the loop closes what others left open.
    init(loop: Loop, onClose: @escaping () -> Void, receive: @escaping (Message) -> Void) throws(LoopError) {
        let counter = try WakeCounter()
        let cell = try HandleCell(UV_POLL, in: loop, "make a mailbox") {
            unsafe uv_poll_init(loop.memory, $0.poll, counter.descriptor)
        }
        cell.polled = counter
        let answer = unsafe uv_poll_start(cell.poll, Int32(UV_READABLE.rawValue)) { handle, _, _ in
            unsafe HandleCell.deliver(0, to: handle)
        }
        guard answer == 0 else {
            cell.close()
            throw LoopError(operation: "make a mailbox", code: answer)
        }
        let wake = unsafe WakeHandle(counter: counter, address: cell.handle)
        state.withLock { $0.wake = wake }
        // The cell outlives its closures: it lets go of them when closing begins.
        cell.onEvent = { [self, unowned cell] _ in
            counter.clear()
            for message in takeWaiting() where cell.isOpen { receive(message) }
        }
        cell.onClose = { [self] in
            shut()
            onClose()
        }
    }

    /// From any thread. After `close()` the message is dropped.
    public func post(_ message: Message) {
        let counter: WakeCounter? = state.withLock { state in
            guard let wake = state.wake else { return nil }
            state.waiting.append(message)
            if state.isWakePending { return nil }
            state.isWakePending = true
            return wake.counter
        }
        counter?.raise()
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

/// What wakes the loop, and the address of the handle that polls it.
///
/// Sendable because `cell` is for the loop thread alone, before the handle is closed: `shut` takes the address away.
@safe private struct WakeHandle: @unchecked Sendable {
    let counter: WakeCounter
    let address: UnsafeMutablePointer<uv_handle_t>

    var cell: HandleCell? { unsafe HandleCell.cell(of: address) }
}
