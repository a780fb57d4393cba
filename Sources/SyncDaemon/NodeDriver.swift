import EventLoop
import SyncCore
import SyncModel

/// The turn: callbacks only queue events; here they go through the core one by one, and what it asks for is performed.
/// Nothing acts inside a callback, so nothing is re-entrant and batches form by themselves.
final class NodeDriver {
    private(set) var node = Node()
    private var inbox = Deque<Event>()
    private var effects = Effects()
    /// Frames of the peer that the core has not seen yet, and their bytes.
    private(set) var unread = FloodGate.Unread()
    /// Performs one effect; set once, before the start.
    var perform: (Effect) -> Void = { _ in }

    /// A turn gives way to sockets and signals after this.
    private static let turnMillisecondsMax: UInt64 = 10

    /// The node has a start behind it and has not finished.
    private(set) var isAlive = false

    func start(_ start: Start) {
        node = Node()
        clear()
        isAlive = true
        post(.started(start))
    }

    /// From any callback of the loop; answers of effects of a node that is gone are dropped.
    func post(_ event: Event) {
        guard isAlive else { return }
        count(event, 1)
        inbox.append(event)
    }

    func retire() {
        isAlive = false
        clear()
    }

    private func clear() {
        inbox = Deque()
        unread = FloodGate.Unread()
    }

    private func count(_ event: Event, _ sign: Int) {
        guard case .received(_, let bytes) = event else { return }
        unread.frames += sign
        unread.bytes += sign * bytes.count
    }

    /// True if events are left, so that the loop does not wait.
    func turn() -> Bool {
        guard !inbox.isEmpty else { return false }
        let begun = Clock.monotonicMilliseconds()
        var now = begun
        while let event = inbox.popFirst() {
            count(event, -1)
            let moment = Moment(monotonicMilliseconds: now, wallMilliseconds: Clock.wallMilliseconds())
            effects.removeAll()
            node.step(event, at: moment, into: &effects)
            for effect in effects.list { perform(effect) }
            now = Clock.monotonicMilliseconds()
            if now - begun >= NodeDriver.turnMillisecondsMax { break }
        }
        return !inbox.isEmpty
    }
}
