import ControlProtocol

/// `conflicts` and what can be done about one. How they look is in `ConflictsView`.
extension Command {
    static let conflicts = Command(
        "conflicts", "[--all] [--limit N]", summary: "files and records that both nodes changed",
        options: [.all, .limit]
    ) { (session) throws(Failure) in
        try list(session)
    }

    static let conflictsList = Command(
        "conflicts list", "[--all] [--limit N]", summary: "the same as syncctl conflicts", options: [.all, .limit]
    ) { (session) throws(Failure) in
        try list(session)
    }

    private static func list(_ session: Session) throws(Failure) -> ExitCode {
        let all = session.has("--all")
        let list = try session.askForAll("conflicts") { .conflicts(all: all, page: $0) }
        try session.show(list, as: ConflictsDocument.self) { view(session).lines($0) }
        return .done
    }

    static let conflictsShow = Command(
        "conflicts show", "ID", summary: "one conflict, its versions, and what short ones say", operands: 1...1,
        operandName: "The ID of a conflict"
    ) { (session) throws(Failure) in
        try session.show(.conflictShow(id: try session.operand(0)), as: ConflictDocument.self) {
            view(session).lines($0)
        }
        return .done
    }

    static let conflictsTake = Command(
        "conflicts take", "ID VERSION", summary: "put this version in the place; the other is kept",
        operands: 2...2, operandName: "The ID of a conflict and of a version of it"
    ) { (session) throws(Failure) in
        try session.perform(
            .conflictTake(id: try session.operand(0), version: try session.operand(1)),
            "Taken. What stood there before is kept in history.", patience: nil)
    }

    static let conflictsDiscard = Command(
        "conflicts discard", "ID", summary: "settle it as it is; the other versions stay in history",
        operands: 1...1, operandName: "The ID of a conflict"
    ) { (session) throws(Failure) in
        let id = try session.operand(0)
        return try session.perform(
            .conflictDiscard(id: id),
            "Settled. \(session.again("conflicts restore \(session.style.foreign(id))")) brings it back.", patience: nil
        )
    }

    static let conflictsRestore = Command(
        "conflicts restore", "ID", summary: "bring back what was discarded", operands: 1...1,
        operandName: "The ID of a conflict"
    ) { (session) throws(Failure) in
        try session.perform(.conflictRestore(id: try session.operand(0)), "Brought back.", patience: nil)
    }

    private static func view(_ session: Session) -> ConflictsView {
        ConflictsView(style: session.style, nowMilliseconds: System.wallMilliseconds, again: session.again)
    }
}
