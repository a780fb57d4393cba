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

/// `renew-key --json`.
public struct RenewedKeyDocument: ControlDocument {
    /// SHA-256 of the public key that this node has now, and of the one before.
    public var key: [UInt8]
    public var former: [UInt8]

    public init(key: [UInt8], former: [UInt8]) {
        self.key = key
        self.former = former
    }

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(json)
        self.init(key: try fields.fingerprint("key"), former: try fields.fingerprint("former"))
    }

    public var json: JSON {
        .object(
            JSONObject().with("key", .string(KeyFingerprint.text(of: key))).with(
                "former", .string(KeyFingerprint.text(of: former))))
    }
}

/// How a key is written: as an id is, `sha256:` and the whole digest in hexadecimal.
public enum KeyFingerprint {
    public static func text(of fingerprint: [UInt8]) -> String {
        Digest(bytes: fingerprint).map { NodeID($0).text } ?? ""
    }
}

extension Fields {
    fileprivate func fingerprint(_ key: String) throws(DocumentError) -> [UInt8] {
        guard let id = NodeID(text: try text(key)) else { throw failure(key, "sha256: and 64 digits") }
        return id.digest.bytes
    }
}
