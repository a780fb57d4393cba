import ControlProtocol
import SyncModel

/// Where text goes: answers to standard output, complaints to standard error; with `--json` both, as JSON, to standard
/// output, so that a script has one place to read.
struct Output: Sendable {
    var style: Style
    var wantsJSON = false

    func say(_ line: String) { say([line]) }

    func say(_ lines: [String]) {
        if !lines.isEmpty { System.write(lines.joined(separator: "\n") + "\n", to: .output) }
    }

    /// On one line, also in a stream.
    func say(_ json: JSON) { System.write(json.bytes + [0x0A], to: .output) }

    /// What is not part of the answer.
    func note(_ lines: [String]) {
        if !lines.isEmpty { System.write(lines.joined(separator: "\n") + "\n", to: .error) }
    }

    func complain(_ failure: Failure) {
        switch failure {
        case .usage(let text) where wantsJSON:
            let cure = "See syncctl --help."
            say(ErrorDocument(ControlError(.requestInvalid, text: text, cure: cure)).json)
        case .usage(let text): note(["syncctl: \(text)"])
        case .refused(let error) where wantsJSON: say(ErrorDocument(error).json)
        case .refused(let error): note(Output.lines(error, style))
        }
    }

    /// What happened, with its code; below it what to do.
    static func lines(_ error: ControlError, _ style: Style) -> [String] {
        let texts = error.text.split(separator: "\n").map { style.foreign(String($0)) }
        let head = style.red("syncctl:") + " " + (texts.first ?? error.code.text)
        let cure = error.cure.isEmpty ? [] : style.wrapped(style.foreign(error.cure), indent: 2)
        return [head] + texts.dropFirst().map { "  " + $0 } + cure + [
            style.dim("  (\(style.foreign(error.code.text)))")
        ]
    }
}
