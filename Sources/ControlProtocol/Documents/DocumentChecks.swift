import SyncModel

/// `doc check --json`: how each file loads under the models.
public struct DocumentChecks: ControlDocument {
    public enum Outcome: String, CaseIterable, Hashable, Sendable {
        case success, noSuchFile, zeroLength, corrupt, olderVersion, newerVersion, unknownVersion, accessDenied
        case changedDuringRead
        /// No model and no format rule names it.
        case unguarded
    }

    public struct File: Hashable, Sendable {
        public var path: [UInt8]
        public var outcome: Outcome
        public var model: String?
        /// The version that was found, and the lowest and highest that are understood.
        public var found: JSON?
        public var supported: JSON?
        /// Where a corrupt file stops being readable, in bytes.
        public var offset: Int?
        public var detail: String?

        public init(
            path: [UInt8], outcome: Outcome, model: String? = nil, found: JSON? = nil, supported: JSON? = nil,
            offset: Int? = nil, detail: String? = nil
        ) {
            self.path = path
            self.outcome = outcome
            self.model = model
            self.found = found
            self.supported = supported
            self.offset = offset
            self.detail = detail
        }
    }

    /// All records of all models: what is live and valid, what is not, and what must not be.
    public struct Graph: Hashable, Sendable {
        public var live: Int
        public var deleted: Int
        public var strays: [String]
        public var faults: [String]

        public init(live: Int, deleted: Int, strays: [String], faults: [String]) {
            self.live = live
            self.deleted = deleted
            self.strays = strays
            self.faults = faults
        }
    }

    public var files: [File]
    /// Where no file was named.
    public var graph: Graph?

    public init(files: [File]) {
        self.files = files
    }

    /// The exit code of `doc check` is 0 only then.
    public var isSuccess: Bool { files.allSatisfy { $0.outcome == .success } && graph?.faults.isEmpty != false }

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(json)
        self.init(files: try fields.list("files", File.init))
        graph = try fields.optional("graph", Graph.init)
    }

    public var json: JSON {
        .object(JSONObject().with("files", list: files, \.members).with("graph", graph.map { .object($0.members) }))
    }
}

extension DocumentChecks.File {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            path: try fields.name("path"), outcome: try fields.choice("outcome"),
            model: try fields.optionalText("model"), found: fields.has("found") ? try fields.required("found") : nil,
            supported: fields.has("supported") ? try fields.required("supported") : nil,
            offset: try fields.optionalCount("offset"), detail: try fields.optionalText("detail"))
    }

    var members: JSONObject {
        JSONObject().with("path", name: path).with("outcome", .string(outcome.rawValue))
            .with("model", model.map(JSON.string)).with("found", found).with("supported", supported)
            .with("offset", offset.map(JSON.count)).with("detail", detail.map(JSON.string))
    }
}

extension DocumentChecks.Graph {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            live: try fields.count("live"), deleted: try fields.count("deleted"), strays: try fields.texts("strays"),
            faults: try fields.texts("faults"))
    }

    var members: JSONObject {
        JSONObject().with("live", .count(live)).with("deleted", .count(deleted))
            .with("strays", .array(strays.map(JSON.string))).with("faults", .array(faults.map(JSON.string)))
    }
}
