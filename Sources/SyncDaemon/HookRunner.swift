import ControlProtocol
import EventLoop
import SyncModel
import Synchronization

/// Runs the administrator's command for each alert, one after the other, on a thread of its own: however it behaves, the
/// node goes on.
final class HookRunner {
    private let worker: WorkerPool
    private let isEnding = Flag()
    private let journal: Journal

    /// More alerts than this are not told to a command that does not end.
    private static let waitingMax = 100
    private static let millisecondsMax = 30_000

    /// Set from the loop, seen by the thread that waits for the command.
    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .acquiring) }
        func set() { value.store(true, ordering: .releasing) }
    }

    init(loop: Loop, journal: Journal) throws(LoopError) {
        worker = try WorkerPool(loop: loop, name: "hook", threads: 1)
        self.journal = journal
    }

    /// The command gets the alert as one line of JSON.
    func run(_ command: [UInt8], with alert: AlertDocument) {
        guard worker.outstanding < HookRunner.waitingMax else {
            return journal.problem(
                .hookFailed, "the alert hook is too slow: an alert was not told to it; see syncctl alerts")
        }
        let (isEnding, line) = (isEnding, alert.json.bytes + [0x0A])
        worker.run({
            System.run(shell: command, input: line, milliseconds: HookRunner.millisecondsMax) { isEnding.isSet }
        }) { [journal] end in
            if let complaint = HookRunner.complaint(end) { journal.problem(.hookFailed, "the alert hook \(complaint)") }
        }
    }

    private static func complaint(_ end: System.CommandEnd) -> String? {
        switch end {
        case .exited(0), .abandoned: nil
        case .exited(126): "ended with 126, as a shell does for a program that may not be run"
        case .exited(127): "ended with 127, as a shell does for a program that is not there"
        case .exited(let status): "ended with \(status)"
        case .signalled(let signal): "was ended by signal \(signal)"
        case .tooSlow: "took more than \(millisecondsMax / 1_000) s and was ended"
        case .failed(let text): "could not be run: \(text)"
        }
    }

    /// A command that runs is left to itself.
    func close() {
        isEnding.set()
        worker.close()
    }
}
