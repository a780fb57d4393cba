internal import CLibuv

/// Turns a signal to the process into a call on the loop thread. Signals of one kind that arrive together count once.
public final class SignalWatch {
    private let cell: HandleCell

    public init(loop: Loop, signal: Int32, action: @escaping () -> Void) throws(LoopError) {
        cell = try HandleCell(UV_SIGNAL, in: loop, "watch signal \(signal)") {
            unsafe uv_signal_init(loop.memory, $0.signal)
        }
        cell.onEvent = { _ in action() }
        let answer = unsafe uv_signal_start(
            cell.signal, { handle, _ in unsafe HandleCell.deliver(0, to: handle) }, signal)
        guard answer == 0 else {
            cell.close()
            throw LoopError(operation: "watch signal \(signal)", code: answer)
        }
    }

    public func close() { cell.close() }
}
