import ControlProtocol
import SyncModel

/// `status`: how the folder stands, once or again after every change. How it looks is in `StatusView`.
extension Command {
    static let status = Command(
        "status", "[--watch]", summary: "how the folder stands, and what needs you",
        details: """
            Exit: 0 in sync and nothing needs you; 1 something does (an alert, a conflict, quarantine, a hold);
            2 not in sync yet (working, or the other node is away); 3 the daemon is not running.
            """,
        options: [Option("--watch", "show it again after every change, until Ctrl-C")]
    ) { (session) throws(Failure) in
        // With 1 the folder would need somebody.
        try session.whileItRuns { () throws(Failure) -> ExitCode in
            if session.has("--watch") { return try watch(session) }
            let status = try session.show(.status(watch: false), as: StatusDocument.self) { view($0, session).lines }
            return ExitCode(rawValue: status.exitCode)
        }
    }

    /// Redrawn on a terminal; elsewhere a line for each change.
    private static func watch(_ session: Session) throws(Failure) -> ExitCode {
        let redraws = System.isTerminal
        try session.stream(.status(watch: true), as: StatusDocument.self) { json, status in
            if session.wantsJSON {
                session.output.say(json)
            } else if redraws {
                // Home, then each line clears what was right of it, and the end what was below: no flicker.
                let lines = fitting(view(status, session).lines).map { $0 + "\u{1B}[K" }
                System.write("\u{1B}[H" + lines.joined(separator: "\n") + "\n\u{1B}[J", to: .output)
            } else {
                session.output.say(view(status, session).line)
            }
        }
        return .done
    }

    /// What is taller than the terminal would scroll away at every change.
    private static func fitting(_ lines: [String]) -> [String] {
        guard let height = System.height, lines.count >= height, height > 2 else { return lines }
        return lines.prefix(height - 2) + ["… \(Words.count(lines.count - height + 2, "line")) more"]
    }

    private static func view(_ status: StatusDocument, _ session: Session) -> StatusView {
        StatusView(
            status: status, style: session.style, nowMilliseconds: System.wallMilliseconds, again: session.again)
    }
}
