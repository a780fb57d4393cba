internal import CLibuv

/// Tells when a descriptor that somebody else owns has something to read: how the file watcher's kernel queue joins the
/// loop. Reported every turn until it has been read empty. Close the watch before the descriptor.
public final class ReadinessWatch {
    private let cell: HandleCell

    /// A failing descriptor counts as readable: whoever reads it gets the error.
    public init(loop: Loop, descriptor: Int32, onReadable: @escaping () -> Void) throws(LoopError) {
        cell = try HandleCell(UV_POLL, in: loop, "watch descriptor \(descriptor)") {
            unsafe uv_poll_init(loop.memory, $0.poll, descriptor)
        }
        cell.onEvent = { _ in onReadable() }
        let answer = unsafe uv_poll_start(cell.poll, Int32(UV_READABLE.rawValue)) { handle, _, _ in
            unsafe HandleCell.deliver(0, to: handle)
        }
        guard answer == 0 else {
            cell.close()
            throw LoopError(operation: "watch descriptor \(descriptor)", code: answer)
        }
    }

    public func close() { cell.close() }
}
