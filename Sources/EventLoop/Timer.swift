internal import CLibuv

/// One deadline at a time. Starting again replaces the earlier deadline and its action.
public final class Timer {
    private let cell: HandleCell
    private var action: (() -> Void)?

    public init(loop: Loop) {
        do throws(LoopError) {
            cell = try HandleCell(UV_TIMER, in: loop, "make a timer") { unsafe uv_timer_init(loop.memory, $0.timer) }
        } catch {
            preconditionFailure("libuv documents no way in which a timer can fail to begin: \(error)")
        }
        cell.onEvent = { [self] _ in fire() }
        cell.onClose = { [self] in action = nil }
    }

    /// Runs `action` once, after at least this time and never earlier: libuv counts whole milliseconds and drops the
    /// rest of the one that is running, so one is added. The time in which the machine is suspended does not count.
    public func start(afterMilliseconds delay: UInt64, _ action: @escaping () -> Void) {
        cell.loop.assertOnThread()
        guard cell.isOpen else { return }
        self.action = action
        // The loop's own idea of "now" is as old as the turn; a long turn must not shorten the wait.
        unsafe uv_update_time(cell.loop.memory)
        let rounded = delay &+ 1 == 0 ? delay : delay &+ 1
        let answer = unsafe uv_timer_start(cell.timer, { timer in unsafe HandleCell.deliver(0, to: timer) }, rounded, 0)
        precondition(answer == 0, "an open timer with a callback can always be started")
    }

    public func stop() {
        cell.loop.assertOnThread()
        guard cell.isOpen else { return }
        action = nil
        unsafe uv_timer_stop(cell.timer)
    }

    public var isRunning: Bool { action != nil }

    public func close() { cell.close() }

    private func fire() {
        let due = action
        action = nil
        due?()
    }
}
