import SyncModel

/// `history --json`: earlier versions of a path that this node keeps, newest first; of a directory those of
/// the files below it.
public struct HistoryDocument: ControlDocument {
    public struct Version: Hashable, Sendable {
        public var id: String
        /// When it was put aside.
        public var timeMilliseconds: Int64
        /// Who wrote it.
        public var node: [UInt8]
        public var size: Int
        public var sha256: String?
        /// Where it points to, if it is a symbolic link.
        public var target: [UInt8]?
        /// Why it is not at the path any more.
        public var reason: CodeText
        /// Of which file, where a directory was asked for.
        public var path: [UInt8]?
        /// Whether something lies at that path now.
        public var isThere: Bool?

        public init(
            id: String, timeMilliseconds: Int64, node: [UInt8], size: Int, sha256: String? = nil,
            target: [UInt8]? = nil, reason: CodeText, path: [UInt8]? = nil, isThere: Bool? = nil
        ) {
            self.id = id
            self.timeMilliseconds = timeMilliseconds
            self.node = node
            self.size = size
            self.sha256 = sha256
            self.target = target
            self.reason = reason
            self.path = path
            self.isThere = isThere
        }
    }

    public var path: [UInt8]
    public var versions: [Version]
    /// More follow after this one.
    public var next: String?

    public init(path: [UInt8], versions: [Version], next: String? = nil) {
        self.path = path
        self.versions = versions
        self.next = next
    }

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(json)
        self.init(
            path: try fields.name("path"), versions: try fields.list("versions", Version.init),
            next: try fields.optionalText("next"))
    }

    public var json: JSON {
        .object(
            JSONObject().with("path", name: path).with("versions", list: versions, \.members)
                .with("next", next.map(JSON.string)))
    }
}

extension HistoryDocument.Version {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            id: try fields.text("id"), timeMilliseconds: try fields.time("time"), node: try fields.name("node"),
            size: try fields.count("size"), sha256: try fields.optionalText("sha256"),
            target: try fields.optionalName("target"), reason: try fields.code("reason"),
            path: try fields.optionalName("path"),
            isThere: fields.has("exists") ? try fields.flag("exists") : nil)
    }

    var members: JSONObject {
        JSONObject().with("id", .string(id)).with("time", seconds: timeMilliseconds).with("node", name: node)
            .with("size", .count(size)).with("sha256", sha256.map(JSON.string)).with("target", name: target)
            .with("reason", .string(reason.text)).with("path", name: path).with("exists", isThere.map(JSON.bool))
    }
}
