/// The answers to commands that run the daemon: done, verified, measured.

/// `{"done":true}`: the answer to a command that has nothing else to say.
public struct DoneDocument: ControlDocument {
    /// One sentence for people.
    public var text: String?
    /// What else should be known, a line each: what a reload could not change, for example.
    public var notes: [String]

    public init(text: String? = nil, notes: [String] = []) {
        self.text = text
        self.notes = notes
    }

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(json)
        guard try fields.flag("done") else { throw fields.failure("done", "true") }
        self.init(text: try fields.optionalText("text"), notes: fields.has("notes") ? try fields.texts("notes") : [])
    }

    public var json: JSON {
        .object(
            JSONObject().with("done", true).with("text", text.map(JSON.string))
                .with("notes", notes.isEmpty ? nil : .array(notes.map(JSON.string))))
    }
}

public struct VerifyDocument: ControlDocument {
    /// Files and bytes that were read.
    public var checked: Int
    public var bytes: Int
    /// Files whose content is not what it should be, and those that were put right.
    public var damaged: Int
    public var repaired: Int
    public var milliseconds: Int
    /// False if the budget was used up before the end.
    public var isComplete: Bool
    /// Files that were left out, because they were changed too short a time ago to be judged by their times.
    public var young: Int
    /// Files that could not be read, and the first of them.
    public var unread: Int
    public var unreadFirst: [UInt8]?

    public init(
        checked: Int, bytes: Int, damaged: Int = 0, repaired: Int = 0, milliseconds: Int, isComplete: Bool = true,
        young: Int = 0, unread: Int = 0, unreadFirst: [UInt8]? = nil
    ) {
        self.checked = checked
        self.bytes = bytes
        self.damaged = damaged
        self.repaired = repaired
        self.milliseconds = milliseconds
        self.isComplete = isComplete
        self.young = young
        self.unread = unread
        self.unreadFirst = unreadFirst
    }

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(json)
        self.init(
            checked: try fields.count("checked"), bytes: try fields.count("bytes"),
            damaged: try fields.count("damaged"), repaired: try fields.count("repaired"),
            milliseconds: try fields.count("milliseconds"), isComplete: try fields.flag("complete"),
            young: try fields.optionalCount("young") ?? 0, unread: try fields.optionalCount("unread") ?? 0,
            unreadFirst: try fields.optionalName("unreadFirst"))
    }

    public var json: JSON {
        .object(
            JSONObject().with("checked", .count(checked)).with("bytes", .count(bytes)).with("damaged", .count(damaged))
                .with("repaired", .count(repaired)).with("milliseconds", .count(milliseconds))
                .with("complete", .bool(isComplete)).with("young", .count(young)).with("unread", .count(unread))
                .with("unreadFirst", name: unreadFirst))
    }
}

/// Prometheus text, ready to be served.
public struct MetricsDocument: ControlDocument {
    public var text: String

    public init(text: String) {
        self.text = text
    }

    public init(json: JSON) throws(DocumentError) {
        self.init(text: try Fields(json).text("metrics"))
    }

    public var json: JSON { ["metrics": .string(text)] }
}
