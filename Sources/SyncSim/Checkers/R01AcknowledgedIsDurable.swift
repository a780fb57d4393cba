import SyncCore
import SyncModel

/// An acknowledgement is a promise about a power cut at that very instant.
package final class AcknowledgedIsDurable: StoreInvariant, StepInvariant {
    package static let id = "R-01"
    package static let sentence = """
        When a node sends an acknowledgement its own store holds what it acknowledges; when a node stores one, the peer's store does.
        """

    private var durable: [LogHead] = [.none, .none]
    /// What a restored or wiped store once had and has no more.
    private var isTurnedBack = [false, false]

    package init() {}

    package func see(_ turn: ProcessTurn, _ court: inout Court) {
        durable[turn.machine] = turn.store.node.importedHead
    }

    package func see(_ act: OperatorAct, _ court: inout Court) {
        durable[act.machine] = act.store.node.importedHead
        switch act.kind {
        case .restoredImage, .restoredState, .wipedState: isTurnedBack[act.machine] = true
        case .restoredTree, .approvedDeletes, .rejectedDeletes, .damagedRoot: break
        }
    }

    package func see(_ act: StoreAct, _ court: inout Court) {
        for operation in act.batch.operations {
            guard case .putNode(let record) = operation else { continue }
            durable[act.machine] = record.importedHead
            let promised = record.acknowledged.position
            guard promised > act.store.node.acknowledged.position, !isTurnedBack[1 - act.machine] else { continue }
            if act.peerStore.node.importedHead.position < promised {
                court.find(
                    self, on: 1 - act.machine,
                    "acknowledged up to \(promised), its store ends at \(act.peerStore.node.importedHead.position)")
            }
        }
    }

    package func see(_ act: StepAct, _ court: inout Court) {
        for effect in act.effects {
            guard case .send(_, let bytes) = effect, case .acknowledge(let promise)? = FrameCodec.decode(bytes) else {
                continue
            }
            let known = durable[act.machine]
            if promise.head.position > known.position {
                court.find(
                    self, on: act.machine,
                    "sends an acknowledgement up to \(promise.head.position), its store ends at \(known.position)")
            }
        }
    }
}
