public import SyncModel

/// `alerts --json`, and one alert alone for `alerts show` and `alerts ack`.
public struct AlertsDocument: ControlDocument {
    public var alerts: [AlertDocument]
    /// More follow after this one.
    public var next: String?

    public init(alerts: [AlertDocument], next: String? = nil) {
        self.alerts = alerts
        self.next = next
    }

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(json)
        self.init(alerts: try fields.list("alerts", AlertDocument.init), next: try fields.optionalText("next"))
    }

    public var json: JSON {
        .object(JSONObject().with("alerts", list: alerts, \.members).with("next", next.map(JSON.string)))
    }
}

public struct AlertDocument: Hashable, Sendable {
    public enum State: String, CaseIterable, Hashable, Sendable {
        case open, acknowledged, cleared
    }

    public var id: String
    public var code: CodeText
    public var severity: Severity
    /// The path or other thing it is about; empty for the node as a whole.
    public var subject: [UInt8]
    public var state: State
    public var firstSeenMilliseconds: Int64
    public var lastSeenMilliseconds: Int64
    public var count: Int
    /// Of formats: the version that was found, or what stands in its place, and the lowest and highest that are understood.
    public var found: JSON?
    public var supported: JSON?
    /// Of a file that is broken: the byte at which it is.
    public var offset: Int?
    /// Of a downgrade: the version that stays at the path.
    public var kept: JSON?
    /// Who wrote what is too new, or what is older than what was there.
    public var writer: String?
    /// Of records that break a rule of their model.
    public var fault: Fault?
    /// Of something that two versions are of: the ID under which `conflicts` has it.
    public var conflict: String?
    public var text: String
    public var cure: String

    /// Which rule of a model is broken, and by which change set, as the log calls it (`LogLine.ChangeSet.id`). A save that waits has that
    /// which it would get.
    public struct Fault: Hashable, Sendable {
        public var entity: String
        public var property: String?
        public var record: String
        public var changeSet: String

        public init(entity: String, property: String?, record: String, changeSet: String) {
            self.entity = entity
            self.property = property
            self.record = record
            self.changeSet = changeSet
        }
    }

    /// Severity, text and cure are those of the registry unless given.
    public init(
        id: String, code: MessageCode, subject: [UInt8] = [], state: State = .open, firstSeenMilliseconds: Int64,
        lastSeenMilliseconds: Int64, count: Int = 1, found: JSON? = nil, supported: JSON? = nil, writer: String? = nil,
        text: String? = nil, cure: String? = nil
    ) {
        self.id = id
        self.code = CodeText(code)
        severity = code.severity
        self.subject = subject
        self.state = state
        self.firstSeenMilliseconds = firstSeenMilliseconds
        self.lastSeenMilliseconds = lastSeenMilliseconds
        self.count = count
        self.found = found
        self.supported = supported
        self.writer = writer
        self.text = text ?? code.kind.meaning
        self.cure = cure ?? code.kind.cure
    }
}

extension AlertDocument: ControlDocument {
    public init(json: JSON) throws(DocumentError) { try self.init(try Fields(json)) }

    public var json: JSON { .object(members) }

    init(_ fields: Fields) throws(DocumentError) {
        id = try fields.text("id")
        code = try fields.code("code")
        severity = try fields.choice("severity")
        subject = try fields.optionalName("subject") ?? []
        state = try fields.choice("state")
        firstSeenMilliseconds = try fields.time("firstSeen")
        lastSeenMilliseconds = try fields.time("lastSeen")
        count = try fields.count("count")
        found = fields.has("found") ? try fields.required("found") : nil
        supported = fields.has("supported") ? try fields.required("supported") : nil
        offset = try fields.optionalCount("offset")
        kept = fields.has("kept") ? try fields.required("kept") : nil
        writer = try fields.optionalText("writer")
        if let record = try fields.optionalText("record") {
            fault = Fault(
                entity: try fields.text("entity"), property: try fields.optionalText("property"), record: record,
                changeSet: try fields.text("changeSet"))
        }
        conflict = try fields.optionalText("conflict")
        text = try fields.text("text")
        cure = try fields.text("cure")
    }

    var members: JSONObject {
        JSONObject().with("id", .string(id)).with("code", .string(code.text))
            .with("severity", .string(severity.rawValue)).with("subject", name: subject)
            .with("state", .string(state.rawValue)).with("firstSeen", seconds: firstSeenMilliseconds)
            .with("lastSeen", seconds: lastSeenMilliseconds).with("count", .count(count)).with("found", found)
            .with("supported", supported).with("offset", offset.map(JSON.count)).with("kept", kept)
            .with("writer", writer.map(JSON.string))
            .with("entity", fault.map { .string($0.entity) })
            .with("property", fault.flatMap(\.property).map(JSON.string))
            .with("record", fault.map { .string($0.record) })
            .with("changeSet", fault.map { .string($0.changeSet) }).with("conflict", conflict.map(JSON.string))
            .with("text", .string(text)).with("cure", .string(cure))
    }
}
