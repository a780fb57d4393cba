import ControlProtocol
import SyncModel

/// What syncd says on stderr: one message a line, with its stable code, in words for people. When the service manager
/// reads it, each line begins with its priority.
final class Journal {
    /// What is said, by `--log-level` and `syncctl log-level`.
    enum Level: Int, Comparable {
        case problems = 0
        case decisions = 1
        case changes = 2
        case operations = 3

        static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    var level: Level
    private let hasPriorities: Bool
    private let write: (String) -> Void

    init(level: Level, hasPriorities: Bool, write: @escaping (String) -> Void = System.tell) {
        self.level = level
        self.hasPriorities = hasPriorities
        self.write = write
    }

    /// A message of the registry: what happened, to what, and what is safe and to do.
    func tell(_ code: MessageCode, _ subject: [UInt8] = []) {
        tell(code.rawValue, subject, code.severity, text: code.kind.meaning, cure: code.kind.cure)
    }

    /// What `syncctl alerts show` says of it.
    func tell(_ alert: AlertDocument, hasGrown: Bool = false) {
        let text = hasGrown ? "There is more of it since it was acknowledged. \(alert.text)" : alert.text
        tell(alert.code.text, alert.subject, alert.severity, text: text, cure: alert.cure)
    }

    private func tell(_ code: String, _ subject: [UInt8], _ severity: Severity, text: String, cure: String) {
        guard level >= Journal.level(of: severity) else { return }
        let about = subject.isEmpty ? "" : " \(Path.quote(subject))"
        let rest = severity == .info ? "" : " \(cure)"
        line("\(code)\(about): \(text)\(rest)", priority: Journal.priority(severity))
    }

    /// That a condition of the registry is over.
    func tellOver(_ code: MessageCode, _ subject: [UInt8]) {
        guard level >= .decisions else { return }
        let about = subject.isEmpty ? "" : " \(Path.quote(subject))"
        line("\(code.rawValue)\(about): over", priority: 6)
    }

    /// A line about the program itself: that it started, whom it meets, that it stops.
    func say(_ code: MessageCode, _ text: @autoclosure () -> String) {
        guard level >= .decisions else { return }
        line("\(code.rawValue): \(text())", priority: 6)
    }

    /// What happens in detail, for whoever looks into something: these lines alone have no code.
    func trace(_ text: @autoclosure () -> String, at level: Level) {
        guard self.level >= level else { return }
        line(text(), priority: 7)
    }

    /// Why the process ends.
    func refuse(_ refusal: Refusal) {
        guard let code = refusal.code else { return say(.nodeStopped, refusal.text) }
        problem(code, refusal.text)
    }

    /// Something is wrong with the program's own means. The problems of a configuration are told in a line each.
    func problem(_ code: MessageCode, _ text: String) {
        for part in text.split(separator: "\n") { line("\(code.rawValue): \(part)", priority: 3) }
    }

    private func line(_ text: String, priority: Int) {
        let start = "<\(priority)>"
        // What is said of a document may quote a key of it, line ends and all: what follows gets no priority of its own choice.
        write((hasPriorities ? start + text.replacing("\n", with: "\n" + start) : "syncd: " + text) + "\n")
    }

    private static func level(of severity: Severity) -> Level { severity == .info ? .decisions : .problems }

    /// As syslog counts: 3 error, 4 warning, 6 information.
    private static func priority(_ severity: Severity) -> Int {
        switch severity {
        case .serious: 3
        case .warning: 4
        case .info: 6
        }
    }
}
