import SyncModel

/// `invite --json` prints both, one after the other; `join --json` the second.
public struct InviteDocument: ControlDocument {
    /// Single use.
    public var token: String
    public var expiresMilliseconds: Int64

    public init(token: String, expiresMilliseconds: Int64) {
        self.token = token
        self.expiresMilliseconds = expiresMilliseconds
    }

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(json)
        self.init(token: try fields.text("token"), expiresMilliseconds: try fields.time("expires"))
    }

    public var json: JSON {
        .object(JSONObject().with("token", .string(token)).with("expires", seconds: expiresMilliseconds))
    }
}

public struct PairedDocument: ControlDocument {
    /// The same six on both nodes.
    public var words: [String]
    /// The name of the other node.
    public var peer: [UInt8]

    public init(words: [String], peer: [UInt8]) {
        self.words = words
        self.peer = peer
    }

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(json)
        self.init(words: try fields.texts("words"), peer: try fields.name("peer"))
    }

    public var json: JSON {
        .object(JSONObject().with("words", .array(words.map(JSON.string))).with("peer", name: peer))
    }
}
