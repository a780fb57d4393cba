import SyncModel

/// `doc show --json`: the records in a file, as its model names them.
public struct RecordsDocument: ControlDocument {
    public var path: [UInt8]
    public var model: String
    /// Each an object with `id` (`Entity/id`), its `values` as they stand in the file, and the ids of its `links`.
    public var records: [JSON]

    public init(path: [UInt8], model: String, records: [JSON]) {
        self.path = path
        self.model = model
        self.records = records
    }

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(json)
        self.init(
            path: try fields.name("path"), model: try fields.text("model"),
            records: try fields.required("records").items ?? [])
    }

    public var json: JSON {
        .object(
            JSONObject().with("path", name: path).with("model", .string(model)).with("records", .array(records)))
    }

    public static func record(
        id: String, values: [(name: String, value: JSON)], links: [(name: String, ids: [String])]
    ) -> JSON {
        var written = JSONObject()
        for (name, value) in values { written = written.with(name, value) }
        var named = JSONObject()
        for (name, ids) in links { named = named.with(name, .array(ids.map { .string($0) })) }
        return .object(
            JSONObject().with("id", .string(id)).with("values", .object(written)).with("links", .object(named)))
    }
}
