import ControlProtocol

/// `lock`, `unlock`, `locks`: coordinated access for scripts.
extension Command {
    static let lock = Command(
        "lock", "PATH… [--read] [--mode local|pair|strict] [--timeout S] [-- CMD…]",
        summary: "hold paths still, while a command runs or until unlock",
        details: """
            With a command its exit code is passed on, and the lock ends with it. Without one the lock stays until
            syncctl unlock. Exit 2: the lock could not be had within the time.
            """,
        options: [
            Option("--read", "others may read too; nobody writes"),
            Option("--mode", value: "MODE", "local: this node; pair: both while connected; strict: both or not at all"),
            Option("--timeout", value: "S", "give up after so many seconds"),
        ], operands: 1...Int.max, operandName: "A path in the folder", runsAnother: true
    ) { (session) throws(Failure) in
        let command = session.invocation.other
        if command?.isEmpty == true { throw .usage("A command is missing after --: write syncctl lock PATH -- CMD") }
        let request = try lockRequest(session)
        let patience = request.timeoutMilliseconds.map { Int64($0) + Session.patienceMilliseconds }
        let client = try session.connect()
        let answer: JSON
        do throws(Failure) {
            answer = try session.ask(.lock(request), over: client, patience: patience)
        } catch {
            throw timedOut(error, hadTimeout: patience != nil)
        }
        guard let command else {
            try session.show(answer, as: LockDocument.self) { lock in
                ["Locked (\(session.style.foreign(lock.id))) until \(session.again("unlock"))."]
            }
            return .done
        }
        let code = System.run(command)
        if code.rawValue == 126 || code.rawValue == 127 {
            session.output.note(["syncctl: \(session.style.name(command[0])) could not be run."])
        }
        if !client.isOpen {
            session.output.note(
                ["syncctl: The lock ended before the command did: syncd stopped or was restarted meanwhile."])
        }
        return code
    }

    private static func lockRequest(_ session: Session) throws(Failure) -> LockRequest {
        var items: [LockRequest.Item] = []
        for operand in session.invocation.operands { items.append(LockRequest.Item(try session.path(operand))) }
        let command = session.invocation.other
        // (Without a command this process ends before the lock does.)
        let process = command == nil ? 0 : System.processID
        return LockRequest(
            items: items, isRead: session.has("--read"), mode: try session.choice("--mode") ?? .pair,
            timeoutMilliseconds: try session.milliseconds("--timeout"), outlivesConnection: command == nil,
            holder: NameText.text(of: command?.first ?? Array("syncctl".utf8)), process: process)
    }

    static let unlock = Command(
        "unlock", "[PATH…]", summary: "give back locks taken without a command, all or those on these paths",
        operands: 0...Int.max, operandName: "A path in the folder"
    ) { (session) throws(Failure) in
        var paths: [PathArgument] = []
        for operand in session.invocation.operands { paths.append(try session.path(operand)) }
        return try session.perform(.unlock(paths), "Unlocked.")
    }

    static let locks = Command(
        "locks", summary: "who holds what",
        details: """
            The number is the process that asked for it: that of syncctl, where a command runs under the lock.
            Whoever kills that with SIGKILL gives the lock back while the command goes on.
            """
    ) { (session) throws(Failure) in
        try session.show(.locks, as: LocksDocument.self) { locksLines($0, session.style, System.wallMilliseconds) }
        return .done
    }

    static func locksLines(_ document: LocksDocument, _ style: Style, _ now: Int64) -> [String] {
        guard !document.locks.isEmpty else { return ["No locks."] }
        let rows = document.locks.map { lock in
            [
                style.foreign(lock.id), lock.isRead ? "read" : "write", lock.mode.rawValue, style.name(lock.node),
                style.foreign(lock.holder) + (lock.process.map { " (\($0))" } ?? ""),
                Words.duration(milliseconds: now - lock.sinceMilliseconds),
                lock.paths.map(style.path).joined(separator: " "),
            ]
        }
        return style.table(["ID", "FOR", "MODE", "NODE", "HOLDER", "SINCE", "PATHS"], rows)
    }
}
