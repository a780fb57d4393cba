import ControlProtocol
import SyncModel

/// `explain`: codes from the registry that is built in, everything else from the daemon.
extension Command {
    static let explain = Command(
        "explain", "CODE|ALERT|PATH|ENTITY/ID", summary: "what a message means, or why a path is as it is",
        details: "Codes are explained without the daemon.", operands: 1...1,
        operandName: "A code such as disk.full, the ID of an alert, a path or a record"
    ) { (session) throws(Failure) in
        let subject = session.invocation.operands[0]
        if let code = MessageCode(rawValue: NameText.text(of: subject)) {
            let document = ExplainDocument(code: code)
            try session.show(document.json, as: ExplainDocument.self) { explainLines($0, session.style) }
            return .done
        }
        do throws(Failure) {
            try session.show(.explain(try session.path(subject)), as: ExplainDocument.self) {
                explainLines($0, session.style)
            }
        } catch {
            throw likelyCode(subject, error)
        }
        return .done
    }

    /// Without a daemon only codes can be explained: whoever wrote one wrongly should hear that.
    private static func likelyCode(_ subject: [UInt8], _ failure: Failure) -> Failure {
        guard case .refused(let error) = failure, error.code.known == .controlNotRunning else { return failure }
        let word = NameText.text(of: subject)
        let theme = word.prefix { $0 != "." }
        let related = MessageCode.allCases.map(\.rawValue).filter { word.contains(".") && $0.hasPrefix(theme + ".") }
        if related.isEmpty { return failure }
        let text =
            "There is no code \(NameText.printable(word)); of \(theme) there are \(related.joined(separator: ", "))."
        return .refused(ControlError(.controlNotRunning, text: "\(text) \(error.text)", cure: error.cure))
    }

    static func explainLines(_ document: ExplainDocument, _ style: Style) -> [String] {
        var lines = [style.bold(style.path(document.subject))]
        if document.kind != .code, let code = document.code { lines[0] += "  \(style.foreign(code.text))" }
        if let severity = document.severity {
            let heals = document.healsItself.map { $0 ? ", goes away by itself" : ", stays until somebody acts" } ?? ""
            lines[0] += "  \(severity.rawValue)\(heals)"
        }
        lines += [""] + style.wrapped(style.foreign(document.meaning), indent: 2)
        if !document.facts.isEmpty { lines += [""] + document.facts.map { "  - " + style.foreign($0) } }
        if let cure = document.cure { lines += ["", "What to do:"] + style.wrapped(style.foreign(cure), indent: 2) }
        if let retry = document.retry { lines += ["", style.dim("Tried again \(style.foreign(retry)).")] }
        return lines
    }
}
