/// `doctor --json`: what was checked, what was found, and the command that cures it.
public struct DoctorDocument: ControlDocument {
    public struct Finding: Hashable, Sendable {
        public enum Grade: String, CaseIterable, Hashable, Sendable {
            case ok, warning, problem
        }

        /// A short name, such as `inotify limit`.
        public var check: String
        public var grade: Grade
        public var text: String
        /// The command to type, or the line to change.
        public var cure: String?

        public init(check: String, grade: Grade, text: String, cure: String? = nil) {
            self.check = check
            self.grade = grade
            self.text = text
            self.cure = cure
        }
    }

    public var findings: [Finding]

    public init(findings: [Finding]) {
        self.findings = findings
    }

    /// The exit code of `doctor` is 0 only then.
    public var isHealthy: Bool { findings.allSatisfy { $0.grade != .problem } }

    public init(json: JSON) throws(DocumentError) {
        self.init(findings: try Fields(json).list("findings", Finding.init))
    }

    public var json: JSON {
        .object(JSONObject().with("healthy", .bool(isHealthy)).with("findings", list: findings, \.members))
    }
}

extension DoctorDocument.Finding {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            check: try fields.text("check"), grade: try fields.choice("grade"), text: try fields.text("text"),
            cure: try fields.optionalText("cure"))
    }

    var members: JSONObject {
        JSONObject().with("check", .string(check)).with("grade", .string(grade.rawValue)).with("text", .string(text))
            .with("cure", cure.map(JSON.string))
    }
}
