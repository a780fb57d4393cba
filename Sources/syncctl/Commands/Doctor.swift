import Config
import ControlProtocol
import SyncModel

/// `doctor`: what can be seen from here (`Checkup`), then what the daemon sees.
extension Command {
    static let doctor = Command(
        "doctor", summary: "look for what is wrong, and say the command that cures it",
        details: "Works without the daemon for what can be seen without it. Exit 1 if there is a problem."
    ) { (session) throws(Failure) in
        let document = DoctorDocument(findings: joined(localFindings(session), daemonFindings(session)))
        try session.show(document.json, as: DoctorDocument.self) { doctorLines($0, session.style) }
        return document.isHealthy ? .done : .refused
    }

    /// What keeps the folder from being synced counts once: the daemon says it with the reason and what is safe.
    static func joined(
        _ local: [DoctorDocument.Finding], _ daemon: [DoctorDocument.Finding]
    ) -> [DoctorDocument.Finding] {
        func isOfFolder(_ finding: DoctorDocument.Finding) -> Bool {
            finding.check == "folder" && finding.grade == .problem
        }
        return local.filter { !isOfFolder($0) || !daemon.contains(where: isOfFolder) } + daemon
    }

    /// Where only a socket is named, the configuration of that daemon is not known.
    private static func localFindings(_ session: Session) -> [DoctorDocument.Finding] {
        if session.has("--socket") { return Checkup.machine() }
        do throws(Failure) {
            let configuration = try session.configuration()
            let checkup = Checkup(configuration: configuration, again: session.again("doctor"))
            return checkup.findings + Checkup.machine()
        } catch {
            guard case .refused(let refusal) = error else { return Checkup.machine() }
            return [problem("configuration", refusal)] + Checkup.machine()
        }
    }

    private static func daemonFindings(_ session: Session) -> [DoctorDocument.Finding] {
        do throws(Failure) {
            let document = try session.read(try session.ask(.doctor), as: DoctorDocument.self)
            return [answers] + document.findings
        } catch {
            guard case .refused(let refusal) = error else { return [] }
            // What is wrong with the configuration has been told above.
            if refusal.code.known == .configInvalid { return [] }
            if refusal.code.known == .requestUnsupported { return [answers] }
            // It waits for its folder.
            if refusal.code.known == .rootMissing || refusal.code.known == .rootReplaced {
                return [answers, problem("folder", refusal)]
            }
            return [problem("daemon", refusal)]
        }
    }

    private static var answers: DoctorDocument.Finding {
        .init(check: "daemon", grade: .ok, text: "syncd is running and answers.")
    }

    private static func problem(_ check: String, _ error: ControlError) -> DoctorDocument.Finding {
        DoctorDocument.Finding(check: check, grade: .problem, text: error.text, cure: error.cure)
    }

    static func doctorLines(_ document: DoctorDocument, _ style: Style) -> [String] {
        var lines: [String] = []
        for finding in document.findings {
            let mark =
                switch finding.grade {
                case .ok: style.green("ok     ")
                case .warning: style.yellow("warning")
                case .problem: style.red("problem")
                }
            let texts = finding.text.split(separator: "\n").map { style.foreign(String($0)) }
            lines.append("\(mark)  \(style.foreign(finding.check)): \(texts.first ?? "")")
            lines += texts.dropFirst().map { "         " + $0 }
            if let cure = finding.cure, finding.grade != .ok { lines += style.wrapped(style.foreign(cure), indent: 9) }
        }
        let problems = document.findings.count { $0.grade == .problem }
        let warnings = document.findings.count { $0.grade == .warning }
        let end =
            problems > 0
            ? "\(Words.count(problems, "problem")) found."
            : warnings > 0 ? "No problem found, and \(Words.count(warnings, "warning"))." : "Nothing stands in the way."
        return lines + ["", end]
    }
}
