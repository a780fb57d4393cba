import SyncCore
import SyncModel

/// Commands the core has been asked and has not answered.
final class PendingCommands {
    private var lastID: UInt64 = 0
    private var waiting: [CommandID: (Answer) -> Void] = [:]

    func add(_ then: @escaping (Answer) -> Void) -> CommandID {
        lastID += 1
        let id = CommandID(raw: lastID)
        waiting[id] = then
        return id
    }

    func settle(_ id: CommandID, _ answer: Answer) {
        waiting.removeValue(forKey: id)?(answer)
    }

    /// The node is gone: nobody will answer. In the order in which they were asked.
    func abandon() {
        let left = waiting.sorted { $0.key.raw < $1.key.raw }
        waiting = [:]
        for (_, then) in left { then(.refused(.nodeStopped)) }
    }
}
