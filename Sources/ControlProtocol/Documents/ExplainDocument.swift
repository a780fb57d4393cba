public import SyncModel

/// `explain --json`: what a message means, or why a path or a record is as it is.
public struct ExplainDocument: ControlDocument {
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        case code, alert, path, record
    }

    public var subject: [UInt8]
    public var kind: Kind
    public var code: CodeText?
    public var severity: Severity?
    public var healsItself: Bool?
    /// When it is tried again, in words.
    public var retry: String?
    public var meaning: String
    public var cure: String?
    /// What is known of it: operations, the winner, the rule that decided. A line each.
    public var facts: [String]

    /// About a path or a record, or about an alert with its code.
    public init(
        subject: [UInt8], kind: Kind, code: MessageCode? = nil, meaning: String, cure: String? = nil,
        facts: [String] = []
    ) {
        self.subject = subject
        self.kind = kind
        self.code = code.map { CodeText($0) }
        severity = code?.severity
        healsItself = code?.kind.healsItself
        retry = code?.kind.retry.text
        self.meaning = meaning
        self.cure = cure ?? code?.kind.cure
        self.facts = facts
    }

    /// What the registry says.
    public init(code: MessageCode) {
        self.init(subject: Array(code.rawValue.utf8), kind: .code, code: code, meaning: code.kind.meaning)
    }

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(json)
        subject = try fields.name("subject")
        kind = try fields.choice("kind")
        code = fields.has("code") ? try fields.code("code") : nil
        severity = fields.has("severity") ? try fields.choice("severity") : nil
        healsItself = fields.has("healsItself") ? try fields.flag("healsItself") : nil
        retry = try fields.optionalText("retry")
        meaning = try fields.text("meaning")
        cure = try fields.optionalText("cure")
        facts = fields.has("facts") ? try fields.texts("facts") : []
    }

    public var json: JSON {
        .object(
            JSONObject().with("subject", name: subject).with("kind", .string(kind.rawValue))
                .with("code", code.map { .string($0.text) }).with("severity", severity.map { .string($0.rawValue) })
                .with("healsItself", healsItself.map(JSON.bool)).with("retry", retry.map(JSON.string))
                .with("meaning", .string(meaning)).with("cure", cure.map(JSON.string))
                .with("facts", .array(facts.map(JSON.string))))
    }
}
