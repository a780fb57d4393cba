import ControlProtocol

/// Commands that tell the running daemon what to do and have nothing to show but that it is done.
extension Command {
    static let pause = Command("pause", summary: "stop syncing, in both directions, until resume; changes are kept") {
        (session) throws(Failure) in
        try session.perform(.pause, "Paused. Changes are kept and wait; \(session.again("resume")) goes on.")
    }

    static let resume = Command("resume", summary: "go on after pause") { (session) throws(Failure) in
        try session.perform(.resume, "Going on.")
    }

    static let rescan = Command(
        "rescan", "[PATH]", summary: "look through the folder now, or through one directory of it", operands: 0...1,
        operandName: "A directory in the folder"
    ) { (session) throws(Failure) in
        var path: PathArgument?
        if let typed = session.invocation.operands.first { path = try session.path(typed) }
        return try session.perform(.rescan(path), "Looking through it; \(session.again("status")) tells how far it is.")
    }

    static let reload = Command(
        "reload", summary: "read the configuration again",
        details: "Applies what can change while it runs, and says what needs a restart."
    ) { (session) throws(Failure) in
        try session.perform(.reload, "The configuration was read again.")
    }

    static let logLevel = Command(
        "log-level", "N [--for S]", summary: "how much the daemon logs: 0 problems … 3 every operation",
        options: [Option("--for", value: "S", "for so many seconds, then as before")], operands: 1...1,
        operandName: "A level from 0 to 3"
    ) { (session) throws(Failure) in
        let text = try session.operand(0)
        guard let level = Int(text), (0...3).contains(level), text.count == 1 else {
            throw .usage("\(NameText.printable(text)) is no log level: write 0, 1, 2 or 3.")
        }
        return try session.perform(
            .logLevel(level, forMilliseconds: try session.milliseconds("--for")), "The log level is \(level).")
    }

    private static let heldDetails =
        "ID is that of the alert, or the one that status --json tells in heldDeletes: no later deletion has that."

    static let approve = Command(
        "approve", "[ID]", summary: "let held deletes go on; the files stay in history",
        details: heldDetails,
        operands: 0...1, operandName: "The ID of what is held"
    ) { (session) throws(Failure) in
        try session.perform(
            .approve(id: try session.optionalOperand),
            "Approved. The files are deleted on both nodes and stay in history.", patience: nil)
    }

    static let reject = Command(
        "reject", "[ID]", summary: "bring back what held deletes took away",
        details: heldDetails,
        operands: 0...1, operandName: "The ID of what is held"
    ) { (session) throws(Failure) in
        try session.perform(
            .reject(id: try session.optionalOperand), "Rejected. The files are being brought back.", patience: nil)
    }
}

extension Session {
    fileprivate var optionalOperand: String? {
        get throws(Failure) { invocation.operands.isEmpty ? nil : try operand(0) }
    }
}
