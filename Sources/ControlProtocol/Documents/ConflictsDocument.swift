import SyncModel

/// `conflicts --json`: contested files and records in one list, and one alone for `conflicts show`.
public struct ConflictsDocument: ControlDocument {
    public var conflicts: [ConflictDocument]
    /// More follow after this one.
    public var next: String?

    public init(conflicts: [ConflictDocument], next: String? = nil) {
        self.conflicts = conflicts
        self.next = next
    }

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(json)
        self.init(conflicts: try fields.list("conflicts", ConflictDocument.init), next: try fields.optionalText("next"))
    }

    public var json: JSON {
        .object(JSONObject().with("conflicts", list: conflicts, \.members).with("next", next.map(JSON.string)))
    }
}

public struct ConflictDocument: Hashable, Sendable {
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        case file, slot, identity
        case deletedEdit = "deleted-edit"
        case downgrade
    }

    public struct Version: Hashable, Sendable {
        public var id: String
        public var node: [UInt8]
        public var timeMilliseconds: Int64
        public var sha256: String?
        /// The one that has the name or the place.
        public var isCurrent: Bool
        /// `Entity/id`, of record contests.
        public var record: String?
        /// Where its bytes are, if it is a file of its own.
        public var path: [UInt8]?
        public var size: Int?
        /// Where it points to, if it is a symbolic link.
        public var target: [UInt8]?
        /// What it says, in `conflicts show`: of a short text.
        public var text: String?

        public init(
            id: String, node: [UInt8], timeMilliseconds: Int64, sha256: String? = nil, isCurrent: Bool = false,
            record: String? = nil, path: [UInt8]? = nil, size: Int? = nil, target: [UInt8]? = nil, text: String? = nil
        ) {
            self.id = id
            self.node = node
            self.timeMilliseconds = timeMilliseconds
            self.sha256 = sha256
            self.isCurrent = isCurrent
            self.record = record
            self.path = path
            self.size = size
            self.target = target
            self.text = text
        }
    }

    public var id: String
    public var code: CodeText
    public var kind: Kind
    public var path: [UInt8]
    public var subject: [UInt8]
    public var sinceMilliseconds: Int64
    /// One word, such as `lostSlot`.
    public var reason: String
    public var versions: [Version]
    public var isOpen: Bool
    /// Settled, and what was in the copy of a file stands there: there is nothing in it to bring back. Absent in JSON where it is not so.
    public var isTaken: Bool

    public init(
        id: String, code: CodeText, kind: Kind, path: [UInt8], subject: [UInt8], sinceMilliseconds: Int64,
        reason: String, versions: [Version], isOpen: Bool = true, isTaken: Bool = false
    ) {
        self.id = id
        self.code = code
        self.kind = kind
        self.path = path
        self.subject = subject
        self.sinceMilliseconds = sinceMilliseconds
        self.reason = reason
        self.versions = versions
        self.isOpen = isOpen
        self.isTaken = isTaken
    }
}

extension ConflictDocument: ControlDocument {
    public init(json: JSON) throws(DocumentError) { try self.init(try Fields(json)) }

    public var json: JSON { .object(members) }

    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            id: try fields.text("id"), code: try fields.code("code"), kind: try fields.choice("kind"),
            path: try fields.name("path"), subject: try fields.name("subject"),
            sinceMilliseconds: try fields.time("since"), reason: try fields.text("reason"),
            versions: try fields.list("versions", Version.init),
            isOpen: fields.has("open") ? try fields.flag("open") : true, isTaken: try fields.flag("taken"))
    }

    var members: JSONObject {
        JSONObject().with("id", .string(id)).with("code", .string(code.text)).with("kind", .string(kind.rawValue))
            .with("path", name: path).with("subject", name: subject).with("since", seconds: sinceMilliseconds)
            .with("reason", .string(reason)).with("open", .bool(isOpen)).with("taken", isTaken ? .bool(true) : nil)
            .with("versions", list: versions, \.members)
    }
}

extension ConflictDocument.Version {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            id: try fields.text("id"), node: try fields.name("node"), timeMilliseconds: try fields.time("time"),
            sha256: try fields.optionalText("sha256"), isCurrent: try fields.flag("current"),
            record: try fields.optionalText("record"), path: try fields.optionalName("path"),
            size: try fields.optionalCount("size"), target: try fields.optionalName("target"),
            text: try fields.optionalText("text"))
    }

    var members: JSONObject {
        JSONObject().with("id", .string(id)).with("node", name: node).with("time", seconds: timeMilliseconds)
            .with("sha256", sha256.map(JSON.string)).with("current", .bool(isCurrent))
            .with("record", record.map(JSON.string)).with("path", name: path).with("size", size.map(JSON.count))
            .with("target", name: target).with("text", text.map(JSON.string))
    }
}
