import ControlProtocol
import SyncModel

/// `wait`: for scripts that go on when both nodes agree.
extension Command {
    static let wait = Command(
        "wait", "[--for in-sync|connected|initial-import] [--timeout S]", summary: "block until it holds",
        details: "Exit: 0 it holds; 2 it did not within the time, with the reason; 3 the daemon is not running.",
        options: [
            Option("--for", value: "WHAT", "in-sync (unless given), connected or initial-import"),
            Option("--timeout", value: "S", "give up after so many seconds"),
        ]
    ) { (session) throws(Failure) in
        let condition: WaitCondition = try session.choice("--for") ?? .inSync
        let timeout = try session.milliseconds("--timeout")
        return try session.whileItRuns { () throws(Failure) -> ExitCode in
            do throws(Failure) {
                try session.show(
                    .wait(for: condition, timeoutMilliseconds: timeout), as: StatusDocument.self,
                    patience: timeout.map { Int64($0) + Session.patienceMilliseconds }
                ) { _ in [text(condition)] }
                return .done
            } catch {
                throw timedOut(error, hadTimeout: timeout != nil)
            }
        }
    }

    /// A daemon that keeps silent past the time given is a time-out, too.
    static func timedOut(_ failure: Failure, hadTimeout: Bool) -> Failure {
        guard hadTimeout, case .refused(let error) = failure, error.code.known == .controlSilent else { return failure }
        return .refused(ControlError(.waitTimedOut, text: error.text, cure: error.cure))
    }

    private static func text(_ condition: WaitCondition) -> String {
        switch condition {
        case .inSync: "In sync."
        case .connected: "Connected."
        case .initialImport: "The first comparison of the two folders is done."
        }
    }
}
