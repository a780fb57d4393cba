import ControlProtocol

/// `log` and `log verify`: the change logs of both nodes.
extension Command {
    static let log = Command(
        "log", "[-n N] [--follow] [--node NAME]", summary: "the changes both nodes made, oldest first",
        options: [
            Option("--count", short: "-n", value: "N", "only the last N; 10 with --follow, otherwise all"),
            Option("--follow", short: "-f", "go on with what happens from now on, until Ctrl-C"),
            Option("--node", value: "NAME", "only those of this node"),
        ]
    ) { (session) throws(Failure) in
        let follow = session.has("--follow")
        let count = try session.number("--count") ?? (follow ? 10 : nil)
        let request = ControlRequest.log(count: count, follow: follow, node: try session.text("--node"))
        return try session.whileItRuns { () throws(Failure) -> ExitCode in
            try session.stream(request, as: LogLine.self) { json, line in
                let text = logText(line, session.style)
                if session.wantsJSON { session.output.say(json) } else { session.output.say(text) }
            }
            return .done
        }
    }

    static func logText(_ line: LogLine, _ style: Style) -> String {
        let path = line.from.map { "\(style.name($0)) -> \(style.name(line.path))" } ?? style.name(line.path)
        let ops =
            line.changeSet.map { set in
                " (\(Words.count(line.ops, "operation")) on \(Words.count(set.recordCount, "record")), set \(set.seq))"
            } ?? (line.ops > 1 ? " (\(Words.grouped(line.ops)) operations)" : "")
        return "\(Words.time(line.timeMilliseconds))  \(style.name(line.node))/\(line.seq)  "
            + "\(style.foreign(line.kind))  \(path)\(ops)"
    }

    static let logVerify = Command(
        "log verify", summary: "check the chain of the log, and the change sets of both nodes"
    ) {
        (session) throws(Failure) in
        let found = try session.show(.logVerify, as: LogVerifyDocument.self, patience: nil) { document in
            document.logs.map { log in
                let state = log.isIntact ? session.style.green("intact") : session.style.red("damaged")
                return "\(session.style.name(log.node))  \(state)  \(Words.count(log.records, "entry", "entries")), "
                    + "\(Words.count(log.changeSets, "change set"))  " + session.style.foreign(log.text)
            }
        }
        return found.isIntact ? .done : .refused
    }
}
