import SyncModel

/// `log --json`, one line per change of either node, and `log verify --json`.
public struct LogLine: ControlDocument {
    /// Who made the change.
    public var node: [UInt8]
    public var epoch: UInt64
    public var seq: UInt64
    public var timeMilliseconds: Int64
    /// What was done: `put`, `delete`, `move`, …
    public var kind: String
    public var path: [UInt8]
    /// Operations in it.
    public var ops: Int
    /// Where a moved path was before.
    public var from: [UInt8]?
    /// The change set of records that the save is in; its operations are those of all files that were saved with this one.
    public var changeSet: ChangeSet?

    public struct ChangeSet: Hashable, Sendable {
        public var epoch: UInt64
        public var seq: UInt64
        /// `Entity/ID`, the first `recordsMax` of those that it writes to.
        public var records: [String]
        /// How many it writes to.
        public var recordCount: Int
        /// What an alert calls it (`AlertDocument.Fault.changeSet`). Earlier programs tell none.
        public var id: String?

        public static let recordsMax = 32

        public init(epoch: UInt64, seq: UInt64, records: [String], recordCount: Int, id: String? = nil) {
            self.epoch = epoch
            self.seq = seq
            self.records = records
            self.recordCount = recordCount
            self.id = id
        }
    }

    public init(
        node: [UInt8], epoch: UInt64, seq: UInt64, timeMilliseconds: Int64, kind: String, path: [UInt8], ops: Int = 1,
        from: [UInt8]? = nil, changeSet: ChangeSet? = nil
    ) {
        self.node = node
        self.epoch = epoch
        self.seq = seq
        self.timeMilliseconds = timeMilliseconds
        self.kind = kind
        self.path = path
        self.ops = ops
        self.from = from
        self.changeSet = changeSet
    }

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(json)
        self.init(
            node: try fields.name("node"), epoch: try fields.unsigned("epoch"), seq: try fields.unsigned("seq"),
            timeMilliseconds: try fields.time("time"), kind: try fields.text("kind"), path: try fields.name("path"),
            ops: try fields.count("ops"), from: try fields.optionalName("from"),
            changeSet: try fields.optional("changeSet", ChangeSet.init))
    }

    public var json: JSON {
        .object(
            JSONObject().with("node", name: node).with("epoch", .unsigned(epoch)).with("seq", .unsigned(seq))
                .with("time", .string(TimeText.milliseconds(timeMilliseconds))).with("kind", .string(kind))
                .with("path", name: path).with("ops", .count(ops)).with("from", name: from)
                .with("changeSet", changeSet.map { .object($0.members) }))
    }
}

extension LogLine.ChangeSet {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            epoch: try fields.unsigned("epoch"), seq: try fields.unsigned("seq"), records: try fields.texts("records"),
            recordCount: try fields.count("recordCount"), id: try fields.optionalText("id"))
    }

    var members: JSONObject {
        JSONObject().with("epoch", .unsigned(epoch)).with("seq", .unsigned(seq))
            .with("records", .array(records.map { .string($0) })).with("recordCount", .count(recordCount))
            .with("id", id.map(JSON.string))
    }
}

public struct LogVerifyDocument: ControlDocument {
    public struct Log: Hashable, Sendable {
        /// Whose log.
        public var node: [UInt8]
        public var records: Int
        /// What was saved of records.
        public var changeSets: Int
        public var isIntact: Bool
        /// What was found, and where.
        public var text: String

        public init(node: [UInt8], records: Int, changeSets: Int = 0, isIntact: Bool, text: String) {
            self.node = node
            self.records = records
            self.changeSets = changeSets
            self.isIntact = isIntact
            self.text = text
        }
    }

    public var logs: [Log]

    public init(logs: [Log]) {
        self.logs = logs
    }

    public var isIntact: Bool { logs.allSatisfy(\.isIntact) }

    public init(json: JSON) throws(DocumentError) {
        self.init(logs: try Fields(json).list("logs", Log.init))
    }

    public var json: JSON {
        .object(JSONObject().with("intact", .bool(isIntact)).with("logs", list: logs, \.members))
    }
}

extension LogVerifyDocument.Log {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            node: try fields.name("node"), records: try fields.count("records"),
            changeSets: try fields.optionalCount("changeSets") ?? 0, isIntact: try fields.flag("intact"),
            text: try fields.text("text"))
    }

    var members: JSONObject {
        JSONObject().with("node", name: node).with("records", .count(records))
            .with("changeSets", .count(changeSets)).with("intact", .bool(isIntact)).with("text", .string(text))
    }
}
