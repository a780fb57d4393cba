import ControlProtocol

/// `restore`: an earlier version comes back.
extension Command {
    static let restore = Command(
        "restore", "PATH [--version V] [--to PATH]", summary: "bring an earlier version back",
        details: "What stands at the path now is kept as an earlier version in turn.",
        options: [
            Option("--version", value: "V", "this one of syncctl history PATH; the newest unless given"),
            Option("--to", value: "PATH", "put it there instead of at its own path"),
        ], operands: 1...1, operandName: "The path of a file in the folder"
    ) { (session) throws(Failure) in
        var target: PathArgument?
        if let typed = session.bytes("--to") { target = try session.path(typed) }
        let path = session.invocation.operands[0]
        return try session.perform(
            .restore(path: try session.path(path), version: try session.text("--version"), to: target),
            "Restored \(session.style.name(session.bytes("--to") ?? path)).", patience: nil)
    }
}
