import ControlProtocol
import ControlSocket
import Dispatch
import SyncModel
import Synchronization

/// One connection to syncd for the whole process: requests go out as they come, answers are matched by their number.
final class DaemonConnection: Sendable {
    private struct State {
        var lines = LineBuffer()
        var lastID: Int64 = 0
        var waiting: [Int64: CheckedContinuation<JSON, any Error>] = [:]
        /// What becomes of an answer that nobody waits for any more.
        var late: [Int64: @Sendable (JSON) -> Void] = [:]
        /// Who takes the items of a request: those it is answered by, or those that come after its answer.
        var followers: [Int64: @Sendable (JSON) -> Void] = [:]
        var error: ControlError?
        var patience = Patience()
    }

    /// Whether it pays to look for an answer: after each look in vain twice as many requests go without one.
    private struct Patience {
        private var skipped = 0
        private var toSkip = 0
        private static let toSkipMax = 64

        mutating func looks() -> Bool {
            if skipped >= toSkip { return true }
            skipped += 1
            return false
        }

        mutating func note(isInVain: Bool) {
            skipped = 0
            toSkip = isInVain ? min(Patience.toSkipMax, max(1, 2 * toSkip)) : 0
        }
    }

    /// Never that of another one, as the address of this object may be once it is gone.
    let number = DaemonConnection.made.add(1, ordering: .relaxed).newValue

    private static let made = Atomic<UInt64>(0)
    private let socket: ControlSocket
    private let state = Mutex(State())
    /// What comes is taken in its order, whoever takes it.
    private let receiving = Mutex(())
    /// Several times what an answer takes to a request that nothing is in the way of.
    private static let lookTime = Duration.microseconds(200)

    init(path: [UInt8]) throws(ControlError) {
        socket = try ControlSocket(path: path)
        // One thread waits for what comes, as long as this object lives.
        DispatchQueue(label: "net.syncd.control").async { [weak self, socket] in
            while DaemonConnection.waits(at: socket), let self, self.takeWhatHasCome() {}
        }
    }

    deinit { socket.shutDown() }

    private static func waits(at socket: ControlSocket) -> Bool {
        do throws(ControlError) {
            try socket.waitForBytes()
            return true
        } catch {
            return false
        }
    }

    /// False when the connection has ended. (What somebody else is taking is not waited for: he would have to wake up who waits.)
    private func takeWhatHasCome() -> Bool { receiving.withLockIfAvailable { _ in takeLines() } ?? isOpen }

    private func takeLines() -> Bool {
        do throws(ControlError) {
            for line in try lines(after: try socket.receiveAtOnce()) { take(line: line) }
            return isOpen
        } catch {
            end(with: error)
            return false
        }
    }

    /// An answer that comes at once is taken by who has asked: two threads more would have to wake up one after the other. Who looks in
    /// vain looks less and less often, so that nobody uses up a processor that others need.
    private func lookForAnswer(to id: Int64) {
        guard state.withLock({ $0.patience.looks() }) else { return }
        let end = ContinuousClock.now + DaemonConnection.lookTime
        var isWaiting = true
        repeat {
            // (Or the other thread takes it.)
            _ = takeWhatHasCome()
            isWaiting = state.withLock { $0.waiting[id] != nil }
        } while isWaiting && ContinuousClock.now < end
        state.withLock { $0.patience.note(isInVain: isWaiting) }
    }

    var isOpen: Bool { state.withLock { $0.error == nil } }

    /// What a request is called. Who wants to hear more of it than its answer asks for it first.
    func newNumber() -> Int64 {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// Cancelling the task gives up the wait; what the daemon grants all the same is given back by `late`. `after` is called with what is
    /// said of the request once it is answered, until `forget`.
    func ask(
        _ request: ControlRequest, as number: Int64? = nil, late: @escaping @Sendable (JSON) -> Void = { _ in },
        after: (@Sendable (JSON) -> Void)? = nil
    ) async throws -> JSON {
        let id = number ?? newNumber()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiting in
                let refusal: (any Error)? = state.withLock { state in
                    if let error = state.error { return error }
                    if Task.isCancelled { return CancellationError() }
                    state.waiting[id] = waiting
                    state.followers[id] = after
                    return nil
                }
                if let refusal { return waiting.resume(throwing: refusal) }
                send(ControlCall(id: .number(id), request: request).bytes)
                lookForAnswer(to: id)
            }
        } onCancel: {
            let waiting = state.withLock { state in
                let waiting = state.waiting.removeValue(forKey: id)
                if waiting != nil { state.late[id] = late }
                return waiting
            }
            waiting?.resume(throwing: CancellationError())
        }
    }

    func forget(_ number: Int64) { state.withLock { $0.followers[number] = nil } }

    /// Without waiting for the answer.
    func tell(_ request: ControlRequest) { send(ControlCall(id: .number(newNumber()), request: request).bytes) }

    /// `take` is called with each item of the answer, in order, until the stream or the connection ends. It must not wait.
    func follow(_ request: ControlRequest, take: @escaping @Sendable (JSON) -> Void) {
        let id = newNumber()
        state.withLock { $0.followers[id] = take }
        send(ControlCall(id: .number(id), request: request).bytes)
    }

    private func send(_ line: [UInt8]) {
        do throws(ControlError) {
            try socket.send(line)
        } catch {
            end(with: error)
        }
    }

    private func lines(after bytes: [UInt8]) throws(ControlError) -> [[UInt8]] {
        let (lines, isTooLong) = state.withLock { state in
            state.lines.append(bytes)
            var lines: [[UInt8]] = []
            while true {
                switch state.lines.next() {
                case .line(let line): lines.append(line)
                case .tooLong: return (lines, true)
                case .none: return (lines, false)
                }
            }
        }
        if isTooLong { throw ControlError(.controlUnreadable) }
        return lines
    }

    private func take(line: [UInt8]) {
        let reply: ControlReply
        do throws(ControlProtocol.DocumentError) {
            reply = try ControlReply(line: line)
        } catch {
            return end(with: ControlError(.controlUnreadable, text: "What answered is not syncd: \(error.text)."))
        }
        guard case .number(let id) = reply.id else { return }
        switch reply {
        case .item(_, _, let item): state.withLock { $0.followers[id] }?(item)
        case .result(_, let document):
            let (waiting, late) = state.withLock { state in
                let waiting = state.waiting.removeValue(forKey: id)
                // A stream ends with its answer; of what somebody has waited for there may be more to hear.
                if waiting == nil { state.followers[id] = nil }
                return (waiting, state.late.removeValue(forKey: id))
            }
            if let waiting { waiting.resume(returning: document) } else { late?(document) }
        case .refusal(let refusal):
            state.withLock {
                $0.late[id] = nil
                $0.followers[id] = nil
            }
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(throwing: refusal.error)
        }
    }

    /// Everybody who waits is told.
    private func end(with error: ControlError) {
        let waiting = state.withLock { state in
            if state.error == nil { state.error = error }
            defer {
                state.waiting = [:]
                state.followers = [:]
            }
            return Array(state.waiting.values)
        }
        for one in waiting { one.resume(throwing: error) }
        socket.shutDown()
    }
}
