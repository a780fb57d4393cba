import SyncCore
import SyncModel

/// INV-07. In sync is a place of rest: connecting again moves no content, no file and no row.
package final class Quiet: StepInvariant {
    package static let id = "INV-07"
    package static let sentence = """
        After both nodes are quiet, nothing more is written to a disk or a store and no content is sent, also when they connect anew.
        """

    private var first: [Machine.Counters] = []
    /// Frames of content since the first look, by machine.
    private var contents = [0, 0]
    private var isResting = false

    package init() {}

    package func see(_ turn: ProcessTurn, _ court: inout Court) {
        // A new process may have to look at everything again.
        first = []
        isResting = false
    }

    package func see(_ act: StepAct, _ court: inout Court) {
        guard isResting else { return }
        for effect in act.effects {
            guard case .send(_, let bytes) = effect, let frame = FrameCodec.decode(bytes) else { continue }
            switch frame {
            case .chunkList, .changedList, .chunks, .contents, .rows, .log, .expansion, .changeSet:
                contents[act.machine] += 1
            case .hello, .acknowledge, .rowsEnd, .want, .wantChanged, .wantChunks, .gone, .later, .rolledBack, .expand,
                .ping, .pong, .pausing, .holding, .halt, .records, .setsTaken, .setsShown, .setsBase, .formats, .claim,
                .claimAnswer,
                .releaseClaim, .claimWaits, .unknown:
                break
            }
        }
    }

    package func see(_ sight: Sight, _ court: inout Court) {
        let now = sight.machines.map(\.counters)
        defer {
            first = now
            isResting = true
            contents = [0, 0]
        }
        guard sight.look > 1, first.count == now.count else { return }
        for (index, (before, after)) in zip(first, now).enumerated() {
            if after.mutations != before.mutations {
                court.find(
                    self, on: index,
                    "\(after.mutations - before.mutations) operations changed the disk of a node at rest")
            }
            if after.batches != before.batches {
                court.find(
                    self, on: index, "\(after.batches - before.batches) batches changed the store of a node at rest")
            }
            if contents[index] > 0 {
                court.find(self, on: index, "\(contents[index]) frames of content left a node at rest")
            }
        }
    }
}
