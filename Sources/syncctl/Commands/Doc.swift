import ControlProtocol

/// `doc check` and `doc show`: files under the models.
extension Command {
    static let docCheck = Command(
        "doc check", "FILE… | --all", summary: "whether files load under the models; exit 1 if one does not",
        details: """
            A file that can be read loads, also where it does not say its version (it is as old as the first there
            was) or where a value is missing or of another type than the model says: that is success, and beside it
            stands why it is not in sync yet. syncctl status tells whether anything waits.
            With --all: all records of all models. What is shown is compared with what the change sets come to,
            every live record is held against its model, and records that are in quarantine, or that nobody made,
            are named. Exit 1 if a rule is broken; records in quarantine break none.
            """,
        options: [Option("--all", "hold all records against their models instead of files")],
        operands: 0...Int.max, operandName: "A file"
    ) { (session) throws(Failure) in
        guard session.has("--all") == session.invocation.operands.isEmpty else {
            throw .usage("Either files or --all: write syncctl doc check FILE or syncctl doc check --all.")
        }
        var files: [PathArgument] = []
        for operand in session.invocation.operands { files.append(try session.path(operand)) }
        let checks = try session.show(.documentCheck(files), as: DocumentChecks.self, patience: nil) { document in
            document.files.map { checkText($0, session.style) }
                + (document.graph.map { graphLines($0, session.style) } ?? [])
        }
        return checks.isSuccess ? .done : .refused
    }

    static func graphLines(_ graph: DocumentChecks.Graph, _ style: Style) -> [String] {
        let count =
            "\(Words.count(graph.live, "live record")), \(graph.deleted) deleted, \(graph.strays.count) out of the graph"
        let faults = graph.faults.map { "\(style.red("fault")): \(style.foreign($0))" }
        return graph.strays.map { "out: \(style.foreign($0))" } + faults
            + [faults.isEmpty ? "\(count): no rule is broken" : "\(count): \(Words.count(faults.count, "fault"))"]
    }

    static func checkText(_ file: DocumentChecks.File, _ style: Style) -> String {
        let outcome = file.outcome == .success ? style.green("success") : style.red(file.outcome.rawValue)
        var text = "\(style.path(file.path)): \(outcome)"
        if let model = file.model { text += ", model \(style.foreign(model))" }
        if let found = file.found { text += ", version \(String(decoding: found.bytes, as: UTF8.self))" }
        if let supported = file.supported { text += ", understood \(String(decoding: supported.bytes, as: UTF8.self))" }
        if let offset = file.offset { text += ", at byte \(offset)" }
        if let detail = file.detail { text += ": \(style.foreign(detail))" }
        return text
    }

    static let docShow = Command(
        "doc show", "FILE", summary: "the records in a file", operands: 1...1, operandName: "A file"
    ) { (session) throws(Failure) in
        let document = try session.ask(.documentShow(try session.path(session.invocation.operands[0])))
        if session.wantsJSON { session.output.say(document) } else { session.output.say(document.prettyText) }
        return .done
    }
}
